"""What an atlas can be checked against: the published order of rules, and rules that must score alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from quickstudy.report.numbers import score as written
from quickstudy.report.study.atlas_rules import complemented, mirrored
from quickstudy.report.study.atlas_runs import TaskRuns, criterion_of, published_rules
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Grid, Paragraph, Part
from quickstudy.report.words import counted


def order_part(order: Order, tasks: Sequence[TaskRuns]) -> list[Part]:
    """The published order of the best rules against the order here, by the publication's own criterion."""
    criterion = criterion_of(order.study)
    rows = [("task", "published", "among as many best here", "by chance", "median rank", "Kendall's τ", "p")]
    inside = expected = 0.0
    for task in tasks:
        means = task.means(criterion)
        published = [rule for rule in published_rules(order.study, task.row) if rule in means]
        if len(published) < 2:
            continue
        ranks = [task.rank(rule, criterion) or math.nan for rule in published]
        shared, chance = sum(rank <= len(published) for rank in ranks), len(published) ** 2 / len(means)
        tau, p = _kendall(ranks)
        inside, expected = inside + shared, expected + chance
        numbers = (f"{shared} of {len(published)}", f"{chance:.1f}", f"{np.median(ranks):g}", written(tau), written(p))
        rows.append((task.row.label, str(len(published)), *numbers))
    if len(rows) == 1:
        return []
    text = (
        f"Of the published best rules of {counted(len(rows) - 1, 'task')}, {inside:g} are among as many best here by "
        f"{order.score(criterion).title}, the publication's own criterion; {expected:.1f} would be by chance."
    )
    caption = "τ: agreement within the published list, 1 for the same order, 0 for none; p: of no agreement, two-sided"
    return [
        Paragraph(text, "The published order of rules"),
        Grid(f"{order.study.id}-{order.convention}-order", caption, rows),
    ]


def symmetry_parts(score: str, tasks: Sequence[TaskRuns]) -> tuple[list[Part], dict[str, Any]]:
    """Mirror images must score alike, complements nearly: the largest disagreements, in standard errors."""
    mirror, opposite = (_disagreements(score, tasks, image) for image in (mirrored, complemented))
    parts: list[Part] = [
        Paragraph(
            "A rule and its mirror image do the same on a ring that is read backwards, and inputs fall on every place "
            f"of it alike, so their scores differ by chance only. {_verdict(mirror)}",
            "Rules that are mirror images",
        ),
        Paragraph(
            "Complements are alike only in part: both begin with all cells at 0, which is another beginning for one "
            f"than for the other. {_verdict(opposite)}"
        ),
    ]
    facts = {}
    for name, found in (("reflection", mirror), ("complement", opposite)):
        facts[name] = {
            "pairs": len(found),
            "largest": max((one[0] for one in found), default=None),
            "beyond_two": sum(one[0] > 2 for one in found),
        }
    return parts, facts


_Disagreement = tuple[float, str, int, int, int]
"""Standard errors, task, rule, image, runs."""


def _disagreements(score: str, tasks: Sequence[TaskRuns], image: Callable[[int], int]) -> list[_Disagreement]:
    """Every pair of a rule and another that is its image, on every task, from runs with the same seeds."""
    found = []
    for task in tasks:
        means = task.means(score)
        for rule in means:
            other = image(rule)
            if rule < other and other in means:
                one, two = task.values(rule, score), task.values(other, score)
                pairs = np.array([one[seed] - two[seed] for seed in one if seed in two])
                if len(pairs) > 1:
                    found.append((_errors(pairs), task.row.label, rule, other, len(pairs)))
    return found


def _errors(differences: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """The mean difference in standard errors of itself; inf when all runs differ by the same amount."""
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    mean = abs(float(differences.mean()))
    return mean / error if error > 0 else math.inf if mean > 0 else 0.0


def _verdict(found: Sequence[_Disagreement]) -> str:
    from scipy.stats import t

    if not found:
        return "There is no pair with runs to compare."
    largest, label, rule, other, _ = max(found)
    beyond = sum(one[0] > 2 for one in found)
    expected = sum(2 * float(t.sf(2.0, runs - 1)) for *_, runs in found)
    # Each pair has its own number of runs; that none of all exceeds the largest is the product of the single chances.
    none = math.prod(1 - 2 * float(t.sf(largest, runs - 1)) for *_, runs in found)
    return (
        f"Of {counted(len(found), 'pair')}, {beyond} are over 2 standard errors apart ({expected:.0f} are expected by "
        f"chance). The largest disagreement is {largest:.1f} standard errors, rules {rule} and {other} on {label}; "
        f"chance gives one at least as large somewhere among them with probability {1 - none:.2g}."
    )


def _kendall(ranks: Sequence[float]) -> tuple[float, float]:
    """Agreement of the order of a list with increasing ranks. nan where all ranks are level."""
    from scipy.stats import kendalltau

    if len(set(ranks)) < 2:
        return math.nan, math.nan
    found = kendalltau(range(len(ranks)), ranks)
    return float(found.statistic), float(found.pvalue)
