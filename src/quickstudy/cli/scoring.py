"""`quickstudy score`: score a curve from elsewhere."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import JSON, print_json


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("score")(score)


def score(
    measure: str = typer.Argument(..., help="The measure: wade."),
    file: pathlib.Path = typer.Argument(..., help="JSON or CSV with `accuracy` and, if you like, `step`."),
    preset: str = typer.Option(
        "paper", "--preset", help="paper, published-nets, published-reservoirs, published-imdb or above-chance."
    ),
    thresholds: int | None = typer.Option(None, "--thresholds", help="Points of the paper's grid: 10 or 100."),
    tokens_per_sequence: float | None = typer.Option(
        None, "--tokens-per-sequence", help="Questions per sequence: the unit of published-reservoirs."
    ),
    constant: float | None = typer.Option(
        None, "--constant", help="Accuracy of the best constant answer: the chance of above-chance."
    ),
    json: bool = JSON,
) -> None:
    """Score a learning curve that was measured elsewhere."""
    from quickstudy.base.errors import UsageError, nearest
    from quickstudy.measures.curvefile import score_wade

    if measure != "wade":
        raise UsageError(f'cannot score "{measure}" from a file; {nearest(measure, ["wade"])}')
    value = score_wade(file, preset, thresholds, tokens_per_sequence, constant)
    if json:
        print_json({"wade": value})
    else:
        typer.echo(f"WADE {value:.6f}  ({preset})")
