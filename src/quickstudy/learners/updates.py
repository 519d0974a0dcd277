"""The compiled programs of a model that is trained by Adam: updates, and answers.

Each is kept by what it depends on, and takes bare arrays: a call costs microseconds, little
compared with its work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from quickstudy.jax_gateway import eqx, handed_over, jax, jnp, key_from_words, lax, optax
from quickstudy.learners.batching import PaddedLesson, phase_rows
from quickstudy.learners.lanes import Frame, over_lanes, sizes_of, stack_lanes
from quickstudy.learners.optimiser import OptimiserConfig, begin_moments, optimiser_step, penalty


def begun(models: Sequence[Any]) -> tuple[list[Any], Frame, tuple[int, int]]:
    """Models, one per lane, before the first update: the arrays of (model, moments), kept bare and
    put together where they are compiled, the rest of these, and how many numbers of a model are
    trained, and how many are not.
    """
    trained = eqx.filter(models[0], models[0].trainable())
    # By NumPy: an array of zeros made by JAX is a call of a program.
    moments = handed_over(
        jax.tree.map(
            lambda part: np.zeros((len(models), *part.shape), part.dtype),
            jax.eval_shape(begin_moments, trained),
        )
    )
    return *Frame.of((stack_lanes(models), moments)), sizes_of(models[0])


@lru_cache
def updating(
    frame: Frame,
    allowed: tuple[int, ...] | None,
    batch: int,
    whole: bool,
    losses: Callable[..., Any],
    lanes: int,
) -> Callable[..., list[Any]]:
    """The arrays of (model, moments), which the frame has lost, after some updates.

    Its arguments: the arrays before, the material of a lesson, bounds (lane, 2) of the updates, an
    `OptimiserConfig` of arrays (lane,), and the words of the lanes' random keys or None.

    allowed: lengths that batches are cut to; None: they are packed.
    whole: there is one batch, and every update takes it.
    losses: at every question, of outputs, targets and a key.
    """

    def single(
        model: Any, moments: Any, material: Any, bounds: Any, config: OptimiserConfig, words: Any
    ) -> Any:
        trained, fixed = eqx.partition(model, model.trainable())

        def loss(trained: Any, number: Any, key: Any) -> Any:
            model, place = eqx.combine(trained, fixed), 0 if whole else number
            if allowed is None:
                total = _packed_loss(model, material, place, batch, losses)
            else:
                total = _loss(model, material, allowed, place, batch, key, losses)
            return config.scale * total + penalty(trained, config)

        def update(number: Any, carry: Any) -> Any:
            trained, moments = carry
            gradient = jax.grad(loss)(trained, number, _key_of_update(words, moments))
            return optimiser_step(trained, moments, gradient, config)

        trained, moments = lax.fori_loop(bounds[0], bounds[1], update, (trained, moments))
        return eqx.combine(trained, fixed), moments

    @jax.jit
    def updated(arrays: Any, material: Any, bounds: Any, config: Any, words: Any) -> list[Any]:
        return Frame.of(
            over_lanes(single, lanes)(*frame.filled(arrays), material, bounds, config, words)
        )[0]

    return updated


def updated_once(
    model: Any,
    moments: Any,
    batch: Any,
    config: OptimiserConfig,
    words: Any,
    losses: Callable[..., Any],
) -> Any:
    """(model, moments) after one update. The auxiliary losses of the configuration are of the last
    outputs.

    batch: inputs (T, row, ...), places (row, Q) of questions, their targets, and their weights.
    config, words: of one lane of `updating`.
    losses: at every question, of outputs, targets and a key.
    """
    trained, fixed = eqx.partition(model, model.trainable())

    def read(later: int) -> Any:
        filled = jnp.pad(batch.inputs, [(0, later), *[(0, 0)] * (batch.inputs.ndim - 1)])
        taken = filled[batch.places + later, jnp.arange(len(batch.places))[:, None]]
        return taken.reshape(-1, *taken.shape[2:])

    def loss(trained: Any, key: Any) -> Any:
        model = eqx.combine(trained, fixed)
        own, dice = (None, None) if key is None else jax.random.split(key)
        noise = own if model.core.capabilities.noisy else None
        features = model.core.unroll_at(batch.inputs, batch.places, len(batch.inputs), key=noise)
        outputs = model.head(features.reshape(-1, features.shape[-1]))
        targets = batch.targets.reshape(len(outputs), *batch.targets.shape[2:])
        if config.auxiliary is None:
            each = losses(outputs, targets, dice)
        else:
            own, further = jnp.split(outputs, [outputs.shape[1] - config.auxiliary.width], axis=1)
            each = losses(own, targets, dice) + config.auxiliary(further, read)
        return config.scale * (batch.shares.ravel() * each).sum() + penalty(trained, config)

    gradient = jax.grad(loss)(trained, _key_of_update(words, moments))
    trained, moments = optimiser_step(trained, moments, gradient, config)
    return eqx.combine(trained, fixed), moments


def _key_of_update(words: Any, moments: Any) -> Any:
    """The random key of the next update; None without words. Moments count the updates, over all
    lessons and calls.
    """
    return None if words is None else jax.random.fold_in(key_from_words(words), moments.count)


def answers_at(model: Any, inputs: Any, places: Any) -> Any:
    """(row, Q, output) at the places (row, Q) of sequences (T, row, ...)."""
    features = model.core.unroll_at(inputs, places, len(inputs))
    return model.head(features.reshape(-1, features.shape[-1])).reshape(*places.shape, -1)


@lru_cache
def answering(frame: Frame, allowed: tuple[int, ...] | None, lanes: int) -> Callable[..., Any]:
    """(lane, group, rows Q, output), one group after the other, from the arrays of (model,
    moments), inputs and asked of a grouped exam, and the steps of its groups, the same for all
    lanes: how many, or which of the allowed lengths.
    """

    def single(model: Any, inputs: Any, asked: Any, steps: Any) -> Any:
        capacity, rows = inputs.shape[1:3]

        def packed(group: Any) -> Any:
            inputs, asked, steps = group
            flat = inputs.reshape(capacity * rows, *inputs.shape[2:])
            features = model.core.unroll_packed((rows,), steps, flat)
            return model.head(features[(asked * rows + jnp.arange(rows)[:, None]).ravel()])

        def padded(group: Any) -> Any:
            inputs, asked, length = group

            def cut(length: int) -> Any:
                features = model.core.unroll_at(inputs[:length], asked, capacity)
                return model.head(features.reshape(-1, features.shape[-1]))

            return lax.switch(length, [partial(cut, length) for length in allowed or ()])

        return lax.map(packed if allowed is None else padded, (inputs, asked, steps))

    @jax.jit
    def answered(arrays: Any, inputs: Any, asked: Any, steps: Any) -> Any:
        model, _ = frame.filled(arrays)
        return over_lanes(partial(single, steps=steps), lanes)(model, inputs, asked)

    return answered


def _loss(
    model: Any,
    material: PaddedLesson,
    allowed: tuple[int, ...],
    number: Any,
    batch: int,
    key: Any,
    losses: Callable[..., Any],
) -> Any:
    """The mean loss of a batch's examples, each padded to the next of the lengths."""
    chosen = lax.dynamic_slice(material.order, (number * batch,), (batch,))
    places, targets, shares = (
        array[chosen] for array in (material.places, material.targets, material.shares)
    )
    capacity = len(material.inputs)

    def cut(length: int) -> Any:
        def loss(model: Any) -> Any:
            features = model.core.unroll_at(
                material.inputs[:length, chosen], places, capacity, key=key
            )
            outputs = model.head(features.reshape(-1, features.shape[-1]))
            each = losses(outputs, targets.reshape(len(outputs), *targets.shape[2:]), None)
            return (shares.ravel() * each).sum() / batch

        return loss

    if len(allowed) == 1:
        return cut(allowed[0])(model)
    return lax.switch(material.lengths[number], [cut(length) for length in allowed], model)


def _packed_loss(
    model: Any, material: Any, number: Any, batch: int, losses: Callable[..., Any]
) -> Any:
    """The same without padding, and with the head at the questions only."""
    (inputs, targets), plan = material
    places, steps, asked, shares = (part[number] for part in plan)
    features = model.core.unroll_packed(phase_rows(batch), steps, inputs[places])
    return (shares * losses(model.head(features[asked]), targets[places[asked]], None)).sum()


def of_tokens(outputs: Any, targets: Any, key: Any) -> Any:
    """The loss at every question, of logits and symbols."""
    return optax.softmax_cross_entropy_with_integer_labels(outputs, targets)


def of_values(outputs: Any, targets: Any, key: Any) -> Any:
    """The loss at every question, of real numbers."""
    return jnp.square(outputs - targets).mean(axis=-1)
