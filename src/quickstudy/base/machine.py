"""What kind of machine this is, told without loading anything heavy."""

from __future__ import annotations

import os
import pathlib


def has_gpu() -> bool:
    """Whether there is a GPU that compiled learners will run on."""
    wanted = os.environ.get("JAX_PLATFORMS") or os.environ.get("JAX_PLATFORM_NAME") or "cuda"
    return pathlib.Path("/dev/nvidia0").exists() and any(name in wanted for name in ("cuda", "gpu"))


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
