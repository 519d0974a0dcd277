"""The identity of a user's code: a changed file or class is another component, and its old results
are not mixed with new ones.

A component out of a file is known by the texts of the file and of all files that it imports,
directly or through others, apart from installed libraries. Data that code reads from a disk do not
count, nor modules that are imported by a name made up at run time.

A class of a script or notebook is known by its source and by what it uses
(`quickstudy.base.script_identity`).
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import pathlib
import sys
import sysconfig
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from quickstudy.base.user_imports import content_of, forget_changed, installed, local_files

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = ("purelib", "platlib", "stdlib", "platstdlib")
_DIGITS = 12
looks: list[Any] = [f"{os.getpid()} {time.time_ns()}", 0]
"""This process, and how often it has looked again."""


@dataclass(frozen=True)
class Origin:
    """The code of a user's component.

    version: its identity.
    sources: the texts it is made of, by name.
    libraries: the installed ones that it imports, by the names they are imported by.
    files: the paths of the texts that are files.
    """

    version: str
    sources: Mapping[str, bytes] = field(default_factory=dict)
    libraries: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()


def code_of(*components: Any) -> dict[str, str]:
    """`{"code": ...}` for components that do not come with the package, else nothing: a part of
    their identity, since a declared version is easily forgotten in a file that is being written.
    """
    versions = [origin_of(component).version for component in components if not is_ours(component)]
    return {"code": ".".join(dict.fromkeys(versions))} if versions else {}


def origin_of(component: Any) -> Origin:
    """The origin of a user's class or function."""
    file = getattr(sys.modules.get(component.__module__), "__file__", None)
    in_script = file is None or component.__module__ == "__main__"
    return _script_origin(component) if in_script else file_origin(str(file))


def is_ours(kind: Any) -> bool:
    """Whether a class or function is part of this package."""
    return str(kind.__module__).partition(".")[0] == "quickstudy"


def look_again() -> None:
    """Read users' code again where it may have changed since: at the beginning of a run."""
    forget_changed()
    looks[1] += 1
    file_origin.cache_clear()
    _script_origin.cache_clear()


@cache
def file_origin(path: str) -> Origin:
    """The origin of what a file defines. Alone, its version is that of its text."""
    file = pathlib.Path(path)
    found, libraries, queue = {file: file.name}, set(), [(file, file.parent)]
    while queue:
        importer, folder = queue.pop()
        for name, place, home in _imported(importer, folder):
            if home is None:
                libraries.add(name)
            elif place not in found:
                found[place] = _name_from(place, file.parent, home)
                queue.append((place, home))
    contents = {place: content_of(str(place)) for place in found}
    versions = sorted((name, content_version(contents[place])) for place, name in found.items())
    version = versions[0][1] if len(found) == 1 else content_version(json.dumps(versions).encode())
    sources: dict[str, bytes] = {}
    for place, name in found.items():
        add_source(sources, name, contents[place])
    return Origin(version, sources, frozenset(libraries), tuple(map(str, found)))


@cache
def _script_origin(kind: Any) -> Origin:
    from quickstudy.base.script_identity import object_origin

    return object_origin(kind)  # once a run: what it uses may change while it learns


def add_source(sources: dict[str, bytes], name: str, text: bytes) -> None:
    """Keep a text by its name; a second text of the same name is kept with its version."""
    taken = sources.get(name, text) != text
    sources[f"{content_version(text)}/{name}" if taken else name] = text


def content_version(content: bytes) -> str:
    """The beginning of the SHA-256 of a content: enough to distinguish any two."""
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def imported_names(node: ast.AST) -> list[tuple[int, str]]:
    """What a piece of program text imports: how many folders up it is looked for (0: by its
    absolute name), and the name; also by `importlib.import_module("net")`.
    """
    match node:
        case ast.Import(names):
            return [(0, alias.name) for alias in names]
        case ast.ImportFrom(module, names, level):
            return [(level or 0, f"{module or ''}.{alias.name}".strip(".")) for alias in names]
        case ast.Call(
            ast.Attribute(attr="import_module") | ast.Name("import_module" | "__import__"),
            [ast.Constant(str(name)), *_],
        ) if name.strip("."):
            return [(len(name) - len(name.lstrip(".")), name.lstrip("."))]
    return []


def in_package(filename: str) -> bool:
    """Whether a file is one of this package."""
    return pathlib.Path(filename).is_relative_to(PACKAGE)


def in_library(filename: str) -> bool:
    """Whether a file is one of the standard library or of an installed one."""
    if not filename.endswith(".py"):  # compiled, or typed at a prompt: "<stdin>"
        return not filename.startswith("<") or filename.startswith(("<frozen", "<string>"))
    path, places = pathlib.Path(filename), sysconfig.get_paths()
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or any(
        path.is_relative_to(places[name]) for name in LIBRARIES
    )


def _imported(
    file: pathlib.Path, folder: pathlib.Path
) -> Iterator[tuple[str, pathlib.Path, pathlib.Path | None]]:
    """What the text of a file imports: (name, file, the folder it is found from) of a user's
    module, (name, file, None) of a library. folder: where the file looks for its neighbours.
    """
    try:
        nodes = list(ast.walk(ast.parse(content_of(str(file)))))
    except (SyntaxError, ValueError):  # reported when it is imported
        return
    for level, name in (found for node in nodes for found in imported_names(node)):
        home, top = folder, name.partition(".")[0]
        found = local_files(file.parents[level - 1] if level else folder, name, level > 0)
        spec = None if found or level or top in _KNOWN else installed(top)
        if spec is not None:
            inner = list(spec.submodule_search_locations or ())
            place = pathlib.Path(spec.origin or (inner[0] if inner else ""))
            if in_library(spec.origin or f"{place}/__init__.py"):
                yield top, place, None
                continue
            home = place.parents[place.name == "__init__.py"]
            found = local_files(home, name, relative=True)
        yield from ((name, place, home) for place in found if place.is_file())


_KNOWN = sys.stdlib_module_names | {"quickstudy"}


def _name_from(place: pathlib.Path, home: pathlib.Path, folder: pathlib.Path) -> str:
    """A file from the learner's folder on, or else from the one that it is found from: no machine's
    paths.
    """
    top = next((top for top in (home, folder) if place.is_relative_to(top)), None)
    return pathlib.Path(
        os.path.relpath(place, home) if top is None else place.relative_to(top)
    ).as_posix()
