"""One layer of a transformer encoder: attention and a feed-forward part, each added to its input and normalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.cores.core import Array
from quickstudy.gateway import eqx, jax, jnp, lax


@dataclass
class Noise:
    """Dropout with one key per step: a step's noise is the same whether it is read alone or among others.

    rate: share of numbers set to zero; the others grow by as much. keys: (T,), or None for no noise. Every use draws
    anew.
    """

    rate: float
    keys: Array | None
    uses: int = 0

    def mask(self, shape: tuple[int, ...]) -> Array | None:
        """(T, *shape): 0 for what is left out, and what the rest is multiplied by; None without noise."""
        if self.keys is None or self.rate == 0:
            return None
        self.uses += 1
        keys = jax.vmap(lambda key: jax.random.fold_in(key, self.uses))(self.keys)
        kept = jax.vmap(lambda key: jax.random.bernoulli(key, 1.0 - self.rate, shape))(keys)
        return kept / (1.0 - self.rate)

    def __call__(self, rows: Array) -> Array:
        """Rows (T, ...) with some of their numbers left out."""
        mask = self.mask(rows.shape[1:])
        return rows if mask is None else rows * mask


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
        mask = noise.mask((rows.shape[1], self.heads, room))
        if mask is not None:  # drawn by distance: a row has the same noise alone and among others
            mask = jnp.take_along_axis(mask, (distance % room)[:, None, None], axis=-1)
        read = self._attended(queries, keys, values, seen, mask)
        return (keys[:, -room:], values[:, -room:]), self._continued(rows, read, noise)

    def throughout(self, rows: Array, present: Array, noise: Noise) -> Array:
        """Every row sees all rows of its sequence that are present (T, B)."""
        mask = noise.mask((rows.shape[1], self.heads, len(rows)))
        queries, keys, values = self._mixed(rows)
        read = self._attended(queries, keys, values, present.T[:, None, None], mask)
        return self._continued(rows, read, noise)

    def _mixed(self, rows: Array) -> list[Array]:
        """Queries, keys and values, (B, T, E) each."""
        return jnp.split(jnp.swapaxes(self.mix(rows), 0, 1), 3, axis=-1)

    def _attended(self, queries: Array, keys: Array, values: Array, seen: Array, mask: Array | None) -> Array:
        """(T, B, E). seen: which keys a query sees, as (B, heads, T, K) or shorter; mask: (T, B, heads, K)."""
        queries, keys, values = (part.reshape(*part.shape[:2], self.heads, -1) for part in (queries, keys, values))
        scores = jnp.einsum("bthf,bkhf->bhtk", queries, keys) / np.sqrt(queries.shape[-1])
        shares = jax.nn.softmax(jnp.where(seen, scores, -1e30))
        if mask is not None:
            shares = shares * jnp.moveaxis(mask, 0, 2)
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
