"""Ridge regression: the readout with the least squared error on all questions so far, fitted at
once in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import OUT_OF_REACH, Brief, Snapshot, finite
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.cores.core import CoreSpec, precision_of
from quickstudy.jax_gateway import jax, jnp, key_from_words
from quickstudy.learners.chunked_features import Passed, Stretch, blocks
from quickstudy.learners.core_with_training import Usual
from quickstudy.learners.lanes import rounded
from quickstudy.learners.readout import ReservoirPupil, check_frozen
from quickstudy.learners.stepping import Reading, Speaker

STRENGTHS = tuple(10.0**exponent for exponent in range(-9, 4))
"""The strengths that are tried on a validation part."""
WITHOUT_VALIDATION = 1e-6
"""The strength where there is none."""
STEPS_TOGETHER, MOST_TOGETHER = 2048, 64
"""Steps whose features are held at once (15 MB for each lane of 1,800 float32 features), and
sequences among them.
"""
FREE_TOGETHER = 250
"""Steps that are read in one call before a free run on the validation part."""
LEAST_ERROR, MOST_ERROR = 1e-16, 1.0
"""Squared errors of free runs are counted within these bounds, over the variance of the targets.
Above 1 nothing is predicted any more, and the size of the error has no meaning.
"""
ROWS_TOGETHER = 512
"""Rows that are added to the sums by one product."""


def stretch_of(examples: Sequence[Examples]) -> Stretch:
    """Whole sequences, as many as fit; one that is longer than all that fits goes by itself, piece
    by piece.
    """
    longest, most = (max(getattr(lane, name) for lane in examples) for name in ("steps", "count"))
    questions = max(int(lane.asked.sum(axis=0).max(initial=1)) for lane in examples)
    steps = min(STEPS_TOGETHER, rounded(longest, 4))
    together = (
        min(MOST_TOGETHER, STEPS_TOGETHER // steps, rounded(most, 2)) if longest <= steps else 1
    )
    # One long sequence has room for a question at every step: for all questions, the program
    # is the same.
    return Stretch(
        steps, together, together * min(steps, rounded(questions, 2)) if together > 1 else steps
    )


class Sums:
    """The sums that ridge regression needs, of one lane: squares (F+1, F+1) of features and a
    constant 1, products (F+1, V) with the targets.

    Rows wait until there are enough of them for one product. So the sums depend on the rows and
    their order alone, to the last bit, and not on the pieces in which they came.
    """

    def __init__(self, features: int, outputs: int) -> None:
        self.arrays: dict[str, Any] = {
            "squares": np.zeros((features + 1, features + 1)),
            "products": np.zeros((features + 1, outputs)),
            "waiting": np.ones((ROWS_TOGETHER, features + 1)),
            "answers": np.zeros((ROWS_TOGETHER, outputs)),
            "seen": np.zeros(outputs, dtype=np.bool_),
            "rows": np.zeros((), dtype=np.int64),
        }

    def add(self, features: NDArray[Any], targets: NDArray[Any]) -> None:
        """Rows (R, F) with their targets (R, V)."""
        sums, added = self.arrays, 0
        sums["seen"] |= (targets > 0).any(axis=0)
        while added < len(features):
            begin = int(sums["rows"]) % ROWS_TOGETHER
            end = min(ROWS_TOGETHER, begin + len(features) - added)
            chosen = slice(added, added + end - begin)
            sums["waiting"][begin:end, :-1], sums["answers"][begin:end] = (
                features[chosen],
                targets[chosen],
            )
            added, sums["rows"] = chosen.stop, sums["rows"] + end - begin
            if end == ROWS_TOGETHER:
                sums["squares"], sums["products"] = self._total(end)

    def weights(self, strengths: Sequence[float]) -> NDArray[np.float64]:
        """(strength, F+1, V), the bias last and not held back; nan where a strength is lost in
        rounding, 0 before anything was learned.
        """
        from scipy.linalg import LinAlgError, cho_factor, cho_solve

        if not self.arrays["rows"]:
            return np.zeros((len(strengths), *self.arrays["products"].shape))
        squares, products = self._total(int(self.arrays["rows"]) % ROWS_TOGETHER)
        finite("the core's features", squares)
        held_back = np.append(np.ones(len(squares) - 1), 0.0)
        fits = np.full((len(strengths), *products.shape), np.nan)
        for fit, strength in zip(fits, strengths, strict=True):
            try:
                fit[:] = cho_solve(
                    cho_factor(squares + np.diag(strength * held_back), lower=True), products
                )
            except LinAlgError:
                continue
        return fits

    def _total(self, waiting: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows, answers = self.arrays["waiting"][:waiting], self.arrays["answers"][:waiting]
        return self.arrays["squares"] + rows.T @ rows, self.arrays["products"] + rows.T @ answers


@training("ridge", version=1)
@dataclass(frozen=True)
class Ridge:
    """Ridge regression readout: the least squares fit to all questions so far, in float64.

    It is fitted when an answer is needed. Symbols are one-hot targets, and one that was never an
    answer is never given as one. Features are accumulated in chunks of 2,048 steps, so that a
    series may have any length.

    Parameters
    ----------
    strength:
        Ridge parameter, added to the squares of the features (not of the bias). none: where the
        lesson has a validation part, the one of 1e-9, 1e-8 ... 1000 with the least squared error
        there, for each repetition; otherwise 1e-6. Validation data are not trained on.
    passes:
        Times that the material is shown; more than 1 counts it several times.
    free_strength:
        Ridge parameter of the readout that runs freely. `driven`: the same; `free`: the one with
        the least mean log squared error in free runs on the validation part. The default is `free`
        for tasks with free runs and a validation part (under the convention `published`, `driven`).
    """

    strength: float | None = parameter(None, above=0)
    passes: int = parameter(1, at_least=1)
    free_strength: str = parameter("driven", choices=("driven", "free"), added=True)

    batch: ClassVar[int] = 1
    by_question: ClassVar[bool] = False
    programs: ClassVar[int] = 1
    usual_for: ClassVar[tuple[Usual, ...]] = (Usual("reals", frozen=True),)
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Reservoirs only."""
        check_frozen("ridge", core)

    @staticmethod
    def usual_on(task: Any, convention: str) -> Mapping[str, Any]:
        """Defaults that depend on how a task is tested."""
        free = convention != "published" and stated(task, TaskFacts).validates_free
        return {"free_strength": "free"} if free else {}

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> RidgePupil:
        """A fresh pupil, for symbols or real numbers."""
        return RidgePupil(self.strength, core, brief, streams, self.free_strength == "free")


class Features(Speaker):
    """A core that hands on its features: the readout is in float64, and on the host."""

    def scores(self, features: Any) -> Any:
        """As they are."""
        return features


class Regression(Speaker):
    """A core and its readout (F+1, V) in one program, in the precision of the core."""

    weights: Any

    def scores(self, features: Any) -> Any:
        """The regression's values."""
        return features.astype(self.weights.dtype) @ self.weights[:-1] + self.weights[-1]


CHOSEN = "chosen/"
"""With a use after it, the name of the strengths chosen for that use in a snapshot."""


class RidgePupil(ReservoirPupil):
    """Adds up what it is shown; fits its readouts, one per lane, when they are needed."""

    parts: ClassVar[Mapping[str, str]] = {"": "_cores", "shown": "shown"}

    def __init__(
        self,
        strength: float | None,
        core: CoreSpec,
        brief: Brief,
        streams: Sequence[Streams],
        free: bool = False,
    ) -> None:
        super().__init__(core, brief, streams)
        self._strength, self._validates_free = strength, free and strength is None
        self._outputs = brief.outputs.width
        self._sums = [Sums(self._width, self._outputs) for _ in streams]
        words = np.stack([stream.words("noise", 2) for stream in streams])
        self._keys = key_from_words(words) if self._cores.capabilities.noisy else None
        self._validation: Exam | None = None
        self._free: Sequence[Any] | None = None
        self._passed = Passed()

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """Items start .. stop-1. The core always reads the same groups of the order, wherever a
        lesson is cut.
        """
        if lesson.item != "example":
            raise UsageError("ridge learns from whole examples, not from single questions")
        self._validation = None if lesson.validation is None else Exam(lesson.validation)
        self._free = lesson.free if self._validates_free else None
        stretch = stretch_of(lesson.examples)
        bounds = lesson.within(start, stop)
        for first in range(start // stretch.together * stretch.together, stop, stretch.together):
            chosen = lesson.order[:, first : first + stretch.together]
            group = Exam(
                [lane.take(order) for lane, order in zip(lesson.examples, chosen, strict=True)]
            )
            for block in blocks(
                self._cores, group.examples, stretch, self._noise_at(first), self._passed
            ):
                rows = np.asarray(block.rows)
                for lane, (numbers, (begin, end)) in enumerate(
                    zip(block.numbers, bounds - first, strict=True)
                ):
                    example = group.found[lane][numbers, 1]
                    wanted = (example >= begin) & (example < end)
                    new, targets = rows[lane, : len(numbers)], group.targets[lane, numbers]
                    if not wanted.all():
                        new, targets = new[wanted], targets[wanted]
                    self._sums[lane].add(new, self._vectors(targets))
        self.shown += np.diff(bounds)[:, 0]
        for fitted in ("weights", "free_weights"):
            self.extra.pop(fitted, None)

    def _noise_at(self, first: int) -> Any:
        """Keys of the group that begins with this item, for cores that are shaken while they
        learn.
        """
        return (
            None
            if self._keys is None
            else jax.vmap(lambda key: jax.random.fold_in(key, first))(self._keys)
        )

    def answer(self, exam: Exam) -> NDArray[np.float64]:
        """(lane, question, output): the regression's values; a symbol that has not been seen never
        wins.
        """
        return self._scores(self._values(exam, self._fitted()))

    def _scores(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of the regression's values (lane, row, output)."""
        if not self._tokens:
            return values
        seen = np.stack([sums.arrays["seen"] for sums in self._sums])
        return np.where(seen[:, None], values, OUT_OF_REACH)

    def _fitted(self) -> NDArray[np.float64]:
        """(lane, F+1, V) weights, refitted if anything was learned since."""
        if "weights" not in self.extra:
            exam = self._validation if self._strength is None else None
            strengths = STRENGTHS if exam else (self._strength or WITHOUT_VALIDATION,)
            fits = np.stack([sums.weights(strengths) for sums in self._sums])
            lost = np.isnan(fits[..., -1, 0])
            if lost.all(axis=1).any():
                raise LearnerFault(
                    f"strength {strengths[-1]:g} is lost in rounding; give a larger one"
                )
            errors = np.where(lost, np.inf, self._errors(exam, fits) if exam else 0.0)
            self.extra["weights"] = self._best("answers", fits, errors)
            if self._free is not None:
                errors = np.where(lost, np.inf, self._free_errors(self._free, np.nan_to_num(fits)))
                self.extra["free_weights"] = self._best("free runs", fits, errors)
        return self.extra["weights"]

    def _best(
        self, use: str, fits: NDArray[np.float64], errors: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Of every lane the weights with the least error; the strengths are noted under their
        use.
        """
        best = errors.argmin(axis=1)
        if fits.shape[1] > 1:
            self.extra[CHOSEN + use] = np.asarray(STRENGTHS)[best]
        return np.asarray(fits[np.arange(self.lanes), best])

    def remarks(self, lane: int) -> list[str]:
        """Which readouts have a strength at the end of what was tried: a better one may lie beyond
        it.
        """
        chosen = {
            name.removeprefix(CHOSEN): float(strengths[lane])
            for name, strengths in self.extra.items()
            if name.startswith(CHOSEN)
        }
        return [
            f"The ridge strength chosen for {use}, {strength:g}, is at the end of the range tried."
            for use, strength in chosen.items()
            if strength in (STRENGTHS[0], STRENGTHS[-1])
        ]

    def _running(self) -> NDArray[np.float64]:
        """(lane, F+1, V) weights of the readout that goes step by step, and so runs free."""
        fitted = self._fitted()
        return self.extra.get("free_weights", fitted)

    def _free_errors(self, runs: Sequence[Any], fits: NDArray[np.float64]) -> NDArray[np.float64]:
        """(lane, strength): the mean logarithm of the squared error in free runs, of weights (lane,
        strength, F+1, V). A logarithm, since one run that has diverged would outweigh all others.
        """
        warm, target = (
            np.stack([getattr(run, name) for run in runs]) for name in ("warm", "target")
        )
        strengths, starts, steps = fits.shape[1], warm.shape[2], target.shape[2]
        state = self.start(starts, warm.shape[1] + steps)
        for first in range(0, warm.shape[1], FREE_TOGETHER):
            read = warm[:, first : first + FREE_TOGETHER]
            state, features = super()._read(state, read, state.programs.unroll, axis=2)
        # Every strength goes on from every start: rows are (strength, start).
        state = self.rows(state, np.tile(np.arange(starts), strengths))
        rows = np.tile(features[:, -1], (1, strengths, 1))
        plants = [run.begin() for run in runs for _ in range(strengths)]
        spread = np.square(target - target.mean(axis=(1, 2), keepdims=True)).mean(axis=(1, 2, 3))
        total = np.zeros((self.lanes, strengths))
        for step in range(steps):
            by_strength = rows.reshape(self.lanes, strengths, starts, -1)
            answers = by_strength @ fits[:, :, :-1] + fits[:, :, -1:]
            moved = [
                run.advance(plants[lane * strengths + one], answers[lane, one], step)
                for lane, run in enumerate(runs)
                for one in range(strengths)
            ]
            plants = [plant for plant, _, _ in moved]
            reached = np.stack([there for *_, there in moved]).reshape(answers.shape)
            wrong = (
                np.square(reached - target[:, None, :, step]).mean(axis=-1) / spread[:, None, None]
            )
            total += np.log10(np.clip(wrong, LEAST_ERROR, MOST_ERROR)).mean(axis=2)
            if step + 1 < steps:
                following = np.stack([read for _, read, _ in moved]).reshape(
                    self.lanes, strengths * starts, -1
                )
                state, rows = super()._read(state, following, state.programs.step, axis=1)
        return np.where(np.isfinite(total), total / steps, np.inf)

    def _errors(self, exam: Exam, fits: NDArray[np.float64]) -> NDArray[np.float64]:
        """(lane, strength) squared errors, of weights (lane, strength, F+1, V)."""
        lanes, strengths, features, outputs = fits.shape
        side_by_side = np.moveaxis(fits, 1, 2).reshape(lanes, features, strengths * outputs)
        values = self._values(exam, side_by_side).reshape(lanes, -1, strengths, outputs)
        wrong = np.square(values - self._vectors(exam.targets)[:, :, None]).sum(axis=-1)
        return np.asarray(np.where(exam.counted[:, :, None], wrong, 0.0).sum(axis=1))

    def _values(self, exam: Exam, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """(lane, question, W) from weights (lane, F+1, W)."""
        values = np.zeros((*exam.counted.shape, weights.shape[2]))
        for block in blocks(
            self._cores, exam.examples, stretch_of(exam.examples), passed=self._passed
        ):
            rows = np.asarray(block.rows)
            for lane, numbers in enumerate(block.numbers):
                values[lane, numbers] = (
                    rows[lane, : len(numbers)] @ weights[lane, :-1] + weights[lane, -1]
                )
        return values

    def _vectors(self, targets: NDArray[Any]) -> NDArray[Any]:
        """Targets as vectors, symbols one-hot."""
        return np.eye(self._outputs)[targets] if self._tokens else targets

    def _speaker(self) -> Features:
        return Features(self._cores)

    def _voice(self) -> Regression:
        return Regression(self._cores, jnp.asarray(self._running(), precision_of(self._cores)))

    def _read(
        self, state: Reading, inputs: Any, program: Any, axis: int
    ) -> tuple[Reading, NDArray[Any]]:
        state, features = super()._read(state, inputs, program, axis)
        weights = self._running()
        flat = features.reshape(self.lanes, -1, features.shape[-1])
        values = self._scores(flat @ weights[:, :-1] + weights[:, -1:])
        return state, values.reshape(*features.shape[:-1], -1)

    def get_state(self) -> dict[str, Any]:
        """Cores and sums."""
        names = self._sums[0].arrays
        sums = {name: np.stack([lane.arrays[name] for lane in self._sums]) for name in names}
        return super().get_state() | sums

    def set_state(self, state: Mapping[str, Any]) -> None:
        """The same."""
        super().set_state(state)
        for lane, sums in enumerate(self._sums):
            sums.arrays = {name: state[name][lane].copy() for name in sums.arrays}

    def forget_cached(self) -> None:
        """Features: they were the other core's."""
        self._passed = Passed()

    def snapshot(self) -> Snapshot:
        """The state, and the readout that follows from it."""
        self._fitted()
        return super().snapshot()

    @property
    def scale(self) -> str:
        """The largest wins, no probabilities are meant; or real values."""
        return "order" if self._tokens else "values"

    def updates(self) -> list[int]:
        """Every question changes the fit."""
        return [int(sums.arrays["rows"]) for sums in self._sums]

    def _trained_numbers(self) -> int:
        return int(self._sums[0].arrays["products"].size)
