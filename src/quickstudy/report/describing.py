"""What a score is, in the words of a caption."""

from __future__ import annotations

from quickstudy.base import catalogue
from quickstudy.base.measure import Measure
from quickstudy.report.view import columns_of, title_of
from quickstudy.runs.scores import MAXIMUM_OF_MEAN, measure_of


def described(score: str) -> str:
    """The title of a score with its unit and which direction is better; a score from elsewhere has its name only.

    >>> described("wade")
    'WADE (share of the greatest possible efficiency, higher is better)'
    """
    measure = _measure(score)
    return title_of(score) + (f" ({measure.unit}, {measure.direction} is better)" if measure else "")


def lower_is_better(score: str) -> bool:
    """Whether a small number is a good one; not so where nothing is known."""
    return direction_of(score) == "lower"


def direction_of(score: str) -> str | None:
    """`higher` or `lower`, whichever is better; None where nothing is known."""
    measure = _measure(score)
    return measure.direction if measure else None


def statistic_of(score: str) -> str:
    """`mean` over runs, or `median` where infinity is a possible value."""
    return columns_of([score])[0].statistic


def _measure(score: str) -> Measure | None:
    return catalogue.measure.get("accuracy") if score == MAXIMUM_OF_MEAN else measure_of(score)
