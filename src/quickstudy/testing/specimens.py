"""A collection of faulty learners, in plain NumPy, with one typical mistake each. None
is registered.

    quickstudy check src/quickstudy/testing/specimens.py:PeeksAhead

`breaks` names the promise of the checkers that is broken. It is the only one, but of answers that
cannot be repeated: they are not the same in two calls as in one either. Those that end in `Numbers`
answer with real numbers, those that end in `Actor` act in a world; `Honest`, `HonestNumbers` and
`HonestActor` have no fault. `specimen_players` has learners that play whole episodes.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.kept import KeptAttributes
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.spaces import Reals, Tokens


class Honest(KeptAttributes):
    """Remembers which answer followed a symbol last; before, it guesses by its seed."""

    reads = gives = (Tokens,)
    breaks: ClassVar[str] = ""
    kept: ClassVar[tuple[str, ...]] = ("table",)

    def __init__(self, brief: Brief, seed: int) -> None:
        self.outputs = brief.outputs.width
        self.table = np.random.default_rng(seed).integers(self.outputs, size=brief.inputs.width)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """The last answer counts."""
        asked = targets >= 0
        self.table[inputs[asked]] = targets[asked]

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The entry of the table."""
        return np.asarray(self.table[inputs])


class PeeksAhead(Honest):
    """Reads the answer off the next input, as a bidirectional layer or a missing mask does."""

    breaks = "does not look ahead"

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The next input, but after the last."""
        return np.append(inputs[1:], super().predict(inputs)[-1:])


class IgnoresItsSeed(Honest):
    """Samples its weights from an unseeded generator."""

    breaks = "same seed, same answers"
    kept: ClassVar[tuple[str, ...]] = ("table", "noise")

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self.noise = np.random.default_rng().random((brief.inputs.width, self.outputs))

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The table, with weights that are other ones every time."""
        return np.asarray(10 * np.eye(self.outputs)[self.table[inputs]] + self.noise[inputs])


class TouchesGlobalRandomness(Honest):
    """Seeds NumPy's shared generator: its answers can be repeated, but the numbers of other
    code change.
    """

    breaks = "touches no global randomness"

    def __init__(self, brief: Brief, seed: int) -> None:
        np.random.seed(seed % 2**32)  # noqa: NPY002  # the fault
        super().__init__(brief, seed)


class DiffersBetweenRuns(Honest):
    """Has its weights in the class, where the next learner finds what was left of the one
    before.
    """

    breaks = "same seed, same answers"
    made: ClassVar[list[int]] = []
    kept: ClassVar[tuple[str, ...]] = ("table", "bias")

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self.made.append(seed)
        self.bias = len(self.made)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The right answer, with a score that tells how many learners there have been."""
        return np.asarray(np.eye(self.outputs)[self.table[inputs]] * self.bias)


class ForgetsAtSnapshot(Honest):
    """Comes back from a snapshot as if nothing had been learned."""

    breaks = "comes back from a snapshot"

    def restore(self, snapshot: Snapshot) -> None:
        """A fresh table."""
        self.table = np.zeros_like(snapshot.arrays["table"])


class AnswersDifferentlyRestored(Honest):
    """Answers through one of two programs that differ in the last bits. Which one depends on
    whether it has learned since it was made, and the snapshot does not record that.
    """

    breaks = "comes back from a snapshot"

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self.share: np.floating[Any] = np.float32(1 / 3)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Switch to double precision."""
        super().learn(inputs, targets)
        self.share = np.float64(1 / 3)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """A score for the remembered answer, in the precision of the program."""
        return np.asarray(np.eye(self.outputs)[self.table[inputs]] * self.share)


class FailsToRestore(Honest):
    """Looks in its snapshot for an array that is not there. A run that is resumed then restarts."""

    breaks = "comes back from a snapshot"

    def restore(self, snapshot: Snapshot) -> None:
        """Raises KeyError."""
        self.table = np.array(snapshot.arrays["tables"])


class HonestNumbers(KeptAttributes):
    """A line fitted to its targets by gradient steps."""

    reads = gives = (Reals,)
    breaks: ClassVar[str] = ""
    kept: ClassVar[tuple[str, ...]] = ("slope",)

    def __init__(self, brief: Brief, seed: int) -> None:
        self.slope = 0.01 * float(np.random.default_rng(seed).normal())

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """One step on the mean of what is asked."""
        asked = ~np.isnan(targets[:, 0])
        x, y = inputs[asked, 0], targets[asked, 0]
        self.slope += 0.1 * float(np.mean(x * (y - self.slope * x)))

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """On the line."""
        return np.asarray(self.slope * inputs)


class PeeksAheadNumbers(HonestNumbers):
    """Takes the mean off the whole sequence, as a normalisation over time does."""

    breaks = "real numbers: does not look ahead"

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """On the line through numbers without their mean."""
        return np.asarray(self.slope * (inputs - inputs.mean(axis=0)))


class NotFiniteNumbers(HonestNumbers):
    """Divides by what may be nothing."""

    breaks = "real numbers: answers in the right shape, all finite"

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Not a number, after the first input."""
        answers = super().predict(inputs)
        answers[0] = np.nan
        return answers


class ForgetsAtSnapshotNumbers(HonestNumbers):
    """Comes back from a snapshot as if nothing had been learned."""

    breaks = "real numbers: comes back from a snapshot"

    def restore(self, snapshot: Snapshot) -> None:
        """No slope."""
        self.slope = 0.0


class HonestActor(KeptAttributes):
    """Keeps the rewards that each action had after each observation, and takes the best, or another
    by chance.
    """

    breaks: ClassVar[str] = ""
    kept: ClassVar[tuple[str, ...]] = ("values", "last", "rng")

    def __init__(self, brief: Brief, seed: int) -> None:
        if (
            brief.loss != "reward"
            or not isinstance(brief.inputs, Tokens)
            or not isinstance(brief.outputs, Tokens)
        ):
            raise NotApplicable("it acts, on symbols")
        self.rng = np.random.default_rng(seed)
        self.values = np.zeros((brief.inputs.size, brief.outputs.size))
        self.last: list[int] | None = None

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """The best action so far; while it learns, every other time any."""
        if self.last is not None and learning:
            self.values[tuple(self.last)] += reward
        explores, other = self.rng.random() < 0.5, int(self.rng.integers(self.values.shape[1]))
        action = other if learning and explores else int(self.values[observation].argmax())
        self.last = [int(observation), action]
        return action


class ActsOutOfRangeActor(HonestActor):
    """Counts its actions from 1."""

    breaks = "a world: acts within its space"

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """One too many."""
        return super().act(observation, reward, first, learning) + self.values.shape[1]


class IgnoresItsSeedActor(HonestActor):
    """Explores with an unseeded generator."""

    breaks = "a world: same seed, same actions"

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self.rng = np.random.default_rng()


class LearnsWhenToldNotActor(HonestActor):
    """Goes on learning in the test."""

    breaks = "a world: does not learn when learning is off"

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """Learns from the reward even when learning is off."""
        if self.last is not None and not learning:
            self.values[tuple(self.last)] += reward
        return super().act(observation, reward, first, learning)


class ForgetsAtSnapshotActor(HonestActor):
    """Comes back from a snapshot without what it has learned."""

    breaks = "a world: comes back from a snapshot"

    def restore(self, snapshot: Snapshot) -> None:
        """All but the values."""
        super().restore(snapshot)
        self.values = np.zeros_like(self.values)
