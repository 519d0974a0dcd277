"""Learning by reward, step by step, in a world that answers: actor and critic on one core, trained
as they live.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Fields, Space, Tokens, check_spaces
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.actor_critic_programs import ROOM, Lived, Mind, life_program, step_programs
from quickstudy.learners.core_with_training import Usual
from quickstudy.learners.lanes import Frame
from quickstudy.learners.pupil import CompiledPupil
from quickstudy.learners.stepping import Model
from quickstudy.learners.updates import begun

SIGNS = Tokens(3)
"""The sign of a reward: below, at, or above 0."""


@training("actor-critic", version=2)
@dataclass(frozen=True)
class ActorCritic:
    """Actor-critic in a continuing world: a policy gradient with a learned baseline, updated every
    few steps by Adam.

    The core reads the observation, the previous action and the sign of its reward (a core that
    reads symbols alone: the observation). Two heads give the policy, by softmax, and the value. In
    a test the most likely action is taken.

    Source: Mnih et al. 2016, with one actor; Schulman et al. 2016 for the advantage.

    Parameters
    ----------
    history:
        Context in steps: at every update the core restarts and reads so many steps before those
        that are trained on (burn-in).
    every:
        Steps between two updates; each step is learned from once.
    rate:
        Step size of Adam.
    discount:
        gamma.
    trace:
        lambda of the generalised advantage estimate.
    entropy:
        Weight of the policy's entropy.
    critic:
        Weight of the value's squared error.
    """

    # A small entropy bonus lets the policy collapse, and it does not explore again when the world
    # changes; a long credit assignment rewards the actions before a lucky one. Chosen on worlds
    # that belong to no study (`benchmarks/reward_defaults.py`): a gru is right in 0.63, 0.95 and
    # 0.42 of the steps there, and with every=8, discount=0.8, entropy=0.01 in 0.33, 0.61 and 0.64;
    # the last world pays one step late.
    history: int = parameter(32, at_least=1, alias="window")
    every: int = parameter(2, at_least=1)
    rate: float = parameter(0.005, above=0)
    discount: float = parameter(0.5, at_least=0, at_most=1)
    trace: float = parameter(0.9, at_least=0, at_most=1)
    entropy: float = parameter(0.2, at_least=0)
    critic: float = parameter(0.5, at_least=0)

    programs: ClassVar[int] = 3
    passes: ClassVar[int] = 1
    batch: ClassVar[int] = 1
    by_question: ClassVar[bool] = False
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    losses: ClassVar[tuple[str, ...]] = ("reward",)
    usual_for: ClassVar[tuple[Usual, ...]] = (Usual("reward"),)

    def check_core(self, core: CoreSpec) -> None:
        """Any core that goes step by step: of a reservoir only the heads are trained."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ActorPupil:
        """A fresh pupil."""
        return ActorPupil(self, core, brief, streams)


class ActorPupil(CompiledPupil):
    """Acts in one world per lane. An update is made after every few steps, before the next
    action.
    """

    parts: ClassVar[Mapping[str, str]] = {
        "": "_learned",
        "done": "_done",
        "gained": "_gained",
        "last": "_last",
    }
    facts: ClassVar[Mapping[str, str]] = {"steps": "_steps", "place": "_place"}

    def __init__(
        self, training: ActorCritic, core: CoreSpec, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        super().__init__(len(streams))
        self._training = training
        self._back, self._every = training.history, training.every
        self._alone = not _reads_fields(core)
        inputs = (
            brief.inputs
            if self._alone
            else Fields({"seen": brief.inputs, "done": brief.outputs, "reward": SIGNS})
        )
        models = [Model.drawn(core, inputs, brief.outputs.width + 1, stream) for stream in streams]
        if models[0].core.capabilities.leaks:
            raise NotApplicable(
                "a core that is shown whole sequences, their answers included, cannot go step by"
                " step"
            )
        self._arrays, self._frame, self._sizes = begun(models)
        self._act, self._update, self._restart = step_programs(self._frame, training, self.lanes)
        self._settings = jnp.asarray(
            [[training.rate, training.discount, training.trace, training.entropy, training.critic]]
            * self.lanes,
            jnp.float32,
        )
        self._words = np.stack([stream.words("noise", 2) for stream in streams])
        self._seen = jax.tree.map(
            lambda part: np.zeros((self.lanes, self._back + self._every, *part.shape), part.dtype),
            _blank(inputs),
        )
        self._done = np.zeros((self.lanes, self._every), np.int32)
        self._gained = np.zeros((self.lanes, self._every), np.float32)
        self._last = np.zeros(self.lanes, np.int32)
        self._steps = self._place = 0
        self._state = self._restart(self._arrays, self._context())

    def act(
        self,
        observation: Any,
        reward: NDArray[np.float32],
        first: NDArray[np.bool_],
        learning: bool = True,
    ) -> NDArray[np.int32]:
        """One action per lane; the reward belongs to the last."""
        self._before(reward, first, learning)
        now = (
            observation
            if self._alone
            else {
                "seen": observation,
                "done": self._last,
                "reward": (np.sign(reward) * ~first + 1).astype(np.int32),
            }
        )
        for kept, part in zip(jax.tree.leaves(self._seen), jax.tree.leaves(now), strict=True):
            kept[:, self._back + self._place] = part
        numbers = np.full(self.lanes, self._steps if learning else -1, np.int32)
        self._state, chosen = self._act(self._arrays, self._state, now, self._words, numbers)
        self._last = self._done[:, self._place] = np.asarray(chosen)
        self._place += 1
        self._steps += learning
        return self._last

    def live_in(
        self,
        world: tuple[Callable[..., Any], Callable[..., Any]],
        state: Any,
        observation: Any,
        reward: NDArray[np.float32],
        first: NDArray[np.bool_],
        steps: int,
    ) -> Lived:
        """Up to so many steps in a pure world, in one compiled program: what `act` does, learning
        all the way. world: `step` of a state and an action, which gives state, observation and
        reward, and `halts` of a state, after which in any lane no more steps are taken; each of one
        lane. state, observation: with a lane axis.
        """
        if first.any():
            self._before(reward, first, True)
        elif self._place:
            self._gained[:, self._place - 1] = reward
        program = life_program(self._frame, self._training, self.lanes, self._alone, *world)
        mind = Mind(
            self._arrays,
            self._state,
            self._seen,
            self._done,
            self._gained,
            self._last,
            np.int32(self._place),
            np.int32(self._steps),
        )
        known = np.where(first, 0, reward).astype(np.float32)
        lived = program(
            mind, state, observation, known, self._words, self._settings, np.int32(min(steps, ROOM))
        )
        mind = lived.mind
        self._arrays, self._state = mind.arrays, mind.state
        self._seen, self._done, self._gained, self._last = (
            jax.tree.map(np.array, part) for part in (mind.seen, mind.done, mind.gained, mind.last)
        )
        self._place, self._steps = int(mind.place), int(mind.steps)
        return lived

    def _before(
        self, reward: NDArray[np.float32], first: NDArray[np.bool_], learning: bool
    ) -> None:
        """Take the reward for the last action, learn from the last few steps, and reset the
        lanes where an episode begins.
        """
        if self._place:
            self._gained[:, self._place - 1] = reward
        if self._place == self._every:
            if learning:
                self._arrays = self._update(
                    self._arrays, self._seen, self._done, self._gained, self._settings
                )
            # The training steps become the burn-in.
            self._seen = jax.tree.map(lambda part: np.roll(part, -self._every, axis=1), self._seen)
            self._place, self._state = 0, self._restart(self._arrays, self._context())
        if first.any():
            self._forget(first)

    def _context(self) -> Any:
        return jax.tree.map(lambda part: part[:, : self._back], self._seen)

    def _forget(self, first: NDArray[np.bool_]) -> None:
        """Begin an episode: nothing was seen before it."""
        for kept in jax.tree.leaves(self._seen):
            kept[first, : self._back + self._place] = 0
        self._last = np.where(first, 0, self._last).astype(np.int32)
        fresh = self._restart(self._arrays, self._context())
        here = jnp.asarray(first)
        self._state = jax.tree.map(
            lambda new, old: jnp.where(here.reshape(-1, *[1] * (new.ndim - 1)), new, old),
            fresh,
            self._state,
        )

    @property
    def _learned(self) -> tuple[Any, Any]:
        """Model and moments; and the state of the core."""
        return self._frame.filled(self._arrays), self._state

    @_learned.setter
    def _learned(self, learned: tuple[Any, Any]) -> None:
        self._arrays, self._frame = Frame.of(learned[0])
        self._state = learned[1]

    def get_state(self) -> dict[str, Any]:
        """With the observations that the next update reads."""
        window = {f"window{place}": part for place, part in enumerate(jax.tree.leaves(self._seen))}
        return super().get_state() | window

    def set_state(self, state: Mapping[str, Any]) -> None:
        """The same."""
        super().set_state(state)
        for place, part in enumerate(jax.tree.leaves(self._seen)):
            part[:] = state[f"window{place}"]

    def examples(self) -> NDArray[np.int64]:
        """Steps that it might learn from."""
        return np.full(self.lanes, self._steps)

    def updates(self) -> NDArray[np.integer[Any]]:
        """As the moments have counted."""
        return np.asarray(self._frame.filled(self._arrays)[1].count)

    def sizes(self) -> tuple[int, int]:
        """Of a model."""
        return self._sizes


def _reads_fields(core: CoreSpec) -> bool:
    try:
        check_spaces("", core, Fields({"seen": SIGNS}))
    except NotApplicable:
        return False
    return True


def _blank(space: Space) -> Any:
    """A step of a space, of zeros."""
    if isinstance(space, Fields):
        return {name: _blank(part) for name, part in space.parts}
    return (
        np.zeros((), np.int32) if isinstance(space, Tokens) else np.zeros(space.width, np.float32)
    )
