"""`quickstudy score wade`: score a learning curve from a file."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import JSON, print_json, say


def wade(
    file: pathlib.Path = typer.Argument(
        ..., help="JSON or CSV with `accuracy` and, if you like, `step`."
    ),
    preset: str = typer.Option(
        "paper",
        "--preset",
        help="paper, published-nets, published-reservoirs, published-imdb or above-chance.",
    ),
    thresholds: int | None = typer.Option(
        None,
        "--thresholds",
        help="Points of the paper's grid: 10 (the default), or 100 as in a run.",
    ),
    tokens_per_sequence: float | None = typer.Option(
        None,
        "--tokens-per-sequence",
        help="Questions per sequence: the unit of published-reservoirs.",
    ),
    constant: float | None = typer.Option(
        None, "--constant", help="Accuracy of the best constant answer: the chance of above-chance."
    ),
    json: bool = JSON,
) -> None:
    """Score a learning curve from a file.

    What a run calls `wade` is `--preset paper --thresholds 100` under the conventions corrected and
    written; under published it is `--preset published-nets` for networks and `--preset
    published-reservoirs` for readouts.
    """
    from quickstudy.api.score.wade import wade as score

    scored = score(
        file,
        preset=preset,
        thresholds=thresholds,
        tokens_per_sequence=tokens_per_sequence,
        constant=constant,
    )
    if ignored := scored["ignored"]:
        say(
            f"{file}: {ignored} evaluations before step 1 were left out; time counts from 1",
            err=True,
        )
    if json:
        print_json({"wade": scored["wade"]})
    else:
        say(f"WADE {scored['wade']:.6f}  ({preset}, {scored['thresholds']} thresholds)")
