"""Other programs at the door: Gymnasium, ZeroMQ, lines, batches; and what happens when they
misbehave.
"""

from __future__ import annotations

import socket
import sys
import textwrap

import numpy as np
import pytest

from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Tokens

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("zmq")
BYTES = Brief(Tokens(256), Tokens(256), "reward", 10_000, 1000)


def test_gymnasium_checks_it():
    from gymnasium.utils.env_checker import check_env

    import quickstudy.adapters.gym  # noqa: F401

    env = gymnasium.make("quickstudy/World-v1", task="curriculum/micro-5.1")
    check_env(env.unwrapped)
    seen = [env.reset(seed=3)[0], *(env.step(97)[0] for _ in range(20))]
    assert seen == [env.reset(seed=3)[0], *(env.step(97)[0] for _ in range(20))]


def test_a_batch_is_its_worlds():
    from quickstudy.adapters.gym import Batch, WorldEnv

    batch = Batch("curriculum/micro-4", [5, 6])
    alone = [WorldEnv("curriculum/micro-4") for _ in range(2)]
    seen = batch.reset()
    assert seen.tolist() == [
        int(env.reset(seed=seed)[0]) for env, seed in zip(alone, (5, 6), strict=True)
    ]
    for _ in range(30):
        actions = np.array([97, 98])
        seen, rewards, done = batch.step(actions)
        turns = [env.step(action) for env, action in zip(alone, actions, strict=True)]
        assert (seen.tolist(), rewards.tolist()) == (
            [int(t[0]) for t in turns],
            [t[1] for t in turns],
        )
        assert not done.any()


def script(folder, text):
    path = folder / "agent.py"
    path.write_text(textwrap.dedent(text))
    return f"{sys.executable} {path}"


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


ZMQ = """
    import sys, zmq
    door = zmq.Context().socket(zmq.PAIR)
    door.connect("tcp://127.0.0.1:" + sys.argv[1])
    door.send_string("{hello}")
    while True:
        reward = door.recv_string()
        if reward == "goodbye":
            break
        byte = door.recv_string()
        assert reward in ("-1", "0", "1"), reward
        door.send_string({reply})
"""


def remote(folder, reply="byte", hello="hello goodbye", seconds=10.0):
    from quickstudy.adapters.subprocess_learners import ZeroMQ

    command = script(folder, ZMQ.format(reply=reply, hello=hello))
    return ZeroMQ(BYTES, 0, port=free_port(), command=command, seconds=seconds)


def test_a_learner_over_zeromq(tmp_path):
    agent = remote(tmp_path)
    assert [agent.act(byte, reward, False) for byte, reward in ((65, 0), (200, -1), (10, 1))] == [
        65,
        200,
        10,
    ]
    agent.close()
    assert agent._process.returncode == 0  # it was told that all is over


@pytest.mark.parametrize(
    ("reply", "reason"),
    [('"hello"', "one character"), ('""', "one character"), ('"ŧ"', "0 to 255")],
)
def test_garbage_over_zeromq(tmp_path, reply, reason):
    agent = remote(tmp_path, reply)
    with pytest.raises(LearnerFault, match=reason):
        agent.act(65, 0, True)
    agent.close()


def test_a_learner_that_does_not_say_hello(tmp_path):
    with pytest.raises(LearnerFault, match="must begin with hello"):
        remote(tmp_path, hello="good day")


def test_a_learner_that_hangs_or_dies_over_zeromq(tmp_path):
    agent = remote(tmp_path, reply="__import__('time').sleep(60)", seconds=0.5)
    with pytest.raises(LearnerFault, match=r"more than 0\.5 seconds"):
        agent.act(65, 0, True)
    agent.close()
    agent = remote(tmp_path, reply="sys.exit(3)")
    with pytest.raises(LearnerFault, match="ended with status 3"):
        agent.act(65, 0, True)
    agent.close()


def lines(folder, reply, seconds=5.0):
    from quickstudy.adapters.subprocess_learners import Lines

    command = script(
        folder,
        f"import sys\nfor line in sys.stdin:\n    reward, byte = line.split()\n    {reply}\n",
    )
    return Lines(BYTES, 0, command=command, seconds=seconds)


def test_a_learner_by_lines(tmp_path):
    agent = lines(tmp_path, "print(byte, flush=True)")
    assert [agent.act(byte, -1, False) for byte in (65, 255, 0)] == [65, 255, 0]
    agent.close()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("print('x', flush=True)", "a whole number from 0 to 255"),
        ("print(256, flush=True)", "a whole number from 0 to 255"),
        ("sys.exit(4)", "ended with status 4"),
        ("pass", "more than 0"),
    ],
)
def test_programs_that_misbehave(tmp_path, reply, reason):
    agent = lines(tmp_path, reply, seconds=0.7)
    with pytest.raises(LearnerFault, match=reason):
        agent.act(65, 0, True)
    agent.close()


def test_a_program_that_is_not_there():
    from quickstudy.adapters.subprocess_learners import Lines

    with pytest.raises(UsageError, match="cannot start"):
        Lines(BYTES, 0, command="/no/such/program")
    with pytest.raises(UsageError, match="which program"):
        Lines(BYTES, 0)


def test_the_adapter_has_no_other_way_for_reals():
    from quickstudy.adapters.gym import WorldEnv

    with pytest.raises(UsageError, match="is not a world"):
        WorldEnv("language/qa")
