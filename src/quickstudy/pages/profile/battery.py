"""How well the battery measures: pairs of learners told apart, split halves, floors, ceilings, item statistics."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from quickstudy.base.blocks import COUNT, Column, Group, Line, Made, Name, Number, Table, Text
from quickstudy.base.catalogue import block
from quickstudy.pages.profile.spans import Family, Item, Profile, profile_of
from quickstudy.pages.request import Request, Stage
from quickstudy.runs.setting import Setting, task_controls
from quickstudy.stats.intervals import student_interval


@block("battery", version=1)
class Battery:
    """All learners of a study on all items: how well each item and each family tells them apart."""

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every learner on every item; with `--controls` the baselines and oracles too."""
        settings: list[Setting] = request.models()
        if request.controls:
            settings += request.rules()
        yield Stage(settings, request.seeds)

    def blocks(self, request: Request) -> Made:
        """The tables."""
        found = [profile_of(request, learner) for learner in reference_learners(request)]
        families = {name: family_statistics(own) for name, own in by_family(found).items()}
        items = {own[0].name: item_statistics(own, found) for own in by_item(found)}
        total = {part: sum(own[part] for own in families.values()) for part in ("pairs", "of")}
        facts = {"learners": [one.learner for one in found], "families": families, "items": items, "together": total}
        words = (
            f"{total['pairs']} of {total['of']} pairs of learners are told apart by the number of a family: their "
            "95 % intervals over seeds are disjoint."
        )
        return Made([Text(words, "verdict"), _families(families), _spans(found), _items(items)], facts)


def reference_learners(request: Request) -> list[str]:
    """The learners of the study, each under one name on every row."""
    return list(dict.fromkeys(name for row in request.rows for name in request.learners(row).values()))


def by_family(found: Sequence[Profile]) -> dict[str, list[Family]]:
    """The same family of all learners."""
    return {family.name: [one.families[place] for one in found] for place, family in enumerate(found[0].families)}


def by_item(found: Sequence[Profile]) -> Iterator[list[Item]]:
    """The same item of all learners."""
    yield from (list(items) for items in zip(*(one.items for one in found), strict=True))


def pairs_apart(values: Sequence[NDArray[np.float64]]) -> tuple[int, int]:
    """Pairs of learners whose 95 % intervals over seeds are disjoint, and all pairs."""
    ends = [student_interval(own) for own in values if len(own) > 1]
    pairs = list(itertools.combinations(ends, 2))
    return sum(one[1] < other[0] or other[1] < one[0] for one, other in pairs), len(pairs)


def split_half(values: Sequence[NDArray[np.float64]]) -> float | None:
    """Correlation over learners between the means of odd and of even seeds, mean over all splits into halves."""
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
            found.append(float(np.corrcoef(one, other)[0, 1]))
    return float(np.mean(found)) if found else None


def reliability(values: Sequence[NDArray[np.float64]]) -> float | None:
    """sigma_L^2 / (sigma_L^2 + sigma_e^2 / n): the share of the variance of means that is between learners."""
    known = [own for own in values if len(own) > 1]
    if len(known) < 3:
        return None
    error = float(np.mean([own.var(ddof=1) / len(own) for own in known]))
    total = float(np.var([own.mean() for own in known], ddof=1))
    return max(0.0, total - error) / total if total > 0 else None


def family_statistics(families: Sequence[Family]) -> dict[str, Any]:
    """pairs, of; split_half; floor and ceiling: learners at an end of every axis of the family."""
    values = [family.shares for family in families]
    pairs, of = pairs_apart(values)
    known = [family for family in families if len(family.shares)]
    return {
        "pairs": pairs,
        "of": of,
        "split_half": split_half(values),
        "reliability": reliability(values),
        "floor": sum(all(_at_floor(item) for item in family.items) for family in known),
        "ceiling": sum(all(item.spans.ceiling for item in family.items) for family in known),
        "learners": len(known),
    }


def item_statistics(items: Sequence[Item], found: Sequence[Profile]) -> dict[str, Any]:
    """The statistics of one item over learners; `item_rest` is with the mean of the rest of its family."""
    known = [(item, one) for item, one in zip(items, found, strict=True) if not item.why]
    values = [item.spans.shares for item, _ in known]
    pairs, of = pairs_apart(values)
    means, rest = [], []
    for item, one in known:
        family = next(own for own in one.families if own.name == item.family)
        others = [other.spans.shares.mean() for other in family.items if other is not item and not other.why]
        if others:
            means.append(float(item.spans.shares.mean()))
            rest.append(float(np.mean(others)))
    varied = len(means) > 2 and np.std(means) > 0 and np.std(rest) > 0
    seconds = [sum(item.cost[name] for name in ("learn_seconds", "answer_seconds")) for item, _ in known]
    return {
        "family": items[0].family,
        "pairs": pairs,
        "of": of,
        "split_half": split_half(values),
        "reliability": reliability(values),
        "spread": float(np.std([own.mean() for own in values], ddof=1)) if len(values) > 1 else None,
        "difficulty": float(np.mean([own.mean() for own in values])) if values else None,
        "item_rest": float(stats.spearmanr(means, rest).statistic) if varied else None,
        "floor": sum(_at_floor(item) for item, _ in known),
        "ceiling": sum(item.spans.ceiling for item, _ in known),
        "learners": len(known),
        "seconds": {"median": float(np.median(seconds)), "most": float(max(seconds))} if seconds else None,
    }


def _at_floor(item: Item) -> bool:
    """Whether the interval of a span touches the difficulty that costs nothing."""
    least = float(item.task.least)
    return item.spans.interval is not None and item.spans.interval[0] <= least + 1e-9


_TITLES = {"pairs": "pairs told apart", "of": "of", "split_half": "split-half r", "reliability": "reliability",
           "floor": "at the floor", "ceiling": "at the ceiling", "learners": "learners", "spread": "spread",
           "difficulty": "mean share", "item_rest": "item-rest rank r"}  # fmt: skip
_COUNTS = ("pairs", "of", "floor", "ceiling", "learners")


def _statistics(name: str, caption: str, found: Mapping[str, Mapping[str, Any]], parts: Sequence[str]) -> Table:
    columns = [Column(name.removeprefix("battery-"), numeric=False), *(Column(_TITLES[part]) for part in parts)]
    lines = [
        Line([Name(one), *(Number(own[part], form=COUNT if part in _COUNTS else "score") for part in parts)])
        for one, own in found.items()
    ]
    return Table(name, caption, columns, [Group(lines)])


def _families(found: Mapping[str, Mapping[str, Any]]) -> Table:
    caption = "How well the number of each family tells the learners apart"
    parts = ("pairs", "of", "split_half", "reliability", "floor", "ceiling", "learners")
    return _statistics("battery-family", caption, found, parts)


def _items(found: Mapping[str, Mapping[str, Any]]) -> Table:
    caption = "How well each item does; spread: standard deviation of the learners' mean shares"
    parts = ("pairs", "of", "split_half", "reliability", "spread", "difficulty", "item_rest", "floor", "ceiling")
    return _statistics("battery-item", caption, found, parts)


def _spans(found: Sequence[Profile]) -> Table:
    """Every learner on every item."""
    columns = [Column("learner", numeric=False), *(Column(item.label, "higher") for item in found[0].items)]
    lines = [
        Line([Name(one.learner), *(Number(item.spans.span, item.spans.interval, note=item.why) for item in one.items)])
        for one in found
    ]
    return Table("battery-spans", "Spans with 95 % intervals over seeds", columns, [Group(lines)])


def marks_of(request: Request) -> dict[str, dict[str, list[float]]]:
    """By item and name, the spans of the baselines and of the oracle that were run."""
    from quickstudy.base.blocks import ORACLE
    from quickstudy.pages.profile.spans import item_name, span_of

    found: dict[str, dict[str, list[float]]] = {}
    for row in request.rows:
        own = found.setdefault(item_name(row), {})
        for name in task_controls(row.task):
            runs = request.runs(row, name)
            if runs:
                role = next(iter(runs.values())).labels.get("role")
                label = "oracle" if role == ORACLE else name
                own[label] = [span_of(request.found.trace(record)) for record in runs.values()]
    return found
