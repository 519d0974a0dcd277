"""The runs of results folders as one table: what was run, where it was, and its scores by name.

Report, study pages, card, site, comparison, ranking and SQL read it. A run belongs to a cell of a
study when its identity, apart from the repetition, is the one that the study asks for: the same
ids, versions and parameters of task, learner and protocol, the same convention and root seed. The
number of repetitions asked for decides what is run, not what is shown: a cell has all that there
are.

A score of an older version of its measure than the newest in the table, or than the installed one,
has no place in it.
"""

from __future__ import annotations

import math
import pathlib
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeVar

from quickstudy.base import registries
from quickstudy.base.canonical import canonical, plain, spelled
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.measure import Score
from quickstudy.base.record import OK, Record
from quickstudy.base.score_metadata import Legend, read_legend
from quickstudy.base.trace import Trace
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.folder import RUNS
from quickstudy.runs.grouping import TaskGroup, task_groups
from quickstudy.runs.journal_lines import expect_results
from quickstudy.runs.merge import Damage, Reading, joined, read_results
from quickstudy.runs.run_spec import Setting, identity
from quickstudy.runs.scoring import MAXIMUM_OF_MEAN, MEAN_CURVE, find_measures, score_trace

T = TypeVar("T")
Runs = Mapping[tuple[int, int], Record]
"""Records by (root seed, repetition)."""
Values = Mapping[tuple[int, int], float]
"""Values of one score by (root seed, repetition); none is nan."""
_IDENTITY = {"task", "learner", "protocol", "convention", "root", "repetition"}


def no_trace(record: Record) -> Trace:
    """Raises QuickstudyError: a table that was made from records alone has no traces."""
    raise QuickstudyError(f"record {record.key[:12]} has no folder, so its trace cannot be read")


@dataclass(frozen=True)
class ResultsTable:
    """Runs and their scores.

    records: one a key, in the order of the table.
    load: gives the trace of a record; raises QuickstudyError if it cannot be read.
    damage: what could not be read, with its folder.
    measures: those that are applied to the traces of runs that are looked up by their setting,
        besides what their records have. Without them no trace is read.
    """

    records: Mapping[str, Record]
    load: Callable[[Record], Trace] = no_trace
    damage: Sequence[tuple[pathlib.Path, Damage]] = ()
    measures: Sequence[str] = ()
    _identities: dict[Hashable, dict[str, Any]] = field(
        default_factory=dict, repr=False, compare=False
    )
    _scored: dict[str, Record] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls, records: Iterable[Record], load: Callable[[Record], Trace] = no_trace
    ) -> ResultsTable:
        """The table of some records."""
        return cls({record.key: record for record in records}, load)

    def only(self, keys: Collection[str]) -> ResultsTable:
        """The table of some of the runs."""
        return replace(
            self, records={key: self.records[key] for key in self.records if key in keys}
        )

    def trace(self, record: Record) -> Trace:
        """What happened in a run. Raises QuickstudyError if that cannot be read."""
        return self.load(record)

    @cached_property
    def groups(self) -> list[TaskGroup]:
        """The runs by task, then by learner, as the report shows them."""
        return task_groups(self.records.values())

    # By setting, as the pages of studies ask.

    def runs(self, setting: Setting) -> Runs:
        """All finished runs of one setting, of its root seed."""
        return self.like(self.identity(setting))

    def like(self, what: Mapping[str, Any]) -> Runs:
        """All finished runs of one identity, of any repetition."""
        runs = self._by_identity.get(without_repetition(plain(what)), {})
        if not self.measures:
            return runs
        return {seed: self._measured(record) for seed, record in runs.items()}

    def has(self, setting: Setting) -> bool:
        """Whether there is a finished run on a setting's task under its protocol and convention, of
        any learner.
        """
        return _subject(plain(self.identity(setting))) in self._subjects

    def identity(self, setting: Setting) -> dict[str, Any]:
        """The identity of a setting's first repetition, computed once."""
        name = setting.task, setting.learner, setting.convention, canonical(setting.protocol)
        if name not in self._identities:
            self._identities[name] = identity(setting, setting.resolve(), 0)
        return {**self._identities[name], "root": setting.root}

    @cached_property
    def finished(self) -> Sequence[Record]:
        """The runs that a study can ask for: a record from elsewhere may lack parts of an
        identity.
        """
        every = self.records.values()
        return [one for one in every if one.status == OK and {*one.what} >= _IDENTITY]

    @cached_property
    def conventions(self) -> set[str]:
        """Those of the finished runs."""
        return {str(record.what["convention"]) for record in self.finished}

    @cached_property
    def _by_identity(self) -> dict[str, dict[tuple[int, int], Record]]:
        found: dict[str, dict[tuple[int, int], Record]] = {}
        for record in self.finished:
            found.setdefault(without_repetition(record.what), {})[seed_of(record)] = record
        return found

    @cached_property
    def _subjects(self) -> set[str]:
        return {_subject(record.what) for record in self.finished}

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

    # Scores.

    def scores(self, record: Record) -> dict[str, float]:
        """All scores of one run by the names that the table has for them."""
        return {
            self._shown.get((id, name), name): number(value)
            for id, entry in record.scores.items()
            if _version(entry) == self._newest(id)
            for name, value in entry["values"].items()
        }

    def value(self, record: Record, score: str) -> float:
        """One score of a run, by the name that its measure gives it; nan where it has none."""
        for id, entry in record.scores.items():
            if score in entry["values"] and _version(entry) == self._newest(id):
                return number(entry["values"][score])
        return math.nan

    def values(self, runs: Setting | Runs, score: str) -> Values:
        """One score of every run that has it and where it is a number."""
        runs = self.runs(runs) if isinstance(runs, Setting) else runs
        found = {seed: self.value(record, score) for seed, record in runs.items()}
        return {seed: value for seed, value in found.items() if not math.isnan(value)}

    def score(self, name: str, runs: Iterable[Record] = ()) -> Score:
        """How a score is read, by what the finished runs carry: all, or those under the protocol of
        some. The measures of two protocols may use one name for two things.
        """
        if name == MAXIMUM_OF_MEAN:
            return MEAN_CURVE
        legends = (self._legends[_protocol(record)] for record in runs)
        return next(legends, self._legends[""]).score(name)

    @cached_property
    def legend(self) -> Legend:
        """How scores are read, by all runs together."""
        return read_legend(self.records.values())

    @cached_property
    def versions(self) -> dict[str, int]:
        """Of each measure the version whose scores are in the table."""
        return {id: max(*found, installed(id)) for id, found in self._found[0].items()}

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The names of the scores in the table, by measure."""
        return {
            id: tuple(self._shown[id, name] for name in sorted(names))
            for id, names in sorted(self._found[1].items())
            if self.versions[id] in self._found[0][id]
        }

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Which scores were left out, a sentence for each measure."""
        return tuple(
            f"Some runs were scored with an older version of {id} than {self.versions[id]}; those"
            " scores are left out. Score their traces again to have them back."
            for id, found in sorted(self._found[0].items())
            if found != {self.versions[id]}
        )

    def _newest(self, id: str) -> int:
        known = self.versions.get(id)
        return installed(id) if known is None else known

    @cached_property
    def _found(self) -> tuple[dict[str, set[int]], dict[str, dict[str, None]]]:
        """The versions and the score names of every measure in the records."""
        versions: dict[str, set[int]] = {}
        names: dict[str, dict[str, None]] = {}
        for record in self.records.values():
            for id, entry in record.scores.items():
                versions.setdefault(id, set()).add(_version(entry))
                names.setdefault(id, {}).update(dict.fromkeys(entry["values"]))
        return versions, names

    @cached_property
    def _shown(self) -> dict[tuple[str, str], str]:
        """The name that a measure gives, or `measure/name` where two measures give the same one."""
        versions, names = self._found
        known = {id: own for id, own in names.items() if self.versions[id] in versions[id]}
        counts = Counter(name for own in known.values() for name in own)
        return {
            (id, name): f"{id}/{name}" if counts[name] > 1 else name
            for id, own in known.items()
            for name in own
        }

    @cached_property
    def _legends(self) -> dict[str, Legend]:
        """By protocol, and of all together."""
        found: dict[str, list[Record]] = {"": list(self.finished)}
        for record in self.finished:
            found.setdefault(_protocol(record), []).append(record)
        return {protocol: read_legend(records) for protocol, records in found.items()}


@dataclass
class ResultsFolder:
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

    def table(self, measures: Sequence[str] = ()) -> ResultsTable:
        """The same as a table. measures: see there."""

        def make() -> ResultsTable:
            found, load = self._reading, partial(load_trace, self.folder)
            damage = [(self.folder, one) for one in found.damage]
            return ResultsTable(found.records, load, damage, measures)

        return self.made(("table", tuple(measures)), make)

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


def read_folders(folders: Sequence[str | pathlib.Path]) -> ResultsTable:
    """Read result folders and merge them by key. Raises UsageError when there is no folder, or no
    such folder.
    """
    if not folders:
        raise UsageError("no results folder given; name at least one")
    tables = []
    for folder in map(pathlib.Path, folders):
        expect_results(folder)
        tables.append(ResultsFolder(folder).table())
    return merge_tables(tables)


def merge_tables(tables: Sequence[ResultsTable]) -> ResultsTable:
    """Several tables as one, by key: an ok run comes before a failed one, then the first table's.
    Two records of one and the same run are one, with the newest scores of both.
    """
    if len(tables) == 1:
        return tables[0]
    records: dict[str, Record] = {}
    loads: dict[str, Callable[[Record], Trace]] = {}
    for table in tables:
        for key, record in table.records.items():
            records[key] = joined(records.get(key), record)
            if records[key] is record:
                loads[key] = table.load
    damage = [one for table in tables for one in table.damage]
    return ResultsTable(records, lambda record: loads[record.key](record), damage)


def without_repetition(what: Mapping[str, Any]) -> str:
    """The text of an identity without the repetition: equal for all runs of a cell."""
    return spelled({name: part for name, part in what.items() if name != "repetition"})


def seed_of(record: Record) -> tuple[int, int]:
    """(root seed, repetition)."""
    return int(record.what.get("root", 0)), int(record.what.get("repetition", 0))


def number(value: float | str | None) -> float:
    """A number of a record: "inf" and "nan" are text there; nothing, and what is not a number, is
    nan.
    """
    try:
        return math.nan if value is None else float(value)
    except OverflowError:  # whole numbers in JSON have no bound
        return -math.inf if str(value).startswith("-") else math.inf
    except (TypeError, ValueError):
        return math.nan


def installed(id: str) -> int:
    """The version of a measure that is installed; 0 for none."""
    return registries.measure.find(id).version if id in registries.measure else 0


def _version(entry: Mapping[str, Any]) -> int:
    return int(entry.get("version", 1))


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
