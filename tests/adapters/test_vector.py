"""Many worlds as one vector environment: the same episodes as one by one, seeds, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.registries import typed_task
from quickstudy.base.seeds import Streams
from quickstudy.tasks.worlds import open_world

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("jax")

from quickstudy.adapters.vector import VectorWorlds  # noqa: E402

LISTENER = "games/listener:most=2,words=3"


@pytest.mark.parametrize("name", [LISTENER, "curriculum/micro-4", "curriculum/micro-7.1"])
def test_every_world_is_what_it_is_alone(name):
    many = gymnasium.make_vec("quickstudy/World-v1", num_envs=3, task=name)
    assert isinstance(many, VectorWorlds)
    task = typed_task(name)
    alone = [open_world(task, Streams(5 + number, task.id, 0)) for number in range(3)]
    seen, _ = many.reset(seed=5)
    assert many.observation_space.contains(seen)
    assert np.allclose(seen, [world.reset() for world in alone])
    many.action_space.seed(1)
    ends = 0
    for _ in range(300):
        actions = many.action_space.sample()
        seen, rewards, ended, cut, _ = many.step(actions)
        assert not cut.any()
        for number, world in enumerate(alone):
            turn = world.step(int(actions[number]))
            assert (turn.reward, turn.done) == (rewards[number], ended[number])
            own = world.reset() if turn.done else turn.observation
            assert np.allclose(seen[number], own, atol=1e-6)
            ends += turn.done
    assert ends or name != LISTENER


def test_the_loop_of_a_usual_training():
    """Storage by the spaces of one world, actions as arrays, as single-file trainings have it."""
    many = gymnasium.make_vec("quickstudy/World-v1", num_envs=4, task=LISTENER)
    stored = np.zeros((8, many.num_envs, *many.single_observation_space.shape))
    rewards = np.zeros((8, many.num_envs))
    seen, _ = many.reset(seed=1)
    for step in range(8):
        stored[step] = seen
        actions = np.full(many.num_envs, step % many.single_action_space.n)
        seen, rewards[step], ended, cut, info = many.step(actions)
    assert stored.any()
    assert ended.shape == cut.shape == (4,)
    assert info == {}
    many.close()


def test_unseeded_worlds_differ_and_a_second_reset_goes_on():
    many = gymnasium.make_vec("quickstudy/World-v1", num_envs=16)
    first = many.reset()[0]
    assert len(set(first.tolist())) > 4
    assert (many.reset()[0] != first).any()
    again = [many.reset(seed=3)[0].tolist() for _ in range(2)]
    assert again[0] == again[1]
    assert again[0][:2] == many.reset(seed=[3, 4, *[None] * 14])[0][:2].tolist()


def test_what_is_refused():
    with pytest.raises(UsageError, match="not a world for one player"):
        VectorWorlds(2, "games/pair")
    with pytest.raises(UsageError, match="at least 1"):
        VectorWorlds(0)
    with pytest.raises(UsageError, match="no text"):
        VectorWorlds(2, render_mode="ansi")
    many = VectorWorlds(2)
    with pytest.raises(UsageError, match="reset the environment"):
        many.step([1, 2])
    many.reset(seed=0)
    with pytest.raises(UsageError, match="as many actions"):
        many.step([1, 2, 3])
    with pytest.raises(UsageError, match="as many seeds"):
        many.reset(seed=[1, 2, 3])
