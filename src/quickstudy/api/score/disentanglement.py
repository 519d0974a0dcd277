"""How far the codes of something from elsewhere tell its factors apart."""

from __future__ import annotations

import math
import pathlib

from quickstudy.base.errors import UsageError
from quickstudy.data.json_tables import check_even, check_numbers, read_tables
from quickstudy.measures.disentanglement import disentanglement_scores


def disentanglement(file: pathlib.Path) -> dict[str, float]:
    """Scores of a JSON file with `factors` and `codes`, a row of each for every item."""
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
    return disentanglement_scores(found["factors"], found["codes"])
