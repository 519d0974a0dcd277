"""Runs of equal symbols, and how a rhythm goes on at another tempo."""

from __future__ import annotations

from typing import NamedTuple

from quickstudy.cores.core import Array
from quickstudy.gateway import jnp


class Runs(NamedTuple):
    """The last runs of equal symbols, the present one first: lengths and symbols, (run, B)."""

    lengths: Array
    symbols: Array

    @classmethod
    def none(cls, kept: int, batch: int, size: int) -> Runs:
        """No runs yet; the symbol `size` stands for none."""
        return cls(jnp.zeros((kept, batch), jnp.int32), jnp.full((kept, batch), size, jnp.int32))

    def read(self, x: Array) -> Runs:
        """One more symbol (B,): the present run goes on, or a new one begins."""
        same = self.symbols[0] == x
        lengths = jnp.where(
            same, self.lengths.at[0].add(1), jnp.concatenate([jnp.ones_like(x)[None], self.lengths[:-1]])
        )
        symbols = jnp.where(same, self.symbols, jnp.concatenate([x[None], self.symbols[:-1]]))
        return Runs(lengths, symbols)

    def continued(self, most: int, size: int) -> list[Array]:
        """What comes next if the rhythm repeats after R runs at a changed tempo, for R = 1 .. most; `size`: unknown.

        The run R ago had length a, the one before it b, and the run before the present one has c: then the present one
        should have length a c / b. While it is shorter it goes on; after that comes the symbol that came then.
        """
        guesses = []
        for back in range(1, most + 1):
            known = (self.symbols[back] == self.symbols[0]) & (self.lengths[back + 1] > 0)
            shorter = self.lengths[0] * self.lengths[back + 1] < self.lengths[back] * self.lengths[1]
            goes_on = jnp.where(shorter, self.symbols[0], self.symbols[back - 1])
            guesses.append(jnp.where(known, goes_on, size))
        return guesses
