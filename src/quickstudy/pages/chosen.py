"""What was chosen among the candidates of a study by each score, what choosing was worth, and the published choice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.base.blocks import EXACT, Block, Cell, Made, Name, Number, Section, Several, Text
from quickstudy.base.catalogue import block
from quickstudy.pages.candidates import TaskRuns, candidate, criterion_of, published_of, task_runs
from quickstudy.pages.cells import EMPTY, gap, half_words, kendall, mean, mean_of, table
from quickstudy.pages.request import Request
from quickstudy.render.numbers import score as written
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, LEVEL, UNTOLD, Contrast, Values, difference
from quickstudy.report.words import counted


@dataclass(frozen=True)
class Choice:
    """The best candidate of a task by a score.

    after, theirs: scores of it and of the published one on the reported seeds. optimism: it on the choosing seeds less
    on the reported ones. gain: chosen less published on the reported seeds.
    """

    task: TaskRuns
    column: str
    after: Values
    theirs: Values
    optimism: Contrast
    gain: Contrast

    @classmethod
    def of(cls, task: TaskRuns, score: str) -> Choice | None:
        """None where nothing can be chosen."""
        column, published = task.chosen(score), task.published
        if column is None:
            return None
        after = task.values(column, score, reported=True)
        theirs = task.values(published, score, reported=True) if published is not None else {}
        gain = Contrast(None) if published in (None, column) else difference(after, theirs)
        return cls(task, column, after, theirs, difference(task.values(column, score), after), gain)

    def as_facts(self, score: str, criterion: str) -> dict[str, Any]:
        """In plain JSON types."""
        task, means = self.task, self.task.means[score]
        return {
            "rule": _plain(self.column),
            "published_rule": _plain(task.published),
            "choosing_mean": means[self.column],
            "choosing_runs": task.runs,
            "reported_mean": mean_of(self.after),
            "reported_runs": len(self.after),
            "published_rule_mean": mean_of(self.theirs),
            "optimism": self.optimism.value,
            "gain": self.gain.value,
            "rank_by_criterion": task.rank(self.column, criterion),
            "published_rank": None if task.published is None else task.rank(task.published, score),
            "level": sum(mean == means[self.column] for mean in means.values()),
        }


@block("chosen", version=1)
class Chosen:
    """The candidates that are best by each score, what choosing them was worth, and the published order."""

    alike = ""
    """The title of a further column: candidates that must score alike."""

    def others(self, column: str) -> list[str]:
        """Who must score like a candidate."""
        return []

    def blocks(self, request: Request) -> Made:
        """Two tables for each score, and one of the published order."""
        tasks = [task for task in task_runs(request) if task.compared]
        facts: dict[str, Any] = {}
        if not tasks:
            return Made([], {"tasks": facts})
        made = []
        for score in request.study.scores:
            found, facts[score] = self._by(request, tasks, score)
            made.append(Section(f"Chosen by {request.score(score).title}", found, f"chosen-{score}"))
        return Made([*made, *order_of_published(request, tasks)], {"tasks": facts})

    def _by(self, request: Request, tasks: Sequence[TaskRuns], score: str) -> tuple[list[Block], dict[str, Any]]:
        read, criterion = request.score(score), criterion_of(request.study)
        one = candidate(request.study)
        name, title = f"{request.name}-{score}", read.title
        if not read.sign:
            return [Text(f"{title}: direction unknown, so that no {one} is the best.")], {}
        found = [choice for task in tasks if (choice := Choice.of(task, score))]
        rows: list[list[Cell]] = [
            [
                Name(choice.task.row.label),
                _named(choice.column),
                *([" ".join(self.others(choice.column)) or "–"] if self.alike else []),
                mean(choice.task.values(choice.column, score)),
                mean(choice.after),
                gap(choice.optimism),
                _rank(choice.task, choice.column, criterion),
            ]
            for choice in found
        ]
        about = (
            f"{title}: mean{half_words(rows)}. Optimism: on the choosing seeds less on the reported ones, of the same "
            f"{one}. The rank is among the {one}s compared on the choosing seeds, by {request.score(criterion).title}"
        )
        heading = (
            "task",
            one,
            *([self.alike] if self.alike else []),
            "choosing",
            "reported",
            "optimism",
            _BY_CRITERION,
        )
        made: list[Block] = [Text(_rise(found, title, one)), table(name, about, heading, rows)]
        if any(choice.task.published is not None for choice in found):
            rows = [_beside(choice, score, criterion, one) for choice in found]
            caption = f"{title} on the reported seeds: mean{half_words(rows)}. Ranks are on the choosing seeds"
            more = (f"published {one}", f"rank by {title}", _BY_CRITERION, "its score", "chosen − published")
            made.append(table(f"{name}-published", caption, ("task", *more), rows))
            rivals = [choice.gain for choice in found if choice.gain.value is not None]
            if rivals:
                made.append(
                    Text(
                        f"On the reported seeds, chosen {one} against published one on {counted(len(rivals), 'task')} "
                        f"where they differ, by the interval: {_told(rivals)}."
                    )
                )
        return made, {choice.task.row.task: choice.as_facts(score, criterion) for choice in found}


_BY_CRITERION = "rank by the published criterion"


def _beside(choice: Choice, score: str, criterion: str, one: str) -> list[Cell]:
    published = choice.task.published
    if published is None:
        return [Name(choice.task.row.label), *[EMPTY] * 5]
    ranks = [_rank(choice.task, published, by) for by in (score, criterion)]
    gain = f"the same {one}" if published == choice.column else gap(choice.gain)
    return [Name(choice.task.row.label), _named(published), *ranks, mean(choice.theirs), gain]


def _rise(found: Sequence[Choice], title: str, one: str) -> str:
    """What choosing the best has added."""
    known = [choice.optimism for choice in found if choice.optimism.value is not None]
    if not known:
        return f"The chosen {one}s have no runs on the reported seeds yet."
    rise = sum(one.value or 0.0 for one in known) / len(known)
    return (
        f"On the seeds on which it was chosen, the best {one} scores {written(abs(rise))} "
        f"{'more' if rise > 0 else 'less'} {title} than on others, on average over {counted(len(known), 'task')}. Task "
        f"by task, by the interval: {_told(known)}."
    )


def _told(contrasts: Sequence[Contrast]) -> str:
    """On how many tasks the difference is above 0, below it, level with it, or has too few runs to say."""
    counts = Counter(contrast.standing for contrast in contrasts)
    words = {ABOVE: "more on", BELOW: "less on", LEVEL: "cannot be told apart on"}
    said = [f"{word} {counts[standing]}" for standing, word in words.items() if counts[standing]]
    if counts[UNTOLD]:
        said.append(f"no verdict on {counts[UNTOLD]}, where fewer than {FEWEST} runs are there")
    return ", ".join(said)


def order_of_published(request: Request, tasks: Sequence[TaskRuns]) -> list[Block]:
    """The published order of the best against the order here, by the publication's own criterion."""
    criterion = criterion_of(request.study)
    one = candidate(request.study)
    rows: list[list[Cell]] = []
    inside = expected = 0.0
    for task in tasks:
        means = task.means[criterion]
        published = [column for column in published_of(request.study, task.row) if column in means]
        if len(published) < 2:
            continue
        ranks = [task.rank(column, criterion) or math.nan for column in published]
        among, chance = sum(rank <= len(published) for rank in ranks), len(published) ** 2 / len(means)
        inside, expected = inside + among, expected + chance
        tau, p = kendall(range(len(ranks)), ranks)
        there = Several([Number(among, form=EXACT), Number(len(published), form=EXACT)], " of ")
        rows.append(
            [
                Name(task.row.label),
                Number(len(published), form=EXACT),
                there,
                Number(chance, word=f"{chance:.1f}"),
                Number(float(np.median(ranks)), form=EXACT),
                Number(tau),
                Number(p),
            ]
        )
    if not rows:
        return []
    text = (
        f"Of the published best {one}s of {counted(len(rows), 'task')}, {inside:g} are among as many best here by "
        f"{request.score(criterion).title}, the publication's own criterion; {expected:.1f} would be by chance."
    )
    caption = "τ: agreement within the published list, 1 for the same order, 0 for none; p: of no agreement, two-sided"
    heading = ("task", "published", "among as many best here", "by chance", "median rank", "Kendall's τ", "p")
    return [
        Section(f"The published order of {one}s", [Text(text), table(f"{request.name}-order", caption, heading, rows)])
    ]


def _named(column: str) -> Cell:
    """A candidate in a cell: a number where it is called by one, so that it is sorted as such."""
    return Number(int(column), form=EXACT) if column.isdigit() else Name(column)


def _plain(column: str | None) -> int | str | None:
    return int(column) if column and column.isdigit() else column


def _rank(task: TaskRuns, column: str, score: str) -> Cell:
    rank = task.rank(column, score)
    if rank is None:
        return EMPTY
    return Several([Number(rank, form=EXACT), Number(len(task.means[score]), form=EXACT)], " of ")
