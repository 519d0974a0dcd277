"""Named arrays in one npz file, without pickle: what NumPy's `load` reads, the same bytes for the same arrays."""

from __future__ import annotations

import pathlib
import zipfile
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

_ALWAYS = (1980, 1, 1, 0, 0, 0)  # the earliest date of a zip file: when it was written must not change its bytes


def write_arrays(file: BinaryIO, arrays: Mapping[str, NDArray[Any]], packed: bool = True) -> None:
    """Write the arrays. An array of Python objects raises ValueError: it could only be pickled.

    packed: smaller, at 20 MB a second; what is soon written again is not worth it.
    """
    method = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _ALWAYS)
            entry.compress_type = method
            with archive.open(entry, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def read_arrays(path: pathlib.Path) -> dict[str, NDArray[Any]]:
    """All arrays of a file by name."""
    # Opened here: NumPy leaves a file open that is no archive.
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}
