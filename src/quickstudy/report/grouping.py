"""Which runs belong together: same task, same protocol, same convention, same learner, versions and parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.base.legend import Legend, read_legend
from quickstudy.base.parameters import CONVENTIONS
from quickstudy.base.record import Record
from quickstudy.report.model import CONTROL, LEARNER, ORACLE, REPLAY, ROLES
from quickstudy.report.spelling import spelled


@dataclass(frozen=True)
class LearnerGroup:
    """The runs of one row."""

    label: str
    role: str
    records: tuple[Record, ...]


@dataclass(frozen=True)
class TaskGroup:
    """The runs of one table."""

    convention: str
    family: str
    label: str
    legend: Legend
    learners: tuple[LearnerGroup, ...]


def group(records: Iterable[Record]) -> list[TaskGroup]:
    """Tables in the order convention, family, task; in each the rows by role and label; in each row by seed, and as
    they came where that is the same.

    Two settings that people would type alike, but that differ in a version or in the protocol, stay apart: what
    differs is added to the label.
    """
    shelves: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        shelf = (str(record.what.get("convention", "")), family_of(record), label_of(record, "task"))
        shelves.setdefault(shelf, []).append(record)
    groups = []
    for convention, family, label in sorted(shelves, key=lambda shelf: (_convention_order(shelf[0]), *shelf[1:])):
        settings = _split(shelves[convention, family, label], ("task", "protocol"))
        for suffix, members in settings:
            legend = read_legend(members)
            learners = _learners(members, legend.replay_apart)
            groups.append(TaskGroup(convention, family, label + suffix, legend, learners))
    return groups


def label_of(record: Record, part: str) -> str:
    """How the task or the learner is shown."""
    component = record.what.get(part)
    id = component.get("id", "?") if isinstance(component, Mapping) else "?"
    return str(record.labels.get(part) or id)


def family_of(record: Record) -> str:
    """The family of the record's task."""
    return str(record.labels.get("family") or label_of(record, "task").partition("/")[0])


def role_of(record: Record, replay_apart: bool = True) -> str:
    """learner, replay, control or oracle. A learner that is shown the material several times is one with replay, where
    the protocol keeps the two apart.

    What was shown decides, not what the learner says of itself: one that wraps another may show it everything again.
    Only where that is not known, as of a run that failed, its parameter `passes` does.
    """
    role = record.labels.get("role", LEARNER)
    if role in (CONTROL, ORACLE) or not replay_apart:
        return str(role)
    if record.trace.get("facts", {}).get("passes", 1) > 1:
        return REPLAY
    shown, there = record.cost.get("examples"), _material(record)
    if shown is None or not there:
        again = _parameter(record, "learner", "passes", 1) > 1 and _shows_again(record)
    else:
        # As published, a readout meets the first question twice.
        again = float(shown) > there + 1
    return REPLAY if again else LEARNER


def _material(record: Record) -> float:
    """How much there was to be shown, in what the learner is shown one at a time; 0 where that is not known."""
    facts = record.trace.get("facts", {})
    sequences = facts.get("training_sequences", 0)
    count = float(sum(sequences) if isinstance(sequences, list | tuple) else sequences)
    # Rounded up, as the mean number of questions in a sequence is a fraction.
    return math.ceil(count * float(facts.get("tokens_per_sequence", 1))) if facts.get("item") == "question" else count


def _shows_again(record: Record) -> bool:
    """Whether the protocol lets material be shown again; one that may not says so by its parameter `replay`."""
    return bool(_parameter(record, "protocol", "replay", True))


def _parameter(record: Record, part: str, name: str, otherwise: Any) -> Any:
    component = record.what.get(part)
    parameters = component.get("parameters") if isinstance(component, Mapping) else None
    return parameters.get(name, otherwise) if isinstance(parameters, Mapping) else otherwise


def seed_of(record: Record) -> tuple[int, int]:
    """(root seed, repetition)."""
    return int(record.what.get("root", 0)), int(record.what.get("repetition", 0))


def _convention_order(convention: str) -> tuple[int, str]:
    order = (*CONVENTIONS, convention)
    return order.index(convention), convention


def _learners(records: Sequence[Record], replay_apart: bool) -> tuple[LearnerGroup, ...]:
    rows: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        role = role_of(record, replay_apart)
        rows.setdefault((LEARNER if role == REPLAY else role, label_of(record, "learner")), []).append(record)
    found = [
        LearnerGroup(label + suffix, _common_role(members, replay_apart), tuple(sorted(members, key=seed_of)))
        for (_, label), together in sorted(rows.items())
        for suffix, members in _split(together, ("learner",))
    ]
    return tuple(sorted(found, key=lambda group: (ROLES.index(group.role), group.label)))


def _common_role(records: Sequence[Record], replay_apart: bool) -> str:
    """The role of one learner's runs; those that failed go with those that show what it does."""
    roles = [role_of(record, replay_apart) for record in records]
    return REPLAY if REPLAY in roles else roles[0]


def _split(records: Sequence[Record], parts: Sequence[str]) -> list[tuple[str, list[Record]]]:
    """Records by equal parts of `what`, each with a suffix that says in what it differs from the others."""
    settings: dict[str, list[Record]] = {}
    for record in records:
        settings.setdefault(spelled([record.what.get(part) for part in parts]), []).append(record)
    if len(settings) == 1:
        return [("", list(records))]
    flat = {name: _flat({part: found[0].what.get(part) for part in parts}) for name, found in settings.items()}
    differing = [
        path
        for path in sorted(set().union(*flat.values()))
        if len({spelled(leaves.get(path)) for leaves in flat.values()}) > 1
    ]
    return [
        (" (" + ", ".join(f"{path} {flat[name].get(path, 'not given')}" for path in differing) + ")", settings[name])
        for name in sorted(settings)
    ]


def _flat(value: Any, path: str = "") -> dict[str, Any]:
    """Leaves of nested mappings by their path; the word `parameters` is left out of the path."""
    if not isinstance(value, Mapping):
        return {path: value}
    leaves: dict[str, Any] = {}
    for name, part in value.items():
        leaves |= _flat(part, path if name == "parameters" else f"{path} {name}".strip())
    return leaves
