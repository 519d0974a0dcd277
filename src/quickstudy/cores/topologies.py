"""How the units of an echo-state network are joined: at random, in a ring, along a line, on a grid.

A square matrix is a list of groups of (sources, strengths), each (terms, units of the group): unit
i of a group adds strengths[k, i] * state[sources[k, i]] over k.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError

Groups: TypeAlias = list[tuple[NDArray[np.int64], NDArray[np.float64]]]

TOPOLOGIES = ("random", "ring", "line", "lattice")
SQUARINGS, KRYLOV = 7, 18
"""Of the way to the largest eigenvalue alone: A^128 sets it apart from the others, 18 products with
that find it.
"""
LEAST = 60
"""Units for which that way is worth it."""
FOUND = 1e-13
"""What may be left over of it, else all eigenvalues are computed."""


def joined(
    topology: str, units: int, terms: float, radius: float | None, rng: np.random.Generator
) -> Groups:
    """The recurrent matrix of a topology, scaled to a radius; see `quickstudy.cores.esn`."""
    if topology in ("ring", "line"):
        return _chain(units, 1.0 if radius is None else radius, closed=topology == "ring")
    groups = (
        sparse_weights(units, min(1.0, terms / units), rng)
        if topology == "random"
        else _grid(units, rng)
    )
    if radius is None:
        return groups
    scale = _scale_to(radius, groups)
    return [(sources, strengths * scale) for sources, strengths in groups]


def _chain(units: int, strength: float, closed: bool) -> Groups:
    """Every unit takes from the one before; the first from the last, or from none."""
    strengths = np.full((1, units), strength)
    strengths[0, 0] *= closed
    return [(np.roll(np.arange(units), 1)[None], strengths)]


def _grid(units: int, rng: np.random.Generator) -> Groups:
    """Every unit takes from its two to four neighbours on a grid that is as near to a square as the
    number allows.
    """
    rows = next(side for side in range(int(np.sqrt(units)), 0, -1) if units % side == 0)
    columns = units // rows
    row, column = np.divmod(np.arange(units), columns)
    steps = ((-1, 0), (1, 0), (0, -1), (0, 1))
    there = np.stack([np.stack([row + down, column + right]) for down, right in steps])
    inside = ((there >= 0) & (there < np.array([rows, columns])[:, None])).all(axis=1)
    sources = np.where(inside, there[:, 0] * columns + there[:, 1], 0)
    return [(sources, np.where(inside, rng.uniform(-1.0, 1.0, sources.shape), 0.0))]


def sparse_weights(units: int, density: float, rng: np.random.Generator) -> Groups:
    """A square matrix with entries uniform in [-1, 1] with probability `density`, as groups of
    (sources, strengths).

    Units are numbered by falling number of entries (their numbers mean nothing else), and cut into
    groups; sources and strengths are (terms, units of the group), padded with strength zero. The
    terms of a group are enough for all but one in a thousand million draws: so all draws have the
    same shapes, seeds share compiled programs and run side by side, with hardly more work than
    there are entries.
    """
    degrees = np.sort(rng.binomial(units, density, units))[::-1]
    groups = []
    cuts = [int(share * units) for share in (0.03, 0.28, 0.63)] if units >= 64 else []
    for group in np.split(np.arange(units), cuts):
        first = int(group[0])
        terms = max(1, _order_bound(units, density, first), int(degrees[first]))
        # The first `degree` units of a random order are a uniform subset of that size.
        blocks = np.array_split(
            group, -(-len(group) // 128)
        )  # the draws of 128 units stay in the cache
        sources = np.concatenate(
            [smallest(rng.random((len(block), units)), terms) for block in blocks]
        ).T
        strengths = rng.uniform(-1.0, 1.0, sources.shape)
        filled = np.arange(terms)[:, None] < degrees[group]
        groups.append((np.where(filled, sources, 0), np.where(filled, strengths, 0.0)))
    return groups


@lru_cache(maxsize=256)
def _order_bound(units: int, density: float, place: int) -> int:
    """What the number of entries of the unit at this place, counted from the largest, exceeds once
    in 10^9 draws.
    """
    from scipy.special import bdtrc

    tail = bdtrc(np.arange(units + 1), units, density)
    # That unit exceeds a bound when more than `place` of all units do.
    return int(np.argmax(np.asarray(bdtrc(place, units, tail)) <= 1e-9))


def smallest(values: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """(rows, count): in every row the indices of the `count` smallest values, in ascending order of
    value.

    The values are meant to be uniform in [0, 1), as `Generator.random` draws them. Such a value is
    a whole number of 2**-53: with few columns, value and index are one number, and these are sorted
    (ten times as fast at 100 columns, measured). With many, a few are below a bound, and only these
    are sorted.
    """
    columns = values.shape[1]
    if columns <= 2048:
        keys = np.ldexp(values, 53).astype(np.uint64) << np.uint64(11) | np.arange(
            columns, dtype=np.uint64
        )
        keys.sort(axis=1)
        return (keys[:, :count] & np.uint64(2047)).astype(np.int64)
    near = values < (count + 6 * np.sqrt(count) + 6) / columns
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
            "esn: the units that were drawn are joined in no loop, and cannot be scaled to radius"
            f" {radius}; give more units or terms, or radius=none"
        )
    return radius / drawn


def spectral_radius(groups: Groups) -> float:
    """Largest modulus of the eigenvalues of the matrix that the groups represent."""
    sizes = [sources.shape[1] for sources, _ in groups]
    units = sum(sizes)
    targets = np.split(np.arange(units), np.cumsum(sizes)[:-1])
    rows = [
        np.broadcast_to(target, sources.shape)
        for target, (sources, _) in zip(targets, groups, strict=True)
    ]
    row, column, value = (
        np.concatenate([part.ravel() for part in parts])
        for parts in (
            rows,
            [sources for sources, _ in groups],
            [strengths for _, strengths in groups],
        )
    )
    if units > 200:
        from scipy.sparse import csr_array
        from scipy.sparse.linalg import ArpackError, eigs

        sparse = csr_array((value, (row, column)), shape=(units, units))
        start = np.ones(units)  # ARPACK would otherwise draw a start of its own
        try:
            # Asked for one eigenvalue alone, it often settles on the second largest.
            return float(
                np.abs(
                    eigs(sparse, k=6, which="LM", v0=start, return_eigenvectors=False, tol=1e-8)
                ).max()
            )
        except ArpackError:  # a matrix that makes nothing of the start, for one
            pass
    matrix = np.bincount(row * units + column, value, units**2).astype(np.float64)
    return _radius_of(matrix.reshape(units, units))


def _radius_of(matrix: NDArray[np.float64]) -> float:
    """The same of a whole matrix, to rounding as `numpy.linalg.eigvals` has it: by the method of
    Arnoldi on a power of the matrix. All eigenvalues of 100 units take three times as long, and of
    200 six times (measured).
    """
    length = float(np.linalg.norm(matrix))
    found = _largest(matrix / length) if len(matrix) >= LEAST and length > 0 else None
    return float(np.abs(np.linalg.eigvals(matrix)).max()) if found is None else found * length


def _largest(matrix: NDArray[np.float64]) -> float | None:
    """The largest modulus of an eigenvalue of a matrix of norm 1; None where it was not found."""
    power, logarithm = matrix, 0.0
    for _ in range(SQUARINGS):
        power = power @ power
        length = float(np.linalg.norm(power))
        if length < 1e-150:  # a power of it is nothing: no loop
            return None
        power, logarithm = power / length, 2 * logarithm + np.log(length)
    basis, products = np.zeros((KRYLOV + 1, len(matrix))), np.zeros((KRYLOV + 1, KRYLOV))
    start = 1.0 + np.cos(1.7 * np.arange(len(matrix)))  # at right angles to nothing in particular
    basis[0] = start / np.sqrt(start @ start)
    for step in range(KRYLOV):
        image, before = power @ basis[step], basis[: step + 1]
        for _ in range(2):  # once would leave rounding errors that grow
            shares = before @ image
            image = image - shares @ before
            products[: step + 1, step] += shares
        products[step + 1, step] = length = float(np.sqrt(image @ image))
        if length < 1e-150:
            return None
        basis[step + 1] = image / length
    values, vectors = np.linalg.eig(products[:KRYLOV])
    largest = int(np.abs(values).argmax())
    size = float(np.abs(values[largest]))
    if size == 0 or products[KRYLOV, KRYLOV - 1] * np.abs(vectors[-1, largest]) > FOUND * size:
        return None
    return float(np.exp((np.log(size) + logarithm) / 2**SQUARINGS))
