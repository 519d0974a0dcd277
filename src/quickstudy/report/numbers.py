"""How numbers are written for people. The data behind them keep every digit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from quickstudy.base.measure import LOG, MEAN, MEDIAN, PLAIN, Score
from quickstudy.report.statistics import Contrast, Estimate
from quickstudy.stats.intervals import Interval

NOTHING = "–"
UNKNOWN = "unknown"
"""Of a learner that ran and does not say: it has parameters, and nobody has counted them."""
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


def magnitude(value: float) -> str:
    """A number whose order of magnitude counts: three figures, all before the point up to a million, the smallest and
    the largest as powers of ten.

    >>> magnitude(2e-9), magnitude(0.02345), magnitude(12.0), magnitude(0.0), magnitude(1002.4), magnitude(4.99e7)
    ('2e-9', '0.0234', '12', '0', '1,002', '4.99e7')
    """
    if math.isinf(value):
        return score(value)
    if 999.5 <= abs(value) < 999_999.5:
        return f"{value:,.0f}".replace("-", "−")
    return re.sub(r"e([+-])0?(\d)", lambda power: f"e{power[1].strip('+')}{power[2]}", f"{value:.3g}")


def steps(value: float) -> str:
    """A number of steps: whole where it is."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.4g}"


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


def cost(name: str, costs: Mapping[str, float]) -> str:
    """One entry of a mean cost by its name.

    >>> cost("examples", {"examples": 960.0}), cost("trained_parameters", {"examples": 960.0}), cost("examples", {})
    ('960', 'unknown', '–')
    """
    value = costs.get(name)
    if name == "trained_parameters" and value is None and costs:
        return UNKNOWN
    return seconds(value) if name.endswith("_seconds") else count(value)


def written(column: Score, value: float | None) -> str:
    """A value of a score: the score's own word for it, if it has one, else a number as the score is read.

    >>> written(Score("error", read="log", range=(0, 1)), 2e-9), written(Score("b", words={"<1": "<1"}), 0.5)
    ('2e-9', '<1')
    """
    if value is None or not math.isfinite(value):
        return (value is not None and column.word(value)) or score(value)
    plain = magnitude if column.read == LOG else steps if column.shown == MEDIAN else score
    return column.word(value) or plain(value)


def described(column: Score) -> str:
    """The title of a score with its unit and which direction is better, as far as they are known."""
    better = f"{column.better} is better" if column.sign else "direction unknown"
    return f"{column.title} ({', '.join(filter(None, (column.unit, better)))})"


def shown(column: Score, estimate: Estimate | None) -> float | None:
    """The number of a column: the mean, or the median where that is shown or where there is no mean."""
    if estimate is None:
        return None
    return estimate.median if column.shown == MEDIAN or estimate.mean is None else estimate.mean


def interval_of(column: Score, estimate: Estimate | None) -> Interval | None:
    """The interval behind the number of a column; only means have one."""
    return estimate.interval if estimate and column.shown == MEAN else None


def bounds(interval: Interval | None, column: Score = PLAIN) -> str:
    """`[low, high]`, or nothing."""
    return f"[{written(column, interval.low)}, {written(column, interval.high)}]" if interval else ""


def plus_minus(value: float | None, interval: Interval | None, column: Score = PLAIN) -> str:
    """`0.213 ±0.020`: half the width of the interval, for places where two bounds are too long; `2e-9 ×÷1.5` where
    orders of magnitude count: what its ends are apart from the middle, as a factor.
    """
    return written(column, value) + (f" {half_width(interval, column)}" if interval else "")


def half_width(interval: Interval, column: Score = PLAIN) -> str:
    """Half of what an interval spans, with its sign."""
    if column.read == LOG:
        return f"×÷{magnitude(math.sqrt(interval.high / interval.low))}"
    return f"±{score((interval.high - interval.low) / 2)}"


def contrast(value: Contrast, column: Score = PLAIN) -> str:
    """A contrast with its bounds, or nothing where it is not defined; a factor where orders of magnitude count."""
    if value.value is None or column.read != LOG:
        return score(value.value) + (f" {bounds(value.interval)}" if value.interval else "")
    ends = f" [{', '.join(magnitude(10.0**end) for end in value.interval)}]" if value.interval else ""
    return f"×{magnitude(10.0**value.value)}{ends}"
