"""How numbers are written for people. The data keep every digit."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from quickstudy.base import blocks
from quickstudy.base.blocks import FACTOR, HALF, MAGNITUDE, Cell, Name, Number, Several
from quickstudy.base.canonical import plain
from quickstudy.base.measure import LOG, MEDIAN, Score

NOTHING = "–"
ARROWS = {"higher": "↑", "lower": "↓"}
"""Beside the title of a column, which way is better."""


def score(value: float) -> str:
    """A score: three decimals, as many more as a small one needs not to look like 0, fewer when it
    is large.

    >>> [score(value) for value in (0.21345, -0.5, 0.00042, 0.0000999, float("nan"), 1234.5)]
    ['0.213', '−0.500', '0.0004', '0.0001', '–', '1,234']
    """
    if not math.isfinite(value):
        return NOTHING if math.isnan(value) else "∞" if value > 0 else "−∞"
    size = abs(value)
    decimals = 3 if size < 10 else 1 if size < 100 else 0
    # What is smaller than a millionth comes from rounding, not from a measurement.
    if 1e-6 <= size < 0.0005:
        decimals = -math.floor(math.log10(float(f"{size:.0e}")))
    text = f"{value:,.{decimals}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.replace("-", "")


def magnitude(value: float) -> str:
    """A number whose order of magnitude counts: three figures, all before the point up to a
    million, the smallest and the largest as powers of ten.

    >>> [magnitude(value) for value in (2e-9, 0.02345, 12.0, 0.0, 1002.4, -4.99e7)]
    ['2e-9', '0.0234', '12', '0', '1,002', '−4.99e7']
    """
    if not math.isfinite(value):
        return score(value)
    text = f"{value:,.0f}" if 999.5 <= abs(value) < 999_999.5 else f"{value:.3g}"
    return re.sub(
        r"e([+-])0*(\d)", lambda power: f"e{power[1].strip('+')}{power[2]}", re.sub("^-", "−", text)
    )


def span_text(value: float, over: bool = False) -> str:
    """A span: one decimal below 100, and a plus where the axis ends before the learner does.

    >>> span_text(9.18), span_text(198.7), span_text(256.0, over=True)
    ('9.2', '199', '256+')
    """
    return f"{value:.0f}+" if over else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def exact(value: float) -> str:
    """All digits, and no point after a whole number."""
    whole = math.isfinite(value) and float(value).is_integer() and abs(value) < 2**53
    return str(int(value)) if whole else repr(float(value))


def digits(value: float, form: str) -> str:
    """A value in one of `blocks.FORMS`.

    >>> digits(0.00123, "fine"), digits(-0.30103, "factor"), digits(400.2, "factor")
    ('0.0012', '×0.5', '×1e400')
    >>> digits(0.01234, "seconds"), digits(1234.5, "seconds"), digits(-1234.5, "count")
    ('0.012', '1,234', '−1,234')
    >>> digits(12.345, "steps"), digits(1234.5, "steps")
    ('12.35', '1,234')
    """
    if form == FACTOR:
        return (
            f"×{magnitude(10.0**value)}"
            if math.isinf(value) or abs(value) < 300
            else f"×1e{value:.0f}"
        )
    if form == blocks.EXACT:
        return exact(value)
    if form == blocks.SPAN and math.isfinite(value):
        return span_text(value).replace("-", "−")
    size = abs(value)
    if (
        not math.isfinite(value)
        or form == blocks.SCORE
        or (form == blocks.FINE and not 0.0005 <= size < 0.01)
    ):
        return score(value)
    if form == MAGNITUDE:
        return magnitude(value)
    if form == blocks.STEPS and size < 100:
        return f"{value:.4g}"
    small = {blocks.FINE: 4, blocks.SECONDS: 3 if size < 1 else 2 if size < 10 else 0}
    return f"{value:,.{small.get(form, 0)}f}".replace("-", "−")


def scored(
    read: Score, value: float | None, interval: tuple[float, float] | None = None, **more: Any
) -> Number:
    """A value of a score as the score is read, with its own word where it has one. more: other
    fields of the number.
    """
    form = MAGNITUDE if read.read == LOG else blocks.STEPS if read.shown == MEDIAN else blocks.SCORE
    word = read.word(value) if value is not None and not math.isnan(value) else ""
    return Number(value, interval, **{"form": form, "word": word, **more})


def written(number: Number) -> str:
    """The number without its interval and its note.

    >>> numbers = Number(0.2134), Number(None), Number(0.3, signed=True), Number(5, word="<9")
    >>> [written(number) for number in numbers]
    ['0.213', '–', '+0.300', '<9']
    """
    if number.word or number.value is None or math.isnan(number.value):
        return number.word or NOTHING
    text = digits(number.value, number.form)
    return f"+{text}" if number.signed and number.value > 0 else text


def bounds(number: Number) -> str:
    """`[low, high]`, or nothing without an interval, or for one of no width, of runs that are
    all alike.

    >>> bounds(Number(0.5, (0.4, 0.6))), bounds(Number(1.0, (1.0, 1.0)))
    ('[0.400, 0.600]', '')
    """
    if number.interval is None or number.interval[0] == number.interval[1]:
        return ""
    low, high = (digits(end, number.form).removeprefix("×") for end in number.interval)
    return f"[{low}, {high}]"


def half_width(number: Number) -> str:
    """Half of what the interval spans, for places where two bounds are too long; where orders of
    magnitude count, what its ends are apart from the middle, as a factor. Both bounds where one end
    is further from the value than the other; nothing without an interval, or for one of no
    width.

    >>> half_width(Number(0.5, (0.4, 0.6)))
    '±0.100'
    >>> half_width(Number(1e-3, (5e-4, 2e-3), form="magnitude"))
    '×÷2'
    >>> half_width(Number(-0.123, (-0.215, -0.1)))
    '[−0.215, −0.100]'
    """
    half = half_of(number)
    if half is None or not bounds(number):
        return ""
    if _lopsided(number):
        return bounds(number)
    return (
        f"×÷{magnitude(half)}"
        if number.form in (MAGNITUDE, FACTOR)
        else f"±{digits(half, number.form)}"
    )


HALVES = "± half the 95 % interval, or its ends"
"""What `half_width` writes next to a mean, for captions."""
LOPSIDED = 0.2
"""The difference of an interval's two sides, as a share of its width, from which its ends are
written.
"""


def _lopsided(number: Number) -> bool:
    """Whether a value lies so far from the middle of its interval that ± would mislead."""
    assert number.interval is not None
    ends = [number.interval[0], number.value, number.interval[1]]
    if number.form == MAGNITUDE and all(end is not None and end > 0 for end in ends):
        ends = [math.log10(end or 1.0) for end in ends]
    low, middle, high = (math.nan if end is None else end for end in ends)
    return abs(low + high - 2 * middle) > LOPSIDED * (high - low)


def half_of(number: Number) -> float | None:
    """The number that `half_width` formats."""
    if number.interval is None:
        return None
    low, high = number.interval
    if number.form == FACTOR:
        return math.pow(10.0, (high - low) / 2) if high - low < 600 else math.inf
    if number.form == MAGNITUDE:
        return math.sqrt(high / low) if low > 0 else math.inf
    return (high - low) / 2


def noted(note: str) -> str:
    """Small print after a number: a sign unchanged, words in parentheses."""
    return f" ({note})" if note[:1].isalnum() else f" {note}" if note else ""


def spoken(cell: Cell, intervals: str = HALF) -> str:
    """A whole cell in one line: `0.213 ±0.020 =`; with bounds in the place of ± if asked for."""
    if isinstance(cell, Several):
        return cell.between.join(spoken(one, intervals) for one in cell.cells)
    if isinstance(cell, Name):
        return cell.text + noted(cell.note)
    if isinstance(cell, str):
        return cell
    missing = (
        cell.value is None and not cell.word
    )  # its note gives the reason, which is too long for a cell
    interval = half_width(cell) if intervals == HALF else bounds(cell)
    return " ".join(filter(None, (written(cell), interval))) + ("" if missing else noted(cell.note))


def stored_text(block: blocks.Stored) -> str:
    """Nested data as indented JSON."""
    return json.dumps(plain(block.data), indent=2, sort_keys=True, ensure_ascii=False)
