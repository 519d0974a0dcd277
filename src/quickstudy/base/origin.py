"""Where code comes from: what makes a component of a user's another one.

The identity of a component out of a file is that of the file (`quickstudy.base.file_origin`). In a
script or notebook, which is changed for many reasons, it is the class itself and what it uses: the
functions, classes and values that it names, and theirs. A value that nothing tells from another is
new in every run.
"""

from __future__ import annotations

import contextlib
import copyreg
import dis
import hashlib
import inspect
import json
import os
import re
import sys
import threading
import time
import types
import weakref
from collections.abc import Iterator
from functools import cache
from typing import Any

from quickstudy.base.beside import forget_changed
from quickstudy.base.file_origin import (
    Origin,
    add_source,
    content_version,
    file_origin,
    in_library,
    in_package,
)

_MOST, _DEEPEST = 100_000, 60
"""Things that are looked into for one class of a script, and how deep, at most: an end to any
tangle.
"""


def code_of(*components: Any) -> dict[str, str]:
    """`{"code": ...}` for components that do not come with the package, else nothing: a part of
    their identity.

    A declared version is changed by hand, and in a file that is being written it is forgotten; the
    code is not. So a changed file is another component, and old results are not mixed with new
    ones.
    """
    codes = dict.fromkeys(
        origin_of(component).version for component in components if not is_ours(component)
    )
    return {"code": ".".join(codes)} if codes else {}


def origin_of(component: Any) -> Origin:
    """The origin of a class or function of a user's."""
    file = getattr(sys.modules.get(component.__module__), "__file__", None)
    return (
        _script_origin(component)
        if file is None or component.__module__ == "__main__"
        else file_origin(str(file))
    )


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
    """All that a class of a script uses. sources: of classes and functions of its own module, in
    order. origins: of other files of the user's. libraries: installed ones.

    A value is known by a digest of what it is: a constant by its text, an array by its bytes, code
    of the script by its source and all that this names, a library's by its name, any other object
    by what it would be pickled from. What cannot be told so is another thing in every run: rather a
    run too many than old numbers for new code.
    """

    def __init__(self, home: str) -> None:
        self.sources: dict[bytes, None] = {}
        self.origins: dict[str, Origin] = {}
        self.libraries: set[str] = set()
        self._homes = {home, "__main__"}
        self._known: dict[
            int, tuple[str, Any]
        ] = {}  # with the value: an id is used again once its owner is gone
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
        if isinstance(value, types.ModuleType):
            return [self._place(value.__name__)]
        if isinstance(value, type | types.FunctionType):
            return self._definition(value)
        if isinstance(value, staticmethod | classmethod):
            return [self.digest(value.__func__)]
        if isinstance(value, property):
            return [self.digest(part) for part in (value.fget, value.fset)]
        if isinstance(value, types.MethodType):
            return [self.digest(value.__self__), self.digest(value.__func__)]
        if isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType):
            return [self.digest(value.__self__), value.__qualname__]
        if isinstance(value, _DESCRIPTORS):
            return [value.__qualname__]
        if isinstance(
            value, _LOCKS
        ):  # in every `functools.cached_property` of Python 3.11, and empty
            return []
        if isinstance(value, weakref.ref):
            return [self.digest(value())]
        if type(value) in (dict, types.MappingProxyType):
            return [(self.digest(key), self.digest(part)) for key, part in value.items()]
        if type(value) in (list, tuple):
            return [self.digest(part) for part in value]
        if type(value) in (set, frozenset):
            return sorted(map(self.digest, value))
        if (array := _array_of(value)) is not None:
            shape = [
                str(value.dtype),
                list(map(int, array.shape)),
                getattr(value, "requires_grad", None) is True,
            ]
            if array.dtype.hasobject:
                return [*shape, *map(self.digest, array.ravel().tolist())]
            return [*shape, hashlib.sha256(array.tobytes()).hexdigest()]
        return self._state(value)

    def _state(self, value: Any) -> list[Any]:
        """An object by what it would be made from again, and, if its class is of the script, all
        that it holds.
        """
        found = [self.digest(type(value))]
        wrapped = getattr(value, "__wrapped__", None)
        if (
            wrapped is not None and self._place(type(value).__module__) is not None
        ):  # jitted, cached: by its function
            return [
                *found,
                self.digest(wrapped),
                self.digest(getattr(value, "targetoptions", None)),
            ]
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
        parts = [
            list(part) if place > 2 and isinstance(part, Iterator) else part
            for place, part in enumerate(made)
        ]
        return [*found, *map(self.digest, parts)]

    def _place(self, module: str) -> str | None:
        """What stands for a module that is not the script: its name, or the version of a user's
        file; and note it.
        """
        if module in self._homes:
            return None
        top = module.partition(".")[0]
        file = getattr(sys.modules.get(module), "__file__", None)
        if top in sys.stdlib_module_names or top == "quickstudy" or not file:
            return module
        if in_library(file) or in_package(file):
            self.libraries.add(top)
            return module
        self.origins[file] = file_origin(file)
        return self.origins[file].version

    def _definition(self, kind: Any) -> list[Any]:
        place = self._place(str(kind.__module__))
        found: list[Any] = [place, kind.__qualname__]
        # What a library or another file makes while it runs is more than its text: a closure, a
        # class in a function.
        if place is not None and "<" not in kind.__qualname__:
            return found
        text = _source_of(kind) if place is None else None
        if text is not None:
            self.sources.setdefault(text)
            found.append(text.decode())
        if isinstance(kind, types.FunctionType):
            # Two lambdas of one line have one text; of what was typed at a prompt there may be
            # none.
            if text is None or kind.__name__ == "<lambda>":
                found.append(self._compiled(kind.__code__))
            return [*found, *self._references(kind, place is None)]
        found += [self.digest(base) for base in (type(kind), *kind.__bases__)]
        for name, part in sorted(vars(kind).items()):
            if isinstance(part, types.FunctionType) and part.__qualname__.startswith(
                kind.__qualname__
            ):
                # Of two classes of one name the text may be that of the other; the line of a method
                # is its own.
                own = _source_of(part)
                made = "" if own is None and text is not None else self._compiled(part.__code__)
                found.append(
                    (
                        name,
                        made if own is None else own.decode(),
                        self._references(part, place is None),
                    )
                )
            elif name not in _OF_EVERY_CLASS:
                found.append((name, self.digest(part)))
        return found

    def _references(self, function: types.FunctionType, own: bool) -> list[Any]:
        """What a function names, if it is of the script, and what it encloses and takes by
        default.
        """
        names = (
            sorted(_global_names(function.__code__) & function.__globals__.keys()) if own else []
        )
        found = [(name, self.digest(function.__globals__[name])) for name in names]
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            if name != "__class__":
                with contextlib.suppress(ValueError):  # not filled yet
                    found.append((name, self.digest(cell.cell_contents)))
        found.append(("defaults", self.digest((function.__defaults__, function.__kwdefaults__))))
        if inspect.unwrap(function) is not function:
            found.append(("wrapped", self.digest(inspect.unwrap(function))))
        return found

    def _compiled(self, code: types.CodeType) -> list[Any]:
        constants = [
            self._compiled(part) if isinstance(part, types.CodeType) else self.digest(part)
            for part in code.co_consts
        ]
        return [code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars]


_CONSTANTS = {type(None), type(...), bool, int, float, complex, str, bytes, range}


_DESCRIPTORS = (
    *(types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType),
)


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
    with contextlib.suppress(
        Exception
    ):  # on another device, of a type of its own: then by its state
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            return value.double().numpy() if "bfloat16" in str(value.dtype) else value.numpy()
        if hasattr(value, "tobytes"):
            import numpy as np

            return np.asarray(value)
    return None


_OF_EVERY_CLASS = {
    "__dict__",
    "__weakref__",
    "__module__",
    "__doc__",
    "__qualname__",
    "__annotations__",
    "__firstlineno__",
    "__static_attributes__",
    "__dataclass_params__",
    "__dataclass_fields__",
    "__match_args__",
    "_abc_impl",
    "__abstractmethods__",
    "__parameters__",
    "__orig_bases__",
    "__annotate__",
    "__annotate_func__",
    "__hash__",
    "__annotations_cache__",
    "__slotnames__",
}


def _global_names(code: types.CodeType) -> set[str]:
    names = {
        one.argval
        for one in dis.get_instructions(code)
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }
    return names.union(
        *(_global_names(part) for part in code.co_consts if isinstance(part, types.CodeType))
    )
