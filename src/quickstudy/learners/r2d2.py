"""Action values, learned off-policy from replayed sequences: R2D2, and for players with a
common reward VDN and SAD.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals
from quickstudy.base.task import players_of
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import eqx, jax, jnp, key_from_words
from quickstudy.learners.action_values import ActionValues, check_choices, widened
from quickstudy.learners.auxiliary_losses import AuxiliaryLosses
from quickstudy.learners.episode_batches import drawn, transcript
from quickstudy.learners.episodes import played_in_parts
from quickstudy.learners.lanes import sizes_of, stack_lanes, with_arrays
from quickstudy.learners.optimiser import begin_moments
from quickstudy.learners.pupil import CompiledPupil
from quickstudy.learners.r2d2_play import Layout, Settings, empty_replay, entered, lived, performed
from quickstudy.learners.r2d2_programs import learned
from quickstudy.learners.replay import Pieces, Replay

LESSONS = (8, 64)
"""Episodes for every actor that are drawn at once: few, or many."""
ROOM = 2e9
"""Bytes that the sequences of a lane may take."""


@training("r2d2", version=2)
@dataclass(frozen=True)
class R2D2:
    """Recurrent replay distributed deep Q-learning: actors fill a prioritised replay of sequences.

    Double Q-learning and duelling heads are always on. The parts of an action (tokens of a message)
    have values that are summed. Several players share one network, each with its own memory, which
    reads the observation and, where that is real numbers, the last action. The defaults are those
    of Denamganaï et al. 2022, Table 5; updates per step and the clip (that of Ape-X) are not given
    there.

    Source: Kapturowski et al. 2019; Sunehag et al. 2018 for VDN; Hu and Foerster 2020 for SAD.
    Departures: a new sequence has the largest priority so far, not that of its own error; inputs
    are reconstructed without scaling, where the original squashes them to 0 .. 1 by a sigmoid.

    Parameters
    ----------
    batch:
        Actors. Actor i takes a share 0.4^(1 + 2 i / (batch - 1)) of random actions in the end; it
        falls to that from 1 within about `exploring` steps.
    every:
        Steps in the world, of all actors, per update.
    sequences:
        Sequences per update.
    unroll:
        Steps per sequence.
    overlap:
        Steps from the start of one sequence to the next, each with the actor's stored state.
    burn_in:
        First steps of a sequence, which only update the memory.
    replay:
        Observations kept.
    steps:
        n of the n-step return.
    urgency:
        Priority exponent.
    importance:
        Exponent of the importance-sampling weights.
    peak:
        eta of the priority: weight of the largest TD error of a sequence; 1 - eta weights the mean.
    target:
        Updates between copies of the network into the target network.
    rate:
        Step size of Adam (epsilon 1e-12).
    clip:
        Largest norm of a gradient; 0 for no limit.
    discount:
        gamma.
    exploring:
        Steps in which the share of random actions falls.
    rescale:
        Values are learned on R2D2's compressed scale.
    rebuild:
        Weight of an auxiliary loss: reconstruct the observation.
    numbers:
        Leading numbers of the observation that are reconstructed; 0 for all.
    vdn:
        With several players, the sum of their values learns from the common reward; otherwise each
        learns its own.
    sad:
        A player also sees the greedy action of the other.
    soft:
        Above 0: share by which the target network moves to the trained one at every update, instead
        of `target` (the authors' later programs: 0.0004).
    bits:
        Binary inputs after `numbers` that are reconstructed by cross-entropy; in a game the message
        (21 for three tokens out of six words).
    rebuild_every:
        Reconstruct only with the first update after so many new episodes (published programs: 2 to
        10); 0: with every update.
    """

    batch: int = parameter(32, at_least=1)
    every: int = parameter(32, at_least=1)
    sequences: int = parameter(32, at_least=1)
    unroll: int = parameter(20, at_least=1)
    overlap: int = parameter(10, at_least=1)
    burn_in: int = parameter(10, at_least=0)
    replay: int = parameter(50_000, at_least=100)
    steps: int = parameter(3, at_least=1)
    urgency: float = parameter(0.9, at_least=0)
    importance: float = parameter(0.6, at_least=0)
    peak: float = parameter(0.9, at_least=0, at_most=1)
    target: int = parameter(2500, at_least=1)
    rate: float = parameter(6.25e-5, above=0)
    clip: float = parameter(40.0, at_least=0)
    discount: float = parameter(0.997, at_least=0, at_most=1)
    exploring: int = parameter(30_000, at_least=1)
    rescale: bool = False
    rebuild: float = parameter(0.0, at_least=0)
    numbers: int = parameter(0, at_least=0)
    vdn: bool = True
    sad: bool = False
    soft: float = parameter(0.0, at_least=0, at_most=1, added=True)
    bits: int = parameter(0, at_least=0, added=True)
    rebuild_every: int = parameter(0, at_least=0, added=True)

    programs: ClassVar[int] = 4
    passes: ClassVar[int] = 1
    losses: ClassVar[tuple[str, ...]] = ("reward",)
    by_question: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def __post_init__(self) -> None:
        if self.burn_in >= self.unroll:
            raise ValueError(f"burn_in must be below unroll ({self.unroll}), got {self.burn_in}")
        if self.overlap > self.unroll - self.burn_in:
            raise ValueError(
                f"overlap must be at most unroll - burn_in ({self.unroll - self.burn_in}), or steps"
                f" between sequences are never learned from, got {self.overlap}"
            )
        if self.rebuild_every and not self.rebuild:
            raise ValueError(
                f"rebuild_every is about rebuild, which is 0, got {self.rebuild_every}; give"
                " rebuild=1"
            )

    def check_core(self, core: CoreSpec) -> None:
        """Any core that goes step by step: of a reservoir, only the heads are trained."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> R2D2Pupil:
        """A fresh pupil. Raises NotApplicable if actions are not discrete."""
        check_choices(brief.outputs)
        if self.sad and not isinstance(brief.inputs, Reals):
            raise NotApplicable(f"sad is for inputs of real numbers, not {brief.inputs}")
        return R2D2Pupil(self, core, brief, streams)


class R2D2Pupil(CompiledPupil):
    """Networks in training, one per lane, each with what it trusts, what it keeps, and how far it
    is.
    """

    parts: ClassVar[Mapping[str, str]] = {
        "": "_learned",
        "steps": "_steps",
        "episodes": "_episodes",
    }

    def __init__(
        self, training: R2D2, core: CoreSpec, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        super().__init__(len(streams))
        self._training, self._brief = training, brief
        inputs = widened(brief.inputs, brief.outputs, training.sad)
        aside = AuxiliaryLosses.of(training.rebuild, 0.0, training.numbers, training.bits, brief)
        numbers = (
            aside.width
            if aside
            else min(training.numbers or brief.inputs.width, brief.inputs.width)
        )
        networks = [
            ActionValues.drawn(core, inputs, brief.outputs, numbers, stream.numpy("core"))
            for stream in streams
        ]
        self._trainable = networks[0].trainable()
        trained = eqx.filter(networks[0], self._trainable)
        self._sizes = sizes_of(networks[0])
        self._network = self._trusted = stack_lanes(networks)
        self._moments = stack_lanes([begin_moments(trained)] * self.lanes)
        self._noise = key_from_words(np.stack([stream.words("noise", 2) for stream in streams]))
        self._steps = self._episodes = jnp.zeros(self.lanes, jnp.int32)
        self._replay: Any = None
        self._tail: Any = None
        self._layout = Layout(
            training.unroll,
            training.overlap,
            training.burn_in,
            training.steps,
            training.sequences,
            training.vdn,
            training.sad,
            training.rescale,
            training.rebuild > 0,
            aside.bits if aside else 0,
            training.rebuild_every,
        )
        values = (
            training.rate,
            training.clip,
            training.discount,
            training.urgency,
            training.importance,
            training.peak,
            training.target,
            training.exploring,
            training.rebuild,
            training.soft,
        )
        self._settings = Settings(*(jnp.float32(value) for value in values))

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes, as many at once as there are actors, each in the place of one that has
        ended, and after some steps of all of them make the updates that are due.
        """
        if stop <= start:
            raise UsageError(f"no episodes between {start} and {stop}")
        world, parts = self._checked(rehearsal.world), []
        few, many = (size * self._training.batch for size in LESSONS)
        room = (
            few if stop - start <= few else many
        )  # few shapes: what is drawn and not played costs little
        for first in range(start, stop, room):
            numbers = jnp.tile(jnp.arange(first, first + room), (self.lanes, 1))
            material = drawn(rehearsal, numbers)
            parts.append(
                self._lesson(world, rehearsal.keys, material, first, min(room, stop - first))
            )
        return jax.tree.map(lambda *rows: np.concatenate(rows, axis=1), *parts)  # type: ignore[no-any-return]

    def _lesson(
        self, world: Any, keys: Any, material: Any, first: int, episodes: int
    ) -> Transcript:
        """Play so many episodes that were drawn, and learn from them."""
        batch, stop = self._training.batch, jnp.int32(episodes)
        logs: list[Any] = []
        most = -(-self._layout.pieces(world) * self._layout.gap * batch // self._training.every)
        actors = entered(world, self._network, material, stop, batch, self.lanes)
        while not logs or not actors.slots.over(episodes):
            actors, pieces, log = lived(
                world,
                self._network,
                material,
                actors,
                (keys, self._noise),
                jnp.int32(first),
                stop,
                self._steps,
                self._settings,
                self._layout,
                self.lanes,
            )
            learning = self._network, self._trusted, self._moments, self._replay
            learning, self._tail, self._steps, self._episodes = learned(
                world,
                self._trainable,
                learning,
                self._tail,
                pieces,
                self._noise,
                self._steps,
                self._episodes,
                jnp.int32(self._training.every),
                most,
                self._settings,
                self._layout,
                self.lanes,
            )
            self._network, self._trusted, self._moments, self._replay = learning
            logs.append(jax.tree.map(np.asarray, log))  # the device goes on meanwhile
        return transcript(logs, episodes, world.horizon)

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes by the actions that are held best."""
        world, keys = self._checked(rehearsal.world), (rehearsal.keys, self._noise)
        return played_in_parts(
            rehearsal,
            start,
            stop,
            lambda begun, numbers: performed(
                world, self._network, begun, keys, numbers, self._layout, self.lanes
            ),
        )

    def _checked(self, world: Any) -> Any:
        """The world, when there is room for what is kept of it."""
        if self._training.sad and players_of(world) != 2:
            raise NotApplicable(f"sad is for two players, not {players_of(world)}")
        if self._replay is None:
            room = -(-self._training.replay // self._training.overlap)
            alone = jax.tree.map(
                lambda leaf: leaf[0] if eqx.is_array(leaf) else leaf, self._network
            )
            shapes = jax.eval_shape(lambda: empty_replay(world, alone, self._layout, room))
            needed = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(shapes))
            if needed > ROOM:
                raise NotApplicable(
                    f"{room} sequences with their memories are {needed / 1e9:.1f} GB for a run,"
                    f" more than {ROOM / 1e9:.0f}: give a smaller replay, or a core with a smaller"
                    " memory"
                )
            self._replay, self._tail = self._nothing_lived(shapes)
            if self.extra:  # of a snapshot; without a world their shapes are not known
                self._lived = with_arrays(self._lived, self.extra)
                self.extra = {}
        return world

    def _nothing_lived(self, replay: Replay) -> tuple[Replay, Pieces]:
        """The initial state of all lanes, before the first rollout, by the shapes of a replay."""
        layout, actors = self._layout, self._training.batch
        empty = jax.tree.map(lambda leaf: jnp.zeros((self.lanes, *leaf.shape), leaf.dtype), replay)
        lead = self.lanes, layout.tail, layout.gap, actors
        kept = jax.tree.map(
            lambda leaf: jnp.zeros((*lead, *leaf.shape[3:]), leaf.dtype),
            empty.kept._replace(state=None),
        )
        state = jax.tree.map(
            lambda leaf: jnp.zeros((*lead[:2], actors, *leaf.shape[2:]), leaf.dtype),
            empty.kept.state,
        )
        nowhere = jnp.full(lead, -1, jnp.int32)
        return empty, Pieces(kept._replace(there=nowhere), nowhere[:, :, 0], state)

    @property
    def _learned(self) -> tuple[Any, Any, Any]:
        """Networks, those that are trusted, and moments."""
        return self._network, self._trusted, self._moments

    @_learned.setter
    def _learned(self, learned: tuple[Any, Any, Any]) -> None:
        self._network, self._trusted, self._moments = learned

    @property
    def _lived(self) -> dict[str, Any]:
        """The whole replay buffer; empty before the first episode."""
        return {"replay": self._replay, "tail": self._tail}

    @_lived.setter
    def _lived(self, lived: Mapping[str, Any]) -> None:
        self._replay, self._tail = lived["replay"], lived["tail"]

    def get_state(self) -> dict[str, Any]:
        """With the replay buffer."""
        return super().get_state() | {f"['{name}']": part for name, part in self._lived.items()}

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        # A snapshot may be older than the first rollout, or than the count of episodes.
        self._replay = self._tail = None
        episodes = {"episodes": np.zeros(self.lanes, np.int32)}
        super().restore(Snapshot(episodes | dict(snapshot.arrays), snapshot.facts))

    def examples(self) -> NDArray[np.integer[Any]]:
        """Steps in the world."""
        return np.asarray(self._steps)

    def updates(self) -> NDArray[np.integer[Any]]:
        """As the moments have counted."""
        return np.asarray(self._moments.count)

    def sizes(self) -> tuple[int, int]:
        """Of a network."""
        return self._sizes
