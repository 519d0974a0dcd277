"""What a score is, in the words of a caption."""

from __future__ import annotations

from quickstudy.base import catalogue
from quickstudy.base.errors import QuickstudyError
from quickstudy.report.view import title_of

_MEASURES = {
    "final-accuracy": "accuracy",
    "maximum-accuracy": "accuracy",
    "maximum-of-mean-curve": "accuracy",
}
"""The measures of scores that are not named like them."""


def described(score: str) -> str:
    """The title of a score with its unit and which direction is better; a score from elsewhere has its name only.

    >>> described("wade")
    'WADE (share of the greatest possible efficiency, higher is better)'
    """
    try:
        measure = catalogue.measure.get(_MEASURES.get(score, score))
    except QuickstudyError:
        return title_of(score)
    return f"{title_of(score)} ({measure.unit}, {measure.direction} is better)"


def lower_is_better(score: str) -> bool:
    """Whether a small number is a good one; not so where nothing is known."""
    try:
        return str(catalogue.measure.get(_MEASURES.get(score, score)).direction) == "lower"
    except QuickstudyError:
        return False
