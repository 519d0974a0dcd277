"""What runs rest on besides their identity: the machine, what is installed, and the code of users'
own components.

Of a run it goes into `where` of its record: it records how a number was made, and is not part of
the identity of a run.
"""

from __future__ import annotations

import collections
import functools
import importlib.metadata
import os
import pathlib
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quickstudy import __version__
from quickstudy.base.code_identity import Origin, add_source, content_version, is_ours
from quickstudy.base.fingerprint import fingerprint
from quickstudy.base.hardware import cores
from quickstudy.runs.folder import SOURCES, write_aside

if TYPE_CHECKING:
    from quickstudy.base.record import Record
    from quickstudy.runs.journal import Journal

_LIBRARIES = ("numpy", "scipy", "jax", "equinox", "optax", "numba")
_REQUIREMENT = re.compile(
    r"""(?P<name>[A-Za-z0-9_.-]+)[^;]*(?:;.*extra\s*==\s*["'](?P<extra>[^"']+)["'])?"""
)
_NOT_FOR_USERS = ("all", "dev")
_PLUGINS = ("jax-cuda12-plugin", "jax-cuda13-plugin", "jax-rocm7-plugin")


def versions(origins: Iterable[Origin] = ()) -> dict[str, str]:
    """Versions of Python, of the package, of libraries that it has loaded, and of those that users'
    code imports.
    """
    found = {"quickstudy": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        if (module := sys.modules.get(library)) is not None:
            found[library] = str(getattr(module, "__version__", "unknown"))
    for library in sorted({name for origin in origins for name in origin.libraries} - found.keys()):
        found[library] = _version(library)
    return found


@functools.cache
def _version(library: str) -> str:
    """Of a library by the name it is imported by, which need not be that of its distribution."""
    found = _installed_version(library)
    distributions = [] if found else importlib.metadata.packages_distributions().get(library, [])
    return found or (importlib.metadata.version(distributions[0]) if distributions else "unknown")


@functools.cache
def machine() -> dict[str, str]:
    """The machine: its name, its system, the kind of its processor and, if known, the model."""
    found = {
        "host": platform.node(),
        "system": platform.platform(),
        "processor": platform.machine(),
    }
    model = _model()
    return {**found, "model": model} if model else found


def _model() -> str:
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    except (OSError, UnicodeDecodeError):
        pass
    return platform.processor()


def code(origins: Sequence[Origin], journal: Journal | None) -> dict[str, Any]:
    """Of users' own code: `sources`, the file in the results folder for every text by name, each
    kept there once; and `repository`, the commit that the files belong to, and whether they differ
    from it. Nothing where there is none.
    """
    found: dict[str, Any] = {}
    if journal is not None and origins:
        texts: dict[str, bytes] = {}
        for name, text in (item for origin in origins for item in origin.sources.items()):
            add_source(texts, name, text)
        found["sources"] = {name: _keep(text, journal) for name, text in texts.items()}
    repository = _repository(tuple(file for origin in origins for file in origin.files))
    return {**found, "repository": repository} if repository else found


def cache_counts() -> dict[str, int]:
    """How many compiled programs this process has found on disk, and how many it has put there;
    nothing as long as it has compiled nothing.
    """
    gateway = sys.modules.get("quickstudy.jax_gateway")
    return gateway.cache_counts() if gateway is not None else {}


def compiled_since(before: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """The same since then, as a part of a record: `programs`; nothing where there is none."""
    found = {name: count - before.get(name, 0) for name, count in cache_counts().items()}
    return {"programs": found} if any(found.values()) else {}


def compiled_on(records: Iterable[Record]) -> dict[str, dict[str, int]]:
    """The sums over the calls of a folder, by machine. The runs of a call have the same numbers,
    and count once.
    """
    calls: dict[tuple[str, Any], Mapping[str, int]] = {}
    for record in records:
        programs = record.where.get("programs")
        host = record.where.get("machine", {}).get("host", "unknown")
        if isinstance(programs, Mapping):
            calls[str(host), record.where.get("started")] = programs
    found: dict[str, dict[str, int]] = {}
    for (host, _), programs in calls.items():
        sums = found.setdefault(host, {"hits": 0, "misses": 0})
        for name in sums:
            sums[name] += int(programs.get(name, 0))
    return found


def fingerprints(components: Mapping[str, Any], measures: Iterable[Any]) -> dict[str, str]:
    """The code of built-in components by `kind id`, and of the measures that are applied: which a
    declared version should represent (`quickstudy.base.fingerprint`).
    """
    own = {f"measure {measure.id}": measure for measure in measures if is_ours(measure)}
    return {name: fingerprint(one.__module__) for name, one in {**components, **own}.items()}


def _keep(text: bytes, journal: Journal) -> str:
    name = f"{SOURCES}/{content_version(text)}.py"
    if not (journal.folder / name).exists():
        write_aside(journal.folder / name, journal.writer, lambda file: file.write(text))
    return name


@functools.cache
def _repository(files: tuple[str, ...]) -> dict[str, Any]:
    """The commit of the first file's repository, asked of git once a process; nothing without git
    or a repository.
    """
    if not files:
        return {}
    said = (_git(files[0], "rev-parse", "--show-toplevel", "HEAD") or "").split("\n")
    if len(said) < 2:
        return {}
    inside = [file for file in files if pathlib.Path(file).is_relative_to(said[0])]
    changed = _git(files[0], "status", "--porcelain", "--", *inside)
    return {"commit": said[1], "changed": changed != ""}


def _git(file: str, *arguments: str) -> str | None:
    command = ["git", "-C", str(pathlib.Path(file).parent), *arguments]
    try:
        return subprocess.run(
            command, capture_output=True, text=True, timeout=20, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None


@dataclass(frozen=True)
class Library:
    """A library that quickstudy can use. extra: which extra brings it, empty for the plain install;
    version: None if it is not installed.
    """

    name: str
    extra: str
    version: str | None


@dataclass(frozen=True)
class Installation:
    """Versions and machine. graphics: names of the NVIDIA GPUs the driver announces; plugins: JAX's
    device plugins.
    """

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
                f"not installed: {', '.join(names)}; type: pip install"
                f" 'quickstudy{f'[{extra}]' if extra else ''}'"
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
        cores=cores(),
        memory_gib=_memory_gib(),
        graphics=_graphics(pathlib.Path("/proc/driver/nvidia/gpus")),
        plugins=tuple(name for name in _PLUGINS if _installed_version(name)),
        libraries=tuple(_libraries(_requirements())),
    )


def _requirements() -> list[str]:
    try:
        return importlib.metadata.requires("quickstudy") or []
    except importlib.metadata.PackageNotFoundError:  # run from source, nothing is declared
        return []


def _libraries(requirements: list[str]) -> list[Library]:
    """Every library once. Where several extras bring one, the extra that brings the fewest others
    is named: JAX is asked for by `learners`, not by an adapter that needs the learners too.
    """
    matches = [match for match in map(_REQUIREMENT.match, requirements) if match]
    sizes = collections.Counter(match["extra"] for match in matches if match["extra"])
    extra_of: dict[str, str] = {}
    for match in matches:
        name, extra = match["name"], match["extra"] or ""
        if extra not in _NOT_FOR_USERS:
            extra_of[name] = min(extra_of.get(name, extra), extra, key=lambda each: sizes[each])
    return [Library(name, extra, _installed_version(name)) for name, extra in extra_of.items()]


def _installed_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


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
        line.partition(":")[2].strip()
        for text in texts
        for line in text.splitlines()
        if line.startswith("Model")
    )
