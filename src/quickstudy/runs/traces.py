"""Traces and trained learners in the results folder: small traces inside the record, all else in files of their own.

Inline, an array is a nested list under `arrays`, and `types` says its dtype and shape, so that the very same array
comes back. A trained learner is one npz file; its plain facts are JSON in an array of bytes.
"""

from __future__ import annotations

import json
import pathlib
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import canonical, plain
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.learner import Cost, Snapshot
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.runs.arrays import read_arrays

INLINE_BYTES = 16 * 1024
"""Traces of at most this many bytes stand in the record; every reader of the journal must parse them."""

FACTS = "__facts__"
_UNREADABLE = (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error)


def inline_trace(trace: Trace) -> dict[str, Any] | None:
    """The trace for the record's `trace` field, or None if it is too large or has values that JSON cannot spell."""
    arrays = {name: np.asarray(array) for name, array in trace.arrays.items()}
    if sum(array.nbytes for array in arrays.values()) > INLINE_BYTES:
        return None
    if not all(_spelled_by_json(array.dtype) for array in arrays.values()):
        return None
    return {
        "kind": trace.kind,
        "facts": plain(trace.facts),
        "arrays": {name: array.tolist() for name, array in arrays.items()},
        "types": {name: {"dtype": array.dtype.str, "shape": list(array.shape)} for name, array in arrays.items()},
    }


def load_trace(folder: str | pathlib.Path, record: Record) -> Trace:
    """The trace of a record, wherever it is. Raises QuickstudyError if the record has none or its file is damaged.

    Facts that are not finite numbers come back as the strings "nan", "inf" and "-inf"; arrays come back exactly.
    """
    if not record.trace:
        raise QuickstudyError(f"record {record.key[:12]} has no trace (status {record.status})")
    if "file" in record.trace:
        arrays = _read(pathlib.Path(folder, record.trace["file"]))
    else:
        types = record.trace.get("types", {})
        arrays = {name: _array(value, types.get(name)) for name, value in record.trace["arrays"].items()}
    return Trace(record.trace["kind"], arrays, dict(record.trace["facts"]), Cost(**record.cost))


def snapshot_arrays(snapshot: Snapshot) -> dict[str, NDArray[Any]]:
    """A trained learner as arrays alone."""
    facts = np.frombuffer(canonical(snapshot.facts).encode(), dtype=np.uint8)
    return {**{name: np.asarray(array) for name, array in snapshot.arrays.items()}, FACTS: facts}


def load_snapshot(folder: str | pathlib.Path, record: Record) -> Snapshot:
    """The trained learner that was kept with a record. Raises QuickstudyError if none was, or its file is damaged."""
    if record.saved is None:
        raise QuickstudyError(f"record {record.key[:12]} has no trained learner; run again with learners kept")
    return read_snapshot(pathlib.Path(folder, record.saved))


def read_snapshot(path: pathlib.Path) -> Snapshot:
    """The inverse of `snapshot_arrays`, from a file. Raises QuickstudyError if it is damaged."""
    arrays = _read(path)
    facts = arrays.pop(FACTS, np.frombuffer(b"{}", dtype=np.uint8))
    return Snapshot(arrays, json.loads(facts.tobytes()))


def read_facts(path: pathlib.Path) -> dict[str, Any]:
    """The facts of a snapshot's file alone; none if it cannot be read."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            return dict(json.loads(archive[FACTS].tobytes()))
    except (*_UNREADABLE, KeyError, TypeError):
        return {}


def readable(path: pathlib.Path) -> bool:
    """Whether a file of arrays is whole."""
    try:
        read_arrays(path)
    except _UNREADABLE:
        return False
    return True


def _spelled_by_json(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuU" or (dtype.kind == "f" and dtype.itemsize <= 8)


def _array(value: Any, type_: Mapping[str, Any] | None) -> NDArray[Any]:
    if type_ is None:
        return np.asarray(value)
    return np.array(value, dtype=type_["dtype"]).reshape(type_["shape"])


def _read(path: pathlib.Path) -> dict[str, NDArray[Any]]:
    try:
        return read_arrays(path)
    except _UNREADABLE as error:
        raise QuickstudyError(f"cannot read {path}: {error}; `quickstudy doctor` can set it aside") from error
