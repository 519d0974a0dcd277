"""`quickstudy score disentanglement`: whether every number of a code stands for one factor."""

from __future__ import annotations

import math
import pathlib

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import JSON
from quickstudy.cli.score.language import check_even, check_numbers, read_tables, show


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
    from quickstudy.measures.disentanglement import disentanglement_scores

    found = read_tables(file, "factors", "codes")
    for name, rows in found.items():
        check_even(file, name, rows)
    check_numbers(file, "codes", found["codes"])
    for number, column in enumerate(zip(*found["codes"], strict=True)):
        if math.isinf(max(map(float, column)) - min(map(float, column))):
            raise UsageError(
                f"{file}: codes, column {number}: least and greatest number are too far apart to"
                " be cut"
            )
    if len(found["factors"]) != len(found["codes"]):
        raise UsageError(
            f"{file}: {len(found['factors'])} rows of factors but {len(found['codes'])} of codes"
        )
    show(disentanglement_scores(found["factors"], found["codes"]), json)
