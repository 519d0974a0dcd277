"""A reproduction for people, published | measured, cell by cell; and for programs, one line per number."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from quickstudy.base.measure import LOG, MEAN, Score
from quickstudy.report.numbers import NOTHING, described, half_width, written
from quickstudy.report.reproduce import Reproduced, Reproduction
from quickstudy.stats.bootstrap import Interval


def reproduction_rows(found: Reproduction) -> list[tuple[str, ...]]:
    """The table as rows of text, the heading first. `=` marks a cell within the published spread, `≠` one outside.

    Where controls were run, the best of each task has a column, and so has the oracle.
    """
    columns = found.study.columns
    rules = {name: known for name, known in (("best control", found.controls), ("oracle", found.oracles)) if known}
    rows = [("task", *columns, *rules)]
    for row, cells in found.cells.items():
        best = [_best(known.get(row, {}), found) for known in rules.values()]
        shown = [NOTHING if one is None else f"{one[0]} {_cell(one[1], found.read)}" for one in best]
        rows.append((row, *(_cell(cells[column], found.read) for column in columns), *shown))
    return rows


def reproduction_data(found: Reproduction) -> list[tuple[str, ...]]:
    """One line per task and learner, controls and oracles among them, at full precision; empty where nothing is known.

    low, high: the 95 % interval of the mean over so many runs. within: whether the mean is within the published spread.
    """
    heading = ("task", "learner", "published", "published_spread", "mean", "low", "high", "runs", "within")
    return [heading, *_lines(found)]


def marks(found: Reproduction) -> str:
    """The caption of the table: what its numbers are, and what the marks mean."""
    several = any(cell.n > 1 for cells in found.cells.values() for cell in cells.values())
    half = {LOG: " ×÷ the factor to either end of the 95 % interval"}.get(found.read.read, " ± half the 95 % interval")
    half = half if found.read.shown == MEAN else ", median"
    if not found.judged():
        number = f"mean{half}" if found.read.shown == MEAN else found.read.shown
        return f"{described(found.read)}: {number if several else 'of one run'}"
    measured = f"measured{half}" if several else "measured, of one run"
    unlike = "" if found.convention == "published" else " (not like with like)"
    return f"{described(found.read)}: published | {measured}; = within the published spread, ≠ outside{unlike}"


def _best(rules: Mapping[str, Reproduced], found: Reproduction) -> tuple[str, Reproduced] | None:
    """The best rule and its number; None where nobody knows which is better, unless there is only one."""
    known = [(name, cell) for name, cell in rules.items() if cell.measured is not None]
    if not found.read.sign and len(known) > 1:
        return None
    return max(known, key=lambda pair: found.read.sign * (pair[1].measured or 0.0), default=None)


def _lines(found: Reproduction) -> Iterator[tuple[str, ...]]:
    for row, cells in found.cells.items():
        rules = {**found.controls.get(row, {}), **found.oracles.get(row, {})}
        for learner, cell in {**cells, **rules}.items():
            if cell.published is None and cell.measured is None:
                continue
            published = (cell.published.value, cell.published.spread) if cell.published else (None, None)
            numbers = (*published, cell.measured, cell.low, cell.high)
            within = "" if cell.within is None else "yes" if cell.within else "no"
            yield row, learner, *map(_number, numbers), str(cell.n), within


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else repr(value)


def _cell(cell: Reproduced, read: Score) -> str:
    published = written(read, cell.published.value) if cell.published else ""
    if cell.measured is None:
        return published or NOTHING
    low, high = cell.low, cell.high
    known = cell.n > 1 and low is not None and high is not None and not math.isnan(low)
    half = f" {half_width(Interval(low or 0.0, high or 0.0), read)}" if known else ""
    mark = "" if cell.within is None else " =" if cell.within else " ≠"
    return f"{published + ' | ' if published else ''}{written(read, cell.measured)}{half}{mark}"
