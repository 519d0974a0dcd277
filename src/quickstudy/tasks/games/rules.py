"""Rules that play meta-referential games, compiled with the world: what can be had without learning anything across
episodes, without hearing, and without a language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from quickstudy.base.actions import Policy
from quickstudy.base.catalogue import control
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Space
from quickstudy.gateway import jax, jnp
from quickstudy.tasks.games.episodes import Sizes
from quickstudy.tasks.games.play import LISTENER, SPEAKER

APART = 0.05
"""A coordinate so far from all that were named is taken for a value that was not."""
LENIENT = 0.2
"""How far from a named section a coordinate may lie where a value has several samples: they may straddle sections."""


class Heard(NamedTuple):
    """What feedback has shown: coordinates (row, game, dimension) with the tokens that named them, and how many."""

    coordinates: Any
    tokens: Any
    count: Any

    @property
    def there(self) -> Any:
        """(row, game, 1): which are filled."""
        return (jnp.arange(self.tokens.shape[1]) < self.count[:, None])[..., None]


class View(NamedTuple):
    """A listener's observation taken apart: stimuli (row, stimulus, dimension), tokens (row, dimension), phase."""

    stimuli: Any
    tokens: Any
    query: Any
    feedback: Any


@dataclass(frozen=True)
class ListenerRule:
    """Keeps what feedback shows, and decides by `agrees`: (row, stimulus, dimension), what fits the message.

    A stimulus that fits in all dimensions is chosen, else none of them, or where that is no decision the best.
    """

    sizes: Sizes
    outputs: Space

    def __init__(self, task: Any, brief: Brief) -> None:
        sizes = task.sizes
        if sizes.length < sizes.dimensions:
            raise NotApplicable(f"{type(self).__name__} reads whole messages, of {sizes.dimensions} tokens or more")
        for name, value in (("sizes", sizes), ("outputs", brief.outputs), ("lenient", task.samples > 1)):
            if name in type(self).__dataclass_fields__:
                object.__setattr__(self, name, value)

    def start(self, batch: int, capacity: int) -> Heard:
        """Nothing heard."""
        shape = batch, self.sizes.games, self.sizes.dimensions
        return Heard(jnp.zeros(shape), jnp.zeros(shape, jnp.int32), jnp.zeros(batch, jnp.int32))

    def step(self, state: Heard, observation: Any, *, key: Any) -> tuple[Heard, Any]:
        """(state, decisions)."""
        view = self.view(observation)
        decision = self.decide(state, view)
        now = (jnp.arange(self.sizes.games) == state.count[:, None]) & view.feedback[:, None]
        return (
            Heard(
                jnp.where(now[..., None], view.stimuli[:, :1], state.coordinates),
                jnp.where(now[..., None], view.tokens[:, None], state.tokens),
                state.count + view.feedback,
            ),
            decision,
        )

    def view(self, observation: Any) -> View:
        """The parts of `as_vector`."""
        sizes, rows = self.sizes, len(observation)
        first, second = (sizes.distractors + 1) * sizes.dimensions, sizes.length * (sizes.words + 1)
        stimuli = observation[:, :first].reshape(rows, -1, sizes.dimensions)
        tokens = observation[:, first : first + second].reshape(rows, sizes.length, -1).argmax(axis=-1)
        rest = observation[:, first + second :]
        feedback = rest[:, 5 : 6 + sizes.rounds].sum(axis=1) == 0
        return View(stimuli, tokens[:, : sizes.dimensions], rest[:, 1] > 0, feedback)

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


def _values(heard: Heard, words: int) -> Any:
    """(row, dimension): how many different tokens each position has had, at least 1."""
    named = (jax.nn.one_hot(heard.tokens, words + 1) * heard.there[..., None]).any(axis=1)
    return jnp.maximum(named[..., 1:].sum(axis=-1), 1)


@control("nearest-neighbour", version=1, role="oracle", compiled=True)
@dataclass(frozen=True, init=False)
class NearestNeighbour(ListenerRule):
    """In every dimension, the token that named the nearest coordinate must be the one that is said.

    A token that was never said fits a coordinate that is not near any that was named.
    """

    def agrees(self, heard: Heard, view: View) -> Any:
        """By dimension."""
        apart = jnp.abs(view.stimuli[:, None] - heard.coordinates[:, :, None])  # (row, game, stimulus, dimension)
        apart = jnp.where(heard.there[..., None], apart, jnp.inf)
        nearest = apart.argmin(axis=1)
        named = jnp.take_along_axis(heard.tokens, nearest.reshape(len(nearest), -1, nearest.shape[-1]), axis=1)
        known = ((heard.tokens == view.tokens[:, None]) & heard.there).any(axis=1)[:, None]
        return jnp.where(known, named == view.tokens[:, None], apart.min(axis=1) > APART)


@control("binning", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class Binning(ListenerRule):
    """Cuts every axis into as many equal sections as its position has had tokens, and counts which section each token,
    wherever it stands, has named most often.
    """

    def agrees(self, heard: Heard, view: View) -> Any:
        """The section that the token stands for is the one in which the coordinate lies."""
        values = _values(heard, self.sizes.words)
        most = self.sizes.most

        def section(coordinates: Any) -> Any:
            return jnp.clip(jnp.floor((coordinates + 1) * values[:, None] / 2), 0, most - 1).astype(jnp.int32)

        seen = jax.nn.one_hot(heard.tokens, self.sizes.words + 1) * heard.there[..., None]
        where = jax.nn.one_hot(section(heard.coordinates), most)
        tally = jnp.einsum("bgdt,bgds->bts", seen, where)
        counted = jnp.take_along_axis(tally, view.tokens[..., None], axis=1)
        meant, known = counted.argmax(axis=-1), counted.sum(axis=-1) > 0
        return (section(view.stimuli) == meant[:, None]) | ~known[:, None]


@control("blind", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class Blind(ListenerRule):
    """Ignores what is said of the stimuli: in the query phase it takes one that could be a query target, two of whose
    values are odd; before, any. How many values there are it knows from the feedback of earlier games.
    """

    def agrees(self, heard: Heard, view: View) -> Any:
        """Whether it could be a target."""
        values = _values(heard, self.sizes.words)
        number = jnp.floor((view.stimuli + 1) * values[:, None] / 2)
        could = ((number % 2).sum(axis=-1) >= 2) | ~view.query[:, None]
        return jnp.broadcast_to(could[..., None], view.stimuli.shape)


@control("always-none", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class AlwaysNone(ListenerRule):
    """None of them, always; the first, where that is no decision."""

    def agrees(self, heard: Heard, view: View) -> Any:
        """Nothing does."""
        return jnp.zeros(view.stimuli.shape, bool)


@control("quantised-listener", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class QuantisedListener(ListenerRule):
    """Understands coordinates sent in equal sections, one for every word: which section a token stands for it learns
    from feedback, for all positions together. A token that was never explained fits everything.
    """

    lenient: bool

    def agrees(self, heard: Heard, view: View) -> Any:
        """The coordinate lies in the section, or a little beside it where a value has several samples."""
        words = self.sizes.words
        seen = jax.nn.one_hot(heard.tokens, words + 1) * heard.there[..., None]
        section = jax.nn.one_hot(quantised(heard.coordinates, words), words)
        tally = jnp.einsum("bgdt,bgds->bts", seen, section)
        counted = jnp.take_along_axis(tally, view.tokens[..., None], axis=1)
        meant, known = counted.argmax(axis=-1)[:, None], counted.sum(axis=-1)[:, None] > 0
        slack = LENIENT if self.lenient else 1e-6
        low, high = -1 + 2 * meant / words - slack, -1 + 2 * (meant + 1) / words + slack
        # What lies beyond either end was sent as the last section.
        inside = jnp.clip(view.stimuli, -1.0, 1.0)
        return ((low <= inside) & (inside <= high)) | ~known


def quantised(coordinates: Any, words: int) -> Any:
    """In which of so many equal sections of -1 .. 1 a coordinate lies."""
    return jnp.clip(jnp.floor((coordinates + 1) * words / 2), 0, words - 1).astype(jnp.int32)


@control("quantising-pair", version=1, role="oracle", compiled=True)
@dataclass(frozen=True, init=False)
class QuantisingPair(QuantisedListener):
    """The speaker sends every coordinate of its target in equal sections, one for every word; the listener is
    `quantised-listener`. No value, no structure and no earlier episode is needed for it.
    """

    def step(self, state: Heard, observation: Any, *, key: Any) -> tuple[Heard, Any]:
        """(state, actions of both)."""
        sizes = self.sizes
        state, decision = super().step(state, observation[:, LISTENER], key=key)
        target = observation[:, SPEAKER, : sizes.dimensions]
        tokens = jnp.pad(quantised(target, sizes.words) + 1, ((0, 0), (0, sizes.length - sizes.dimensions)))
        return state, {
            "decision": jnp.stack([jnp.zeros_like(decision), decision], axis=1),
            "message": {
                str(place): jnp.stack([tokens[:, place], jnp.zeros_like(tokens[:, place])], axis=1)
                for place in range(sizes.length)
            },
        }


@control("uniform-decision", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class UniformDecision(ListenerRule):
    """Any decision, by chance."""

    def step(self, state: Heard, observation: Any, *, key: Any) -> tuple[Heard, Any]:
        """(state, actions)."""
        axes = observation.shape[1:-1]
        uniform = jax.vmap(lambda key: jax.random.uniform(key, (*axes, self.outputs.width)))(key)
        return state, Policy(self.outputs, jnp.zeros_like(uniform)).draw(uniform)


@control("uniform-pair", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class UniformPair(UniformDecision):
    """Any decision and any message, by chance."""
