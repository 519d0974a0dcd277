"""Published | measured, cell by cell, with the result of the comparison; and one line per
number for programs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from quickstudy.base.blocks import Block, Cell, Made, Name, Several, Table, Text, table
from quickstudy.base.measure import LOG, MEAN, Score
from quickstudy.base.registries import block
from quickstudy.base.study import Published
from quickstudy.pages.reproduction import (
    FAR,
    Best,
    Reproduced,
    Reproduction,
    measured,
    reproduction,
)
from quickstudy.pages.study_request import CONVENTIONS, Request, Stage
from quickstudy.pages.table_helpers import EMPTY, counts, first_by
from quickstudy.render.numbers import HALVES, scored, spoken
from quickstudy.report.statistics import FEWEST
from quickstudy.report.words import counted, described

UNLIKE = (
    "tasks, tests and units of time are not those of the publication, so that agreement is not"
    " expected"
)


@block("published", version=1)
class Beside:
    """A published table next to the measured one, for every score of the study."""

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every learner on every task, and the controls if they are wanted."""
        yield Stage(request.models() + (request.rules() if request.controls else []), request.seeds)

    def blocks(self, request: Request) -> Made:
        """One table per score; for the main one, what agrees and what the convention changes."""
        made: list[Block] = [Text(counts(request.cells(), request.convention))]
        facts = {}
        for score in request.study.scores:
            found = reproduction(request, score)
            facts[score] = found.as_facts()
            lines = best_of(found)
            if score == request.study.score:
                # Only learners that were run are looked up: a learner of one convention may not
                # suit another's task.
                others = [
                    name
                    for name in CONVENTIONS
                    if name in request.results.conventions - {request.convention}
                ]
                lines += summary(
                    found, reproduction(request.under(others[0]), score) if others else None
                )
            made += [as_table(found, f"{request.name}-{score}"), *map(Text, lines)]
        return Made(made, facts)


def as_table(
    found: Reproduction, name: str, caption: str = "", data: Sequence[Sequence[str]] | None = None
) -> Table:
    """The table. `=` marks a cell that agrees with the published one, `≠` one that differs by more
    than two standard errors of both. Where controls were run, the best of each task has a column,
    and so has the oracle.
    """
    columns = found.study.models
    rules = {
        name: known
        for name, known in (("best control", found.controls), ("oracle", found.oracles))
        if known
    }
    rows: list[list[Cell]] = []
    for row, cells in found.cells.items():
        read = found.on(row)
        best = [_ruled(known.get(row, {}), read) for known in rules.values()]
        rows.append([Name(row), *(_cell(cells[column], read) for column in columns), *best])
    return table(
        name, caption or marks(found), ("task", *columns, *rules), rows, data or data_of(found)
    )


def data_of(found: Reproduction) -> list[tuple[str, ...]]:
    """One line per task and learner, controls and oracles among them, at full precision; empty
    where nothing is known.

    low, high: the 95 % interval of the mean over so many runs. within: whether the mean is within
    the published spread. standard_errors: how many of both it is from the published one; both empty
    where runs are too few for a verdict. Where columns are one model, it has a line too: in the
    place of the mean the best of all runs, and which it was.
    """
    heading = (
        "task",
        "learner",
        "published",
        "published_spread",
        "mean",
        "low",
        "high",
        "runs",
        "within",
    )
    more = (
        "standard_errors",
        *(("best_column", "best_repetition") if found.study.together else ()),
    )
    lines = [heading + more]
    for row, cells in found.cells.items():
        rules = {**found.controls.get(row, {}), **found.oracles.get(row, {})}
        for learner, cell in {**cells, **rules}.items():
            if cell.published or cell.measured is not None:
                within = {True: "yes", False: "no", None: None}[
                    cell.within if cell.distance is not None else None
                ]
                numbers = (cell.measured, cell.low, cell.high, cell.n, within, cell.distance)
                best = (cell.column, cell.repetition) if isinstance(cell, Best) else (None, None)
                values = (
                    *(cell.published or (None, None)),
                    *numbers,
                    *(best if found.study.together else ()),
                )
                lines.append((row, learner, *map(plainly, values)))
    return lines


def plainly(value: float | str | None) -> str:
    """A value in a file: all digits of a number, nothing where there is none."""
    return "" if value is None or value != value else str(value)


MOST_NAMED = 3
"""Most cells of a model whose best run a sentence names: the table has the numbers already."""


def best_of(found: Reproduction) -> list[str]:
    """For every model that is several columns: that its cells are the best of how many runs, and
    which run that is.
    """
    lines = []
    for model, columns in found.study.together.items():
        cells = {
            row: cell for row, own in found.cells.items() if isinstance(cell := own[model], Best)
        }
        signs = {found.on(row).sign for row, cell in cells.items() if cell.n}
        known = []
        for row, value in measured(cells).items():
            cell, shown = cells[row], spoken(scored(found.on(row), value))
            which = (
                cell.column
                if cell.repetition is None
                else f"{cell.column}, repetition {cell.repetition}"
            )
            known.append(f"{row} {shown} ({which}, of {counted(cell.n, 'run')})")
        if signs == {0}:
            lines.append(
                f"{model} has no best run: which way {found.read.title} is better is not known."
            )
        elif known:
            best = {1: "highest", -1: "lowest"}[max(signs)] if len(signs) == 1 else "best"
            which = "; ".join(known) if len(known) <= MOST_NAMED else "--json names each run"
            lines.append(
                f"{model} is the {best} of all runs of {counted(len(columns), 'column')}, not a"
                f" mean: it gets better with their number, and has no interval. {which}."
            )
    return lines


def marks(found: Reproduction) -> str:
    """The caption of the table: what its numbers are, and what the marks mean."""
    reads = list(map(found.on, found.cells)) or [found.read]
    title = " or ".join(dict.fromkeys(map(described, reads)))
    if any(cell.n > 1 for *_, cell in found.every()):
        halves = {LOG: "mean ×÷ the factor to either end of the 95 % interval"}
        means = (halves.get(read.read, f"mean {HALVES}") for read in reads if read.shown == MEAN)
        median = ["median"] if any(read.shown != MEAN for read in reads) else []
        shown = " or ".join(dict.fromkeys([*means, *median]))
    else:
        shown = "of one run"
    if not any(cell.published for *_, cell in found.every()):
        return f"{title}: {shown}"
    unlike = "" if found.convention == found.study.convention else " (not like with like)"
    return f"{title}: published | measured {shown}{_rule(found)}{unlike}"


def _rule(found: Reproduction) -> str:
    """What the marks go by, which is not the same for cells that have standard errors and those
    that have none.
    """
    cells = [cell for *_, cell in found.judged()]
    rules = {
        True: f"≠ differs by more than {FAR:g} standard errors of both, = does not",
        False: "= within the published spread or bound, ≠ outside",
    }
    said = [
        rule
        for known, rule in rules.items()
        if any((cell.distance is not None) == known for cell in cells)
    ]
    return "".join(f"; {one}" for one in said)


def summary(found: Reproduction, other: Reproduction | None = None) -> list[str]:
    """The result of the comparison, in sentences; with another convention, what changes from
    this one to it.
    """
    judged = found.judged()
    lines = []
    if judged:
        several = len(found.study.models) > 1
        apart = [
            f"{row} {column}" if several else row for row, column, cell in judged if not cell.agrees
        ]
        counts = (
            f"{len(judged) - len(apart)} of {len(judged)} cells agree with the published ones"
            f" ({found.convention})"
        )
        if found.convention == found.study.convention:
            between = "; " if any("," in name for name in apart) else ", "
            some = 0 < len(apart) < len(judged)  # the sentence before reports that all differ
            lines += [f"{counts}.", *([f"They differ: {between.join(apart)}."] if some else [])]
            # Whether the cells of a column, taken together, are as far from the published ones as
            # chance has them.
            known = [
                f"{name} {one.square:.1f} on {one.freedom} (p {one.p:.2g})"
                for name, one in found.agreement().items()
            ]
            lines += (
                [f"Chi-square of the distances, by column: {'; '.join(known)}."] if known else []
            )
        else:
            # Other numbers are the point here, not a failure to reproduce.
            lines.append(f"{counts}, for information only: {UNLIKE}.")
    return lines + (_changes(found, other) if other is not None else [])


def _moved(found: Reproduction, other: Reproduction) -> tuple[int, list[str], int]:
    """How many cells were measured under both conventions; the rows of those that have enough runs
    of both; how many of these are apart. The best of many runs has no error, and is left out.
    """
    pairs = [
        (row, first, second)
        for row, cells in found.cells.items()
        for column in found.study.columns
        if (first := cells[column]).measured is not None and not isinstance(first, Best)
        if (second := other.cells[row][column]).measured is not None
    ]
    known = [pair for pair in pairs if min(pair[1].n, pair[2].n) >= FEWEST]
    return (
        len(pairs),
        [row for row, *_ in known],
        sum(_apart(one, two, found.on(row)) for row, one, two in known),
    )


def _changes(found: Reproduction, other: Reproduction) -> list[str]:
    both, known, moved = _moved(found, other)
    change = f"from {found.convention} to {other.convention}"
    if not known:
        return (
            [f"What changes {change} is unknown: no cell has {FEWEST} runs of both."]
            if both
            else []
        )
    rows = list(dict.fromkeys(known))
    pairs = {row: (found.best(row), other.best(row)) for row in rows}
    turned = [f"{row} ({one}, then {two})" for row, (one, two) in pairs.items() if one != two]
    shown = " or ".join(dict.fromkeys(found.on(row).shown for row in rows))
    best = (
        f"the model with the best {shown} changes on {len(turned)} of {counted(len(rows), 'task')}"
    )
    if not any(found.on(row).sign for row in rows):
        best = "which model is best is not known"
    told = ": ".join(filter(None, (best, ", ".join(turned))))
    return [
        f"F{change[1:]}, {moved} of {len(known)} cells change by more than {FAR:g} standard errors;"
        f" {told}."
    ]


def _apart(first: Reproduced, second: Reproduced, read: Score) -> bool:
    places = [read.place(cell.measured or 0.0) for cell in (first, second)]
    error = math.hypot(first.error or 0.0, second.error or 0.0)
    return places[0] != places[1] and not abs(places[0] - places[1]) <= FAR * error


def _ruled(rules: Mapping[str, Reproduced], read: Score) -> Cell:
    """The best control and its number; none if it is unknown which is better, unless there is
    only one.
    """
    known = measured(rules)
    best = first_by(known, read.sign or len(known) == 1)
    return EMPTY if best is None else Several([Name(best), _cell(rules[best], read)], " ")


def published_cell(printed: Published, read: Score) -> Cell:
    """A published number, or the words in its place."""
    return printed.value if isinstance(printed.value, str) else scored(read, printed.value)


def _cell(cell: Reproduced, read: Score) -> Cell:
    known = [published_cell(cell.published, read)] if cell.published else []
    if cell.measured is None:
        return known[0] if known else EMPTY
    low, high = cell.low, cell.high
    ends = (
        (low, high)
        if cell.n > 1 and low is not None and high is not None and not math.isnan(low)
        else None
    )
    notes = [f"(best of {cell.n:,})"] if isinstance(cell, Best) else []
    if cell.without:
        notes.append(f"({cell.n:,} of {cell.n + cell.without:,} runs)")
    notes += [] if cell.agrees is None else ["=" if cell.agrees else "≠"]
    measured = scored(read, cell.measured, ends, note=" ".join(notes))
    return Several([*known, measured]) if known else measured
