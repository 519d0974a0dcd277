"""Environments in the hands of the usual tools: vectors, copies, seeds, text."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from quickstudy.base.errors import UsageError

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")
pytest.importorskip("jax")

import quickstudy.adapters.games  # noqa: E402
import quickstudy.adapters.gym  # noqa: E402, F401
from quickstudy.adapters.games import parallel_env  # noqa: E402
from quickstudy.adapters.gym import Batch  # noqa: E402

IDS = ["quickstudy/World-v1", "quickstudy/Listener-v1", "quickstudy/Recall-v1"]


def same(one, other) -> bool:
    return pickle.dumps(plain(one)) == pickle.dumps(plain(other))


def plain(value):
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@pytest.mark.parametrize("id", IDS)
def test_several_in_a_vector(id):
    many = gymnasium.make_vec(id, num_envs=2, vectorization_mode="sync")
    many.action_space.seed(0)
    many.reset(seed=3)
    for _ in range(
        200
    ):  # some episodes: an environment that has just begun another has no action before it
        _, rewards, ended, cut, info = many.step(many.action_space.sample())
    assert rewards.shape == ended.shape == cut.shape == (2,)
    if "Listener" in id:
        assert info["previous_action"].shape == (2,)
    many.close()


@pytest.mark.parametrize("id", IDS)
def test_a_render_mode_may_be_given_and_an_unknown_one_is_a_type_error(id):
    """As programs that try `render_mode` first expect: they then go on without."""
    for mode in (None, "ansi"):
        assert gymnasium.make(id, render_mode=mode).render_mode == mode
    with (
        pytest.warns(UserWarning, match="rgb_array"),
        pytest.raises(TypeError, match='render_mode must be "ansi"'),
    ):
        gymnasium.make(id, render_mode="rgb_array")


@pytest.mark.parametrize("id", IDS)
def test_text(id):
    env = gymnasium.make(id, render_mode="ansi", disable_env_checker=True)
    env.reset(seed=3)
    before = env.render()
    env.step(1)
    text = env.render()
    assert isinstance(text, str)
    assert text != before
    assert "reward" in text
    assert "you" in text
    assert gymnasium.make(id, disable_env_checker=True).unwrapped.render() is None


def test_text_of_bytes_is_letters_where_they_can_be_shown():
    env = gymnasium.make(
        "quickstudy/World-v1", task="curriculum/micro-4", render_mode="ansi"
    ).unwrapped
    env.reset(seed=1)
    seen, reward, *_ = env.step(65)
    assert "you A (65)" in env.render()
    assert f"({seen})" in env.render()
    assert f"reward {reward:g}" in env.render()


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@pytest.mark.parametrize("steps", [None, 0, 37])
def test_a_copy_goes_on_as_its_original(id, copied, steps):
    env = gymnasium.make(id, disable_env_checker=True).unwrapped
    actions = np.random.default_rng(1).integers(2, size=200).tolist()
    if steps is not None:
        env.reset(seed=5)
        play(env, actions[:steps])
    other = copied(env)
    if steps is None:
        assert same(env.reset(seed=5), other.reset(seed=5))
    assert same(play(env, actions[40:]), play(other, actions[40:]))


def play(env, actions):
    rows = []
    for action in actions:
        rows.append(env.step(action))
        if rows[-1][2]:
            rows.append(env.reset())
    return rows


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_of_a_pair_goes_on_as_its_original(copied):
    env = parallel_env(flat=True)
    env.reset(seed=5)
    actions = {"speaker": 3, "listener": 1}
    env.step(actions)
    other = copied(env)
    for _ in range(10):
        assert same(env.step(actions), other.step(actions))


@pytest.mark.parametrize("id", IDS)
def test_without_a_seed_copies_differ_and_with_one_they_do_not(id):
    def lived(seed):
        env = gymnasium.make(id, disable_env_checker=True).unwrapped
        return plain([env.reset(seed=seed)[0], *(row[0] for row in play(env, [1, 0] * 10))])

    free = [lived(None) for _ in range(4)]
    assert len({repr(one) for one in free}) > 1
    assert lived(0) == lived(0) != lived(1)


def test_pairs_differ_without_a_seed():
    free = {repr(plain(parallel_env().reset()[0])) for _ in range(3)}
    assert len(free) == 3


def test_a_batch_says_what_is_wrong():
    with pytest.raises(
        UsageError, match=r"seeds must be a list of root seeds, as range\(10\), got 10"
    ):
        Batch("curriculum/micro-1", 10)
    with pytest.raises(UsageError, match="at least one root seed"):
        Batch("curriculum/micro-1", [])
    for task in ("curriculum/micro-1", "curriculum/micro-5.1"):
        with pytest.raises(UsageError, match="reset the batch before the first step"):
            Batch(task, [1, 2]).step([65, 65])


def test_a_task_that_is_no_world_names_those_that_are():
    with pytest.raises(UsageError, match=r"language/qa is not a world for one player.*curriculum/"):
        gymnasium.make("quickstudy/World-v1", task="language/qa")


@pytest.mark.parametrize("flat", [False, True])
def test_agents_that_mask_actions_are_told_which_are_legal(flat):
    env = gymnasium.make("quickstudy/Listener-v1", flat=flat).unwrapped
    _, info = env.reset(seed=1)
    for _ in range(3):
        masks = env.action_masks()
        assert (masks.shape, masks.dtype) == ((env.action_space.n,), np.bool_)
        assert masks.tolist() == (
            info["action_mask"].astype(bool).tolist() if flat else [True] * len(masks)
        )
        _, _, _, _, info = env.step(int(np.flatnonzero(masks)[0]))
