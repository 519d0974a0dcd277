"""One layer of a transformer encoder: attention and a feed-forward part, each added to its input
and normalised, with dropout drawn in one go for all its places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.cores.core import Array
from quickstudy.cores.layered import ShortConvolution, draw_convolution
from quickstudy.jax_gateway import eqx, jax, jnp, lax


class Affine(eqx.Module):
    """x W + b, with W (inputs, outputs)."""

    weights: Array
    bias: Array

    def __call__(self, rows: Array) -> Array:
        """(..., outputs)."""
        # As a plain matrix: the weights' gradient is then one fast product, with nothing turned
        # round.
        flat = rows.reshape(-1, rows.shape[-1]) @ self.weights + self.bias
        return flat.reshape(*rows.shape[:-1], -1)

    def columns(self, first: int, last: int) -> Affine:
        """Some of the outputs."""
        return Affine(self.weights[:, first:last], self.bias[first:last])


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
    """x <- norm(x + attention(x)), then x <- norm(x + W relu(V x)). Rows are (B, T, E).

    mix: queries, keys and values side by side, (E, 3 E); out: what was attended to, (E, E).
    first: x <- x + attention(norm(x)), then x <- x + W relu(V norm(x)).
    rotary: queries and keys are rotated by their positions (`rotated`).
    convolution: over the last steps of queries, keys and values, before they are used.
    """

    mix: Affine
    out: Affine
    widen: Affine
    narrow: Affine
    norms: tuple[Norm, Norm]
    heads: int = eqx.field(static=True)
    first: bool = eqx.field(static=True, default=False)
    rotary: bool = eqx.field(static=True, default=False)
    convolution: ShortConvolution | None = None

    def start(self, batch: int, room: int) -> tuple[Array, ...]:
        """The memory of `onward` before the first row."""
        nothing = jnp.zeros((batch, room, self.out.bias.size), self.out.bias.dtype)
        return nothing, nothing, *((self.convolution.start(batch),) if self.convolution else ())

    def onward(
        self, memory: tuple[Array, ...], count: Array, rows: Array, noise: Noise
    ) -> tuple[Any, Array]:
        """Every row sees itself and the rows before it, as many in all as the memory holds; and the
        memory after them.

        memory: keys and values (B, W, E) of the last W rows, the newest last, and what the
        convolution keeps.
        count: how many rows there have been.
        """
        mixed, kept_rows = self._convolved(self.mix(self._entering(rows)), memory[2:])
        queries, keys, values = jnp.split(mixed, 3, axis=-1)
        queries, keys = self._placed(count + jnp.arange(rows.shape[1]), queries, keys)
        keys, values = (
            jnp.concatenate([old, new], axis=1)
            for old, new in zip(memory[:2], (keys, values), strict=True)
        )
        room, place = memory[0].shape[1], jnp.arange(rows.shape[1])[:, None]
        distance = room + place - jnp.arange(keys.shape[1])
        seen = (distance >= 0) & (distance < room) & (distance <= count + place)
        kept = noise.shares(self.heads, room)
        if kept is not None:  # by distance: a row has the same noise alone and among others
            kept = jnp.take_along_axis(kept, (distance % room)[None, None], axis=-1)
        read = self._attended(queries, keys, values, seen, kept, noise.factor)
        return (keys[:, -room:], values[:, -room:], *kept_rows), self._continued(rows, read, noise)

    def from_start(
        self,
        rows: Array,
        places: Array | None,
        present: Array | None,
        noise: Noise,
        room: int,
        mapped: Callable[[Affine], Array] | None = None,
    ) -> Array:
        """The rows at some places (B, Q), or all, of sequences that are read from their beginning.

        Every row sees all rows of its sequence that are present (B, T); without that, itself and
        the rows before it, as many in all as there is room for. mapped: what an affine map makes of
        the rows, where there is a shorter way.
        """
        mapped = mapped or (lambda affine: affine(self._entering(rows)))
        width, steps = rows.shape[-1], rows.shape[1]
        chosen, times = rows, jnp.arange(steps)[None]
        if places is not None:
            chosen, times = jnp.take_along_axis(rows, places[:, :, None], axis=1), places
        if places is None or self.convolution:
            mixed, _ = self._convolved(mapped(self.mix), self.start(len(rows), 0)[2:])
            queries, keys, values = jnp.split(mixed, 3, axis=-1)
            if places is not None:
                queries = jnp.take_along_axis(queries, places[:, :, None], axis=1)
        else:
            queries = self.mix.columns(0, width)(self._entering(chosen))
            keys, values = jnp.split(mapped(self.mix.columns(width, 3 * width)), 2, axis=-1)
        queries, keys = *self._placed(times, queries), *self._placed(jnp.arange(steps), keys)
        kept = noise.shares(self.heads, steps if present is not None else room)
        if present is not None:
            seen = present[:, None, None]
        else:
            distance = (times[:, :, None] - jnp.arange(steps))[:, None]
            seen = (distance >= 0) & (distance < room)
            kept = None if kept is None else jnp.take_along_axis(kept, distance % room, axis=-1)
        return self._continued(
            chosen, self._attended(queries, keys, values, seen, kept, noise.factor), noise
        )

    def blocks(self, rate: float, keys: int) -> list[int]:
        """Blocks of noise of a row that looks at so many keys: their words, for heads and for three
        parts of rows.
        """
        number, widest = Dropout(rate).blocks, max(self.out.bias.size, self.widen.bias.size)
        return [keys] * number(self.heads) + [widest] * number(3)

    def _entering(self, rows: Array) -> Array:
        """What a part of the layer reads: the rows, or their norm."""
        return self.norms[0](rows) if self.first else rows

    def _convolved(
        self, mixed: Array, before: tuple[Array, ...]
    ) -> tuple[Array, tuple[Array, ...]]:
        """Queries, keys and values (B, T, 3 E) after the convolution, and its kept inputs;
        unchanged without a convolution.
        """
        if self.convolution is None:
            return mixed, ()
        after, convolved = self.convolution.unroll(before[0], jnp.swapaxes(mixed, 0, 1))
        return jnp.swapaxes(convolved, 0, 1), (after,)

    def _placed(self, positions: Array, *parts: Array) -> tuple[Array, ...]:
        """Queries or keys (B, T, E) at some positions (T,) or (B, T)."""
        return (
            tuple(rotated(part, positions, self.heads) for part in parts) if self.rotary else parts
        )

    def _attended(
        self,
        queries: Array,
        keys: Array,
        values: Array,
        seen: Array,
        kept: Array | None,
        factor: float,
    ) -> Array:
        """(B, T, E). seen: which keys a query sees, and kept: as (B, heads, T, K) or shorter."""
        queries, keys, values = (
            part.reshape(*part.shape[:2], self.heads, -1) for part in (queries, keys, values)
        )
        queries = jnp.swapaxes(queries, 1, 2) / np.float32(np.sqrt(queries.shape[-1]))
        keys, values = (
            lax.optimization_barrier(part.transpose(0, 2, 3, 1)) for part in (keys, values)
        )
        read = attend(factor, queries, keys, values, seen, kept)
        return self.out(read.transpose(0, 3, 1, 2).reshape(len(read), read.shape[-1], -1))

    def _continued(self, rows: Array, read: Array, noise: Noise) -> Array:
        """What follows attention."""
        if self.first:
            rows = rows + noise(read)
            return rows + noise(self.narrow(noise(jax.nn.relu(self.widen(self.norms[1](rows))))))
        rows = self.norms[0](rows + noise(read))
        return self.norms[1](rows + noise(self.narrow(noise(jax.nn.relu(self.widen(rows))))))


def rotated(rows: Array, positions: Array, heads: int) -> Array:
    """Rows (B, T, E) with every pair of features of a head rotated by position times a rate.

    A product of two such rows depends on their distance, not on their positions (Su et al. 2021).
    positions: (T,) or (B, T). Rates fall from 1 to nearly 1/10,000 over the pairs of a head.
    """
    parts = rows.reshape(*rows.shape[:2], heads, -1, 2)
    pairs = parts.shape[3]
    angles = positions[..., None, None] * jnp.exp(jnp.arange(pairs) * (-np.log(10_000.0) / pairs))
    sine, cosine = jnp.sin(angles), jnp.cos(angles)
    one, two = parts[..., 0], parts[..., 1]
    turned = (one * cosine - two * sine, one * sine + two * cosine)
    return jnp.stack(turned, axis=-1).reshape(rows.shape)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def attend(
    factor: float, queries: Array, keys: Array, values: Array, seen: Array, kept: Array | None
) -> Array:
    """(B, heads, D, T): means of the values, weighted by the softmax of the products of queries and
    keys.

    queries: (B, heads, T, D); keys, values: (B, heads, D, K). seen: which keys count, as (B, heads,
    T, K) or shorter. kept: weights that dropout does not leave out; they are multiplied by the
    factor.
    """
    return _attend(factor, queries, keys, values, seen, kept)[0]


def _attend(
    factor: float, queries: Array, keys: Array, values: Array, seen: Array, kept: Array | None
) -> tuple[Array, tuple[Any, ...]]:
    scores = jnp.where(seen, queries @ keys, -1e30)
    weights = jnp.exp(scores - scores.max(axis=-1, keepdims=True))
    # Divided after the product: there are fewer features than keys.
    scale = np.float32(factor) / weights.sum(axis=-1)
    thinned = weights if kept is None else jnp.where(kept, weights, 0.0)
    read = jnp.einsum("bhdk,bhtk->bhdt", values, thinned) * scale[:, :, None]
    return read, (queries, keys, values, weights, thinned, scale, read)


def _attend_back(
    factor: float, saved: tuple[Any, ...], gradient: Array
) -> tuple[Array | None, ...]:
    """Gradients by products of matrices that lie as a CPU wants them: a third of the time of those
    that do not.
    """
    queries, keys, values, weights, thinned, scale, read = saved
    scaled = gradient * scale[:, :, None]
    of_values = scaled @ thinned
    of_thinned = lax.optimization_barrier(jnp.swapaxes(scaled, 2, 3)) @ values
    through_sum = ((gradient * read).sum(axis=2) * scale / np.float32(factor))[..., None]
    of_scores = thinned * of_thinned - weights * through_sum
    of_queries = jnp.swapaxes(jnp.einsum("bhdk,bhtk->bhdt", keys, of_scores), 2, 3)
    of_keys = lax.optimization_barrier(jnp.swapaxes(queries, 2, 3)) @ of_scores
    return of_queries, of_keys, of_values, None, None


attend.defvjp(_attend, _attend_back)


def draw_layer(
    embedding: int,
    hidden: int,
    heads: int,
    rng: np.random.Generator,
    alike: bool = False,
    first: bool = False,
    rotary: bool = False,
    convolved: bool = False,
) -> EncoderLayer:
    """Weights as PyTorch's layer of this kind draws them, in the order of the fields.

    alike: keys start as queries. first, rotary: as in the layer. convolved: with a convolution,
    drawn last.
    """

    def uniform(bound: float, *shape: int) -> Array:
        return jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32)

    def affine(inputs: int, outputs: int) -> Affine:
        bound = 1.0 / np.sqrt(inputs)
        return Affine(uniform(bound, inputs, outputs), uniform(bound, outputs))

    def norm() -> Norm:
        return Norm(jnp.ones(embedding), jnp.zeros(embedding))

    mix = uniform(np.sqrt(6.0 / (4 * embedding)), embedding, 3 * embedding)
    if alike:
        mix = mix.at[:, embedding : 2 * embedding].set(mix[:, :embedding])
    parts = (
        Affine(mix, jnp.zeros(3 * embedding)),
        Affine(uniform(1.0 / np.sqrt(embedding), embedding, embedding), jnp.zeros(embedding)),
        affine(embedding, hidden),
        affine(hidden, embedding),
    )
    convolution = (
        jax.tree.map(jnp.float32, draw_convolution(3 * embedding, rng)) if convolved else None
    )
    return EncoderLayer(*parts, (norm(), norm()), heads, first, rotary, convolution)


class Dropout:
    """A rate above 0, as sampled: exact if it is a multiple of 1/256, else rounded to
    1/65,536.

    parts: numbers that one word of 32 bits decides about, as many as the rate allows. factor: what
    kept numbers are multiplied by, the inverse of the share that is truly kept, so that the mean
    stays.
    """

    def __init__(self, rate: float) -> None:
        self._bits = next(
            bits for bits in (1, 2, 4, 8, 16) if bits == 16 or float(rate * 2**bits).is_integer()
        )
        kept = min(2**self._bits - 1, round((1.0 - rate) * 2**self._bits))
        self._below = np.uint32(kept << (32 - self._bits))
        self.parts = 32 // self._bits
        self.factor = 2**self._bits / kept

    def blocks(self, count: int) -> int:
        """How many blocks of words decide about so many things."""
        return -(-count // self.parts)

    def kept(self, words: Array, part: Any) -> Array:
        """The part of each random word, counted from the highest bits, that decides what is
        kept.
        """
        return words << (part * np.uint32(self._bits)) < self._below


class Noise:
    """What dropout leaves out of some rows, taken place by place. A word of a block decides, by its
    parts, about the same number of several heads, or of several rows taken one after the other.

    rate: share left out. keys: of the step that each row is, (B, T), None for no noise. widths:
    words of each block. first, of: the number of the first of these blocks, and how many a network
    has in all. A word's place in its key's draw depends on its sequence, its block and its place
    there, and on nothing else: a step has the same noise whether it is read alone or among others,
    and for any padding. taken: words taken so far.
    """

    def __init__(
        self, rate: float, keys: Array | None, widths: Sequence[int], first: int, of: int
    ) -> None:
        self._words, self.taken = None, 0
        self._rows: tuple[Array, int] | None = None
        if keys is None:
            return
        self._dropout = Dropout(rate)
        self._widest = widths[-1]
        places = np.concatenate(
            [np.arange(width) * of + first + block for block, width in enumerate(widths)]
        )
        self._words = _drawn(
            keys, (places * len(keys) + np.arange(len(keys))[:, None]).astype(np.uint32)
        )

    @property
    def factor(self) -> float:
        """What kept numbers are multiplied by."""
        return 1.0 if self._words is None else self._dropout.factor

    def __call__(self, rows: Array) -> Array:
        """Rows (B, T, E) with some of their numbers left out. The last blocks are for these, as
        wide as the widest.
        """
        if self._words is None:
            return rows
        if self._rows is None or self._rows[1] == self._dropout.parts:
            self._rows = self._take(self._widest), 0
        words, part = self._rows
        self._rows = words, part + 1
        kept = self._dropout.kept(words[..., : rows.shape[-1]], np.uint32(part))
        return jnp.where(kept, rows * np.float32(self.factor), 0.0)

    def shares(self, heads: int, keys: int) -> Array | None:
        """What attention keeps, booleans (B, heads, T, keys); None for everything."""
        if self._words is None:
            return None
        blocks, parts = self._dropout.blocks(heads), min(heads, self._dropout.parts)
        words = self._take(blocks * keys)
        words = jnp.swapaxes(words.reshape(*words.shape[:2], blocks, keys), 1, 2)
        kept = self._dropout.kept(
            words[:, :, None], np.arange(parts, dtype=np.uint32)[:, None, None]
        )
        return kept.reshape(len(kept), blocks * parts, *kept.shape[3:])[:, :heads]

    def _take(self, count: int) -> Array:
        first, self.taken = self.taken, self.taken + count
        return self._words[..., first : self.taken]  # type: ignore[index]


def _drawn(keys: Array, places: NDArray[np.uint32]) -> Array:
    """(B, T, N) words for keys (B, T) and places (B, N)."""

    def one_by_one(keys: Array) -> Array:
        return lax.map(
            lambda both: threefry(both[0][:, None], both[1]), (keys, jnp.asarray(places))
        )

    # What a loop gives is drawn once. Without one, a CPU draws it again for every use, and for each
    # part of a word.
    return lax.platform_dependent(
        keys, cpu=one_by_one, default=lambda keys: threefry(keys[:, :, None], places[:, None])
    )


def threefry(keys: Array, places: Array) -> Array:
    """Random words: entry n of `jax.random.bits(key, shape)`, for keys and places n that are
    broadcast to each other.

    The generator (Threefry-2x32, Salmon et al. 2011) is written out, so that it is one loop over
    all numbers: four times faster on a CPU than the rounds one after the other, each over all
    numbers, and compiled sooner.
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
    return left ^ right
