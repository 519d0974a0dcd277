"""The only module that imports Numba. Scalar loops over irregular structures use its `njit`:

    from quickstudy.numba_gateway import njit

    @njit
    def longest_run(bits): ...

The same source is compiled where Numba is installed (the extra `learners`) and run as it stands
where it is not: slower, with the same numbers. Compiled functions are cached on disk next to JAX's
programs; compile time goes to the same clock. Nothing in a compiled function is random: it is
handed its random numbers.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
from collections.abc import Callable
from typing import Any, TypeVar, overload

from quickstudy.base.hardware import compile_cache

F = TypeVar("F", bound=Callable[..., Any])


def sources_digest(folder: pathlib.Path) -> str:
    """Of all files under a folder that have something compiled.

    Numba goes by the file of a function alone: if a callee in another file has changed, Numba takes
    its cached caller for fresh, which gives the numbers of the old one.
    """
    texts = (path.read_bytes() for path in sorted(folder.rglob("*.py")))
    return hashlib.sha256(b"".join(text for text in texts if b"import njit" in text)).hexdigest()[
        :16
    ]


_kept = compile_cache("numba", sources_digest(pathlib.Path(__file__).parent))
os.environ.setdefault("NUMBA_CACHE_DIR", str(_kept))

numba: Any
_timer: Any
try:
    import numba
    from numba.core import event
except ModuleNotFoundError:
    numba = _timer = None
else:
    _timer = event.TimingListener()  # type: ignore[no-untyped-call]
    event.register("numba:compile", _timer)  # type: ignore[no-untyped-call]


@overload
def njit(function: F) -> F: ...
@overload
def njit(**options: Any) -> Callable[[F], F]: ...
def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A function compiled without Python objects when it is first called; itself, where there is no
    Numba.

    options: those of `numba.njit`. Compiled code is cached on disk, unless the function is not in a
    file.
    """
    if function is None:
        return lambda function: njit(function, **options)
    if numba is None:
        return function
    try:
        return numba.njit(function, **{"cache": True, **options})
    except (
        RuntimeError
    ):  # typed at a prompt: there is nothing by which its cache could be found again
        return numba.njit(function, **{**options, "cache": False})


def compile_seconds() -> float:
    """Seconds this process has spent so far in Numba's compiler."""
    return float(_timer.duration) if _timer is not None and _timer.done else 0.0
