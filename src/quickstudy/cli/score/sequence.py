"""`quickstudy score sequence`: the epsilon-machine of a symbol sequence, and its complexity."""

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
        help="Length of the longest histories in symbols; default: as the data allow.",
    ),
    level: float | None = typer.Option(
        None,
        "--level",
        help="Significance level of the test that separates histories; default 0.001.",
    ),
    json: bool = JSON,
) -> None:
    """Reconstruct the epsilon-machine of a sequence, or the transducer of inputs and outputs.

    Histories with the same future form one state; chi-squared tests decide. Complexity and entropy
    rate are those of the data, run through the machine.
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
    say(f"{states} from {facts['steps']:,} symbols  ({made})")
    say_complexity(facts)
    if facts["unexplained"]:
        say(
            f"{counted(facts['unexplained'], 'symbol')} cannot come from this machine: try longer"
            " histories, or give more data"
        )
