"""Games at the door of other programs: the checkers of Gymnasium and PettingZoo, and our own
rollouts.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from quickstudy.base.errors import UsageError

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")
pytest.importorskip("jax")

SMALL: dict[str, int] = {}  # the usual sizes: a program that other tests have compiled


@pytest.fixture(scope="module")
def listener():
    import quickstudy.adapters.games  # noqa: F401

    return gymnasium.make("quickstudy/Listener-v1", **SMALL).unwrapped


@pytest.fixture(scope="module")
def pair():
    from quickstudy.adapters.games import parallel_env

    return lambda **more: parallel_env(samples=1, **SMALL, **more)


def test_gymnasium_checks_the_listener(listener):
    from gymnasium.utils.env_checker import check_env

    check_env(listener, skip_render_check=True)


def test_pettingzoo_checks_the_pair(pair):
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    parallel_api_test(pair(), num_cycles=60)
    parallel_seed_test(pair, num_cycles=40)


def test_two_copies_live_the_same_episodes(pair):
    rng = np.random.default_rng(0)
    copies = [pair(flat=True) for _ in range(2)]
    seen = [env.reset(seed=7) for env in copies]
    for _ in range(120):
        if not copies[0].agents:
            seen = [env.reset() for env in copies]
        for player in ("speaker", "listener"):
            one, other = (views[0][player] for views in seen)
            assert all(np.array_equal(one[key], other[key]) for key in one)
            assert copies[0].observation_space(player).contains(one)
        actions = {player: int(rng.integers(519)) for player in ("speaker", "listener")}
        seen = [env.step(actions) for env in copies]
        assert seen[0][1:4] == seen[1][1:4]


def test_an_episode_of_the_listener_is_the_one_that_is_replayed(listener):
    """The same observations and rewards as `replay` gives of the recorded episode with the same
    decisions.
    """
    from quickstudy.base.seeds import Streams
    from quickstudy.tasks.games.listener import Listener

    task = Listener(**SMALL)
    (line,) = task.recordings(Streams(11, "games/listener", 0), 1)
    seen, _ = listener.reset(seed=11)
    views, rewards, decisions, done = [seen], [0.0], [], False
    while not done:
        decisions.append(len(decisions) % 2)
        seen, reward, done, _, info = listener.step(decisions[-1])
        views.append(seen)
        rewards.append(reward)
    steps = task.replay({**line, "decisions": decisions})["steps"]
    assert [step["reward"] for step in steps] == rewards
    for view, step in zip(views, steps, strict=True):
        for key, told in step["listener"].items():
            assert np.allclose(view[key], told, atol=1e-7)
    assert info["mode"] == "test"
    assert info["nbr_games"] == sum(game["query"] for game in line["games"])
    assert info["round_idx"] == -1


def test_messages_are_numbered_as_in_the_original():
    from quickstudy.adapters.games import Actions
    from quickstudy.tasks.games.listener import Listener

    actions = Actions(Listener().sizes, "flat")
    assert (actions.messages, actions.space.n) == (259, 519)
    assert [actions.tokens(number).tolist() for number in (0, 1, 6, 7, 8, 13, 43)] == [
        [0, 0, 0],
        [1, 0, 0],
        [6, 0, 0],
        [1, 1, 0],
        [2, 1, 0],
        [1, 2, 0],
        [1, 1, 1],
    ]
    assert len({tuple(actions.tokens(number)) for number in range(259)}) == 259
    assert actions.read(259 + 43, "speaker")[0] == 1
    assert actions.read(518, "listener") == (0, pytest.approx([0, 0, 0]))
    assert actions.mask("listener", False).tolist() == [0] * 518 + [1]
    assert actions.mask("listener", True).tolist() == [1] * 518 + [0]
    assert actions.mask("speaker", False).tolist() == [1] * 518 + [0]


def test_an_action_outside_its_space_is_refused(listener, pair):
    listener.reset(seed=0)
    for wrong in (2, -1, 0.5, "left", None, np.array([0, 1])):
        with pytest.raises(UsageError, match="action of the listener must be in Discrete"):
            listener.step(wrong)
    env = pair()
    env.reset(seed=0)
    fine = {"decision": 0, "communication_channel": [1, 2, 3]}
    for wrong in (
        {"decision": 0, "communication_channel": [1, 2, 9]},
        {"decision": 3, "communication_channel": [1, 1, 1]},
        {"decision": 0.5, "communication_channel": [1, 1, 1]},
        {"decision": None, "communication_channel": [1, 1, 1]},
        {"decision": "left", "communication_channel": [1, 1, 1]},
        {"decision": 0, "communication_channel": [1, [2], 3]},
        {"decision": 0},
        None,
    ):
        with pytest.raises(UsageError, match="action of the speaker"):
            env.step({"speaker": wrong, "listener": fine})
    with pytest.raises(UsageError, match="an action of the listener is missing"):
        env.step({"speaker": fine})
    for wrong in (None, 0, [fine, fine]):
        with pytest.raises(
            UsageError, match="actions must be given by player, speaker and listener, got"
        ):
            env.step(wrong)
    seen = env.step({"speaker": fine, "listener": fine})[0]
    assert seen["speaker"]["communication_channel"].tolist() == [1, 2, 3]


def test_before_the_first_and_behind_the_last_step_one_resets(pair):
    env = pair()
    with pytest.raises(UsageError, match="reset the environment"):
        env.step({})


def test_the_ids_of_the_original_are_there():
    import quickstudy.adapters.games  # noqa: F401

    name = "SymbolicBehaviourBenchmark-{}-v0"
    for once, twice in (
        ("ReceptiveConstructiveTestEnv", "ReceptiveConstructiveTestEnv-2Shots"),
        ("RecallTestEnv", "RecallTestEnv-2Shots"),
    ):
        assert name.format(once) in gymnasium.registry
        assert name.format(twice) in gymnasium.registry
    env = gymnasium.make(name.format("RecallTestEnv-2Shots"), most=3).unwrapped
    (seen, info), modes, rewards = env.reset(seed=2), [], []
    for _ in itertools.count():
        seen, reward, done, _, info = env.step(0)
        assert env.observation_space.contains(seen)
        modes.append(info["mode"])
        rewards.append(reward)
        if done:
            break
    assert set(modes) == {"train0", "train1"}
    assert set(rewards) <= {0.0, -1.0}
    env.reset()
    with pytest.raises(UsageError, match="action must be in"):
        env.step(3)


def test_a_single_shot_of_recall_has_one_mode():
    import quickstudy.adapters.games  # noqa: F401

    env = gymnasium.make("SymbolicBehaviourBenchmark-RecallTestEnv-v0", most=3).unwrapped
    _, info = env.reset(seed=2)
    modes, done = [info["mode"]], False
    while not done:
        *_, done, _, info = env.step(0)
        modes.append(info["mode"])
    assert set(modes) == {"train0"}
    assert len(modes) % 2 == 1


def test_the_form_of_the_original(pair):
    from gymnasium.utils.env_checker import check_env
    from pettingzoo.test import parallel_api_test

    env = gymnasium.make("quickstudy/Listener-v1", original=True, **SMALL).unwrapped
    check_env(env, skip_render_check=True)
    parallel_api_test(pair(original=True), num_cycles=30)
    first, _ = env.reset(seed=5)
    assert {key: part.shape for key, part in first.items()} == {
        "stimulus": (3,),
        "communication_channel": (1, 3),
        "other_agent_id": (1, 10),
        "role_id": (1, 2),
        "mode_id": (1, 2),
        "previous_game_reward": (1, 1),
        "previous_game_result": (1, 2),
    }
    later, *_ = env.step(0)
    other, _ = env.reset()
    again, _ = env.reset(seed=5)
    noise = [view["other_agent_id"] for view in (first, later, other, again)]
    assert (noise[0] == noise[1]).all()
    assert (noise[0] != noise[2]).all()
    assert (noise[0] == noise[3]).all()
    plain, _ = gymnasium.make("quickstudy/Listener-v1", **SMALL).reset(seed=5)
    assert all((first[key].reshape(part.shape) == part).all() for key, part in plain.items())
    assert first["communication_channel"].dtype == np.float64
    flat = gymnasium.make(
        "quickstudy/Listener-v1", original=True, flat=True, distractors=2, **SMALL
    ).unwrapped
    check_env(flat, skip_render_check=True)
    _, info = flat.reset(seed=5)
    shapes = {
        "speaker_exp_latents": (1, 3, 3),
        "listener_exp_latents": (1, 3, 3),
        "round_id": (1, 2),
        "action_mask": (1, 4 * 259 + 1),
        "legal_actions": (1, 4 * 259 + 1),
    }
    assert {key: info[key].shape for key in shapes} == shapes
    both, _ = pair(original=True).reset(seed=5)
    assert (both["speaker"]["other_agent_id"] != both["listener"]["other_agent_id"]).all()


def test_messages_in_zeros_and_ones_and_stimuli_alone(pair):
    from gymnasium.utils.env_checker import check_env
    from pettingzoo.test import parallel_api_test

    parallel_api_test(pair(binary=True, original=True), num_cycles=30)
    env = gymnasium.make("quickstudy/Listener-v1", binary=True, bare=True, **SMALL).unwrapped
    plain = gymnasium.make("quickstudy/Listener-v1", **SMALL).unwrapped
    check_env(env, skip_render_check=True)
    (seen, info), (whole, _) = env.reset(seed=4), plain.reset(seed=4)
    assert "previous_action" not in info
    for action in (1, 0, 1):
        assert np.array_equal(seen, whole["stimulus"])
        assert all(np.array_equal(info[key], whole[key]) for key in whole if key != "stimulus")
        blocks = info["communication_channel_multi_binary"].reshape(3, 7)
        assert np.array_equal(blocks.argmax(axis=1), whole["communication_channel"])
        assert (blocks.sum(axis=1) == 1).all()
        (seen, reward, *_, info), (whole, *_) = env.step(action), plain.step(action)
        assert (info["previous_action"], info["previous_reward"]) == (action, reward)
    both = pair(bare=True)
    views, _ = both.reset(seed=1)
    assert all(both.observation_space(player).contains(view) for player, view in views.items())


def test_every_pass_over_the_support_games_is_counted_by_itself():
    """Two passes and the query: successes and games begin anew in each, and each has one end."""
    from quickstudy.adapters.games import ListenerEnv

    env = ListenerEnv(repeats=2)
    _, info = env.reset(seed=0)
    seen, ends, places, done = {}, [], {info["mode"]: [info["stimulus_idx"]]}, False
    while not done:
        _, _, done, _, info = env.step(0)
        seen[info["mode"]] = info["nbr_games"]
        places.setdefault(info["mode"], []).append(info["stimulus_idx"])
        ends += [info["mode"]] if info["end_of_mode"] else []
    assert list(seen) == ends == ["train0", "train1", "test"]
    assert seen["train0"] == seen["train1"] > 0
    assert seen["test"] > 0
    assert {mode: sorted(set(found)) for mode, found in places.items()} == {
        mode: list(range(games)) for mode, games in seen.items()
    }
