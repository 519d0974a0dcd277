"""How much depends on the learning rate: the share of a stated grid of rates that is nearly as good
as the best.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from quickstudy.base import registries
from quickstudy.base.blocks import Cell, Made, Name, Number, Text, table
from quickstudy.base.errors import UsageError
from quickstudy.base.measure import PLAIN
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow
from quickstudy.learners.learner_spec import fitted, with_parameters
from quickstudy.pages.profile.tuning import asked_on, family_of
from quickstudy.pages.study_request import Request, Stage, by_protocol
from quickstudy.pages.table_helpers import EMPTY
from quickstudy.report.statistics import middle
from quickstudy.report.words import listing
from quickstudy.runs.run_spec import make_task, protocol_of

NEAR = 0.05
"""How far below the best, as a share of it, a rate may be and still count."""


@block("rates", version=1)
class Rates:
    """Every learner on every task with every rate, which the study has in its settings (`learners`,
    as its families have no score in common, and `rates = [...]`): which share of the rates is
    within 5 % of the best, by the middle of the seeds in the task's headline score, as a report has
    it (a geometric mean or a median where the score is read so), or in that of the settings'
    `scores`, by the label of a row; and which was the best.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """All learners with all rates. Raises UsageError for a study without a grid."""
        request, learners = filled(request)
        settings = [
            request.setting(row, name)
            for row in request.rows
            for learner in learners.values()
            for name in names_of(request, row, learner).values()
        ]
        yield Stage(settings, request.seeds)

    def blocks(self, request: Request) -> Made:
        """A table of shares, one of the best rates, and a sentence on what has no share."""
        request, learners = filled(request)
        columns = list(learners)
        shares: dict[str, dict[str, float | None]] = {}
        firsts: dict[str, dict[str, float | None]] = {}
        facts: dict[str, Any] = {}
        missing: dict[tuple[str, str], list[str]] = {}
        for row in request.rows:
            shares[row.label], firsts[row.label], facts[row.label] = {}, {}, {}
            for column, learner in learners.items():
                means, sign = _means(request, row, learner)
                share, why = share_near(means, sign, len(names_of(request, row, learner)))
                if share is None:
                    missing.setdefault((row.label, why), []).append(column)
                shares[row.label][column] = share
                firsts[row.label][column] = None if share is None else _first(means, sign)
                facts[row.label][column] = {
                    "share": share,
                    "means": {f"{rate:g}": means[rate] for rate in means},
                }
        rates = ", ".join(f"{rate:g}" for rate in grid_of(request))
        seeds = f"over {request.seeds} seeds, convention {request.convention}"
        heading = ("family", "task", *columns)
        made = [
            table(
                f"{request.name}-rates",
                f"Share of the rates {rates} within {NEAR:.0%} of the best, {seeds}",
                heading,
                [
                    *_lines(request, shares, columns),
                    [Name("all"), Name("mean of tasks"), *_averages(shares, columns)],
                ],
            ),
            table(
                f"{request.name}-best-rates",
                f"The best of them, {seeds}",
                heading,
                _lines(request, firsts, columns),
            ),
        ]
        lacking = [
            f"{'everybody' if own == columns else listing(own)} on {label}: {why}"
            for (label, why), own in missing.items()
        ]
        said = [
            Text(
                "If no learner learns within the budget of a task, all rates are about as good: a"
                " large share means nothing."
            )
        ]
        said += [Text(f"No share: {'; '.join(lacking)}.")] if lacking else []
        return Made([*made, *said], {"rates": facts})


def filled(request: Request) -> tuple[Request, dict[str, str]]:
    """The request with all parameters of the protocols in its rows, and who learns, by column.
    Raises UsageError if the settings name no learner.

    The seeds have the root that the settings give, unless the user gives one: rates are not tried
    on seeds that are reported elsewhere.
    """
    named = request.study.settings.get("learners")
    if (
        not isinstance(named, Mapping)
        or not named
        or not all(isinstance(one, str) for one in named.values())
    ):
        raise UsageError(
            f'{request.study.id}: settings need learners = {{lstm = "lstm", ...}}, got {named!r}'
        )
    learners = {str(column): str(learner) for column, learner in named.items()}
    rows = tuple(dataclasses.replace(row, learners=learners) for row in request.rows)
    study = by_protocol(
        dataclasses.replace(request.study, rows=rows), request.convention, request.changed
    )
    root = request.root or int(request.study.settings.get("root", 0))
    return dataclasses.replace(request, study=study, root=root), learners


def grid_of(request: Request) -> list[float]:
    """The grid of the study. Raises UsageError where it has none."""
    rates = request.study.settings.get("rates")
    valid = (
        isinstance(rates, list | tuple) and len(rates) > 1 and all(_is_rate(rate) for rate in rates)
    )
    if not valid or len(set(rates)) < len(rates):  # type: ignore[arg-type]
        raise UsageError(
            f"{request.study.id}: settings need rates = [0.001, 0.01, ...], each once, got"
            f" {rates!r}"
        )
    return [float(rate) for rate in rates]  # type: ignore[union-attr]


def _is_rate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf


def names_of(request: Request, row: StudyRow, learner: str) -> dict[float, str]:
    """What a learner is called with each rate; nothing where its training has no rate there."""
    asked = asked_on(row.task, row.protocol, request.convention)
    found = {
        rate: fitted(with_parameters(learner, f"rate={rate:g}"), request.convention, asked)
        for rate in grid_of(request)
    }
    return {rate: one.name for rate, one in found.items() if "rate" not in one.left_out}


def share_near(means: Mapping[float, float], sign: int, wanted: int) -> tuple[float | None, str]:
    """The share of all rates whose mean is within 5 % of the best, or None and why there is none.

    means: by rate, of those whose runs gave a number; a rate without one, which broke, counts as
    not near. sign: 1 where more is better, -1 where less is. A share of the best needs a best above
    0.

    >>> share_near({0.001: 0.5, 0.01: 0.97, 0.1: 1.0}, 1, 4)
    (0.5, '')
    >>> share_near({0.001: 1.0, 0.01: 1.04, 0.1: 2.0}, -1, 3)[0]
    0.6666666666666666
    """
    if not wanted:
        return None, "its training has no rate"
    if not means:
        return None, "no run has a score"
    if not sign:
        return None, "the score does not declare whether higher or lower is better"
    best = sign * max(sign * value for value in means.values())
    if not best > 0 or not math.isfinite(best):
        return None, f"the best is {best:g}, of which 5 % say nothing"
    near = [value for value in means.values() if sign * (best - value) <= (NEAR + 1e-9) * best]
    return len(near) / wanted, ""


def _means(request: Request, row: StudyRow, learner: str) -> tuple[dict[float, float], int]:
    usual = registries.protocol.get(protocol_of(make_task(row.task, request.convention))).headline
    headline = request.study.settings.get("scores", {}).get(row.label, usual)
    runs = {rate: request.runs(row, name) for rate, name in names_of(request, row, learner).items()}
    values = {rate: request.results.values(found, headline) for rate, found in runs.items()}
    records = [record for found in runs.values() for record in found.values()]
    score = request.results.score(headline, records) if records else PLAIN
    return {rate: middle(own, score) for rate, own in values.items() if own}, score.sign


def _first(means: Mapping[float, float], sign: int) -> float | None:
    return max(means, key=lambda rate: sign * means[rate]) if means and sign else None


def _lines(
    request: Request, found: Mapping[str, Mapping[str, float | None]], columns: Sequence[str]
) -> list[list[Cell]]:
    return [
        [
            Name(family_of(row)),
            Name(row.label),
            *(_number(found[row.label].get(one)) for one in columns),
        ]
        for row in request.rows
    ]


def _averages(
    found: Mapping[str, Mapping[str, float | None]], columns: Sequence[str]
) -> list[Cell]:
    """Over the tasks on which every learner has a share: means over different tasks are not
    compared.
    """
    common = [
        row for row in found.values() if all(row.get(column) is not None for column in columns)
    ]
    return [
        _number(float(np.mean([row[column] or 0.0 for row in common])) if common else None)
        for column in columns
    ]


def _number(value: float | None) -> Number:
    return EMPTY if value is None else Number(value)
