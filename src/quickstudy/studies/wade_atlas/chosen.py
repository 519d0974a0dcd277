"""The rules that were chosen on each task by each score, what choosing was worth, and the published
choice.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import (
    EXACT,
    Block,
    Cell,
    Made,
    Name,
    Number,
    Section,
    Several,
    Text,
    table,
)
from quickstudy.base.registries import block
from quickstudy.pages.study_request import Request
from quickstudy.pages.table_helpers import EMPTY, gap, halves, kendall, mean, mean_of
from quickstudy.render.numbers import score as written
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, LEVEL, UNTOLD, Contrast, difference
from quickstudy.report.words import counted
from quickstudy.studies.wade_atlas.candidates import (
    TaskRuns,
    criterion_of,
    images,
    published_of,
    task_runs,
)

_BY_CRITERION = "rank by the published criterion"


@block("chosen-rules", version=1)
class ChosenRules:
    """The rules that are best by each score, with their images, what choosing was worth, and the
    published order.
    """

    def blocks(self, request: Request) -> Made:
        """Two tables for each score, and one of the published order."""
        tasks = [task for task in task_runs(request) if task.compared]
        facts: dict[str, Any] = {}
        if not tasks:
            return Made([], {"tasks": facts})
        made = []
        for score in request.study.scores:
            found = _by(request, tasks, score)
            facts[score] = found.facts
            made.append(
                Section(f"Chosen by {request.score(score).title}", found.blocks, f"chosen-{score}")
            )
        return Made([*made, *order_of_published(request, tasks)], {"tasks": facts})


def _by(request: Request, tasks: Sequence[TaskRuns], score: str) -> Made:
    read, criterion, name = (
        request.score(score),
        criterion_of(request.study),
        f"{request.name}-{score}",
    )
    title = read.title
    if not read.sign:
        return Made([Text(f"{title}: direction unknown, so that no rule is the best.")])
    rows: list[list[Cell]] = []
    beside: list[list[Cell]] = []
    facts: dict[str, Any] = {}
    rises: list[Contrast] = []
    rivals: list[Contrast] = []
    for task in tasks:
        rule, published, means = task.chosen(score), task.published, task.means[score]
        if rule is None:
            continue
        before = task.values(rule, score)
        after, theirs = (task.values(who, score, reported=True) for who in (rule, published))
        optimism = difference(before, after)
        gain = Contrast(None) if published in (None, rule) else difference(after, theirs)
        rises += [optimism] if optimism.value is not None else []
        rivals += [gain] if gain.value is not None else []
        alike = (
            " ".join(str(one) for one in dict.fromkeys(images(int(rule))) if one != int(rule))
            or "–"
        )
        label, rank = Name(task.row.label), _rank(task, rule, criterion)
        rows.append(
            [label, _exact(int(rule)), alike, mean(before), mean(after), gap(optimism), rank]
        )
        cells: list[Cell] = [EMPTY] * 5
        if published is not None:
            ranks = [_rank(task, published, by) for by in (score, criterion)]
            won: Cell = "the same rule" if published == rule else gap(gain)
            cells = [_exact(int(published)), *ranks, mean(theirs), won]
        beside.append([label, *cells])
        facts[task.row.task] = {
            "rule": int(rule),
            "published_rule": None if published is None else int(published),
            "choosing_mean": means[rule],
            "choosing_runs": task.runs,
            "reported_mean": mean_of(after),
            "reported_runs": len(after),
            "published_rule_mean": mean_of(theirs),
            "optimism": optimism.value,
            "gain": gain.value,
            "rank_by_criterion": task.rank(rule, criterion),
            "published_rank": task.rank(published, score),
            "level": list(means.values()).count(means[rule]),
        }
    about = (
        f"{title}: mean{halves(rows)}. Optimism: on the choosing seeds less on the reported ones,"
        " of the same rule. The rank is among the rules compared on the choosing seeds, by"
        f" {request.score(criterion).title}"
    )
    heading: tuple[str, ...] = (
        "task",
        "rule",
        "its images",
        "choosing",
        "reported",
        "optimism",
        _BY_CRITERION,
    )
    made: list[Block] = [Text(_rise(rises, title)), table(name, about, heading, rows)]
    if any(task.published for task in tasks):
        caption = (
            f"{title} on the reported seeds: mean{halves(beside)}. Ranks are on the choosing seeds"
        )
        heading = (
            "task",
            "published rule",
            f"rank by {title}",
            _BY_CRITERION,
            "its score",
            "chosen − published",
        )
        made.append(table(f"{name}-published", caption, heading, beside))
    if rivals:
        text = (
            "On the reported seeds, chosen rule against published one on"
            f" {counted(len(rivals), 'task')} where they differ, by the interval: {_told(rivals)}."
        )
        made.append(Text(text))
    return Made(made, facts)


def _rise(optimism: Sequence[Contrast], title: str) -> str:
    """What choosing the best has added."""
    if not optimism:
        return "The chosen rules have no runs on the reported seeds yet."
    rise = sum(contrast.value or 0.0 for contrast in optimism) / len(optimism)
    return (
        f"On the seeds on which it was chosen, the best rule scores {written(abs(rise))}"
        f" {'more' if rise > 0 else 'less'} {title} than on others, on average over"
        f" {counted(len(optimism), 'task')}. Task by task, by the interval: {_told(optimism)}."
    )


def _told(contrasts: Sequence[Contrast]) -> str:
    """On how many tasks the difference is above 0, below it, level with it, or has too few runs to
    say.
    """
    counts = Counter(contrast.standing for contrast in contrasts)
    words = {ABOVE: "more on", BELOW: "less on", LEVEL: "no significant difference on"}
    said = [f"{word} {counts[standing]}" for standing, word in words.items() if counts[standing]]
    if counts[UNTOLD]:
        said.append(f"no verdict on {counts[UNTOLD]}, where there are fewer than {FEWEST} runs")
    return ", ".join(said)


def order_of_published(request: Request, tasks: Sequence[TaskRuns]) -> list[Block]:
    """The published order of the best against the order here, by the publication's own
    criterion.
    """
    criterion = criterion_of(request.study)
    rows: list[list[Cell]] = []
    inside = expected = 0.0
    for task in tasks:
        means = task.means[criterion]
        published = [rule for rule in published_of(request.study, task.row) if rule in means]
        if len(published) < 2:
            continue
        ranks = [task.rank(rule, criterion) or math.nan for rule in published]
        among, chance = (
            sum(rank <= len(published) for rank in ranks),
            len(published) ** 2 / len(means),
        )
        inside, expected = inside + among, expected + chance
        many, agreement = _exact(len(published)), map(Number, kendall(range(len(ranks)), ranks))
        there, middle = Several([_exact(among), many], " of "), _exact(float(np.median(ranks)))
        rows.append(
            [
                Name(task.row.label),
                many,
                there,
                Number(chance, word=f"{chance:.1f}"),
                middle,
                *agreement,
            ]
        )
    if not rows:
        return []
    text = (
        f"Of the published best rules of {counted(len(rows), 'task')}, {inside:g} are among as many"
        f" best here by {request.score(criterion).title}, the publication's own criterion;"
        f" {expected:.1f} would be by chance."
    )
    caption = (
        "τ: agreement within the published list, 1 for the same order, 0 for none; p: of no"
        " agreement, two-sided"
    )
    heading = (
        "task",
        "published",
        "among as many best here",
        "by chance",
        "median rank",
        "Kendall's τ",
        "p",
    )
    found = table(f"{request.name}-order", caption, heading, rows)
    return [Section("The published order of rules", [Text(text), found])]


def _exact(value: float) -> Number:
    return Number(value, form=EXACT)


def _rank(task: TaskRuns, rule: str, score: str) -> Cell:
    rank = task.rank(rule, score)
    return (
        EMPTY if rank is None else Several([_exact(rank), _exact(len(task.means[score]))], " of ")
    )
