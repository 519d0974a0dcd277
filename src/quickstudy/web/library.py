"""The results folders that are looked at, by name, and how each of them stands."""

from __future__ import annotations

import hashlib
import pathlib
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from quickstudy.base.record import Record
from quickstudy.report.compare import folders_in
from quickstudy.runs.folder import MARKER, RUNS, UNFINISHED
from quickstudy.runs.results import ResultsFolder

SHOWN = {
    ".html": "text/html",
    ".csv": "text/csv",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
"""Files directly in a folder that may be looked at, and what they are."""
_FRESH = 120.0
"""Seconds after which a call that stores a checkpoint every half minute counts as interrupted."""


class Unknown(Exception):
    """There is nothing of that name."""


@dataclass
class Library:
    """places: results folders, or folders of such. What appears inside them later is found too."""

    places: Sequence[pathlib.Path]
    _shelves: dict[pathlib.Path, ResultsFolder] = field(default_factory=dict)

    def shelves(self) -> dict[str, ResultsFolder]:
        """By name: the folder's own, followed by a number if two have the same."""
        found: dict[str, ResultsFolder] = {}
        for folder in dict.fromkeys(
            inside for place in self.places for inside in folders_in(place)
        ):
            own = name = folder.resolve().name or "results"
            number = 1
            while name in found:
                number += 1
                name = f"{own}-{number}"
            found[name] = self._shelves.setdefault(folder, ResultsFolder(folder))
        return found

    def shelf(self, name: str) -> ResultsFolder:
        """One folder. Raises Unknown."""
        try:
            return self.shelves()[name]
        except KeyError:
            raise Unknown(f'there is no results folder "{name}" here') from None

    def record(self, name: str, key: str) -> Record:
        """One run of a folder. Raises Unknown."""
        try:
            return self.shelf(name).reading().records[key]
        except KeyError:
            raise Unknown(f'there is no run "{key}" in {name}') from None

    def file(self, name: str, file: str) -> pathlib.Path:
        """A page, table or picture that lies directly in a folder. Raises Unknown for everything
        else.
        """
        folder = self.shelf(name).folder
        path = folder / file
        if (
            pathlib.Path(file).name != file
            or path.suffix not in SHOWN
            or file == MARKER
            or path.is_symlink()
            or not path.is_file()
        ):
            raise Unknown(f'there is no page, table or picture "{file}" in {name}')
        return path

    def files(self, name: str) -> list[str]:
        """Names of all pages, tables and pictures of a folder."""
        return sorted(
            path.name for path in self.shelf(name).folder.iterdir() if self._shows(name, path.name)
        )

    def mark(self, name: str = "") -> str:
        """Something that changes when a folder does, or, without a name, any of them."""
        shelves = [self.shelf(name)] if name else list(self.shelves().values())
        text = ""
        for shelf in shelves:
            for path in sorted(
                [*(shelf.folder / RUNS).glob("*.jsonl"), *(shelf.folder / UNFINISHED).glob("*.npz")]
            ):
                try:
                    found = path.stat()
                except FileNotFoundError:  # finished while we were looking
                    continue
                text += f"{path.name} {found.st_size} {found.st_mtime_ns}\n"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _shows(self, name: str, file: str) -> bool:
        try:
            return bool(self.file(name, file))
        except Unknown:
            return False


@dataclass(frozen=True)
class Standing:
    """How a folder stands. counts: runs by status. going_on: calls with a recent checkpoint;
    interrupted: those without one. last: when anything was written, in seconds since the epoch; 0
    where nothing was.
    """

    counts: Counter[str]
    going_on: int
    interrupted: int
    last: float


def standing(shelf: ResultsFolder) -> Standing:
    """Of a folder now."""
    times = [path.stat().st_mtime for path in (shelf.folder / RUNS).glob("*.jsonl")]
    calls = []
    for path in (shelf.folder / UNFINISHED).glob("*.npz"):
        try:
            calls.append(path.stat().st_mtime)
        except FileNotFoundError:  # finished while we were looking
            continue
    fresh = sum(time.time() - one < _FRESH for one in calls)
    counts = Counter(record.status for record in shelf.reading().records.values())
    return Standing(counts, fresh, len(calls) - fresh, max([*times, *calls], default=0.0))
