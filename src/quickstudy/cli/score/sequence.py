"""`quickstudy score sequence`: the machine behind a sequence of symbols, and its complexity."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.base.text import counted
from quickstudy.cli.output import JSON, print_json, say


def sequence(
    file: pathlib.Path = typer.Argument(
        ...,
        help=(
            "A text with a symbol for every word, or for every character of a single word; or JSON "
            'with "outputs", and perhaps "inputs", "history" and "level".'
        ),
    ),
    history: int | None = typer.Option(
        None,
        "--history",
        help="Symbols of the longest pasts; as many as there are data for, if left out.",
    ),
    level: float | None = typer.Option(
        None, "--level", help="Of the test by which pasts differ; default 0.001."
    ),
    json: bool = JSON,
) -> None:
    """Reconstruct the machine behind a sequence, or a transducer behind inputs and outputs.

    Pasts with the same future are one state, as far as chi-squared tests can tell. Complexity and
    entropy rate are of the data as they were, followed through the machine.
    """
    from quickstudy.api.score.sequence import sequence as score
    from quickstudy.cli.score.machine import say_complexity

    facts = score(file, history=history, level=level)
    if facts["steps"] < facts["enough"]:
        say(
            f"warning: {facts['steps']:,} symbols are few for histories of {facts['history']}:"
            f" states that differ may look alike; give {facts['enough']:,} or more",
            err=True,
        )
    if json:
        print_json(facts)
        return
    made = f"histories of {facts['history']}, level {facts['level']:g}"
    states = counted(facts["states"], "state")
    say(f"{states} behind {facts['steps']:,} symbols  ({made})")
    say_complexity(facts)
    if facts["unexplained"]:
        say(
            f"{counted(facts['unexplained'], 'symbol')} cannot come from this machine: try longer"
            " histories, or give more data"
        )
