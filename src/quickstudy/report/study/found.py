"""The finished runs of a results folder by what was run: exactly the setting asked for, and nothing near it."""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from quickstudy.base.canonical import plain
from quickstudy.base.record import OK, Record
from quickstudy.report.intervals import Values
from quickstudy.report.reproduce import score_of
from quickstudy.runs.job import Setting, identity
from quickstudy.runs.reader import read_results

Runs = Mapping[tuple[int, int], Record]
"""Records by (root seed, repetition)."""

_Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class Found:
    """records: finished runs, in any order. Looking up a setting reads no trace."""

    records: Sequence[Record]

    @classmethod
    def read(cls, folder: pathlib.Path) -> Found:
        """What a folder holds."""
        return cls([record for record in read_results(folder).records.values() if record.status == OK])

    def of(self, setting: Setting) -> Runs:
        """All runs of one setting, of its root seed."""
        what = identity(setting, setting.resolve(), 0)
        return self.like(what)

    def like(self, what: Mapping[str, Any]) -> Runs:
        """All runs of one identity, whatever its repetition."""
        runs = self._places.get(_place(plain(what)), {})
        return {place: record for place, record in runs.items() if place[0] == what["root"]}

    @cached_property
    def _places(self) -> dict[_Place, dict[tuple[int, int], Record]]:
        found: dict[_Place, dict[tuple[int, int], Record]] = {}
        for record in self.records:
            place = record.what["root"], record.what["repetition"]
            found.setdefault(_place(record.what), {})[place] = record
        return found


def scores_of(runs: Runs, score: str) -> Values:
    """One score of every run that has it and where it is a number."""
    found = {place: score_of(record, score) for place, record in runs.items()}
    return {place: value for place, value in found.items() if not math.isnan(value)}


def _place(what: Mapping[str, Any]) -> _Place:
    parts = (json.dumps(what[name], sort_keys=True) for name in ("task", "learner", "protocol"))
    task, learner, protocol = parts
    return task, learner, protocol, what["convention"]
