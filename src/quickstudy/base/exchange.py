"""What a protocol hands to a learner: material to learn from (`Lesson`), questions to answer
(`Exam`), and a world to play in (`Rehearsal`).

The first two hold one `Examples` per lane. A lane is a repetition that runs with others in one
compiled program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples

FED_BACK = 1e3
"""The largest value that is fed back in a free run. What leaves these bounds has diverged, and is
scored unchanged.
"""


@dataclass(frozen=True, eq=False)
class Lesson:
    """Material and the order in which it is shown.

    examples: one `Examples` per lane. order: (lane, item) numbers of the items in the order in
    which they are shown; an item may come more than once (several passes); a lane with fewer items
    than the others ends in -1. item: what is counted and numbered, `example` (a whole sequence with
    all its questions) or `question` (a single asked position, numbered as in `Exam`: by example,
    then time). validation: one `Examples` per lane that are never learned from, by which a learner
    may choose its settings; None where the protocol holds nothing back for that. free: one free run
    per lane on the validation part (`warm`, `target`, `begin`, `advance`), where the test has free
    runs too. stream: many lessons like it follow one another; shapes of compiled programs had
    better not depend on what is in this one.
    """

    examples: Sequence[Examples]
    order: NDArray[np.int64]
    item: str = "example"
    validation: Sequence[Examples] | None = None
    stream: bool = False
    free: Sequence[Any] | None = None

    @property
    def items(self) -> int:
        """Length of the order: how many items can be shown."""
        return int(self.order.shape[1])

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """(lane,): how many items each lane really has."""
        return np.asarray((self.order >= 0).sum(axis=1))

    def within(self, start: int, stop: int) -> NDArray[np.int64]:
        """(lane, 2): start and stop, no later than where each lane ends."""
        return np.minimum([[start, stop]], self.lengths[:, None])


@dataclass(frozen=True, eq=False)
class Exam:
    """Questions: the asked positions of some examples, numbered by example, then time.

    Lanes may have different numbers of questions; arrays are padded to the largest and `counted` is
    False there.
    """

    examples: Sequence[Examples]

    @cached_property
    def found(self) -> list[NDArray[np.int64]]:
        """For each lane (question, 2): time and example of every question."""
        return [np.argwhere(lane.asked.T)[:, ::-1] for lane in self.examples]

    @cached_property
    def positions(self) -> NDArray[np.int64]:
        """(lane, question, 2): the same, padded."""
        positions = np.zeros((len(self.examples), self._questions, 2), np.int64)
        for row, lane in zip(positions, self.found, strict=True):
            row[: len(lane)] = lane
        return positions

    @cached_property
    def targets(self) -> NDArray[Any]:
        """(lane, question, ...): the right answers."""
        pairs = zip(self.examples, self.positions, strict=True)
        return np.stack([lane.targets[where[:, 0], where[:, 1]] for lane, where in pairs])

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """(lane, question): False where a question is padding."""
        return (
            np.arange(self._questions)[None]
            < np.array([lane.questions for lane in self.examples])[:, None]
        )

    @cached_property
    def _questions(self) -> int:
        return max(lane.questions for lane in self.examples)


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """Episodes of a pure world. Episode n of a lane is drawn from that lane's key folded with n.

    keys: (lane,) JAX keys. A world of several players is played by the pupil in all their places.
    """

    world: Any
    keys: Any


class Transcript(NamedTuple):
    """What happened in episodes. It may leave a compiled function.

    actions: (lane, episode, step, ...), a mapping of such arrays where the world's outputs are
    `Fields`; rewards and done: (lane, episode, step); info: by name, (lane, episode, step, ...).
    Where a world has several players, actions and rewards have their axis after the step: (lane,
    episode, step, player, ...). All episodes have as many steps as the world's horizon; what comes
    after the first `done` belongs to none.
    """

    actions: Any
    rewards: Any
    done: Any
    info: Mapping[str, Any]

    def steps(self) -> NDArray[np.int64]:
        """(lane,): steps that belong to an episode, the one at which it is over included."""
        over = np.cumsum(np.asarray(self.done), axis=-1) - np.asarray(self.done) > 0
        return np.asarray((~over).sum(axis=(1, 2)))
