"""Where code comes from: what makes a component of a user's another one, and where an error was raised.

The identity of a component out of a file is that of the file and of all files it imports that are no installed
library. In a script or notebook, which is changed for many reasons, it is the class itself and what it uses: the
functions, classes and constants that it names, and theirs. Data that code reads from a disk are no part of it, nor
modules that are imported by a name made up at run time.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import hashlib
import importlib.util
import inspect
import json
import os
import pathlib
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

from quickstudy.base.beside import content_of, find_beside, forget_changed

_PACKAGE = pathlib.Path(__file__).resolve().parent.parent
_DIGITS = 12
_LIBRARIES = ("purelib", "platlib", "stdlib", "platstdlib")
LONGEST = 20_000
"""Letters of a traceback that are kept: some hundred frames. A learner may raise an error that says a whole array."""
_MOST, _DEEPEST = 10_000, 40
"""Things that are looked into for one class of a script, and how deep, at most: an end to any tangle."""


@dataclass(frozen=True)
class Origin:
    """The code of a user's component. version: its identity. sources: the texts it is made of, by name. libraries: the
    installed ones that it imports, by the names they are imported by. files: where the texts lie, if in files.
    """

    version: str
    sources: Mapping[str, bytes] = field(default_factory=dict)
    libraries: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()


def code_of(*components: Any) -> dict[str, str]:
    """`{"code": ...}` for components that do not come with the package, else nothing: a part of their identity.

    A declared version is changed by hand, and in a file that is being written it is forgotten; the code is not. So a
    changed file is another component, and old results are not mixed with new ones.
    """
    codes = dict.fromkeys(origin_of(component).version for component in components if not is_ours(component))
    return {"code": ".".join(codes)} if codes else {}


def origin_of(component: Any) -> Origin:
    """The origin of a class or function of a user's."""
    file = getattr(sys.modules.get(component.__module__), "__file__", None)
    return _script_origin(component) if file is None or component.__module__ == "__main__" else file_origin(str(file))


def is_ours(kind: Any) -> bool:
    """Whether a class or function is part of this package."""
    return str(kind.__module__).partition(".")[0] == "quickstudy"


def look_again() -> None:
    """Forget what is known of users' code: it may have been changed since."""
    forget_changed()
    file_origin.cache_clear()
    _script_origin.cache_clear()


@cache
def _script_origin(kind: Any) -> Origin:
    return object_origin(kind)  # once a run: what it uses may change while it learns


def file_version(path: str) -> str:
    """The beginning of the SHA-256 of a file, as it was when it was imported."""
    return content_version(content_of(path))


@cache
def file_origin(path: str) -> Origin:
    """The origin of what a file defines: the file and, through all of them, what it imports from no library.

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
    version = file_version(path) if len(found) == 1 else content_version(json.dumps(versions).encode())
    sources: dict[str, bytes] = {}
    for place, name in found.items():
        _add_source(sources, name, contents[place])
    return Origin(version, sources, frozenset(libraries), tuple(map(str, found)))


def _name_from(place: pathlib.Path, home: pathlib.Path, folder: pathlib.Path) -> str:
    """A file from the learner's folder on, or else from the one that it is found from: no machine's paths."""
    top = next((top for top in (home, folder) if place.is_relative_to(top)), None)
    return pathlib.Path(os.path.relpath(place, home) if top is None else place.relative_to(top)).as_posix()


def _add_source(sources: dict[str, bytes], name: str, text: bytes) -> None:
    """Keep a text by its name; another text of a name that is taken is kept beside the first."""
    taken = sources.get(name, text) != text
    sources[f"{content_version(text)}/{name}" if taken else name] = text


def _imported(file: pathlib.Path, root: pathlib.Path) -> Iterator[tuple[str, pathlib.Path, pathlib.Path | None]]:
    """What the text of a file imports: (name, file, folder it is found from) of a user's module, (name, file, None) of
    a library. root: the folder by which the file finds what lies beside it.
    """
    try:
        nodes = list(ast.walk(ast.parse(content_of(str(file)))))
    except (SyntaxError, ValueError):  # it will say so when it is imported
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [(root, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            folder = root if not node.level else file.parents[node.level - 1]
            module = node.module or ""
            names = [(folder, f"{module}.{alias.name}".strip(".")) for alias in node.names]
        else:
            continue
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        for folder, name in names:
            yield from _resolved(folder, name, relative, root)


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
        if _in_library(spec.origin or f"{place}/__init__.py"):
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
    return next((place for place in places if place.is_file() or (place.is_dir() and place == places[2])), None)


def object_origin(kind: Any) -> Origin:
    """The origin of a class, a function or an object by itself: its source and all that it uses."""
    uses = _Uses(getattr(kind, "__module__", ""))
    uses.see("", kind)
    name = getattr(kind, "__name__", type(kind).__name__)
    sources = {f"{name}.py": b"\n\n".join(uses.sources.values())} if uses.sources else {}
    libraries: set[str] = set(uses.libraries)
    files: list[str] = []
    for origin in uses.origins.values():
        for file, text in origin.sources.items():
            _add_source(sources, file, text)
        libraries |= origin.libraries
        files += origin.files
    return Origin(uses.version(), sources, frozenset(libraries), tuple(files))


class _Uses:
    """All that a class of a script uses. values: (name, text) of constants and of what else was met. sources: of
    classes and functions of its own module. origins: of other files of the user's. libraries: installed ones.
    """

    def __init__(self, home: str) -> None:
        self.values: list[tuple[str, str]] = []
        self.sources: dict[str, bytes] = {}
        self.origins: dict[str, Origin] = {}
        self.libraries: set[str] = set()
        self._home = home
        self._seen: dict[int, Any] = {}
        self._depth = 0

    def version(self) -> str:
        """All of it as a short text."""
        texts = sorted((name, text.decode()) for name, text in self.sources.items())
        codes = sorted(origin.version for origin in self.origins.values())
        return content_version(json.dumps([sorted(self.values), texts, codes]).encode())

    def see(self, name: str, value: Any) -> None:
        """Look at one value and whatever it leads to."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes | range):
            self.values.append((name, repr(value)))
            return
        if id(value) in self._seen or len(self._seen) > _MOST or self._depth > _DEEPEST:
            return
        self._seen[id(value)] = value
        self._depth += 1
        try:
            self._open(name, value)
        except Exception:  # an object of a library's that does not like to be looked at counts by its kind
            self.values.append((name, type(value).__qualname__))
        self._depth -= 1

    def _open(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType):
            self._from(value.__name__, value)
        elif isinstance(value, type | FunctionType):
            self._definition(value)
        elif isinstance(value, staticmethod | classmethod):
            self.see(name, value.__func__)
        elif isinstance(value, property):
            for part in (value.fget, value.fset):
                self.see(name, part)
        elif isinstance(value, functools.partial):
            self.see(name, (value.func, value.args, value.keywords))
        elif isinstance(value, Mapping):
            for key in value:
                self.see(f"{name}[{key!r}]" if isinstance(key, str | int) else name, value[key])
        elif isinstance(value, list | tuple):
            for place, part in enumerate(value):
                self.see(f"{name}[{place}]", part)
        elif isinstance(value, set | frozenset):
            self.values.append((name, repr(sorted(map(repr, value)))))
        elif hasattr(value, "tobytes") and hasattr(value, "dtype"):
            text = f"{value.dtype} {getattr(value, 'shape', ())} {content_version(value.tobytes())}"
            self.values.append((name, text))
        else:
            self.values.append((name, type(value).__qualname__))
            self.see(name, type(value))
            for part, inner in sorted(getattr(value, "__dict__", {}).items()):
                self.see(f"{name}.{part}", inner)

    def _from(self, module: str, found: Any) -> bool:
        """Note where a module comes from; whether it is the one that is looked at."""
        top = module.partition(".")[0]
        if module == self._home:
            return True
        file = getattr(found, "__file__", None)
        if top in sys.stdlib_module_names or top == "quickstudy" or not file:
            return False
        if _in_library(file) or _in_package(file):
            self.libraries.add(top)
        else:
            self.origins[file] = file_origin(file)
        return False

    def _definition(self, kind: Any) -> None:
        if not self._from(kind.__module__, sys.modules.get(kind.__module__)):
            return
        try:
            self.sources.setdefault(kind.__qualname__, inspect.getsource(kind).encode())
        except (OSError, TypeError):  # typed at a prompt: what it was compiled to
            for function in [kind, *vars(kind).values()] if isinstance(kind, type) else [kind]:
                if isinstance(function, FunctionType):
                    self.values.append((function.__qualname__, _compiled(function.__code__)))
        if isinstance(kind, FunctionType):
            self._references(kind)
            return
        for base in kind.__bases__:
            self.see(base.__qualname__, base)
        for name, part in sorted(vars(kind).items()):
            if isinstance(part, FunctionType) and part.__qualname__.startswith(kind.__qualname__):
                self._references(part)  # its text is in that of the class
            elif name not in _OF_EVERY_CLASS:
                self.see(f"{kind.__qualname__}.{name}", part)

    def _references(self, function: FunctionType) -> None:
        for name in sorted(_global_names(function.__code__) & function.__globals__.keys()):
            self.see(name, function.__globals__[name])
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name != "__class__":
                with contextlib.suppress(ValueError):  # not filled yet
                    self.see(name, cell.cell_contents)
        self.see(f"{function.__qualname__} defaults", (function.__defaults__, function.__kwdefaults__))
        if inspect.unwrap(function) is not function:
            self.see(function.__qualname__, inspect.unwrap(function))


_OF_EVERY_CLASS = {
    "__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__annotations__", "__firstlineno__",
    "__static_attributes__", "__dataclass_params__", "__dataclass_fields__", "__match_args__", "_abc_impl",
    "__abstractmethods__", "__parameters__", "__orig_bases__", "__annotate__", "__annotate_func__", "__hash__",
    "__annotations_cache__",
}  # fmt: skip


def _global_names(code: CodeType) -> set[str]:
    names = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_global_names(part) for part in code.co_consts if isinstance(part, CodeType)))


def _compiled(code: CodeType) -> str:
    constants = [_compiled(part) if isinstance(part, CodeType) else repr(part) for part in code.co_consts]
    return repr((code.co_code, constants, code.co_names))


def described(error: BaseException) -> str:
    """An unexpected error in one line: its kind, what it says, and the place where it was raised."""
    words = (str(error.msg) if isinstance(error, SyntaxError) else words_of(error)).partition("\n")[0]
    place = place_of(error)
    return f"{type(error).__name__}{f': {words}' if words else ''}{f' ({place})' if place else ''}"


def words_of(error: BaseException) -> str:
    """What an error says, in letters that can be written down anywhere: the name of a file may hold others."""
    try:
        text = str(error)
    except Exception:  # a user's own kind of error, itself at fault
        text = ""
    return text.strip().encode("utf-8", "backslashreplace").decode()


def whole_traceback(error: BaseException) -> str:
    """All that Python says of an error, with files as `described` names them; at most about LONGEST letters, without
    the middle. What a terminal could take for an order is spelled out.
    """
    text = "".join(traceback.format_exception(error))
    text = re.sub(r'(?<=^  File ")[^"\n]+(?=", line )', lambda file: short_path(file[0]), text, flags=re.MULTILINE)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 4]}\n... {len(text) - LONGEST:,} letters left out ...\n{text[-LONGEST * 3 // 4 :]}"
    return "".join(one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in text).rstrip()


def place_of(error: BaseException) -> str:
    """`file:line` of the deepest place that is the user's, or else the package's, or else anybody's."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{short_path(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    users = [frame for frame in frames if not _in_package(frame.filename) and not _in_library(frame.filename)]
    ours = [frame for frame in frames if _in_package(frame.filename)]
    frame = (users or ours or list(frames))[-1]
    return f"{short_path(frame.filename)}:{frame.lineno}"


def short_path(filename: str) -> str:
    """A file of the package or of a library from there on, one of the user's from the current folder on: no machine's
    paths.
    """
    path = pathlib.Path(filename)
    tops = _PACKAGE.parent, *(pathlib.Path(sysconfig.get_path(name)) for name in _LIBRARIES), pathlib.Path.cwd()
    for top in tops:
        if path.is_relative_to(top):
            return path.relative_to(top).as_posix()
    return filename


def _in_package(filename: str) -> bool:
    return pathlib.Path(filename).is_relative_to(_PACKAGE)


def _in_library(filename: str) -> bool:
    if not filename.endswith(".py"):  # compiled or made by a library, unless it was typed at a prompt
        return not filename.startswith("<") or filename.startswith(("<frozen", "<string>"))
    path, places = pathlib.Path(filename), sysconfig.get_paths()
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or any(
        path.is_relative_to(places[name]) for name in _LIBRARIES
    )


def content_version(content: bytes) -> str:
    """The beginning of the SHA-256 of a content: enough to tell any two apart."""
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
