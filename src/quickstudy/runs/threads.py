"""One thread per process: workers do not fight for cores, and no sum depends on how many cores there are."""

from __future__ import annotations

import os
import sys

from quickstudy.base.machine import has_gpu

_NUMERICAL = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_COMPILER = ("NPROC", "PJRT_NPROC")


def one_thread() -> dict[str, str]:
    """Environment that numerical libraries read when they are first imported.

    With a GPU, JAX keeps its threads: they only compile, which takes a minute on one.
    """
    return dict.fromkeys(_NUMERICAL if has_gpu() else _NUMERICAL + _COMPILER, "1")


def pin_threads() -> bool:
    """Set this process to one thread. False if that comes too late, because NumPy is loaded already."""
    os.environ.update(one_thread())
    return "numpy" not in sys.modules
