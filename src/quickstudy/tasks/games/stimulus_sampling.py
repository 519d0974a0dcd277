"""Decks of meanings, from which the stimuli next to a target are drawn without replacement, in
JAX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from quickstudy.jax_gateway import jnp, lax

SWAPPED = 6
"""Blocks that are sorted by swapping; more of them would be too many operations to compile."""


class Decks(NamedTuple):
    """Meanings to draw from: (deck, entry), and how many. Where they are sorted, with a number
    after all for each that is absent, also (deck, meaning): how many entries are smaller than
    each meaning.
    """

    entries: Any
    counts: Any
    before: Any = None

    @classmethod
    def of(cls, meanings: Any, there: Any, absent: int) -> Decks:
        """(deck, entry): those of the present meanings, for every deck, sorted."""
        deck = jnp.arange(len(there))[:, None]
        times = (
            jnp.zeros((len(there), absent + 1), jnp.int32)
            .at[deck, jnp.where(there, meanings, absent)]
            .add(1)
        )
        return cls.counted(times[:, :absent], there.shape[1])

    @classmethod
    def counted(cls, times: Any, room: int) -> Decks:
        """(deck, meaning): every meaning as often as given, with room for so many entries.

        Nothing is sorted: a meaning is written where its entries begin, and the places after
        repeat it.
        """
        decks, absent = times.shape
        ends = jnp.cumsum(times, axis=1, dtype=jnp.int32)
        before = jnp.pad(ends, ((0, 0), (1, 0)))
        meaning = jnp.arange(absent + 1, dtype=jnp.int32)
        begins = jnp.where(jnp.pad(times, ((0, 0), (0, 1)), constant_values=1) > 0, before, room)
        entries = (
            jnp.zeros((decks, room + 1), jnp.int32)
            .at[jnp.arange(decks)[:, None], begins]
            .max(meaning)
        )
        return cls(lax.cummax(entries[:, :room], axis=1), ends[:, -1], before)

    def block(self, deck: Any, meaning: Any) -> tuple[Any, Any]:
        """Where a meaning begins on a deck, and how many there are of it."""
        first, last = self.before[deck, meaning], self.before[deck, meaning + 1]
        return first, last - first

    def drawn(self, deck: Any, uniform: Any, taken: Any) -> tuple[Any, Any, Any]:
        """Any entry of a deck but those in blocks that are taken, its place, and whether there is
        any.
        """
        taken = _sorted(taken)
        left = self.counts[deck] - sum(count for _, count in taken)
        place = jnp.floor(uniform * left).astype(jnp.int32)
        for first, count in taken:
            place = jnp.where(place >= first, place + count, place)
        return self.entries[deck, jnp.clip(place, 0, self.entries.shape[1] - 1)], place, left > 0


def _sorted(blocks: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Blocks by their beginnings. Few are swapped: a sort along a short axis takes twice as long to
    run.
    """
    if len(blocks) > SWAPPED:
        firsts, counts = (jnp.stack(part) for part in zip(*blocks, strict=True))
        order = jnp.argsort(firsts)
        return list(zip(firsts[order], counts[order], strict=True))
    found = list(blocks)
    for end in range(len(found) - 1, 0, -1):
        for at in range(end):
            (first, count), (second, other) = found[at : at + 2]
            swap = first > second
            found[at : at + 2] = (
                (jnp.where(swap, second, first), jnp.where(swap, other, count)),
                (jnp.where(swap, first, second), jnp.where(swap, count, other)),
            )
    return found
