"""How numbers are written for people. The data behind them keep every digit."""

from __future__ import annotations

import math
from collections.abc import Callable

from quickstudy.report.model import Contrast, Estimate
from quickstudy.report.view import Column
from quickstudy.stats.bootstrap import Interval

NOTHING = "–"
SMALL = 0.01
"""Scores below this are told apart by four decimals."""


def score(value: float | None) -> str:
    """A score: three decimals, as many more as a small one needs not to look like 0, fewer when it is large.

    >>> score(0.21345), score(-0.5), score(0.00042), score(0.0000999), score(None), score(1234.5)
    ('0.213', '−0.500', '0.0004', '0.0001', '–', '1,234')
    """
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    # What is smaller than a millionth comes from rounding, not from a measurement.
    decimals = (
        -math.floor(math.log10(float(f"{size:.0e}")))
        if 1e-6 <= size < 0.0005
        else 3
        if size < 10
        else 1
        if size < 100
        else 0
    )
    text = f"{value:,.{decimals}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.replace("-", "")


def fine(value: float) -> str:
    """A score with four decimals where three would hide how it differs from another that is as small.

    >>> fine(0.00123), fine(0.0), fine(0.5)
    ('0.0012', '0.000', '0.500')
    """
    return f"{value:.4f}".replace("-", "−") if 0.0005 <= abs(value) < SMALL else score(value)


def steps(value: float | None) -> str:
    """A number of steps: whole where it is, "never" when infinite."""
    if value is not None and math.isinf(value):
        return "never"
    return NOTHING if value is None or math.isnan(value) else f"{value:,.0f}" if value >= 100 else f"{value:g}"


def count(value: float | None) -> str:
    """A mean count, with thousands apart."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:,.0f}"


def seconds(value: float | None) -> str:
    """Seconds, two or three figures.

    >>> seconds(0.01234), seconds(3.456), seconds(1234.5)
    ('0.012', '3.46', '1,234')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def cost(name: str, value: float | None) -> str:
    """One entry of a mean cost by its name."""
    return seconds(value) if name.endswith("_seconds") else count(value)


def bounds(interval: Interval | None, write: Callable[[float | None], str] = score) -> str:
    """`[low, high]`, or nothing."""
    return f"[{write(interval.low)}, {write(interval.high)}]" if interval else ""


def shown(column: Column, estimate: Estimate | None) -> float | None:
    """The number of a column: its mean or its median."""
    if estimate is None:
        return None
    return estimate.median if column.statistic == "median" else estimate.mean


def written(column: Column, estimate: Estimate | None) -> str:
    """The same, in words."""
    return (steps if column.statistic == "median" else score)(shown(column, estimate))


def plus_minus(value: float | None, interval: Interval | None) -> str:
    """`0.213 ±0.020`: half the width of the interval, for places where two bounds are too long."""
    return score(value) + (f" ±{score(half_width(interval))}" if interval else "")


def half_width(interval: Interval) -> float:
    """Half of what an interval spans."""
    return (interval.high - interval.low) / 2


def contrast(value: Contrast) -> str:
    """A contrast with its bounds, or nothing where it is not defined."""
    return score(value.value) + (f" {bounds(value.interval)}" if value.interval else "")
