"""A learning curve from elsewhere."""

from __future__ import annotations

import pathlib
from typing import Any

from quickstudy.measures.curvefile import score_file


def wade(
    file: pathlib.Path,
    *,
    preset: str = "paper",
    thresholds: int | None = None,
    tokens_per_sequence: float | None = None,
    constant: float | None = None,
) -> dict[str, Any]:
    """WADE of a curve, JSON or CSV with `accuracy` and perhaps `step`.

    preset: paper, published-nets, published-reservoirs, published-imdb or above-chance. thresholds:
    points of the paper's grid, 10 by default, 100 in a run. tokens_per_sequence: questions per
    sequence, the unit of published-reservoirs. constant: the accuracy of the best constant answer,
    the chance of above-chance.
    """
    scored = score_file(file, preset, thresholds, tokens_per_sequence, constant)
    return {"wade": scored.value, "thresholds": scored.thresholds, "ignored": scored.ignored}
