"""What the states of a driven system hold of its inputs: one factorisation of a harvest, and all
that follows from it.

A harvest is a table of states (time, size), one row after each input has been read: delay 0 is the
input just read. Its factorisation is made once. In-sample capacities are then products with it,
memory and processing capacity alike; ranks come from its small triangle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError

P_VALUE, FACTOR = 1e-4, 2.0
"""How rarely a capacity without memory may pass the threshold, and the factor on top of it (Dambre
et al. 2012).
"""
RIDGE = 1e-9
"""Of the mean square of a centred state: what is added where a fit is tested on other steps."""
THRESHOLDS = (0.1, 0.01, 0.001, 1e-6)
"""Of the largest singular value: the thresholds under which ranks are given."""
SHARE = 0.99
"""Of the sum of singular values: those that CHARC counts make up this much."""
LOST = 1e-2
"""How far from orthonormal columns may be that another factor of their Gram matrix makes
orthonormal to rounding.
"""
BYTES = 1 << 25
"""Of targets that are held at once."""
TOO_LATE = (
    "the largest delay is {0}, but only {1} inputs come before the first state that is measured; "
    "give a washout of {0} steps or more, or smaller delays"
)


@dataclass(frozen=True)
class Harvest:
    """The states (time, size) of a system, without those of the washout. A constant state tells
    nothing and is left out of everything (`kept`, `constant`). Raises UsageError for states that
    are not finite, or too few.
    """

    table: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or not np.isfinite(self.table).all():
            raise UsageError("states must be finite numbers by (step, state)")
        if self.size == 0:
            raise UsageError("all states are constant: there is nothing to measure")
        if self.steps <= self.size + 1:
            raise UsageError(
                f"{self.steps} steps are too few for {self.size} states; give more steps"
            )

    @cached_property
    def kept(self) -> NDArray[np.bool_]:
        """Which states change at all."""
        return np.asarray(np.ptp(self.table, axis=0) > 0)

    @property
    def constant(self) -> int:
        """How many states never change."""
        return int((~self.kept).sum())

    @property
    def steps(self) -> int:
        """Rows."""
        return len(self.table)

    @property
    def size(self) -> int:
        """States that change."""
        return int(self.kept.sum())

    @cached_property
    def states(self) -> NDArray[np.float64]:
        """Those that change, in double precision."""
        return np.asarray(self.table[:, self.kept], dtype=np.float64)

    @cached_property
    def _factors(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # A constant in front: the other columns of the first factor then span the centred states.
        return orthonormal_columns(np.column_stack([np.ones(self.steps), self.states]))

    @cached_property
    def singular_values(self) -> NDArray[np.float64]:
        """Of the raw states, not centred, the largest first."""
        return np.asarray(np.linalg.svd(self._factors[1][:, 1:], compute_uv=False))

    @cached_property
    def span(self) -> NDArray[np.float64]:
        """(time, rank): orthonormal columns that span the centred states."""
        whole, triangle = self._factors
        values = np.linalg.svd(triangle[1:, 1:], compute_uv=False)
        # Of states far from 0, centring leaves rounding of the size of their mean.
        noise = (
            self.steps
            * np.finfo(np.float64).eps
            * max(float(self.singular_values[0]), float(values[0]))
        )
        rank = int((values > noise).sum())
        if rank == self.size:
            return whole[:, 1:]
        return np.asarray(whole[:, 1:] @ np.linalg.svd(triangle[1:, 1:])[0][:, :rank])

    @property
    def rank(self) -> int:
        """Of the centred states, to the precision of double numbers: the bound of all capacity
        together.
        """
        return int(self.span.shape[1])

    def capacity(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """(target,): the share of the variance of targets (target, time) that a fit to all steps
        explains.
        """
        found = np.square(targets @ self.span).sum(axis=1)
        spread = np.square(targets).sum(axis=1) - self.steps * targets.mean(axis=1) ** 2
        return np.asarray(np.where(spread > 0, found / np.where(spread > 0, spread, 1.0), 0.0))

    def threshold(self, p: float = P_VALUE, factor: float = FACTOR) -> float:
        """What an in-sample capacity must reach to count: factor * t / steps, t the upper p
        quantile of a chi-squared with as many degrees of freedom as the states have dimensions.

        >>> rng = np.random.default_rng(0)
        >>> round(Harvest(rng.uniform(-1, 1, (10_000, 20))).threshold(), 6)
        0.010477
        """
        return significance(self.rank, self.steps, p, factor)

    def memory(self, inputs: NDArray[np.float64], delays: Sequence[int]) -> NDArray[np.float64]:
        """(delay,): in-sample capacity for inputs of some steps ago. inputs: up to the last row,
        washout included.
        """
        return np.concatenate(
            [self.capacity(targets) for targets in _blocks(inputs, delays, self.steps)]
        )

    def memory_split(
        self, inputs: NDArray[np.float64], delays: Sequence[int], train: int
    ) -> NDArray[np.float64]:
        """(delay,): the same by a fit to the first `train` rows, as a squared correlation on all
        others.
        """
        from scipy.linalg import cho_factor, cho_solve

        if not self.size + 1 < train < self.steps - 1:
            raise UsageError(
                f"steps to train on must lie between {self.size + 2} (more than states) and"
                f" {self.steps - 2} (some are left to test on), got {train}"
            )
        shown = self.states[:train] - self.states[:train].mean(axis=0)
        squares = shown.T @ shown
        squares[np.diag_indices_from(squares)] += RIDGE * np.trace(squares) / self.size
        factor = cho_factor(squares)

        def tested(targets: NDArray[np.float64]) -> NDArray[np.float64]:
            weights = cho_solve(
                factor, shown.T @ (targets[:, :train].T - targets[:, :train].mean(axis=1))
            )
            given, asked = self.states[train:] @ weights, targets[:, train:].T
            given, asked = given - given.mean(axis=0), asked - asked.mean(axis=0)
            both = np.square(given).sum(axis=0) * np.square(asked).sum(axis=0)
            return np.asarray(
                np.square((given * asked).sum(axis=0)) / np.where(both > 0, both, 1.0)
            )

        return np.concatenate([tested(targets) for targets in _blocks(inputs, delays, self.steps)])


def _blocks(
    inputs: NDArray[np.float64], delays: Sequence[int], steps: int
) -> Iterator[NDArray[np.float64]]:
    """(delay, steps): the inputs (time,) of so many steps ago, for each of the last `steps` steps,
    some at a time.
    """
    before = len(inputs) - steps
    if max(delays) > before:
        raise UsageError(TOO_LATE.format(max(delays), before))
    together = max(1, BYTES // (8 * steps))
    for first in range(0, len(delays), together):
        chosen = delays[first : first + together]
        yield np.stack([inputs[before - delay : len(inputs) - delay] for delay in chosen])


def orthonormal_columns(
    rows: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A table (row, column) as one with orthonormal columns, times an upper triangle.

    By two Cholesky factors of Gram matrices, which are products and faster than reflections: the
    second restores what the first has lost, unless that was too much; then by reflections.
    """
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    found, triangle = rows, np.eye(rows.shape[1])
    try:
        for last in (False, True):
            squares = found.T @ found
            if last and np.abs(squares - np.eye(len(squares))).max() > LOST:
                return np.linalg.qr(rows)
            upper = cholesky(squares)
            found, triangle = solve_triangular(upper, found.T, trans="T").T, upper @ triangle
    except LinAlgError:
        return np.linalg.qr(rows)
    return found, triangle


def significance(freedom: int, steps: int, p: float = P_VALUE, factor: float = FACTOR) -> float:
    """What a capacity that was measured on some steps must reach. freedom: dimensions of the states
    where it is the fit itself that is measured, 1 where the fit is tested on other steps.
    """
    from scipy.special import chdtri

    return float(factor * chdtri(freedom, p) / steps)


def ranks(singular_values: NDArray[np.float64]) -> dict[str, int]:
    """The rank under every threshold in use: singular values above 0.1, 0.01, 0.001 and 1e-06 of
    the largest; `charc`: how many, from the largest on, make up 0.99 of the sum of all.

    >>> ranks(np.array([10.0, 1.5, 0.05, 0.0]))
    {'0.1': 2, '0.01': 2, '0.001': 3, '1e-06': 3, 'charc': 2}
    """
    values = np.sort(np.asarray(singular_values, dtype=np.float64))[::-1]
    found = {
        f"{threshold:g}": int((values > threshold * values[0]).sum()) for threshold in THRESHOLDS
    }
    if values[0] <= 0:
        return {**found, "charc": 0}
    # The sum may round to just below the share of itself that it is.
    enough = np.cumsum(values) >= SHARE * values.sum() * (1 - 1e-12)
    return {**found, "charc": int(np.argmax(enough)) + 1}


def effective_rank(singular_values: NDArray[np.float64]) -> float:
    """The exponential of the entropy of the singular values as shares of their sum; 0 if all are 0.
    (Roy and Vetterli 2007.)

    >>> effective_rank(np.array([2.0, 2.0, 0.0]))
    2.0
    """
    total = float(np.sum(singular_values))
    if total <= 0:
        return 0.0
    shares = singular_values[singular_values > 0] / total
    return float(np.exp(-(shares * np.log(shares)).sum()))
