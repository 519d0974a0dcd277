"""The role of a learner in a table: its runs say whether it was shown the material again."""

from __future__ import annotations

import math
from collections.abc import Iterable

from quickstudy.base.blocks import CONTROL, LEARNER, ORACLE, PERSON, REPLAY
from quickstudy.base.record import Record
from quickstudy.base.score_metadata import Legend


def role_of(record: Record, replay_apart: bool = True) -> str:
    """learner, replay, person, control or oracle. A learner that is shown the material several
    times is one with replay, where the protocol keeps the two apart.

    The material shown decides, not the learner's declaration: a learner that wraps another may show
    it everything again. Only where that is not known, as of a run that failed, its parameter
    `passes` does.
    """
    role = record.labels.get("role", LEARNER)
    if role in (PERSON, CONTROL, ORACLE) or not replay_apart:
        return str(role)
    if record.trace.get("facts", {}).get("passes", 1) > 1:
        return REPLAY
    shown, there = record.cost.get("examples"), _material(record)
    if shown is None or not there:
        # A protocol that may not show material again declares it by its parameter `replay`.
        again = record.parameters("learner").get("passes", 1) > 1 and record.parameters(
            "protocol"
        ).get("replay", True)
    else:
        # As published, a readout meets the first question twice.
        again = float(shown) > there + 1
    return REPLAY if again else LEARNER


def played(records: Iterable[Record], legend: Legend) -> str:
    """The role of the runs of one learner: replay if any of them had it. A run that failed may not
    show it.
    """
    roles = [role_of(record, legend.replay_apart) for record in records]
    return REPLAY if REPLAY in roles else roles[0]


def _material(record: Record) -> float:
    """How much there was to be shown, in what the learner is shown one at a time; 0 where that is
    not known.
    """
    facts = record.trace.get("facts", {})
    sequences = facts.get("training_sequences", 0)
    count = float(sum(sequences) if isinstance(sequences, list | tuple) else sequences)
    # Rounded up, as the mean number of questions in a sequence is a fraction.
    return (
        math.ceil(count * float(facts.get("tokens_per_sequence", 1)))
        if facts.get("item") == "question"
        else count
    )
