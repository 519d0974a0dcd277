"""How well items and families of the battery measure: statistics over learners, and what they must
reach.

All statistics are of shares of an axis, ln(1 + span) / ln(1 + end). `Values` has the shares of one
item or family: one array over seeds for every learner that has runs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from quickstudy.pages.profile.spans import Family, Item, Profile
from quickstudy.stats.intervals import student_interval

Values = Sequence[NDArray[np.float64]]
EXTREME = 2
"""Learners that are left out of the second reliability."""


def pairs_apart(values: Values) -> tuple[int, int]:
    """Pairs of learners whose 95 % intervals over seeds are disjoint, and all pairs."""
    ends = [student_interval(own) for own in values if len(own) > 1]
    pairs = list(itertools.combinations(ends, 2))
    return sum(one[1] < other[0] or other[1] < one[0] for one, other in pairs), len(pairs)


def _halves(values: Values, correlation: Callable[[Any, Any], float]) -> float | None:
    """Correlation over learners between the means of two halves of the seeds, mean over all
    splits.
    """
    known = [own for own in values if len(own) > 1]
    if len(known) < 3:
        return None
    seeds = min(map(len, known))
    table = np.array([own[:seeds] for own in known])
    found = []
    for half in itertools.combinations(range(seeds), seeds // 2):
        rest = [seed for seed in range(seeds) if seed not in half][: seeds // 2]
        one, other = table[:, list(half)].mean(axis=1), table[:, rest].mean(axis=1)
        if one.std() > 0 and other.std() > 0:
            found.append(correlation(one, other))
    return float(np.mean(found)) if found else None


def split_half(values: Values) -> float | None:
    """Pearson's correlation of two halves."""
    return _halves(values, lambda one, other: float(np.corrcoef(one, other)[0, 1]))


def retest(values: Values) -> float | None:
    """Rank correlation of two halves: sets of seeds that share none."""
    return _halves(values, lambda one, other: float(stats.spearmanr(one, other).statistic))


def reliability(values: Values) -> float | None:
    """sigma_L^2 / (sigma_L^2 + sigma_e^2 / n): the share of the variance of means that is between
    learners.
    """
    known = [own for own in values if len(own) > 1]
    if len(known) < 3:
        return None
    error = float(np.mean([own.var(ddof=1) / len(own) for own in known]))
    total = float(np.var([own.mean() for own in known], ddof=1))
    return max(0.0, total - error) / total if total > 0 else None


def trimmed(values: Values) -> float | None:
    """Reliability without the two learners that are furthest from the median."""
    known = [own for own in values if len(own) > 1]
    middle = np.median([own.mean() for own in known]) if known else 0.0
    return reliability(
        sorted(known, key=lambda own: abs(own.mean() - middle))[: len(known) - EXTREME]
    )


def eigenvalue_ratio(items: Sequence[Values]) -> float | None:
    """First over second eigenvalue of the correlations of items over learners; None of fewer than
    three items.
    """
    means = np.array([[own.mean() for own in values] for values in items])
    if len(means) < 3 or means.shape[1] < 3 or not (means.std(axis=1) > 0).all():
        return None
    values = np.linalg.eigvalsh(np.corrcoef(means))
    return float(values[-1] / max(values[-2], 1e-9))


def family_statistics(families: Sequence[Family], whole: Sequence[Family] = ()) -> dict[str, Any]:
    """pairs, of; split_half; floor and ceiling: learners at an end of every axis of the family.

    items, eigenvalues: how many items the family has, and the first over the second eigenvalue of
    their correlations. fails: which demands it does not meet.

    whole: the family with all its items, where `families` has some of them. Where no learner has
    them all, only those of `families` are looked at.
    """
    answered = [family for family in whole if not family.missing]
    answered = answered or [family for family in families if not family.missing]
    items = range(len((answered or families)[0].items))
    known = [family for family in families if len(family.shares)]
    values = [family.shares for family in known]
    pairs, of = pairs_apart(values)
    found: dict[str, Any] = {
        "pairs": pairs,
        "of": of,
        "split_half": split_half(values),
        "reliability": reliability(values),
        "floor": sum(all(at_floor(item) for item in family.items) for family in known),
        "ceiling": sum(all(item.spans.ceiling for item in family.items) for family in known),
        "items": len(items),
        "eigenvalues": eigenvalue_ratio(
            [[family.items[place].spans.shares for family in answered] for place in items]
        ),
        "learners": len(known),
    }
    return {**found, "fails": fails(found, FAMILY)}


def item_statistics(
    items: Sequence[Item], found: Sequence[Profile], anchors: Mapping[str, Any]
) -> dict[str, Any]:
    """The statistics of one item over learners.

    item_rest: rank correlation with the mean of the rest of its family. learned: share of the
    learners whose interval is above the untrained network. rote, best_control: spans of the
    anchors; second: the second difficulty, which they should not reach; marked: the baselines on
    the sheet. fails: which demands the item does not meet.
    """
    known = [(item, one) for item, one in zip(items, found, strict=True) if not item.why]
    values = [item.spans.shares for item, _ in known]
    pairs, of = pairs_apart(values)
    floor, ceiling = (
        sum(at_floor(item) for item, _ in known),
        sum(bool(item.spans.ceiling) for item, _ in known),
    )
    best = anchors.get("best_control") or {}
    seconds = [
        sum(item.cost[name] for name in ("learn_seconds", "answer_seconds")) for item, _ in known
    ]
    made: dict[str, Any] = {
        "family": items[0].family,
        "pairs": pairs,
        "of": of,
        "split_half": split_half(values),
        "retest": retest(values),
        "reliability": reliability(values),
        "trimmed": trimmed(values),
        "spread": float(np.std([own.mean() for own in values], ddof=1))
        if len(values) > 1
        else None,
        "difficulty": float(np.mean([own.mean() for own in values])) if values else None,
        "item_rest": _item_rest(known),
        "floor": floor,
        "ceiling": ceiling,
        "floor_share": floor / len(known) if known else None,
        "ceiling_share": ceiling / len(known) if known else None,
        "learned": _learned([item for item, _ in known], anchors),
        "rote": anchors.get("rote"),
        "best_control": best.get("span"),
        "best_name": best.get("name"),
        "marked": sorted(items[0].task.marks()),
        "second": items[0].task.grid[1],
        "learners": len(known),
        "seconds": {"median": float(np.median(seconds)), "most": float(max(seconds))}
        if seconds
        else None,
    }
    return {**made, "fails": fails(made, ITEM)}


def _item_rest(known: Sequence[tuple[Item, Profile]]) -> float | None:
    means, rest = [], []
    for item, one in known:
        family = next(own for own in one.families if own.name == item.family)
        others = [
            other.spans.shares.mean()
            for other in family.items
            if other is not item and not other.why
        ]
        if others:
            means.append(float(item.spans.shares.mean()))
            rest.append(float(np.mean(others)))
    varied = len(means) > 2 and np.std(means) > 0 and np.std(rest) > 0
    return float(stats.spearmanr(means, rest).statistic) if varied else None


def _learned(items: Sequence[Item], anchors: Mapping[str, Any]) -> float | None:
    if not items or "untrained" not in anchors:
        return None
    mark = anchors["untrained"]["span"]
    return float(
        np.mean(
            [item.spans.interval is not None and item.spans.interval[0] > mark for item in items]
        )
    )


def at_floor(item: Item) -> bool:
    """Whether the interval of a span touches the difficulty that costs nothing."""
    least = float(item.task.least)
    return item.spans.interval is not None and item.spans.interval[0] <= least + 1e-9


Demand = tuple[str, Callable[[Mapping[str, Any]], bool], str]
"""A statistic, whether it is good enough where it is known, and the demand in words."""
FAMILY: Sequence[Demand] = (
    (
        "pairs",
        lambda own: own["pairs"] >= 50 / 78 * own["of"],
        "at least 50 of 78 pairs told apart",
    ),
    (
        "split_half",
        lambda own: own["split_half"] >= 0.9,
        "a split-half correlation of at least 0.9",
    ),
    (
        "floor",
        lambda own: own["floor"] <= 2 / 13 * own["learners"],
        "at most 2 of 13 learners at the floor",
    ),
    (
        "ceiling",
        lambda own: own["ceiling"] <= 2 / 13 * own["learners"],
        "at most 2 of 13 learners at the ceiling",
    ),
    ("items", lambda own: own["items"] >= 3, "at least three items"),
    (
        "eigenvalues",
        lambda own: own["eigenvalues"] >= 2,
        "a first eigenvalue of at least twice the second",
    ),
)
ITEM: Sequence[Demand] = (
    (
        "floor_share",
        lambda own: own["floor_share"] <= 1 / 3,
        "at most a third of the learners at the floor",
    ),
    (
        "ceiling_share",
        lambda own: own["ceiling_share"] <= 1 / 3,
        "at most a third of the learners at the ceiling",
    ),
    ("spread", lambda own: own["spread"] >= 0.1, "a spread of at least 0.1 of the axis"),
    (
        "item_rest",
        lambda own: own["item_rest"] >= 0.3,
        "a correlation of at least 0.3 with the rest of its family",
    ),
    ("reliability", lambda own: own["reliability"] >= 0.9, "a reliability of at least 0.9"),
    (
        "trimmed",
        lambda own: own["trimmed"] >= 0.8,
        "a reliability of at least 0.8 without the two most extreme learners",
    ),
    (
        "retest",
        lambda own: own["retest"] >= 0.9,
        "a rank correlation of at least 0.9 between two sets of seeds",
    ),
    (
        "learned",
        lambda own: own["learned"] >= 0.5,
        "at least half of the learners above an untrained network",
    ),
    (
        "rote",
        lambda own: own["rote"] < own["second"] or "rote" in own["marked"],
        "a rote memoriser below the second difficulty, or marked on the sheet",
    ),
    (
        "best_control",
        lambda own: own["best_control"] < own["second"] or own["best_name"] in own["marked"],
        "all baselines below the second difficulty, or marked on the sheet",
    ),
)


def fails(found: Mapping[str, Any], demands: Sequence[Demand]) -> dict[str, str]:
    """By statistic, the demands that are not met; a statistic that is not known fails nothing."""
    return {
        name: words for name, met, words in demands if found[name] is not None and not met(found)
    }
