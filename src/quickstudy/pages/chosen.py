"""What was chosen among the candidates of a study by each score, what choosing was worth, and the published choice."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import EXACT, Block, Cell, Made, Name, Number, Section, Several, Text
from quickstudy.base.catalogue import block
from quickstudy.pages.candidates import TaskRuns, names_of, published_of, task_runs
from quickstudy.pages.cells import EMPTY, gap, halves, kendall, mean, mean_of, table
from quickstudy.pages.request import Request
from quickstudy.render.numbers import score as written
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, LEVEL, UNTOLD, Contrast, difference
from quickstudy.report.words import counted

_BY_CRITERION = "rank by the published criterion"


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
        read, (one, criterion) = request.score(score), names_of(request.study)
        name, title = f"{request.name}-{score}", read.title
        if not read.sign:
            return [Text(f"{title}: direction unknown, so that no {one} is the best.")], {}
        rows: list[list[Cell]] = []
        beside: list[list[Cell]] = []
        facts: dict[str, Any] = {}
        rises: list[Contrast] = []
        gains: list[Contrast] = []
        for task in tasks:
            column, published, means = task.chosen(score), task.published, task.means[score]
            if column is None:
                continue
            before = task.values(column, score)
            after, theirs = (task.values(who, score, reported=True) for who in (column, published))
            optimism = difference(before, after)
            gain = Contrast(None) if published in (None, column) else difference(after, theirs)
            rises.append(optimism)
            gains.append(gain)
            alike = [" ".join(self.others(column)) or "–"] if self.alike else []
            label, rank = Name(task.row.label), _rank(task, column, criterion)
            rows.append([label, _named(column), *alike, mean(before), mean(after), gap(optimism), rank])
            cells: list[Cell] = [EMPTY] * 5
            if published is not None:
                ranks = [_rank(task, published, by) for by in (score, criterion)]
                won: Cell = f"the same {one}" if published == column else gap(gain)
                cells = [_named(published), *ranks, mean(theirs), won]
            beside.append([label, *cells])
            facts[task.row.task] = {
                "rule": _plain(column),
                "published_rule": _plain(published),
                "choosing_mean": means[column],
                "choosing_runs": task.runs,
                "reported_mean": mean_of(after),
                "reported_runs": len(after),
                "published_rule_mean": mean_of(theirs),
                "optimism": optimism.value,
                "gain": gain.value,
                "rank_by_criterion": task.rank(column, criterion),
                "published_rank": task.rank(published, score),
                "level": list(means.values()).count(means[column]),
            }
        about = (
            f"{title}: mean{halves(rows)}. Optimism: on the choosing seeds less on the reported ones, of the same "
            f"{one}. The rank is among the {one}s compared on the choosing seeds, by {request.score(criterion).title}"
        )
        more = [self.alike] if self.alike else []
        heading = ("task", one, *more, "choosing", "reported", "optimism", _BY_CRITERION)
        made: list[Block] = [Text(_rise(rises, title, one)), table(name, about, heading, rows)]
        if any(found["published_rule"] is not None for found in facts.values()):
            caption = f"{title} on the reported seeds: mean{halves(beside)}. Ranks are on the choosing seeds"
            heading = ("task", f"published {one}", f"rank by {title}", _BY_CRITERION, "its score", "chosen − published")
            made.append(table(f"{name}-published", caption, heading, beside))
            rivals = [gain for gain in gains if gain.value is not None]
            text = (
                f"On the reported seeds, chosen {one} against published one on {counted(len(rivals), 'task')} where "
                f"they differ, by the interval: {_told(rivals)}."
            )
            made += [Text(text)] if rivals else []
        return made, facts


def _rise(optimism: Sequence[Contrast], title: str, one: str) -> str:
    """What choosing the best has added."""
    known = [contrast for contrast in optimism if contrast.value is not None]
    if not known:
        return f"The chosen {one}s have no runs on the reported seeds yet."
    rise = sum(contrast.value or 0.0 for contrast in known) / len(known)
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
    one, criterion = names_of(request.study)
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
        many, agreement = _exact(len(published)), map(Number, kendall(range(len(ranks)), ranks))
        there, middle = Several([_exact(among), many], " of "), _exact(float(np.median(ranks)))
        rows.append([Name(task.row.label), many, there, Number(chance, word=f"{chance:.1f}"), middle, *agreement])
    if not rows:
        return []
    text = (
        f"Of the published best {one}s of {counted(len(rows), 'task')}, {inside:g} are among as many best here by "
        f"{request.score(criterion).title}, the publication's own criterion; {expected:.1f} would be by chance."
    )
    caption = "τ: agreement within the published list, 1 for the same order, 0 for none; p: of no agreement, two-sided"
    heading = ("task", "published", "among as many best here", "by chance", "median rank", "Kendall's τ", "p")
    found = table(f"{request.name}-order", caption, heading, rows)
    return [Section(f"The published order of {one}s", [Text(text), found])]


def _exact(value: float) -> Number:
    return Number(value, form=EXACT)


def _named(column: str) -> Cell:
    """A candidate in a cell: a number where it is called by one, so that it is sorted as such."""
    return _exact(int(column)) if column.isdigit() else Name(column)


def _plain(column: str | None) -> int | str | None:
    return int(column) if column and column.isdigit() else column


def _rank(task: TaskRuns, column: str, score: str) -> Cell:
    rank = task.rank(column, score)
    return EMPTY if rank is None else Several([_exact(rank), _exact(len(task.means[score]))], " of ")
