"""How many runs a verdict needs, and what an interval then says: one rule for reports, comparisons and studies."""

from __future__ import annotations

import math

from quickstudy.stats.intervals import Interval

ALPHA = 0.05
ABOVE, BELOW, LEVEL, UNTOLD = "above", "below", "level", "untold"


def fewest(comparisons: int = 1) -> int:
    """The fewest pairs with which a test could tell two learners apart at 0.05, corrected for so many comparisons.

    An exact test of n pairs cannot give less than 2 / 2^n, and Holm multiplies the smallest by their number.

    >>> fewest(), fewest(10)
    (6, 9)
    """
    return math.ceil(1 + math.log2(comparisons / ALPHA))


FEWEST = fewest()
"""Runs, or pairs of runs, below which no verdict is given. So few could not be told apart by a test either."""


def standing(interval: Interval | None, runs: int) -> str:
    """Above or below where the interval of a difference says so, level where it holds 0, untold with too few runs."""
    if interval is None or runs < FEWEST:
        return UNTOLD
    return ABOVE if interval.low > 0 else BELOW if interval.high < 0 else LEVEL


def counted(number: int, word: str) -> str:
    """A number and what it counts, in the singular or the plural.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def span(numbers: list[int]) -> str:
    """Several counts in a few words, whatever their order.

    >>> span([6, 10, 8]), span([6, 6])
    ('6 to 10', '6')
    """
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
