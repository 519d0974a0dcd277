"""Evolution of a readout: candidates are tried as a whole, and only how good each was is asked
for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.actions import Policy
from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.exchange import Exam, Lesson, Rehearsal, Transcript
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.batching import whole_lesson
from quickstudy.learners.chunked_features import streamed
from quickstudy.learners.cma_es import Strategy
from quickstudy.learners.core_with_training import Usual
from quickstudy.learners.features import KEPT, Shape, harvest
from quickstudy.learners.lanes import grown, over_lanes
from quickstudy.learners.readout import ReservoirPupil, check_frozen
from quickstudy.learners.rollout import Arena, Slots, by_episode, opened, rollout
from quickstudy.learners.stepping import Speaker
from quickstudy.tasks.worlds import episode_keys


@training("cma", version=2)
@dataclass(frozen=True)
class Evolved:
    """CMA-ES on a readout: each generation samples candidates and uses only their fitness.

    The task declares the fitness: squared error, cross-entropy, a criterion on the
    answers alone, or reward. In a world one episode evaluates one candidate. The best candidate so
    far answers. Up to 100 numbers the full covariance matrix is adapted, above that its diagonal.

    Source: Hansen 2016; Ros and Hansen 2008.

    Parameters
    ----------
    candidates:
        Candidates per generation; none: 4 + 3 ln n for a readout of n numbers.
    spread:
        Standard deviation of the first generation, around 0.
    passes:
        Generations on given material, each of which uses all of it (300 where no answer is shown).
    """

    candidates: int | None = parameter(None, at_least=2)
    spread: float = parameter(0.5, above=0)
    passes: int = parameter(100, at_least=1)

    batch: ClassVar[int] = 0
    by_question: ClassVar[bool] = False
    programs: ClassVar[int] = 4
    losses: ClassVar[tuple[str, ...]] = ("cross-entropy", "squared", "reward", "modulus")
    usual_for: ClassVar[tuple[Usual, ...]] = (Usual("fitness", frozen=True),)
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"fitness": {"passes": 300}}
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Reservoirs only."""
        check_frozen("cma", core)

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> EvolvedPupil:
        """A fresh pupil, for symbols, real numbers or a world."""
        return EvolvedPupil(self, core, brief, streams)


class Voice(Speaker):
    """A core and a readout (F+1, V), the bias last."""

    weights: Any

    def scores(self, features: Any) -> Any:
        """Linear."""
        return features @ self.weights[:-1] + self.weights[-1]


class EvolvedPupil(ReservoirPupil):
    """One cloud of readouts per lane. A candidate is drawn from its generation's number, so that a
    lesson may be cut anywhere; a generation that is not over is played again from its beginning,
    and is the same.
    """

    parts: ClassVar[Mapping[str, str]] = {"": "_cores", "shown": "shown"}

    def __init__(
        self, training: Evolved, core: CoreSpec, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        super().__init__(core, brief, streams)
        self._brief, self._outputs = brief, brief.outputs.width
        self._strategy = Strategy((self._width + 1) * self._outputs, training.candidates)
        self._clouds = [self._strategy.start(training.spread) for _ in streams]
        self._words = [[int(word) for word in stream.words("noise")] for stream in streams]
        self._waiting = np.zeros((self.lanes, self._strategy.population))
        self._lesson: tuple[Lesson, Any] | None = None

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """A generation whenever the whole lesson has been shown once more."""
        if lesson.item != "example":
            raise UsageError("cma learns from whole lessons, not from single questions")
        if self._lesson is None or self._lesson[0] is not lesson:
            self._lesson = lesson, self._material(lesson)
        counts = np.array([lane.count for lane in lesson.examples])
        bounds = lesson.within(start, stop)
        ends = bounds // counts[:, None]
        for generation in range(int(ends[:, 0].min()), int(ends[:, 1].max())):
            chosen = [self._drawn(lane) for lane in range(self.lanes)]
            rows, targets, weights = self._lesson[1]
            tables = self._tables(chosen)
            losses = np.asarray(
                _losses(rows, targets, weights, tables, self._brief.loss, self.lanes)
            )
            for lane, (first, last) in enumerate(ends):
                if first <= generation < last:
                    self._judged(lane, chosen[lane], losses[lane])
        self.shown += np.diff(bounds)[:, 0]

    def _material(self, lesson: Lesson) -> Any:
        """Features, targets and weights of all questions of a lesson, one pass of it."""
        small, times = whole_lesson(lesson)
        exam = Exam(small.examples)
        shape = Shape.of(small.examples, self._cores)
        if max(lane.questions for lane in small.examples) * 4 * self._width > KEPT:
            raise UsageError(
                "cma holds the features of a whole lesson, and they do not fit; give a smaller core"
            )
        rows = harvest(self._cores, exam, shape)
        found = exam.positions[..., 1]
        weights = (
            np.stack([own[numbers] for own, numbers in zip(times, found, strict=True)])
            * exam.counted
        )
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-30)
        targets, weights = (
            grown(array, self.lanes, rows.shape[1]) for array in (exam.targets, weights)
        )
        return rows, jnp.asarray(targets), jnp.asarray(weights, jnp.float32)

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Episode n is played by candidate n of its generation, all of which are played side by
        side.
        """
        size = self._strategy.population
        pieces = []
        for first in range(start // size * size, stop, size):
            chosen = [self._drawn(lane) for lane in range(self.lanes)]
            numbers = np.arange(first, first + size)
            played = self._played(rehearsal, numbers, self._tables(chosen))
            self._waiting = -rewards_of(played)
            begin, end = max(start, first) - first, min(stop, first + size) - first
            pieces.append(
                jax.tree.map(lambda part, a=begin, b=end: np.asarray(part)[:, a:b], played)
            )
            if end == size:
                for lane in range(self.lanes):
                    self._judged(lane, chosen[lane], self._waiting[lane])
        whole: Transcript = jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *pieces)
        self.shown += whole.steps()
        return whole

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes as the best so far."""
        played = self._played(rehearsal, np.arange(start, stop), self._best()[:, None])
        return Transcript(*(jax.tree.map(np.asarray, part) for part in played))

    def _played(
        self, rehearsal: Rehearsal, numbers: NDArray[np.int64], weights: NDArray[np.float32]
    ) -> Transcript:
        """weights: (lane, row, F+1, V), one row for each episode, or one for all."""
        numbers = np.tile(numbers, (self.lanes, 1))
        given = jnp.asarray(weights)
        return _trials(
            rehearsal.world,
            self._cores,
            given,
            self._brief.outputs,
            rehearsal.keys,
            numbers,
            self.lanes,
        )

    def _drawn(self, lane: int) -> NDArray[np.float64]:
        """The generation that is next."""
        cloud = self._clouds[lane]
        seed = np.random.SeedSequence([*self._words[lane], int(cloud["generation"])])
        return self._strategy.drawn(cloud, np.random.Generator(np.random.PCG64(seed)))

    def _judged(self, lane: int, chosen: NDArray[np.float64], losses: NDArray[np.float64]) -> None:
        bad = np.where(np.isfinite(losses), losses, np.inf)
        if not np.isfinite(bad).any():
            raise LearnerFault(
                "no candidate of a generation has a finite loss: the core has diverged"
            )
        self._clouds[lane] = self._strategy.judged(self._clouds[lane], chosen, bad)

    def _tables(self, chosen: Sequence[NDArray[np.float64]]) -> NDArray[np.float32]:
        """(lane, candidate, F+1, V)."""
        return (
            np.stack(chosen)
            .reshape(self.lanes, -1, self._width + 1, self._outputs)
            .astype(np.float32)
        )

    def _best(self) -> NDArray[np.float32]:
        """(lane, F+1, V)."""
        return self._tables([cloud["best"][None] for cloud in self._clouds])[:, 0]

    def answer(self, exam: Exam) -> NDArray[np.float32]:
        """(lane, question, output) by the best so far."""
        return streamed(self._speaker(), exam)

    def _speaker(self) -> Voice:
        return Voice(self._cores, jnp.asarray(self._best()))

    def get_state(self) -> dict[str, Any]:
        """Cores and clouds."""
        names = self._clouds[0]
        clouds = {name: np.stack([cloud[name] for cloud in self._clouds]) for name in names}
        return super().get_state() | clouds

    def set_state(self, state: Mapping[str, Any]) -> None:
        """The same."""
        super().set_state(state)
        for lane in range(self.lanes):
            self._clouds[lane] = {name: state[name][lane] for name in self._clouds[lane]}

    def forget_cached(self) -> None:
        """Features of a lesson: they were the other core's."""
        self._lesson = None

    @property
    def scale(self) -> str:
        """Logits of symbols, or real values."""
        return "logits" if self._tokens else "values"

    def updates(self) -> list[int]:
        """Generations."""
        return [int(cloud["generation"]) for cloud in self._clouds]

    def _trained_numbers(self) -> int:
        return self._strategy.size


def rewards_of(played: Transcript) -> NDArray[np.float64]:
    """(lane, episode): the sum of an episode's rewards up to its end."""
    done = np.asarray(played.done)
    over = np.cumsum(done, axis=-1) - done > 0
    return np.asarray(np.where(over, 0.0, np.asarray(played.rewards, np.float64)).sum(axis=-1))


@eqx.filter_jit
def _losses(rows: Any, targets: Any, weights: Any, tables: Any, loss: str, lanes: int) -> Any:
    """(lane, candidate) mean losses over the questions."""

    def single(rows: Any, targets: Any, weights: Any, tables: Any) -> Any:
        def of(table: Any) -> Any:
            given = rows @ table[:-1] + table[-1]
            if loss == "cross-entropy":
                wrong = -jnp.take_along_axis(jax.nn.log_softmax(given), targets[:, None], axis=1)[
                    :, 0
                ]
            elif loss == "modulus":
                middle = (weights[:, None] * given).sum(axis=0)
                wrong = (
                    jnp.square(jnp.square(given - middle) - jnp.square(targets))
                    + jnp.square(middle)
                ).sum(axis=1)
            else:
                wrong = jnp.square(given - targets).sum(axis=1)
            return (weights * wrong).sum()

        return jax.lax.map(of, tables)

    return over_lanes(single, lanes)(rows, targets, weights, tables)


@eqx.filter_jit
def _trials(
    world: Any, cores: Any, weights: Any, outputs: Space, keys: Any, numbers: Any, lanes: int
) -> Transcript:
    def single(core: Any, weights: Any, key: Any, numbers: Any) -> Transcript:
        first, later = jax.vmap(lambda number: episode_keys(key, number))(numbers)
        arena = Arena(world, opened(world, first, numbers), None, later)

        def act(state: Any, slots: Slots, keys: Any) -> Any:
            state, features = core.step(state, slots.seen)
            if len(weights) == 1:
                scores = features @ weights[0, :-1] + weights[0, -1]
            else:
                scores = jnp.einsum("rf,rfv->rv", features, weights[:, :-1]) + weights[:, -1]
            return state, Policy(outputs, scores).draw(), None

        played: Transcript = rollout(arena, act, core.start(len(numbers), world.horizon))[1]
        return by_episode(played)  # type: ignore[no-any-return]

    return over_lanes(single, lanes)(cores, weights, keys, numbers)  # type: ignore[no-any-return]
