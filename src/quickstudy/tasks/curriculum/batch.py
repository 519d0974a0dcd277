"""Many worlds of one table-driven task (micro 1 to 5.18) in one compiled call: byte for byte what
each is alone.

A step is `loop.micro`, an instance is drawn as in `tables`, from the same random numbers: SHAKE-128
of the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault
from quickstudy.numba_gateway import njit
from quickstudy.tasks.curriculum import batch_instances as at
from quickstudy.tasks.curriculum.batch_instances import TaskNumbers, ask, drawn, joined
from quickstudy.tasks.curriculum.compiled_draws import BUFFER
from quickstudy.tasks.curriculum.loop import BUDGET, IN_A_ROW, MICRO_STEPS, NEVER, SPACE
from quickstudy.tasks.curriculum.tables import FOUR


class TableBatch:
    """Worlds with these names of random streams of one task. Steps are as described in
    `adapters.gym.Batch`. ended: (world,) 1 where an instance has failed with the last action, 2
    where it was solved.
    """

    def __init__(self, task: str, needed: int, names: Sequence[str]) -> None:
        self._setting = TaskNumbers.of(task, needed)
        given = [f"{name}/instance/".encode() for name in names]
        self._numbers = np.zeros((len(given), at.NUMBERS), np.int64)
        self._bytes = np.zeros((len(given), at.NAME + max(map(len, given))), np.uint8)
        self._words = np.zeros((len(given), BUFFER), np.uint32)
        self._numbers[:, at.NAMED], self._numbers[:, at.NUMBER] = [len(name) for name in given], -1
        for row, name in zip(self._bytes, given, strict=True):
            row[at.NAME : at.NAME + len(name)] = np.frombuffer(name, np.uint8)

    @property
    def ended(self) -> NDArray[np.int64]:
        """How instances ended with the last action."""
        return self._numbers[:, at.ENDED]

    def reset(self) -> NDArray[np.int64]:
        """(world,) first bytes; the task restarts, with fresh instances."""
        seen = np.zeros(len(self._bytes), np.int64)
        _begun(self._numbers, self._bytes, self._words, self._setting, seen)
        return seen

    def step(self, actions: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """(world,) bytes, rewards, done."""
        given, count = np.asarray(actions), len(self._bytes)
        if (
            given.shape != (count,)
            or given.dtype.kind not in "iu"
            or given.min() < 0
            or given.max() > 255
        ):
            raise LearnerFault(
                f"replies are whole numbers from 0 to 255, one for each of {count} worlds"
            )
        seen, rewards, done = (
            np.empty(count, np.int64),
            np.empty(count, np.int64),
            np.empty(count, np.bool_),
        )
        given = given.astype(np.int64, copy=False)
        _stepped(self._numbers, self._bytes, self._words, self._setting, given, seen, rewards, done)
        return seen, rewards, done


@njit
def _begun(numbers: Any, contents: Any, buffers: Any, setting: TaskNumbers, seen: Any) -> None:
    for world in range(len(seen)):
        numbers[world, at.SOLVED] = 0
        seen[world] = drawn(numbers[world], contents[world], buffers[world], setting)


@njit
def _stepped(
    numbers: Any,
    contents: Any,
    buffers: Any,
    setting: TaskNumbers,
    actions: Any,
    seen: Any,
    rewards: Any,
    done: Any,
) -> None:
    """One reply in every world; see `loop.micro`. Most are for a byte of a text or of an answer,
    and done here.
    """
    for world in range(len(actions)):
        now, own, action = numbers[world], contents[world], actions[world]
        now[at.ENDED], done[world], rewards[world] = 0, False, 0
        if now[at.DRAINING]:
            now[at.PLACE] += 1
            if now[at.PLACE] < now[at.LENGTH]:
                seen[world], rewards[world] = (
                    own[at.TEXT + now[at.PLACE]],
                    0 if action == SPACE else -1,
                )
            else:
                _next(now, now[at.DRAINING], setting)
                done[world] = now[at.SOLVED] >= setting.needed
                seen[world] = drawn(now, own, buffers[world], setting)
            continue
        if now[at.PLACE] < now[at.LENGTH] - 1:
            now[at.PLACE] += 1
            seen[world] = own[at.TEXT + now[at.PLACE]]
            if action != SPACE:
                now[at.RUN], rewards[world] = 0, -1
            continue
        value = at.VALUES + now[at.CURRENT] * at.LONGEST
        late = now[at.ANSWERED] >= MICRO_STEPS - now[at.SHOWN] - now[at.LENGTH]
        now[at.ANSWERED] += 1
        if own[value + now[at.ANSWERED]] != action:
            now[at.RIGHT] = 0
        if now[at.ANSWERED] < own[value]:
            if not late:
                seen[world] = SPACE
                continue
            ended = 1
        else:
            rewards[world] = 1 if now[at.RIGHT] else -1
            ended = _judged(now, own, buffers[world], setting, late)
            if ended == 0 or now[at.LENGTH]:
                now[at.DRAINING], now[at.PLACE] = ended, 0
                seen[world] = own[at.TEXT]
                continue
        _next(now, ended, setting)
        done[world] = now[at.SOLVED] >= setting.needed
        seen[world] = drawn(now, own, buffers[world], setting)


@njit
def _judged(now: Any, own: Any, buffer: Any, setting: TaskNumbers, late: bool) -> int:
    """An answer is whole: 0, or how the instance ends. The text is the feedback after it, with
    the next question.
    """
    now[at.SHOWN] += now[at.LENGTH] + now[at.ANSWERED] - 1
    now[at.ASKED] += 1
    now[at.RUN] = now[at.RUN] + 1 if now[at.RIGHT] else 0
    ended = 0
    if now[at.RUN] >= IN_A_ROW:
        ended = 2 if now[at.ASKED] <= now[at.SOFT] else 1
    else:
        if now[at.SOFT] == NEVER and _known(now, setting):
            now[at.SOFT] = now[at.ASKED] + BUDGET
        if now[at.ASKED] > now[at.SOFT]:
            if now[at.HARD] == NEVER:
                now[at.HARD] = now[at.ASKED] * 2
            if now[at.ASKED] > now[at.HARD]:
                ended = 1
    _said(now, own, setting)
    if ended == 0:
        ask(now, own, buffer, setting)
        ended = 1 if late else 0
    return ended


@njit
def _next(now: Any, ended: int, setting: TaskNumbers) -> None:
    """An instance is over. A task that was passed restarts."""
    if now[at.SOLVED] >= setting.needed:
        now[at.SOLVED] = 0
    now[at.ENDED] = ended
    now[at.SOLVED] = now[at.SOLVED] + 1 if ended == 2 else 0


@njit
def _known(now: Any, setting: TaskNumbers) -> bool:
    """Whether the answers can be known by now; see `tables`."""
    question, right = now[at.CURRENT], now[at.RIGHT] == 1
    if setting.kind == at.ECHO:
        return True
    if setting.kind == at.ONE_ANSWER or setting.kind == at.LETTERS_AND_ECHO:
        known = now[at.LEFT] == 0 or (right and (setting.kind == at.ONE_ANSWER or question < FOUR))
        now[at.LEFT] -= 0 if right else 1
        return bool(known)
    if now[at.OPEN + question] > 0:
        now[at.OPEN + question] -= 1
        if right or now[at.OPEN + question] == 0:
            now[at.OPEN + question] = 0
            now[at.LEFT] -= 1
    return bool(now[at.LEFT] == 0)


@njit
def _said(now: Any, own: Any, setting: TaskNumbers) -> None:
    """The feedback becomes the text."""
    now[at.LENGTH] = 0
    if setting.kind != at.TABLE:
        return
    for place in range(now[at.NOISE]):
        own[at.TEXT + place] = own[at.NOISES + place]
    end = joined(own, at.TEXT + now[at.NOISE], at.VALUES + now[at.CURRENT] * at.LONGEST)
    if setting.short and now[at.RIGHT] and setting.ends >= 0:
        end -= 1
    if setting.closes >= 0:
        own[end] = setting.closes
        end += 1
    now[at.LENGTH] = end - at.TEXT
