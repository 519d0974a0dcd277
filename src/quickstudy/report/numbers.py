"""How numbers are written for people. The data behind them keep every digit."""

from __future__ import annotations

import math
from collections.abc import Callable

from quickstudy.report.model import Contrast, Estimate
from quickstudy.report.view import Column
from quickstudy.stats.bootstrap import Interval

NOTHING = "–"


def score(value: float | None) -> str:
    """A score: three decimals, four when they would hide it, fewer when it is large.

    >>> score(0.21345), score(-0.5), score(0.00042), score(None), score(1234.5)
    ('0.213', '−0.500', '0.0004', '–', '1,234')
    """
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    small = 0.00005 <= abs(value) < 0.0005
    text = (
        f"{value:.4f}"
        if small
        else f"{value:.3f}"
        if abs(value) < 10
        else f"{value:.1f}"
        if abs(value) < 100
        else f"{value:,.0f}"
    )
    return text.replace("-", "−") if float(text.replace(",", "")) else text.replace("-", "")


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
    return score(value) + (f" ±{score((interval.high - interval.low) / 2)}" if interval else "")


def contrast(value: Contrast) -> str:
    """A contrast with its bounds, or nothing where it is not defined."""
    return score(value.value) + (f" {bounds(value.interval)}" if value.interval else "")
