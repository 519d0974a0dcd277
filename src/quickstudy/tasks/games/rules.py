"""Rules that listen in meta-referential games, compiled with the world: what can be had within an
episode, without learning anything across episodes; and chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from quickstudy.base.actions import Policy
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.offers import HasWorld, offers
from quickstudy.base.registries import control
from quickstudy.base.spaces import Space
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.jax_gateway import jax, jnp
from quickstudy.tasks.games.settings import Sizes
from quickstudy.tasks.games.spaces import section_of
from quickstudy.tasks.games.view import decode

APART = 0.05
"""A coordinate so far from all that were named is taken for a value that was not."""


class Heard(NamedTuple):
    """What feedback has shown: coordinates (row, game, dimension) with the tokens that named them,
    and how many games; named: (row, dimension, token), which tokens have stood where; tally: (row,
    ...), what the rule itself counts.
    """

    coordinates: Any
    tokens: Any
    count: Any
    named: Any
    tally: Any

    @property
    def there(self) -> Any:
        """(row, game, 1): which are filled."""
        return (jnp.arange(self.tokens.shape[1]) < self.count[:, None])[..., None]

    @property
    def values(self) -> Any:
        """(row, dimension): how many different tokens each position has had, at least 1."""
        return jnp.maximum(self.named[..., 1:].sum(axis=-1), 1)


class View(NamedTuple):
    """A listener's observation taken apart: stimuli (row, stimulus, dimension), tokens (row,
    dimension), phase.
    """

    stimuli: Any
    tokens: Any
    query: Any
    feedback: Any


@dataclass(frozen=True)
class ListenerRule:
    """Keeps what feedback shows, and decides by `agrees`: (row, stimulus, dimension), what fits the
    message.

    A stimulus that fits in all dimensions is chosen, else none of them, or where that is not a
    decision the best.
    """

    sizes: Sizes
    outputs: Space

    languages: ClassVar[tuple[str, ...]] = ("posdis", "quantised")
    """Of the world's speaker: those that the rule can read."""
    by_dimension: ClassVar[bool] = True
    """Whether it takes coordinate i of a stimulus for dimension i, which shuffled axes rule out."""
    players: ClassVar[int] = 1
    """For which it acts: the listener, or both."""

    def __init__(self, task: Any, brief: Brief) -> None:
        plays = stated(task, TaskFacts).sizes is not None and offers(task, HasWorld)
        if not plays or task.players != self.players:
            raise NotApplicable(
                f"{type(self).__name__} plays games/{'listener' if self.players == 1 else 'pair'}"
                " only"
            )
        sizes = task.sizes
        if self.languages and sizes.length < sizes.dimensions:
            raise NotApplicable(
                f"{type(self).__name__} reads whole messages, of {sizes.dimensions} tokens or more"
            )
        if self.languages and sizes.language not in self.languages:
            raise NotApplicable(
                f"{type(self).__name__} reads token i as dimension i, and {sizes.language} is"
                " not so"
            )
        if self.languages and self.by_dimension and sizes.shuffled:
            raise NotApplicable(
                f"{type(self).__name__} reads token i as coordinate i, and axes are shuffled"
            )
        given = {
            "sizes": sizes,
            "outputs": brief.outputs,
            "lenient": task.samples > 1,
            "threshold": task.threshold,
        }
        for name, value in given.items():
            if name in type(self).__dataclass_fields__:
                object.__setattr__(self, name, value)

    def start(self, batch: int, capacity: int) -> Heard:
        """Nothing heard."""
        sizes, shape = self.sizes, (batch, self.sizes.games, self.sizes.dimensions)
        named = jnp.zeros((batch, sizes.dimensions, sizes.words + 1), bool)
        tally = jnp.zeros((batch, *self.counts))
        return Heard(
            jnp.zeros(shape), jnp.zeros(shape, jnp.int32), jnp.zeros(batch, jnp.int32), named, tally
        )

    def step(self, state: Heard, observation: Any, *, key: Any) -> tuple[Heard, Any]:
        """(state, decisions)."""
        view = self.view(observation)
        decision = self.decide(state, view)
        shown, now = (
            view.feedback,
            (jnp.arange(self.sizes.games) == state.count[:, None]) & view.feedback[:, None],
        )
        said = jax.nn.one_hot(view.tokens, self.sizes.words + 1)
        counted = self.counted(view.stimuli[:, 0], said)
        return (
            Heard(
                jnp.where(now[..., None], view.stimuli[:, :1], state.coordinates),
                jnp.where(now[..., None], view.tokens[:, None], state.tokens),
                state.count + shown,
                state.named | ((said > 0) & shown[:, None, None]),
                state.tally + jnp.where(shown.reshape(-1, *[1] * len(self.counts)), counted, 0.0),
            ),
            decision,
        )

    @property
    def counts(self) -> tuple[int, ...]:
        """The shape of what the rule counts; none unless declared."""
        return ()

    def counted(self, coordinates: Any, said: Any) -> Any:
        """(row, ...): what one feedback adds to it, from coordinates (row, dimension) and one-hot
        tokens.
        """
        return jnp.zeros(len(coordinates))

    def view(self, observation: Any) -> View:
        """What a rule needs of an observation."""
        sizes, seen = self.sizes, decode(self.sizes, observation)
        tokens = seen.tokens(sizes)[:, : sizes.dimensions]
        return View(seen.stimuli_of(sizes), tokens, seen.query, seen.feedback)

    def decide(self, heard: Heard, view: View) -> Any:
        """(row,) decisions."""
        agrees = self.agrees(heard, view)
        best = agrees.sum(axis=-1).argmax(axis=-1)
        if not self.sizes.descriptive:
            return best
        return jnp.where(agrees.all(axis=-1).any(axis=-1), best, self.sizes.distractors + 1)

    def agrees(self, heard: Heard, view: View) -> Any:
        """What fits."""
        raise NotImplementedError


@control("nearest-neighbour", version=1, role="oracle", compiled=True)
@dataclass(frozen=True, init=False)
class NearestNeighbour(ListenerRule):
    """In every dimension, the token that named the nearest coordinate must be in the message.

    A token that never occurred fits a coordinate that is not near any that was named.
    """

    def agrees(self, heard: Heard, view: View) -> Any:
        """By dimension."""
        apart = jnp.abs(
            view.stimuli[:, None] - heard.coordinates[:, :, None]
        )  # (row, game, stimulus, dimension)
        apart = jnp.where(heard.there[..., None], apart, jnp.inf)
        nearest = apart.argmin(axis=1)
        named = jnp.take_along_axis(
            heard.tokens, nearest.reshape(len(nearest), -1, nearest.shape[-1]), axis=1
        )
        known = ((heard.tokens == view.tokens[:, None]) & heard.there).any(axis=1)[:, None]
        return jnp.where(known, named == view.tokens[:, None], apart.min(axis=1) > APART)


@control("binning", version=1, role="oracle", compiled=True, anywhere=True)
@dataclass(frozen=True, init=False)
class Binning(ListenerRule):
    """Cuts every axis into as many equal sections as its position has had tokens, and counts which
    section each token, wherever it stands, has named most often. A second oracle: it knows how
    spaces are made.
    """

    @property
    def counts(self) -> tuple[int, ...]:
        """(dimension, number of sections, token, section): which number is the right one shows only
        later.
        """
        sizes = self.sizes
        return sizes.dimensions, sizes.words, sizes.words + 1, sizes.words

    def counted(self, coordinates: Any, said: Any) -> Any:
        """The section of every coordinate, for every number of sections."""
        where = jax.nn.one_hot(
            section_of(coordinates[..., None], jnp.arange(1, self.sizes.words + 1)),
            self.sizes.words,
        )
        return where[:, :, :, None] * said[:, :, None, :, None]

    def agrees(self, heard: Heard, view: View) -> Any:
        """The section that the token means is the one in which the coordinate lies."""
        values = heard.values
        tally = jnp.take_along_axis(heard.tally, (values - 1)[..., None, None, None], axis=2)[
            :, :, 0
        ].sum(axis=1)
        counted = jnp.take_along_axis(tally, view.tokens[..., None], axis=1)
        meant, known = counted.argmax(axis=-1), counted.sum(axis=-1) > 0
        return (section_of(view.stimuli, values[:, None]) == meant[:, None]) | ~known[:, None]


@control("uniform-decision", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class UniformDecision(ListenerRule):
    """Any decision, by chance."""

    languages: ClassVar[tuple[str, ...]] = ()

    def step(self, state: Heard, observation: Any, *, key: Any) -> tuple[Heard, Any]:
        """(state, actions)."""
        axes = observation.shape[1:-1]
        uniform = jax.vmap(lambda key: jax.random.uniform(key, (*axes, self.outputs.width)))(key)
        return state, Policy(self.outputs, jnp.zeros_like(uniform)).draw(uniform)


@control("uniform-pair", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class UniformPair(UniformDecision):
    """Any decision and any message, by chance."""

    players: ClassVar[int] = 2
