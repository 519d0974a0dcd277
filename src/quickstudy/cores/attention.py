"""One layer of a transformer encoder: attention and a feed-forward part, each added to its input and normalised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.cores.core import Array
from quickstudy.gateway import eqx, jax, jnp, lax


@dataclass
class Noise:
    """Dropout: factors that are drawn one after the other, each once: 0 for what is left out, and what the rest is
    multiplied by.

    rate: share left out. keys: one per step (T,), None for no noise: a step has the same noise whether it is read alone
    or among others. numbers: how many factors a row may take in all. taken: how many have been.
    """

    rate: float
    keys: Array | None
    numbers: int
    taken: int = 0

    def __call__(self, rows: Array) -> Array:
        """Rows (T, B, E) with some of their numbers left out."""
        first, self.taken = self.taken, self.taken + rows.shape[-1]
        if self.keys is None:
            return rows
        return rows * self._factors(
            self.keys[:, None, None], _numbered(self.numbers, rows.shape[1], rows.shape[2], first)
        )

    def shares(self, batch: int, heads: int, keys: int, among: int) -> Array | None:
        """Factors (B, heads, T, keys) for attention: those of the first keys among as many as there may be."""
        first, self.taken = self.taken, self.taken + heads * among
        if self.keys is None:
            return None
        places = _numbered(self.numbers, batch, heads * among, first).reshape(batch, heads, 1, among)[..., :keys]
        return self._factors(self.keys[:, None], places)

    def _factors(self, keys: Array, places: NDArray[np.uint32]) -> Array:
        kept = chances(keys, places) < 1.0 - self.rate
        return jnp.where(kept, np.float32(1.0 / (1.0 - self.rate)), np.float32(0.0))


def _numbered(numbers: int, batch: int, count: int, first: int) -> NDArray[np.uint32]:
    """(batch, count): which numbers of its key's draw a row takes that takes `count` of them from the first on."""
    return (np.arange(batch)[:, None] * numbers + first + np.arange(count)).astype(np.uint32)


def chances(keys: Array, places: NDArray[np.uint32]) -> Array:
    """Numbers uniform in [0, 1): entry n of what `jax.random.uniform(key, shape)` draws, for keys and places n that are
    broadcast against each other.

    The generator (Threefry-2x32, Salmon et al. 2011) is written out, so that it is one loop over all numbers: four
    times faster on a CPU than the rounds one after the other, each over all numbers, and compiled sooner.
    """
    words = jax.random.key_data(keys)
    first, second = words[..., 0], words[..., 1]
    schedule = first, second, first ^ second ^ np.uint32(0x1BD11BDA)
    left, right = first, jnp.asarray(places) + second
    for block in range(5):
        for turn in ((13, 15, 26, 6), (17, 29, 16, 24))[block % 2]:
            left = left + right
            right = ((right << turn) | (right >> (32 - turn))) ^ left
        left = left + schedule[(block + 1) % 3]
        right = right + schedule[(block + 2) % 3] + np.uint32(block + 1)
    return lax.bitcast_convert_type(((left ^ right) >> 9) | np.uint32(0x3F800000), jnp.float32) - 1.0


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
        factors = noise.shares(rows.shape[1], self.heads, room, room)
        if factors is not None:  # by distance: a row has the same noise alone and among others
            factors = jnp.take_along_axis(factors, (distance % room)[None, None], axis=-1)
        read = self._attended(queries, keys, values, seen, factors)
        return (keys[:, -room:], values[:, -room:]), self._continued(rows, read, noise)

    def throughout(self, rows: Array, present: Array, noise: Noise, room: int) -> Array:
        """Every row sees all rows of its sequence that are present (T, B). room: the most rows there may be."""
        queries, keys, values = self._mixed(rows)
        factors = noise.shares(rows.shape[1], self.heads, len(rows), room)
        read = self._attended(queries, keys, values, present.T[:, None, None], factors)
        return self._continued(rows, read, noise)

    def numbers(self, keys: int) -> int:
        """How many factors of noise a row takes that looks at so many keys."""
        return int(self.heads * keys + 2 * self.out.bias.size + self.widen.bias.size)

    def _mixed(self, rows: Array) -> list[Array]:
        """Queries, keys and values, (B, T, E) each."""
        return jnp.split(jnp.swapaxes(self.mix(rows), 0, 1), 3, axis=-1)

    def _attended(self, queries: Array, keys: Array, values: Array, seen: Array, factors: Array | None) -> Array:
        """(T, B, E). seen: which keys a query sees, and factors: as (B, heads, T, K) or shorter."""
        queries, keys, values = (
            jnp.swapaxes(part.reshape(*part.shape[:2], self.heads, -1), 1, 2) for part in (queries, keys, values)
        )
        scores = jnp.where(seen, queries @ jnp.swapaxes(keys, 2, 3) / np.sqrt(queries.shape[-1]), -1e30)
        weights = jnp.exp(scores - lax.stop_gradient(scores.max(axis=-1, keepdims=True)))
        # Divided after the product: there are fewer features than keys.
        total = weights.sum(axis=-1, keepdims=True)
        read = (weights if factors is None else weights * factors) @ values / total
        return self.out(jnp.moveaxis(read, 2, 0).reshape(read.shape[2], len(read), -1))

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
