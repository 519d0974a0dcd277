"""The compiled programs of R2D2: to live, to learn from what was kept, and to play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from quickstudy.base.actions import Policy
from quickstudy.base.lesson import Transcript
from quickstudy.base.spaces import Reals
from quickstudy.base.task import players_of
from quickstudy.gateway import eqx, jax, jnp, lax, optax
from quickstudy.learners.action_values import ActionValues, squeezed, stretched, written
from quickstudy.learners.episodes import play
from quickstudy.learners.lanes import over_lanes
from quickstudy.learners.replay import Replay, Sequences, cut_into_sequences
from quickstudy.learners.updates import cut

ADAM = optax.scale_by_adam(eps=1e-12)
FLOOR = 0.4
"""The share of blind actions of the actor that explores most, in the end."""


@dataclass(frozen=True)
class Layout:
    """What shapes and programs depend on; see `R2D2`."""

    unroll: int
    overlap: int
    burn_in: int
    steps: int
    sequences: int
    vdn: bool
    sad: bool
    rescale: bool
    rebuilds: bool


class Settings(NamedTuple):
    """What changes no shape, as arrays."""

    rate: Any
    clip: Any
    discount: Any
    urgency: Any
    importance: Any
    peak: Any
    target: Any
    exploring: Any
    rebuild: Any


class Before(NamedTuple):
    """Of every (episode, player): what was done last and what was held best then, in ones and zeros."""

    done: Any
    best: Any

    @classmethod
    def fresh(cls, world: Any, rows: int) -> Before:
        """Nothing was done."""
        nothing = jnp.zeros((rows, players_of(world), world.outputs.width))
        return cls(nothing, nothing)


def _with_players(world: Any, tree: Any) -> Any:
    """(episode, player, ...), whether there are several or one."""
    return jax.tree.map(lambda leaf: leaf[:, None], tree) if players_of(world) == 1 else tree


def _for_world(world: Any, tree: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[:, 0], tree) if players_of(world) == 1 else tree


def _flat(tree: Any) -> Any:
    """(episode * player, ...) from (episode, player, ...)."""
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), tree)


def _read(world: Any, layout: Layout, seen: Any, before_it: Before) -> Any:
    """(episode, player, ...): what memories read."""
    seen = _with_players(world, seen)
    if not isinstance(world.inputs, Reals):
        return seen
    others = [before_it.best[:, ::-1]] if layout.sad else []
    return jnp.concatenate([seen, before_it.done, *others], axis=-1)


def empty_replay(world: Any, network: ActionValues, layout: Layout, room: int) -> Replay:
    """Nothing kept, and room for so many sequences."""
    key = jax.random.key(0)
    seen = jax.tree.map(lambda leaf: leaf[None], world.reset(key)[1])
    inputs = _read(world, layout, seen, Before.fresh(world, 1))
    length, players = layout.unroll + layout.steps, players_of(world)
    actions = Policy(world.outputs, jnp.zeros((1, players, world.outputs.width))).draw()
    actions = jax.tree.map(lambda leaf: leaf.astype(jnp.int32), actions)
    inputs, actions = jax.tree.map(lambda leaf: jnp.zeros((length, *leaf.shape[1:]), leaf.dtype), (inputs, actions))
    state = network.start(players, world.horizon)
    return Replay.empty(Sequences(inputs, actions, jnp.zeros((length, players)), jnp.zeros(length, bool), state), room)


@eqx.filter_jit
def lived(
    world: Any, networks: Any, begun: Any, noise: Any, numbers: Any, before: Any, settings: Settings, layout: Layout,
    lanes: int,
) -> Any:  # fmt: skip
    """Play episodes of these numbers, each by an actor with its own share of blind actions: a transcript, sequences of
    it, and which of them hold something to learn from. before: steps that were made in the world before.
    """
    actors, players = numbers.shape[1], players_of(world)
    pieces = -(-world.horizon // layout.overlap)

    def single(network: Any, begun: Any, noise: Any, numbers: Any, before: Any) -> Any:
        floor = FLOOR ** (1 + 2 * jnp.arange(actors) / max(1, actors - 1))

        def turn(carry: Any, time: Any) -> Any:
            memory, places, seen, before_it, over = carry
            inputs = _read(world, layout, seen, before_it)
            memory, features = network.step(memory, _flat(inputs))
            scores = network.scores(world.outputs, features).reshape(actors, players, -1)
            own = jax.vmap(lambda number: jax.random.fold_in(jax.random.fold_in(noise, number), time))(numbers)
            uniform = jax.vmap(lambda key: jax.random.uniform(key, (players, scores.shape[-1] + 1)))(own)
            share = floor + (1 - floor) * jnp.exp(-(before + time * actors) / settings.exploring)
            blind = uniform[..., -1] < share[:, None]
            best, drawn = (
                Policy(world.outputs, scores).draw(),
                Policy(world.outputs, 0 * scores).draw(uniform[..., :-1]),
            )
            action = jax.tree.map(lambda one, other: jnp.where(blind, other, one).astype(jnp.int32), best, drawn)
            places, said = jax.vmap(world.step)(own, places, _for_world(world, action))
            before_it = Before(written(world.outputs, action), written(world.outputs, best))
            rewards = _with_players(world, said.reward)
            kept = Sequences(inputs, action, rewards, ~over, None)
            played = Transcript(_for_world(world, action), said.reward, said.done, said.info)
            return (memory, places, said.observation, before_it, over | said.done), (kept, played)

        memory = network.start(actors * players, world.horizon)
        first = memory, *begun, Before.fresh(world, actors), jnp.zeros(actors, bool)
        shapes = jax.eval_shape(lambda carry: turn(carry, 0)[1], first)
        log = jax.tree.map(lambda leaf: jnp.zeros((pieces, layout.overlap, *leaf.shape), leaf.dtype), shapes)
        log = log[0], log[1]._replace(done=jnp.ones_like(log[1].done))
        states = jax.tree.map(lambda leaf: jnp.zeros((pieces, *leaf.shape), leaf.dtype), memory)

        def on(state: Any) -> Any:
            piece, (*_, over), *_ = state
            return (piece < pieces) & ~over.all()

        def live_on(state: Any) -> Any:
            piece, carry, log, states = state
            states = jax.tree.map(lambda rows, row: rows.at[piece].set(row), states, carry[0])
            carry, happened = lax.scan(turn, carry, piece * layout.overlap + jnp.arange(layout.overlap))
            return piece + 1, carry, jax.tree.map(lambda rows, row: rows.at[piece].set(row), log, happened), states

        *_, (kept, played), states = lax.while_loop(on, live_on, (0, first, log, states))
        kept, played = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), (kept, played))
        states = jax.tree.map(lambda leaf: leaf.reshape(pieces, actors, players, *leaf.shape[2:]), states)
        sequences = cut_into_sequences(kept, states, layout.overlap, layout.unroll + layout.steps)
        transcript = jax.tree.map(lambda leaf: jnp.swapaxes(leaf[: world.horizon], 0, 1), played)
        return transcript, sequences, sequences.there[:, layout.burn_in]

    return over_lanes(single, lanes)(networks, begun, noise, numbers, before)


@eqx.filter_jit
def learned(
    world: Any, trainable: Any, learning: Any, sequences: Any, valid: Any, noise: Any, first: Any, due: Any,
    settings: Settings, layout: Layout, lanes: int,
) -> Any:  # fmt: skip
    """(networks, what they trust, moments, replay) with some more sequences, and after as many updates as are due."""

    def single(learning: Any, sequences: Any, valid: Any, noise: Any, due: Any) -> Any:
        network, trusted, moments, replay = learning
        replay = replay.with_more(sequences, valid)
        trained, fixed = eqx.partition(network, trainable)
        target, _ = eqx.partition(trusted, trainable)

        def update(number: Any, carry: Any) -> Any:
            trained, target, moments, priorities = carry
            now = replay._replace(priorities=priorities)
            key = jax.random.fold_in(jax.random.fold_in(jax.random.fold_in(noise, first), number), 1)
            chosen, probabilities = now.drawn(key, layout.sequences, settings.urgency)
            batch = jax.tree.map(lambda leaf: leaf[chosen], now.kept)
            counted = now.importance(probabilities, settings.importance)
            other = eqx.combine(target, fixed)

            def loss(trained: Any) -> Any:
                return _loss(world, layout, settings, eqx.combine(trained, fixed), other, batch, counted)

            gradient, errors = jax.grad(loss, has_aux=True)(trained)
            steps, moments = ADAM.update(cut(gradient, settings.clip), moments)
            trained = jax.tree.map(lambda weight, step: weight - settings.rate * step, trained, steps)
            priorities = now.priced(chosen, _urgency(errors, settings.peak)).priorities
            fresh = moments.count % settings.target.astype(jnp.int32) == 0
            target = jax.tree.map(lambda new, old: jnp.where(fresh, new, old), trained, target)
            return trained, target, moments, priorities

        enough = (replay.priorities > 0).sum() >= layout.sequences
        begun = trained, target, moments, replay.priorities
        trained, target, moments, priorities = lax.fori_loop(0, jnp.where(enough, due, 0), update, begun)
        return eqx.combine(trained, fixed), eqx.combine(target, fixed), moments, replay._replace(priorities=priorities)

    return over_lanes(single, lanes)(learning, sequences, valid, noise, due)


def _urgency(errors: Any, peak: Any) -> Any:
    """(sequence,): of errors (time, sequence, player)."""
    sizes = jnp.abs(errors).max(axis=2)
    return peak * sizes.max(axis=0) + (1 - peak) * sizes.mean(axis=0) + 1e-6


def _loss(
    world: Any, layout: Layout, settings: Settings, network: Any, trusted: Any, batch: Sequences, counted: Any
) -> Any:
    """The loss of some sequences, and their errors (time, sequence, player or 1)."""
    rows, players = counted.shape[0], players_of(world)

    def by_time(tree: Any) -> Any:
        return jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1).reshape(leaf.shape[1], -1, *leaf.shape[3:]), tree)

    inputs, actions, memory = by_time(batch.inputs), by_time(batch.actions), _flat(batch.state)
    early, later = (jax.tree.map(lambda leaf: leaf[: layout.burn_in], inputs),
                    jax.tree.map(lambda leaf: leaf[layout.burn_in :], inputs))  # fmt: skip
    actions, there = (
        jax.tree.map(lambda leaf: leaf[layout.burn_in :], actions),
        batch.there.T[layout.burn_in :, :, None],
    )
    read = [memory] * 2
    if layout.burn_in:
        read = [lax.stop_gradient(one.unroll(memory, early)[0]) for one in (network, trusted)]
    features, other = network.unroll(read[0], later)[1], trusted.unroll(read[1], later)[1]

    def joined(values: Any) -> Any:
        values = values.reshape(len(values), rows, players)
        return values.sum(axis=2, keepdims=True) if layout.vdn else values

    held = joined(network.of(world.outputs, features, actions))
    best = Policy(world.outputs, network.scores(world.outputs, features)).draw()
    after = joined(trusted.of(world.outputs, other, best))
    rewards = jnp.swapaxes(batch.rewards, 0, 1)[layout.burn_in :] * there
    rewards = rewards[:, :, :1] if layout.vdn else rewards
    count = len(held) - layout.steps
    wanted = sum(settings.discount**ahead * rewards[ahead : ahead + count] for ahead in range(layout.steps))
    after = stretched(after) if layout.rescale else after
    wanted += settings.discount**layout.steps * (after * there)[layout.steps :]
    wanted = lax.stop_gradient(squeezed(wanted) if layout.rescale else wanted)
    errors = (wanted - held[:count]) * there[:count]
    each = 0.5 * jnp.square(errors).sum(axis=(0, 2)) / jnp.maximum(there[:count].sum(axis=(0, 2)), 1)
    total = (counted * each).mean()
    if layout.rebuilds:
        given = network.rebuilt(features)
        missed = jnp.square(given - later[..., : given.shape[-1]]).mean(axis=-1).reshape(len(given), rows, players)
        total += settings.rebuild * (missed * there).sum() / jnp.maximum(there.sum() * players, 1)
    return total, errors


@eqx.filter_jit
def performed(world: Any, networks: Any, begun: Any, keys: Any, numbers: Any, layout: Layout, lanes: int) -> Transcript:
    """Play episodes by what is held best. What is given back of what was read is logged beside what the world says, as
    `rebuilt`: (..., number) the distance of every number from what it was, of the last player.
    """

    def single(network: Any, begun: Any, keys: Any, numbers: Any) -> Transcript:
        rows, players = len(numbers), players_of(world)

        def step(state: Any, seen: Any, key: Any) -> Any:
            time, memory, before_it, missed = state
            inputs = _read(world, layout, seen, before_it)
            memory, features = network.step(memory, _flat(inputs))
            scores = network.scores(world.outputs, features).reshape(rows, players, -1)
            best = jax.tree.map(lambda leaf: leaf.astype(jnp.int32), Policy(world.outputs, scores).draw())
            if layout.rebuilds:
                given = network.rebuilt(features).reshape(rows, players, -1)
                distance = jnp.abs(given - inputs[..., : given.shape[-1]])[:, -1]
                missed = lax.dynamic_update_index_in_dim(missed, distance, time, 1)
            done = written(world.outputs, best)
            return (time + 1, memory, Before(done, done), missed), _for_world(world, best)

        width = network.rebuilt.bias.size if layout.rebuilds else 0
        memory = network.start(rows * players, world.horizon)
        state = jnp.int32(0), memory, Before.fresh(world, rows), jnp.zeros((rows, world.horizon, width))
        (*_, missed), played = play(world, state, step, keys[0], keys[1], numbers, begun)
        return played._replace(info={**played.info, "rebuilt": missed}) if layout.rebuilds else played

    return over_lanes(single, lanes)(networks, begun, keys, numbers)  # type: ignore[no-any-return]
