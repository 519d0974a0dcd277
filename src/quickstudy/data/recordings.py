"""Files that go to a device or another simulator, and come back from it: what it is driven with, and its states.

A drive is CSV: a comment line with all that must be known of it as JSON, a heading, and one row per sample. A recording
has one row per sample as well, CSV, NPY or Parquet, and may have a column `step` or `time` beside the states.
"""

from __future__ import annotations

import csv
import json
import pathlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.data.tables import check_finite, read_content, read_table

MARK = "# quickstudy drive "
FORMAT = 1
_SEGMENT = {"task": str, "convention": str, "role": str, "sha256": str, "version": int, "repetition": int}
_SEGMENT |= {"start": int, "washout": int, "training": int}
"""What is read of every segment in the header of a drive."""
STAMPS = ("step", "time")
JITTER = 0.25
"""Of the time between two samples: how far a time stamp may be from where it should be."""


class Recording(NamedTuple):
    """states: (step, state). repeated: rows that came twice, of which the first was kept."""

    states: NDArray[np.float64]
    repeated: int


def write_drive(path: pathlib.Path, header: Mapping[str, Any], inputs: NDArray[np.float64], rate: float | None) -> None:
    """Inputs (step, channel) as CSV, at full precision; with a column `time` where there is a rate."""
    names = ["step", *(["time"] if rate else []), *(f"input_{place + 1}" for place in range(inputs.shape[1]))]
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(f"{MARK}{json.dumps(header)}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(names)
        for step, values in enumerate(inputs.tolist()):
            rows.writerow([step, *([step / rate] if rate else []), *values])


def read_drive(path: str | pathlib.Path) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """The header of a drive and its inputs (step, channel). Raises UsageError for any other file."""
    first, _, rest = read_content(path).partition(b"\n")
    try:
        mark, header = first.decode("utf-8").split("{", 1)
        said = json.loads("{" + header)
        names = rest.partition(b"\n")[0].decode("utf-8").strip().split(",")
    except ValueError:
        mark, said, names = "", {}, []
    if mark != MARK or not isinstance(said.get("segments"), list):
        raise UsageError(f"{path} is no drive; make one by: quickstudy drive TASK --out {path}")
    if said.get("format") != FORMAT:
        raise UsageError(f"{path} is of format {said.get('format')}, and {FORMAT} is read here; write it anew")
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
        raise UsageError(f"{path} has {len(table)} samples, but its header says {said.get('samples')}; it is not whole")
    return said, table[:, [place for place, name in enumerate(names) if name.startswith("input_")]]


def _check_header(header: Mapping[str, Any]) -> None:
    """Raise ValueError with what cannot stand in the header of a drive."""

    def check(owner: Mapping[str, Any], name: str, kind: type) -> None:
        if type(owner.get(name)) is not kind:
            words = "a text" if kind is str else "a whole number"
            raise ValueError(f"{name} must be {words}, got {owner.get(name)!r}")

    for name in ("seed", "samples"):
        check(header, name, int)
    before = ""
    for segment in header["segments"]:
        if not isinstance(segment, Mapping):
            raise ValueError(f"segments must be objects, got {segment!r}")
        for name, kind in _SEGMENT.items():
            check(segment, name, kind)
        if not 0 <= segment["start"] < header["samples"]:
            raise ValueError(f"segments begin in 0 .. {header['samples'] - 1}, got {segment['start']}")
        if segment["role"] == "generalisation" and segment["task"] != before:
            raise ValueError(f"the narrow noise of {segment['task']} must stand behind its noise of the whole range")
        before = segment["task"]


def read_states(path: str | pathlib.Path) -> NDArray[np.float64]:
    """(row, column): the numbers of a CSV, NPY or Parquet file. Raises UsageError as `read_table` does."""
    return _columns(path)[0]


def read_recording(path: str | pathlib.Path, samples: int, rate: float | None) -> Recording:
    """The states that were recorded while a drive of so many samples was read, one row for each.

    A sample that came twice is taken once. Raises UsageError where samples are missing, or a time stamp jumps.
    """
    table, names = _columns(path)
    stamped = [place for place, name in enumerate(names) if name.strip().lower() in STAMPS]
    states = np.delete(table, stamped, axis=1)
    if not states.shape[1]:
        raise UsageError(f"{path} has no states, only {', '.join(names)}")
    repeated = 0
    if stamped:
        steps = _steps(path, table[:, stamped[0]], names[stamped[0]].strip().lower(), rate)
        found, first = np.unique(steps, return_index=True)
        repeated, states = len(steps) - len(found), states[first]
        missing = np.setdiff1d(np.arange(samples), found)
        if len(missing):
            raise UsageError(f"{path}: {len(missing)} of {samples} samples are missing, the first is {missing[0]}")
        if len(found) > samples:
            raise UsageError(f"{path} has {len(found)} samples, but the drive has {samples}")
    elif len(states) != samples:
        raise UsageError(
            f"{path} has {len(states)} rows, but the drive has {samples} samples; record every state once per sample, "
            "or add a column step"
        )
    return Recording(states, repeated)


def _steps(path: str | pathlib.Path, stamps: NDArray[np.float64], name: str, rate: float | None) -> NDArray[np.int64]:
    """Numbers of samples out of a column of steps, or of times that begin with the first sample's."""
    places = stamps if name == "step" else (stamps - stamps[0]) * (rate or 1.0 / _usual_gap(path, stamps))
    steps = np.rint(places)
    jumps = np.flatnonzero((np.abs(places - steps) > JITTER) | (np.diff(places, prepend=places[0]) < -JITTER))
    if len(jumps):
        raise UsageError(f"{path}, row {jumps[0] + 1}: the {name} jumps to {stamps[jumps[0]]:g}, between two samples")
    return steps.astype(np.int64)


def _usual_gap(path: str | pathlib.Path, stamps: NDArray[np.float64]) -> float:
    gap = float(np.median(np.diff(stamps))) if len(stamps) > 1 else 0.0
    if gap <= 0:
        raise UsageError(f"{path}: the time does not go on; give a column of times that rise, or of steps")
    return gap


def _columns(path: str | pathlib.Path) -> tuple[NDArray[np.float64], list[str]]:
    """Numbers by (row, column), and the names of the columns where they have any."""
    if pathlib.Path(path).suffix.lower() == ".parquet":
        return _parquet(path)
    table = read_table(path)
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
        columns = [np.ma.filled(np.ma.asarray(column, dtype=np.float64), np.nan) for column in found.values()]
        table = np.column_stack(columns)
    except (duckdb.Error, ValueError, TypeError) as error:
        raise UsageError(f"{path} cannot be read: {str(error).partition(chr(10))[0][:200]}") from None
    return check_finite(path, table), list(found)
