"""From results folders to the data of a report."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence

from quickstudy.base.errors import UsageError
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.report.build import build_report
from quickstudy.report.model import ReportData
from quickstudy.runs.reader import Reading, joined, read_results
from quickstudy.runs.traces import load_trace


def gather(
    folders: Sequence[str | pathlib.Path],
    command: str | None = None,
    readings: Mapping[pathlib.Path, Reading] | None = None,
) -> ReportData:
    """Read result folders and merge them by key, as `joined` does.

    readings: of folders that have just been read.
    Raises UsageError when there is no folder, no such folder, or not one run in all of them.
    """
    if not folders:
        raise UsageError("no results folder given; name at least one")
    found: dict[str, tuple[Record, pathlib.Path]] = {}
    notes = []
    for folder in map(pathlib.Path, folders):
        reading = (readings or {}).get(folder) or read_results(folder, expected=True)
        for damage in reading.damage:
            notes.append(f"Left out of the report: {damage}. `quickstudy doctor` explains a damaged folder.")
        for key, record in reading.records.items():
            known = found.get(key)
            counts = joined(known and known[0], record)
            found[key] = counts, folder if known is None or counts is record else known[1]
    if not found:
        raise UsageError(
            f"no runs in {', '.join(map(str, folders))}; run something there first, or name another folder"
        )

    # By object, not by key: a key is worked out anew whenever a record is asked for it.
    places = {id(record): folder for record, folder in found.values()}

    def load(record: Record) -> Trace:
        return load_trace(places[id(record)], record)

    return build_report([record for record, _ in found.values()], load, command, notes)
