"""What is installed and on what machine, found out without importing anything of it."""

from __future__ import annotations

import importlib.metadata
import os
import pathlib
import platform
import re
from dataclasses import dataclass

from quickstudy import __version__

_REQUIREMENT = re.compile(r"""(?P<name>[A-Za-z0-9_.-]+)[^;]*(?:;.*extra\s*==\s*["'](?P<extra>[^"']+)["'])?""")
_NOT_FOR_USERS = ("all", "dev")
_ACCELERATED = ("jax-cuda12-plugin", "jax-cuda13-plugin", "jax-rocm7-plugin")


@dataclass(frozen=True)
class Library:
    """A library that quickstudy can use. extra: which extra brings it, empty for the plain install; version: None if
    it is not installed.
    """

    name: str
    extra: str
    version: str | None


@dataclass(frozen=True)
class Installation:
    """Versions and machine. graphics: names of the NVIDIA GPUs the driver announces; plugins: JAX's device plugins."""

    quickstudy: str
    python: str
    system: str
    cores: int
    memory_gib: float | None
    graphics: tuple[str, ...]
    plugins: tuple[str, ...]
    libraries: tuple[Library, ...]

    def lines(self) -> list[str]:
        """The same for people, and what to type for what is missing."""
        memory = f", {self.memory_gib} GiB" if self.memory_gib else ""
        graphics = ", ".join(self.graphics) or "no GPU"
        found = ", ".join(f"{lib.name} {lib.version}" for lib in self.libraries if lib.version)
        return [
            f"quickstudy {self.quickstudy}, Python {self.python}, {self.system}",
            f"{self.cores} cores{memory}; {graphics}",
            f"installed: {found or 'nothing is declared (run from source)'}",
            *(
                f"not installed: {', '.join(names)}; type: pip install 'quickstudy{f'[{extra}]' if extra else ''}'"
                for extra, names in self.missing().items()
            ),
        ]

    def missing(self) -> dict[str, list[str]]:
        """Libraries that are not installed, by extra."""
        found: dict[str, list[str]] = {}
        for library in self.libraries:
            if library.version is None:
                found.setdefault(library.extra, []).append(library.name)
        return found


def examine_installation() -> Installation:
    """The facts that explain most troubles with an installation."""
    return Installation(
        quickstudy=__version__,
        python=platform.python_version(),
        system=platform.platform(),
        cores=_cores(),
        memory_gib=_memory_gib(),
        graphics=_graphics(pathlib.Path("/proc/driver/nvidia/gpus")),
        plugins=tuple(name for name in _ACCELERATED if _version(name)),
        libraries=tuple(_libraries(_requirements())),
    )


def _requirements() -> list[str]:
    try:
        return importlib.metadata.requires("quickstudy") or []
    except importlib.metadata.PackageNotFoundError:  # run from source, nothing is declared
        return []


def _libraries(requirements: list[str]) -> list[Library]:
    libraries = []
    for text in requirements:
        match = _REQUIREMENT.match(text)
        if match and match["extra"] not in _NOT_FOR_USERS:
            libraries.append(Library(match["name"], match["extra"] or "", _version(match["name"])))
    return libraries


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cores() -> int:
    # What this process may use, where the system says so: containers and clusters give less than there is.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None


def _graphics(folder: pathlib.Path) -> tuple[str, ...]:
    try:
        texts = [path.read_text() for path in sorted(folder.glob("*/information"))]
    except OSError:
        return ()
    return tuple(
        line.partition(":")[2].strip() for text in texts for line in text.splitlines() if line.startswith("Model")
    )
