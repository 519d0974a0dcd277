"""Has anybody touched the generators that a whole process shares? The only place that looks at them."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class Watch:
    """touched: names of the shared generators whose state has changed since the watch began."""

    def __init__(self) -> None:
        self._before = _states()

    @property
    def touched(self) -> list[str]:
        """Which generators have moved."""
        now = _states()
        return [name for name, state in self._before.items() if now[name] != state]


@contextmanager
def undisturbed() -> Iterator[Watch]:
    """Watch the shared generators, and put them back afterwards: a check must leave no trace of what it checked."""
    kept_numpy, kept_python = np.random.get_state(), random.getstate()  # noqa: NPY002  # looked at, not drawn from
    torch = sys.modules.get("torch")  # a check imports the learner's file first, and loads nothing by itself
    kept_torch = torch.random.get_rng_state() if torch is not None else None
    try:
        yield Watch()
    finally:
        if torch is not None:
            torch.random.set_rng_state(kept_torch)
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
    return {name: hashlib.sha256(repr(_plain(state)).encode()).hexdigest() for name, state in states.items()}


def _plain(state: object) -> object:
    if isinstance(state, dict):
        return {name: _plain(part) for name, part in state.items()}
    return state.tolist() if isinstance(state, np.ndarray) else state
