"""Traces and trained learners in the results folder: small traces inside the record, all else in files of their own.

Inline, an array is a nested list under `arrays`, and `types` says its dtype and shape, so that the very same array
comes back. A trained learner is one npz file; its plain facts are JSON in an array of bytes.
"""

from __future__ import annotations

import json
import math
import pathlib
from collections.abc import Mapping
from dataclasses import fields
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
MOST_INLINE = 64 * INLINE_BYTES
"""What is accepted of a record from elsewhere: a type of ten letters can ask for a gigabyte a number."""

FACTS = "__facts__"
_COSTS = tuple(field.name for field in fields(Cost))


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
        arrays = _read(folder, record, record.trace["file"])
    else:
        types = record.trace.get("types", {})
        try:
            arrays = {name: _array(value, types.get(name)) for name, value in record.trace["arrays"].items()}
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            reason = str(error).partition("\n")[0][:200]
            raise QuickstudyError(f"the trace of record {record.key[:12]} cannot be read: {reason}") from error
    cost = {name: record.cost[name] for name in _COSTS if name in record.cost}  # without what a later version has added
    return Trace(record.trace["kind"], arrays, dict(record.trace.get("facts", {})), Cost(**cost))


def snapshot_arrays(snapshot: Snapshot) -> dict[str, NDArray[Any]]:
    """A trained learner as arrays alone."""
    facts = np.frombuffer(canonical(snapshot.facts).encode(), dtype=np.uint8)
    return {**{name: np.asarray(array) for name, array in snapshot.arrays.items()}, FACTS: facts}


def load_snapshot(folder: str | pathlib.Path, record: Record) -> Snapshot:
    """The trained learner that was kept with a record. Raises QuickstudyError if none was, or its file is damaged."""
    if record.saved is None:
        raise QuickstudyError(f"record {record.key[:12]} has no trained learner; run again with learners kept")
    return _snapshot(_read(folder, record, record.saved), record.saved)


def read_snapshot(path: pathlib.Path) -> Snapshot:
    """The inverse of `snapshot_arrays`, from a file. Raises QuickstudyError if it is damaged."""
    return _snapshot(read_arrays(path), path)


def _spelled_by_json(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "biuU" or (dtype.kind == "f" and dtype.itemsize <= 8)


def _array(value: Any, type_: Mapping[str, Any] | None) -> NDArray[Any]:
    if type_ is None:
        array = np.asarray(value)
        if not _spelled_by_json(array.dtype):
            raise ValueError("one of its arrays is not of numbers or words")
        return array
    dtype, shape = np.dtype(type_["dtype"]), tuple(type_["shape"])
    if not _spelled_by_json(dtype) or math.prod(shape) * dtype.itemsize > MOST_INLINE:
        raise ValueError(f"{type_['dtype']} by {list(shape)} is no array that stands in a record")
    if math.prod(shape) != _length(value):
        raise ValueError(f"{_length(value)} numbers are not {list(shape)}")
    return np.array(value, dtype=dtype).reshape(shape)


def _length(value: Any) -> int:
    """How many numbers nested lists hold, if they are all as long as the first; else NumPy refuses them."""
    count = 1
    while isinstance(value, list):
        count *= len(value)
        value = value[0] if value else None
    return count


def _read(folder: str | pathlib.Path, record: Record, name: str) -> dict[str, NDArray[Any]]:
    return read_arrays(pathlib.Path(folder, name), record.files.get(name))


def _snapshot(arrays: dict[str, NDArray[Any]], path: str | pathlib.Path) -> Snapshot:
    facts = arrays.pop(FACTS, np.frombuffer(b"{}", dtype=np.uint8))
    try:
        return Snapshot(arrays, dict(json.loads(facts.tobytes())))
    except (ValueError, TypeError, RecursionError) as error:
        raise QuickstudyError(f"cannot read {path}: its facts are damaged") from error
