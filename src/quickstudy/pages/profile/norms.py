"""Norms: the spans of the reference learners, stored with the package, and where a learner stands among them."""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from quickstudy.pages.profile.spans import Item, Profile, Spans

FILE = "battery.json"


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
        known = [(-(one.span or 0.0), name) for name, one in sorted(self.marks.items()) if name != "oracle"]
        return (min(known)[1], -min(known)[0]) if known else None

    def clearly_below(self, spans: Spans) -> list[str]:
        """The reference learners whose interval lies below that of these spans."""
        return [name for name, other in self.learners.items() if _apart(other, spans)]

    def clearly_above(self, spans: Spans) -> list[str]:
        """The reference learners whose interval lies above."""
        return [name for name, other in self.learners.items() if _apart(spans, other)]


def _apart(below: Spans, above: Spans) -> bool:
    """Whether two intervals are disjoint, the first below the second."""
    return bool(below.interval and above.interval and below.interval[1] < above.interval[0])


@dataclass(frozen=True)
class Norms:
    """All items of a version of the battery. facts: versions and machine of the runs."""

    items: Mapping[str, ItemNorms]
    facts: Mapping[str, Any]

    def of(self, item: Item) -> ItemNorms | None:
        """The norms of an item; None where they were made for another version, or are missing."""
        stored = self.facts["subjects"].get(item.name)
        return self.items.get(item.name) if stored == dict(item.subject) else None

    def without(self, learner: str) -> Norms:
        """The norms without a learner that is one of the references itself."""
        items = {
            name: ItemNorms({who: own for who, own in item.learners.items() if who != learner}, item.marks)
            for name, item in self.items.items()
        }
        return Norms(items, self.facts)

    def nearest(self, profile: Profile, most: int = 2) -> tuple[list[str], list[str]]:
        """The reference learners most and least like a learner, by the shares of all axes that both have."""
        own = {item.name: float(item.spans.shares.mean()) for item in profile.items if not item.why and self.of(item)}
        if len(own) < 3:
            return [], []
        names = set.intersection(*(set(self.items[name].learners) for name in own))
        apart = {
            name: float(np.mean([abs(float(self.items[item].learners[name].shares.mean()) - share)
                                 for item, share in own.items()]))
            for name in names
        }  # fmt: skip
        ordered = sorted(apart, key=lambda name: (apart[name], name))
        return ordered[:most], ordered[::-1][:most]


@lru_cache
def load_norms() -> Norms | None:
    """The norms of this version of the package; None where there are none."""
    file = importlib.resources.files("quickstudy.norms").joinpath(FILE)
    return norms_from(json.loads(file.read_text("utf-8"))) if file.is_file() else None


def norms_from(stored: Mapping[str, Any]) -> Norms:
    """From what the file says."""
    items = {}
    for name, item in stored["items"].items():
        end = float(item["end"])
        groups = [{one: Spans(values, end) for one, values in item[kind].items()} for kind in ("learners", "marks")]
        items[name] = ItemNorms(*groups)
    subjects = {name: item["subject"] for name, item in stored["items"].items()}
    return Norms(items, {**stored["facts"], "subjects": subjects})


def norms_file(profiles: Sequence[Profile], marks: Mapping[str, Mapping[str, Sequence[float]]], facts: Any) -> str:
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
            "marks": {name: [round(value, 4) for value in own] for name, own in marks[item.name].items()},
        }
        for item in profiles[0].items
    }
    return json.dumps({"facts": facts, "items": items}, indent=1) + "\n"
