"""Speaker and listener that learn together through a channel that lets gradients pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from quickstudy.base.catalogue import training
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.learner import Brief, Cost, Snapshot
from quickstudy.base.lesson import Rehearsal, Transcript
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.cores.core import CoreSpec
from quickstudy.gateway import eqx, jax, jnp, key_from_words, lax, optax
from quickstudy.learners.episodes import begin_episodes, play
from quickstudy.learners.lanes import named_arrays, over_lanes, size_of, stack_lanes, with_arrays
from quickstudy.learners.stepping import Head, Model
from quickstudy.learners.updates import ADAM, LATE, cut, share_of_rate
from quickstudy.tasks.games.play import LISTENER, SPEAKER, GameWorld

TOGETHER = 256
"""Episodes that are played side by side where nothing is learned."""


@training("channel", version=1)
@dataclass(frozen=True)
class Channel:
    """Both players of a meta-referential game at once, by the right decision: gradients pass through the message.

    The speaker's core reads what it is shown in every game, and its head gives a score to every token at every place of
    the message; the listener's core reads its stimuli with the message, and then what the speaker saw with the same
    message. Tokens are drawn by Gumbel noise; forward they are symbols, and backward their softmax (straight through).
    The end of a message is never said. Neither player is shown the speaker's last message or the last result. rate,
    batch, clip: of Adam on episodes; the rate falls over the last quarter. games: of an episode, the first so many are
    learned from. heat: of the softmax. generation: updates after which one player is replaced by a newborn, listener
    and speaker in turn, which must learn the language from the other (iterated learning: what is easily learned stays;
    0: none ever is); in the last quarter of all updates nobody is replaced. foretell: weight of the squared error in
    foretelling, at the decision, what the speaker sees of the target, which the feedback then shows; its gradients pass
    through the message as well.

    Ours, and no agent of the publication: those learn from reward. Iterated: Kirby 2001; by replacement, Cogswell et
    al. 2019. For `games/pair` with one round and feedback.
    """

    rate: float = parameter(0.001, above=0)
    batch: int = parameter(64, at_least=1)
    games: int = parameter(48, at_least=1)
    heat: float = parameter(1.0, above=0)
    clip: float = parameter(1.0, at_least=0)
    generation: int = parameter(0, at_least=0, added=True)
    foretell: float = parameter(0.0, at_least=0, added=True)

    programs: ClassVar[int] = 3
    passes: ClassVar[int] = 1
    by_question: ClassVar[bool] = False
    losses: ClassVar[tuple[str, ...]] = ("reward",)
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check_core(self, core: CoreSpec) -> None:
        """Any core; both players have one of their own."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> ChannelPupil:
        """A fresh pupil. Raises NotApplicable unless a decision and a message are asked for."""
        parts = dict(getattr(brief.outputs, "parts", ()))
        if set(parts) != {"decision", "message"}:
            raise NotApplicable("channel is for pairs of players that decide and speak")
        return ChannelPupil(self, core, brief, streams)


class Pair(eqx.Module):
    """What both players are."""

    speaker: Model
    listener: Model

    def trainable(self) -> Any:
        """What the cores let be trained, and both heads."""
        return Pair(self.speaker.trainable(), self.listener.trainable())


class Settings(NamedTuple):
    """What changes no shape, as arrays."""

    rate: Any
    planned: Any
    clip: Any
    heat: Any
    foretell: Any


class ChannelPupil:
    """Pairs in training, one per lane."""

    def __init__(self, training: Channel, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> None:
        self.lanes, self._training = len(streams), training
        parts = dict(brief.outputs.parts)  # type: ignore[union-attr]
        # How many numbers of an input are a stimulus a brief does not say; outputs that are not needed stay untrained.
        widths = parts["message"].width, parts["decision"].width + (brief.inputs.width if training.foretell else 0)

        def drawn(purpose: str) -> list[Pair]:
            return [_pair(core, brief, widths, stream.numpy(purpose)) for stream in streams]

        self._drawn, pairs = drawn, drawn("core")
        self._trainable = pairs[0].trainable()
        trained = eqx.filter(pairs[0], self._trainable)
        self._sizes = size_of(trained), size_of(eqx.filter(pairs[0], eqx.is_inexact_array)) - size_of(trained)
        self._pairs, self._moments = stack_lanes(pairs), stack_lanes([ADAM.init(trained)] * self.lanes)
        self._noise = key_from_words(np.stack([stream.words("noise", 2) for stream in streams]))
        self._steps = np.zeros(self.lanes, dtype=np.int64)
        planned = max(1, brief.budget // training.batch)
        self._last_birth = int(LATE * planned)
        values = training.rate, planned, training.clip, training.heat, training.foretell
        self._settings = Settings(*(jnp.float32(value) for value in values))

    def rehearse(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript | None:
        """Learn from the episodes in batches; what is left over of a batch is not learned from. Nothing is played."""
        world, batch = _checked(rehearsal.world), self._training.batch
        games = min(self._training.games, world.sizes.games)
        for first in range(start, stop - batch + 1, batch):
            numbers = jnp.tile(jnp.arange(first, first + batch), (self.lanes, 1))
            (episodes, _), _ = begin_episodes(rehearsal, numbers)
            self._pairs, self._moments = _learn(
                world, self._trainable, self._pairs, self._moments, episodes, self._noise, jnp.int32(first),
                self._settings, games, self.lanes,
            )  # fmt: skip
            self._replace_one()
            counted = np.minimum(np.asarray(episodes.count), games)
            self._steps += (world.sizes.turns * counted - 1).sum(axis=1)
        jax.block_until_ready(self._pairs)
        return None

    def _replace_one(self) -> None:
        """At the end of a generation, the listener or the speaker becomes a newborn; its moments go with it."""
        every = self._training.generation
        made = int(np.asarray(self._moments.count)[0]) if every else 1
        if not every or made % every or made > self._last_birth:
            return
        number = made // every
        born = stack_lanes(self._drawn(f"core, generation {number}"))

        def player(pair: Any) -> Any:
            return pair.listener if number % 2 else pair.speaker

        def forgotten(moments: Any) -> Any:
            return eqx.tree_at(player, moments, jax.tree.map(jnp.zeros_like, player(moments)))

        self._pairs = eqx.tree_at(player, self._pairs, player(born))
        self._moments = self._moments._replace(mu=forgotten(self._moments.mu), nu=forgotten(self._moments.nu))

    def perform(self, rehearsal: Rehearsal, start: int, stop: int) -> Transcript:
        """Play the episodes by the likeliest tokens and decisions."""
        if stop <= start:
            raise UsageError(f"no episodes between {start} and {stop}")
        world, parts = _checked(rehearsal.world), []
        for first in range(start, stop, TOGETHER):
            numbers = jnp.tile(jnp.arange(first, min(first + TOGETHER, stop)), (self.lanes, 1))
            begun = begin_episodes(rehearsal, numbers)
            keys = rehearsal.keys, self._noise
            parts.append(jax.tree.map(np.asarray, _perform(world, self._pairs, begun, keys, numbers, self.lanes)))
        return jax.tree.map(lambda *rows: np.concatenate(rows, axis=1), *parts)  # type: ignore[no-any-return]

    def snapshot(self) -> Snapshot:
        """Pairs and moments, with the lane axis."""
        return Snapshot({**named_arrays((self._pairs, self._moments)), "steps": self._steps.copy()})

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        self._pairs, self._moments = with_arrays((self._pairs, self._moments), snapshot.arrays)
        self._steps = snapshot.arrays["steps"].copy()

    def cost(self) -> list[Cost]:
        """Steps in the world, and updates."""
        made = np.asarray(self._moments.count)
        return [Cost(int(steps), int(count), *self._sizes) for steps, count in zip(self._steps, made, strict=True)]


def _pair(core: CoreSpec, brief: Brief, widths: tuple[int, int], rng: np.random.Generator) -> Pair:
    """Both cores, then both heads."""
    cores = [core.build(brief.inputs, rng) for _ in widths]
    return Pair(*(Model(one, Head.drawn(one, width, rng)) for one, width in zip(cores, widths, strict=True)))


def _checked(world: Any) -> Any:
    if not isinstance(world, GameWorld) or world.players != 2 or world.sizes.rounds != 1 or not world.sizes.feedback:
        raise NotApplicable("channel is for games/pair with one round and feedback")
    return world


def _vectors(world: Any, stimuli: Any, tokens: Any, query: Any, turn: int, role: int) -> Any:
    """(game, ...): observations as `as_vector` has them, from stimuli (game, stimulus, dimension), one-hot tokens
    (game, place, token) and whether games are of the query; without results.
    """
    games = len(stimuli)
    fixed = [jnp.zeros(3), jax.nn.one_hot(turn, world.sizes.rounds + 1), jax.nn.one_hot(role, 2)]
    phase = jnp.stack([~query, query], axis=-1)
    rest = [jnp.broadcast_to(part, (games, len(part))) for part in fixed]
    return jnp.concatenate([stimuli.reshape(games, -1), tokens.reshape(games, -1), phase, *rest], axis=-1)


def _shown(world: Any, role: int) -> Any:
    """(width,): 1 where an observation is read, by a player in its role."""
    sizes = world.sizes
    stimuli, tokens = (sizes.distractors + 1) * sizes.dimensions, sizes.length * (sizes.words + 1)
    return np.concatenate([np.ones(stimuli), np.full(tokens, role == LISTENER), np.ones(2), np.zeros(3),
                           np.ones(sizes.rounds + 1 + 2)]).astype(np.float32)  # fmt: skip


def _scores(world: Any, model: Model, features: Any) -> Any:
    """(..., place, token): of the message; its end is out of reach."""
    scores = model.head(features).reshape(*features.shape[:-1], world.sizes.length, world.sizes.words + 1)
    return scores.at[..., 0].set(-1e9)


@eqx.filter_jit
def _learn(
    world: Any, trainable: Any, pairs: Any, moments: Any, episodes: Any, noise: Any, first: Any, settings: Settings,
    games: int, lanes: int,
) -> Any:  # fmt: skip
    def single(pair: Any, moments: Any, episodes: Any, noise: Any) -> Any:
        trained, fixed = eqx.partition(pair, trainable)
        rows, number = len(episodes.count), jnp.arange(games)
        own, others, correct = episodes.speaker[:, :games], episodes.listener[:, :games], episodes.correct[:, :games]
        query = number >= episodes.support[:, None]
        counted = (number < episodes.count[:, None]) / jnp.minimum(episodes.count, games)[:, None] / rows
        shape = rows, games, world.sizes.length, world.sizes.words + 1
        gumbel = jax.random.gumbel(jax.random.fold_in(noise, first), shape)
        renamed = jax.nn.one_hot(episodes.renamed, world.sizes.words + 1)  # (row, place, said, heard)

        def vectors(stimuli: Any, tokens: Any, turn: int, role: int) -> Any:
            def each(stimuli: Any, tokens: Any, query: Any) -> Any:
                return _vectors(world, stimuli, tokens, query, turn, role)

            return jnp.swapaxes(jax.vmap(each)(stimuli, tokens, query), 0, 1)  # (game, row, width)

        def loss(trained: Any) -> Any:
            pair = eqx.combine(trained, fixed)
            seen = vectors(own, jnp.zeros(shape), 0, SPEAKER)
            features = pair.speaker.core.unroll(pair.speaker.core.start(rows, games), seen)[1]
            scores = jnp.swapaxes(_scores(world, pair.speaker, features), 0, 1) + gumbel
            soft = jax.nn.softmax(scores / settings.heat)
            hard = jax.nn.one_hot(jnp.argmax(scores, axis=-1), shape[-1])
            heard = jnp.einsum("bgps,bpsh->bgph", hard + soft - lax.stop_gradient(soft), renamed)
            views = [vectors(others, heard, 1, LISTENER), vectors(own, heard, 2, LISTENER)]
            inputs = jnp.stack(views, axis=1).reshape(2 * games, rows, -1)
            features = pair.listener.core.unroll(pair.listener.core.start(rows, 2 * games), inputs)[1][::2]
            outputs, decisions = jnp.swapaxes(pair.listener.head(features), 0, 1), world.sizes.decisions
            each = optax.softmax_cross_entropy_with_integer_labels(outputs[..., :decisions], correct)
            if outputs.shape[-1] > decisions:
                foretold = outputs[..., decisions : decisions + world.sizes.dimensions]
                each += settings.foretell * jnp.square(foretold - own[:, :, 0]).mean(axis=-1)
            return (each * counted).sum()

        gradient = cut(jax.grad(loss)(trained), settings.clip)
        rate = settings.rate * share_of_rate(moments.count, settings.planned, LATE)
        steps, moments = ADAM.update(gradient, moments)
        trained = jax.tree.map(lambda weight, step: weight - rate * step, trained, steps)
        return eqx.combine(trained, fixed), moments

    return over_lanes(single, lanes)(pairs, moments, episodes, noise)


@eqx.filter_jit
def _perform(world: Any, pairs: Any, begun: Any, keys: Any, numbers: Any, lanes: int) -> Any:
    def single(pair: Any, begun: Any, keys: Any, numbers: Any) -> Transcript:
        rows = len(numbers)

        def speak(memories: Any, seen: Any) -> Any:
            own, features = pair.speaker.core.step(memories[0], seen[:, SPEAKER] * _shown(world, SPEAKER))
            said = jnp.argmax(_scores(world, pair.speaker, features), axis=-1)
            return (own, memories[1]), said, jnp.zeros(rows, jnp.int32)

        def listen(memories: Any, seen: Any, said: Any) -> Any:
            own, features = pair.listener.core.step(memories[1], seen[:, LISTENER] * _shown(world, LISTENER))
            scores = pair.listener.head(features)[:, : world.sizes.decisions]
            return (memories[0], own), said, jnp.argmax(scores, axis=-1).astype(jnp.int32)

        def step(state: Any, seen: Any, key: Any) -> Any:
            time, memories, said = state
            memories, said, decision = lax.cond(
                time % world.sizes.turns == 0,
                lambda: speak(memories, seen),
                lambda: listen(memories, seen, said),
            )
            both = jnp.stack([decision, decision], axis=1)
            tokens = {str(place): jnp.stack([said[:, place]] * 2, axis=1) for place in range(world.sizes.length)}
            return (time + 1, memories, said), {"decision": both, "message": tokens}

        memories = (
            pair.speaker.core.start(rows, world.sizes.games),
            pair.listener.core.start(rows, 2 * world.sizes.games),
        )
        state = jnp.int32(0), memories, jnp.zeros((rows, world.sizes.length), jnp.int32)
        of_world, noise = keys
        return play(world, state, step, of_world, noise, numbers, begun)[1]

    return over_lanes(single, lanes)(pairs, begun, keys, numbers)
