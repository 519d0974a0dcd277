"""Which runs belong together: same task, same protocol, same convention, same learner, versions and parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from quickstudy.base.record import Record
from quickstudy.report.model import CONTROL, LEARNER, ORACLE, REPLAY, ROLES
from quickstudy.runs.identity import TaskGroup, task_groups


def group(records: Iterable[Record]) -> list[TaskGroup]:
    """Tables in the order convention, family, task; in each the rows by role and label; in each row by seed, and as
    they came where that is the same. What belongs together, and how it is called, `quickstudy.runs.identity` says.
    """
    groups = []
    for task in task_groups(records):
        learners = [
            replace(
                learner,
                role=_common_role(learner.records, task.legend.replay_apart),
                records=tuple(sorted(learner.records, key=seed_of)),
            )
            for learner in task.learners
        ]
        ordered = tuple(sorted(learners, key=lambda found: (ROLES.index(found.role), found.title)))
        groups.append(replace(task, learners=ordered))
    return groups


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
        again = record.parameters("learner").get("passes", 1) > 1 and _shows_again(record)
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
    return bool(record.parameters("protocol").get("replay", True))


def seed_of(record: Record) -> tuple[int, int]:
    """(root seed, repetition)."""
    return int(record.what.get("root", 0)), int(record.what.get("repetition", 0))


def _common_role(records: Sequence[Record], replay_apart: bool) -> str:
    """The role of one learner's runs; those that failed go with those that show what it does."""
    roles = [role_of(record, replay_apart) for record in records]
    return REPLAY if REPLAY in roles else roles[0]
