"""What kind of machine this is, told without loading anything heavy, and how its processes share
it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import platform
import stat
import sys
import tempfile

from quickstudy.base.errors import UsageError

MEMORY_VARIABLE = "QUICKSTUDY_GPU_MEMORY"
"""The environment variable with the GPU memory that all workers together may take, in GB; default:
all of it.
"""
BESIDE_BYTES = 0.75e9
"""What a process takes of a GPU besides its arrays: its context, its kernels, the libraries'
own.
"""
FRACTIONS = ("XLA_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_MEM_FRACTION")
"""The variables that give JAX its share of the memory: the current name, and the former one."""
SMALL_SHARE_BYTES = 16e9
"""A share up to this is taken at once: grown piece by piece, it ends in pieces none of which holds
a large array.
"""

# Read before quickstudy sets it: the share that this process has taken for itself is not what the
# user wants for workers.
_user_set = any(name in os.environ for name in FRACTIONS)
_NUMERICAL = (
    *(
        f"{library}_NUM_THREADS"
        for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA")
    ),
    "VECLIB_MAXIMUM_THREADS",
)
_COMPILER = ("NPROC", "PJRT_NPROC")
_NETWORK_DISKS = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "glusterfs", "fuse.sshfs")
)
"""Kinds of disks that are those of another machine."""


CROWDED = 16_000
"""Memory maps after which a process makes room for further compiled programs. A compiled shape
takes 200 to 390 maps and 24 MB that are never freed; at Linux's usual limit of 65,530 maps the
process dies. 16,000 are some 40 shapes, about 1.2 GB."""


def is_crowded(process: int) -> bool:
    """Whether a process has so many memory maps that it should be replaced; False where that
    cannot be counted, on other systems than Linux.
    """
    try:
        with open(f"/proc/{process}/maps", "rb") as maps:
            return sum(1 for _ in maps) > CROWDED
    except OSError:
        return False


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that they have; on Linux only."""
    found = []
    with contextlib.suppress(OSError):
        for listed in pathlib.Path(f"/proc/{process}/task").glob("*/children"):
            for child in map(int, listed.read_text().split()):
                found += [child, *descendants(child)]
    return found


def has_gpu() -> bool:
    """Whether there is a GPU that compiled learners will run on."""
    wanted = os.environ.get("JAX_PLATFORMS") or os.environ.get("JAX_PLATFORM_NAME") or "cuda"
    return pathlib.Path("/dev/nvidia0").exists() and any(name in wanted for name in ("cuda", "gpu"))


def gpu_memory(workers: int) -> dict[str, str]:
    """Environment by which JAX keeps to one worker's share of the GPU's memory. What the user has
    set stays.
    """
    if not has_gpu() or _user_set:
        return {}
    total = _gpu_bytes()
    if total is None:
        return {FRACTIONS[0]: f"{0.75 / workers:.4f}"}
    wanted = os.environ.get(MEMORY_VARIABLE, "")
    try:
        allowed = min(float(wanted) * 1e9, total) if wanted else total
    except ValueError:
        raise UsageError(f"{MEMORY_VARIABLE} must be a number of GB, got {wanted!r}") from None
    share = allowed / workers - BESIDE_BYTES
    if share <= 0:
        raise UsageError(
            f"{allowed / 1e9:g} GB of GPU memory are too few for {workers} workers; give --workers"
            " 1, or more memory"
        )
    return {
        FRACTIONS[0]: f"{share / total:.6f}",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "true" if share <= SMALL_SHARE_BYTES else "false",
    }


def _gpu_bytes() -> float | None:
    """The memory of the first GPU, as its driver reports it; None if the driver does not answer."""
    import subprocess

    command = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        printed = subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=True
        ).stdout
        return float(printed.split()[0]) * 2**20
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None


def cache_folder() -> pathlib.Path:
    """The user's cache: what can be made or fetched again."""
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home) / "quickstudy"


def compile_cache(kind: str, *versions: str) -> pathlib.Path:
    """Where compiled programs are kept: apart by the features of the processor and by versions, so
    that machines of several kinds can share a home folder; on a local disk, where the home folder
    is on a network.
    """
    folder = cache_folder()
    if _on_network(folder):
        folder = _local_folder() or folder
    marks = " ".join((_processor_features(), platform.machine(), *versions))
    return folder / kind / hashlib.sha256(marks.encode()).hexdigest()[:16]


def _local_folder() -> pathlib.Path | None:
    """A folder of this user alone on a local disk; None if another user owns it: anybody who can
    write there could choose the code that runs.
    """
    try:
        folder = pathlib.Path(tempfile.gettempdir()) / f"quickstudy-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
    except (OSError, AttributeError):
        return None
    own = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o22
    return folder if own and not _on_network(folder) else None


def _processor_features() -> str:
    """What the first processor can do, as Linux lists it; its name elsewhere."""
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("flags", "Features"):
                return " ".join(sorted(value.split()))
    except (OSError, UnicodeDecodeError):
        pass
    return platform.processor()


def _on_network(folder: pathlib.Path) -> bool:
    """Whether a folder is on a disk of another machine, by the mounts that Linux lists."""
    try:
        mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    except (OSError, UnicodeDecodeError):
        return False
    around = [
        (len(place), kind)
        for _, place, kind, *_ in mounts
        if folder.is_relative_to(place.replace("\\040", " "))
    ]
    return max(around, default=(0, ""))[1] in _NETWORK_DISKS


def cores() -> int:
    """Cores that this process may use: containers and clusters give less than there is."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_thread() -> dict[str, str]:
    """Environment that numerical libraries read when they are first imported.

    With a GPU, JAX keeps its threads: they only compile, which takes a minute on one.
    """
    return dict.fromkeys(_NUMERICAL if has_gpu() else _NUMERICAL + _COMPILER, "1")


def pin_threads() -> bool:
    """Set this process to one thread. False if that comes too late, because NumPy is loaded
    already.
    """
    os.environ.update(one_thread())
    return "numpy" not in sys.modules
