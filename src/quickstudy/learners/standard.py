"""Features with zero mean and unit variance, by running statistics: the scale a gradient step needs."""

from __future__ import annotations

from typing import Any, NamedTuple

from quickstudy.gateway import jnp, lax


class Statistics(NamedTuple):
    """Welford's running mean and sum of squared deviations (F,), over `count` rows."""

    count: Any
    mean: Any
    squares: Any

    @classmethod
    def empty(cls, width: int) -> Statistics:
        """Nothing seen."""
        return cls(jnp.zeros(()), jnp.zeros(width), jnp.zeros(width))

    @classmethod
    def whole(cls, rows: Any, counted: Any) -> Statistics:
        """Of all counted rows, in two passes over blocks of them: a copy of all would be as large as all."""
        block = min(1024, len(rows))
        starts = jnp.arange(0, len(rows), block)

        def total(value: Any) -> Any:
            def add(sums: Any, start: Any) -> Any:
                # The last block begins early enough to be whole; what it shares with the one before counts once.
                first = jnp.minimum(start, len(rows) - block)
                part = lax.dynamic_slice_in_dim(rows, first, block)
                fresh = first + jnp.arange(block) >= start
                weight = (lax.dynamic_slice_in_dim(counted, first, block) & fresh)[:, None].astype(rows.dtype)
                return sums + (value(part) * weight).sum(axis=0), None

            return lax.scan(add, jnp.zeros(rows.shape[1], rows.dtype), starts)[0]

        count = counted.sum().astype(rows.dtype)
        mean = total(lambda part: part) / count
        return cls(count, mean, total(lambda part: (part - mean) ** 2))

    def seen(self, row: Any) -> Statistics:
        """With one more row."""
        count = self.count + 1.0
        difference = row - self.mean
        mean = self.mean + difference / count
        return Statistics(count, mean, self.squares + difference * (row - mean))

    def inverse(self) -> Any:
        """One over the population deviation; 1 for a column that has not varied."""
        variance = self.squares / jnp.maximum(self.count, 1.0)
        constant = variance <= 1e-12
        return jnp.where(constant, 1.0, lax.rsqrt(jnp.where(constant, 1.0, variance)))

    def standardised(self, row: Any) -> Any:
        """The row with the mean taken off, over the deviation."""
        return (row - self.mean) * self.inverse()

    def linear(self, weights: Any, bias: Any, rows: Any) -> Any:
        """(R, V) values of weights (V, F) on standardised rows, without standardising the rows themselves."""
        scaled = weights * self.inverse()
        # Row by row: a matrix product may round the last rows differently, and classes that are level would not be.
        return rows @ scaled.T + (bias - (scaled * self.mean).sum(axis=1))
