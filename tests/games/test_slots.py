"""Slots: the same episodes, step by step, as in a world of their own."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.gateway import jax, jnp
from quickstudy.tasks.games.episodes import as_episodes, draw_episode, draw_games
from quickstudy.tasks.games.pair import Pair
from quickstudy.tasks.games.slots import opened, step_on

EPISODES, SLOTS = 7, 3


@pytest.fixture(scope="module")
def world():
    given = {"most": 3, "samples": 2, "queries": True}
    return configure("games/pair", Pair, given, "published").world()


@pytest.fixture(scope="module")
def keys():
    return jax.random.split(Streams(3, "slots", 0).jax("data"), EPISODES)


@pytest.fixture(scope="module")
def drawn(world, keys):
    return jax.jit(lambda: draw_games(world.sizes, world.rules, keys))()


def test_an_episode_has_the_same_games_alone_and_among_others(world, keys, drawn):
    spaces, games = drawn
    alone = jax.jit(lambda key: draw_episode(world.sizes, world.rules, key))
    together = as_episodes(world.sizes, spaces, games)
    for number in range(EPISODES):
        episode, count = alone(keys[number]), int(spaces.count[number])
        first = int(games.starts[number])
        assert int(games.starts[number + 1]) == first + count
        assert np.asarray(games.episode)[first : first + count].tolist() == [number] * count
        assert np.asarray(games.last)[first : first + count].tolist() == [False] * (count - 1) + [True]
        assert np.asarray(games.query)[first : first + count].sum() == count - int(episode.support)
        for name in episode._fields:
            one, other = np.asarray(getattr(episode, name)), np.asarray(getattr(together, name))[number]
            if name in ("values", "renamed", "support", "count"):
                assert (one == other).all()
                continue
            flat = np.asarray(getattr(games, name))[first : first + count]
            assert np.allclose(one[:count], other[:count], atol=1e-6)
            assert (flat == other[:count]).all()


def test_a_slot_plays_its_episodes_one_after_another(world, drawn):
    """Every observation and reward is that of the world, with a step that begins anew behind every end."""
    spaces, games = drawn
    slot, seen = jax.jit(lambda: opened(world, spaces, games, SLOTS))()
    firsts, ends = np.asarray(slot.game), np.asarray(slot.end)
    starts = np.asarray(games.starts)
    assert firsts[0] == 0
    assert (firsts[1:] == ends[:-1]).all()
    assert ends[-1] == starts[-1]
    on = jax.jit(lambda slot, action: jax.vmap(lambda one, act: step_on(world, spaces, games, one, act))(slot, action))
    whole = as_episodes(world.sizes, spaces, games)
    begun = jax.jit(lambda number: world.started(jax.tree.map(lambda part: part[number], whole)))
    step = jax.jit(lambda state, action: world.step(None, state, action))
    rng, sizes = np.random.default_rng(0), world.sizes
    episode = [int(np.searchsorted(starts, first)) for first in firsts]
    left = [int(np.searchsorted(starts, end)) for end in ends]
    states, watched = zip(*[begun(number) for number in episode], strict=True)
    states, counted, fresh = list(states), 0, 0
    assert np.allclose(seen, np.stack(watched))
    over = [False] * SLOTS
    for _ in range(4 * int(np.diff(starts).max())):
        action = {
            "decision": rng.integers(sizes.decisions, size=(SLOTS, 2)),
            "message": {str(at): rng.integers(sizes.words + 1, size=(SLOTS, 2)) for at in range(sizes.length)},
        }
        slot, turn, belongs = on(slot, jax.tree.map(jnp.asarray, action))
        for at in range(SLOTS):
            assert bool(belongs[at]) != over[at]
            if over[at] and episode[at] + 1 >= left[at]:
                continue
            if over[at]:
                episode[at], over[at], fresh = episode[at] + 1, False, fresh + 1
                states[at], expected = begun(episode[at])
            else:
                states[at], own = step(states[at], jax.tree.map(lambda part, at=at: part[at], action))
                expected, over[at], counted = own.observation, bool(own.done), counted + 1
                assert (np.asarray(own.reward) == np.asarray(turn.reward[at])).all()
            assert bool(turn.done[at]) == over[at]
            assert np.allclose(turn.observation[at], expected)
    assert fresh >= SLOTS
    assert counted > 3 * starts[-1] / 2
