"""Import a user's file, which may import the modules next to it by their bare names.

Such a file, and what it imports from its own folder, gets a module name made from its whole path:
`net.py` of one folder is never taken for `net.py` of another, and the same file is the same module
in every worker process. `sys.path` and the finders of Python stay unchanged; the `import`
statements of these files look into their folder first. The text that is compiled is the text that
identities are computed from, never a stored compilation of an earlier one.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import threading
from types import ModuleType
from typing import Any

_PREFIX = "quickstudy_included_"
_loaded: dict[str, tuple[pathlib.Path, pathlib.Path]] = {}
"""By module name: the file, and the folder whose modules it imports by their bare names."""

_contents: dict[str, tuple[Any, bytes]] = {}
"""By file: the specification of its module when it was first read, and the text. A reloaded module
has another specification.
"""
_loading = threading.RLock()


def content_of(path: str) -> bytes:
    """The text of a file when it was first asked for, which is when it is imported."""
    if path not in _contents:
        _contents[path] = _specifications().get(path), pathlib.Path(path).read_bytes()
    return _contents[path][1]


def import_file(file: pathlib.Path) -> ModuleType:
    """The module of a file, imported now unless it was before. Raises what the file raises;
    nothing of it is then left in `sys.modules`.
    """
    modules, contents = set(_loaded), set(_contents)
    try:
        return _load(module_name(file), file, file.parents[file.name == "__init__.py"])
    except BaseException:
        for name in _loaded.keys() - modules:
            _forget(name)
        for path in _contents.keys() - contents:
            del _contents[path]
        raise


def module_name(path: pathlib.Path) -> str:
    """The name of the module of a file, or of the package whose `__init__.py` it is."""
    place = path.parent if path.name == "__init__.py" else path
    mark = hashlib.sha256(str(place).encode()).hexdigest()[:12]
    return f"{_PREFIX}{re.sub(r'[^A-Za-z0-9]', '_', place.stem)}_{mark}"


def local_files(folder: pathlib.Path, name: str, relative: bool = False) -> list[pathlib.Path]:
    """The files of a dotted module name in a folder, from the outermost package to the module; a
    package without an `__init__.py` is its folder. Nothing if the folder does not have it.

    By an absolute name a module of the standard library is never meant, nor a mere folder where an
    installed library has that name.
    """
    top, *rest = name.split(".")
    if not relative and (top in sys.stdlib_module_names or top == "quickstudy"):
        return []
    path = _within(folder, top)
    if path is None or (not relative and path.is_dir() and not _is_package(path)):
        return []
    found = [path]
    for part in rest:
        inner = None if _is_module(path) else _within(_inside(path), part)
        if inner is None:
            break
        found.append(path := inner)
    return found


def installed(name: str) -> importlib.machinery.ModuleSpec | None:
    """How Python itself would find a module of the outermost level; None if it does not."""
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None


def forget_changed() -> None:
    """Let files that have changed since they were imported, and all from the same folders, be
    imported again. The text of any other module is read again only if it was reloaded: until then
    the old code runs.
    """
    changed = {
        folder
        for name, (path, folder) in _loaded.items()
        if path.is_file() and path.read_bytes() != content_of(str(path))
    }
    for name in [name for name, (_, folder) in _loaded.items() if folder in changed]:
        _forget(name)
    now = _specifications()
    for path, (then, _) in [*_contents.items()]:
        if then is None or now.get(path) is not then:
            del _contents[path]


def _load(name: str, path: pathlib.Path, folder: pathlib.Path) -> ModuleType:
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        inner = None if _is_module(path) else [str(_inside(path))]
        spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=inner)
        if path.is_dir() or spec is None:
            spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = inner
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        _loaded[name] = path, folder
        if path.is_file():
            own = {"__import__": functools.partial(_import, folder)}
            vars(module)["__builtins__"] = {**vars(builtins), **own}
            try:
                code = compile(content_of(str(path)), str(path), "exec", dont_inherit=True)
                exec(code, vars(module))
            except BaseException:
                _forget(name)
                raise
        return sys.modules[name]


def _import(
    folder: pathlib.Path,
    name: str,
    globals: Any = None,
    locals: Any = None,
    fromlist: Any = (),
    level: int = 0,
) -> ModuleType:
    """`__import__` of a user's file: first the modules of its folder, then as everywhere."""
    given = globals or {}
    own, top, dotted, start = str(given.get("__file__", "")), "", name, folder
    if level:
        package = str(given.get("__package__", "")).rsplit(".", level - 1)
        if len(package) < level or not package[0]:
            return builtins.__import__(name, globals, locals, fromlist, level)  # which raises
        within = pathlib.Path(own).parents[level - 1]
        top, dotted, start = package[0], f"{within.name}.{name}".strip("."), within.parent
    files = local_files(start, dotted, level > 0)
    # A file with the name of the library that it imports means the library.
    if not files or (not level and str(files[0]) == own):
        return builtins.__import__(name, globals, locals, fromlist, level)
    parts = dotted.split(".")
    first = module = _load(top or module_name(files[0]), files[0], folder)
    for part, path in zip(parts[1:], files[1:], strict=False):
        module = _load_inner(module, part, path, folder)
    if len(files) < len(parts):
        missing = ".".join(parts[: len(files) + 1])
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
    if fromlist and not _is_module(files[-1]):
        for one in getattr(module, "__all__", ()) if "*" in fromlist else fromlist:
            inner = None if hasattr(module, one) else _within(_inside(files[-1]), one)
            if inner is not None:
                _load_inner(module, one, inner, folder)
    return module if fromlist else first


def _load_inner(
    package: ModuleType, part: str, path: pathlib.Path, folder: pathlib.Path
) -> ModuleType:
    module = _load(f"{package.__name__}.{part}", path, folder)
    setattr(package, part, module)
    return module


def _forget(name: str) -> None:
    sys.modules.pop(name, None)
    _loaded.pop(name, None)


def _specifications() -> dict[str, Any]:
    found = [getattr(module, "__dict__", {}) for module in list(sys.modules.values())]
    return {
        str(facts["__file__"]): facts.get("__spec__") for facts in found if facts.get("__file__")
    }


def _within(folder: pathlib.Path, name: str) -> pathlib.Path | None:
    for path in (folder / name / "__init__.py", folder / f"{name}.py"):
        if path.is_file():
            return path
    return folder / name if (folder / name).is_dir() else None


def _is_package(folder: pathlib.Path) -> bool:
    """Whether a folder without an `__init__.py` is a package that no installed one hides."""
    return any(folder.rglob("*.py")) and installed(folder.name) is None


def _is_module(path: pathlib.Path) -> bool:
    return path.is_file() and path.name != "__init__.py"


def _inside(path: pathlib.Path) -> pathlib.Path:
    return path.parent if path.name == "__init__.py" else path
