"""Curriculum task 1 by reward, byte by byte: the loop's timing, cores that act, and a scripted
learner.
"""

from __future__ import annotations

import copy
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from quickstudy.base.learner import Acting, Brief, Cost, Snapshot, face
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import Turn, World, WorldTask
from quickstudy.cores.esn import EchoState
from quickstudy.cores.recurrent import LSTM
from quickstudy.jax_gateway import eqx, jax, jnp, key_from_words
from quickstudy.learners.host import Hosted
from quickstudy.learners.lanes import named_arrays, over_lanes, stack_lanes, with_arrays
from quickstudy.protocols.examination import Clock
from quickstudy.protocols.lifetime import Lifetime

SYMBOLS = [ord(symbol) for symbol in string.ascii_letters + string.digits + " ,.!;?-"]
BYTE = Tokens(256)
BRIEF = Brief(BYTE, BYTE, "reward", capacity=1, budget=1000)


class Instance(NamedTuple):
    """An instance that has ended. solved: by ten right answers in a row; passed: and in time."""

    answer: int
    solved: bool
    passed: bool
    questions: int


class OneAnswerWorld(World):
    """Ten symbols an instance, one of them always the answer. A reply's reward comes with the next
    byte.

    Ten right in a row end an instance: passed, unless that came more than 50 questions after the
    answer could be known (a first right one, or 69 wrong ones). Later than twice that, it ends
    unpassed. The switch is not marked.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.ended = rng, list[Instance]()

    def draw(self) -> int:
        self.symbols = self.rng.choice(SYMBOLS, 10, replace=False)
        return int(self.symbols[0])

    def ask(self) -> int:
        return int(self.rng.choice(self.symbols))

    def reset(self) -> int:
        self.answer = self.draw()
        self.asked, self.run, self.wrong, self.soft, self.hard = 0, 0, 0, np.inf, np.inf
        return self.ask()

    def step(self, action: int) -> Turn:
        right = action == self.answer
        reward = 1.0 if right else -1.0
        self.asked += 1
        self.run = self.run + 1 if right else 0
        if self.run == 10 or self.asked > self.hard:
            solved = self.run == 10
            ended = Instance(self.answer, solved, solved and self.asked <= self.soft, self.asked)
            self.ended.append(ended)
            return Turn(self.reset(), reward, False, {"ended": ended})
        if self.soft == np.inf and (right or self.wrong >= len(SYMBOLS)):
            self.soft = self.asked + 50
        if self.hard == np.inf and self.asked > self.soft:
            self.hard = 2 * self.asked
        self.wrong += not right
        return Turn(self.ask(), reward, False)


class ScriptedWorld(OneAnswerWorld):
    def __init__(self, answers: str, shown: str) -> None:
        self.answers, self.shown, self.ended = iter(answers.encode()), iter(shown.encode()), []

    def draw(self) -> int:
        return next(self.answers)

    def ask(self) -> int:
        return next(self.shown)


@dataclass(frozen=True)
class OneAnswer:
    inputs: ClassVar[Tokens] = BYTE
    outputs: ClassVar[Tokens] = BYTE
    horizon: ClassVar[int] = 10_000

    def open(self, streams: Streams) -> OneAnswerWorld:
        return OneAnswerWorld(streams.numpy("data"))


@dataclass(frozen=True)
class ByReward:
    """A core as it is drawn; on its features, a linear value of every action that follows the
    rewards it brought.
    """

    core: Any
    rate: float = 0.5

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> ActingPupil:
        return ActingPupil(self, brief, streams)


class ActingPupil:
    def __init__(self, learner: ByReward, brief: Brief, streams: Sequence[Streams]) -> None:
        self.lanes = len(streams)
        cores = [learner.core.build(brief.inputs, stream.numpy("core")) for stream in streams]
        self._cores = stack_lanes(cores)
        self._rate = jnp.full(self.lanes, learner.rate)
        self._mind = stack_lanes(
            [_mind(core, brief, stream) for core, stream in zip(cores, streams, strict=True)]
        )
        self._steps = 0

    def act(
        self,
        observation: Any,
        reward: NDArray[np.float32],
        first: NDArray[np.bool_],
        learning: bool = True,
    ) -> NDArray[Any]:
        seen = jnp.asarray(observation), jnp.asarray(reward), jnp.asarray(first)
        action, self._mind = _act(self._cores, self._mind, self._rate * learning, *seen, self.lanes)
        self._steps += learning
        return np.asarray(action)

    def cost(self) -> list[Cost]:
        return [Cost(examples=self._steps, updates=self._steps)] * self.lanes

    def snapshot(self) -> Snapshot:
        return Snapshot(named_arrays((self._cores, self._mind)))

    def restore(self, snapshot: Snapshot) -> None:
        self._cores, self._mind = with_arrays((self._cores, self._mind), snapshot.arrays)


def _mind(core: Any, brief: Brief, streams: Streams) -> tuple[Any, ...]:
    """State of the core, values (action, feature), features in the place of the last action, random
    words.
    """
    values = jnp.zeros((brief.outputs.width, core.width + 1))
    return core.start(1, brief.capacity), values, values, jnp.asarray(streams.words("noise", 2))


@eqx.filter_jit
def _act(
    cores: Any, minds: Any, rates: Any, observation: Any, reward: Any, first: Any, lanes: int
) -> Any:
    def single(core: Any, mind: Any, rate: Any, observation: Any, reward: Any, first: Any) -> Any:
        state, values, chosen, words = mind
        values = values + rate * (reward - (values * chosen).sum()) * chosen
        state = jax.tree.map(
            lambda fresh, old: jnp.where(first, fresh, old), core.start(1, 1), state
        )
        state, features = core.step(state, observation[None])
        row = jnp.append(features[0] / jnp.linalg.norm(features), 2.0) / jnp.sqrt(5.0)
        key, now = jax.random.split(key_from_words(words))
        action = jnp.argmax(values @ row + 0.01 * jax.random.gumbel(now, values.shape[:1]))
        chosen = jnp.zeros_like(values).at[action].set(row)
        return action, (state, values, chosen, jax.random.key_data(key))

    return over_lanes(single, lanes)(cores, minds, rates, observation, reward, first)


class Search:
    """Tries the symbols in order and stays with the one that is rewarded."""

    def __init__(self, brief: Brief, seed: int) -> None:
        self.place = 0

    def act(self, observation: Any, reward: float, first: bool) -> int:
        self.place += reward < 0
        return SYMBOLS[self.place % len(SYMBOLS)]


def test_rewards_come_with_the_next_byte_and_the_tenth_right_answer_switches() -> None:
    shown, said, rewards = "T7IT7TIY2I17c1", "TTTTTTTTTTXXXX", "0+++++++++++++"
    world = ScriptedWorld("TX", shown + "?")
    turns = [Turn(world.reset(), 0.0, False), *(world.step(ord(reply)) for reply in said)]
    assert bytes(turn.observation for turn in turns[:-1]).decode() == shown
    assert "".join("-0+"[int(turn.reward) + 1] for turn in turns[:-1]) == rewards
    assert (
        [turn.info["ended"] for turn in turns if turn.info]
        == world.ended
        == [(ord("T"), True, True, 10)]
    )


def test_an_instance_that_is_never_solved_ends_at_question_243(streams: Streams) -> None:
    world = OneAnswer().open(streams)
    world.reset()
    while not world.ended:
        world.step(0)
    assert (world.ended[0].passed, world.ended[0].questions) == (False, 243)


def test_a_search_passes_every_instance_with_a_miss_for_every_symbol_on_the_way(
    streams: Streams,
) -> None:
    task, clock = OneAnswer(), Clock()
    assert isinstance(task, WorldTask)
    searcher = Hosted(Search)  # type: ignore[arg-type]  # it acts and does nothing else
    lifetime = Lifetime(face(searcher.begin(BRIEF, [streams]), Acting), task, [streams], clock)
    (life,) = lifetime.go_on(600)
    ended = [info["ended"] for _, info in life.events]
    places = [SYMBOLS.index(instance.answer) for instance in ended]
    assert [instance.questions for instance in ended] == [
        10 + d % 69 for d in np.diff(places, prepend=0)
    ]
    assert len(places) > 5
    assert all(instance.passed for instance in ended)
    (cost,) = clock.charge(lifetime.pupil.cost())
    assert cost.examples == 600
    assert cost.learn_seconds > 0 == cost.answer_seconds


@pytest.mark.parametrize("core", [EchoState(units=100, terms=3, radius=0.9), LSTM(units=16)])
@pytest.mark.parametrize("lanes", [1, 2])
def test_a_core_acts_and_learns_by_reward(core: Any, lanes: int) -> None:
    streams = [Streams(0, "tracer", repetition) for repetition in range(lanes)]

    def solved(rate: float) -> list[int]:
        lives = Lifetime(
            ByReward(core, rate).begin(BRIEF, streams), OneAnswer(), streams, Clock()
        ).go_on(1000)
        assert [len(life.actions) for life in lives] == [1000] * lanes
        return [sum(info["ended"].solved for _, info in life.events) for life in lives]

    assert min(solved(rate=0.5)) >= 2
    assert max(solved(rate=0.0)) == 0


def test_a_pupil_goes_on_from_its_snapshot_as_if_nothing_had_happened(streams: Streams) -> None:
    pupil = ByReward(EchoState(units=100, terms=3, radius=0.9)).begin(BRIEF, [streams])
    lifetime = Lifetime(pupil, OneAnswer(), [streams], Clock())
    lifetime.go_on(100)
    saved, others = (
        pupil.snapshot(),
        [copy.deepcopy(lifetime, {id(pupil): pupil}) for _ in range(3)],
    )
    once, unrestored = (other.go_on(60)[0].actions for other in others[:2])
    pupil.restore(saved)
    assert others[2].go_on(60)[0].actions == once
    assert unrestored != once
