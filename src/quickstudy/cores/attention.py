"""One layer of a transformer encoder: attention and a feed-forward part, each added to its input and normalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.cores.core import Array
from quickstudy.gateway import eqx, jax, jnp, lax


@dataclass
class Noise:
    """Dropout: factors that are handed out one after the other, each once.

    factors: (T, B, numbers), 0 for what is left out and what the rest is multiplied by; None for no noise.
    """

    factors: Array | None

    @classmethod
    def drawn(cls, rate: float, keys: Array | None, batch: int, numbers: int) -> Noise:
        """All the noise of T steps with a key each: a step has the same whether it is read alone or among others.

        In one draw, because every further one would add a second to the compilation.
        """
        if keys is None or rate == 0:
            return cls(None)
        kept = jax.vmap(lambda key: jax.random.bernoulli(key, 1.0 - rate, (batch, numbers)))(keys)
        return cls(kept / (1.0 - rate))

    def take(self, numbers: int) -> Array | None:
        """The next factors (T, B, numbers)."""
        if self.factors is None:
            return None
        taken, self.factors = self.factors[..., :numbers], self.factors[..., numbers:]
        return taken

    def __call__(self, rows: Array) -> Array:
        """Rows (T, B, E) with some of their numbers left out."""
        factors = self.take(rows.shape[-1])
        return rows if factors is None else rows * factors


class Affine(eqx.Module):
    """x W + b, with W (inputs, outputs)."""

    weights: Array
    bias: Array

    def __call__(self, rows: Array) -> Array:
        """(..., outputs)."""
        return rows @ self.weights + self.bias


class Norm(eqx.Module):
    """Zero mean and unit variance over the features, then a scale and a shift for each."""

    scale: Array
    shift: Array

    def __call__(self, rows: Array) -> Array:
        """The same shape."""
        centred = rows - rows.mean(axis=-1, keepdims=True)
        variance = jnp.square(centred).mean(axis=-1, keepdims=True)
        return centred * lax.rsqrt(variance + 1e-5) * self.scale + self.shift


class EncoderLayer(eqx.Module):
    """x <- norm(x + attention(x)), then x <- norm(x + W relu(V x)). Rows are (T, B, E).

    mix: queries, keys and values side by side, (E, 3 E); out: what was attended to, (E, E).
    """

    mix: Affine
    out: Affine
    widen: Affine
    narrow: Affine
    norms: tuple[Norm, Norm]
    heads: int = eqx.field(static=True)

    def onward(self, memory: tuple[Array, Array], count: Array, rows: Array, noise: Noise) -> tuple[Any, Array]:
        """Every row sees itself and the rows before it, as many in all as the memory holds; and the memory after them.

        memory: keys and values (B, W, E) of the last W rows, the newest last. count: how many rows there have been.
        """
        queries, keys, values = self._mixed(rows)
        keys, values = (jnp.concatenate([old, new], axis=1) for old, new in zip(memory, (keys, values), strict=True))
        room, place = memory[0].shape[1], jnp.arange(len(rows))[:, None]
        distance = room + place - jnp.arange(keys.shape[1])
        seen = (distance >= 0) & (distance < room) & (distance <= count + place)
        factors = self._factors(noise, room)
        if factors is not None:  # by distance: a row has the same noise alone and among others
            factors = jnp.take_along_axis(factors, (distance % room)[:, None, None], axis=-1)
        read = self._attended(queries, keys, values, seen, factors)
        return (keys[:, -room:], values[:, -room:]), self._continued(rows, read, noise)

    def throughout(self, rows: Array, present: Array, noise: Noise) -> Array:
        """Every row sees all rows of its sequence that are present (T, B)."""
        queries, keys, values = self._mixed(rows)
        read = self._attended(queries, keys, values, present.T[:, None, None], self._factors(noise, len(rows)))
        return self._continued(rows, read, noise)

    def numbers(self, keys: int) -> int:
        """How many factors of noise a row takes that looks at so many keys."""
        return int(self.heads * keys + 2 * self.out.bias.size + self.widen.bias.size)

    def _factors(self, noise: Noise, keys: int) -> Array | None:
        """(T, B, heads, keys)."""
        factors = noise.take(self.heads * keys)
        return None if factors is None else factors.reshape(*factors.shape[:2], self.heads, keys)

    def _mixed(self, rows: Array) -> list[Array]:
        """Queries, keys and values, (B, T, E) each."""
        return jnp.split(jnp.swapaxes(self.mix(rows), 0, 1), 3, axis=-1)

    def _attended(self, queries: Array, keys: Array, values: Array, seen: Array, factors: Array | None) -> Array:
        """(T, B, E). seen: which keys a query sees, as (B, heads, T, K) or shorter; factors: (T, B, heads, K)."""
        queries, keys, values = (part.reshape(*part.shape[:2], self.heads, -1) for part in (queries, keys, values))
        scores = jnp.einsum("bthf,bkhf->bhtk", queries, keys) / np.sqrt(queries.shape[-1])
        shares = jax.nn.softmax(jnp.where(seen, scores, -1e30))
        if factors is not None:
            shares = shares * jnp.moveaxis(factors, 0, 2)
        return self.out(jnp.einsum("bhtk,bkhf->tbhf", shares, values).reshape(queries.shape[1], len(queries), -1))

    def _continued(self, rows: Array, read: Array, noise: Noise) -> Array:
        """What follows attention."""
        rows = self.norms[0](rows + noise(read))
        return self.norms[1](rows + noise(self.narrow(noise(jax.nn.relu(self.widen(rows))))))


def draw_layer(embedding: int, hidden: int, heads: int, rng: np.random.Generator) -> EncoderLayer:
    """Weights as PyTorch's layer of this kind draws them, in the order of the fields."""

    def uniform(bound: float, *shape: int) -> Array:
        return jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32)

    def affine(inputs: int, outputs: int) -> Affine:
        bound = 1.0 / np.sqrt(inputs)
        return Affine(uniform(bound, inputs, outputs), uniform(bound, outputs))

    def norm() -> Norm:
        return Norm(jnp.ones(embedding), jnp.zeros(embedding))

    return EncoderLayer(
        Affine(uniform(np.sqrt(6.0 / (4 * embedding)), embedding, 3 * embedding), jnp.zeros(3 * embedding)),
        Affine(uniform(1.0 / np.sqrt(embedding), embedding, embedding), jnp.zeros(embedding)),
        affine(embedding, hidden),
        affine(hidden, embedding),
        (norm(), norm()),
        heads,
    )
