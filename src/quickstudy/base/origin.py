"""Where code comes from: what makes a component of a user's another one, and where an error was raised.

The identity of a component out of a file is that of the file and of all files it imports that are no installed
library. In a script or notebook, which is changed for many reasons, it is the class itself and what it uses: the
functions, classes and values that it names, and theirs. Data that code reads from a disk are no part of it, nor
modules that are imported by a name made up at run time. A value that nothing tells from another is new in every run.
"""

from __future__ import annotations

import ast
import contextlib
import copyreg
import dis
import hashlib
import importlib.util
import inspect
import json
import os
import pathlib
import re
import sys
import sysconfig
import threading
import time
import traceback
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from quickstudy.base.beside import content_of, find_beside, forget_changed

_PACKAGE = pathlib.Path(__file__).resolve().parent.parent
_DIGITS = 12
_LIBRARIES = ("purelib", "platlib", "stdlib", "platstdlib")
LONGEST = 20_000
"""Letters of a traceback that are kept: some hundred frames. A learner may raise an error that says a whole array."""
_MOST, _DEEPEST = 100_000, 60
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
    _looks[1] += 1
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
        add_source(sources, name, contents[place])
    return Origin(version, sources, frozenset(libraries), tuple(map(str, found)))


def _name_from(place: pathlib.Path, home: pathlib.Path, folder: pathlib.Path) -> str:
    """A file from the learner's folder on, or else from the one that it is found from: no machine's paths."""
    top = next((top for top in (home, folder) if place.is_relative_to(top)), None)
    return pathlib.Path(os.path.relpath(place, home) if top is None else place.relative_to(top)).as_posix()


def add_source(sources: dict[str, bytes], name: str, text: bytes) -> None:
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
    version = content_version(uses.digest(kind).encode())
    name = getattr(kind, "__name__", type(kind).__name__)
    sources = {f"{name}.py": b"\n\n".join(uses.sources)} if uses.sources else {}
    libraries: set[str] = set(uses.libraries)
    files: list[str] = []
    for origin in uses.origins.values():
        for file, text in origin.sources.items():
            add_source(sources, file, text)
        libraries |= origin.libraries
        files += origin.files
    return Origin(version, sources, frozenset(libraries), tuple(files))


class _Uses:
    """All that a class of a script uses. sources: of classes and functions of its own module, in order. origins: of
    other files of the user's. libraries: installed ones.

    A value is known by a digest of what it is: a constant by its text, an array by its bytes, code of the script by
    its source and all that this names, a library's by its name, any other object by what it would be pickled from.
    What cannot be told so is another thing in every run: rather a run too many than old numbers for new code.
    """

    def __init__(self, home: str) -> None:
        self.sources: dict[bytes, None] = {}
        self.origins: dict[str, Origin] = {}
        self.libraries: set[str] = set()
        self._homes = {home, "__main__"}
        self._known: dict[int, tuple[str, Any]] = {}  # with the value: an id is used again once its owner is gone
        self._open: list[int] = []

    def digest(self, value: Any) -> str:
        """What a value is, with whatever it leads to, as a short text."""
        if type(value) in _CONSTANTS:
            return repr(value)
        mark = id(value)
        if mark in self._known:
            return self._known[mark][0]
        if mark in self._open:
            return f"{len(self._open) - self._open.index(mark)} above"
        if len(self._known) > _MOST or len(self._open) > _DEEPEST:
            return _untold()
        self._open.append(mark)
        try:
            content = self._content(value)
        except Exception:  # an object that does not like to be looked at
            content = [_untold()]
        self._open.pop()
        text = hashlib.sha256(json.dumps([type(value).__qualname__, content]).encode()).hexdigest()
        self._known[mark] = text, value
        return text

    def _content(self, value: Any) -> list[Any]:
        if isinstance(value, ModuleType):
            return [self._place(value.__name__)]
        if isinstance(value, type | FunctionType):
            return self._definition(value)
        if isinstance(value, staticmethod | classmethod):
            return [self.digest(value.__func__)]
        if isinstance(value, property):
            return [self.digest(part) for part in (value.fget, value.fset)]
        if isinstance(value, MethodType):
            return [self.digest(value.__self__), self.digest(value.__func__)]
        if isinstance(value, BuiltinFunctionType | MethodWrapperType):
            return [self.digest(value.__self__), value.__qualname__]
        if isinstance(value, _DESCRIPTORS):
            return [value.__qualname__]
        if isinstance(value, _LOCKS):  # in every `functools.cached_property` of Python 3.11, and empty
            return []
        if isinstance(value, weakref.ref):
            return [self.digest(value())]
        if type(value) in (dict, MappingProxyType):
            return [(self.digest(key), self.digest(part)) for key, part in value.items()]
        if type(value) in (list, tuple):
            return [self.digest(part) for part in value]
        if type(value) in (set, frozenset):
            return sorted(map(self.digest, value))
        if (array := _array_of(value)) is not None:
            shape = [
                str(value.dtype),
                [int(size) for size in array.shape],
                getattr(value, "requires_grad", None) is True,
            ]
            if array.dtype.hasobject:
                return [*shape, *map(self.digest, array.ravel().tolist())]
            return [*shape, hashlib.sha256(array.tobytes()).hexdigest()]
        return self._state(value)

    def _state(self, value: Any) -> list[Any]:
        """An object by what it would be made from again, and, if its class is of the script, all that it holds."""
        found = [self.digest(type(value))]
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None and self._place(type(value).__module__) is not None:  # jitted, cached: by its function
            return [*found, self.digest(wrapped), self.digest(getattr(value, "targetoptions", None))]
        if type(value).__module__ in self._homes and hasattr(value, "__dict__"):
            found.append(self.digest(dict(vars(value))))
        try:
            reduce = copyreg.dispatch_table.get(type(value))
            made = reduce(value) if reduce else value.__reduce_ex__(4)
        except Exception:  # not to be pickled; what it says of itself is all there is
            text = repr(value)
            return [*found, _untold() if _ADDRESS.search(text) else text]
        if isinstance(made, str):
            return [*found, str(getattr(value, "__module__", "")), made]
        parts = [list(part) if place > 2 and isinstance(part, Iterator) else part for place, part in enumerate(made)]
        return [*found, *map(self.digest, parts)]

    def _place(self, module: str) -> str | None:
        """What stands for a module that is not the script: its name, or the version of a user's file; and note it."""
        if module in self._homes:
            return None
        top = module.partition(".")[0]
        file = getattr(sys.modules.get(module), "__file__", None)
        if top in sys.stdlib_module_names or top == "quickstudy" or not file:
            return module
        if _in_library(file) or _in_package(file):
            self.libraries.add(top)
            return module
        self.origins[file] = file_origin(file)
        return self.origins[file].version

    def _definition(self, kind: Any) -> list[Any]:
        place = self._place(str(kind.__module__))
        found: list[Any] = [place, kind.__qualname__]
        # What a library or another file makes while it runs is more than its text: a closure, a class in a function.
        if place is not None and "<" not in kind.__qualname__:
            return found
        text = _source_of(kind) if place is None else None
        if text is not None:
            self.sources.setdefault(text)
            found.append(text.decode())
        if isinstance(kind, FunctionType):
            # Two lambdas of one line have one text; of what was typed at a prompt there may be none.
            if text is None or kind.__name__ == "<lambda>":
                found.append(self._compiled(kind.__code__))
            return [*found, *self._references(kind, place is None)]
        found += [self.digest(base) for base in (type(kind), *kind.__bases__)]
        for name, part in sorted(vars(kind).items()):
            if isinstance(part, FunctionType) and part.__qualname__.startswith(kind.__qualname__):
                # Of two classes of one name the text may be that of the other; the line of a method is its own.
                own = _source_of(part)
                made = "" if own is None and text is not None else self._compiled(part.__code__)
                found.append((name, made if own is None else own.decode(), self._references(part, place is None)))
            elif name not in _OF_EVERY_CLASS:
                found.append((name, self.digest(part)))
        return found

    def _references(self, function: FunctionType, own: bool) -> list[Any]:
        """What a function names, if it is of the script, and what it encloses and takes by default."""
        names = sorted(_global_names(function.__code__) & function.__globals__.keys()) if own else []
        found = [(name, self.digest(function.__globals__[name])) for name in names]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name != "__class__":
                with contextlib.suppress(ValueError):  # not filled yet
                    found.append((name, self.digest(cell.cell_contents)))
        found.append(("defaults", self.digest((function.__defaults__, function.__kwdefaults__))))
        if inspect.unwrap(function) is not function:
            found.append(("wrapped", self.digest(inspect.unwrap(function))))
        return found

    def _compiled(self, code: CodeType) -> list[Any]:
        constants = [
            self._compiled(part) if isinstance(part, CodeType) else self.digest(part) for part in code.co_consts
        ]
        return [code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars]


_CONSTANTS = {type(None), type(...), bool, int, float, complex, str, bytes, range}
_DESCRIPTORS = (
    WrapperDescriptorType, MethodDescriptorType, ClassMethodDescriptorType, GetSetDescriptorType, MemberDescriptorType,
)  # fmt: skip
_LOCKS = type(threading.Lock()), type(threading.RLock())
_ADDRESS = re.compile("0x[0-9a-fA-F]+")
_looks: list[Any] = [f"{os.getpid()} {time.time_ns()}", 0]
"""This process, and how often it has looked again."""


def _untold() -> str:
    """For a value that nothing tells from another: the same within a run, another in the next."""
    return f"untold {_looks}"


def _source_of(kind: Any) -> bytes | None:
    try:
        return inspect.getsource(kind).encode()
    except (OSError, TypeError):  # typed at a prompt, or made while running
        return None


def _array_of(value: Any) -> Any:
    """The NumPy array of an array or tensor of any library; None for anything else."""
    if isinstance(value, type) or not hasattr(value, "dtype") or hasattr(value, "mask"):
        return None
    with contextlib.suppress(Exception):  # on another device, of a type of its own: then by its state
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            return value.double().numpy() if "bfloat16" in str(value.dtype) else value.numpy()
        if hasattr(value, "tobytes"):
            import numpy as np

            return np.asarray(value)
    return None


_OF_EVERY_CLASS = {
    "__dict__", "__weakref__", "__module__", "__doc__", "__qualname__", "__annotations__", "__firstlineno__",
    "__static_attributes__", "__dataclass_params__", "__dataclass_fields__", "__match_args__", "_abc_impl",
    "__abstractmethods__", "__parameters__", "__orig_bases__", "__annotate__", "__annotate_func__", "__hash__",
    "__annotations_cache__", "__slotnames__",
}  # fmt: skip


def _global_names(code: CodeType) -> set[str]:
    names = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(_global_names(part) for part in code.co_consts if isinstance(part, CodeType)))


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
