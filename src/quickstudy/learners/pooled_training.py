"""A model trained by Adam on batches of whole rows, and asked about rows: for long rows of very
different lengths.

Rows are cut to no more than a batch needs, in a few sizes, so that a batch of short rows does not
pay for the longest row there is; test rows are answered in groups of about equal length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import eqx, jax, jnp, lax, optax
from quickstudy.learners.lanes import over_lanes, sizes_of, stack_lanes
from quickstudy.learners.optimiser import OptimiserConfig, begin_moments, optimiser_step
from quickstudy.learners.pooled import Batch, RowExam, RowLesson, RowSettings
from quickstudy.learners.pupil import CompiledPupil
from quickstudy.learners.stepping import SteppingPupil


class RowPupil(CompiledPupil, SteppingPupil):
    """Models in training, one per lane. A model is called with a batch, what it has noted so far
    and a key (None when it answers), and gives (row, output) logits and its notes; it has `notes()`
    to begin with, `trainable`, and `speaker(notes)`, which answers step by step.
    """

    scale = "logits"
    parts: ClassVar[Mapping[str, str]] = {"": "_learned", "shown": "shown"}

    def __init__(
        self, settings: RowSettings, models: Sequence[Any], streams: Sequence[Streams]
    ) -> None:
        super().__init__(len(models))
        self._settings = settings
        self._trainable, self._sizes = models[0].trainable(), sizes_of(models[0])
        trained = eqx.filter(models[0], self._trainable)
        self._models = stack_lanes(
            [(model, model.notes(), begin_moments(trained)) for model in models]
        )
        self._keys = jnp.stack([stream.jax("noise") for stream in streams])
        self._lesson: tuple[Lesson, RowLesson] | None = None
        self._exam: tuple[Exam, RowExam] | None = None

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """All updates whose batch fills up between start and stop, those of one size in one
        call.
        """
        if lesson.item != "example":
            raise UsageError(
                "a learner of whole rows learns from whole examples, not from single questions"
            )
        if self._lesson is None or self._lesson[0] is not lesson:
            self._lesson = lesson, RowLesson(lesson, self._settings)
        material = self._lesson[1]
        bounds = lesson.within(start, stop) // self._settings.batch
        config = OptimiserConfig.of_lanes([OptimiserConfig(self._settings.rate)] * self.lanes)
        for first, last, places in material.calls(int(bounds[:, 0].min()), int(bounds[:, 1].max())):
            part = jnp.asarray(np.clip(bounds, first, last), jnp.int32)
            self._models = _train(
                self._models,
                (material.order, part, config, self._keys),
                material.rows,
                self._trainable,
                places,
                self._settings.batch,
                self._settings.padding_counts,
                self.lanes,
                material.shared,
            )
        self.shown += np.diff(lesson.within(start, stop))[:, 0]
        jax.block_until_ready(self._models)

    def answer(self, exam: Exam) -> NDArray[np.float32]:
        """(lane, question, output) logits."""
        if self._exam is None or self._exam[0] is not exam:
            self._exam = exam, RowExam(exam, self._settings)
        questions = self._exam[1]
        models, notes = self._models[:2]
        answers = [
            _answer(models, notes, batch, self.lanes, questions.shared)
            for batch in questions.batches
        ]
        rows = np.concatenate([np.asarray(answer) for answer in answers], axis=1)
        places = np.repeat(questions.places, self.lanes // len(questions.places), axis=0)
        found: NDArray[np.float32] = np.take_along_axis(rows, places[:, :, None], axis=1)
        return found[:, : exam.counted.shape[1]]

    def _speaker(self) -> Any:
        if self._settings.padding_counts:
            raise NotApplicable(
                "a network that counts the padding of its batch reads whole rows, not single steps"
            )
        models, notes = self._models[:2]
        return models.speaker(notes)

    @property
    def _learned(self) -> tuple[Any, Any]:
        """Models, notes and moments; and keys."""
        return self._models, self._keys

    @_learned.setter
    def _learned(self, learned: tuple[Any, Any]) -> None:
        self._models, self._keys = learned

    def updates(self) -> NDArray[np.int64]:
        """Full batches."""
        return self.shown // self._settings.batch

    def sizes(self) -> tuple[int, int]:
        """Of a model."""
        return self._sizes


def _with_material(function: Any, lanes: int, shared: bool) -> Any:
    """A function of one lane's own arrays and of material, made to work on all lanes."""
    if shared:
        return lambda own, material: over_lanes(lambda *own: function(own, material), lanes)(*own)
    return lambda own, material: over_lanes(lambda material, *own: function(own, material), lanes)(
        material, *own
    )


@eqx.filter_jit
def _train(
    state: Any,
    own: Any,
    rows: Any,
    trainable: Any,
    places: int,
    batch: int,
    padding_counts: bool,
    lanes: int,
    shared: bool,
) -> Any:
    def single(own: Any, rows: Any) -> Any:
        (model, notes, moments), order, bounds, config, key = own
        symbols, sizes, targets, of_example, shares = rows
        trained, fixed = eqx.partition(model, trainable)

        def loss(trained: Any, notes: Any, chosen: Any, key: Any) -> Any:
            numbers = of_example[chosen].reshape(-1)
            parts = shares[chosen].reshape(-1) / batch
            size = sizes[numbers]
            limit = jnp.broadcast_to(size.max(), size.shape) if padding_counts else size
            shown = Batch(symbols[numbers, :places], size, limit, parts)
            logits, notes = eqx.combine(trained, fixed)(shown, notes, key)
            each = optax.softmax_cross_entropy_with_integer_labels(
                logits, targets[numbers].astype(jnp.int32)
            )
            return (parts * each).sum(), notes

        def update(number: Any, carry: Any) -> Any:
            trained, notes, moments = carry
            chosen = lax.dynamic_slice(order, (number * batch,), (batch,))
            # The moments count the updates, over all lessons and calls.
            noise = jax.random.fold_in(key, moments.count)
            gradients, notes = jax.grad(loss, has_aux=True)(trained, notes, chosen, noise)
            trained, moments = optimiser_step(trained, moments, gradients, config)
            return trained, notes, moments

        trained, notes, moments = lax.fori_loop(
            bounds[0], bounds[1], update, (trained, notes, moments)
        )
        return eqx.combine(trained, fixed), notes, moments

    return _with_material(single, lanes, shared)((state, *own), rows)


@eqx.filter_jit
def _answer(models: Any, notes: Any, batch: Batch, lanes: int, shared: bool) -> Any:
    def single(own: Any, batch: Batch) -> Any:
        return own[0](batch, own[1], None)[0]

    return _with_material(single, lanes, shared)((models, notes), batch)
