"""The tables of a report, as blocks: scores, cost, runs without a result, what the convention
changes, all tasks at a glance, and every run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from quickstudy.base.blocks import (
    CONTROL,
    COUNT,
    EXACT,
    FACTOR,
    HALF,
    LEARNER,
    ORACLE,
    PERSON,
    REPLAY,
    ROLES,
    SCORE,
    SECONDS,
    Cell,
    Column,
    Group,
    Line,
    Mark,
    Name,
    Number,
    Table,
)
from quickstudy.base.measure import LOG, MEDIAN, PLAIN, Score
from quickstudy.render.numbers import scored, written
from quickstudy.report.report_data import LEARNING, Change, ReportData, Row, TaskTable
from quickstudy.report.statistics import FEWEST, Contrast, Estimate
from quickstudy.report.words import COST_TITLES, MODEL_TITLES, RUNNING_TITLES, counted

Marks = Mapping[tuple[str, str], Mark]
"""The mark of each learner, by (role, learner)."""
_KEY_LETTERS = 12
_NAME = Column("learner", numeric=False)


def marks_of(data: ReportData) -> Marks:
    """The same mark for a learner in all tables and pictures of a report; people come after the
    learners.
    """
    names: dict[str, set[str]] = {role: set() for role in ROLES}
    for row in (row for table in data.tables for row in table.rows):
        names[row.role].add(row.learner)
    learning = sorted({name for role in LEARNING for name in names[role]})
    # One number, and so one colour, for a learner, also where it has replay on some tasks alone.
    found = {
        (role, name): Mark(role, number)
        for number, name in enumerate(learning)
        for role in LEARNING
        if name in names[role]
    }
    found |= {
        (PERSON, name): Mark(PERSON, len(learning) + n)
        for n, name in enumerate(sorted(names[PERSON]))
    }
    for role in (CONTROL, ORACLE):
        found |= {(role, name): Mark(role, index) for index, name in enumerate(sorted(names[role]))}
    return found


def score_table(table: TaskTable, marks: Marks, name: str) -> Table:
    """All scores of a task; the best learner is strong only where it is clearly ahead of the
    next.
    """
    legend, scores = table.legend, table.columns
    titles = {
        LEARNER: f"Learners: {legend.once}" if legend.replay_apart else "Learners",
        REPLAY: f"Learners with replay: {legend.again}, and ranked apart",
        PERSON: "People: examined in a shorter form, and ranked apart",
        CONTROL: "Controls: rules that never learn",
        ORACLE: "Oracle: the best that can be done",
    }
    columns = [
        Column(one.title, one.better, note="median" if one.shown == MEDIAN else "")
        for one in scores
    ]
    # The headline first: where there is room for few columns, it is one of them.
    columns[1:1] = [Column("runs"), Column("scaled", "higher")] if scores else [Column("runs")]
    groups = [
        Group([_score_line(row, table, scores, marks) for row in rows], title)
        for role, title in titles.items()
        if (rows := table.of_role(role))
    ]
    caption = f"Scores on {table.task}, convention {table.convention}"
    return Table(name, caption, [_NAME, *columns], groups, paper=True)


def _score_line(row: Row, table: TaskTable, scores: Sequence[Score], marks: Marks) -> Line:
    strong = table.is_ahead(row)
    cells: list[Cell] = [
        _estimated(row.scores.get(score.name), score, bound=row.is_bound(score.name))
        for score in scores
    ]
    counts = Counter(run.status for run in row.unfinished)
    missing = ", ".join(f"{count} {status.replace('-', ' ')}" for status, count in counts.items())
    runs = Number(len(row.finished), form=COUNT, note=missing)
    if scores:
        found = row.scores.get(scores[0].name)
        note = f"of {counted(found.n, 'run')}" if found and found.n < FEWEST else ""
        bound = row.is_bound(scores[0].name)
        cells[:1] = [
            _estimated(found, scores[0], bound, strong=strong, note=note),
            runs,
            _scaled(row),
        ]
    else:
        cells = [runs]
    return Line(
        [_named(row, marks, strong), *cells],
        row.role,
        first=row.learner == table.ends.get(row.role),
    )


def _scaled(row: Row) -> Number:
    """The place of a row between best control and oracle; an interval as wide as that scale is only
    named so.
    """
    shown = contrast(row.scaled)
    wide = shown.interval is not None and shown.interval[1] - shown.interval[0] > 2
    return replace(shown, interval=None, note="± more than 1") if wide else shown


def _estimated(found: Estimate | None, score: Score, bound: bool = False, **more: Any) -> Number:
    """A score of a row. bound: it is at least so much, since no more could be measured."""
    value, interval = found.shown(score) if found else (None, None)
    number = scored(score, value, interval, **more)
    return replace(number, word=f"≥{written(number)}") if bound and value is not None else number


def contrast(found: Contrast, score: Score = PLAIN, signed: bool = False) -> Number:
    """A contrast with its interval; a factor where orders of magnitude count; the reason where it
    is not defined.
    """
    form = FACTOR if score.read == LOG else SCORE
    return Number(
        found.value,
        found.interval,
        form,
        signed=signed,
        note=found.reason if found.value is None else "",
    )


def _named(row: Row, marks: Marks, strong: bool = False) -> Name:
    return Name(row.learner, marks[row.role, row.learner], strong=strong)


def cost_table(table: TaskTable, marks: Marks, name: str) -> Table | None:
    """The mean cost of a run; costs that no learner has are left out."""
    titles = {**COST_TITLES, **MODEL_TITLES, **RUNNING_TITLES}
    names = [cost for cost in titles if any(row.cost.get(cost) for row in table.rows)]
    lines = [
        Line([_named(row, marks), *(_cost(cost, row) for cost in names)], row.role)
        for row in table.rows
    ]
    columns = [_NAME, *(Column(titles[cost]) for cost in names)]
    return (
        Table(name, f"Mean cost of a run on {table.task}", columns, [Group(lines)])
        if names
        else None
    )


def _cost(name: str, row: Row) -> Number:
    value = row.cost.get(name)
    # A learner that ran without a count has parameters that were not counted.
    unknown = name == "trained_parameters" and value is None and row.cost
    return Number(
        value,
        form=SECONDS if name.endswith("_seconds") else COUNT,
        word="unknown" if unknown else "",
    )


def failure_table(table: TaskTable, name: str) -> Table | None:
    """Runs that failed or did not apply, by reason; None when there are none."""
    lines = []
    for row in table.rows:
        reasons: dict[tuple[str, str], list[str]] = {}
        for run in row.unfinished:
            reasons.setdefault((run.status, run.reason), []).append(f"{run.root}/{run.repetition}")
        for (status, reason), seeds in reasons.items():
            cells: list[Cell] = [
                Name(row.learner),
                status,
                Number(len(seeds), form=COUNT),
                reason or "–",
            ]
            lines.append(Line([*cells, ", ".join(seeds)], row.role))
    titles = ("status", "runs", "reason", "seeds (root/repetition)")
    columns = [_NAME, *(Column(title, numeric=title == "runs") for title in titles)]
    return (
        Table(name, f"Runs without a result on {table.task}", columns, [Group(lines)])
        if lines
        else None
    )


def change_table(change: Change, name: str) -> Table:
    """What the convention changes on one task."""
    first, last = change.conventions[0], change.conventions[-1]
    lines = []
    for row in change.rows:
        means = [scored(row.score, mean) for mean in row.means]
        gap = contrast(row.difference, row.score, signed=True)
        lines.append(Line([Name(row.learner), row.score.title, *means, gap], row.role))
    columns = [
        _NAME,
        Column("score", numeric=False),
        *map(Column, change.conventions),
        Column(f"{last} − {first}"),
    ]
    return Table(name, f"What the convention changes on {change.task}", columns, [Group(lines)])


def glance_table(tables: Sequence[TaskTable], marks: Marks, name: str) -> Table:
    """The headline of every learner on every task of a family; below, of the best control and the
    oracle of each.
    """
    groups = []
    for role, title in ((LEARNER, ""), (REPLAY, "With replay"), (PERSON, "People")):
        names = {row.learner for table in tables for row in table.of_role(role)}
        ordered = sorted(names, key=lambda name: (_rank(name, role, tables), name))
        lines = [
            Line(
                [Name(name, marks[role, name]), *(_glanced(table, role, name) for table in tables)],
                role,
            )
            for name in ordered
        ]
        groups += [Group(lines, title)] if lines else []
    ends = [
        Line(
            [Name(title), *(_glanced(table, role, table.ends[role]) for table in tables)],
            role,
            first=True,
        )
        for title, role in (("best control", CONTROL), ("oracle", ORACLE))
        if any(table.ends[role] for table in tables)
    ]
    columns = [
        _NAME,
        *(Column(one.task.removeprefix(f"{one.family}/"), one.judged.better) for one in tables),
    ]
    titles = dict.fromkeys(table.judged.title for table in tables if table.headline)
    groups += [Group(ends, "Controls and oracle")] if ends else []
    every = [cell for group in groups for line in group.lines for cell in line.cells]
    several = any(isinstance(cell, Number) and cell.interval for cell in every)
    half = ", ± half the 95 % interval over runs, or its ends" if several else ""
    caption = f"{' or '.join(titles) or 'headline'} by task{half}; * clearly ahead of the next"
    return Table(name, caption, columns, groups, intervals=HALF)


def _rank(learner: str, role: str, tables: Sequence[TaskTable]) -> float:
    """The mean rank of a learner among its like over the tasks that it has run; those that are tied
    share a rank.
    """
    ranks = []
    for table in tables:
        values = {row.learner: _placed(table, row) for row in table.of_role(role)}
        if learner in values:
            own = values[learner]
            better, equal = (
                sum(one > own for one in values.values()),
                sum(one == own for one in values.values()),
            )
            ranks.append(better + (equal - 1) / 2)
    return sum(ranks) / len(ranks)


def _placed(table: TaskTable, row: Row) -> float:
    """The headline, higher is better; that of a row without one is below all others."""
    middle = table.middle(row)
    return -math.inf if middle is None else table.judged.sign * middle


def _glanced(table: TaskTable, role: str, learner: str | None) -> Number:
    row = table.row(learner, role)
    found = row.scores.get(table.headline or "") if row else None
    ahead = row is not None and table.is_ahead(row)
    bound = row is not None and row.is_bound(table.headline or "")
    return _estimated(found, table.judged, bound, strong=ahead, note="*" if ahead else "")


def run_table(table: TaskTable, name: str) -> Table:
    """Every run, with all its scores."""
    read = {score: table.legend.score(score) for score in table.scores}
    watched = any(run.look_ahead for row in table.rows for run in row.runs)
    lines = []
    for row in table.rows:
        name_cell = Name(row.learner)
        for run in row.runs:
            seed = [Number(number, form=EXACT) for number in (run.root, run.repetition)]
            scores = [scored(read[score], run.scores.get(score)) for score in read]
            last = [
                Number(run.cost.get("learn_seconds"), form=SECONDS),
                Number(run.place + 1, form=COUNT),
            ]
            cells: list[Cell] = [
                run.key[:_KEY_LETTERS],
                name_cell,
                *seed,
                run.status,
                *scores,
                *last,
            ]
            lines.append(Line([*cells, *([run.look_ahead] if watched else [])], row.role))
    words = {
        title: Column(title, numeric=False) for title in ("run", "learner", "status", "looks ahead")
    }
    columns = [
        words["run"],
        words["learner"],
        Column("root"),
        Column("repetition"),
        words["status"],
    ]
    columns += [
        *map(Column, read),
        Column("learn s"),
        Column("place"),
        *([words["looks ahead"]] if watched else []),
    ]
    return Table(
        name, f"All runs on {table.task}, convention {table.convention}", columns, [Group(lines)]
    )
