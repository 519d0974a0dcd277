"""`quickstudy score disentanglement`: whether each dimension of a code represents one factor."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import JSON
from quickstudy.cli.score.language import show


def disentanglement(
    file: pathlib.Path = typer.Argument(
        ..., help="JSON with `factors` and `codes`, a row for each sample."
    ),
    json: bool = JSON,
) -> None:
    """MIG and modularity of codes.

    factors: rows of discrete values. codes: rows of real numbers, each cut into 20 equal parts
    between its extremes. The FactorVAE score needs what draws codes with one factor fixed, not
    rows: see the study s2b-disentanglement.
    """
    from quickstudy.api.score.disentanglement import disentanglement as score

    show(score(file), json)
