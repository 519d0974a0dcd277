"""Worlds, seen alike: walked through by chance, written down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import WorldTask, spaces_of


class Row(NamedTuple):
    """One step: what was seen, what was done then, what that brought."""

    step: int
    observation: Any
    action: Any
    reward: Any
    done: bool
    info: Mapping[str, Any]


def transcript(task: Any, streams: Streams, steps: int) -> list[Row]:
    """The first steps in a task's world, one episode after another, by pure chance."""
    outputs = spaces_of(task)[1]
    if not isinstance(task, WorldTask) or not isinstance(outputs, Tokens):
        raise UsageError(f"{task.id}: only worlds on the host, in which symbols are said, can be written down")
    world, rng = task.open(streams), streams.numpy("actor")  # type: ignore[arg-type]
    rows: list[Row] = []
    seen = world.reset()
    for step in range(steps):
        action = int(rng.integers(outputs.size))
        turn = world.step(action)
        rows.append(Row(step, seen, action, turn.reward, bool(turn.done), dict(turn.info)))
        seen = world.reset() if turn.done else turn.observation
    return rows
