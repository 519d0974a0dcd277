"""Files that go to a device or another simulator, and come back from it: what it is driven with,
and its states.

A drive is CSV: a comment line with all that must be known of it as JSON, a heading, and one row per
sample. A recording has one row per sample as well, CSV, NPY or Parquet, and may have a column
`step` or `time` next to the states.
"""

from __future__ import annotations

import csv
import io
import json
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.data.recording_checks import check_clock, copies, odd_columns, odd_times, other_unit
from quickstudy.data.tables import check_finite, read_content, read_table

MARK = "# quickstudy drive "
FORMAT = 1
MOST_RATE = 1e15
"""Samples a second."""
_SEGMENT = {
    "task": str,
    "convention": str,
    "role": str,
    "sha256": str,
    "version": int,
    "repetition": int,
}
_SEGMENT |= {"start": int, "washout": int, "training": int}
"""The keys that are read of every segment in the header of a drive."""
SEQUENCES = "sequences"
"""The role of a segment with many sequences, which a rest parts from each other."""
AGAIN = "again"
"""The role of a segment that gives the inputs of the series before it once more."""
STAMPS = ("step", "time")
JITTER = 0.25
"""Of the time between two samples: how far a time stamp may be from where it should be."""
EVEN = (0.3, 1.7)
"""Of the usual gap between two times: what gaps may be where no sample is missing."""


class Recording(NamedTuple):
    """states: (step, state). repeated: rows that came twice, of which the first was kept. held:
    samples that were missing, in whose place the state before them stands. warnings: what looks
    wrong, in a sentence each.
    names: of the columns, quoted; their numbers from 1 where they have no names.
    """

    states: NDArray[np.float64]
    repeated: int
    held: int = 0
    warnings: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def drive_text(header: Mapping[str, Any], inputs: NDArray[np.float64], rate: float | None) -> str:
    """Inputs (step, channel) as CSV, at full precision; with a column `time` where there is a
    rate.
    """
    names = [
        "step",
        *(["time"] if rate else []),
        *(f"input_{place + 1}" for place in range(inputs.shape[1])),
    ]
    file = io.StringIO(newline="")
    file.write(f"{MARK}{json.dumps(header)}\n")
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(names)
    for step, values in enumerate(inputs.tolist()):
        rows.writerow([step, *([step / rate] if rate else []), *values])
    return file.getvalue()


def read_drive(path: str | pathlib.Path) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """The header of a drive and its inputs (step, channel). Raises UsageError for any other
    file.
    """
    first, _, rest = read_content(path).partition(b"\n")
    try:
        mark, header = first.decode("utf-8").split("{", 1)
        said = json.loads("{" + header)
        names = rest.partition(b"\n")[0].decode("utf-8").strip().split(",")
    except (ValueError, RecursionError):
        mark, said, names = "", {}, []
    if mark != MARK or not isinstance(said.get("segments"), list):
        raise UsageError(
            f"{path} is not a drive; make one with: quickstudy drive TASK --out {path}"
        )
    if said.get("format") != FORMAT:
        raise UsageError(
            f"{path} is of format {said.get('format')}, and {FORMAT} is read here; write it again"
        )
    try:
        _check_header(said)
    except ValueError as error:
        raise UsageError(f"{path}: its header was changed: {error}") from None
    rows = rest.decode("utf-8", "replace").splitlines()[1:]
    try:
        table = np.loadtxt(rows, delimiter=",", ndmin=2) if rows else np.zeros((0, len(names)))
    except ValueError as error:
        raise UsageError(f"{path} was changed since it was written: {error}") from None
    if len(table) != said.get("samples"):
        raise UsageError(
            f"{path} has {len(table)} samples, but its header has {said.get('samples')}; it is not"
            " whole"
        )
    return said, table[:, [place for place, name in enumerate(names) if name.startswith("input_")]]


def stretches(header: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], int, int]]:
    """Segment, first sample and number of samples of every sequence of a drive. One of `sequences`
    has many, each after so many samples of rest.
    """
    found: list[tuple[Mapping[str, Any], int, int]] = []
    starts = [segment["start"] for segment in header["segments"]]
    ends = [*starts[1:], header["samples"]]
    for segment, start, end in zip(header["segments"], starts, ends, strict=True):
        if segment["role"] != SEQUENCES:
            found.append((segment, start, end - start))
            continue
        for length in segment["lengths"]:
            start += segment["washout"]
            found.append((segment, start, length))
            start += length
    return found


def _check_header(header: Mapping[str, Any]) -> None:
    """Raise ValueError if a value cannot be written in the header of a drive."""

    def check(owner: Mapping[str, Any], name: str, kind: type) -> None:
        if type(owner.get(name)) is not kind:
            words = "a text" if kind is str else "a whole number"
            raise ValueError(f"{name} must be {words}, got {owner.get(name)!r}")

    for name in ("seed", "samples"):
        check(header, name, int)
    rate = header.get("rate", "nothing")
    if rate is not None and (type(rate) not in (int, float) or not 0 < rate < MOST_RATE):
        raise ValueError(f"rate must be a number above 0, or null, got {str(rate)[:40]}")
    before = ""
    for segment in header["segments"]:
        if not isinstance(segment, Mapping):
            raise ValueError(f"segments must be objects, got {segment!r}")
        for name, kind in _SEGMENT.items():
            check(segment, name, kind)
        if not 0 <= segment["start"] < header["samples"]:
            raise ValueError(
                f"segments begin in 0 .. {header['samples'] - 1}, got {segment['start']}"
            )
        lengths = segment.get("lengths")
        if segment["role"] == SEQUENCES and not (
            isinstance(lengths, list) and all(type(one) is int and one > 0 for one in lengths)
        ):
            raise ValueError(f"lengths must be whole numbers above 0, got {str(lengths)[:40]}")
        if segment["role"] == "generalisation" and segment["task"] != before:
            raise ValueError(
                f"the narrow noise of {segment['task']} must come after its noise of the whole"
                " range"
            )
        before = segment["task"]


def read_states(path: str | pathlib.Path) -> NDArray[np.float64]:
    """(row, column): the numbers of a CSV, NPY or Parquet file. Raises UsageError as `read_table`
    does.
    """
    return _columns(path)[0]


def read_recording(
    path: str | pathlib.Path,
    samples: int,
    rate: float | None,
    inputs: NDArray[np.float64] | None = None,
    hold: bool = False,
) -> Recording:
    """The states that were recorded while a drive of so many samples was read, one row for each.

    A sample that came twice is taken once. inputs (step, channel): what the drive holds, which no
    state may be. hold: a sample or a cell that is missing is given the value before it. Raises
    UsageError where samples or cells are missing, a time stamp jumps, or a column is a clock or an
    input.
    """
    table, names = _columns(path, gaps=True)
    stamped = [place for place, name in enumerate(names) if name.strip().lower() in STAMPS]
    others = [place for place in range(table.shape[1]) if place not in stamped]
    if not others:
        raise UsageError(f"{path} has no states, only {', '.join(names)}")
    check_finite(path, table[:, stamped])
    missing_cells = np.argwhere(np.isnan(table))
    if len(missing_cells) and not hold:
        row, column = (missing_cells[0] + 1).tolist()
        raise UsageError(
            f"{path}, row {row}, column {column}: every cell must be a number, got nan; take "
            "--missing hold to hold the value before it"
        )
    states, gaps = _filled(path, table[:, others])
    called = [f'"{names[place].strip()}"' if names else f"{place + 1}" for place in others]
    check_clock(path, states, called)
    repeated, held, warnings = 0, gaps, list[str]()
    if stamped:
        by_name = {names[place].strip().lower(): place for place in stamped}
        name = "step" if "step" in by_name else "time"
        steps = _steps(path, table[:, by_name[name]], name, rate, samples)
        if len(by_name) > 1:
            warnings += odd_times(table[:, by_name["time"]], rate)
        found, first = np.unique(steps, return_index=True)
        repeated, states = len(steps) - len(found), states[first]
        missing = np.setdiff1d(np.arange(samples), found)
        if (
            len(missing)
            and name == "step"
            and found[0] == 1
            and found[-1] == samples
            and len(found) == samples
        ):
            raise UsageError(
                f"{path}: steps run from 1 to {samples}, the drive's from 0 to {samples - 1}:"
                " subtract 1 from them"
            )
        if len(missing) and (not hold or missing[0] == 0):
            more = (
                ""
                if hold
                else "; take --missing hold to hold the state before them, or record again"
            )
            count = (
                f"1 of {samples} samples is"
                if len(missing) == 1
                else f"{len(missing)} of {samples} samples are"
            )
            raise UsageError(f"{path}: {count} missing, the first is {missing[0]}{more}")
        if found[-1] >= samples:
            raise UsageError(
                f"{path} goes on to sample {found[-1]}, but the drive ends with {samples - 1}"
            )
        held += len(missing)
        states = states[np.searchsorted(found, np.arange(samples), side="right") - 1]
    elif len(states) != samples:
        turned = "; it has as many columns: is it transposed?" if states.shape[1] == samples else ""
        raise UsageError(
            f"{path} has {len(states)} rows, but the drive has {samples} samples; record every"
            f" state once per sample, or add a column step{turned}"
        )
    if inputs is not None:
        warnings += copies(path, states, called, inputs)
    warnings += odd_columns(states, called)
    return Recording(states, repeated, held, tuple(warnings), tuple(called))


def _filled(
    path: str | pathlib.Path, states: NDArray[np.float64]
) -> tuple[NDArray[np.float64], int]:
    """The states, NaN as the value before it, and how many rows had one.

    Raises UsageError for NaN in the first row, and for what is infinite.
    """
    gaps = np.isnan(states)
    if gaps[0].any():
        raise UsageError(f"{path}, row 1: a state is missing, and there is none before it to hold")
    last = np.maximum.accumulate(np.where(gaps, 0, np.arange(len(states))[:, None]), axis=0)
    held = np.take_along_axis(states, last, axis=0)
    return check_finite(path, held), int(gaps.any(axis=1).sum())


def _steps(
    path: str | pathlib.Path,
    stamps: NDArray[np.float64],
    name: str,
    rate: float | None,
    samples: int,
) -> NDArray[np.int64]:
    """Numbers of samples out of a column of steps, or of times that begin with the first
    sample's.
    """
    if name == "time":
        gap = _usual_gap(path, stamps)
        if rate and not 0.5 < gap * rate < 2:
            raise UsageError(f"{path}: {other_unit(gap, rate)}")
        # As many rows as samples, and no gap that a sample would fit into: jitter, or a clock that
        # is fast or slow.
        gaps = np.diff(stamps) / gap
        if len(stamps) == samples and ((gaps > EVEN[0]) & (gaps < EVEN[1])).all():
            return np.arange(samples)
    places = stamps if name == "step" else (stamps - stamps[0]) * (rate or 1.0 / gap)
    steps = np.rint(places)
    if name == "step" and (np.diff(stamps) < 0).any():
        row = int(np.flatnonzero(np.diff(stamps) < 0)[0]) + 2
        raise UsageError(
            f"{path}, row {row}: step {stamps[row - 1]:g} comes after {stamps[row - 2]:g}; sort the"
            " rows"
        )
    jumps = np.flatnonzero(
        (np.abs(places - steps) > JITTER) | (np.diff(places, prepend=places[0]) < -JITTER)
    )
    if len(jumps):
        row = int(jumps[0])
        grid = (
            f"the grid of {rate:g} samples a second" if rate and name == "time" else "whole samples"
        )
        raise UsageError(
            f"{path}, row {row + 1}: the {name} jumps to {stamps[row]:g}, off {grid} by"
            f" {abs(places[row] - steps[row]):.2g} of a sample; leave the column out if no sample"
            " is missing"
        )
    return steps.astype(np.int64)


def _usual_gap(path: str | pathlib.Path, stamps: NDArray[np.float64]) -> float:
    gap = float(np.median(np.diff(stamps))) if len(stamps) > 1 else 0.0
    if gap <= 0:
        raise UsageError(
            f"{path}: the time does not go on; give a column of times that rise, or of steps"
        )
    return gap


def _columns(path: str | pathlib.Path, gaps: bool = False) -> tuple[NDArray[np.float64], list[str]]:
    """Numbers by (row, column), and the names of the columns where they have any. gaps: NaN is not
    refused.
    """
    if pathlib.Path(path).suffix.lower() == ".parquet":
        table, names = _parquet(path)
        return (table if gaps else check_finite(path, table)), names
    table = read_table(path, gaps)
    first = read_content(path).partition(b"\n")[0]
    names = first.decode("utf-8", "replace").strip().split(",")
    return table, names if len(names) == table.shape[1] else []


def _parquet(path: str | pathlib.Path) -> tuple[NDArray[np.float64], list[str]]:
    try:
        import duckdb
    except ModuleNotFoundError:
        raise MissingExtra("duckdb", "report") from None
    if not pathlib.Path(path).is_file():
        raise UsageError(f"no file {path}")
    try:
        found = duckdb.read_parquet(str(path)).fetchnumpy()
        columns = [
            np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan)
            for column in found.values()
        ]
        table = np.column_stack(columns)
    except (duckdb.Error, ValueError, TypeError, RuntimeError) as error:
        raise UsageError(
            f"{path} cannot be read: {str(error).partition(chr(10))[0][:200]}"
        ) from None
    return table, list(found)
