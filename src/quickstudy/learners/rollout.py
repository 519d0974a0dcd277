"""The rollout: a policy and a pure world, step by step, for many episodes at a time.

Episodes are played in slots. Where one has ended, the next step begins another in its slot
(auto-reset), or, where there are as many slots as episodes, the slot stays empty. Policy and world
have separate keys: a world that draws from the policy's key would draw what the policy has just
drawn. Every episode draws from keys of its own number, so that it is the same in any company.

All of this is for use inside compiled functions, one lane at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.exchange import Transcript
from quickstudy.base.task import NumberedWorld
from quickstudy.jax_gateway import jax, jnp, lax
from quickstudy.tasks.worlds import episode_keys

Act = Callable[[Any, Any, Any], tuple[Any, Any, Any]]
"""(state of the policy, `Slots`, (slot,) keys) -> (state, actions, anything to be logged)."""


def opened(world: Any, keys: Any, numbers: Any) -> Any:
    """(states, first observations) of a world's episodes of these numbers, by their keys for the
    reset.
    """
    if isinstance(world, NumberedWorld):
        return jax.vmap(world.episode)(keys, numbers)
    return jax.vmap(world.reset)(keys)


def action_keys(noise: Any, numbers: Any) -> Any:
    """(episode,) keys of the policy, from its own noise; see `at_time`."""
    return jax.vmap(lambda number: jax.random.fold_in(noise, number))(numbers)


def step_keys(key: Any, numbers: Any) -> Any:
    """(episode,) keys of the world, from the lane's key; see `at_time`."""
    return jax.vmap(lambda number: episode_keys(key, number)[1])(numbers)


def at_time(keys: Any, time: Any) -> Any:
    """(episode,) keys for one step of the episodes; time: the same for all, or one for each."""
    times = jnp.broadcast_to(time, keys.shape)
    return jax.vmap(jax.random.fold_in)(keys, times)


class Slots(NamedTuple):
    """Where all slots are.

    number: (slot,) of the episode, counted from the first of the arena.
    time: (slot,) steps in it so far.
    ended: (slot,) whether it has ended.
    place: (slot, ...) states of the world.
    seen: (slot, ...) observations.
    taken: how many episodes were begun.
    """

    number: Any
    time: Any
    ended: Any
    place: Any
    seen: Any
    taken: Any

    @classmethod
    def first(cls, begun: Any, count: int, stop: Any) -> Slots:
        """The first episodes, one in each slot; slots for which there is none have ended."""
        number, episodes = jnp.arange(count), len(jax.tree.leaves(begun)[0])
        place, seen = begun
        if count != episodes:
            place, seen = jax.tree.map(lambda leaf: leaf[jnp.minimum(number, episodes - 1)], begun)
        time = jnp.zeros(count, jnp.int32)
        return cls(number, time, number >= stop, place, seen, jnp.minimum(count, stop))

    def over(self, stop: int) -> bool:
        """Whether the first so many episodes have all ended, in all lanes; for use outside compiled
        functions.
        """
        return bool(np.asarray(self.ended).all() and (np.asarray(self.taken) >= stop).all())


class Arena(NamedTuple):
    """Episodes of one lane, ready to be played.

    world: a pure world.
    begun: (states, first observations) of all episodes.
    of_policy, of_world: (episode,) keys; of_policy None where the policy draws nothing.
    stop: so many episodes are played; None: there is one slot for each, and no reset.
    """

    world: Any
    begun: Any
    of_policy: Any
    of_world: Any
    stop: Any = None

    def first(self, count: int | None = None) -> Slots:
        """So many slots; None: one for each episode."""
        episodes = len(self.of_world)
        stop = episodes if self.stop is None else self.stop
        return Slots.first(self.begun, count or episodes, stop)

    def keys(self, slots: Slots) -> tuple[Any, Any]:
        """(slot,) keys of policy and world for this step."""
        own, later = self.of_policy, self.of_world
        if self.stop is not None:
            later = later[slots.number]
            own = own if own is None else own[slots.number]
        return own if own is None else at_time(own, slots.time), at_time(later, slots.time)

    def step(self, slots: Slots, keys: Any, action: Any) -> tuple[Slots, Any, Any]:
        """(slots after one step in each, turns, which slots began an episode instead)."""
        place, turn = jax.vmap(self.world.step)(keys, slots.place, action)
        number, time, taken, seen = slots.number, slots.time + 1, slots.taken, turn.observation
        fresh = jnp.zeros_like(slots.ended)
        if self.stop is not None:
            following = slots.taken + jnp.cumsum(slots.ended) - 1
            fresh = slots.ended & (following < self.stop)
            number = jnp.where(fresh, following, slots.number)
            place, seen = jax.tree.map(
                lambda first, now: jnp.where(_aligned(fresh, now), first[number], now),
                self.begun,
                (place, seen),
            )
            time, taken = jnp.where(fresh, 0, time), taken + fresh.sum()
        ended = ~fresh & (slots.ended | turn.done | (time >= self.world.horizon))
        return Slots(number, time, ended, place, seen, taken), turn, fresh


class Step(NamedTuple):
    """What happened in one step, (slot, ...).

    before: the slots in which it was taken.
    kept: what the policy wants to be logged.
    """

    before: Any
    action: Any
    kept: Any
    reward: Any
    done: Any
    info: Any

    def transcript(self) -> Transcript:
        """What a protocol needs of it."""
        return Transcript(self.action, self.reward, self.done, self.info)


def rollout(
    arena: Arena,
    act: Act,
    policy: Any,
    slots: Slots | None = None,
    log: Callable[[Step], Any] = Step.transcript,
    steps: int | None = None,
    renew: Callable[[Any, Any], Any] | None = None,
) -> tuple[tuple[Slots, Any], Any]:
    """Play: ((slots, state of the policy) at the end, (step, slot, ...) what `log` gives).

    slots: where to go on; None: one for each episode, at its beginning.
    steps: so many, through which gradients pass; what the policy keeps of its choices it keeps in
        its state. None: until all episodes are over, or to the horizon; the log (which must have a
        field `done`) is zeros, and done, after that. No gradients pass.
    renew: (fresh, state of the policy) -> the state, re-initialised where an episode was begun.
    """
    slots, turn = arena.first() if slots is None else slots, turns(arena, act, log, renew)
    if steps is not None:
        return lax.scan(lambda carry, _: turn(carry), (slots, policy), None, length=steps)
    kinds = jax.eval_shape(lambda carry: turn(carry)[1], (slots, policy))
    room = int(arena.world.horizon)
    blank = jax.tree.map(lambda kind: jnp.zeros((room, *kind.shape), kind.dtype), kinds)
    blank = blank._replace(done=jnp.ones_like(blank.done))

    def goes_on(carry: Any, time: Any) -> Any:
        return (time < room) & ~carry[0].ended.all()

    _, carry, logged = logged_loop(turn, goes_on, (slots, policy), blank)
    return carry, logged


def turns(
    arena: Any,
    act: Act,
    log: Callable[[Step], Any],
    renew: Callable[[Any, Any], Any] | None = None,
) -> Callable[[tuple[Any, Any]], tuple[tuple[Any, Any], Any]]:
    """One step of policy and world: (slots, state of the policy) -> (both after it, the log).

    arena: an `Arena`, or anything with its `keys` and `step`.
    """

    def turn(carry: tuple[Any, Any]) -> tuple[tuple[Any, Any], Any]:
        slots, policy = carry
        of_policy, of_world = arena.keys(slots)
        policy, action, kept = act(policy, slots, of_policy)
        after, said, fresh = arena.step(slots, of_world, action)
        policy = policy if renew is None else renew(fresh, policy)
        return (after, policy), log(Step(slots, action, kept, said.reward, said.done, said.info))

    return turn


def logged_loop(
    turn: Callable[[Any], Any],
    goes_on: Callable[[Any, Any], Any],
    carry: Any,
    logged: Any,
    time: Any = 0,
    write: Callable[[Any, Any, Any], Any] = lambda rows, row, time: rows.at[time].set(row),
) -> tuple[Any, Any, Any]:
    """(time, carry, log) after as many turns as `goes_on(carry, time)` lets.

    turn: carry -> (carry, what happened).
    logged: room for all turns; write: (room, what happened, time) -> room, leaf by leaf.
    """

    def once(state: Any) -> Any:
        time, carry, logged = state
        carry, happened = turn(carry)

        def written(rows: Any, row: Any) -> Any:
            return write(rows, row, time)

        return time + 1, carry, jax.tree.map(written, logged, happened)

    def on(state: Any) -> Any:
        return goes_on(state[1], state[0])

    time, carry, logged = lax.while_loop(on, once, (time, carry, logged))
    return time, carry, logged


def play(
    world: Any,
    state: Any,
    step: Callable[..., Any],
    key: Any,
    noise: Any,
    numbers: Any,
    begun: Any = None,
) -> tuple[Any, Transcript]:
    """Play a lane's episodes of these numbers to the horizon: (last state, transcript).

    step: (state, observation, key=) -> (state, action), one row per episode in everything, keys
        too, then the players if there are several.
    key: the lane's, from which the world draws.
    noise: the policy's own.
    begun: (states, first observations), where they are known already.
    """
    first, later = jax.vmap(lambda number: episode_keys(key, number))(numbers)
    begun = opened(world, first, numbers) if begun is None else begun
    arena = Arena(world, begun, action_keys(noise, numbers), later)

    def act(state: Any, slots: Slots, keys: Any) -> Any:
        return *step(state, slots.seen, key=keys), None

    (_, state), played = rollout(arena, act, state, steps=world.horizon)
    return state, by_episode(played)


def by_episode(logged: Any) -> Any:
    """(episode, step, ...) from (step, episode, ...)."""
    return jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), logged)


def restarted(fresh: Any, first: Any, now: Any) -> Any:
    """A tree of (slot, ...), re-initialised where an episode is fresh; first: as at the beginning
    of an episode.
    """
    return jax.tree.map(
        lambda one, other: jnp.where(_aligned(fresh, other), one, other), first, now
    )


def _aligned(flags: Any, leaf: Any) -> Any:
    return flags.reshape(-1, *[1] * (leaf.ndim - 1))
