"""Speaker and listener that learn together through a channel that lets gradients pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.exchange import Rehearsal, Transcript
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import training
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Fields
from quickstudy.base.task import ChannelWorld
from quickstudy.cores.core import CoreSpec
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.emergent_channel_programs import Echo, Settings, learned, performed
from quickstudy.learners.episodes import EpisodePupil, begin_episodes, played_in_parts
from quickstudy.learners.lanes import stack_lanes
from quickstudy.learners.optimiser import FALLS_AFTER
from quickstudy.learners.stepping import Head, Model


@training("channel", version=1)
@dataclass(frozen=True)
class Channel:
    """Joint training of speaker and listener of a meta-referential game: gradients pass through the
    message.

    The speaker's core reads the stimuli of every game, and its head scores every token at every
    position of the message; the listener's core reads its stimuli with the message, then the
    speaker's stimuli with the same message. Tokens are sampled with Gumbel noise, discrete forward
    and softmax backward (straight through). The end-of-message token is never used. Neither player
    sees the speaker's last message or the last result. For `games/pair` with one round and
    feedback.

    Source: ours; the published agents learn from reward. Iterated learning: Kirby 2001; by
        replacement, Cogswell et al. 2019.

    Parameters
    ----------
    rate:
        Step size of Adam; it falls over the last quarter.
    batch:
        Episodes per update.
    games:
        Only the first so many games of an episode are learned from.
    heat:
        Temperature of the softmax.
    clip:
        Largest norm of a gradient; 0 for no limit.
    generation:
        Updates after which one player is replaced by a newly initialised one, listener and speaker
        in turn (iterated learning); 0 for never. None is replaced in the last quarter.
    foretell:
        Weight of the squared error of predicting, at the decision, what the speaker sees of the
        target. Its gradients pass through the message too.
    rebuild:
        Weight of the squared error of reconstructing the target from the message alone, by a
        learned table of the speaker in which each position of the message encodes one number of a
        stimulus.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(64, at_least=1)
    games: int = parameter(48, at_least=1)
    heat: float = parameter(1.0, above=0)
    clip: float = parameter(1.0, at_least=0)
    generation: int = parameter(0, at_least=0, added=True)
    foretell: float = parameter(0.0, at_least=0, added=True)
    rebuild: float = parameter(0.0, at_least=0, added=True)

    programs: ClassVar[int] = 3
    passes: ClassVar[int] = 1
    by_question: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("reward",)
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Any core; both players have one of their own."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ChannelPupil:
        """A fresh pupil. Raises NotApplicable unless a decision and a message are asked for."""
        outputs = brief.outputs
        parts = dict(outputs.parts) if isinstance(outputs, Fields) else {}
        if set(parts) != {"decision", "message"}:
            raise NotApplicable("channel is for pairs of players that decide and speak")
        return ChannelPupil(self, core, brief, streams)


class Pair(eqx.Module):
    """What both players are."""

    speaker: Model
    listener: Model
    echo: Echo | None = None

    def trainable(self) -> Any:
        """What the cores let be trained, both heads, and the speaker's table."""
        return Pair(
            self.speaker.trainable(),
            self.listener.trainable(),
            jax.tree.map(lambda _: True, self.echo),
        )


class ChannelPupil(EpisodePupil):
    """Pairs in training, one per lane."""

    def __init__(
        self, training: Channel, core: CoreSpec, brief: Brief, streams: Sequence[Streams]
    ) -> None:
        parts = dict(brief.outputs.parts)  # type: ignore[union-attr]
        # How many numbers of an input are a stimulus a brief does not say; outputs that are not
        # needed stay untrained.
        widths = (
            parts["message"].width,
            parts["decision"].width + (brief.inputs.width if training.foretell else 0),
        )

        def drawn(purpose: str) -> list[Pair]:
            return [
                _pair(core, brief, widths, stream.numpy(purpose), training.rebuild > 0)
                for stream in streams
            ]

        super().__init__(drawn("core"), streams)
        self._training, self._drawn = training, drawn
        planned = max(1, brief.budget // training.batch)
        self._last_birth = int(FALLS_AFTER["late"] * planned)
        values = (
            training.rate,
            planned,
            training.clip,
            training.heat,
            training.foretell,
            training.rebuild,
        )
        self._settings = Settings(*(jnp.float32(value) for value in values))

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript | None:
        """Learn from the episodes in batches; what is left over of a batch is not learned from.
        Nothing is played.
        """
        world, batch = _checked(rehearsal.world), self._training.batch
        games = min(self._training.games, world.sizes.games)
        for first in range(start, stop - batch + 1, batch):
            numbers = jnp.tile(jnp.arange(first, first + batch), (self.lanes, 1))
            (episodes, _), _ = begin_episodes(rehearsal, numbers)
            self._models, self._moments = learned(
                world,
                self._trainable,
                self._models,
                self._moments,
                episodes,
                self._noise,
                jnp.int32(first),
                self._settings,
                games,
                self.lanes,
            )
            self._replace_one()
            counted = np.minimum(np.asarray(episodes.count), games)
            self._steps += (world.sizes.turns * counted - 1).sum(axis=1)
        jax.block_until_ready(self._models)
        return None

    def _replace_one(self) -> None:
        """At the end of a generation, the listener or the speaker is re-initialised, with its
        optimiser moments.
        """
        every = self._training.generation
        made = int(np.asarray(self._moments.count)[0]) if every else 1
        if not every or made % every or made > self._last_birth:
            return
        number = made // every
        born = stack_lanes(self._drawn(f"core, generation {number}"))

        def player(pair: Any) -> Any:
            if number % 2:
                return pair.listener
            return pair.speaker if pair.echo is None else (pair.speaker, pair.echo)

        def forgotten(moments: Any) -> Any:
            return eqx.tree_at(player, moments, jax.tree.map(jnp.zeros_like, player(moments)))

        self._models = eqx.tree_at(player, self._models, player(born))
        self._moments = self._moments._replace(
            mu=forgotten(self._moments.mu), nu=forgotten(self._moments.nu)
        )

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes by the likeliest tokens and decisions."""
        world, keys = _checked(rehearsal.world), (rehearsal.keys, self._noise)
        return played_in_parts(
            rehearsal,
            start,
            stop,
            lambda begun, numbers: performed(world, self._models, begun, keys, numbers, self.lanes),
        )


def _pair(
    core: CoreSpec, brief: Brief, widths: tuple[int, int], rng: np.random.Generator, echoes: bool
) -> Pair:
    """Both cores, both heads, then the speaker's table."""
    cores = [core.build(brief.inputs, rng) for _ in widths]
    speaker, listener = (
        Model(one, Head.drawn(one, width, rng)) for one, width in zip(cores, widths, strict=True)
    )
    if not echoes:
        return Pair(speaker, listener)
    places = len(dict(brief.outputs.parts)["message"].parts)  # type: ignore[union-attr]
    return Pair(speaker, listener, Echo.drawn(places, widths[0] // places, brief.inputs.width, rng))


def _checked(world: Any) -> Any:
    if not isinstance(world, ChannelWorld) or world.channel is None:
        raise NotApplicable("channel is for games/pair with one round and feedback")
    return world
