"""Faulty specimens, each with one fault that a checker must catch. Not registered: nobody runs them by mistake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.learner import Brief
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space
from quickstudy.cores.core import Array, Core, InputWeights
from quickstudy.gateway import eqx, jax, jnp
from quickstudy.learners.host import HostPupil
from quickstudy.testing.partners import Partners


class Table:
    """An honest learner: remembers which answer followed a token last, and says it."""

    def __init__(self, brief: Brief, seed: int) -> None:
        self._table = np.random.default_rng(seed).integers(brief.outputs.width, size=brief.inputs.width)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """One row after the other."""
        for token, answer in zip(inputs, targets, strict=True):
            if answer >= 0:
                self._table[token] = answer

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """From the table."""
        return np.asarray(self._table[inputs])


class Peeker(Table):
    """Reads the answer off the next input where there is one."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The inputs, one step early."""
        return np.append(inputs[1:], super().predict(inputs)[-1:])


class GlobalSeeder(Table):
    """Seeds NumPy's shared generator: its own answers are repeatable, and everybody else's numbers change."""

    def __init__(self, brief: Brief, seed: int) -> None:
        np.random.seed(seed)  # noqa: NPY002  # the fault
        super().__init__(brief, seed)


class Guesser(Table):
    """Guesses from a generator of its own that nobody seeded."""

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self._rng = np.random.default_rng()
        self._width = brief.outputs.width

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Anything."""
        return self._rng.integers(self._width, size=len(inputs))


class Scribbler(Table):
    """Uses the array it was handed as scratch paper."""

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Learn, then wipe the answers out."""
        super().learn(inputs, targets)
        targets[:] = -1


class WrongShape(Table):
    """Gives one answer for a whole sequence."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The last answer only."""
        return super().predict(inputs)[-1:]


class NotFinite(Table):
    """Has diverged."""

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self._width = brief.outputs.width

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Scores that are no numbers."""
        return np.full((len(inputs), self._width), np.nan)


class CarriesOver(Table):
    """Does not start afresh with a sequence: answers by the last token of the sequence before."""

    _last = 0

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The table's answers for the inputs shifted by one, across sequences."""
        shifted = np.append(self._last, inputs[:-1])
        self._last = int(inputs[-1])
        return super().predict(shifted)


class _HastyPupil(HostPupil):
    """Learns from the first item of every call."""

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """The first, counted as if it were all."""
        super().learn(lesson, start, min(stop, start + 1))
        self._shown += max(0, stop - start - 1)


@dataclass(frozen=True)
class Hasty:
    """Learns the more, the more often a lesson is interrupted."""

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """One lane."""
        return _HastyPupil(Table(brief, streams[0].integer("host")), brief)


class _CribbingPupil(HostPupil):
    """Reads the answers out of the exam."""

    def answer(self, exam: Exam) -> NDArray[np.float64]:
        """The right ones."""
        return np.asarray(np.eye(self._brief.outputs.width)[exam.targets])


@dataclass(frozen=True)
class Cribber:
    """A learner that is handed the whole exam and looks at the back."""

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """One lane."""
        return _CribbingPupil(Table(brief, streams[0].integer("host")), brief)


class LastAnswer:
    """Answers what it was last told: a rule, not a model."""

    def __init__(self, brief: Brief, seed: int) -> None:
        self._answer = 0

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Keep the last answer."""
        self._answer = int(targets[-1])

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The same everywhere."""
        return np.full(len(inputs), self._answer)


@dataclass(frozen=True)
class Forgetful(Partners):
    """A task that keeps state: every draw continues where the one before ended."""

    memory: list[int] = field(default_factory=list, init=False, compare=False, repr=False)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """The stream moved on by the number of earlier draws."""
        rng.random(len(self.memory))
        self.memory.append(count)
        return super().sample(rng, count)


@dataclass(frozen=True)
class OwnStream(Partners):
    """A task that ignores the stream: all repetitions are one."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """From a generator of its own."""
        return super().sample(np.random.default_rng(0), count)


@dataclass(frozen=True)
class SharedStream(Partners):
    """A task that draws from NumPy's shared generator as well."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """As it should be, and one draw too many."""
        np.random.random()  # noqa: NPY002  # the fault
        return super().sample(rng, count)


@dataclass(frozen=True)
class WrongOracle(Partners):
    """A task that calls a rule its oracle which is never right."""

    oracle: ClassVar[str] = "copy-last"


@dataclass(frozen=True)
class Silent(Partners):
    """A task with examples that ask nothing."""

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """The questions of the first example are taken back."""
        examples = super().sample(rng, count)
        examples.asked[:, 0] = False
        return examples


@dataclass(frozen=True)
class OutOfVocabulary(Partners):
    """A task that shows a token which is no word."""

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """One word too few."""
        return super().vocabulary[:-1]


class Accumulator(Core):
    """h <- tanh(h / 2 + W x). `unroll` may be replaced by a wrong one."""

    inputs: InputWeights
    fault: str = eqx.field(static=True)

    @property
    def width(self) -> int:
        """One feature per unit."""
        return int(self.inputs.weights.shape[1])

    def start(self, batch: int, capacity: int) -> Array:
        """Zeros; with the fault `capacity`, the capacity itself."""
        return jnp.full((batch, self.width), 0.1 * capacity if self.fault == "capacity" else 0.0)

    def step(self, state: Array, x: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """One update; with the fault `batch`, examples are centred by their mean."""
        drive = self.inputs(x)
        if self.fault == "batch":
            drive = drive - drive.mean(axis=0)
        state = jnp.tanh(0.5 * state + drive)
        return state, state

    def unroll(self, state: Array, xs: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """The scan of `step`, unless the fault is here."""
        last, features = super().unroll(state, xs, key=key)
        if self.fault == "values":
            features = 1.001 * features
        if self.fault == "gradients":
            features = jax.lax.stop_gradient(features)
        if self.fault == "ahead":
            features = features + features[::-1]
        return last, features


@dataclass(frozen=True)
class FaultyCore:
    """A small core with a fault of choice: none, `values`, `gradients`, `batch`, `ahead`, `capacity` or `weights`."""

    fault: str = "none"
    units: int = 4

    frozen: ClassVar[bool] = False

    def build(self, inputs: Space, rng: np.random.Generator) -> Accumulator:
        """Weights from the stream; with the fault `weights`, from nowhere in particular."""
        source = np.random.default_rng() if self.fault == "weights" else rng
        weights = source.uniform(-1.0, 1.0, (inputs.width, self.units))
        return Accumulator(InputWeights(jnp.asarray(weights, jnp.float32), inputs), self.fault)
