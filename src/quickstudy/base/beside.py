"""Files of a user's, imported so that each may import what lies beside it, and no two folders are
mixed up.

Such a file, and what it imports from its own folder, gets a module name of its own, made from its
whole path: `net.py` of one folder is never taken for `net.py` of another, and the same file is the
same module in every worker process. Each has an `__import__` of its own for this; `sys.path` stays
as it is. What is compiled is the very text that identities rest on, never a stored compilation of
an earlier one.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
from types import ModuleType
from typing import Any

_PREFIX = "quickstudy_included_"
_places: dict[str, pathlib.Path] = {}
"""The file, or the folder of a package without one, behind the name of a module."""


_contents: dict[str, tuple[Any, bytes]] = {}
"""By file: what it held, and the specification of its module at that time, by which a reloaded one
is told.
"""


def content_of(path: str) -> bytes:
    """A file as it was when it was first asked for, which is when it is imported."""
    if path not in _contents:
        _contents[path] = _specifications().get(path), pathlib.Path(path).read_bytes()
    return _contents[path][1]


def import_file(file: pathlib.Path) -> ModuleType:
    """The module of a file, imported now if it was not. Raises whatever the file raises, and is
    then as before.
    """
    modules, contents = set(sys.modules), set(_contents)
    try:
        return importlib.import_module(module_name(file))
    except BaseException:
        for name in [
            name for name in sys.modules if name.startswith(_PREFIX) and name not in modules
        ]:
            del sys.modules[name]
        for path in _contents.keys() - contents:
            del _contents[path]
        raise


def forget_changed() -> None:
    """Let files that have changed since they were imported, and all from the same folders, be
    imported again. Of other modules what they held is asked again only if they were reloaded: until
    then the old code runs.
    """
    found = {
        str(path): _root(name)
        for name, path in _places.items()
        if name in sys.modules and path.is_file()
    }
    changed = {
        root for path, root in found.items() if pathlib.Path(path).read_bytes() != content_of(path)
    }
    for name in [name for name in sys.modules if _root(name.partition(".")[0]) in changed]:
        del sys.modules[name]
    now = _specifications()
    for path in [
        path for path, (then, _) in _contents.items() if then is None or now.get(path) is not then
    ]:
        del _contents[path]


def _specifications() -> dict[str, Any]:
    found = [getattr(module, "__dict__", {}) for module in list(sys.modules.values())]
    return {
        str(facts["__file__"]): facts.get("__spec__") for facts in found if facts.get("__file__")
    }


def find_beside(folder: pathlib.Path, name: str) -> pathlib.Path | None:
    """The file of a module, or of a package, that lies in a folder: `name.py`, `name/__init__.py`;
    or the folder `name` itself if there is no other module of that name. The standard library is
    nobody's to replace.
    """
    if name in sys.stdlib_module_names or name == "quickstudy":
        return None
    for path in (folder / name / "__init__.py", folder / f"{name}.py"):
        if path.is_file():
            return path
    inner = folder / name
    if inner.is_dir() and any(inner.rglob("*.py")) and importlib.util.find_spec(name) is None:
        return inner
    return None


def module_name(path: pathlib.Path) -> str:
    """The name of the module of a file, or of the package whose `__init__.py` it is."""
    place = path.parent if path.name == "__init__.py" else path
    mark = hashlib.sha256(str(place).encode()).hexdigest()[:12]
    name = f"{_PREFIX}{re.sub(r'[^A-Za-z0-9]', '_', place.stem)}_{mark}"
    _places[name] = path
    return name


def _root(name: str) -> pathlib.Path | None:
    """The folder whose modules a module may import by their bare names."""
    path = _places.get(name)
    return (
        None
        if path is None
        else path.parent
        if path.is_dir() or path.name != "__init__.py"
        else path.parent.parent
    )


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules of users' files by the names made above, and what is in packages among them."""

    def find_spec(
        self, name: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        root = _root(name.partition(".")[0]) if name.startswith(_PREFIX) else None
        if root is None:
            return None
        if path is not None:
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
                spec.loader = _Loader(name, spec.loader.path, root)
            return spec
        place = _places[name]
        if place.is_dir():
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [str(place)]
            return spec
        inner = [str(place.parent)] if place.name == "__init__.py" else None
        loader = _Loader(name, str(place), root)
        return importlib.util.spec_from_file_location(
            name, place, loader=loader, submodule_search_locations=inner
        )


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles what `content_of` gives. A stored compilation is told by its second and its size
    alone: an edit of one digit within a second would run the old code under the new identity.
    """

    def __init__(self, name: str, path: str, root: pathlib.Path) -> None:
        super().__init__(name, path)
        self._root = root

    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(content_of(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        own = {"__import__": functools.partial(_import, self._root)}
        vars(module)["__builtins__"] = {**vars(builtins), **own}
        super().exec_module(module)


def _import(
    root: pathlib.Path,
    name: str,
    globals: Any = None,
    locals: Any = None,
    fromlist: Any = (),
    level: int = 0,
) -> ModuleType:
    """`__import__` of a user's file: first what lies beside it, then as everywhere."""
    top, dot, rest = name.partition(".")
    place = find_beside(root, top) if level == 0 else None
    # A file called as the library that it imports means the library.
    if place is None or str(place) == (globals or {}).get("__file__"):
        return builtins.__import__(name, globals, locals, fromlist, level)
    own = module_name(place)
    try:
        return builtins.__import__(own + dot + rest, globals, locals, fromlist, 0)
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(own):
            raise
        missing = top + error.name.removeprefix(own)
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing) from None


sys.meta_path.insert(0, _Finder())
