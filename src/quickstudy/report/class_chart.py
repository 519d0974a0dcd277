"""A class next to the learners: every person a dot, every learner its mean with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from quickstudy.base.blocks import (
    CONTROL,
    PERSON,
    POINTS,
    Axis,
    Guide,
    Panel,
    Plot,
    Plotted,
)
from quickstudy.base.measure import Score
from quickstudy.render.numbers import scored, written
from quickstudy.report.report_data import LEARNING, Row, TaskTable
from quickstudy.report.tables import Marks

FEWEST = 2
"""People on a task that are called a class."""
MOST = 12
"""Learners next to them: the best."""
_LEVELS, _STEP, _WIDEST = 30, 0.09, 0.4


def class_chart(table: TaskTable, marks: Marks, name: str) -> Iterator[Plot]:
    """One chart of the people on a task and of the learners; nothing where there is no class."""
    score = _common(table)
    people = [(row, value) for row in table.of_role(PERSON) if (value := _value(row, score))]
    values = [value for _, (value, _, _) in people]
    if len(people) < FEWEST or score is None:
        return
    control = table.end(CONTROL)
    others = [*table.of_role(*LEARNING)[:MOST], *([control] if control else [])]
    known = [(row, value) for row in others if (value := _value(row, score))]
    dots = Plotted(
        "class",
        min((marks[PERSON, row.learner] for row, _ in people), key=lambda mark: mark.number),
        _side_by_side(values),
        values,
        kind=POINTS,
        tells=[f"{row.learner}: {written(scored(score, value))}" for row, (value, *_) in people],
    )
    series = [
        Plotted(row.learner, marks[row.role, row.learner], [x], [value], [low], [high], POINTS)
        for x, (row, (value, low, high)) in enumerate(known, 1)
    ]
    names = ["class", *(row.learner for row, _ in known)]
    middle = median(values)
    ruled = ", and so is the best control" if any(row is control for row, _ in known) else ""
    yield Plot(
        name,
        f"{len(people)} people on {table.task}: a dot is the mean of a"
        " person's sessions, the line the median of the class. A learner is its mean over runs with"
        f" its 95 % interval{ruled}. People were examined in a shorter form.",
        f"{score.title} of a class and of learners on {table.task}",
        Axis("", range=(-0.6, len(known) + 0.6), ticks=list(enumerate(names))),
        Axis(score.title),
        [Panel([dots, *series], guides=[Guide(y=middle, label="median of the class")])],
        data=_data(people, known),
        direct=False,
        live=True,
        across=1,
    )


Value = tuple[float, float, float]


def _common(table: TaskTable) -> Score | None:
    """The first score of the table that a class has: the headline, where people have one."""
    for name in table.scores:
        score = table.legend.score(name)
        if sum(_value(row, score) is not None for row in table.of_role(PERSON)) >= FEWEST:
            return score
    return None


def _value(row: Row, score: Score | None) -> Value | None:
    """Value and ends of the interval; None where there is no finite value."""
    found = row.scores.get(score.name) if score else None
    if found is None or score is None:
        return None
    value, interval = found.shown(score)
    if not math.isfinite(value):
        return None
    low, high = (interval.low, interval.high) if interval else (value, value)
    return value, low, high


def _side_by_side(values: Sequence[float]) -> list[float]:
    """Places of dots across, around 0, so that those at one height do not hide one another."""
    low, high = min(values), max(values)
    height = (high - low) / _LEVELS or 1.0
    levels: dict[int, list[int]] = {}
    for number, value in enumerate(values):
        levels.setdefault(int((value - low) / height), []).append(number)
    places = [0.0] * len(values)
    for members in levels.values():
        step = min(_STEP, 2 * _WIDEST / len(members))
        for place, number in enumerate(members):
            places[number] = step * (place - (len(members) - 1) / 2)
    return places


def _data(
    people: Sequence[tuple[Row, Value]], known: Sequence[tuple[Row, Value]]
) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = [
        [row.learner, row.role, *value] for row, value in (*people, *known)
    ]
    return [["name", "role", "value", "low", "high"], *rows]
