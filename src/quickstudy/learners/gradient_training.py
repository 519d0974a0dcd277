"""A training by gradient that a file of a user's can change: its loss, its update, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import eqx, jax, jnp, key_from_words
from quickstudy.learners.features import all_states
from quickstudy.learners.lanes import Frame, over_lanes, sizes_of, stack_lanes
from quickstudy.learners.online_batches import Batches, Cut, answering_streams
from quickstudy.learners.optimiser import OptimiserConfig, begin_moments, optimiser_step
from quickstudy.learners.pupil import CompiledPupil
from quickstudy.learners.stepping import Model, SteppingPupil
from quickstudy.learners.updates import of_tokens, of_values


class Batch(NamedTuple):
    """Examples of one update.

    inputs: (time, row, ...), padded with zeros at the end.
    positions: (row, question) steps at which answers are asked for.
    targets: (row, question, ...) right answers.
    weights: (row, question) what each counts in the mean; 0 in the padding.
    answers: how many outputs of the head are asked for; those of `further` come after them.
    losses: (outputs, targets, None) -> (question,) errors.
    """

    inputs: Any
    positions: Any
    targets: Any
    weights: Any
    answers: int
    losses: Callable[..., Any]

    def read(self) -> Any:
        """(row, question, ...): the inputs at the questions."""
        return self.inputs[self.positions, jnp.arange(len(self.positions))[:, None]]

    def features(self, model: Model, key: Any) -> Any:
        """(row, question, feature): what the core gives at the questions."""
        noise = key if model.core.capabilities.noisy else None
        return model.core.unroll_at(self.inputs, self.positions, len(self.inputs), key=noise)

    def mean(self, errors: Any) -> Any:
        """The mean over questions, then over examples, of errors (row, question)."""
        return (self.weights * errors).sum()

    def error(self, outputs: Any) -> Any:
        """The mean error of (row, question, output): cross-entropy of symbols, squared error of
        real numbers. Outputs after those that are asked for are ignored.
        """
        flat = self.targets.reshape(-1, *self.targets.shape[2:])
        asked = outputs[..., : self.answers].reshape(len(flat), -1)
        return self.mean(self.losses(asked, flat, None).reshape(self.weights.shape))


@dataclass(frozen=True)
class GradientTraining:
    """Adam on a loss, one update for each batch of examples. A base: override `loss` or `update`.

    rate: step size.
    batch: examples of an update.
    passes: times the material is shown.
    """

    rate: float = parameter(0.003, above=0)
    batch: int = parameter(8, at_least=1)
    passes: int = parameter(10, at_least=1)

    id: ClassVar[str]
    programs: ClassVar[int] = 2
    by_question: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Any core: of a reservoir, only the head is trained."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> GradientPupil:
        """A fresh pupil."""
        return GradientPupil(self, core, brief, streams)

    def further(self, brief: Brief) -> int:
        """Outputs of the head besides those that are asked for; they come after them."""
        return 0

    def prepare(self, model: Model) -> Any:
        """What the rule keeps from update to update, as arrays: here the moments of Adam."""
        return begin_moments(eqx.filter(model, model.trainable()))

    def loss(self, model: Model, batch: Batch, key: Any) -> Any:
        """The number that is minimised."""
        return batch.error(model.head(batch.features(model, key)))

    def gradient(self, model: Model, batch: Batch, key: Any) -> Any:
        """Of the loss by everything that is trained; None where the model has anything else."""
        trained, fixed = eqx.partition(model, model.trainable())
        return jax.grad(lambda trained: self.loss(eqx.combine(trained, fixed), batch, key))(trained)

    def update(self, model: Model, kept: Any, batch: Batch, key: Any) -> tuple[Model, Any]:
        """(model, what is kept) after an update."""
        trained, fixed = eqx.partition(model, model.trainable())
        gradient = self.gradient(model, batch, key)
        trained, kept = optimiser_step(trained, kept, gradient, OptimiserConfig(self.rate))
        return eqx.combine(trained, fixed), kept


class GradientPupil(CompiledPupil, SteppingPupil):
    """Models in training, one per lane. An update is made when its batch is full."""

    parts: ClassVar[Mapping[str, str]] = {"": "_learned", "shown": "shown"}

    def __init__(
        self, training: GradientTraining, core: CoreSpec, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        super().__init__(len(streams))
        self._training, self._answers = training, brief.outputs.width
        self._tokens = isinstance(brief.outputs, Tokens)
        width = self._answers + training.further(brief)
        models = [Model.drawn(core, brief.inputs, width, stream) for stream in streams]
        if models[0].core.capabilities.leaks:
            raise NotApplicable(f"{training.id} has no way to show a core its own answers")
        kept = [training.prepare(model) for model in models]
        self._arrays, self._frame = Frame.of((stack_lanes(models), stack_lanes(kept)))
        self._sizes = sizes_of(models[0])
        self._stops = models[0].core.capabilities.stops
        self._words = np.stack([stream.words("noise", 2) for stream in streams])
        self._lesson: tuple[Lesson, Batches] | None = None
        self._exam: tuple[Exam, Batches] | None = None

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """All updates whose batch fills up between start and stop."""
        if lesson.item != "example":
            raise UsageError(
                f"{self._training.id} learns from whole examples, not from single questions"
            )
        size = self._training.batch
        if self._lesson is None or self._lesson[0] is not lesson:
            self._lesson = lesson, Batches.of_lesson(lesson, size, self._stops)
        bounds = lesson.within(start, stop)
        first, last = (bounds // size).min(axis=0)[0], (bounds // size).max(axis=0)[1]
        program = _updating(self._frame, self._training, self._answers, self._tokens, self.lanes)
        for number, cut in enumerate(self._lesson[1].cuts(int(first), int(last)), int(first)):
            # A lane whose lesson is over waits for the others.
            learns = (bounds // size)[:, 1] > number
            made = (self.shown // size + number - bounds[:, 0] // size).astype(np.int32)
            self._arrays = program(self._arrays, cut, self._words, made, learns)
        self.shown += np.diff(bounds)[:, 0]
        jax.block_until_ready(self._arrays)

    def answer(self, exam: Exam) -> NDArray[np.float32]:
        """(lane, question, output) logits or values."""
        if self._exam is None or self._exam[0] is not exam:
            self._exam = exam, Batches.of_exam(exam, self._stops)
        batches, program = self._exam[1], answering_streams(self._frame, self.lanes)
        scores = [
            np.asarray(program(self._arrays, cut.inputs, cut.places))
            for cut in batches.cuts(0, batches.order.shape[1])
        ]
        return batches.by_question(scores, exam.counted.shape[1])[..., : self._answers]

    def states(self, inputs: Any, apart: bool = False) -> Any:
        """(lane, time, example, feature) features of the cores with their present weights."""
        return all_states(self._learned[0].core, inputs, self.lanes, apart)

    def _read(self, state: Any, inputs: Any, program: Any, axis: int) -> tuple[Any, NDArray[Any]]:
        state, scores = super()._read(state, inputs, program, axis)
        return state, scores[..., : self._answers]

    def _speaker(self) -> Model:
        return self._learned[0]  # type: ignore[no-any-return]

    @property
    def _learned(self) -> tuple[Any, Any]:
        """Model, and what the rule keeps."""
        return self._frame.filled(self._arrays)  # type: ignore[no-any-return]

    @_learned.setter
    def _learned(self, learned: tuple[Any, Any]) -> None:
        self._arrays, self._frame = Frame.of(learned)

    @property
    def scale(self) -> str:
        """Logits of symbols, or real values."""
        return "logits" if self._tokens else "values"

    def updates(self) -> NDArray[np.int64]:
        """Full batches."""
        return self.shown // self._training.batch

    def sizes(self) -> tuple[int, int]:
        """Of a model."""
        return self._sizes


@lru_cache
def _updating(
    frame: Frame, training: GradientTraining, answers: int, tokens: bool, lanes: int
) -> Callable[..., list[Any]]:
    """The arrays of (model, what is kept) after one update: from those before, a cut, the words of
    the lanes' keys, the number of the update, and which lanes learn.
    """
    losses = of_tokens if tokens else of_values

    def single(model: Any, kept: Any, cut: Cut, words: Any, number: Any, learns: Any) -> Any:
        batch = Batch(cut.inputs, cut.places, cut.targets, cut.shares, answers, losses)
        key = jax.random.fold_in(key_from_words(words), number)
        after = training.update(model, kept, batch, key)

        def chosen(new: Any, old: Any) -> Any:
            return jnp.where(learns, new, old) if eqx.is_array(old) else old

        return jax.tree.map(chosen, after, (model, kept))

    @jax.jit
    def updated(arrays: Any, cut: Cut, words: Any, numbers: Any, learns: Any) -> list[Any]:
        model, kept = frame.filled(arrays)
        return Frame.of(over_lanes(single, lanes)(model, kept, cut, words, numbers, learns))[0]

    return updated
