"""A memory that looks up its own past: what followed when the same was read before, how often, and in what company."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.catalogue import core
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Space, Tokens
from quickstudy.cores.core import Array, Reservoir
from quickstudy.gateway import eqx, jax, jnp


class RecallCore(Reservoir):
    """The state holds the past: symbols (T, B), how far each place agrees with the present (T, B), traces (T, B, D V).

    Features, all from what has been read so far:
    - for every length n up to `order`: the symbol that followed the last earlier place that agrees with the last n
      symbols (order V), and how many such places there are (order `most`);
    - the last `lags` symbols themselves (lags V), and how often each symbol has been read (V);
    - for each of the last `lags` symbols: the company in which it was read the last time before, as fading traces of
      the symbols up to there (lags D V).
    """

    decays: Array
    size: int = eqx.field(static=True)
    order: int = eqx.field(static=True)
    lags: int = eqx.field(static=True)
    most: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        """Number of features."""
        return self.order * (self.size + self.most) + self.lags * self.size * (1 + len(self.decays)) + self.size

    def start(self, batch: int, capacity: int) -> tuple[Array, ...]:
        """Nothing read. The symbol `size` stands for places that have not been reached."""
        empty = jnp.full((capacity, batch), self.size, jnp.int32)
        traces = jnp.zeros((capacity, batch, len(self.decays) * self.size))
        trace = jnp.zeros((batch, len(self.decays), self.size))
        return jnp.zeros((), jnp.int32), empty, jnp.zeros_like(empty), traces, trace, jnp.zeros((batch, self.size))

    def step(self, state: tuple[Array, ...], x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """Write the symbol down, then look back."""
        now, past, agreement, traces, trace, counts = state
        places = jnp.arange(len(past))[:, None]
        # Agreement of place s with the present: one more than place s-1 agreed with the step before, if symbols match.
        before = jnp.concatenate([jnp.zeros_like(agreement[:1]), agreement[:-1]])
        agreement = jnp.where((past == x) & (places < now), before + 1, 0)
        past = past.at[now].set(x)
        read = jax.nn.one_hot(x, self.size)
        trace = trace * self.decays[:, None] + read[:, None]
        traces = traces.at[now].set(trace.reshape(len(x), -1))
        counts = counts + read
        features = [*self._followers(past, agreement, places), counts / 4.0]
        for lag in range(self.lags):
            features += self._company(past, traces, now - lag, places)
        return (now + 1, past, agreement, traces, trace, counts), jnp.concatenate(features, axis=1)

    def _followers(self, past: Array, agreement: Array, places: Array) -> list[Array]:
        follows = jnp.concatenate([past[1:], past[:1]])
        features = []
        for length in range(1, self.order + 1):
            agrees = agreement >= length
            last = jnp.max(jnp.where(agrees, places, -1), axis=0)
            follower = jnp.where(last >= 0, jnp.take_along_axis(follows, jnp.maximum(last, 0)[None], axis=0)[0], -1)
            features.append(jax.nn.one_hot(follower, self.size))
            features.append(jax.nn.one_hot(jnp.minimum(agrees.sum(axis=0), self.most - 1), self.most))
        return features

    def _company(self, past: Array, traces: Array, place: Array, places: Array) -> list[Array]:
        """The symbol at a place, and the traces at the last place before it that held the same symbol."""
        symbol = jnp.where(place >= 0, past[jnp.maximum(place, 0)], self.size)
        last = jnp.max(jnp.where((past == symbol) & (places < place) & (symbol < self.size), places, -1), axis=0)
        found = jnp.take_along_axis(traces, jnp.maximum(last, 0)[None, :, None], axis=0)[0]
        return [jax.nn.one_hot(symbol, self.size), jnp.where(last[:, None] >= 0, found, 0.0)]


@core("recall", version=1)
@dataclass(frozen=True)
class Recall:
    """Looks up its own past: what followed, how often, and in what company; never trained.

    order: longest stretch of symbols that is looked up. lags: how many of the last symbols are looked up for their
    company. most: counts are told apart up to this. slow, fast: how much of a trace is left after a step, for two
    traces. Nothing is random. Symbols only. Its usual training is recursive least squares.

    Source: ours; suffix matching as in data compression (Cleary and Witten 1984), company as in fast weights.
    """

    order: int = parameter(10, at_least=1, at_most=64)
    lags: int = parameter(3, at_least=1, at_most=16)
    most: int = parameter(12, at_least=2)
    slow: float = parameter(0.9, above=0, at_most=1)
    fast: float = parameter(0.6, above=0, at_most=1)

    frozen: ClassVar[bool] = True
    training: ClassVar[str] = "rls"
    draws: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def build(self, inputs: Space, rng: np.random.Generator) -> RecallCore:
        """Nothing is drawn."""
        if not isinstance(inputs, Tokens):
            raise UsageError(f"recall reads symbols only, not {inputs}; use esn")
        decays = jnp.asarray([self.slow, self.fast], jnp.float32)
        return RecallCore(decays, inputs.size, self.order, self.lags, self.most)
