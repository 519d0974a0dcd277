"""A memory that looks up similar past inputs, and outputs what followed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import Array, Reservoir
from quickstudy.cores.quantiser import as_symbol, even_levels, symbols_in
from quickstudy.jax_gateway import eqx, jax, jnp

RECORD_KEPT = 0.9
"""How much of a guesser's record within a sequence is left after a step."""


class Codebook(NamedTuple):
    """What the features of a core are, when they are codes: whole numbers that encode something.

    symbols: so many of the codes, the first ones, are symbols (one more than the last symbol means
    none); the rest are small numbers. context: so many of the symbols, the first ones, are the last
    ones read. levels: codes lie in 0 .. levels-1. depth: (code,) how far back the symbols stood
    whose places were looked up, in all. plain: (code,) whether nothing was looked up.
    """

    symbols: int
    context: int
    levels: int
    depth: NDArray[np.float64]
    plain: NDArray[np.bool_]


class _State(NamedTuple):
    """past: (T, B) symbols. agreement: (T, B) how far back each place agrees with the present.
    last: (T+1, B, V) the last place before each step that held each symbol, or -1. counts: (B, V).
    guesses, record: (guesser, B).
    """

    now: Array
    past: Array
    agreement: Array
    last: Array
    counts: Array
    runs: RunLengths
    guesses: Array
    record: Array


class RecallCore(Reservoir):
    """Features are codes, in this order; `around +1` is the symbol that stands one after a place.

    Symbols: the last `lags` ones; around -2, -1, +1, +2 of the last earlier place of each of them;
    around -1, +1 of the last place of one of them before that of another (two looks, `hops` x
    `hops`); what followed the last earlier place that agrees with the last n, n = 1 .. order;
    around -1, +1 of the last earlier place of each pair of neighbours among them; the guess.
    Numbers: how many earlier places agree with the last n; how often each of the last `lags`
    symbols has been read; how far it is from each place found (single or pair) to the next of the
    last `lags` symbols.

    The guess is what comes next by the guesser that has been right most in this very sequence, of
    late: the last symbol again, what followed the last n before, or the rhythm of R runs ago at the
    present tempo.
    """

    size: int = eqx.field(static=True)
    lags: int = eqx.field(static=True)
    hops: int = eqx.field(static=True)
    order: int = eqx.field(static=True)
    most: int = eqx.field(static=True)

    @property
    def codebook(self) -> Codebook:
        """What the codes are."""
        lag, pair, once = (
            np.arange(self.lags),
            2 * np.arange(self.lags - 1) + 1,
            np.zeros(self.order),
        )
        twice = np.add.outer(np.arange(self.hops), np.arange(self.hops)).ravel()
        # What agrees with the last n symbols is found without asking for any one of them; ten kinds
        # of it would outvote the rest, and the guess, which draws on all of them, represents them.
        symbols = [lag, *[lag] * 4, *[twice] * 2, once + 3, *[pair] * 2, np.full(1, -3)]
        numbers = [once, lag, lag, pair]
        depth = np.concatenate([*symbols, *numbers]).astype(np.float64)
        count = sum(len(part) for part in symbols)
        plain = np.arange(len(depth)) >= count
        plain[: self.lags] = True
        return Codebook(count, self.lags, max(self.size + 1, self.most), depth, plain)

    @property
    def width(self) -> int:
        """Number of codes."""
        return len(self.codebook.depth)

    def start(self, batch: int, capacity: int) -> _State:
        """Nothing read. The symbol `size` marks positions that have not been reached."""
        past = jnp.full((capacity, batch), self.size, jnp.int32)
        guessers = 1 + 2 * self.order
        return _State(
            now=jnp.zeros((), jnp.int32),
            past=past,
            agreement=jnp.zeros_like(past),
            last=jnp.full((capacity + 1, batch, self.size), -1, jnp.int32),
            counts=jnp.zeros((batch, self.size), jnp.int32),
            runs=RunLengths.none(self.order + 2, batch, self.size),
            guesses=jnp.full((guessers, batch), self.size, jnp.int32),
            record=jnp.zeros((guessers, batch)),
        )

    def step(self, state: _State, x: Any, *, key: Array | None = None) -> tuple[_State, Array]:
        """Write the symbol down, then look back."""
        now, batch, places = state.now, jnp.arange(len(x)), jnp.arange(len(state.past))[:, None]
        # Agreement of place s with the present: one more than place s-1 agreed with the step
        # before, if symbols match.
        before = jnp.concatenate([jnp.zeros_like(state.agreement[:1]), state.agreement[:-1]])
        state = state._replace(
            now=now + 1,
            agreement=jnp.where((state.past == x) & (places < now), before + 1, 0),
            past=state.past.at[now].set(x),
            last=state.last.at[now + 1].set(state.last[now].at[batch, x].set(now)),
            counts=state.counts.at[batch, x].add(1),
            runs=state.runs.read(x),
        )
        look = _Look(self, state, now)
        followers = look.followers
        guesses = jnp.stack([x, *followers, *state.runs.continued(self.order, self.size)])
        record = RECORD_KEPT * state.record + (state.guesses == x)
        best = jnp.argmax(jnp.where(guesses < self.size, record, -1.0), axis=0)
        symbols = [
            look.recent,
            *look.around(look.places, (-2, -1, 1, 2)),
            *look.around(look.second_places, (-1, 1)),
            jnp.stack(followers),
            *look.around(look.pair_places, (-1, 1)),
            jnp.take_along_axis(guesses, best[None], axis=0),
        ]
        numbers = [
            jnp.minimum(part, self.most - 1) for part in (look.matches, look.known, look.stretches)
        ]
        codes = jnp.concatenate([*symbols, *numbers]).T.astype(jnp.float32)
        return state._replace(guesses=guesses, record=record), codes


class _Look:
    """What stands where, seen from one step. Places are (..., B), -1 where there is none."""

    def __init__(self, core: RecallCore, state: _State, now: Array) -> None:
        self._core, self._state, self._now = core, state, now
        self._batch = jnp.arange(state.past.shape[1])
        self._everywhere = jnp.arange(len(state.past))[:, None]
        self._own = now - jnp.arange(core.lags)[:, None] + jnp.zeros_like(self._batch)
        self.recent = self._symbols(self._own)

    def _symbols(self, place: Array) -> Array:
        there = (place >= 0) & (place <= self._now)
        found = self._state.past[jnp.clip(place, 0, len(self._state.past) - 1), self._batch]
        return jnp.where(there, found, self._core.size)

    def _before(self, place: Array, symbol: Array) -> Array:
        """The last place before `place` that holds the symbol."""
        found = self._state.last[
            jnp.maximum(place, 0), self._batch, jnp.minimum(symbol, self._core.size - 1)
        ]
        return jnp.where((place >= 0) & (symbol < self._core.size), found, -1)

    def around(self, place: Array, offsets: tuple[int, ...]) -> list[Array]:
        """The symbols at some distances from places, (place, B) each."""
        shape = (-1, len(self._batch))
        none = self._core.size
        return [
            jnp.where(place >= 0, self._symbols(place + offset), none).reshape(shape)
            for offset in offsets
        ]

    @cached_property
    def places(self) -> Array:
        """(lags, B): of each of the last symbols, the last place before its own."""
        return self._before(self._own, self.recent)

    @cached_property
    def second_places(self) -> Array:
        """(hops, hops, B): of symbol m, the last place before that of symbol l, at [m, l]."""
        hops = self._core.hops
        return jnp.stack([self._before(self.places[:hops], self.recent[m]) for m in range(hops)])

    @cached_property
    def pair_places(self) -> Array:
        """(lags-1, B): of each symbol together with the one before it, the last place before their
        own.
        """
        past, size = self._state.past, self._core.size
        previous = jnp.concatenate([jnp.full_like(past[:1], size), past[:-1]])
        found = []
        for lag in range(self._core.lags - 1):
            first, second = self.recent[lag + 1], self.recent[lag]
            fits = (
                (past == second)
                & (previous == first)
                & (first < size)
                & (self._everywhere < self._now - lag)
            )
            found.append(jnp.max(jnp.where(fits, self._everywhere, -1), axis=0))
        return jnp.stack(found)

    @cached_property
    def followers(self) -> list[Array]:
        """For n = 1 .. order, what followed the last place that agrees with the last n symbols."""
        lengths = range(1, self._core.order + 1)
        last = [
            jnp.max(jnp.where(self._state.agreement >= n, self._everywhere, -1), axis=0)
            for n in lengths
        ]
        return [jnp.where(place >= 0, self._symbols(place + 1), self._core.size) for place in last]

    @property
    def matches(self) -> Array:
        """(order, B): how many places agree with the last n symbols."""
        lengths = jnp.arange(1, self._core.order + 1)[:, None, None]
        return (self._state.agreement >= lengths).sum(axis=1)

    @property
    def known(self) -> Array:
        """(lags, B): how often each of the last symbols has been read."""
        counts = self._state.counts[self._batch, jnp.minimum(self.recent, self._core.size - 1)]
        return jnp.where(self.recent < self._core.size, counts, 0)

    @property
    def stretches(self) -> Array:
        """(2 lags - 1, B): steps from the places found to the next of the last symbols, 0 where
        none was found.
        """
        starts = jnp.concatenate([self.places, self.pair_places])
        wanted = (self._state.past[:, None] == self.recent).any(axis=1) & (
            self._everywhere <= self._now
        )
        none = len(self._everywhere)
        ends = jnp.min(
            jnp.where(wanted & (self._everywhere > starts[:, None]), self._everywhere, none), axis=1
        )
        return jnp.where(starts >= 0, ends - starts, 0)


@core("recall", version=2)
@dataclass(frozen=True)
class Recall:
    """Lookup of what followed earlier occurrences of the current context; not trained.

    Its features are codes, so that its training for symbols is `voting`. For other trainings
    (reader `one-hot`, chosen automatically) some are one-hot: the last symbols, what followed
    before, and the prediction. Several inputs per step are one symbol; more than 64 combinations
    are reduced to 64 by a fixed remainder, so that different inputs may look equal. Nothing is
    random.

    Source: ours; suffix matching as in data compression (Cleary and Witten 1984), lookup by content
        as in attention.

    Parameters
    ----------
    lags:
        Last symbols that are looked up.
    hops:
        How many of these are looked up again from each other's positions.
    order:
        Longest context, and longest period, that is matched.
    most:
        Counts are distinguished up to this.
    levels:
        Thresholds that divide real numbers into intervals, evenly spaced from -`reach` to `reach`.
    reach:
        Largest threshold.
    reader:
        `codes` or `one-hot` features.
    """

    lags: int = parameter(8, at_least=2, at_most=16)
    hops: int = parameter(5, at_least=1, at_most=16)
    order: int = parameter(10, at_least=1, at_most=64)
    most: int = parameter(16, at_least=2)
    levels: int = parameter(15, at_least=1, added=True)
    reach: float = parameter(1.0, above=0, added=True)
    reader: str = parameter("codes", choices=("codes", "one-hot"), added=True, derived=True)

    frozen: ClassVar[bool] = True
    training: ClassVar[Mapping[str, str]] = {
        "symbols": "voting",
        "spans": "voting",
        "strings": "voting",
    }
    draws: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @property
    def coded(self) -> bool:
        """Whether its features are codes, which some trainings only can read."""
        return self.reader == "codes"

    def build(self, inputs: Space, rng: np.random.Generator) -> Any:
        """Nothing is drawn."""
        if self.hops > self.lags:
            raise UsageError(f"hops must be at most lags ({self.lags}), got {self.hops}")
        if isinstance(inputs, Tokens) and self.coded:
            return RecallCore(inputs.width, self.lags, self.hops, self.order, self.most)
        size = symbols_in(inputs, self.levels)
        inside = RecallCore(size, self.lags, self.hops, self.order, self.most)
        return ReadRecall(
            inside, inputs, tuple(even_levels(self.levels, self.reach).tolist()), self.coded
        )


class ReadRecall(Reservoir):
    """The same for inputs that are not symbols, or for trainings that read no codes. coded:
    features are its codes; else one-hot, of the last symbols, of what followed before, and of the
    guess.
    """

    inside: RecallCore
    space: Space = eqx.field(static=True)
    levels: tuple[float, ...] = eqx.field(static=True)
    coded: bool = eqx.field(static=True)

    @property
    def codebook(self) -> Codebook:
        """What the codes are."""
        return self.inside.codebook

    @property
    def _read(self) -> list[int]:
        """The numbers of the codes that are written one-hot."""
        lags, order = self.inside.lags, self.inside.order
        followed = 5 * lags + 2 * self.inside.hops**2
        return [*range(lags), *range(followed, followed + order), self.codebook.symbols - 1]

    @property
    def width(self) -> int:
        """Number of codes, or of their values."""
        return self.inside.width if self.coded else len(self._read) * (self.inside.size + 1)

    def start(self, batch: int, capacity: int) -> _State:
        """Nothing read."""
        return self.inside.start(batch, capacity)

    def step(self, state: _State, x: Any, *, key: Array | None = None) -> tuple[_State, Array]:
        """Read one value."""
        state, codes = self.inside.step(state, as_symbol(self.space, x, np.array(self.levels)))
        return state, codes if self.coded else self._one_hot(codes)

    def unroll(self, state: _State, xs: Any, *, key: Array | None = None) -> tuple[_State, Array]:
        """Read many."""
        state, codes = self.inside.unroll(state, as_symbol(self.space, xs, np.array(self.levels)))
        return state, codes if self.coded else self._one_hot(codes)

    def _one_hot(self, codes: Array) -> Array:
        chosen = jax.nn.one_hot(
            codes[..., np.array(self._read)].astype(jnp.int32), self.inside.size + 1
        )
        return chosen.reshape(*codes.shape[:-1], -1)


class RunLengths(NamedTuple):
    """The last runs of equal symbols, the present one first: lengths and symbols, (run, B)."""

    lengths: Array
    symbols: Array

    @classmethod
    def none(cls, kept: int, batch: int, size: int) -> RunLengths:
        """No runs yet; the symbol `size` marks none."""
        return cls(jnp.zeros((kept, batch), jnp.int32), jnp.full((kept, batch), size, jnp.int32))

    def read(self, x: Array) -> RunLengths:
        """One more symbol (B,): the present run goes on, or a new one begins."""
        same = self.symbols[0] == x
        lengths = jnp.where(
            same,
            self.lengths.at[0].add(1),
            jnp.concatenate([jnp.ones_like(x)[None], self.lengths[:-1]]),
        )
        symbols = jnp.where(same, self.symbols, jnp.concatenate([x[None], self.symbols[:-1]]))
        return RunLengths(lengths, symbols)

    def continued(self, most: int, size: int) -> list[Array]:
        """What comes next if the rhythm repeats after R runs at a changed tempo, for R = 1 .. most;
        `size`: unknown.

        The run R ago had length a, the one before it b, and the run before the present one has c:
        then the present one should have length a c / b. While it is shorter it goes on; after that
        comes the symbol that came then.
        """
        guesses = []
        for back in range(1, most + 1):
            known = (self.symbols[back] == self.symbols[0]) & (self.lengths[back + 1] > 0)
            shorter = (
                self.lengths[0] * self.lengths[back + 1] < self.lengths[back] * self.lengths[1]
            )
            goes_on = jnp.where(shorter, self.symbols[0], self.symbols[back - 1])
            guesses.append(jnp.where(known, goes_on, size))
        return guesses
