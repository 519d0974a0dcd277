"""An atlas: every rule of the cellular automaton on every task, and which is the best where it was not chosen.

Rules are chosen on seeds of their own (the root seed after the reported one; `choosing_seeds` of the settings), by each
score of the study, in the direction that is better by it. Only what is chosen, and the published rule, is then run on
the reported seeds. The difference of the two is what choosing the best of many adds to a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quickstudy.report.study.atlas_checks import order_part, symmetry_parts
from quickstudy.report.study.atlas_choice import choice_parts, published_rule
from quickstudy.report.study.atlas_map import Strip, block_map, family_map
from quickstudy.report.study.atlas_rules import images
from quickstudy.report.study.atlas_runs import (
    TaskRuns,
    atlas_runs,
    choosing_seeds,
    rules_of,
    setting_of,
    wanted_rules,
)
from quickstudy.report.study.order import Order, Stage
from quickstudy.report.study.page import Page, Paragraph, Part, Picture
from quickstudy.report.words import counted


def stages(order: Order) -> Iterator[Stage]:
    """Every rule on the choosing seeds; then what was chosen, and the published rules, on the reported ones."""
    rules = rules_of(order.study)
    yield Stage(
        [setting_of(order, row, rule, order.root + 1) for row in order.study.rows for rule in rules],
        choosing_seeds(order.study),
    )
    tasks = atlas_runs(order, order.shelf.found())
    reported = [
        setting_of(order, task.row, rule, order.root) for task in tasks for rule in wanted_rules(order.study, task)
    ]
    if reported:
        yield Stage(reported, order.seeds)


def page(order: Order) -> Page:
    """The map, the choices and what they are worth, the published order, the symmetries, all numbers."""
    study = order.study
    tasks = atlas_runs(order, order.shelf.found())
    known = [task for task in tasks if task.compared]
    parts: list[Part] = [_opening(order, tasks)]
    facts: dict[str, Any] = {"study": study.id, "version": study.version, "convention": order.convention, "tasks": {}}
    if not known:
        return Page.of(study, parts, facts, whole=True)
    parts.append(_map(study.score, known, order))
    for score in study.scores:
        chosen, facts["tasks"][score] = choice_parts(order, known, score)
        parts += chosen
    parts += order_part(order, known)
    symmetry, facts["symmetry"] = symmetry_parts(study.score, known)
    parts += symmetry
    return Page.of(study, parts, facts, whole=True)


def _opening(order: Order, tasks: Sequence[TaskRuns]) -> Paragraph:
    runs = sum(len(runs) for task in tasks for runs in task.choosing.values())
    rules, seeds = len(rules_of(order.study)), choosing_seeds(order.study)
    wanted = len(tasks) * rules * seeds
    lines = [
        f"{counted(rules, 'rule')} on {counted(len(tasks), 'task')}, convention {order.convention}. Rules are chosen "
        f"on {counted(seeds, 'seed')} under root {order.root + 1} and reported on others, under root {order.root}: "
        "nothing that is reported was used to choose."
    ]
    if runs < wanted:
        lines.append(f"{runs:,} of {wanted:,} choosing runs are there.")
    for task in tasks:
        absent = [rule for rule in task.choosing if rule not in task.compared]
        if not task.compared:
            lines.append(f"{task.row.label} has no runs yet.")
        elif absent:
            lines.append(
                f"{task.row.label} compares {counted(len(task.compared), 'rule')} with {counted(task.runs, 'run')} "
                f"each; {len(absent)} with fewer or none are left out."
            )
    return Paragraph(" ".join(lines))


def _map(score: str, tasks: Sequence[TaskRuns], order: Order) -> Picture:
    read = order.score(score)
    strips = [
        Strip(task.row.label, task.means(score), task.chosen(score), published_rule(order, task), read.sign)
        for task in tasks
    ]
    best = ", ".join(f"{strip.label} rule {strip.chosen}" for strip in strips)
    title = f"{read.title} of every rule on every task, on the choosing seeds. The best: {best}."
    caption = (
        f"{read.title}, mean over the choosing seeds. Each task has a scale of its own, from the lowest mean of "
        "its rules to the highest, the numbers beside its name. A column is a family of rules that are each other's "
        "images, named by its smallest, the families that do best over all tasks first; the quarters of a cell are "
        "that rule, its mirror image and, below, their complements. (In a narrow window: 16 x 16 rules from 0 in the "
        "upper left.)"
    )
    pictures = family_map(strips, title), block_map(strips, title)
    return Picture(f"{order.study.id}-{order.convention}-map", caption, *pictures, _everything(strips))


def _everything(strips: Sequence[Strip]) -> list[tuple[str, ...]]:
    """The numbers behind the map, at full precision."""
    rules = sorted({rule for strip in strips for rule in strip.means})
    rows = [
        (str(rule), str(min(images(rule))), *(str(strip.means.get(rule, "")) for strip in strips)) for rule in rules
    ]
    return [("rule", "family", *(strip.label for strip in strips)), *rows]
