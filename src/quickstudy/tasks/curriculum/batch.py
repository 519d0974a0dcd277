"""Many worlds of one table-driven task (micro 1 to 5.18) in one compiled call: byte for byte what each is alone.

A step is `loop.micro`, an instance is drawn as in `tables`, from the same random numbers: SHAKE-128 of the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault
from quickstudy.compiled import njit
from quickstudy.tasks.curriculum.batch_instances import (
    ANSWERED,
    ASKED,
    CURRENT,
    DRAINING,
    ECHO,
    ENDED,
    HARD,
    LEFT,
    LENGTH,
    LETTERS_AND_ECHO,
    LONGEST,
    NAME,
    NAMED,
    NOISE,
    NOISES,
    NUMBER,
    NUMBERS,
    ONE_ANSWER,
    OPEN,
    PLACE,
    RIGHT,
    RUN,
    SHOWN,
    SOFT,
    SOLVED,
    TABLE,
    TEXT,
    VALUES,
    TaskNumbers,
    ask,
    drawn,
    joined,
)  # fmt: skip
from quickstudy.tasks.curriculum.compiled_draws import BUFFER
from quickstudy.tasks.curriculum.loop import BUDGET, IN_A_ROW, MICRO_STEPS, NEVER, SPACE
from quickstudy.tasks.curriculum.tables import FOUR


class TableBatch:
    """Worlds with these names of random streams of one task. What `adapters.gym.Batch` says of steps holds here. ended:
    (world,) 1 where an instance has failed with the last action, 2 where it was solved.
    """

    def __init__(self, task: str, needed: int, names: Sequence[str]) -> None:
        self._setting = TaskNumbers.of(task, needed)
        given = [f"{name}/instance/".encode() for name in names]
        self._numbers = np.zeros((len(given), NUMBERS), np.int64)
        self._bytes = np.zeros((len(given), NAME + max(map(len, given))), np.uint8)
        self._words = np.zeros((len(given), BUFFER), np.uint32)
        self._numbers[:, NAMED], self._numbers[:, NUMBER] = [len(name) for name in given], -1
        for row, name in zip(self._bytes, given, strict=True):
            row[NAME : NAME + len(name)] = np.frombuffer(name, np.uint8)

    @property
    def ended(self) -> NDArray[np.int64]:
        """How instances ended with the last action."""
        return self._numbers[:, ENDED]

    def reset(self) -> NDArray[np.int64]:
        """(world,) first bytes; the task anew, with fresh instances."""
        seen = np.zeros(len(self._bytes), np.int64)
        _begun(self._numbers, self._bytes, self._words, self._setting, seen)
        return seen

    def step(self, actions: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
        """(world,) bytes, rewards, done."""
        given, count = np.asarray(actions), len(self._bytes)
        if given.shape != (count,) or given.dtype.kind not in "iu" or given.min() < 0 or given.max() > 255:
            raise LearnerFault(f"replies are whole numbers from 0 to 255, one for each of {count} worlds")
        seen, rewards, done = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.bool_)
        given = given.astype(np.int64, copy=False)
        _stepped(self._numbers, self._bytes, self._words, self._setting, given, seen, rewards, done)
        return seen, rewards, done


@njit
def _begun(numbers: Any, contents: Any, buffers: Any, setting: TaskNumbers, seen: Any) -> None:
    for world in range(len(seen)):
        numbers[world, SOLVED] = 0
        seen[world] = drawn(numbers[world], contents[world], buffers[world], setting)


@njit
def _stepped(
    numbers: Any, contents: Any, buffers: Any, setting: TaskNumbers, actions: Any, seen: Any, rewards: Any, done: Any
) -> None:
    """One reply in every world; see `loop.micro`. Most are for a byte of a text or of an answer, and done here."""
    for world in range(len(actions)):
        now, own, action = numbers[world], contents[world], actions[world]
        now[ENDED], done[world], rewards[world] = 0, False, 0
        if now[DRAINING]:
            now[PLACE] += 1
            if now[PLACE] < now[LENGTH]:
                seen[world], rewards[world] = own[TEXT + now[PLACE]], 0 if action == SPACE else -1
            else:
                _next(now, now[DRAINING], setting)
                done[world] = now[SOLVED] >= setting.needed
                seen[world] = drawn(now, own, buffers[world], setting)
            continue
        if now[PLACE] < now[LENGTH] - 1:
            now[PLACE] += 1
            seen[world] = own[TEXT + now[PLACE]]
            if action != SPACE:
                now[RUN], rewards[world] = 0, -1
            continue
        value = VALUES + now[CURRENT] * LONGEST
        late = now[ANSWERED] >= MICRO_STEPS - now[SHOWN] - now[LENGTH]
        now[ANSWERED] += 1
        if own[value + now[ANSWERED]] != action:
            now[RIGHT] = 0
        if now[ANSWERED] < own[value]:
            if not late:
                seen[world] = SPACE
                continue
            ended = 1
        else:
            rewards[world] = 1 if now[RIGHT] else -1
            ended = _judged(now, own, buffers[world], setting, late)
            if ended == 0 or now[LENGTH]:
                now[DRAINING], now[PLACE] = ended, 0
                seen[world] = own[TEXT]
                continue
        _next(now, ended, setting)
        done[world] = now[SOLVED] >= setting.needed
        seen[world] = drawn(now, own, buffers[world], setting)


@njit
def _judged(now: Any, own: Any, buffer: Any, setting: TaskNumbers, late: bool) -> int:
    """An answer is whole: 0, or how the instance ends. The text is what is said after it, with the next question."""
    now[SHOWN] += now[LENGTH] + now[ANSWERED] - 1
    now[ASKED] += 1
    now[RUN] = now[RUN] + 1 if now[RIGHT] else 0
    ended = 0
    if now[RUN] >= IN_A_ROW:
        ended = 2 if now[ASKED] <= now[SOFT] else 1
    else:
        if now[SOFT] == NEVER and _known(now, setting):
            now[SOFT] = now[ASKED] + BUDGET
        if now[ASKED] > now[SOFT]:
            if now[HARD] == NEVER:
                now[HARD] = now[ASKED] * 2
            if now[ASKED] > now[HARD]:
                ended = 1
    _said(now, own, setting)
    if ended == 0:
        ask(now, own, buffer, setting)
        ended = 1 if late else 0
    return ended


@njit
def _next(now: Any, ended: int, setting: TaskNumbers) -> None:
    """An instance is over. A task that was passed begins anew."""
    if now[SOLVED] >= setting.needed:
        now[SOLVED] = 0
    now[ENDED] = ended
    now[SOLVED] = now[SOLVED] + 1 if ended == 2 else 0


@njit
def _known(now: Any, setting: TaskNumbers) -> bool:
    """Whether the answers can be known by now; see `tables`."""
    question, right = now[CURRENT], now[RIGHT] == 1
    if setting.kind == ECHO:
        return True
    if setting.kind == ONE_ANSWER or setting.kind == LETTERS_AND_ECHO:
        known = now[LEFT] == 0 or (right and (setting.kind == ONE_ANSWER or question < FOUR))
        now[LEFT] -= 0 if right else 1
        return bool(known)
    if now[OPEN + question] > 0:
        now[OPEN + question] -= 1
        if right or now[OPEN + question] == 0:
            now[OPEN + question] = 0
            now[LEFT] -= 1
    return bool(now[LEFT] == 0)


@njit
def _said(now: Any, own: Any, setting: TaskNumbers) -> None:
    """What is said after the answer becomes the text."""
    now[LENGTH] = 0
    if setting.kind != TABLE:
        return
    for place in range(now[NOISE]):
        own[TEXT + place] = own[NOISES + place]
    end = joined(own, TEXT + now[NOISE], VALUES + now[CURRENT] * LONGEST)
    if setting.short and now[RIGHT] and setting.ends >= 0:
        end -= 1
    if setting.closes >= 0:
        own[end] = setting.closes
        end += 1
    now[LENGTH] = end - TEXT
