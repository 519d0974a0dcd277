"""The finished runs of a results folder by what was run: exactly the setting asked for, and nothing
near it.

A run belongs to a cell of a study when its identity, apart from the repetition, is the one that the
study asks for: the same ids, versions and parameters of task, learner and protocol, the same
convention and root seed. The number of repetitions asked for decides what is run, not what is
shown: a cell has all stored repetitions.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from quickstudy.base.canonical import canonical, plain, spelled
from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.base.record import OK, Record
from quickstudy.base.score_metadata import Legend, read_legend
from quickstudy.base.trace import Trace
from quickstudy.report.score_values import score_of
from quickstudy.report.statistics import Values
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.folder import RUNS
from quickstudy.runs.merge import Damage, Reading, joined, read_results
from quickstudy.runs.run_spec import Setting, identity
from quickstudy.runs.scoring import MAXIMUM_OF_MEAN, MEAN_CURVE, find_measures, score_trace

T = TypeVar("T")
Runs = Mapping[tuple[int, int], Record]
"""Records by (root seed, repetition)."""


@dataclass(frozen=True)
class Found:
    """records: finished runs, in any order. folder: where their traces are. measures: those that
    are applied to the traces of all runs that are looked up, besides what their records have.
    Without them no trace is read.
    """

    records: Sequence[Record]
    folder: pathlib.Path = pathlib.Path()
    measures: Sequence[str] = ()
    _identities: dict[tuple[str, ...], dict[str, Any]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _scored: dict[str, Record] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def on(cls, shelf: Shelf, measures: Sequence[str] = ()) -> Found:
        """The finished runs of a folder in its present state."""
        # A record from elsewhere need not say all that makes an identity; then no study asks for
        # it.
        known = {"task", "learner", "protocol", "convention", "root", "repetition"}
        every = shelf.reading().records.values()
        finished = [record for record in every if record.status == OK and known <= {*record.what}]
        return cls(finished, shelf.folder, measures)

    def of(self, setting: Setting) -> Runs:
        """All runs of one setting, of its root seed."""
        return self.like(self.identity(setting))

    @cached_property
    def conventions(self) -> set[str]:
        """Those of which there is any run."""
        return {str(record.what["convention"]) for record in self.records}

    def has(self, setting: Setting) -> bool:
        """Whether there is a run of any learner on a setting's task under its protocol and
        convention.
        """
        return _subject(plain(self.identity(setting))) in self._subjects

    def like(self, what: Mapping[str, Any]) -> Runs:
        """All runs of one identity, of any repetition."""
        runs = self._places.get(place_of(plain(what)), {})
        return (
            {place: self._measured(record) for place, record in runs.items()}
            if self.measures
            else runs
        )

    def score(self, name: str, runs: Iterable[Record] = ()) -> Score:
        """How a score is read, by what the runs carry: all, or those under the protocol of some.
        The measures of two protocols may use one name for two things.
        """
        legends = (self._legends[_protocol(record)] for record in runs)
        return (
            MEAN_CURVE if name == MAXIMUM_OF_MEAN else next(legends, self._legends[""]).score(name)
        )

    def trace(self, record: Record) -> Trace:
        """What happened in a run. Raises QuickstudyError if that cannot be read."""
        return load_trace(self.folder, record)

    def identity(self, setting: Setting) -> dict[str, Any]:
        """The identity of a setting's first repetition, computed once."""
        name = setting.task, setting.learner, setting.convention, canonical(setting.protocol)
        if name not in self._identities:
            self._identities[name] = identity(setting, setting.resolve(), 0)
        return {**self._identities[name], "root": setting.root}

    def _measured(self, record: Record) -> Record:
        """A record with the scores of the measures that it lacks, where they are for traces of its
        kind.
        """
        if record.key not in self._scored:
            trace = self.trace(record)
            known = find_measures(self.measures)
            lacking = [
                one for one in known if one.id not in record.scores and trace.kind in one.kinds
            ]
            scores = score_trace(trace, lacking, str(record.what["convention"]))
            self._scored[record.key] = replace(record, scores={**record.scores, **scores})
        return self._scored[record.key]

    @cached_property
    def _legends(self) -> dict[str, Legend]:
        """By protocol, and of all together."""
        found: dict[str, list[Record]] = {"": list(self.records)}
        for record in self.records:
            found.setdefault(_protocol(record), []).append(record)
        return {protocol: read_legend(records) for protocol, records in found.items()}

    @cached_property
    def _places(self) -> dict[str, dict[tuple[int, int], Record]]:
        found: dict[str, dict[tuple[int, int], Record]] = {}
        for record in self.records:
            seed = record.what["root"], record.what["repetition"]
            found.setdefault(place_of(record.what), {})[seed] = record
        return found

    @cached_property
    def _subjects(self) -> set[str]:
        return {_subject(record.what) for record in self.records}


@dataclass
class Shelf:
    """A results folder that is read when it is first asked for, and again only when its journals
    have changed.
    """

    folder: pathlib.Path
    _mark: list[tuple[str, int, int]] | None = None
    _reading: Reading = field(default_factory=Reading)
    _made: dict[Any, Any] = field(default_factory=dict)

    def reading(self) -> Reading:
        """All that the folder holds now."""
        self._renew()
        return self._reading

    def made(self, name: Hashable, make: Callable[[], T]) -> T:
        """A result computed from the folder, computed once until the folder changes."""
        self._renew()
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]  # type: ignore[no-any-return]

    def _renew(self) -> None:
        # Before reading: what is written meanwhile is then seen the next time.
        mark = [
            (path.name, *_size_and_time(path))
            for path in sorted((self.folder / RUNS).glob("*.jsonl"))
        ]
        if mark != self._mark:
            self._reading = read_results(self.folder)
            self._mark = mark
            self._made.clear()


@dataclass(frozen=True)
class Merged:
    """The records of several folders by key, each with the folder that has its trace, and what of
    them is damaged.
    """

    records: Mapping[str, Record]
    folders: Mapping[str, pathlib.Path]
    damage: Sequence[tuple[pathlib.Path, Damage]]

    def trace(self, record: Record) -> Trace:
        """What happened in a run. Raises QuickstudyError if that cannot be read."""
        return load_trace(self.folders[record.key], record)


def read_folders(
    folders: Sequence[str | pathlib.Path], readings: Mapping[pathlib.Path, Reading] | None = None
) -> Merged:
    """Read result folders and merge them by key: an ok run comes before a failed one, then the
    first folder's. Two records of one and the same run are one, with the newest scores of both.

    readings: of folders that have just been read. Raises UsageError when there is no folder, or no
    such folder.
    """
    if not folders:
        raise UsageError("no results folder given; name at least one")
    records: dict[str, Record] = {}
    places: dict[str, pathlib.Path] = {}
    damage = []
    for folder in map(pathlib.Path, folders):
        reading = (readings or {}).get(folder) or read_results(folder, expected=True)
        damage += [(folder, one) for one in reading.damage]
        for key, record in reading.records.items():
            records[key] = joined(records.get(key), record)
            if records[key] is record:
                places[key] = folder
    return Merged(records, places, damage)


def scores_of(runs: Runs, score: str) -> Values:
    """One score of every run that has it and where it is a number."""
    found = {place: score_of(record, score) for place, record in runs.items()}
    return {place: value for place, value in found.items() if not math.isnan(value)}


def place_of(what: Mapping[str, Any]) -> str:
    """The identity without the repetition."""
    return spelled({name: part for name, part in what.items() if name != "repetition"})


def _protocol(record: Record) -> str:
    return str(record.part("protocol").get("id"))


def _subject(what: Mapping[str, Any]) -> str:
    """Task, protocol and convention: the identity without learner and seeds."""
    return spelled([what[name] for name in ("task", "protocol", "convention")])


def _size_and_time(path: pathlib.Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:  # repaired away while we were looking
        return 0, 0
    return found.st_size, found.st_mtime_ns
