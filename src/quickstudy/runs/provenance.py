"""What a run rests on besides its identity: versions of libraries, the machine, and the code of users' own components.

Everything here goes into `where` of a record: it says how a number came about, and is no part of what was run.
"""

from __future__ import annotations

import functools
import importlib.metadata
import pathlib
import platform
import subprocess
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from quickstudy import __version__
from quickstudy.base.origin import Origin, add_source, content_version
from quickstudy.runs.folder import SOURCES, write_aside

if TYPE_CHECKING:
    from quickstudy.runs.journal import Journal

_ALWAYS = ("numpy", "scipy", "jax", "equinox", "optax", "numba")


def versions(origins: Iterable[Origin] = ()) -> dict[str, str]:
    """Versions of Python, of the package, of libraries that it has loaded, and of those that users' code imports."""
    found = {"quickstudy": __version__, "python": platform.python_version()}
    for library in _ALWAYS:
        if (module := sys.modules.get(library)) is not None:
            found[library] = str(getattr(module, "__version__", "unknown"))
    for library in sorted({name for origin in origins for name in origin.libraries} - found.keys()):
        found[library] = _version(library)
    return found


@functools.cache
def _version(library: str) -> str:
    """Of a library by the name it is imported by, which need not be that of its distribution."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        distributions = importlib.metadata.packages_distributions().get(library, [])
    return importlib.metadata.version(distributions[0]) if distributions else "unknown"


@functools.cache
def machine() -> dict[str, str]:
    """The machine: its name, its system, the kind of its processor and, where that can be told, the model."""
    found = {"host": platform.node(), "system": platform.platform(), "processor": platform.machine()}
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
    """Of users' own code: `sources`, the file in the results folder for every text by name, each kept there once; and
    `repository`, the commit that the files belong to, and whether they differ from it. Nothing where there is none.
    """
    found: dict[str, Any] = {}
    if journal is not None and origins:
        texts: dict[str, bytes] = {}
        for name, text in (item for origin in origins for item in origin.sources.items()):
            add_source(texts, name, text)
        found["sources"] = {name: _keep(text, journal) for name, text in texts.items()}
    repository = _repository(tuple(file for origin in origins for file in origin.files))
    return {**found, "repository": repository} if repository else found


def _keep(text: bytes, journal: Journal) -> str:
    name = f"{SOURCES}/{content_version(text)}.py"
    if not (journal.folder / name).exists():
        write_aside(journal.folder / name, journal.writer, lambda file: file.write(text))
    return name


@functools.cache
def _repository(files: tuple[str, ...]) -> dict[str, Any]:
    """The commit of the first file's repository, asked of git once a process; nothing without git or a repository."""
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
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None
