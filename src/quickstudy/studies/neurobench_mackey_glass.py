"""Published error and multiplications of two networks, next to measured ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from quickstudy.base.blocks import COUNT, FINE, Cell, Made, Name, Number, Text, table
from quickstudy.base.registries import block
from quickstudy.pages.study_request import Request, Stage
from quickstudy.stats.intervals import student_interval

MEASURE, EFFECTIVE = "smape", "effective_macs"


@block("neurobench", version=1)
class NeuroBench:
    """sMAPE of free runs against effective MACs of a step, published and measured.

    Settings: `published`: by column, `smape` and `macs`; `target`: an error to be below with at
    most so many MACs.
    """

    def stages(self, request: Request) -> list[Stage]:
        """Every learner on the task."""
        (row,) = request.rows
        return [Stage([request.setting(row, one) for one in _learners(request)], request.seeds)]

    def blocks(self, request: Request) -> Made:
        """One table, and which learners are below the target."""
        settings, (row,) = request.study.settings, request.rows
        lines: list[list[Cell]] = []
        data: list[tuple[Any, ...]] = [
            ("learner", "runs", "published_smape", "smape", "low", "high", "published_macs", "macs")
        ]
        facts: dict[str, dict[str, Any]] = {}
        for column in request.columns:
            known = settings.get("published", {}).get(column, {})
            learner = row.learner(column, request.convention)
            records = request.runs(row, learner).values()
            errors = list(request.values(row, learner, MEASURE).values())
            macs = [one.cost[EFFECTIVE] for one in records if one.cost.get(EFFECTIVE) is not None]
            mean = float(np.mean(errors)) if errors else None
            ends = student_interval(np.asarray(errors)) if len(errors) > 1 else None
            work = float(np.mean(macs)) if macs else None
            lines.append(
                [
                    Name(column),
                    Number(known.get("smape"), form=FINE),
                    Number(mean, ends, form=FINE),
                    Number(len(errors), form=COUNT),
                    Number(known.get("macs"), form=COUNT),
                    Number(work, form=COUNT),
                ]
            )
            low, high = ends or (None, None)
            published = (known.get("smape"), known.get("macs"))
            data.append((column, len(errors), published[0], mean, low, high, published[1], work))
            facts[column] = {
                "runs": len(errors),
                "smape": mean,
                "interval": ends,
                "macs": work,
                "published": dict(known),
            }
        heading = ["learner", "sMAPE, published", "measured", "runs", "MACs, published", "measured"]
        caption = (
            "sMAPE of a free run of ten Lyapunov times, mean with 95 % interval, and effective"
            " multiplications of a step, mean over the steps of the test. Of"
            f" {request.seeds} runs, those that failed have no error and are missing under runs"
        )
        made = table(f"{request.name}-costs", caption, heading, lines, data)
        text = Text(_verdict(facts, settings["target"], request.seeds))
        return Made([made, text], {"learners": facts, "target": dict(settings["target"])})


def _learners(request: Request) -> list[str]:
    (row,) = request.rows
    return list(request.learners(row).values())


def _verdict(facts: dict[str, dict[str, Any]], target: dict[str, float], seeds: int) -> str:
    """Which learners are below the target, by their intervals, and without a failed run.

    >>> _verdict(
    ...     {"a": {"runs": 6, "smape": 5.0, "interval": (4.0, 6.0), "macs": 10.0}},
    ...     {"smape": 13.37, "macs": 4370},
    ...     6,
    ... )
    'Below 13.37 with at most 4,370 MACs, by the whole interval of 6 runs: a.'
    """
    below = [
        name
        for name, one in facts.items()
        if one["runs"] == seeds and one["interval"] and one["macs"] is not None
        if one["interval"][1] < target["smape"] and one["macs"] <= target["macs"]
    ]
    listed = ", ".join(below) if below else "no learner"
    return (
        f"Below {target['smape']:g} with at most {target['macs']:,} MACs, by the whole interval of"
        f" {seeds} runs: {listed}."
    )
