"""Rollouts of compiled programs in worlds that are in a table-driven task: passed as arrays, and
then followed on the host.

The worlds on the host stay what counts: every reply that a program has given is given to them too,
and what they show and reward must be what the program saw. That costs a microsecond a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.task import Life
from quickstudy.tasks.curriculum.queues import Rows, rules
from quickstudy.tasks.curriculum.tables import TABLES
from quickstudy.tasks.curriculum.world import ByteWorld, Member

AHEAD = 16
"""Instances that are handed over at a time."""


class TableLives:
    """Worlds, one for each lane, all fresh. The functions for a program are in `world`."""

    def __init__(self, worlds: Sequence[ByteWorld]) -> None:
        self._lanes, self._after = [_Lane(world) for world in worlds], None

    @classmethod
    def of(cls, worlds: Sequence[Any]) -> TableLives | None:
        """Of worlds that begin with such a task; None where one does not."""
        fit = all(isinstance(world, ByteWorld) and world.by_tables for world in worlds)
        return cls(worlds) if fit else None

    @property
    def world(self) -> tuple[Any, Any]:
        """`step` and `halts`, as `ActorPupil.live_in` wants them."""
        return _functions()

    @property
    def showing(self) -> list[int | None]:
        """What the worlds show; None where one has not begun, or is over."""
        return [lane.world.showing for lane in self._lanes]

    def supplied(self) -> tuple[Any, NDArray[np.int32]] | None:
        """The state of all lanes, with enough instances, and (lane,) the present byte; None if
        one is in another kind of task by now.
        """
        if not all(lane.standing() for lane in self._lanes):
            return None
        rows, fixed = (
            [
                np.stack(parts)
                for parts in zip(*(getattr(lane, name) for lane in self._lanes), strict=True)
            ]
            for name in ("rows", "fixed")
        )
        anew = np.array([lane.anew for lane in self._lanes])
        before = _blank(rows, fixed) if self._after is None else self._after
        state, begins = _programs()(before, rows, fixed, anew)
        both = zip(self.showing, np.asarray(begins), strict=True)
        seen = [int(byte) if now is None else now for now, byte in both]
        return state, np.array(seen, np.int32)

    def lived(self, lived: Any) -> list[Life]:
        """Follow the rollout of a program, and return it as the worlds on the host produce it."""
        self._after = lived.world
        taken, rows = int(lived.steps), np.asarray(lived.world.row)
        told = [np.asarray(part)[:, :taken] for part in (lived.seen, lived.done, lived.gained)]
        return [
            lane.followed(int(row), *own)
            for lane, row, *own in zip(self._lanes, rows, *told, strict=True)
        ]


class _Lane:
    """One world. rows, fixed: the state for its program; anew: it is at the beginning of a task."""

    rows: Rows
    fixed: tuple[Any, ...]

    def __init__(self, world: ByteWorld) -> None:
        self.world, self.anew = world, True
        self._used = 0

    def standing(self) -> bool:
        """Whether it is in a table-driven task; then its instances are sampled."""
        world = self.world
        place, number = world.standing()
        if not table_driven(world.members[place]):
            return False
        member = world.members[place]
        task, stream = task_number(member), world.names[place]
        if self.anew:
            self.rows = Rows.empty(AHEAD)
            self.rows.fill(task, stream, number)
            setting = rules(task)
            self.fixed = (
                np.int32(setting.kind),
                np.int32(member.needed),
                np.int32(setting.closes),
                np.bool_(setting.short),
                *(np.frombuffer(table, np.uint8) for table in world.renaming),
            )
        elif self._used:
            kept = AHEAD - self._used
            self.rows = self.rows.after(self._used)
            self.rows.fill(task, stream, number + kept, kept)
        self._used = 0
        return True

    def followed(
        self, row: int, seen: NDArray[Any], done: NDArray[Any], gained: NDArray[Any]
    ) -> Life:
        """The life that the world itself tells."""
        said = iter(done.astype(np.uint8).tobytes())
        life = self.world.live(lambda byte, reward: next(said), len(done))
        shown = np.frombuffer(bytes(life.observations), np.uint8)
        if (
            len(shown) != len(seen)
            or (shown != seen).any()
            or (np.asarray(life.rewards) != gained).any()
        ):
            raise RuntimeError(
                "a compiled life is not what its world shows: this is a defect of quickstudy,"
                " tell us"
            )
        self._used = row
        self.anew = bool(life.events) and bool(life.events[-1][1]["passed"])
        return life


def task_number(member: Member) -> str:
    """As `TABLES` has it."""
    return member.name.partition("-")[2]


def table_driven(member: Member) -> bool:
    """Whether it is one of micro 1 to 5.18, as published."""
    return not member.mini and TABLES.get(task_number(member)) is member.draw


@lru_cache
def _functions() -> tuple[Any, Any]:
    from quickstudy.tasks.curriculum.pure_tables import halts, stepped

    return lambda state, action: stepped(state, action)[:3], halts


def _blank(rows: Any, fixed: Any) -> Any:
    """A state of nothing, in the place of the one before the first: with it, a start needs no
    program of its own.
    """
    from quickstudy.jax_gateway import jax
    from quickstudy.tasks.curriculum.pure_tables import Fixed, Queue, begun

    kinds = jax.eval_shape(jax.vmap(begun), Queue(*rows), Fixed(*fixed))
    return jax.tree.map(lambda kind: np.zeros(kind.shape, kind.dtype), kinds)


@lru_cache
def _programs() -> Any:
    from quickstudy.jax_gateway import jax, jnp
    from quickstudy.tasks.curriculum.pure_tables import Fixed, Queue, State, begun, seen

    @jax.jit
    def supplied(after: Any, rows: Any, fixed: Any, anew: Any) -> Any:
        """Lanes at the beginning of a task, or where they were, with a new queue; and what is shown
        at a beginning.
        """
        fresh = jax.vmap(begun)(Queue(*rows), Fixed(*fixed))
        first = jax.vmap(seen)(fresh)
        kept = after._replace(row=jnp.zeros_like(after.row))

        def either(new: Any, old: Any) -> Any:
            return jnp.where(anew.reshape(-1, *[1] * (new.ndim - 1)), new, old)

        both = zip(fresh[2:], kept[2:], strict=True)
        return State(fresh.queue, fresh.fixed, *(either(new, old) for new, old in both)), first

    return supplied
