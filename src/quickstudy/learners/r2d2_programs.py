"""The compiled programs by which R2D2 learns from replay."""

from __future__ import annotations

from typing import Any

from quickstudy.base.actions import Policy
from quickstudy.base.task import players_of
from quickstudy.jax_gateway import device_kind, eqx, jax, jnp, lax
from quickstudy.learners.action_values import squeezed, stretched
from quickstudy.learners.auxiliary_losses import reconstruction_error
from quickstudy.learners.lanes import over_lanes
from quickstudy.learners.optimiser import OptimiserConfig, optimiser_step
from quickstudy.learners.r2d2_play import Layout, Settings, flat
from quickstudy.learners.replay import Pieces, Sequences, cut_into_sequences

EPSILON = 1e-12
"""Of Adam, as published."""


@eqx.filter_jit
def learned(
    world: Any,
    trainable: Any,
    learning: Any,
    tail: Pieces,
    pieces: Pieces,
    noise: Any,
    steps: Any,
    episodes: Any,
    every: Any,
    most: int,
    settings: Settings,
    layout: Layout,
    lanes: int,
) -> Any:
    """(networks, what they trust, moments, replay) with the sequences that are at their end now,
    and after as many updates as are due, one for `every` steps, at most so many; the pieces that
    are still open; (lane,): steps with those of these pieces, and episodes that had been begun when
    the last update was due.
    """

    def single(
        learning: Any, tail: Pieces, pieces: Pieces, noise: Any, steps: Any, episodes: Any
    ) -> Any:
        network, trusted, moments, replay = learning
        made = steps + (pieces.kept.there >= 0).sum()
        known = jax.tree.map(lambda one, other: jnp.concatenate([one, other]), tail, pieces)
        start, state = jax.tree.map(
            lambda leaf: leaf[: len(leaf) - layout.tail], (known.start, known.state)
        )
        sequences, valid = cut_into_sequences(known.kept, start, state, layout.length)
        replay = replay.with_more(sequences, valid & sequences.there[:, layout.burn_in])
        trained, fixed = eqx.partition(network, trainable)
        target, _ = eqx.partition(trusted, trainable)
        due = jnp.where(
            (replay.priorities > 0).sum() >= layout.sequences, made // every - steps // every, 0
        )

        before, apart = episodes, layout.rebuild_every
        if apart:
            known_by = jnp.maximum(episodes, begun_when_due(pieces.kept.there, steps, every, most))
            before = jnp.concatenate(
                [episodes[None], known_by]
            )  # of every update, when the one before it was due
            episodes = before[jnp.minimum(due, most)]

        def update(carry: Any, number: Any) -> Any:
            trained, target, moments, priorities = carry
            weighed = settings
            if apart:
                again = before[number + 1] // apart > before[number] // apart
                weighed = settings._replace(rebuild=jnp.where(again, settings.rebuild, 0.0))
            now = replay._replace(priorities=priorities)
            key = jax.random.fold_in(
                jax.random.fold_in(jax.random.fold_in(noise, steps), number), 1
            )
            chosen, probabilities = now.drawn(key, layout.sequences, settings.urgency)
            batch = jax.tree.map(lambda leaf: leaf[chosen], now.kept)
            counted = now.importance(probabilities, settings.importance)
            other = eqx.combine(target, fixed)

            def loss(trained: Any) -> Any:
                return _loss(
                    world, layout, weighed, eqx.combine(trained, fixed), other, batch, counted
                )

            gradient, errors = jax.grad(loss, has_aux=True)(trained)
            config = OptimiserConfig(settings.rate, clip=settings.clip, epsilon=EPSILON)
            trained, moments = optimiser_step(trained, moments, gradient, config)
            priorities = now.priced(chosen, _urgency(errors, settings.peak)).priorities
            fresh = (moments.count % settings.target.astype(jnp.int32) == 0) & (settings.soft == 0)
            target = jax.tree.map(
                lambda new, old: jnp.where(fresh, new, old + settings.soft * (new - old)),
                trained,
                target,
            )
            return trained, target, moments, priorities

        def perhaps(carry: Any, number: Any) -> Any:
            return lax.cond(number < due, update, lambda carry, _: carry, carry, number), None

        begun = trained, target, moments, replay.priorities
        trained, target, moments, priorities = lax.scan(perhaps, begun, jnp.arange(most))[0]
        learning = eqx.combine(trained, fixed), eqx.combine(target, fixed), moments
        tail = jax.tree.map(lambda leaf: leaf[len(leaf) - layout.tail :], known)
        return (*learning, replay._replace(priorities=priorities)), tail, made, episodes

    return over_lanes(single, lanes)(learning, tail, pieces, noise, steps, episodes)


def begun_when_due(numbers: Any, steps: Any, every: Any, most: int) -> Any:
    """(update,): how many episodes had been begun when each of so many updates is due, one for
    `every` steps.

    numbers: (piece, step, actor), of the episode that each actor is in, -1 for none; steps: made
    before. Episodes are begun in the order of their numbers, from 0.

    >>> numbers = jnp.array([[[0, 1], [0, 1], [2, 1]], [[2, 3], [2, -1], [2, -1]]])
    >>> begun_when_due(numbers, 0, 4, 2).tolist(), begun_when_due(numbers, 3, 4, 3).tolist()
    ([2, 4], [2, 3, 4])
    """
    by_step = numbers.reshape(-1, numbers.shape[-1])
    made = steps + jnp.cumsum((by_step >= 0).sum(axis=1))
    due = (steps // every + 1 + jnp.arange(most)) * every
    at = jnp.minimum((made < due[:, None]).sum(axis=1), len(made) - 1)
    return lax.cummax(by_step.max(axis=1))[at] + 1


def _urgency(errors: Any, peak: Any) -> Any:
    """(sequence,): of errors (time, sequence, player)."""
    sizes = jnp.abs(errors).max(axis=2)
    return peak * sizes.max(axis=0) + (1 - peak) * sizes.mean(axis=0) + 1e-6


def _both(layout: Layout, network: Any, trusted: Any, memory: Any, inputs: Any) -> Any:
    """Inputs after the burn-in, and their features (time, row, feature), of a network and of
    its target network: on a GPU side by side, since it waits for steps and not for what is in them.
    """
    early, later = (
        jax.tree.map(lambda leaf: leaf[: layout.burn_in], inputs),
        jax.tree.map(lambda leaf: leaf[layout.burn_in :], inputs),
    )

    def read(one: Any) -> Any:
        before = lax.stop_gradient(one.unroll(memory, early)[0]) if layout.burn_in else memory
        return one.unroll(before, later)[1]

    if device_kind() == "cpu":
        return later, (read(network), read(trusted))
    pair = jax.tree.map(
        lambda one, other: jnp.stack([one, other]) if eqx.is_array(one) else one,
        network,
        lax.stop_gradient(trusted),
    )
    return later, eqx.filter_vmap(read)(pair)


def _loss(
    world: Any,
    layout: Layout,
    settings: Settings,
    network: Any,
    trusted: Any,
    batch: Sequences,
    counted: Any,
) -> Any:
    """The loss of some sequences, and their errors (time, sequence, player or 1)."""
    rows, players = counted.shape[0], players_of(world)

    def by_time(tree: Any) -> Any:
        return jax.tree.map(
            lambda leaf: jnp.swapaxes(leaf, 0, 1).reshape(leaf.shape[1], -1, *leaf.shape[3:]), tree
        )

    actions, there = by_time(batch.actions), batch.there.T[layout.burn_in :, :, None]
    actions = jax.tree.map(lambda leaf: leaf[layout.burn_in :], actions)
    later, (features, other) = _both(
        layout, network, trusted, flat(batch.state), by_time(batch.inputs)
    )

    def joined(values: Any) -> Any:
        values = values.reshape(len(values), rows, players)
        return values.sum(axis=2, keepdims=True) if layout.vdn else values

    held = joined(network.of(world.outputs, features, actions))
    best = Policy(world.outputs, network.scores(world.outputs, features)).draw()
    after = joined(trusted.of(world.outputs, other, best))
    rewards = jnp.swapaxes(batch.rewards, 0, 1)[layout.burn_in :] * there
    rewards = rewards[:, :, :1] if layout.vdn else rewards
    count = len(held) - layout.steps
    wanted = sum(
        settings.discount**ahead * rewards[ahead : ahead + count] for ahead in range(layout.steps)
    )
    after = stretched(after) if layout.rescale else after
    wanted += settings.discount**layout.steps * (after * there)[layout.steps :]
    wanted = lax.stop_gradient(squeezed(wanted) if layout.rescale else wanted)
    errors = (wanted - held[:count]) * there[:count]
    each = (
        0.5 * jnp.square(errors).sum(axis=(0, 2)) / jnp.maximum(there[:count].sum(axis=(0, 2)), 1)
    )
    total = (counted * each).mean()
    if layout.rebuilds:
        given = network.rebuilt(features)
        numbers = given.shape[-1] - layout.bits
        missed = reconstruction_error(given, later, numbers, layout.bits).reshape(
            len(given), rows, players
        )
        total += settings.rebuild * (missed * there).sum() / jnp.maximum(there.sum() * players, 1)
    return total, errors
