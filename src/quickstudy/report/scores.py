"""The scores of records by name, and how to read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from quickstudy.base import catalogue
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import Record
from quickstudy.report.model import MeasureNote


@dataclass(frozen=True)
class ScoreBook:
    """versions: the version of each measure that the report shows, the newest in the records. names: score names by
    measure. notes: what was left out.
    """

    versions: Mapping[str, int] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def of(self, record: Record) -> dict[str, float]:
        """The scores of one record; those of an older version of a measure are not among them."""
        found: dict[str, float] = {}
        for id, entry in record.scores.items():
            if int(entry.get("version", 1)) == self.versions.get(id):
                found |= {self._name(id, name): number(value) for name, value in entry["values"].items()}
        return found

    def measures(self) -> tuple[MeasureNote, ...]:
        """How to read every score, from the registry of measures where it knows them."""
        named = ((id, tuple(self._name(id, name) for name in names)) for id, names in sorted(self.names.items()))
        return tuple(_note(id, self.versions[id], names) for id, names in named)

    def _name(self, id: str, name: str) -> str:
        """The name a measure gives, or `measure/name` where two measures give the same one."""
        shared = sum(name in names for names in self.names.values()) > 1
        return f"{id}/{name}" if shared else name


def open_book(records: Iterable[Record]) -> ScoreBook:
    """The book for some records."""
    versions: dict[str, set[int]] = {}
    names: dict[str, dict[str, None]] = {}
    for record in records:
        for id, entry in record.scores.items():
            versions.setdefault(id, set()).add(int(entry.get("version", 1)))
            names.setdefault(id, {}).update(dict.fromkeys(entry["values"]))
    notes = [
        f"Some runs were scored with an older version of {id} than {max(found)}; those scores are left out. "
        "Score their traces again to have them back."
        for id, found in sorted(versions.items())
        if len(found) > 1
    ]
    return ScoreBook(
        {id: max(found) for id, found in versions.items()},
        {id: tuple(sorted(found)) for id, found in names.items()},
        tuple(notes),
    )


def number(value: float | str | None) -> float:
    """A number as it stands in a record: "inf" and "nan" are text there, and nothing is nan."""
    return float("nan") if value is None else float(value)


def _note(id: str, version: int, names: Sequence[str]) -> MeasureNote:
    try:
        entry = catalogue.measure.find(id)
        measure = catalogue.measure.get(id)
    except QuickstudyError:  # the record comes from an installation with more in it
        return MeasureNote(id, version, tuple(names))
    return MeasureNote(
        id,
        version,
        tuple(names),
        True,
        entry.summary,
        measure.unit,
        measure.direction,
        measure.range,
        measure.chance,
        measure.equation,
    )
