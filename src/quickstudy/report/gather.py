"""From results folders to the data of a report."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence

from quickstudy.base.errors import UsageError
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK, Record
from quickstudy.base.trace import Trace
from quickstudy.report.build import build_report
from quickstudy.report.model import ReportData
from quickstudy.runs.reader import Reading, merged, one_run, read_results
from quickstudy.runs.traces import load_trace

_RANKS = (FAILED, NOT_APPLICABLE, OK)


def gather(
    folders: Sequence[str | pathlib.Path],
    command: str | None = None,
    readings: Mapping[pathlib.Path, Reading] | None = None,
) -> ReportData:
    """Read result folders and merge them by key: an ok run comes before a failed one, then the first folder's. The
    scores of the very same run, in a folder and in a copy of it, are put together.

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
            if known is not None and one_run(known[0], record):
                found[key] = merged(known[0], record), known[1]
            elif known is None or _RANKS.index(record.status) > _RANKS.index(known[0].status):
                found[key] = record, folder
    if not found:
        raise UsageError(
            f"no runs in {', '.join(map(str, folders))}; run something there first, or name another folder"
        )

    # By object, not by key: a key is worked out anew whenever a record is asked for it.
    places = {id(record): folder for record, folder in found.values()}

    def load(record: Record) -> Trace:
        return load_trace(places[id(record)], record)

    return build_report([record for record, _ in found.values()], load, command, notes)
