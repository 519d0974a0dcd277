"""Named arrays in one npz file, without pickle: what NumPy's `load` reads, the same bytes for the same arrays.

They are read with more care than NumPy takes: sizes are compared before memory is asked for, and every member is read
to its end, where its checksum is looked at. A file from elsewhere can hold anything.
"""

from __future__ import annotations

import hashlib
import math
import os
import pathlib
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import QuickstudyError

MOST_BYTES = 2**31
"""Of the arrays in one file that is smaller than they are: 12 MB of a file can be 12 GB of zeros."""

_ALWAYS = (1980, 1, 1, 0, 0, 0)  # the earliest date of a zip file: when it was written must not change its bytes
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def write_arrays(file: BinaryIO, arrays: Mapping[str, NDArray[Any]], packed: bool = True) -> None:
    """Write the arrays. An array of Python objects raises ValueError: it could only be pickled.

    packed: smaller, at 20 MB a second; what is soon written again is not worth it. What is larger than a reader accepts
    packed is never packed.
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
    """All arrays of a file by name. Raises QuickstudyError, with the reason, for a file that is not whole.

    sha256: what the file's checksum must be; None where nobody has said it.
    """
    try:
        with open(path, "rb") as file:
            if sha256 is not None and hashlib.file_digest(file, "sha256").hexdigest() != sha256:
                raise ValueError("its checksum is not the one that was written down")
            return _read(file)
    # Damaged bytes reach deep into zipfile and NumPy, and come back as errors of any kind.
    except (Exception, MemoryError) as error:
        reason = (str(error) or type(error).__name__).partition("\n")[0][:200]
        raise QuickstudyError(f"cannot read {path}: {reason}; `quickstudy doctor` can set it aside") from error


def checksum(arrays: Mapping[str, NDArray[Any]]) -> str:
    """SHA-256 over names, types, shapes and numbers."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(repr((name, array.dtype.str, np.shape(arrays[name]))).encode())
        if array.nbytes:
            found.update(array.reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def _read(file: BinaryIO) -> dict[str, NDArray[Any]]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > max(MOST_BYTES, os.fstat(file.fileno()).st_size):
            raise ValueError(f"its arrays are larger than {MOST_BYTES:,} bytes and than the file")
        names = [member.filename.removesuffix(".npy") for member in members]
        if len(set(names)) < len(names) or len(names) != _count(file, len(names)):
            raise ValueError("its list of arrays is damaged")
        return {name: _member(archive, member) for name, member in zip(names, members, strict=True)}


def _count(file: BinaryIO, otherwise: int) -> int:
    """How many arrays the end of the file says that there are; the zip library goes by its list alone, and a damaged
    entry can swallow the next.
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
            raise ValueError(f"{member.filename} is not as long as its shape says")
    with archive.open(member) as content:
        array = np.lib.format.read_array(content, allow_pickle=False)
        if content.read(1):  # the checksum of a member is looked at when it has been read to its end
            raise ValueError(f"{member.filename} is longer than its shape says")
    return np.asarray(array)
