"""Batch normalisation (Ioffe and Szegedy 2015) of rows that may count in different parts."""

from __future__ import annotations

from typing import Any, NamedTuple

from quickstudy.gateway import eqx, jnp, lax

MEMORY = 0.1
"""Part of a new batch in what is remembered."""
_TINY = 1e-5


class Noted(NamedTuple):
    """Mean and variance (features,) as remembered over batches."""

    mean: Any
    variance: Any


class BatchNorm(eqx.Module):
    """Zero mean and unit variance over a batch, then a scale and a shift for each feature.

    While learning, by the batch's own mean and (population) variance; they go into a running mean with the sample
    variance, by which rows are normalised when answering.
    """

    scale: Any
    shift: Any

    @classmethod
    def fresh(cls, width: int) -> BatchNorm:
        """Scale 1, shift 0."""
        return cls(jnp.ones(width), jnp.zeros(width))

    def notes(self) -> Noted:
        """Before any batch: mean 0, variance 1."""
        return Noted(jnp.zeros_like(self.shift), jnp.ones_like(self.scale))

    def __call__(self, rows: Any, shares: Any, noted: Noted, *, learning: bool) -> tuple[Any, Noted]:
        """Rows (row, feature), counted where their share is above 0; and what is noted after them."""
        used = noted
        if learning:
            counted = (shares > 0).astype(rows.dtype)[:, None]
            count = counted.sum()
            mean = (counted * rows).sum(axis=0) / count
            variance = (counted * jnp.square(rows - mean)).sum(axis=0) / count
            used = Noted(mean, variance)
            sample = variance * count / jnp.maximum(count - 1.0, 1.0)
            noted = Noted(
                noted.mean + MEMORY * (lax.stop_gradient(mean) - noted.mean),
                noted.variance + MEMORY * (lax.stop_gradient(sample) - noted.variance),
            )
        return (rows - used.mean) * lax.rsqrt(used.variance + _TINY) * self.scale + self.shift, noted
