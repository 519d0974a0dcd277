"""How well the battery measures: learners told apart, split halves, floors, ceilings, item
statistics.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from quickstudy.base.blocks import (
    COUNT,
    ORACLE,
    Block,
    Column,
    Group,
    Line,
    Made,
    Name,
    Number,
    Table,
    Text,
)
from quickstudy.base.record import NOT_APPLICABLE
from quickstudy.base.registries import block
from quickstudy.base.study import find_study
from quickstudy.pages.profile.anchors import load_anchors
from quickstudy.pages.profile.reliability import family_statistics, item_statistics
from quickstudy.pages.profile.spans import Family, Item, Profile, item_name, profile_of, span_of
from quickstudy.pages.study_request import Request, Stage
from quickstudy.runs.run_spec import Setting, task_controls


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
        """The tables: of the learners that the thresholds are for, and of all."""
        found = [profile_of(request, learner) for learner in reference_learners(request)]
        facts = facts_of(request, found, load_anchors())
        together, whole = facts["together"], facts["all"]
        words = (
            f"{together['pairs']} of {together['of']} pairs of the {len(facts['learners'])}"
            " pairs of reference learners that the number of a family separates: their 95 %"
            f" intervals over seeds are disjoint. Of all {len(whole['learners'])} learners,"
            f" {whole['together']['pairs']} of {whole['together']['of']} pairs."
        )
        lines = [Text(one.words) for one in failures(facts)]
        made: list[Block] = [
            Text(words, "verdict"),
            *_families(facts),
            *lines,
            _spans(found),
            *_items(facts),
        ]
        return Made(made, facts)


def gallery(request: Request) -> list[str]:
    """The learners that the thresholds are for; all of a study that names none."""
    return list(request.study.settings.get("gallery") or reference_learners(request))


def quick_items(request: Request) -> set[str]:
    """The items that the number of a family is of: those of the study `quick` of the settings; all
    where none is named.
    """
    quick = request.study.settings.get("quick")
    rows = find_study(str(quick)).rows if quick else request.rows
    return {item_name(row) for row in rows}


def references(request: Request, found: Sequence[Profile]) -> list[Profile]:
    """The learners that have all seeds of every quick item that they can take, on the items that
    are measured. An item of theirs with fewer seeds counts as missing.
    """
    quick, measured = quick_items(request), measured_items(request, found)
    return [
        _finished_items(part_of(one, measured), request.seeds)
        for one in found
        if complete(part_of(one, quick), request.seeds)
    ]


def measured_items(request: Request, found: Sequence[Profile]) -> set[str]:
    """The quick items, and those others that every learner of the gallery has all seeds of."""
    known = [one for one in found if one.learner in gallery(request)]
    others = [
        own[0].name
        for own in by_item(known)
        if all(len(item.spans.values) == request.seeds or _cannot(item) for item in own)
    ]
    return quick_items(request) | set(others)


def _cannot(item: Item) -> bool:
    """Whether the learner cannot take the item."""
    return item.why.startswith(NOT_APPLICABLE)


def part_of(profile: Profile, names: Collection[str]) -> Profile:
    """A learner on some of the items."""
    families = [
        replace(family, items=[item for item in family.items if item.name in names])
        for family in profile.families
    ]
    return replace(profile, families=[family for family in families if family.items])


def _finished_items(profile: Profile, seeds: int) -> Profile:
    def known(item: Item) -> Item:
        count = len(item.spans.values)
        return item if item.why or count == seeds else replace(item, why=f"{count} of {seeds} runs")

    families = [
        replace(family, items=[known(item) for item in family.items]) for family in profile.families
    ]
    return replace(profile, families=families)


def complete(profile: Profile, seeds: int) -> bool:
    """Whether a learner has all seeds of every item that it can take."""
    return all(len(item.spans.values) == seeds or _cannot(item) for item in profile.items)


def facts_of(
    request: Request, found: Sequence[Profile], anchors: Mapping[str, Any]
) -> dict[str, Any]:
    """The statistics over the gallery, and under `all` over all learners.

    families: the numbers of the quick profile. standard: those over all items. items: all of them.
    anchors: by the name of an item.
    """
    found, quick = references(request, found), quick_items(request)
    chosen = [one for one in found if one.learner in gallery(request)]
    return {
        **_statistics_of(chosen, quick, anchors),
        "all": _statistics_of(found, quick, anchors),
    }


def _statistics_of(
    found: Sequence[Profile], quick: Collection[str], anchors: Mapping[str, Any]
) -> dict[str, Any]:
    items = {
        own[0].name: item_statistics(own, found, anchors.get(own[0].name, {}))
        for own in by_item(found)
    }
    whole = by_family(found)
    parts = by_family([part_of(one, quick) for one in found])
    return {
        "learners": [one.learner for one in found],
        **_families_of(parts, whole),
        "items": items,
        "standard": _families_of(whole, whole),
    }


def _families_of(
    parts: Mapping[str, Sequence[Family]], whole: Mapping[str, Sequence[Family]]
) -> dict[str, Any]:
    families = {name: family_statistics(own, whole[name]) for name, own in parts.items()}
    total = {part: sum(own[part] for own in families.values()) for part in ("pairs", "of")}
    return {"families": families, "together": total}


class Failure(NamedTuple):
    """A demand that a family or an item does not meet: its name, the statistic, and a sentence."""

    name: str
    part: str
    words: str


def failures(facts: Mapping[str, Any]) -> list[Failure]:
    """All demands that are not met over the gallery, with the numbers."""
    return [
        Failure(name, part, f"{kind} {name}: {_figure(own[part])}. Demanded: {words}.")
        for kind, group in (("Family", "families"), ("Item", "items"))
        for name, own in facts[group].items()
        for part, words in own["fails"].items()
    ]


def _figure(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def reference_learners(request: Request) -> list[str]:
    """The learners of the study, each under one name on every row."""
    return list(
        dict.fromkeys(name for row in request.rows for name in request.learners(row).values())
    )


def by_family(found: Sequence[Profile]) -> dict[str, list[Family]]:
    """The same family of all learners."""
    names = [family.name for family in found[0].families] if found else []
    return {name: [one.families[place] for one in found] for place, name in enumerate(names)}


def by_item(found: Sequence[Profile]) -> Iterator[list[Item]]:
    """The same item of all learners."""
    yield from (list(items) for items in zip(*(one.items for one in found), strict=True))


TITLES = {
    "pairs": "pairs told apart",
    "of": "of",
    "split_half": "split-half r",
    "reliability": "reliability",
    "floor": "at the floor",
    "ceiling": "at the ceiling",
    "learners": "learners",
    "spread": "spread",
    "difficulty": "mean share",
    "item_rest": "item-rest rank r",
    "trimmed": "without the extremes",
    "retest": "retest rank r",
    "learned": "above untrained",
    "eigenvalues": "eigenvalue ratio",
    "items": "items",
    "rote": "rote",
    "best_control": "best baseline",
    "second": "second difficulty",
}
FAMILY_PARTS = (
    "pairs",
    "of",
    "split_half",
    "reliability",
    "eigenvalues",
    "floor",
    "ceiling",
    "items",
    "learners",
)
ITEM_PARTS = (
    "pairs",
    "of",
    "split_half",
    "retest",
    "reliability",
    "trimmed",
    "spread",
    "difficulty",
    "item_rest",
    "floor",
    "ceiling",
    "learned",
    "rote",
    "best_control",
    "second",
)
_COUNTS = ("pairs", "of", "floor", "ceiling", "learners", "items", "second")


def _statistics(
    name: str, caption: str, facts: Mapping[str, Any], kind: str, parts: Sequence[str]
) -> Iterator[Table]:
    """A table of the gallery and, where there are more learners, one of all."""
    heading = "item" if kind == "items" else "family"
    columns = [Column(heading, numeric=False), *(Column(TITLES[part]) for part in parts)]
    for who, own in (("", facts), ("-all", facts["all"])):
        if not who or own["learners"] != facts["learners"]:
            rows = own["standard"]["families"] if kind == "standard" else own[kind]
            lines = [
                Line(
                    [
                        Name(one),
                        *(
                            Number(row[part], form=COUNT if part in _COUNTS else "score")
                            for part in parts
                        ),
                    ]
                )
                for one, row in rows.items()
            ]
            words = f"{caption}; {len(own['learners'])} learners"
            yield Table(f"{name}{who}", words, columns, [Group(lines)])


def _families(facts: Mapping[str, Any]) -> Iterator[Table]:
    caption = "How well the number of each family tells the learners apart, items of the quick card"
    yield from _statistics("battery-family", caption, facts, "families", FAMILY_PARTS)
    caption = "The same with all items"
    yield from _statistics("battery-family-standard", caption, facts, "standard", FAMILY_PARTS)


def _items(facts: Mapping[str, Any]) -> Iterator[Table]:
    caption = "How well each item does; spread: standard deviation of the learners' mean shares"
    return _statistics("battery-item", caption, facts, "items", ITEM_PARTS)


def _spans(found: Sequence[Profile]) -> Table:
    """Every learner on every item."""
    columns = [
        Column("learner", numeric=False),
        *(Column(item.label, "higher") for item in found[0].items),
    ]
    lines = [
        Line(
            [
                Name(one.learner),
                *(
                    Number(item.spans.span, item.spans.interval, note=item.why)
                    for item in one.items
                ),
            ]
        )
        for one in found
    ]
    return Table("battery-spans", "Spans with 95 % intervals over seeds", columns, [Group(lines)])


def marks_of(request: Request) -> dict[str, dict[str, list[float]]]:
    """By item and name, the spans of the baselines and of the oracle that were run."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in request.rows:
        own = found.setdefault(item_name(row), {})
        for name in task_controls(row.task):
            runs = request.runs(row, name)
            if runs:
                role = next(iter(runs.values())).labels.get("role")
                label = "oracle" if role == ORACLE else name
                own[label] = [span_of(request.results.trace(record)) for record in runs.values()]
    return found
