"""The identity of a user's file: that of its text and of all files it imports that are no installed
library.

Data that code reads from a disk are no part of it, nor modules that are imported by a name made up
at run time.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import os
import pathlib
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from quickstudy.base.beside import content_of, find_beside

PACKAGE = pathlib.Path(__file__).resolve().parent.parent
_DIGITS = 12
LIBRARIES = ("purelib", "platlib", "stdlib", "platstdlib")


@dataclass(frozen=True)
class Origin:
    """The code of a user's component. version: its identity. sources: the texts it is made of, by
    name. libraries: the installed ones that it imports, by the names they are imported by. files:
    where the texts lie, if in files.
    """

    version: str
    sources: Mapping[str, bytes] = field(default_factory=dict)
    libraries: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()


def file_version(path: str) -> str:
    """The beginning of the SHA-256 of a file, as it was when it was imported."""
    return content_version(content_of(path))


@cache
def file_origin(path: str) -> Origin:
    """The origin of what a file defines: the file and, through all of them, what it imports from no
    library.

    Alone, its version is `file_version`.
    """
    file = pathlib.Path(path)
    found, libraries, queue = {file: file.name}, set(), [(file, file.parent)]
    while queue:
        importer, root = queue.pop()
        for name, place, folder in _imported(importer, root):
            if folder is None:
                libraries.add(name)
            elif place not in found:
                found[place] = _name_from(place, file.parent, folder)
                queue.append((place, folder))
    contents = {place: content_of(str(place)) for place in found}
    versions = sorted((name, content_version(contents[place])) for place, name in found.items())
    version = (
        file_version(path) if len(found) == 1 else content_version(json.dumps(versions).encode())
    )
    sources: dict[str, bytes] = {}
    for place, name in found.items():
        add_source(sources, name, contents[place])
    return Origin(version, sources, frozenset(libraries), tuple(map(str, found)))


def _name_from(place: pathlib.Path, home: pathlib.Path, folder: pathlib.Path) -> str:
    """A file from the learner's folder on, or else from the one that it is found from: no machine's
    paths.
    """
    top = next((top for top in (home, folder) if place.is_relative_to(top)), None)
    return pathlib.Path(
        os.path.relpath(place, home) if top is None else place.relative_to(top)
    ).as_posix()


def add_source(sources: dict[str, bytes], name: str, text: bytes) -> None:
    """Keep a text by its name; another text of a name that is taken is kept beside the first."""
    taken = sources.get(name, text) != text
    sources[f"{content_version(text)}/{name}" if taken else name] = text


def _imported(
    file: pathlib.Path, root: pathlib.Path
) -> Iterator[tuple[str, pathlib.Path, pathlib.Path | None]]:
    """What the text of a file imports: (name, file, folder it is found from) of a user's module,
    (name, file, None) of a library. root: the folder by which the file finds what lies beside it.
    """
    try:
        nodes = list(ast.walk(ast.parse(content_of(str(file)))))
    except (SyntaxError, ValueError):  # it will say so when it is imported
        return
    for level, name in (found for node in nodes for found in imported_names(node)):
        folder = root if not level else file.parents[level - 1]
        yield from _resolved(folder, name, level > 0, root)


def imported_names(node: ast.AST) -> list[tuple[int, str]]:
    """What a piece of program text imports, by name, and how many folders up from its own it is
    looked for; also by `importlib.import_module("net")`.
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


def _resolved(
    folder: pathlib.Path, name: str, relative: bool, root: pathlib.Path
) -> Iterator[tuple[str, pathlib.Path, pathlib.Path | None]]:
    top, *rest = name.split(".")
    place = _within(folder, top) if relative else find_beside(folder, top)
    if place is None and not relative:
        if top in sys.stdlib_module_names or top == "quickstudy":
            return
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError, AttributeError):
            spec = None
        if spec is None:
            return
        inner = list(spec.submodule_search_locations or ())
        place = pathlib.Path(spec.origin or (inner[0] if inner else ""))
        if in_library(spec.origin or f"{place}/__init__.py"):
            yield top, place, None
            return
        root = place.parent.parent if place.name == "__init__.py" else place.parent
    known = top
    while place is not None:
        if place.is_file():
            yield known, place, root
        if not rest or (place.is_file() and place.name != "__init__.py"):
            return
        part, *rest = rest
        known, place = f"{known}.{part}", _within(place if place.is_dir() else place.parent, part)


def _within(folder: pathlib.Path, name: str) -> pathlib.Path | None:
    places = (folder / name / "__init__.py", folder / f"{name}.py", folder / name)
    return next(
        (place for place in places if place.is_file() or (place.is_dir() and place == places[2])),
        None,
    )


def in_package(filename: str) -> bool:
    """Whether a file is one of this package."""
    return pathlib.Path(filename).is_relative_to(PACKAGE)


def in_library(filename: str) -> bool:
    """Whether a file is one of the standard library or of an installed one."""
    if not filename.endswith(
        ".py"
    ):  # compiled or made by a library, unless it was typed at a prompt
        return not filename.startswith("<") or filename.startswith(("<frozen", "<string>"))
    path, places = pathlib.Path(filename), sysconfig.get_paths()
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or any(
        path.is_relative_to(places[name]) for name in LIBRARIES
    )


def content_version(content: bytes) -> str:
    """The beginning of the SHA-256 of a content: enough to tell any two apart."""
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
