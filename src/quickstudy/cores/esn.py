"""Echo-state network: a large random recurrent layer that is never trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import core
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.spaces import Space
from quickstudy.cores.core import PRECISIONS, Array, InputWeights, Reservoir, at_precision
from quickstudy.gateway import eqx, jnp, lax


class EchoStateCore(Reservoir):
    """r <- (1 - leak) r + leak tanh(W r + W_in x + b). The state is (units, batch): a sparse W gathers whole rows.

    W comes in groups of units that take about equally many terms: unit i of a group adds strengths[k, i] *
    r[sources[k, i]] over k.
    """

    inputs: InputWeights
    sources: tuple[Array, ...]
    strengths: tuple[Array, ...]
    bias: Array
    leak: Array
    units: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        """One feature per unit."""
        return self.units

    def start(self, batch: int, capacity: int) -> Array:
        """All units at rest."""
        return jnp.zeros((self.units, batch), self.bias.dtype)

    def step(self, state: Array, x: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """One update. Nothing in it is random."""
        # Measured on a CPU, tokens a second at 64 sequences: a sum written out term by term is one fused loop and
        # gathers whole rows (300,000); one gather of (terms, units, batch) is stored first (50,000); joining the
        # groups by a concatenation makes XLA choose a group for every number (60,000).
        drive, first = jnp.zeros_like(state), 0
        for sources, strengths in zip(self.sources, self.strengths, strict=True):
            total = sum(strength[:, None] * state[source] for source, strength in zip(sources, strengths, strict=True))
            drive = lax.dynamic_update_slice(drive, total, (first, 0))
            first += sources.shape[1]
        drive = drive + self.inputs(x).T + self.bias[:, None]
        state = (1.0 - self.leak) * state + self.leak * jnp.tanh(drive)
        return state, state.T


@core("esn", version=1)
@dataclass(frozen=True)
class EchoState:
    """Echo-state network: sparse random recurrent units, never trained.

    units: size. terms: mean number of inputs that a unit takes from other units (each pair is joined with
    probability terms/units; with fewer units than terms, all are). radius: the spectral radius the recurrent matrix is
    scaled to; none leaves it as drawn, uniform in [-1, 1]. input_scale: input weights are uniform in +- this.
    bias_scale: two bias vectors, each uniform in +- this over the square root of units. leak: share of the state that
    is renewed at a step. precision: float32, or float64: the same weights, computed with in double precision.

    Source: Cisneros et al. 2022 (1,800 units, 10 terms, nothing rescaled: a radius of about 1.83), whose text has no
    biases. Where real numbers are asked for: 200 units, radius 0.9, input_scale 0.1; for whole strings: 200 units;
    in a world that gives rewards: 300 units, radius 0.9.
    """

    units: int = parameter(1800, at_least=1)
    terms: float = parameter(10.0, above=0)
    radius: float | None = parameter(None, above=0)
    input_scale: float = parameter(1.0, at_least=0)
    bias_scale: float = parameter(1.0, at_least=0)
    leak: float = parameter(1.0, above=0, at_most=1)
    precision: str = parameter("float32", choices=PRECISIONS, added=True)

    frozen: ClassVar[bool] = True
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"written": {"bias_scale": 0.0}}
    # Measured on NARMA-10, 2,000 steps to learn from, NRMSE of `ridge`: 0.20; with what is usual for symbols 0.74.
    # Strings are of three to five symbols, and a test of them has 50 million steps.
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "reals": {"units": 200, "radius": 0.9, "input_scale": 0.1},
        "strings": {"units": 200},
        "reward": {"units": 300, "radius": 0.9},
    }
    searched: ClassVar[Mapping[str, tuple[float, float]]] = {
        "radius": (0.01, 2.0), "input_scale": (0.0, 1.0), "bias_scale": (0.0, 1.0), "leak": (0.01, 1.0),
    }  # fmt: skip

    def build(self, inputs: Space, rng: np.random.Generator) -> EchoStateCore:
        """Weights in float32, drawn in the order recurrent, input, bias."""
        groups = sparse_weights(self.units, min(1.0, self.terms / self.units), rng)
        scale = 1.0 if self.radius is None else _scale_to(self.radius, groups)
        input_weights = rng.uniform(-1.0, 1.0, (inputs.width, self.units)) * self.input_scale
        bias = rng.uniform(-1.0, 1.0, (2, self.units)).sum(axis=0) * self.bias_scale / np.sqrt(self.units)
        core = EchoStateCore(
            InputWeights(jnp.asarray(input_weights, jnp.float32), inputs),
            tuple(jnp.asarray(sources, jnp.int32) for sources, _ in groups),
            tuple(jnp.asarray(strengths * scale, jnp.float32) for _, strengths in groups),
            jnp.asarray(bias, jnp.float32),
            jnp.float32(self.leak),
            self.units,
        )
        return at_precision(core, self.precision)  # type: ignore[no-any-return]


Groups: TypeAlias = list[tuple[NDArray[np.int64], NDArray[np.float64]]]


def sparse_weights(units: int, density: float, rng: np.random.Generator) -> Groups:
    """A square matrix with entries uniform in [-1, 1] with probability `density`, as groups of (sources, strengths).

    Units are numbered by falling number of entries (their numbers mean nothing else), and cut into groups; sources and
    strengths are (terms, units of the group), padded with strength zero. The terms of a group are enough for all but
    one in a thousand million draws: so all draws have the same shapes, seeds share compiled programs and run side by
    side, with hardly more work than there are entries.
    """
    degrees = np.sort(rng.binomial(units, density, units))[::-1]
    groups = []
    cuts = [int(share * units) for share in (0.03, 0.28, 0.63)] if units >= 64 else []
    for group in np.split(np.arange(units), cuts):
        first = int(group[0])
        terms = max(1, _order_bound(units, density, first), int(degrees[first]))
        # The first `degree` units of a random order are a uniform subset of that size.
        blocks = np.array_split(group, -(-len(group) // 128))  # the draws of 128 units stay in the cache
        sources = np.concatenate([smallest(rng.random((len(block), units)), terms) for block in blocks]).T
        strengths = rng.uniform(-1.0, 1.0, sources.shape)
        filled = np.arange(terms)[:, None] < degrees[group]
        groups.append((np.where(filled, sources, 0), np.where(filled, strengths, 0.0)))
    return groups


def _order_bound(units: int, density: float, place: int) -> int:
    """What the number of entries of the unit at this place, counted from the largest, exceeds once in 10^9 draws."""
    from scipy.special import bdtrc

    tail = bdtrc(np.arange(units + 1), units, density)
    # That unit exceeds a bound when more than `place` of all units do.
    return int(np.argmax(np.asarray(bdtrc(place, units, tail)) <= 1e-9))


def smallest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """(rows, count): in every row the indices of the `count` smallest values, in ascending order of value.

    The values are meant to be uniform in [0, 1): then a few of them are below a bound, and only these are sorted.
    """
    near = values < (count + 6 * np.sqrt(count) + 6) / values.shape[1]
    found = near.sum(axis=1)
    if found.min() < count:
        return np.argsort(values, axis=1, kind="stable")[:, :count]
    row, column = np.nonzero(near)
    ascending = np.lexsort((values[row, column], row))
    first = np.cumsum(found) - found
    return np.asarray(column[ascending[first[:, None] + np.arange(count)]])


def _scale_to(radius: float, groups: Groups) -> float:
    drawn = spectral_radius(groups)
    if drawn < 1e-9:
        raise UsageError(
            f"esn: the units that were drawn are joined in no loop, and cannot be scaled to radius {radius}; "
            "give more units or terms, or radius=none"
        )
    return radius / drawn


def spectral_radius(groups: Groups) -> float:
    """Largest modulus of the eigenvalues of the matrix that the groups stand for."""
    from scipy.sparse import csr_array

    sizes = [sources.shape[1] for sources, _ in groups]
    units = sum(sizes)
    targets = np.split(np.arange(units), np.cumsum(sizes)[:-1])
    rows = [np.broadcast_to(target, sources.shape) for target, (sources, _) in zip(targets, groups, strict=True)]
    row, column, value = (
        np.concatenate([part.ravel() for part in parts])
        for parts in (rows, [sources for sources, _ in groups], [strengths for _, strengths in groups])
    )
    matrix = csr_array((value, (row, column)), shape=(units, units))
    from scipy.sparse.linalg import ArpackError, eigs

    if units > 200:
        start = np.ones(units)  # ARPACK would otherwise draw a start of its own
        try:
            # Asked for one eigenvalue alone, it often settles on the second largest.
            return float(np.abs(eigs(matrix, k=6, which="LM", v0=start, return_eigenvectors=False, tol=1e-8)).max())
        except ArpackError:  # a matrix that makes nothing of the start, for one
            pass
    return float(np.abs(np.linalg.eigvals(matrix.toarray())).max())
