"""Which scores stand in the tables, in which order and under which heading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_COLUMNS = 6


@dataclass(frozen=True)
class Column:
    """One score of a table. statistic: `mean` (with its interval) or `median` (where "never" is a possible value)."""

    score: str
    title: str
    statistic: str = "mean"


_COLUMNS = (
    Column("wade-above-chance", "WADE above chance"),
    Column("wade", "WADE"),
    Column("final-accuracy", "final accuracy"),
    Column("maximum-accuracy", "maximum accuracy"),
    Column("steps-to-0.9", "steps to 0.9", "median"),
    Column("average-accuracy", "average accuracy at the end"),
    Column("learned-accuracy", "learned"),
    Column("forgetting", "forgotten"),
    Column("forward-transfer", "known before"),
    Column("wade-within", "WADE within segments"),
)
"""Scores that have a heading of their own, in their order; the first that a task has is its headline."""

_TITLES = {
    "maximum-of-mean-curve": "maximum of the mean curve",
    "backward-transfer": "gained afterwards",
    "wade-smoothed": "WADE of the smoothed curve",
    "log-area": "accuracy over the logarithm of time",
}
"""Headings of scores that have no column in the tables of a report."""

COST_TITLES = {
    "trained_parameters": "trained parameters",
    "fixed_parameters": "fixed parameters",
    "bits": "bits",
    "examples": "examples",
    "updates": "updates",
    "learn_seconds": "learn s",
    "answer_seconds": "answer s",
    "compile_seconds": "compile s",
}

_FAMILY_QUESTIONS = {
    "language": "How fast does it learn from few examples?",
    "continual": "Does it keep what it has learned when the task changes?",
    "grammar": "How far does it generalise from how little?",
    "dynamics": "What can its memory compute?",
    "curriculum": "Does it reuse and keep what it learned?",
    "games": "Does it recombine what it has just seen?",
}


def order_scores(names: Sequence[str]) -> tuple[str, ...]:
    """The score names of a task, the headline first: those with a heading in their order, then the others by name."""
    preferred = [column.score for column in _COLUMNS if column.score in names]
    return (*preferred, *sorted(set(names) - set(preferred)))


def columns_of(names: Sequence[str]) -> tuple[Column, ...]:
    """The columns for a task's scores: those with a heading, or the first few scores as they are named."""
    known = tuple(column for column in _COLUMNS if column.score in names)
    return known or tuple(Column(name, name) for name in names[:MOST_COLUMNS])


def title_of(score: str) -> str:
    """The heading of one score."""
    return next((column.title for column in _COLUMNS if column.score == score), _TITLES.get(score, score))


def question_of(family: str) -> str:
    """What the family asks of a learner, or nothing for a family from elsewhere."""
    return _FAMILY_QUESTIONS.get(family, "")
