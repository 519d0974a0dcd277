"""One thread per process: workers do not fight for cores, and no sum depends on how many cores there are."""

from __future__ import annotations

import os
import sys

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "NPROC",
        "PJRT_NPROC",
    ),
    "1",
)
"""Environment that numerical libraries read when they are first imported."""


def pin_threads() -> bool:
    """Set this process to one thread. False if that comes too late, because NumPy is loaded already."""
    os.environ.update(ONE_THREAD)
    return "numpy" not in sys.modules
