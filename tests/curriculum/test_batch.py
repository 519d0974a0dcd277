"""Many worlds in one compiled program are the worlds they stand for, byte for byte."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.tasks.curriculum.compiled_draws import BUFFER, below, words
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.tables import TABLES

pytest.importorskip("numba")
SPACE = 32


def made(name, **parameters):
    return configure(name, registries.task.get(f"curriculum/{name}"), parameters)


class Knowing:
    """Says what is right, and with some chance something else: of a world that it may look into."""

    def __init__(self, world, slips, rng):
        self.world, self.slips, self.rng, self.texts, self.place = world, slips, rng, 0, 0

    def reply(self):
        stage = self.world.stage
        self.place = 0 if stage.texts != self.texts else self.place + 1
        self.texts = stage.texts
        answered = self.place - (len(stage.text.rstrip(b" ")) or 1) + 1
        if self.rng.random() < self.slips:
            return int(self.rng.integers(256)) if self.rng.random() < 0.5 else SPACE
        return stage.expected[answered] if 0 <= answered < len(stage.expected) else SPACE


@pytest.mark.parametrize("number", TABLES)
def test_every_step_of_every_task_is_that_of_the_world(number):
    """Learners that are nearly always right, often wrong, and always silent: instances are solved,
    and fail.
    """
    task, rng = made(f"micro-{number}", successes=2), np.random.default_rng(1)
    streams = [Streams(root, task.id, 0) for root in range(3)]
    worlds = [task.open(own) for own in streams]
    batch = task.side_by_side(streams)
    assert batch.reset().tolist() == [world.reset() for world in worlds]
    learners = [
        Knowing(world, slips, rng) for world, slips in zip(worlds, (0.004, 0.3, 1.0), strict=True)
    ]
    ends, over = set(), 0
    for step in range(1600):
        actions = [learner.reply() for learner in learners]
        seen, rewards, done = batch.step(np.array(actions))
        for place, (world, action) in enumerate(zip(worlds, actions, strict=True)):
            turn = world.step(action)
            shown = world.reset() if turn.done else turn.observation
            ended = 1 + turn.info["success"] if turn.info else 0
            found = (seen[place], rewards[place], done[place], batch.ended[place])
            assert found == (shown, turn.reward, turn.done, ended), (step, place)
            ends.add(ended)
            over += turn.done
    assert ends >= {0, 2}
    assert over or number in ("5.12", "5.15", "5.17", "5.18")


def test_random_numbers_are_those_of_the_name():
    name = np.frombuffer(b"a-name/instance/", np.uint8)
    now = np.zeros(8, np.int64)
    now[0], now[2], now[3] = 1234, BUFFER, len(name)
    wanted = hashlib.shake_128(b"a-name/instance/1234/0").digest(4 * 300)
    found = np.zeros(300, np.uint32)
    words(name, 0, now, found, 300)
    assert found.astype("<u4").tobytes() == wanted
    draws, buffer = Draws("a-name/instance/1234"), np.zeros(BUFFER, np.uint32)
    now[1] = 0
    assert [below(name, 0, now, buffer, 1 + count) for count in range(200)] == [
        draws.below(1 + n) for n in range(200)
    ]


def test_what_has_no_such_program_says_so():
    one = [Streams(0, "curriculum/micro-1", 0)]
    assert made("micro-7.1").side_by_side(one) is None
    assert made("micro-1", limits="steps").side_by_side(one) is None
    assert made("micro-1", renamed=True).side_by_side(one) is None
    assert made("chain", members="micro-1/micro-2").side_by_side(one) is None


@pytest.mark.parametrize("actions", [[256], [-1], [97, 97], [1.5]])
def test_a_reply_that_is_no_byte_is_refused(actions):
    batch = made("micro-1").side_by_side([Streams(0, "curriculum/micro-1", 0)])
    batch.reset()
    with pytest.raises(LearnerFault, match="whole numbers from 0 to 255, one for each of 1 worlds"):
        batch.step(actions)
