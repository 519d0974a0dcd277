"""Norms: the spans of the reference learners, stored with the package, and where a learner stands
among them.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.blocks import ORACLE
from quickstudy.pages.profile.spans import Family, Item, Profile, Spans
from quickstudy.stats.intervals import student_interval

Interval = tuple[float, float]
FILE = "battery.json"
ROTE = "rote"
ROUNDED = 1e-3
"""Norms are stored with four decimals: what differs by less is equal."""
STORED, OTHER, NONE = "stored", "another version", "none"
"""Whether there are norms of an item."""


class Rank(NamedTuple):
    """Reference learners whose 95 % interval lies below that of a learner, above it, and all of
    them.
    """

    more_than: int
    less_than: int
    of: int


@dataclass(frozen=True)
class ItemNorms:
    """Reference learners and baselines on one item.

    learners: spans over seeds, by name. marks: spans of the baselines and the oracle, by name.
    """

    learners: Mapping[str, Spans]
    marks: Mapping[str, Spans]

    @property
    def best_control(self) -> tuple[str, float] | None:
        """The baseline with the longest span; the first by name of equals."""
        known = [
            (-(one.span or 0.0), name)
            for name, one in sorted(self.marks.items())
            if not _no_rule(name)
        ]
        return (min(known)[1], -min(known)[0]) if known else None

    @property
    def other_marks(self) -> list[tuple[float, str]]:
        """(span, name) of the oracle, the rote memoriser and an untrained network, if known."""
        return [
            (one.span or 0.0, name)
            for name, one in self.marks.items()
            if _no_rule(name) or name == ROTE
        ]

    def rank(self, spans: Spans) -> Rank | None:
        """Where these spans stand among the reference learners; None for fewer than two runs."""
        return ranked(spans.interval, [other.interval for other in self.learners.values()])


def _no_rule(mark: str) -> bool:
    return mark == ORACLE or mark.startswith("untrained")


def ranked(own: Interval | None, others: Sequence[Interval | None]) -> Rank | None:
    """Where an interval stands among others: only disjoint ones count as different."""
    if own is None:
        return None
    known = [other for other in others if other is not None]
    below = sum(one[1] < own[0] - ROUNDED for one in known)
    return Rank(below, sum(own[1] + ROUNDED < one[0] for one in known), len(others))


@dataclass(frozen=True)
class Norms:
    """All items of a version of the battery. facts: versions and machine of the runs."""

    items: Mapping[str, ItemNorms]
    facts: Mapping[str, Any]

    def of(self, item: Item) -> ItemNorms | None:
        """The norms of an item; None where they were made for another version, or are missing."""
        stored = self.facts["subjects"].get(item.name)
        return self.items.get(item.name) if stored == dict(item.subject) else None

    def state(self, item: Item) -> str:
        """Whether there are norms of an item: STORED, OTHER or NONE."""
        return STORED if self.of(item) else OTHER if item.name in self.items else NONE

    def family_rank(self, family: Family) -> Rank | None:
        """Where the number of a family stands; None unless all its items have spans and norms."""
        known = [self.of(item) for item in family.items]
        if family.interval is None or not all(known):
            return None
        items = [one for one in known if one is not None]
        names = set.intersection(*(set(one.learners) for one in items))
        shares = [_means([one.learners[name] for one in items]) for name in sorted(names)]
        return ranked(family.interval, shares)

    def without(self, learner: str) -> Norms:
        """The norms without a learner that is one of the references itself."""
        items = {
            name: ItemNorms(
                {who: own for who, own in item.learners.items() if who != learner}, item.marks
            )
            for name, item in self.items.items()
        }
        return Norms(items, self.facts)

    def nearest(self, profile: Profile, most: int = 2) -> tuple[list[str], list[str]]:
        """The reference learners most and least like a learner, by the shares of all axes that both
        have.
        """
        own = {
            item.name: float(item.spans.shares.mean())
            for item in profile.items
            if not item.why and self.of(item)
        }
        if len(own) < 3:
            return [], []
        names = set.intersection(*(set(self.items[name].learners) for name in own))
        apart = {
            name: float(
                np.mean(
                    [
                        abs(float(self.items[item].learners[name].shares.mean()) - share)
                        for item, share in own.items()
                    ]
                )
            )
            for name in names
        }
        ordered = sorted(apart, key=lambda name: (apart[name], name))
        return ordered[:most], ordered[::-1][:most]


def _means(spans: Sequence[Spans]) -> Interval | None:
    """The interval of the mean share over several items, seed by seed."""
    seeds = min(len(one.values) for one in spans)
    if seeds < 2:
        return None
    low, high = student_interval(np.mean([one.shares[:seeds] for one in spans], axis=0))
    return max(0.0, low), min(high, 1.0)


@lru_cache
def load_norms() -> Norms | None:
    """The norms of this version of the package; None where there are none."""
    file = importlib.resources.files("quickstudy.norms").joinpath(FILE)
    return norms_from(json.loads(file.read_text("utf-8"))) if file.is_file() else None


def norms_from(stored: Mapping[str, Any]) -> Norms:
    """From the file."""
    items = {}
    for name, item in stored["items"].items():
        end = float(item["end"])
        groups = [
            {one: Spans(values, end) for one, values in item[kind].items()}
            for kind in ("learners", "marks")
        ]
        items[name] = ItemNorms(*groups)
    subjects = {name: item["subject"] for name, item in stored["items"].items()}
    return Norms(items, {**stored["facts"], "subjects": subjects})


def norms_file(
    profiles: Sequence[Profile], marks: Mapping[str, Mapping[str, Sequence[float]]], facts: Any
) -> str:
    """The text of the file. marks: by item and name, spans of baselines and the oracle."""
    items = {
        item.name: {
            "end": item.spans.end,
            "subject": dict(item.subject),
            "learners": {
                one.learner: [round(value, 4) for value in own.spans.values]
                for one in profiles
                for own in one.items
                if own.name == item.name and not own.why
            },
            "marks": {
                name: [round(value, 4) for value in own] for name, own in marks[item.name].items()
            },
        }
        for item in profiles[0].items
    }
    return json.dumps({"facts": facts, "items": items}, indent=1) + "\n"
