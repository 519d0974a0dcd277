"""What tells runs apart, decided in one place: the report, `compare`, SQL, `forget` and all tables
ask here.

Runs belong together if task, protocol, convention and learner are the same, with versions, code and
parameters, and any other entry of `what` that a later version may have added: all but root seed and
repetition. A title is what a user would type, followed in brackets by the rest: a protocol that is
not the standard one, and the difference between two settings of the same name, wherever in the
folder they are.
"""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from quickstudy.base import registries
from quickstudy.base.blocks import PERSON
from quickstudy.base.canonical import spelled
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.parameters import (
    CONVENTIONS,
    configure,
    parse_assignments,
    recorded_parameters,
)
from quickstudy.base.record import STATUSES, Record
from quickstudy.base.score_metadata import Legend, read_legend

LEARNER = "learner"
_ALONE = ("learner",)
_KNOWN = {"task", "learner", "protocol", "convention", "root", "repetition"}


@dataclass(frozen=True)
class LearnerGroup:
    """The runs of one learner on one task: title, role as recorded, and records in the order they
    came.
    """

    title: str
    role: str
    records: tuple[Record, ...]


@dataclass(frozen=True)
class TaskGroup:
    """The runs of one table: one task, one protocol, one convention. legend: how their
    scores are read.
    """

    convention: str
    family: str
    title: str
    legend: Legend
    learners: tuple[LearnerGroup, ...]

    @property
    def records(self) -> tuple[Record, ...]:
        """All runs of the table."""
        return tuple(record for learner in self.learners for record in learner.records)


def task_groups(records: Iterable[Record]) -> list[TaskGroup]:
    """Records by what was run, in the order convention, family, task, protocol; then role and
    learner. People are examined in a form of their own, and are listed in every table of the task
    that they have played.

    A learner has one title in all tables: what distinguishes it from another of its name in one of
    them is added in all.
    """
    shelves: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        shelf = (
            str(record.what.get("convention", "")),
            family_of(record),
            label_of(record, "task"),
        )
        shelves.setdefault(shelf, []).append(record)
    everything = [record for shelved in shelves.values() for record in shelved]
    said = _editions(everything, "learner")
    tasks = _editions(everything, "task")
    tables = []
    for convention, family, label in sorted(
        shelves, key=lambda shelf: (_convention_order(shelf[0]), *shelf[1:])
    ):
        shelved = shelves[convention, family, label]
        further = sorted({part for record in shelved for part in record.what} - _KNOWN)
        for suffix, members in _with_people(
            shelved, ("task", "protocol", *further), tasks.get(label, set())
        ):
            rows: dict[tuple[str, str], list[Record]] = {}
            for record in members:
                role = str(record.labels.get("role", LEARNER))
                rows.setdefault((role, label_of(record, "learner")), []).append(record)
            for (_, name), together in rows.items():
                said.setdefault(name, set()).update(
                    _differing(_leaves(_settings(together, _ALONE), _ALONE))
                )
            tables.append((convention, family, label + suffix, members, rows))
    return [
        TaskGroup(convention, family, title, read_legend(members), _learners(rows, said))
        for convention, family, title, members, rows in tables
    ]


def _with_people(
    records: Sequence[Record], parts: Sequence[str], also: Collection[str]
) -> Iterator[tuple[str, list[Record]]]:
    """Like `_split`, but with people added to the other runs of their task; people without other
    runs form their own group.
    """
    people = [record for record in records if record.labels.get("role") == PERSON]
    alone = {id(record): record for record in people}
    for suffix, members in _split(
        [record for record in records if id(record) not in alone], parts, also
    ):
        own = [
            record for record in people if record.what.get("task") == members[0].what.get("task")
        ]
        for record in own:
            alone.pop(id(record), None)
        yield suffix, [*members, *own]
    if alone:
        yield from _split([*alone.values()], ("task",), also)


def _learners(
    rows: Mapping[tuple[str, str], Sequence[Record]], said: Mapping[str, Collection[str]]
) -> tuple[LearnerGroup, ...]:
    return tuple(
        LearnerGroup(name + more, role, tuple(runs))
        for (role, name), together in sorted(rows.items())
        for more, runs in _split(together, _ALONE, said[name])
    )


def _editions(records: Iterable[Record], part: str) -> dict[str, set[str]]:
    """By label, whether version or code differ anywhere, of what has that label: the paths that
    do.
    """
    known: dict[tuple[str, str], dict[str, set[str]]] = {}
    for record in records:
        component = record.part(part)
        found = known.setdefault((label_of(record, part), str(component.get("id"))), {})
        for name in ("version", "code"):
            found.setdefault(f"{part} {name}", set()).add(str(component.get(name)))
    said: dict[str, set[str]] = {}
    for (label, _), found in known.items():
        said.setdefault(label, set()).update(
            path for path, values in found.items() if len(values) > 1
        )
    return said


def label_of(record: Record, part: str) -> str:
    """How the task or the learner was typed."""
    return str(record.labels.get(part) or record.part(part).get("id", "?"))


def family_of(record: Record) -> str:
    """The family of the record's task."""
    return str(record.labels.get("family") or label_of(record, "task").partition("/")[0])


def version_of(record: Record, part: str) -> str:
    """The declared version of the task, the learner or the protocol, and the code hash of user
    code.
    """
    component = record.part(part)
    code = component.get("code")
    return f"{component.get('version')}{f' (code {code})' if code else ''}" if component else "?"


def outdated(records: Iterable[Record]) -> list[Record]:
    """Runs that were made in an earlier version, or with earlier code, of what has been run again
    since.

    Runs that differ in a parameter are none: both were asked for.
    """
    shelves: dict[str, list[Record]] = {}
    for record in records:
        typed = [
            record.what.get("convention"),
            label_of(record, "task"),
            label_of(record, "learner"),
        ]
        further = {part: value for part, value in record.what.items() if part not in _KNOWN}
        shelves.setdefault(spelled([*typed, record.parameters("protocol"), further]), []).append(
            record
        )
    old = []
    for together in shelves.values():
        versions = _settings(together, ("task", "protocol", "learner"))
        newest = max(versions, key=lambda name: (max(one.started for one in versions[name]), name))
        old += [record for name, found in versions.items() if name != newest for record in found]
    return old


def _convention_order(convention: str) -> tuple[int, str]:
    order = (*CONVENTIONS, convention)
    return order.index(convention), convention


def _settings(records: Sequence[Record], parts: Sequence[str]) -> dict[str, list[Record]]:
    settings: dict[str, list[Record]] = {}
    for record in records:
        settings.setdefault(spelled([record.what.get(part) for part in parts]), []).append(record)
    return settings


def _split(
    records: Sequence[Record], parts: Sequence[str], also: Collection[str] = ()
) -> list[tuple[str, list[Record]]]:
    """Records by equal parts of `what`, each with a suffix: its difference from the others and from
    the standard protocol. also: paths that are always named if they have a value.
    """
    settings = _settings(records, parts)
    flat = _leaves(settings, parts)
    differing = _differing(flat)
    found = []
    for name in sorted(settings):
        own = _not_standard(settings[name][0]) if "protocol" in parts else set()
        paths = differing | own | (flat[name].keys() & set(also))
        said = [f"{path} {flat[name].get(path, 'not given')}" for path in sorted(paths)]
        found.append((f" ({', '.join(said)})" if said else "", settings[name]))
    return found


def _leaves(
    settings: Mapping[str, Sequence[Record]], parts: Sequence[str]
) -> dict[str, dict[str, Any]]:
    return {
        name: _flat({part: found[0].what[part] for part in parts if part in found[0].what})
        for name, found in settings.items()
    }


def _differing(flat: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The paths in which some settings differ."""
    paths = set().union(*flat.values())
    return {
        path for path in paths if len({spelled(leaves.get(path)) for leaves in flat.values()}) > 1
    }


def _not_standard(record: Record) -> set[str]:
    """Paths of the parameters of the protocol that are not the convention's: from the record, or
    from the protocol if that is installed. Nothing is known of a protocol that is no longer
    installed.
    """
    parameters = record.parameters("protocol")
    said = record.labels.get("protocol")
    changed: list[str] = []
    if isinstance(said, str):
        with contextlib.suppress(UsageError):  # a record from elsewhere may say anything
            changed = [name for name in parse_assignments(said) if name in parameters]
    else:
        standard = _standard(
            str(record.part("protocol").get("id")), str(record.what.get("convention"))
        )
        changed = [
            name
            for name, value in parameters.items()
            if name in standard and standard[name] != value
        ]
    return {f"protocol {name}" for name in changed}


@cache
def _standard(protocol: str, convention: str) -> Mapping[str, Any]:
    try:
        return recorded_parameters(
            configure(protocol, registries.protocol.get(protocol), {}, convention)
        )
    except (QuickstudyError, ImportError):
        return {}


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Leaves of nested mappings by their path; the word `parameters` is left out of the path."""
    if not isinstance(value, Mapping):
        return {path: value}
    leaves: dict[str, Any] = {}
    for name, part in value.items():
        leaves |= _flat(part, path if name == "parameters" else f"{path} {name}".strip())
    return leaves


@dataclass(frozen=True)
class Selection:
    """Which runs are meant: those that match every filter given. tasks, learners: patterns such as
    `language/*`, of what was typed or of what the report prints; statuses: `ok`, `failed`,
    `not-applicable`.
    """

    tasks: Sequence[str] = ()
    learners: Sequence[str] = ()
    statuses: Sequence[str] = ()

    def __post_init__(self) -> None:
        for status in self.statuses:
            if status not in STATUSES:
                raise UsageError(f'no status "{status}"; known: {", ".join(STATUSES)}')

    def of(self, records: Iterable[Record]) -> list[Record]:
        """The records that fit."""
        found = {
            id(record): record  # people may be in several tables
            for task in task_groups(records)
            for learner in task.learners
            if _fits(self.tasks, (label_of(learner.records[0], "task"), task.title))
            if _fits(self.learners, (label_of(learner.records[0], "learner"), learner.title))
            for record in learner.records
            if not self.statuses or record.status in self.statuses
        }
        return list(found.values())


def shown(
    records: Sequence[Record],
    tasks: Sequence[str] = (),
    learners: Sequence[str] = (),
    latest: bool = False,
) -> list[Record]:
    """What a report on some tasks and learners shows. Rules and oracles stay: learners are compared
    with them. latest: only the last version of everything.
    """
    kept = {id(record) for record in Selection(tasks).of(records)}
    if learners:
        kept &= {id(one) for one in Selection((), learners).of(records)} | {
            id(one) for one in records if one.labels.get("role", "learner") != "learner"
        }
    if latest:
        kept -= {id(record) for record in outdated(records)}
    return [record for record in records if id(record) in kept]


def _fits(patterns: Sequence[str], names: Collection[str]) -> bool:
    # The name itself first: brackets in a title are not a pattern.
    return not patterns or any(
        name == pattern or fnmatch.fnmatchcase(name, pattern)
        for pattern in patterns
        for name in names
    )
