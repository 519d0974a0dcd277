"""Errors of an answer that contains no information: the constant 0 against normal targets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from quickstudy.base.blocks import FINE, Cell, Made, Name, Number, Text, table
from quickstudy.base.registries import block
from quickstudy.measures.errors import nmse
from quickstudy.pages.study_request import Request
from quickstudy.pages.systems import Drawn, task_of

MEASURES = ("MSE", "RMSE", "NMSE", "NRMSE")
DRAWS = 10_000
"""Sets of targets by which the spread of an error is known."""


@block("error-measures", version=1)
class ErrorMeasures(Drawn):
    """Errors of the constant answer 0 against normal targets of several deviations.

    Settings: `deviations`; `targets`, how many there are in a set; `published`: by measure, one
    number for each deviation. The published numbers are those of one set; next to them are the
    mean over many and the part in which 95 of 100 sets lie.
    """

    def blocks(self, request: Request) -> Made:
        """One table, and how many published numbers lie where they should."""
        settings = request.study.settings
        deviations, count = [float(one) for one in settings["deviations"]], int(settings["targets"])
        (row,) = request.rows
        task, rng = task_of(request, row)
        targets = task.signal(rng, (DRAWS, count))
        lines: list[list[Cell]] = []
        data: list[tuple[Any, ...]] = [("measure", "deviation", "published", "mean", "low", "high")]
        facts: dict[str, dict[str, float]] = {}
        inside, told = 0, 0
        for measure in MEASURES:
            cells: list[Cell] = [Name(measure)]
            published = settings.get("published", {}).get(measure, [None] * len(deviations))
            for deviation, known in zip(deviations, published, strict=True):
                errors = _of_zero(measure, deviation * targets)
                low, high = map(float, np.quantile(errors, (0.025, 0.975)))
                mean = float(errors.mean())
                fits = known is not None and _rounded_down(low) <= known <= _rounded_up(high)
                inside, told = inside + fits, told + (known is not None)
                cells += [
                    "" if known is None else Number(float(known)),
                    Number(mean, (low, high), form=FINE),
                ]
                data.append((measure, deviation, known, mean, low, high))
                facts.setdefault(measure, {})[f"{deviation:g}"] = mean
            lines.append(cells)
        heading = ["measure"]
        for deviation in deviations:
            heading += [f"deviation {deviation:g}, published", "computed"]
        caption = (
            f"Errors of the answer 0 against {count} normal targets: as published, of one set; the"
            f" mean over {DRAWS:,} sets ± half of the part in which 95 of 100 lie."
        )
        made = table(f"{request.name}-errors", caption, heading, lines, data)
        said = Text(
            f"{inside} of {told} published numbers lie where 95 of 100 sets do. Errors that"
            " are not normalised grow with the deviation of the targets; normalised ones do not."
        )
        return Made([made, said], {"errors": facts, "inside": inside, "published": told})


def _of_zero(measure: str, targets: Any) -> Any:
    """(set,): the error of the answer 0 to targets (set, target)."""
    squared = np.square(targets).mean(axis=1)
    if measure in ("MSE", "RMSE"):
        return squared if measure == "MSE" else np.sqrt(squared)
    shares = np.array([nmse(np.zeros((len(own), 1)), own[:, None]) for own in targets])
    return shares if measure == "NMSE" else np.sqrt(shares)


def _rounded_down(value: float) -> float:
    return math.floor(value * 1000) / 1000


def _rounded_up(value: float) -> float:
    return math.ceil(value * 1000) / 1000
