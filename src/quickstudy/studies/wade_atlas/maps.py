"""All elementary rules of the cellular automaton: a map of their scores, and which of them must
score alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from quickstudy.base.blocks import HeatMap, Made, Section, Text
from quickstudy.base.registries import block
from quickstudy.pages.study_request import Request
from quickstudy.report.words import counted
from quickstudy.studies.wade_atlas.candidates import (
    TaskRuns,
    complemented,
    families,
    images,
    mirrored,
    task_runs,
)


@block("map", version=1)
class RuleMap:
    """The score of every rule on every task, from the lowest to the highest of the task."""

    def blocks(self, request: Request) -> list[HeatMap]:
        """A row per task, a column per family of rules; the families that do best over all tasks
        come first.
        """
        score = request.study.score
        title, tasks = (
            request.score(score).title,
            [task for task in task_runs(request) if task.compared],
        )
        if not tasks:
            return []
        columns = sorted(
            families(), key=lambda family: (-_standing(tasks, score, family), family[0])
        )
        values = [
            [[task.means[score].get(str(rule)) for rule in family] for family in columns]
            for task in tasks
        ]
        marks = []
        for row, task in enumerate(tasks):
            chosen, published = task.chosen(score), task.published
            for rule, words in (
                (published if published != chosen else None, "published rule"),
                (chosen, "best rule"),
            ):
                if rule is not None:
                    column = next(
                        place for place, family in enumerate(columns) if int(rule) in family
                    )
                    marks.append((row, column, columns[column].index(int(rule)), f"{words} {rule}"))
        caption = (
            f"{title}, mean over the choosing seeds. Each task has a scale of its own, from the"
            " lowest mean of its rules to the highest, the numbers next to its name. A column is a"
            " family of rules that are each other's images, named by its smallest, the families"
            " that do best over all tasks first; the quarters of a cell are that rule, its mirror"
            " image and, below, their complements."
        )
        best = ", ".join(f"{task.row.label} rule {task.chosen(score)}" for task in tasks)
        label = f"{title} of every rule on every task, on the choosing seeds. The best: {best}."
        labels, names = [task.row.label for task in tasks], [str(family[0]) for family in columns]
        data: list[tuple[str, ...]] = [("rule", "family", *labels)]
        for one in sorted({int(column) for task in tasks for column in task.means[score]}):
            means = (str(task.means[score].get(str(one), "")) for task in tasks)
            data.append((str(one), str(min(images(one))), *means))
        name = f"{request.name}-map"
        return [
            HeatMap(
                name, caption, label, labels, names, values, scaled="row", marks=marks, data=data
            )
        ]


def _standing(tasks: Sequence[TaskRuns], score: str, family: Sequence[int]) -> float:
    """Where a family lies between the worst and the best rule, in the mean over all tasks and
    members.
    """
    known = []
    for task in tasks:
        means, sign = task.means[score], task.legend.score(score).sign
        low, high = min(means.values(), default=0.0), max(means.values(), default=0.0)
        shares = [
            (means[str(rule)] - low) / ((high - low) or 1.0)
            for rule in family
            if str(rule) in means
        ]
        known += [sign * share for share in shares]
    return sum(known) / len(known) if known else -math.inf


@block("symmetry", version=1)
class Symmetry:
    """Mirror images must score alike, complements nearly: the largest disagreements, in standard
    errors.
    """

    def blocks(self, request: Request) -> Made:
        """Two sentences."""
        tasks = [task for task in task_runs(request) if task.compared]
        return symmetry(request.study.score, tasks) if tasks else Made([])


def symmetry(score: str, tasks: Sequence[TaskRuns]) -> Made:
    """How far rules and their images are apart on some tasks."""
    mirror, opposite = (_disagreements(score, tasks, image) for image in (mirrored, complemented))
    lines = [
        (
            "A rule and its mirror image do the same on a ring that is read backwards, and inputs"
            " fall on every place of it alike, so their scores differ by chance only."
            f" {_verdict(mirror)}"
        ),
        (
            "Complements are alike only in part: both begin with all cells at 0, which is another"
            f" beginning for one than for the other. {_verdict(opposite)}"
        ),
    ]
    facts = {
        name: {
            "pairs": len(found),
            "largest": max((one[0] for one in found), default=None),
            "beyond_two": sum(one[0] > 2 for one in found),
        }
        for name, found in (("reflection", mirror), ("complement", opposite))
    }
    return Made(
        [Section("Rules that are mirror images", [*map(Text, lines)], "mirror")],
        {"symmetry": facts},
    )


_Disagreement = tuple[float, str, int, int, int]
"""Standard errors, task, rule, image, runs."""


def _disagreements(
    score: str, tasks: Sequence[TaskRuns], image: Callable[[int], int]
) -> list[_Disagreement]:
    """Every pair of a rule and another that is its image, on every task, from runs with the same
    seeds.
    """
    found = []
    for task in tasks:
        means = task.means[score]
        for rule in sorted(map(int, means)):
            other = image(rule)
            if rule < other and str(other) in means:
                one, two = task.values(str(rule), score), task.values(str(other), score)
                pairs = np.array([one[seed] - two[seed] for seed in one if seed in two])
                if len(pairs) > 1:
                    error, mean = (
                        float(pairs.std(ddof=1)) / math.sqrt(len(pairs)),
                        abs(float(pairs.mean())),
                    )
                    # All runs may differ by the same amount.
                    errors = mean / error if error > 0 else math.inf if mean > 0 else 0.0
                    found.append((errors, task.row.label, rule, other, len(pairs)))
    return found


def _verdict(found: Sequence[_Disagreement]) -> str:
    from scipy.stats import t

    if not found:
        return "There is no pair with runs to compare."
    largest, label, rule, other, _ = max(found)
    beyond = sum(one[0] > 2 for one in found)
    expected = sum(2 * float(t.sf(2.0, runs - 1)) for *_, runs in found)
    # Each pair has its own number of runs; that none of all exceeds the largest is the product of
    # the single chances.
    none = math.prod(1 - 2 * float(t.sf(largest, runs - 1)) for *_, runs in found)
    return (
        f"Of {counted(len(found), 'pair')}, {beyond} are over 2 standard errors apart"
        f" ({expected:.0f} are expected by chance). The largest disagreement is {largest:.1f}"
        f" standard errors, rules {rule} and {other} on {label}; chance gives one at least as large"
        f" somewhere among them with probability {1 - none:.2g}."
    )
