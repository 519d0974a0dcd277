"""Traces and trained learners in the results folder: small traces inside the record, all else in
files of their own.

Inline, an array is a nested list under `arrays`, and `types` has its dtype and shape, so that the
array is restored exactly. A trained learner is one npz file; its plain facts are JSON in an array
of bytes. An npz file is written without pickle, the same bytes for the same arrays, and read with
more care than NumPy takes: sizes are compared before memory is asked for, and every member is read
to its end, where its checksum is looked at.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import pathlib
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import canonical, plain
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.learner import Cost, Snapshot
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.runs.folder import open_ordinary

INLINE_BYTES = 16 * 1024
"""Traces of at most this many bytes are in the record itself, where every reader of the journal
must parse them.
"""
MOST_INLINE = 64 * INLINE_BYTES
"""The types accepted in records from elsewhere: a type of ten letters can ask for a gigabyte a
number.
"""

FACTS = "__facts__"
_COSTS = tuple(field.name for field in fields(Cost))
MOST_BYTES = 2**31
"""Of the arrays in one file that is smaller than they are: 12 MB of a file can be 12 GB of
zeros.
"""
_ALWAYS = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # the earliest date of a zip file: when it was written must not change its bytes
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def inline_trace(trace: Trace) -> dict[str, Any] | None:
    """The trace for the record's `trace` field, or None if it is too large or has values that JSON
    cannot spell.
    """
    arrays = {name: np.asarray(array) for name, array in trace.arrays.items()}
    if sum(array.nbytes for array in arrays.values()) > INLINE_BYTES:
        return None
    if not all(_spelled_by_json(array.dtype) for array in arrays.values()):
        return None
    return {
        "kind": trace.kind,
        "facts": plain(trace.facts),
        "arrays": {name: array.tolist() for name, array in arrays.items()},
        "types": {
            name: {"dtype": array.dtype.str, "shape": list(array.shape)}
            for name, array in arrays.items()
        },
    }


def load_trace(folder: str | pathlib.Path, record: Record) -> Trace:
    """The trace of a record, wherever it is. Raises QuickstudyError if the record has none or its
    file is damaged.

    Facts that are not finite numbers come back as the strings "nan", "inf" and "-inf"; arrays come
    back exactly.
    """
    if not record.trace:
        raise QuickstudyError(f"record {record.key[:12]} has no trace (status {record.status})")
    if "file" in record.trace:
        arrays = _read(folder, record, record.trace["file"])
    else:
        types = record.trace.get("types", {})
        try:
            arrays = {
                name: _array(value, types.get(name))
                for name, value in record.trace["arrays"].items()
            }
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            OverflowError,
            RecursionError,
        ) as error:
            reason = str(error).partition("\n")[0][:200]
            raise QuickstudyError(
                f"the trace of record {record.key[:12]} cannot be read: {reason}"
            ) from error
    cost = {
        name: record.cost[name] for name in _COSTS if name in record.cost
    }  # without what a later version has added
    return Trace(record.trace["kind"], arrays, dict(record.trace.get("facts", {})), Cost(**cost))


def snapshot_arrays(snapshot: Snapshot) -> dict[str, NDArray[Any]]:
    """A trained learner as arrays alone."""
    facts = np.frombuffer(canonical(snapshot.facts).encode(), dtype=np.uint8)
    return {**{name: np.asarray(array) for name, array in snapshot.arrays.items()}, FACTS: facts}


def load_snapshot(folder: str | pathlib.Path, record: Record) -> Snapshot:
    """The trained learner that was kept with a record. Raises QuickstudyError if none was, or its
    file is damaged.
    """
    if record.saved is None:
        raise QuickstudyError(
            f"record {record.key[:12]} has no trained learner; run again with learners kept"
        )
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
        raise ValueError(f"{type_['dtype']} by {list(shape)} is not an array stored in a record")
    if math.prod(shape) != _length(value):
        raise ValueError(f"{_length(value)} numbers are not {list(shape)}")
    return np.array(value, dtype=dtype).reshape(shape)


def _length(value: Any) -> int:
    """How many numbers nested lists hold, if they are all as long as the first; else NumPy refuses
    them.
    """
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


def write_arrays(file: BinaryIO, arrays: Mapping[str, NDArray[Any]], packed: bool = True) -> None:
    """Write the arrays. An array of Python objects raises ValueError: it could only be pickled.

    packed: smaller, at 20 MB a second; a file that is soon rewritten is not worth it. Arrays larger
    than a reader accepts packed are never packed.
    """
    fits = sum(np.asanyarray(array).nbytes for array in arrays.values()) <= MOST_BYTES
    method = zipfile.ZIP_DEFLATED if packed and fits else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _ALWAYS)
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_arrays(path: pathlib.Path, sha256: str | None = None) -> dict[str, NDArray[Any]]:
    """All arrays of a file by name. Raises QuickstudyError, with the reason, for a file that is not
    whole.

    sha256: the checksum that the file must have; None if it is unknown.
    """
    try:
        with open_ordinary(path) as file:
            if sha256 is not None and hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise ValueError("its checksum is not the one that was written down")
            return _read_archive(file)
    # Damaged bytes reach deep into zipfile and NumPy, and come back as errors of any kind.
    except (Exception, MemoryError) as error:
        reason = (str(error) or type(error).__name__).partition("\n")[0][:200]
        raise QuickstudyError(
            f"cannot read {path}: {reason}; `quickstudy doctor` can set it aside"
        ) from error


def checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 over names, types, shapes and numbers."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(repr((name, array.dtype.str, np.shape(arrays[name]))).encode())
        if array.nbytes:
            found.update(array.reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def _read_archive(file: BinaryIO) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > max(
            MOST_BYTES, os.fstat(file.fileno()).st_size
        ):
            raise ValueError(f"its arrays are larger than {MOST_BYTES:,} bytes and than the file")
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names) or len(names) != _count(file, len(names)):
            raise ValueError("its list of arrays is damaged")
        return {name: _member(archive, member) for name, member in zip(names, members, strict=True)}


def _count(file: BinaryIO, otherwise: int) -> int:
    """The number of arrays by the end record of the file; the zip library reads only its list, and
    a damaged entry can hide the next.
    """
    file.seek(-22, os.SEEK_END)
    end = file.read()
    said = int.from_bytes(end[10:12], "little")
    return said if end.startswith(b"PK\5\6") and said < 0xFFFF else otherwise


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    with archive.open(member) as content:
        version = np.lib.format.read_magic(content)
        if version not in _HEADERS:
            raise ValueError(f"{member.filename} is of an unknown version")
        shape, _, dtype = _HEADERS[version](content)
        if dtype.hasobject:
            raise ValueError(f"{member.filename} holds Python objects")
        if math.prod(shape) * max(dtype.itemsize, 1) != member.file_size - content.tell():
            raise ValueError(f"{member.filename} is shorter or longer than its shape requires")
    with archive.open(member) as content:
        array = np.lib.format.read_array(content, allow_pickle=False)
        if content.read(
            1
        ):  # the checksum of a member is looked at when it has been read to its end
            raise ValueError(f"{member.filename} is longer than its shape requires")
    return np.asarray(array)
