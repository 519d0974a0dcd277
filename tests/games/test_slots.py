"""Slots: the same episodes, step by step, as in a world of their own."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners import episode_batches
from quickstudy.learners.episode_batches import in_batches, laid_out, transcript
from quickstudy.learners.rollout import Arena
from quickstudy.tasks.games.episodes import as_episodes, draw_episode, draw_games
from quickstudy.tasks.games.pair import Pair

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
        assert np.asarray(games.last)[first : first + count].tolist() == [False] * (count - 1) + [
            True
        ]
        assert np.asarray(games.query)[first : first + count].sum() == count - int(episode.support)
        for name in vars(episode):
            one, other = (
                np.asarray(getattr(episode, name)),
                np.asarray(getattr(together, name))[number],
            )
            if name in ("values", "renamed", "support", "count"):
                assert (one == other).all()
                continue
            flat = np.asarray(getattr(games, name))[first : first + count]
            assert np.allclose(one[:count], other[:count], atol=1e-6)
            assert (flat == other[:count]).all()


def test_slots_play_one_episode_after_another(world, keys, drawn):
    """Every observation and reward is that of the world, with a step that begins anew behind every
    end; the transcript has all episodes, each from its beginning to its end.
    """
    row, begun = laid_out(world, drawn)
    arena = Arena(row, begun, None, keys, EPISODES - 1)
    on = jax.jit(lambda playing, action: arena.step(playing, jnp.zeros((SLOTS, 0)), action))
    whole = as_episodes(world.sizes, *drawn)
    reset = jax.jit(lambda number: world.started(jax.tree.map(lambda part: part[number], whole)))
    step = jax.jit(lambda state, action: world.step(None, state, action))
    rng, sizes, logs = np.random.default_rng(0), world.sizes, []
    playing = arena.first(SLOTS)
    own = {at: reset(at) for at in range(SLOTS)}
    while not playing.over(EPISODES - 1):
        action = {
            "decision": rng.integers(sizes.decisions, size=(SLOTS, 2)),
            "message": {
                str(at): rng.integers(sizes.words + 1, size=(SLOTS, 2))
                for at in range(sizes.length)
            },
        }
        before = playing
        playing, said, fresh = on(playing, jax.tree.map(jnp.asarray, action))
        for at in range(SLOTS):
            assert np.allclose(before.seen[at], own[at][1])
            if before.ended[at]:
                own[at] = (
                    reset(int(playing.number[at])) if fresh[at] else (own[at][0], playing.seen[at])
                )
                continue
            state, turn = step(own[at][0], jax.tree.map(lambda part, at=at: part[at], action))
            own[at] = state, turn.observation
            assert (np.asarray(turn.reward) == np.asarray(said.reward[at])).all()
            assert bool(turn.done) == bool(playing.ended[at])
            assert all(np.array_equal(said.info[name][at], turn.info[name]) for name in turn.info)
        number = jnp.where(before.ended, -1, before.number)[None, None]
        happened = Transcript(action, said.reward, said.done, said.info)
        logs.append(
            (number, before.time[None, None], jax.tree.map(lambda part: part[None, None], happened))
        )
    played = transcript(logs, EPISODES - 1, world.horizon)
    assert (played.done.sum(axis=2) > 0).all()
    steps = world.sizes.turns * np.asarray(drawn[0].count)[: EPISODES - 1] - world.sizes.feedback
    assert int(played.steps()[0]) == steps.sum()
    assert (np.argmax(played.done[0], axis=1) + 1 == steps).all()


def test_batches_have_episodes_of_about_equal_length(world, keys):
    """Every episode once, and hardly any padding: of batches in the order of numbers, more than a
    third would be.
    """
    rehearsal = Rehearsal(world, keys[:1])
    batches, rest = in_batches(rehearsal, 3, 3 + 2 * 512 - 5, 32)
    assert sorted([*batches.ravel(), *rest.ravel()]) == list(range(3, 3 + 2 * 512 - 5))
    assert (batches.shape, rest.shape) == ((1, 31, 32), (1, 27))
    counts = np.asarray(episode_batches.drawn(rehearsal, jnp.arange(1027)[None])[0].count)[0]

    def useful(numbers):
        games = counts[numbers]
        return games.sum() / (games.max(axis=-1, keepdims=True) * games.shape[-1]).sum()

    assert useful(batches[0]) > 0.9
    assert useful(np.sort(batches.ravel()).reshape(31, 32)) < 0.65
