"""Values of a record: its seed, whether its learner was shown the material again, and its scores by
name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from quickstudy.base import registries
from quickstudy.base.blocks import CONTROL, LEARNER, ORACLE, PERSON, REPLAY
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import Record
from quickstudy.base.score_metadata import Legend, read_legend
from quickstudy.report.report_data import MeasureNote


@dataclass(frozen=True)
class ScoreBook:
    """versions: the version of each measure that the report shows, the newest in the records or the
    installed one if that is newer. names: score names by measure. notes: what was left out. legend:
    that of all records together.
    """

    versions: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    legend: Legend = field(default_factory=Legend)

    def of(self, record: Record) -> dict[str, float]:
        """The scores of one record; those of an older version of a measure are not among them."""
        return {
            self._shown[id, name]: number(value)
            for id, entry in record.scores.items()
            if int(entry.get("version", 1)) == self.versions.get(id)
            for name, value in entry["values"].items()
        }

    def measures(self) -> tuple[MeasureNote, ...]:
        """How to read every score that is shown, by the records and the registry of measures."""
        named = (
            (id, tuple(self._shown[id, name] for name in names))
            for id, names in sorted(self.names.items())
        )
        return tuple(self._note(id, names) for id, names in named)

    def _note(self, id: str, names: Sequence[str]) -> MeasureNote:
        scores = tuple(map(self.legend.score, names))
        try:
            entry = registries.measure.find(id)
            measure = registries.measure.get(id)
        except QuickstudyError:  # the record comes from an installation with more in it
            return MeasureNote(id, self.versions[id], scores)
        return MeasureNote(
            id, self.versions[id], scores, True, entry.summary, measure.chance, measure.equation
        )

    @cached_property
    def _shown(self) -> dict[tuple[str, str], str]:
        """The name that a measure gives, or `measure/name` where two measures give the same one."""
        counts = Counter(name for names in self.names.values() for name in names)
        return {
            (id, name): f"{id}/{name}" if counts[name] > 1 else name
            for id, names in self.names.items()
            for name in names
        }


def open_book(records: Iterable[Record]) -> ScoreBook:
    """The book for some records."""
    records = list(records)
    versions: dict[str, set[int]] = {}
    names: dict[str, dict[str, None]] = {}
    for record in records:
        for id, entry in record.scores.items():
            versions.setdefault(id, set()).add(int(entry.get("version", 1)))
            names.setdefault(id, {}).update(dict.fromkeys(entry["values"]))
    shown = {id: max(*found, _installed(id)) for id, found in versions.items()}
    notes = [
        f"Some runs were scored with an older version of {id} than {shown[id]}; those scores are"
        " left out. Score their traces again to have them back."
        for id, found in sorted(versions.items())
        if found != {shown[id]}
    ]
    kept = {id: tuple(sorted(found)) for id, found in names.items() if shown[id] in versions[id]}
    return ScoreBook(shown, kept, tuple(notes), read_legend(records))


def score_of(record: Record, score: str) -> float:
    """One score of a finished run; nan where it has none of that name, or one of an older version
    of its measure.
    """
    for id, entry in record.scores.items():
        if score in entry["values"] and int(entry.get("version", 1)) >= _installed(id):
            return number(entry["values"][score])
    return math.nan


def number(value: float | str | None) -> float:
    """A number from a record, where "inf" and "nan" are text; a missing or invalid value
    becomes nan.
    """
    try:
        return math.nan if value is None else float(value)
    except OverflowError:  # whole numbers in JSON have no bound
        return -math.inf if str(value).startswith("-") else math.inf
    except (TypeError, ValueError):
        return math.nan


def seed_of(record: Record) -> tuple[int, int]:
    """(root seed, repetition)."""
    return int(record.what.get("root", 0)), int(record.what.get("repetition", 0))


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


def _installed(id: str) -> int:
    """The version of a measure that is installed; 0 for none."""
    return registries.measure.find(id).version if id in registries.measure else 0
