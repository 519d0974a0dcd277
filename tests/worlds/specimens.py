"""Two tiny worlds, a chain of one of them, and rules of every kind for them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.registries import control, task
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.base.task import Life, Turn, World
from quickstudy.jax_gateway import jax, jnp

PLACES = 7


class CorridorWorld(World):
    """Seven places in a row; left, stay or right; a goal that is never seen, in a new place in
    every episode.
    """

    def __init__(self, rng):
        self.rng, self.episode = rng, 0

    def reset(self):
        self.episode += 1
        self.place, self.goal = self.rng.choice(PLACES, 2, replace=False).tolist()
        return self.place

    def step(self, action):
        self.place = min(max(self.place + action - 1, 0), PLACES - 1)
        if self.place == self.goal:
            return Turn(self.place, 1.0, True, {"episode": self.episode})
        return Turn(self.place, -0.25, False)


class FastCorridorWorld(CorridorWorld):
    reward, over, careless = 0.0, True, False

    def live(self, act, steps):
        seen, done, gained = [], [], []
        if steps and self.over:
            self.reset()
            self.reward *= not self.careless
        place, goal, reward = (self.place, self.goal, self.reward) if steps else (0, 1, 0.0)
        for _ in range(steps):
            seen.append(place)
            done.append(act(place, reward))
            place = min(max(place + done[-1] - 1, 0), PLACES - 1)
            reward = 1.0 if place == goal else -0.25
            gained.append(reward)
            if place == goal:
                break
        over = bool(done) and place == goal
        if done:
            self.place, self.reward, self.over = place, reward, over
        return Life(
            bytes(seen),
            bytes(done),
            gained,
            [(len(done) - 1, {"episode": self.episode})] * over,
            over,
        )


class CarelessCorridorWorld(FastCorridorWorld):
    """Forgets the reward for an episode's last action."""

    careless = True


@task("specimen/corridor", version=1, controls=["specimen/seer"], protocol="language")
@dataclass(frozen=True)
class Corridor:
    """Where is it?"""

    kind: type = CorridorWorld
    inputs: ClassVar[Tokens] = Tokens(PLACES)
    outputs: ClassVar[Tokens] = Tokens(3)
    horizon: ClassVar[int] = 100

    def open(self, streams):
        return self.kind(streams.numpy("data"))


class ChainWorld(World):
    """An episode of each member in turn."""

    def __init__(self, members):
        self.members, self.turn = members, -1

    def reset(self):
        self.turn += 1
        return self.members[self.turn % len(self.members)].reset()

    def step(self, action):
        return self.members[self.turn % len(self.members)].step(action)


@dataclass(frozen=True)
class Chain(Corridor):
    members: tuple[str, ...] = ("specimen/corridor", "specimen/another")

    def open(self, streams):
        return ChainWorld(
            [super(Chain, self).open(dataclasses.replace(streams, task=id)) for id in self.members]
        )


MESSAGE = Fields({"first": Tokens(4), "second": Tokens(4)})


@task("specimen/signals", version=1, controls=["specimen/talkers"], protocol="language")
@dataclass(frozen=True)
class Signals:
    """Two players, each shown a symbol, talk, and then choose the symbol that the other was shown;
    lights are for fun.

    Over after two of three steps.
    """

    players: ClassVar[int] = 2
    inputs: ClassVar[Fields] = Fields({"seen": Tokens(3), "heard": MESSAGE})
    outputs: ClassVar[Fields] = Fields({"choice": Tokens(3), "message": MESSAGE, "lights": Bits(2)})
    horizon: ClassVar[int] = 3

    def reset(self, key):
        shown = jax.random.randint(key, (2,), 0, 3)
        silence = jnp.zeros(2, jnp.int32)
        return (shown, 0), {"seen": shown, "heard": {"first": silence, "second": silence}}

    def step(self, key, state, action):
        shown, time = state
        right = (action["choice"] == shown[::-1]) & (time == 1)
        heard = {name: part[::-1] for name, part in action["message"].items()}
        turn = Turn(
            {"seen": shown, "heard": heard}, jnp.where(right, 1.0, 0.0), time == 1, {"shown": shown}
        )
        return (shown, time + 1), turn


@control("specimen/talkers", version=1, role="control", compiled=True)
@dataclass(frozen=True)
class Talkers:
    """Say what is seen, choose what was heard; after the first step, throw dice with the second
    word and the lights.
    """

    task: Any
    brief: Any

    def start(self, batch, capacity):
        return jnp.zeros(batch, jnp.int32)

    def step(self, state, observation, *, key):
        dice = jax.vmap(lambda key: jax.random.randint(key, (2,), 0, 4))(key)
        message = {"first": observation["seen"] + 1, "second": dice * (state > 0)[:, None]}
        lights = jnp.stack([dice % 2, dice // 2], axis=-1)
        choice = jnp.maximum(observation["heard"]["first"] - 1, 0)
        return state + 1, {"choice": choice, "message": message, "lights": lights}


class HostTalkers:
    """The same on the host, as a learner; the lights stay dark."""

    def __init__(self, brief, seed):
        self.calls = []

    def act(self, observation, reward, first):
        self.calls.append((np.shape(reward), first))
        silence = np.zeros(2, dtype=int)
        message = {"first": observation["seen"] + 1, "second": silence}
        choice = np.maximum(observation["heard"]["first"] - 1, 0)
        return {"choice": choice, "message": message, "lights": np.zeros((2, 2), dtype=bool)}


@control("specimen/seer", version=1, role="oracle")
class Seer:
    """Walks straight to the goal, which it can see."""

    def __init__(self, task, brief, seed):
        pass

    def watch(self, world):
        self.world = world

    def act(self, observation, reward, first):
        return 1 + (self.world.goal > observation) - (self.world.goal < observation)


@dataclass(frozen=True)
class Wandering:
    """A random walk; what comes next?"""

    inputs: ClassVar[Reals] = Reals(1)
    outputs: ClassVar[Reals] = Reals(1)

    def drive(self, rng):
        walk = np.cumsum(rng.normal(size=101))[:, None]
        return Series(walk[:-1] * 0, walk[1:], washout=10, training=50, validation=0, test=40)


@control("specimen/persistence", version=1, role="control")
class Persistence:
    """The answer before; 0 at first."""

    learns = False

    def __init__(self, task, brief, seed):
        self.answers = None

    def learn(self, inputs, targets):
        pass

    def told(self, answers):
        self.answers = answers

    def predict(self, inputs):
        return np.zeros((len(inputs), 1)) if self.answers is None else np.nan_to_num(self.answers)
