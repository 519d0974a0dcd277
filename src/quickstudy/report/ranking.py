"""How learners stand over all tasks together: mean ranks, the chance of an improvement, performance
profiles.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.base.blocks import (
    HALF,
    LINEAR,
    POINTS,
    STEP,
    Axis,
    Block,
    Column,
    Group,
    Guide,
    Line,
    Mark,
    Name,
    Number,
    Page,
    Panel,
    Plot,
    Plotted,
    Table,
    Text,
)
from quickstudy.base.canonical import spelled
from quickstudy.report.build import build_report
from quickstudy.report.compare import Comparison, comparisons, identities
from quickstudy.report.report_data import LEARNING, Row, TaskTable
from quickstudy.report.statistics import CLOSEST, middle, stream
from quickstudy.report.words import counted, listing
from quickstudy.runs.results import ResultsTable
from quickstudy.stats.ranks import Ranking, improvement, performance_profile, ranking

_UNDER = (
    "Paired by task and seed; verdicts by sign flips within a family, corrected by Holm over all"
    " families."
)
LEVELS = np.round(np.arange(-0.5, 1.2001, 0.02), 6)
"""Of the scaled score, at which performance profiles are drawn."""


@dataclass(frozen=True)
class Overall:
    """learners: as they were named. tasks: that all of them have run, with a known direction, all
    in one pass or all with replay. ranking: over these. improvements: by (one, other), the chance
    that a run of the one is better, and its interval. profiles: by learner, the share of runs above
    each level of the scaled score, on tasks that have a scale. mixed: tasks left out because some
    learners saw every example once and others had replay.
    """

    learners: Sequence[str]
    rows: Sequence[Comparison]
    tasks: Sequence[str]
    ranking: Ranking | None
    improvements: Mapping[tuple[str, str], tuple[float, float, float]]
    profiles: Mapping[str, Any]
    scaled_tasks: Sequence[str]
    mixed: Sequence[str] = ()

    def facts(self) -> dict[str, Any]:
        """Everything in plain types."""
        return {
            "learners": list(self.learners),
            "tasks": list(self.tasks),
            "one_pass_and_replay": list(self.mixed),
            "mean_ranks": None if self.ranking is None else self.ranking.ranks.tolist(),
            "friedman_p": None if self.ranking is None else self.ranking.p,
            "critical_difference": None if self.ranking is None else self.ranking.critical,
            "probability_of_improvement": [
                {"first": one, "second": other, "value": found[0], "interval": found[1:]}
                for (one, other), found in self.improvements.items()
            ],
            "performance_profiles": {
                "levels": LEVELS.tolist(),
                "tasks": list(self.scaled_tasks),
                **{"shares": {name: shares.tolist() for name, shares in self.profiles.items()}},
            },
        }

    def lines(self) -> Iterator[str]:
        """The ranking as text for a terminal."""
        if self.mixed:
            which = counted(len(self.mixed), "task")
            yield (
                f"Not ranked on {which}, where some see every example once and others have replay."
            )
        if not self.tasks:
            yield (
                f"No task has two comparable runs of each of {listing(self.learners)}: there is no"
                " ranking."
            )
            return
        yield (
            f"Over {counted(len(self.tasks), 'task')} that all have run (a description; verdicts"
            " are by family):"
        )
        if self.ranking is not None and len(self.learners) > 1:
            order = np.argsort(self.ranking.ranks, kind="stable")
            ranks = ", ".join(
                f"{self.learners[place]} {self.ranking.ranks[place]:.2f}" for place in order
            )
            yield f"  mean ranks, 1 is the best: {ranks}"
        for (one, other), (value, low, high) in self.improvements.items():
            yield (
                f"  a run of {one} is better than one of {other} with probability {value:.2f}"
                f" [{low:.2f}, {high:.2f}]"
            )


def overall(results: ResultsTable, names: Sequence[str], score: str | None = None) -> Overall:
    """Learners compared two by two and over all tasks. Raises UsageError as `compare` does."""
    rows = comparisons(results, names, score)
    wanted = identities(results, names)
    # Without their traces, from which nothing here is drawn, and which take minutes to read where
    # they are many.
    tables = build_report(results, traces=False).tables
    shared, mixed = [], list[str]()
    runs, scaled = dict[str, dict[str, list[float]]](), dict[str, dict[str, list[float]]]()
    for table in tables:
        own = {name: _row(table, wanted[name]) for name in names}
        name = score or table.headline or ""
        read = table.legend.score(name)
        values = {one: row.values(name) for one, row in own.items() if row is not None}
        if not read.sign or len(values) < len(names) or min(map(len, values.values())) < 2:
            continue
        title = f"{table.task} ({table.convention})"
        if len({row.role for row in own.values() if row is not None} & set(LEARNING)) > 1:
            mixed.append(title)
            continue
        shared.append((title, [read.sign * read.place(middle(values[one], read)) for one in names]))
        runs[title] = {
            one: [read.sign * read.place(value) for value in values[one].values()] for one in names
        }
        if score is None and (ends := _ends(table)) is not None:
            floor, ceiling = ends
            scaled[title] = {
                one: [
                    (read.place(value) - floor) / (ceiling - floor)
                    for value in values[one].values()
                ]
                for one in names
            }
    keys = sorted(results.records)
    return Overall(
        names,
        rows,
        [title for title, _ in shared],
        ranking([values for _, values in shared]) if shared else None,
        {
            (one, other): improvement(
                [(own[one], own[other]) for own in runs.values()],
                stream(keys, f"improvement {one} {other}"),
            )
            for one, other in itertools.combinations(names, 2)
            if runs
        },
        (
            {
                one: performance_profile({task: own[one] for task, own in scaled.items()}, LEVELS)
                for one in names
            }
            if scaled
            else {}
        ),
        list(scaled),
        mixed,
    )


def _row(table: TaskTable, wanted: set[str]) -> Row | None:
    return next((row for row in table.rows if spelled(row.setting.get("learner")) in wanted), None)


def _ends(table: TaskTable) -> tuple[float, float] | None:
    """Best control and oracle of a task, on the axis of its headline; None where there is no scale
    between them.
    """
    found = []
    for role in table.ends:
        row = table.end(role)
        values = row.values(table.headline or "") if row else {}
        if not values or not all(map(math.isfinite, map(table.judged.place, values.values()))):
            return None
        found.append(float(np.mean([table.judged.place(value) for value in values.values()])))
    return None if abs(found[1] - found[0]) < CLOSEST else (found[0], found[1])


def comparison_page(found: Overall, command: str = "") -> Page:
    """Everything as a page: pictures of the ranks and the profiles, tables of the comparisons."""
    blocks: list[Block] = [Text(line.strip()) for line in found.lines()]
    if found.ranking is not None:
        blocks.append(_critical(found, found.ranking))
    if found.profiles:
        blocks.append(_profiles(found))
    blocks += [*_verdicts(found.rows), _table(found.rows)]
    if command:
        blocks.append(Text(command, "command"))
    title = f"{listing(found.learners)} compared"
    return Page(title, blocks, [_UNDER], "quickstudy comparison", found.facts())


def _verdicts(rows: Sequence[Comparison]) -> Iterator[Text]:
    """The verdict of every family, each once."""
    several = len({(row.first, row.second) for row in rows}) > 1
    for test in dict.fromkeys(row.family for row in rows):
        if test is not None:
            yield Text((f"{test.first} and {test.second}, " if several else "") + test.as_text())


def _critical(found: Overall, ranks: Ranking) -> Plot:
    order = np.argsort(ranks.ranks, kind="stable")
    half = 0.0 if math.isnan(ranks.critical) else ranks.critical / 2
    series = [
        Plotted(
            found.learners[place],
            Mark(number=int(place)),
            [number],
            [float(ranks.ranks[place])],
            [float(ranks.ranks[place]) - half],
            [float(ranks.ranks[place]) + half],
            POINTS,
        )
        for number, place in enumerate(order)
    ]
    ticks = [(number, found.learners[place]) for number, place in enumerate(order)]
    caption = (
        f"Mean rank over {counted(ranks.tasks, 'task')}, 1 is the best; whiskers are half of"
        " Nemenyi's critical difference at 5 % to either side. A description: verdicts are by"
        " family"
    )
    told = ", ".join(f"{found.learners[place]} {ranks.ranks[place]:.2f}" for place in order)
    return Plot(
        "critical-difference",
        caption,
        f"Mean ranks: {told}",
        Axis("", LINEAR, (-0.5, len(order) - 0.5), ticks),
        Axis("mean rank"),
        [Panel(series)],
        direct=False,
    )


def _profiles(found: Overall) -> Plot:
    series = [
        Plotted(name, Mark(number=place), LEVELS.tolist(), found.profiles[name].tolist(), kind=STEP)
        for place, name in enumerate(found.learners)
    ]
    caption = (
        "Performance profiles: the share of runs whose scaled score is above each level, over"
        f" {counted(len(found.scaled_tasks), 'task')} that have a scale, every task counting the"
        " same"
    )
    return Plot(
        "performance-profiles",
        caption,
        f"One falling line each: {listing(found.learners)}",
        Axis("scaled: 0 best control, 1 oracle"),
        Axis("share of runs above", LINEAR, (0.0, 1.0)),
        [Panel(series, guides=[Guide(x=0.0), Guide(x=1.0)])],
    )


def _table(rows: Sequence[Comparison]) -> Table:
    columns = [
        Column(title, numeric=numeric)
        for title, numeric in (
            ("task", False),
            ("first", False),
            ("second", False),
            ("score", False),
            ("values", False),
            ("difference", True),
            ("p, uncorrected", True),
            ("effect", True),
            ("improvement", True),
            ("detectable", True),
            ("pairs", True),
            ("remark", False),
        )
    ]
    lines = []
    for row in rows:
        interval = None if math.isnan(row.low) else (row.low, row.high)
        _, title, middles, *_, remark = row.as_text()
        numbers = [row.p, row.effect, row.improvement, row.detectable]
        lines.append(
            Line(
                [
                    Name(f"{row.task} ({row.convention})"),
                    Name(row.first),
                    Name(row.second),
                    title,
                    middles,
                    Number(row.difference, interval, signed=True),
                    *(Number(None if math.isnan(one) else one) for one in numbers),
                    Number(row.pairs, form="count"),
                    remark,
                ]
            )
        )
    caption = (
        "Every two, task by task: first minus second, of decimal logarithms where orders of"
        " magnitude count"
    )
    return Table("comparisons", caption, columns, [Group(lines)], HALF, paper=True)
