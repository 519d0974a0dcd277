"""A table-driven task as a `PureWorldTask`: whole lives from a key, inside compiled programs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.task import Turn
from quickstudy.gateway import jax, jnp
from quickstudy.tasks.curriculum.batch_instances import TaskNumbers
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.pure_tables import Fixed, Queue, State, begun, seen, stepped
from quickstudy.tasks.curriculum.queues import Rows, Source, asked_at_most, least_steps
from quickstudy.tasks.curriculum.world import renaming_of


def key_name(words: NDArray[np.uint32]) -> str:
    """The name of the random stream that the two words of a key stand for."""
    return "".join(f"{word:08x}" for word in words)


def begun_by_key(member: str, needed: int, renamed: bool, key: Any, steps: int) -> tuple[State, Any]:
    """A fresh life in a task with instances enough for so many steps, and the first byte.

    The instances are drawn on the host, by the compiled SHAKE-128 of the other worlds: a pure function of the key.
    """
    number = member.partition("-")[2]
    setting = TaskNumbers.of(number, needed)
    draw = _drawing(number, steps // least_steps(setting) + 2, renamed)
    shapes = jax.tree.map(lambda part: jax.ShapeDtypeStruct(part.shape, part.dtype), _room(setting, draw.rows))
    shapes = (*shapes, *[jax.ShapeDtypeStruct((256,), np.uint8)] * 2)
    *rows, shown_as, meant = jax.pure_callback(draw, shapes, jax.random.key_data(key), vmap_method="sequential")
    kind, closes, short = jnp.int32(setting.kind), jnp.int32(setting.closes), jnp.asarray(setting.short)
    state = begun(Queue(*rows), Fixed(kind, jnp.int32(needed), closes, short, shown_as, meant))
    return state, seen(state)


def turned(state: State, action: Any) -> tuple[State, Turn]:
    """One reply."""
    after, byte, reward, ended = stepped(state, action)
    return after, Turn(byte, reward.astype(jnp.float32), after.over, {"ended": jnp.where(state.over, 0, ended)})


def _room(setting: TaskNumbers, rows: int) -> Rows:
    digits = setting.noise[0] + max(0, setting.noise[1] - 1)
    return Rows.empty(rows, asked_at_most(setting.kind, 10), digits)


class _Drawing:
    """Draws the instances of a task for a key."""

    def __init__(self, number: str, rows: int, renamed: bool) -> None:
        self.number, self.rows, self.renamed = number, rows, renamed

    def __call__(self, words: Any) -> tuple[NDArray[Any], ...]:
        name = key_name(np.asarray(words))
        source = Source(self.number, name)
        rows = _room(source.setting, self.rows)
        source.fill(rows)
        shown_as = renaming_of(Draws(f"{name}/symbols")) if self.renamed else bytes(range(256))
        meant = bytes(shown_as.index(byte) for byte in range(256))
        return (*rows, np.frombuffer(shown_as, np.uint8), np.frombuffer(meant, np.uint8))


@lru_cache
def _drawing(number: str, rows: int, renamed: bool) -> _Drawing:
    # One object for equal arguments: a program is compiled once for each.
    return _Drawing(number, rows, renamed)
