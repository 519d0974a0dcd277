"""The compiled programs by which R2D2 plays: in slots, in pieces that sequences are cut from; and
in a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from quickstudy.base.actions import Policy
from quickstudy.base.exchange import Transcript
from quickstudy.base.spaces import Reals
from quickstudy.base.task import players_of
from quickstudy.jax_gateway import eqx, jax, jnp, lax
from quickstudy.learners.action_values import ActionValues, written
from quickstudy.learners.episode_batches import laid_out
from quickstudy.learners.lanes import over_lanes
from quickstudy.learners.replay import Pieces, Replay, Sequences
from quickstudy.learners.rollout import (
    Arena,
    Slots,
    Step,
    action_keys,
    play,
    restarted,
    rollout,
    step_keys,
)

FLOOR = 0.4
"""The final share of random (epsilon) actions of the actor that explores most."""
WINDOW = 80
"""Steps that all actors make, or those of the longest episode, before updates follow."""


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
    bits: int = 0
    rebuild_every: int = 0

    @property
    def length(self) -> int:
        """Steps of a sequence: those that are learned from, and those after the last, whose
        rewards are added up (n-step return).
        """
        return self.unroll + self.steps

    @property
    def gap(self) -> int:
        """Steps among which at most one sequence begins that is learned from: it goes on in its
        episode for more than `burn_in` steps, and the next of that episode begins `overlap` steps
        earlier.
        """
        return min(self.overlap, self.burn_in + 1)

    def pieces(self, world: Any) -> int:
        """A call collects so many, each of `gap` steps."""
        return int(-(-min(WINDOW, world.horizon) // self.gap))

    @property
    def tail(self) -> int:
        """So many before them are kept, in which sequences began that were not at their end."""
        return -(-(self.length - 1) // self.gap)


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
    soft: Any


class Before(NamedTuple):
    """Of every (episode, player): what was done last and what was held best then, in ones and
    zeros.
    """

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


def flat(tree: Any) -> Any:
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
    inputs, actions = jax.tree.map(
        lambda leaf: jnp.zeros((length, *leaf.shape[1:]), leaf.dtype), (inputs, actions)
    )
    state = network.start(players, world.horizon)
    return Replay.empty(
        Sequences(inputs, actions, jnp.zeros((length, players)), jnp.zeros(length, bool), state),
        room,
    )


class Actors(NamedTuple):
    """Where all actors are; (actor * player, ...), what they remember; what they did last."""

    slots: Slots
    memory: Any
    before_it: Before


class Exploring(NamedTuple):
    """What a policy that explores carries from step to step of a piece.

    time: steps of all actors in this call.
    start, state: where in the piece a sequence began, -1 if none did, and the memory there.
    """

    memory: Any
    before_it: Before
    time: Any
    start: Any
    state: Any


@eqx.filter_jit
def entered(world: Any, networks: Any, material: Any, stop: Any, actors: int, lanes: int) -> Actors:
    """Actors at the beginning of the first episodes of a lesson, of which `stop` are played."""

    def single(network: Any, material: Any) -> Actors:
        _, begun = laid_out(world, material)
        memory = network.start(actors * players_of(world), world.horizon)
        return Actors(Slots.first(begun, actors, stop), memory, Before.fresh(world, actors))

    return over_lanes(single, lanes)(networks, material)  # type: ignore[no-any-return]


@eqx.filter_jit
def lived(
    world: Any,
    networks: Any,
    material: Any,
    actors: Actors,
    keys: Any,
    first: Any,
    stop: Any,
    before: Any,
    settings: Settings,
    layout: Layout,
    lanes: int,
) -> Any:
    """Some steps of all actors, each with its own share of random (epsilon) actions: actors after
    them, the rollout in pieces, and the same as (number of the episode, its time, what happened),
    by step. first: the number of the lesson's first episode. before: (lane,) steps that were made
    in the world before. keys: (lane,) of the world, and of the learner.
    """
    count, players = actors.slots.number.shape[1], players_of(world)

    def single(network: Any, material: Any, actors: Actors, keys: Any, before: Any) -> Any:
        world_key, noise = keys
        row, begun = laid_out(world, material)
        numbers = first + jnp.arange(len(jax.tree.leaves(begun)[0]))
        arena = Arena(row, begun, action_keys(noise, numbers), step_keys(world_key, numbers), stop)
        floor = FLOOR ** (1 + 2 * jnp.arange(count) / max(1, count - 1))
        nothing = network.start(count * players, world.horizon), Before.fresh(world, count)

        def act(exploring: Exploring, slots: Slots, keys: Any) -> Any:
            memory, before_it, time, start, state = exploring
            begins = ~slots.ended & (slots.time % layout.overlap == 0)
            start = jnp.where(begins, time % layout.gap, start)
            state = restarted(jnp.repeat(begins, players), memory, state)
            inputs = _read(world, layout, slots.seen, before_it)
            memory, features = network.step(memory, flat(inputs))
            scores = network.scores(world.outputs, features).reshape(count, players, -1)
            uniform = jax.vmap(
                lambda key: jax.random.uniform(key, (players, scores.shape[-1] + 1))
            )(keys)
            share = floor + (1 - floor) * jnp.exp(-(before + time * count) / settings.exploring)
            blind = uniform[..., -1] < share[:, None]
            best, drawn = (
                Policy(world.outputs, scores).draw(),
                Policy(world.outputs, 0 * scores).draw(uniform[..., :-1]),
            )
            action = jax.tree.map(
                lambda one, other: jnp.where(blind, other, one).astype(jnp.int32), best, drawn
            )
            before_it = Before(written(world.outputs, action), written(world.outputs, best))
            exploring = Exploring(memory, before_it, time + 1, start, state)
            return exploring, _for_world(world, action), (inputs, action)

        def renew(fresh: Any, exploring: Exploring) -> Exploring:
            return exploring._replace(
                memory=restarted(jnp.repeat(fresh, players), nothing[0], exploring.memory),
                before_it=restarted(fresh, nothing[1], exploring.before_it),
            )

        def log(step: Step) -> Any:
            number = jnp.where(step.before.ended, -1, step.before.number)
            rewards = _with_players(world, step.reward)
            where = jnp.where(number < 0, -1, first + number)
            inputs, action = step.kept
            kept = Sequences(inputs, action, rewards, where, None)
            return kept, (number, step.before.time, step.transcript())

        def piece(actors: Actors, number: Any) -> Any:
            slots, memory, before_it = actors
            begin = Exploring(memory, before_it, number * layout.gap, jnp.full(count, -1), memory)
            (slots, last), (kept, happened) = rollout(
                arena, act, begin, slots, log, layout.gap, renew
            )
            state = jax.tree.map(
                lambda leaf: leaf.reshape(count, players, *leaf.shape[1:]), last.state
            )
            actors = Actors(slots, last.memory, last.before_it)
            return actors, (Pieces(kept, last.start, state), happened)

        actors, (pieces, happened) = lax.scan(piece, actors, jnp.arange(layout.pieces(world)))
        return (
            actors,
            pieces,
            jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), happened),
        )

    return over_lanes(single, lanes)(networks, material, actors, keys, before)


@eqx.filter_jit
def performed(
    world: Any, networks: Any, begun: Any, keys: Any, numbers: Any, layout: Layout, lanes: int
) -> Transcript:
    """Play episodes greedily. The reconstruction of the input is logged together with the
    world's log, as `rebuilt`: (..., number) the error of every number, of the last player.
    """

    def single(network: Any, begun: Any, keys: Any, numbers: Any) -> Transcript:
        rows, players = len(numbers), players_of(world)

        def step(state: Any, seen: Any, key: Any) -> Any:
            time, memory, before_it, missed = state
            inputs = _read(world, layout, seen, before_it)
            memory, features = network.step(memory, flat(inputs))
            scores = network.scores(world.outputs, features).reshape(rows, players, -1)
            best = jax.tree.map(
                lambda leaf: leaf.astype(jnp.int32), Policy(world.outputs, scores).draw()
            )
            if layout.rebuilds:
                given = network.rebuilt(features).reshape(rows, players, -1)
                distance = jnp.abs(given[..., :width] - inputs[..., :width])[:, -1]
                missed = lax.dynamic_update_index_in_dim(missed, distance, time, 1)
            done = written(world.outputs, best)
            return (time + 1, memory, Before(done, done), missed), _for_world(world, best)

        width = network.rebuilt.bias.size - layout.bits if layout.rebuilds else 0
        memory = network.start(rows * players, world.horizon)
        state = (
            jnp.int32(0),
            memory,
            Before.fresh(world, rows),
            jnp.zeros((rows, world.horizon, width)),
        )
        (*_, missed), played = play(world, state, step, keys[0], keys[1], numbers, begun)
        return (
            played._replace(info={**played.info, "rebuilt": missed}) if layout.rebuilds else played
        )

    return over_lanes(single, lanes)(networks, begun, keys, numbers)  # type: ignore[no-any-return]
