"""The rollout against episodes played one by one, in a world that draws at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

pytest.importorskip("jax")

from quickstudy.base.spaces import Tokens
from quickstudy.base.task import Turn
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.rollout import Arena, action_keys, opened, rollout, step_keys
from quickstudy.tasks.worlds import episode_keys

EPISODES, SLOTS, HORIZON = 5, 2, 6


@dataclass(frozen=True)
class Dice:
    """Over after 2 to 4 steps, or never; the reward is a number that the world draws, and the
    observation counts the steps.
    """

    inputs: ClassVar[Tokens] = Tokens(HORIZON + 1)
    outputs: ClassVar[Tokens] = Tokens(3)
    horizon: int = HORIZON
    ends: bool = True

    def reset(self, key: Any) -> Any:
        last = 2 + jnp.int32(jax.random.uniform(key) * 3)
        return (jnp.int32(0), jnp.where(self.ends, last, HORIZON + 9)), jnp.int32(0)

    def step(self, key: Any, state: Any, action: Any) -> Any:
        time, last = state[0] + 1, state[1]
        return (time, last), Turn(time, jax.random.uniform(key), time >= last, {"last": last})


def act(policy: Any, slots: Any, keys: Any) -> Any:
    """A drawn action; the policy counts its steps since the beginning of the episode."""
    action = jax.vmap(lambda key: jax.random.randint(key, (), 0, 3))(keys)
    return policy + 1, action, None


def arena_of(world: Any, numbers: Any, noise: int = 1, stop: Any = None) -> Arena:
    key = jax.random.key(0)
    first = jax.vmap(lambda number: episode_keys(key, number)[0])(numbers)
    own = action_keys(jax.random.key(noise), numbers)
    return Arena(world, opened(world, first, numbers), own, step_keys(key, numbers), stop)


@pytest.fixture(scope="module")
def alone():
    """(rewards, actions) of each episode, up to its end."""

    @jax.jit
    def play(number):
        steps = rollout(arena_of(Dice(), number[None]), act, jnp.zeros(1), steps=HORIZON)[1]
        return jax.tree.map(lambda leaf: leaf[:, 0], steps)

    found = []
    for number in range(EPISODES):
        played = play(jnp.int32(number))
        length = int(np.argmax(played.done)) + 1
        found.append((np.asarray(played.rewards)[:length], np.asarray(played.actions)[:length]))
    return found


def test_until_all_are_over_is_the_same_and_then_nothing(alone):
    whole = jax.jit(lambda: rollout(arena_of(Dice(), jnp.arange(EPISODES)), act, jnp.zeros(5))[1])()
    longest = max(len(rewards) for rewards, _ in alone)
    assert longest < HORIZON
    for number, (rewards, actions) in enumerate(alone):
        assert np.array_equal(whole.rewards[: len(rewards), number], rewards)
        assert np.array_equal(whole.actions[: len(rewards), number], actions)
    assert not whole.rewards[longest:].any()
    assert whole.done[longest:].all()


def test_slots_begin_the_next_episode_and_renew_the_policy(alone):
    @jax.jit
    def play():
        arena = arena_of(Dice(), jnp.arange(EPISODES), stop=EPISODES)
        return rollout(
            arena,
            act,
            jnp.zeros(SLOTS),
            arena.first(SLOTS),
            lambda step: (step.before.number, step.before.ended, step.reward, step.action),
            steps=14,
            renew=lambda fresh, policy: jnp.where(fresh, 0.0, policy),
        )

    (slots, policy), logged = play()
    number, ended, rewards, actions = map(np.asarray, logged)
    assert slots.over(EPISODES)
    for episode, wanted in enumerate(alone):
        there = (number == episode) & ~ended
        assert np.array_equal(rewards[there], wanted[0])
        assert np.array_equal(actions[there], wanted[1])
    last = number[-1]
    # Of each slot: the steps of its last episode, and those in which it had nothing to play.
    idle = [(ended[:, slot] & (number[:, slot] == last[slot])).sum() for slot in range(SLOTS)]
    assert policy.tolist() == [len(alone[last[s]][0]) + idle[s] for s in range(SLOTS)]


def test_the_world_draws_the_same_whatever_the_policy_draws():
    @jax.jit
    def play(noise):
        keys = jax.random.key(noise)
        arena = arena_of(Dice(ends=False), jnp.arange(3))
        arena = arena._replace(of_policy=action_keys(keys, jnp.arange(3)))
        return rollout(arena, act, jnp.zeros(3))[1]

    one, other = play(1), play(2)
    assert np.array_equal(one.rewards, other.rewards)
    assert not np.array_equal(one.actions, other.actions)
    assert not np.asarray(one.done).any()  # the horizon ends them
