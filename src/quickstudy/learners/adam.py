"""Backpropagation through time with Adam: core and head trained together, on whole examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import training
from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Brief, Cost, Snapshot
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import CoreSpec
from quickstudy.gateway import eqx, jax, jnp, lax, optax
from quickstudy.learners.harvest import all_states
from quickstudy.learners.lanes import named_arrays, over_lanes, stack_lanes, with_arrays
from quickstudy.learners.leak import check_leak
from quickstudy.learners.lengths import Lengths
from quickstudy.learners.packing import GroupedExam, Plan, grouped_exam, needed_steps, packed_lesson, phase_rows
from quickstudy.learners.padding import PaddedLesson, padded_lanes, padded_lesson

PACKED_TOGETHER, PADDED_TOGETHER = 48, 16
"""Sequences of an exam that are read side by side, by a core that takes any length and by one that does not: enough
for fast products, few enough to be about equally long."""

# The step size is applied by hand, as an array: a new setting is no new program.
_ADAM = optax.scale_by_adam()


class Head(eqx.Module):
    """An affine map from features to outputs."""

    weights: Any
    bias: Any

    @classmethod
    def drawn(cls, core: Any, outputs: int, rng: np.random.Generator) -> Head:
        """On top of a core, uniform within the bounds that it names: weights, then bias."""
        of_weights, of_bias = core.head_bounds
        weights = rng.uniform(-of_weights, of_weights, (core.width, outputs))
        bias = rng.uniform(-of_bias, of_bias, outputs)
        return cls(jnp.asarray(weights, jnp.float32), jnp.asarray(bias, jnp.float32))

    def __call__(self, features: Any) -> Any:
        """(..., V) from (..., F)."""
        return features @ self.weights + self.bias


class Model(eqx.Module):
    """A core and its head."""

    core: Any
    head: Head

    def trainable(self) -> Any:
        """What the core lets be trained, and the whole head."""
        return Model(self.core.trainable(), jax.tree.map(lambda _: True, self.head))


@training("adam", version=1)
@dataclass(frozen=True)
class Adam:
    """Backpropagation through time with Adam: one update per batch of examples.

    rate: step size. batch: examples per update. passes: times the material is shown, in a new order each time (more
    than 1 is replay, and the report says so). total: `mean` or `sum` of the examples' losses in a batch; an example's
    loss is the mean over its questions. The head starts uniform in +- 1/sqrt(features), unless the core says
    otherwise. A core with noise (dropout) has it while it learns, never when it answers.
    Source: Cisneros et al. 2022; the published programs add the gradients of 8 sequences.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(8, at_least=1)
    passes: int = parameter(10, at_least=1)
    total: str = parameter("mean", choices=("mean", "sum"))

    programs: ClassVar[int] = 2
    by_question: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"total": "sum"}}

    def check_core(self, core: CoreSpec) -> None:
        """Any core: for a reservoir, only the head is trained."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> AdamPupil:
        """A fresh pupil."""
        return AdamPupil(self, core, brief, streams)


class AdamPupil:
    """A model in training. An update is made when its batch is full, so what is shown between two changes nothing."""

    def __init__(self, training: Adam, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> None:
        self.lanes = len(streams)
        self._training = training
        self._tokens = isinstance(brief.outputs, Tokens)
        models = [_model(core, brief, stream) for stream in streams]
        self._model = stack_lanes(models)
        trained = eqx.filter(models[0], models[0].trainable())
        self._trainable = models[0].trainable()
        self._moments = stack_lanes([_ADAM.init(trained)] * self.lanes)
        self._sizes = _size(trained), _size(eqx.filter(models[0], eqx.is_inexact_array)) - _size(trained)
        # A core without noise gets no key: its program is the same as if there were none.
        self._keys = jnp.stack([stream.jax("noise") for stream in streams]) if models[0].core.noisy else None
        self._leaks = models[0].core.leaks
        self._any_length = hasattr(models[0].core, "unroll_packed")
        # Side by side with others a sequence waits for the longest of all lanes, and nothing is saved by packing.
        self._packs = self.lanes == 1 and self._any_length
        if self._leaks:
            check_leak(brief)
        self._lesson: tuple[Lesson, tuple[Any, ...]] | None = None
        self._exam: tuple[Exam, GroupedExam, Lengths | None] | None = None
        self._shown = np.zeros(self.lanes, dtype=np.int64)

    def learn(self, lesson: Lesson, start: int, stop: int) -> None:
        """All updates whose batch fills up between start and stop, in one call."""
        if lesson.item != "example":
            raise UsageError("adam learns from whole examples, not from single questions")
        batch = self._training.batch
        if self._lesson is None or self._lesson[0] is not lesson:
            material = packed_lesson(lesson, batch) if self._packs else padded_lesson(lesson, batch, self._leaks)
            self._lesson = lesson, material
        bounds = jnp.asarray(lesson.within(start, stop) // batch, jnp.int32)
        scale = float(batch if self._training.total == "sum" else 1.0)
        settings = jnp.tile(jnp.asarray([self._training.rate, scale], jnp.float32), (self.lanes, 1))
        self._model, self._moments = _train(
            self._model, self._moments, self._trainable, self._lesson[1], bounds, settings, self._keys, batch,
            self._tokens, self.lanes,
        )  # fmt: skip
        self._shown += np.diff(lesson.within(start, stop))[:, 0]
        jax.block_until_ready(self._model)

    def answer(self, exam: Exam) -> NDArray[np.float32]:
        """(lane, question, output) logits or values."""
        if self._exam is None or self._exam[0] is not exam:
            self._exam = exam, *self._grouped(exam)
        _, grouped, lengths = self._exam
        steps, allowed = (grouped.steps, None) if lengths is None else (lengths.chosen, lengths.allowed)
        scores = np.asarray(_answer(self._model, grouped.inputs, grouped.asked, steps, allowed, self.lanes))
        return np.take_along_axis(scores.reshape(self.lanes, -1, scores.shape[-1]), grouped.found[:, :, None], axis=1)

    def _grouped(self, exam: Exam) -> tuple[GroupedExam, Lengths | None]:
        """The exam, and the lengths of its groups for a core that does not take any length."""
        lanes = padded_lanes(exam.examples, self._leaks)
        if self._any_length:
            return grouped_exam(lanes, [needed_steps(lane) for lane in lanes], PACKED_TOGETHER), None
        needed = [lane.lengths + 1 if self._leaks else needed_steps(lane) for lane in lanes]
        grouped = grouped_exam(lanes, needed, PADDED_TOGETHER)
        return grouped, Lengths.fitted(grouped.steps[:, 0].astype(np.int64), lanes[0].steps)

    def states(self, inputs: NDArray[Any]) -> Any:
        """(time, example, feature) features of the first lane's core as it is now."""
        core = jax.tree.map(lambda leaf: leaf[:1] if eqx.is_array(leaf) else leaf, self._model.core)
        return all_states(core, inputs)

    def snapshot(self) -> Snapshot:
        """Model, moments and keys, with the lane axis."""
        return Snapshot({**named_arrays((self._model, self._moments, self._keys)), "shown": self._shown.copy()})

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        everything = self._model, self._moments, self._keys
        self._model, self._moments, self._keys = with_arrays(everything, snapshot.arrays)
        self._shown = snapshot.arrays["shown"].copy()

    @property
    def scale(self) -> str:
        """Logits of symbols, or real values."""
        return "logits" if self._tokens else "values"

    def cost(self) -> list[Cost]:
        """Updates are full batches."""
        return [Cost(int(shown), int(shown) // self._training.batch, *self._sizes) for shown in self._shown]


def _model(core: CoreSpec, brief: Brief, streams: Streams) -> Model:
    rng = streams.numpy("core")
    built = core.build(brief.inputs, rng)
    return Model(built, Head.drawn(built, brief.outputs.width, rng))


def _loss(
    model: Model, given: tuple[PaddedLesson, tuple[int, ...]], number: Any, batch: int, key: Any, tokens: bool
) -> Any:
    """The mean loss of a batch's examples, each padded to the next of the lengths."""
    material, allowed = given
    chosen = lax.dynamic_slice(material.order, (number * batch,), (batch,))
    capacity = len(material.inputs)

    def cut(length: int) -> Any:
        def loss(model: Model) -> Any:
            inputs, targets, asked = (array[:length, chosen] for array in material[:3])
            features = model.core.unroll(model.core.start(batch, capacity), inputs, key=key)[1]
            each = _losses(model.head(features), targets, tokens)
            questions = jnp.maximum(asked.sum(axis=0), 1)
            return (jnp.where(asked, each, 0.0).sum(axis=0) / questions).mean()

        return loss

    if len(allowed) == 1:
        return cut(allowed[0])(model)
    return lax.switch(material.lengths[number], [cut(length) for length in allowed], model)


def _packed_loss(model: Model, material: Any, number: Any, batch: int, key: Any, tokens: bool) -> Any:
    """The same without padding, and with the head at the questions only."""
    (inputs, targets), plan = material
    places, steps, asked, shares = (part[number] for part in plan)
    features = model.core.unroll_packed(phase_rows(batch), steps, inputs[places])
    return (shares * _losses(model.head(features[asked]), targets[places[asked]], tokens)).sum()


def _losses(outputs: Any, targets: Any, tokens: bool) -> Any:
    if tokens:
        return optax.softmax_cross_entropy_with_integer_labels(outputs, targets)
    return jnp.square(outputs - targets).mean(axis=-1)


@eqx.filter_jit
def _train(
    models: Any, moments: Any, trainable: Any, material: Any, bounds: Any, settings: Any, keys: Any, batch: int,
    tokens: bool, lanes: int,
) -> Any:  # fmt: skip
    def single(model: Model, moments: Any, material: Any, bounds: Any, settings: Any, key: Any) -> Any:
        trained, fixed = eqx.partition(model, trainable)
        batch_loss = _packed_loss if isinstance(material[1], Plan) else _loss

        def loss(trained: Any, number: Any, key: Any) -> Any:
            return settings[1] * batch_loss(eqx.combine(trained, fixed), material, number, batch, key, tokens)

        def update(number: Any, carry: Any) -> Any:
            trained, moments = carry
            # The moments count the updates, over all lessons and calls.
            noise = None if key is None else jax.random.fold_in(key, moments.count)
            steps, moments = _ADAM.update(jax.grad(loss)(trained, number, noise), moments)
            return jax.tree.map(lambda weight, step: weight - settings[0] * step, trained, steps), moments

        trained, moments = lax.fori_loop(bounds[0], bounds[1], update, (trained, moments))
        return eqx.combine(trained, fixed), moments

    return over_lanes(single, lanes)(models, moments, material, bounds, settings, keys)


@eqx.filter_jit
def _answer(models: Any, inputs: Any, asked: Any, steps: Any, allowed: tuple[int, ...] | None, lanes: int) -> Any:
    """(lane, group, question, output), one group after the other.

    steps: of each group, the same for all lanes, or which of the allowed lengths it has.
    """

    def single(model: Model, inputs: Any, asked: Any) -> Any:
        capacity, rows = inputs.shape[1:3]

        def packed(group: Any) -> Any:
            inputs, asked, steps = group
            flat = inputs.reshape(capacity * rows, *inputs.shape[2:])
            return model.head(model.core.unroll_packed((rows,), steps, flat)[asked])

        def padded(group: Any) -> Any:
            inputs, asked, length = group

            def cut(length: int) -> Any:
                features = model.core.unroll(model.core.start(rows, capacity), inputs[:length])[1]
                return model.head(features.reshape(length * rows, -1)[asked])

            return lax.switch(length, [partial(cut, length) for length in allowed or ()])

        return lax.map(packed if allowed is None else padded, (inputs, asked, steps))

    return over_lanes(single, lanes)(models, inputs, asked)


def _size(tree: Any) -> int:
    return sum(int(leaf.size) for leaf in jax.tree.leaves(tree))
