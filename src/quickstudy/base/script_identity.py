"""The identity of a class of a script or notebook, which is changed for many reasons: the class by
itself and what it uses.

It is known by its source, by the source of the functions and classes of the script that it names,
by the files of other modules, and by the pickled values that it names, encloses or takes by
default. A value that cannot be pickled gets a new identity in every process: we may rerun
needlessly, but never reuse a stale result.
"""

from __future__ import annotations

import contextlib
import copyreg
import dis
import hashlib
import inspect
import io
import json
import pickle
import sys
import threading
import types
import weakref
from typing import Any

from quickstudy.base.code_identity import (
    Origin,
    add_source,
    content_version,
    file_origin,
    in_library,
    looks,
)


def object_origin(kind: Any) -> Origin:
    """The origin of a class, a function or an object by itself: its source and all that it uses."""
    uses = _Uses(getattr(kind, "__module__", ""))
    version = content_version(uses.digest(kind).encode())
    name = getattr(kind, "__name__", type(kind).__name__)
    sources = {f"{name}.py": b"\n\n".join(uses.sources)} if uses.sources else {}
    for file, text in (item for origin in uses.origins for item in origin.sources.items()):
        add_source(sources, file, text)
    libraries = uses.libraries.union(*(origin.libraries for origin in uses.origins))
    files = tuple(file for origin in uses.origins for file in origin.files)
    return Origin(version, sources, frozenset(libraries), files)


class _Uses:
    """All that a class of a script uses.

    sources: of classes and functions of its own module, in order.
    libraries: installed ones.
    """

    def __init__(self, home: str) -> None:
        self.sources: dict[bytes, None] = {}
        self.libraries: set[str] = set()
        self.homes = {home, "__main__"}
        self._files: dict[str, Origin] = {}
        # With the value: an id is used again once its owner is gone.
        self._known: dict[int, tuple[bytes, Any]] = {}
        self._open: list[int] = []

    @property
    def origins(self) -> list[Origin]:
        """Of the user's other files."""
        return list(self._files.values())

    def digest(self, value: Any) -> str:
        """What a value is, with all that it leads to, as a short text."""
        pickled = io.BytesIO()
        try:
            _Pickler(self, pickled).dump(value)
        except Exception:  # it cannot be pickled, or not by this class
            return f"unknown {looks}"
        return hashlib.sha256(pickled.getvalue()).hexdigest()

    def identified(self, value: Any) -> bytes | None:
        """The replacement that is pickled for a value; None: the value itself."""
        if type(value) is str:  # equal texts are one object or two by chance
            return b"text " + value.encode("utf-8", "surrogatepass")
        if type(value) in _ATOMS:
            return None
        mark = id(value)
        if mark in self._open:
            return f"{len(self._open) - self._open.index(mark)} above".encode()
        if mark not in self._known:
            self._open.append(mark)
            try:
                content = self._content(value)
            finally:
                self._open.pop()
            if content is None:
                return None
            text = json.dumps([type(value).__qualname__, content])
            self._known[mark] = hashlib.sha256(text.encode()).digest(), value
        return self._known[mark][0]

    def _content(self, value: Any) -> Any:
        match value:
            case types.ModuleType():
                return self.place(value.__name__)
            case type() | types.FunctionType():
                return self._definition(value)
            case staticmethod() | classmethod():
                return self.digest(value.__func__)
            case types.MethodType():
                return self.digest((value.__self__, value.__func__))
            case property():
                return self.digest((value.fget, value.fset))
            case types.MappingProxyType():
                return self.digest(dict(value))
            case weakref.ref():
                return self.digest(value())
        if type(value) in (set, frozenset):
            return sorted(map(self.digest, value))
        if isinstance(value, _LOCKS):  # in every `functools.cached_property` of Python 3.11
            return "a lock"
        if (array := _array_of(value)) is not None and not array.dtype.hasobject:
            gradient = getattr(value, "requires_grad", None) is True
            content = hashlib.sha256(array.tobytes()).hexdigest()
            return [str(value.dtype), list(map(int, array.shape)), gradient, content]
        wrapped = getattr(value, "__wrapped__", None)
        if wrapped is not None and self.place(type(value).__module__) is not None:  # jitted, cached
            return self.digest((type(value), wrapped, getattr(value, "targetoptions", None)))
        return None

    def place(self, module: str) -> str | None:
        """What a module that is not the script is known by: its name, or the version of a user's
        file; and note it.
        """
        if module in self.homes:
            return None
        top = module.partition(".")[0]
        file = getattr(sys.modules.get(module), "__file__", None)
        if top == "quickstudy":  # in whichever of its modules
            return top
        if top in sys.stdlib_module_names or not file:
            return module
        if in_library(file):
            self.libraries.add(top)
            return module
        return self._files.setdefault(file, file_origin(file)).version

    def _definition(self, kind: Any) -> list[Any]:
        """A class or function."""
        place = self.place(str(kind.__module__))
        found: list[Any] = [place, kind.__qualname__]
        # What a library or another file makes while it runs is more than its text: a closure, a
        # class in a function.
        if place is not None and "<" not in kind.__qualname__:
            return found
        text = _source_of(kind) if place is None else ""
        if text:
            self.sources.setdefault(text.encode())
            found.append(text)
        if isinstance(kind, types.FunctionType):
            # Two lambdas of one line have one text; of what was typed at a prompt there may be
            # none.
            if not text or kind.__name__ == "<lambda>":
                found.append(self._compiled(kind.__code__))
            return [*found, *self._references(kind, place is None)]
        parts = {
            name: part
            for name, part in sorted(vars(kind).items())
            if isinstance(part, _METHODS) or not (name.startswith("__") or name == "_abc_impl")
        }
        return [*found, *map(self.digest, (type(kind), *kind.__bases__, *parts, *parts.values()))]

    def _references(self, function: types.FunctionType, own: bool) -> list[Any]:
        """What a function names, if it is of the script, and what it encloses and takes by
        default.
        """
        code, known = function.__code__, function.__globals__
        named = {name: known[name] for name in sorted(_names(code)) if own and name in known}
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # not filled yet
                named[name] = cell.cell_contents
        named.pop("__class__", None)
        defaults = function.__defaults__, function.__kwdefaults__
        wrapped = vars(function).get("__wrapped__")
        return [*named, *map(self.digest, (*named.values(), *defaults, wrapped))]

    def _compiled(self, code: types.CodeType) -> list[Any]:
        constants = [
            self._compiled(part) if isinstance(part, types.CodeType) else self.digest(part)
            for part in code.co_consts
        ]
        return [code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars]


class _Pickler(pickle.Pickler):
    """Pickles a value with what identifies code, modules and arrays in the place of these."""

    def __init__(self, uses: _Uses, file: io.BytesIO) -> None:
        super().__init__(file, protocol=4)
        self.persistent_id = uses.identified  # type: ignore[method-assign]
        self._homes = uses.homes

    def reducer_override(self, value: Any) -> Any:
        """The parts that a value is reconstructed from; for an object of the script's own classes
        all of its attributes, even those its class does not pickle.
        """
        reduce = copyreg.dispatch_table.get(type(value))
        made: Any = reduce(value) if reduce else value.__reduce_ex__(4)
        if isinstance(made, str):  # a thing of a library by its name
            return str, (f"{getattr(value, '__module__', '')} {made}",)
        if type(value).__module__ in self._homes:
            state = made[2] if len(made) > 2 else None
            return (*made[:2], (state, object.__getstate__(value)), *made[3:])
        return made


_ATOMS = {type(None), bool, int, float, bytes}
_LOCKS = type(threading.Lock()), type(threading.RLock())
_METHODS = types.FunctionType, staticmethod, classmethod


def _source_of(kind: Any) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):  # typed at a prompt, or made while running
        return ""


def _array_of(value: Any) -> Any:
    """The NumPy array of an array or tensor of any library; None for anything else."""
    if not hasattr(value, "dtype") or hasattr(value, "mask"):
        return None
    with contextlib.suppress(Exception):  # on another device, of a type of its own: pickled
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            return value.double().numpy() if "bfloat16" in str(value.dtype) else value.numpy()
        if hasattr(value, "tobytes"):
            import numpy as np

            return np.asarray(value)
    return None


def _names(code: types.CodeType) -> set[str]:
    """The global names that a function uses, and the functions within it."""
    operations = ("LOAD_GLOBAL", "LOAD_NAME")
    names = {one.argval for one in dis.get_instructions(code) if one.opname in operations}
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return names.union(*map(_names, inner))
