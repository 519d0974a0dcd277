"""What people answered, a row for every answer: whose, when, how fast, and whether it was right."""

from __future__ import annotations

import datetime
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

from quickstudy.base.blocks import PERSON
from quickstudy.base.errors import UsageError
from quickstudy.base.record import OK, Record
from quickstudy.base.trace import Trace
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.merge import read_results

HEADING = (
    "person",
    "task",
    "convention",
    "root",
    "session",
    "started",
    "answer",
    "seconds",
    "difficulty",
    "right",
    "key",
)


def answer_rows(folder: str | pathlib.Path) -> list[Sequence[Any]]:
    """A row for every answer of every person in a folder, the heading first.

    `right` is 1 or 0, and empty where a game does not judge answers one by one; `difficulty` is
    that of a span. Raises UsageError if there are no sessions.
    """
    folder = pathlib.Path(folder)
    records = [
        one
        for one in read_results(folder, expected=True).records.values()
        if one.labels.get("role") == PERSON and one.status == OK
    ]
    if not records:
        raise UsageError(f"nobody has played into {folder}; see quickstudy play --help")
    return [HEADING, *(row for one in records for row in _rows(one, load_trace(folder, one)))]


def _rows(record: Record, trace: Trace) -> Iterator[Sequence[Any]]:
    seconds = trace.arrays.get("answer_seconds", ())  # not in sessions of earlier versions
    started = datetime.datetime.fromtimestamp(record.started, datetime.UTC)
    what = record.what
    session = (
        record.parameters("learner").get("name", ""),
        record.labels.get("task", ""),
        what.get("convention"),
        what.get("root"),
        what.get("repetition"),
        started.isoformat(timespec="seconds"),
    )
    judged = _judged(trace, len(seconds))
    for number, (taken, (difficulty, right)) in enumerate(zip(seconds, judged, strict=True), 1):
        yield (*session, number, float(taken), difficulty, right, record.key)


def _judged(trace: Trace, count: int) -> list[tuple[int | str, int | str]]:
    """Difficulty and verdict of each answer, as far as the trace has them."""
    arrays = trace.arrays
    if trace.kind == "span" and len(arrays["difficulty"]) >= count:  # a level an answer, in order
        levels, whole = arrays["difficulty"].tolist(), arrays["whole"][0].tolist()
        return [(int(levels[place]), int(whole[place])) for place in range(count)]
    if "right" in arrays and len(arrays["right"]) == count:
        return [("", int(right)) for right in arrays["right"].tolist()]
    return [("", "")] * count
