"""The rows of a table for a program: a number in a cell of its own, and what stood behind it in others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quickstudy.report.numbers import NOTHING

_NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
_CELL = re.compile(rf"([+−-]?{_NUMBER})(?: (?:±|×÷)({_NUMBER}))?(?: (.+))?")


def numeric(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Columns with a ± (or ×÷, of orders of magnitude) become two, the number and half its interval, or three where
    marks follow; others stay.

    >>> numeric([("task", "score"), ("qa", "−0.21 ±0.02 <"), ("periodic", "–")])
    [['task', 'score', 'score ±', 'score mark'], ['qa', '-0.21', '0.02', '<'], ['periodic', '', '', '']]
    """
    split = [part for cells in zip(*rows, strict=True) for part in _split(list(cells))]
    return [list(cells) for cells in zip(*split, strict=True)]


def _split(column: list[str]) -> list[list[str]]:
    title, *cells = column
    found = [_CELL.fullmatch(cell) for cell in cells]
    known = all(match or cell in ("", NOTHING) for match, cell in zip(found, cells, strict=True))
    if not known or not any(match and match[2] for match in found):
        return [column]
    values, halves, marks = ([_plain(match[part]) if match else "" for match in found] for part in (1, 2, 3))
    made = [[title, *values], [f"{title} ±", *halves]]
    return [*made, [f"{title} mark", *marks]] if any(marks) else made


def _plain(text: str | None) -> str:
    """Digits as programs read them; what is no number stays as it is."""
    if text is None or not re.fullmatch(rf"[+−-]?{_NUMBER}", text):
        return text or ""
    return text.replace("−", "-").replace(",", "").removeprefix("+")
