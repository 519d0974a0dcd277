"""An atlas: every rule of the cellular automaton on every task, and which is the best where it was not chosen.

Rules are chosen on seeds of their own (the root seed after the reported one; `choosing_seeds` of the settings), by each
score of the study, higher being better. Only what is chosen, and the published rule, is then run on the reported seeds.
The difference of the two is what choosing the best of many adds to a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quickstudy.report.intervals import Values, difference, estimate, stream
from quickstudy.report.model import Contrast
from quickstudy.report.numbers import NOTHING, plus_minus
from quickstudy.report.numbers import score as written
from quickstudy.report.study.atlas_checks import order_part, symmetry_parts
from quickstudy.report.study.atlas_map import Strip, block_map, family_map
from quickstudy.report.study.atlas_rules import images
from quickstudy.report.study.atlas_runs import (
    TaskRuns,
    atlas_runs,
    choosing_seeds,
    criterion_of,
    published_rules,
    rules_of,
    setting_of,
    wanted_rules,
)
from quickstudy.report.study.found import Found
from quickstudy.report.study.order import Order, Stage
from quickstudy.report.study.page import Grid, Page, Paragraph, Part, Picture
from quickstudy.report.view import title_of


def stages(order: Order) -> Iterator[Stage]:
    """Every rule on the choosing seeds; then what was chosen, and the published rules, on the reported ones."""
    rules = rules_of(order.study)
    yield Stage(
        [setting_of(order, row, rule, order.root + 1) for row in order.study.rows for rule in rules],
        choosing_seeds(order.study),
    )
    tasks = atlas_runs(order, Found.read(order.folder))
    reported = [
        setting_of(order, task.row, rule, order.root) for task in tasks for rule in wanted_rules(order.study, task)
    ]
    if reported:
        yield Stage(reported, order.seeds)


def page(order: Order) -> Page:
    """The map, the choices and what they are worth, the published order, the symmetries, all numbers."""
    study = order.study
    tasks = atlas_runs(order, Found.read(order.folder))
    known = [task for task in tasks if task.compared]
    parts: list[Part] = [_opening(order, tasks)]
    facts: dict[str, Any] = {"study": study.id, "version": study.version, "convention": order.convention, "tasks": {}}
    if not known:
        return Page(study.title, study.source, parts, facts, whole=True)
    parts.append(_map(study.score, known, order))
    for score in study.scores:
        grid, lines, numbers = _choice(order, known, score)
        parts += [Paragraph(lines[0], f"Chosen by {title_of(score)}"), grid, *map(Paragraph, lines[1:])]
        facts["tasks"][score] = numbers
    parts += order_part(order, known)
    symmetry, facts["symmetry"] = symmetry_parts(study.score, known)
    parts += symmetry
    return Page(study.title, study.source, parts, facts, whole=True)


def _opening(order: Order, tasks: Sequence[TaskRuns]) -> Paragraph:
    runs = sum(len(runs) for task in tasks for runs in task.choosing.values())
    wanted = len(tasks) * len(rules_of(order.study)) * choosing_seeds(order.study)
    lines = [
        f"{len(rules_of(order.study))} rules on {len(tasks)} tasks, convention {order.convention}. Rules are chosen "
        f"on {choosing_seeds(order.study)} seeds under root {order.root + 1} and reported on others, under root "
        f"{order.root}: nothing that is reported was used to choose."
    ]
    if runs < wanted:
        lines.append(f"{runs:,} of {wanted:,} choosing runs are there.")
    for task in tasks:
        absent = [rule for rule in task.choosing if rule not in task.compared]
        if not task.compared:
            lines.append(f"{task.row.label} has no runs yet.")
        elif absent:
            lines.append(
                f"{task.row.label} compares {len(task.compared)} rules with {task.runs} runs each; "
                f"{len(absent)} with fewer or none are left out."
            )
    return Paragraph(" ".join(lines))


def _map(score: str, tasks: Sequence[TaskRuns], order: Order) -> Picture:
    strips = [
        Strip(task.row.label, task.means(score), task.chosen(score), next(iter(_published(order, task)), None))
        for task in tasks
    ]
    best = ", ".join(f"{strip.label} rule {strip.chosen}" for strip in strips)
    title = f"{title_of(score)} of every rule on every task, on the choosing seeds. The best: {best}."
    caption = (
        f"{title_of(score)}, mean over the choosing seeds, on a scale of its own for each task. A column is a family "
        "of rules that are each other's images, named by its smallest, the families that do best over all tasks first; "
        "the quarters of a cell are that rule, its mirror image and, below, their complements. (In a narrow window: "
        "16 x 16 rules from 0 in the upper left.)"
    )
    pictures = family_map(strips, title), block_map(strips, title)
    return Picture(f"{order.study.id}-map", caption, *pictures, _everything(strips))


def _choice(order: Order, tasks: Sequence[TaskRuns], score: str) -> tuple[Grid, list[str], dict[str, Any]]:
    """The choice by one score on every task; sentences on it; everything as facts."""
    criterion = criterion_of(order.study)
    heading = ("task", "rule", "images", "choosing", "reported", "optimism", f"rank by {title_of(criterion)}")
    theirs = ("published rule", "its rank", "its score", "chosen − published")
    rows, facts = [(*heading, *theirs)], {}
    rises: list[Contrast] = []
    gains: list[Contrast] = []
    for task in tasks:
        rule = task.chosen(score)
        if rule is None:
            continue
        published = next(iter(_published(order, task)), None)
        before, after = task.values(rule, score), task.values(rule, score, reported=True)
        other = task.values(published, score, reported=True) if published is not None else {}
        optimism = _contrast(before, after, f"optimism {task.row.task} {score}")
        gain = _contrast(after, other, f"gain {task.row.task} {score}") if published != rule else Contrast(None)
        rises.append(optimism)
        gains.append(gain)
        rows.append(
            (
                task.row.label,
                str(rule),
                " ".join(str(one) for one in dict.fromkeys(images(rule)) if one != rule) or NOTHING,
                written(task.means(score)[rule]),
                _mean(after),
                _signed(optimism),
                _rank(task.rank(rule, criterion), len(task.means(criterion))),
                NOTHING if published is None else str(published),
                NOTHING if published is None else _rank(task.rank(published, score), len(task.means(score))),
                _mean(other),
                "same" if published == rule else _signed(gain),
            )
        )
        facts[task.row.task] = {
            "rule": rule,
            "published_rule": published,
            "choosing_mean": task.means(score)[rule],
            "choosing_runs": task.runs,
            "reported_mean": _plain_mean(after),
            "reported_runs": len(after),
            "published_rule_mean": _plain_mean(other),
            "optimism": optimism.value,
            "rank_by_criterion": task.rank(rule, criterion),
            "published_rank": None if published is None else task.rank(published, score),
            "level": sum(mean == task.means(score)[rule] for mean in task.means(score).values()),
        }
    caption = (
        f"{title_of(score)}: mean ± half the 95 % interval. Optimism: on the choosing seeds less on the reported ones, "
        "of the same rule. Ranks are among the rules compared on the choosing seeds; the rank of the published rule "
        f"is by {title_of(score)}"
    )
    return Grid(f"{order.study.id}-{score}", caption, rows), _sentences(score, rises, gains), facts


def _sentences(score: str, rises: Sequence[Contrast], gains: Sequence[Contrast]) -> list[str]:
    """What the table says, in words."""
    known = [rise for rise in rises if rise.value is not None]
    if not known:
        return ["The chosen rules have no runs on the reported seeds yet."]
    mean = sum(rise.value or 0.0 for rise in known) / len(known)
    lines = [
        f"Choosing the best of all rules raises {title_of(score)} by {written(mean)} on average over {len(known)} "
        f"tasks; the rise is apart from 0 on {_apart(known, 1)} of them, the opposite on {_apart(known, -1)}."
    ]
    rivals = [gain for gain in gains if gain.value is not None]
    if rivals:
        lines.append(
            f"On the reported seeds the chosen rule is above the published one on {_apart(rivals, 1)} of "
            f"{len(rivals)} tasks where they differ, below on {_apart(rivals, -1)}, and not told apart on the rest."
        )
    return lines


def _apart(contrasts: Sequence[Contrast], sign: int) -> int:
    bounds = [contrast.interval for contrast in contrasts if contrast.interval]
    return sum((one.low > 0) if sign > 0 else (one.high < 0) for one in bounds)


def _everything(strips: Sequence[Strip]) -> list[tuple[str, ...]]:
    """The numbers behind the map, at full precision."""
    rules = sorted({rule for strip in strips for rule in strip.means})
    rows = [
        (str(rule), str(min(images(rule))), *(str(strip.means.get(rule, "")) for strip in strips)) for rule in rules
    ]
    return [("rule", "family", *(strip.label for strip in strips)), *rows]


def _published(order: Order, task: TaskRuns) -> list[int]:
    return [rule for rule in published_rules(order.study, task.row) if rule in task.choosing]


def _contrast(one: Values, other: Values, purpose: str) -> Contrast:
    if not one or not other:
        return Contrast(None)
    keys = [f"{root}/{repetition}" for values in (one, other) for root, repetition in values]
    return difference(one, other, stream(keys, purpose))


def _mean(values: Values) -> str:
    keys = [f"{root}/{repetition}" for root, repetition in values]
    found = estimate(list(values.values()), stream(keys, "atlas"))
    return NOTHING if found is None else plus_minus(found.mean, found.interval)


def _plain_mean(values: Values) -> float | None:
    return sum(values.values()) / len(values) if values else None


def _signed(contrast: Contrast) -> str:
    if contrast.value is None:
        return NOTHING
    return ("+" if contrast.value > 0 else "") + plus_minus(contrast.value, contrast.interval)


def _rank(rank: float | None, count: int) -> str:
    return NOTHING if rank is None else f"{rank:g} of {count}"
