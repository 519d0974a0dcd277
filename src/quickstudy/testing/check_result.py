"""Results of a checker, one finding per promise, and shared helpers: values of spaces, a watch on
shared generators.
"""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.spaces import Bits, Fields, Space, Tokens
from quickstudy.base.text import described

Promise = tuple[str, Callable[[], str | None]]
"""A promise in words, and its check: it gives a detail or nothing, and raises `Broken` (or
anything) if it fails.
"""


@dataclass(frozen=True)
class Finding:
    """ok: the promise is kept. what: the promise, in words. detail: what was seen; always there
    when it is broken.
    """

    ok: bool
    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'}  {self.what}" + (
            f": {self.detail}" if self.detail else ""
        )


class Broken(Exception):
    """A promise is broken; the message is the detail of the finding."""


def examine_all(promises: Iterable[Promise], doors: int = 1) -> list[Finding]:
    """The findings of a table of promises, in its order.

    The first ones are doors: where one is broken, all that follow would complain of the same in
    words that say less, and are left out.
    """
    findings: list[Finding] = []
    for number, (what, check) in enumerate(promises):
        findings.append(examine(what, check))
        if number < doors and not findings[-1].ok:
            break
    return findings


def under(title: str, findings: Iterable[Finding]) -> list[Finding]:
    """So that it is clear what a finding is about where there are several things."""
    return [replace(finding, what=f"{title}: {finding.what}") for finding in findings]


def examine(what: str, check: Callable[[], str | None]) -> Finding:
    """The finding of one check."""
    try:
        detail = check()
    except Broken as fault:
        return Finding(False, what, str(fault))
    except Exception as error:  # whichever exception a component raises, its report goes on
        return Finding(False, what, describe(error))
    return Finding(True, what, detail or "")


def describe(error: BaseException) -> str:
    """An unexpected exception in one line, with the line that raised it; an error of quickstudy
    unchanged.
    """
    return str(error).partition("\n")[0] if isinstance(error, QuickstudyError) else described(error)


def draw(space: Space, rng: np.random.Generator, leading: tuple[int, ...]) -> Any:
    """Values of a space with some axes in front: uniform tokens and bits, normal reals, a mapping
    of them.

    A single token is a plain integer, as worlds are given it.
    """
    if isinstance(space, Fields):
        return {name: draw(part, rng, leading) for name, part in space.parts}
    if isinstance(space, Tokens):
        return rng.integers(space.size, size=leading) if leading else int(rng.integers(space.size))
    if isinstance(space, Bits):
        return rng.integers(2, size=(*leading, space.width)).astype(np.float32)
    return rng.normal(size=(*leading, space.width)).astype(np.float32)


def check_names(name: str, values: Any, space: Space) -> None:
    """Broken unless a value has the parts that its space names, and no other."""
    if not isinstance(space, Fields):
        if isinstance(values, Mapping | tuple):
            raise Broken(f"{name} must be a value of {space}, got a {type(values).__name__}")
        return
    wanted = [part for part, _ in space.parts]
    if not isinstance(values, Mapping) or sorted(values) != sorted(wanted):
        found = (
            f"a mapping with {', '.join(values)}"
            if isinstance(values, Mapping)
            else type(values).__name__
        )
        raise Broken(
            f"{name} must be a mapping with {', '.join(wanted)} and nothing else, got {found}"
        )


def as_bytes(value: Any) -> list[bytes]:
    """A value with all its parts, so that two can be compared to the last bit."""
    if isinstance(value, Mapping):
        return [part for name in sorted(value) for part in (name.encode(), *as_bytes(value[name]))]
    if isinstance(value, list | tuple):
        return [part for entry in value for part in as_bytes(entry)]
    array = np.asarray(value)
    return [repr(value).encode() if array.dtype.hasobject else array.tobytes()]


def check_equal(
    found: NDArray[Any], wanted: NDArray[Any], tolerance: float, complaint: str
) -> None:
    """Broken unless arrays have equal shapes and numbers, within a tolerance relative to the
    largest of them.
    """
    if found.shape != wanted.shape:
        raise Broken(f"{complaint} (shapes {found.shape} and {wanted.shape})")
    largest = float(np.abs(found - wanted).max(initial=0.0))
    if not largest <= tolerance * max(1.0, float(np.abs(wanted).max(initial=0.0))):
        raise Broken(f"{complaint} (by up to {largest:.3g})")


class Watch:
    """touched: names of the shared generators whose state has changed since the watch began."""

    def __init__(self) -> None:
        self._before = _states()

    @property
    def touched(self) -> list[str]:
        """Which generators have moved; that of a library that was imported since, if it was drawn
        from.
        """
        before = self._before if "torch" in self._before else {**self._before, **_undrawn_states()}
        return [name for name, state in _states().items() if before[name] != state]


@contextmanager
def undisturbed() -> Iterator[Watch]:
    """Watch the shared generators, and put them back afterwards: a check must leave no trace of
    what it checked.
    """
    # Looked at, not drawn from.
    kept_numpy, kept_python = np.random.get_state(), random.getstate()  # noqa: NPY002
    torch = sys.modules.get("torch")  # a check loads nothing by itself; the learner may
    kept_torch = torch.random.get_rng_state() if torch is not None else None
    try:
        yield Watch()
    finally:
        torch = sys.modules.get("torch")
        if torch is not None:
            torch.random.set_rng_state(_unused(torch) if kept_torch is None else kept_torch)
        np.random.set_state(kept_numpy)  # noqa: NPY002
        random.setstate(kept_python)


def _states() -> dict[str, str]:
    states = {
        "numpy.random": np.random.get_state(legacy=False),  # noqa: NPY002
        "random": random.getstate(),
    }
    torch = sys.modules.get("torch")
    if torch is not None:
        states["torch"] = torch.random.get_rng_state().numpy()
    return {name: _digest(state) for name, state in states.items()}


def _undrawn_states() -> dict[str, str]:
    """The state of a generator that was never drawn from, of libraries that a learner may import on
    the way.
    """
    torch = sys.modules.get("torch")
    return {} if torch is None else {"torch": _digest(_unused(torch).numpy())}


def _unused(torch: Any) -> Any:
    """The state of PyTorch's generator as it was seeded, before any draw."""
    return torch.Generator().manual_seed(torch.initial_seed()).get_state()


def _digest(state: object) -> str:
    return hashlib.sha256(repr(_plain(state)).encode()).hexdigest()


def _plain(state: object) -> object:
    if isinstance(state, dict):
        return {name: _plain(part) for name, part in state.items()}
    return state.tolist() if isinstance(state, np.ndarray) else state


def report_touched(touched: list[str]) -> None:
    """Broken if any shared generator was touched."""
    if touched:
        raise Broken(
            f"the state of {' and '.join(touched)} changed; sample from the generator that"
            " is passed in"
        )
