"""Rules that do well in meta-referential games without what they were meant to examine: without
hearing, without remembering names, without symbols of the space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.registries import control
from quickstudy.jax_gateway import jax, jnp
from quickstudy.tasks.games.play import LISTENER, SPEAKER
from quickstudy.tasks.games.rules import Heard, ListenerRule, View
from quickstudy.tasks.games.spaces import section_of
from quickstudy.tasks.games.view import decode

LENIENT = 0.2
"""How far from a named section a coordinate may lie where a value has several samples: they may
straddle sections.
"""


@control("blind", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class Blind(ListenerRule):
    """Ignores the message: in the query phase it takes one that could be a query
    target, two of whose values (as many as the threshold) are odd; before, any. How many
    values there are it knows from the feedback of earlier games.
    """

    threshold: int

    def agrees(self, heard: Heard, view: View) -> Any:
        """Whether it could be a target."""
        could = (section_of(view.stimuli, heard.values[:, None]) % 2).sum(axis=-1) >= self.threshold
        return jnp.broadcast_to((could | ~view.query[:, None])[..., None], view.stimuli.shape)


@control("novelty", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class Novelty(Blind):
    """Ignores the message, and remembers: as `blind`, but what was a target in the
    query phase is none again. Where every query meaning comes once, and foils do not wait for their
    turn, that alone is worth 25 %.
    """

    def agrees(self, heard: Heard, view: View) -> Any:
        """Whether it could be a target, and was none."""
        now, before = (
            section_of(stimuli, heard.values[:, None])
            for stimuli in (view.stimuli, heard.coordinates)
        )
        same = (now[:, :, None] == before[:, None]).all(axis=-1) & heard.there[:, None, :, 0]
        named = same.any(axis=-1) & view.query[:, None]
        return super().agrees(heard, view) & ~named[..., None]


@control("always-none", version=1, role="control", compiled=True)
@dataclass(frozen=True, init=False)
class AlwaysNone(ListenerRule):
    """None of them, always; the first, where "none" is not a decision."""

    languages: ClassVar[tuple[str, ...]] = ()

    def agrees(self, heard: Heard, view: View) -> Any:
        """Nothing does."""
        return jnp.zeros(view.stimuli.shape, bool)


@control("quantised-listener", version=1, role="control", compiled=True, anywhere=True)
@dataclass(frozen=True, init=False)
class QuantisedListener(ListenerRule):
    """Understands coordinates sent in equal sections, one for every word: which section a token
    means it learns from feedback, for all positions together. A token that was never explained
    fits everything.
    """

    lenient: bool

    languages: ClassVar[tuple[str, ...]] = ("quantised",)
    by_dimension: ClassVar[bool] = False

    @property
    def counts(self) -> tuple[int, ...]:
        """(token, section)."""
        return self.sizes.words + 1, self.sizes.words

    def counted(self, coordinates: Any, said: Any) -> Any:
        """The section of every coordinate."""
        section = jax.nn.one_hot(section_of(coordinates, self.sizes.words), self.sizes.words)
        return jnp.einsum("bdt,bds->bts", said, section)

    def agrees(self, heard: Heard, view: View) -> Any:
        """The coordinate lies in the section, or slightly outside where a value has several
        samples.
        """
        words = self.sizes.words
        counted = jnp.take_along_axis(heard.tally, view.tokens[..., None], axis=1)
        meant, known = counted.argmax(axis=-1)[:, None], counted.sum(axis=-1)[:, None] > 0
        slack = LENIENT if self.lenient else 1e-6
        low, high = -1 + 2 * meant / words - slack, -1 + 2 * (meant + 1) / words + slack
        # What lies beyond either end was sent as the last section.
        inside = jnp.clip(view.stimuli, -1.0, 1.0)
        return ((low <= inside) & (inside <= high)) | ~known


@control("quantising-pair", version=1, role="oracle", compiled=True)
@dataclass(frozen=True, init=False)
class QuantisingPair(QuantisedListener):
    """The speaker sends every coordinate of its target in equal sections, one for every word; the
    listener is `quantised-listener`. No value, no structure and no earlier episode is needed for
    it.
    """

    languages: ClassVar[tuple[str, ...]] = ("posdis",)
    players: ClassVar[int] = 2

    def step(self, state: Heard, observation: Any, *, key: Any) -> tuple[Heard, Any]:
        """(state, actions of both)."""
        sizes = self.sizes
        state, decision = super().step(state, observation[:, LISTENER], key=key)
        target = decode(sizes, observation[:, SPEAKER]).stimuli_of(sizes)[:, 0]
        tokens = jnp.pad(
            section_of(target, sizes.words) + 1, ((0, 0), (0, sizes.length - sizes.dimensions))
        )
        return state, {
            "decision": jnp.stack([jnp.zeros_like(decision), decision], axis=1),
            "message": {
                str(place): jnp.stack([tokens[:, place], jnp.zeros_like(tokens[:, place])], axis=1)
                for place in range(sizes.length)
            },
        }
