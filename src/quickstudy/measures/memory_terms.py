"""Information processing capacity: which functions of past inputs the states hold (Dambre et al.
2012).

A term is a product of orthonormal polynomials of inputs at different delays; its degree is the sum
of theirs. All terms of one degree with the same largest delay are a shell. There are C(K + d, d)
terms of degree d with delays 0 .. K.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.measures.memory import (
    BYTES,
    FACTOR,
    P_VALUE,
    TOO_LATE,
    Harvest,
    effective_rank,
    ranks,
    significance,
)

BASES = ("legendre", "hermite", "walsh", "trigonometric", "moments")
EMPTY = 2
"""Shells of a degree, and degrees, without a capacity above the threshold after which no more are
looked at: a system without even degrees has one that is empty between two that are not.
"""
MOST_THRESHOLD = 0.2
"""A threshold of in-sample capacities above which they are not given: most of what is held would
lie below it.
"""
DEAD = 100
"""Delays, at least, among which the first of which anything is held is looked for."""


def orthonormal(
    inputs: NDArray[np.float64], degrees: int, basis: str = "legendre"
) -> NDArray[np.float64]:
    """(degree, time): functions of the inputs (time,) with mean 0 and variance 1, orthogonal to
    each other, degrees 1 and up.

    legendre: for inputs uniform in -1 .. 1. hermite: for normal inputs of mean 0 and deviation 1.
    walsh: for -1 and 1; degree 1 is all there is. trigonometric: sqrt(2) cos(d pi (u + 1) / 2), for
    uniform inputs as well. moments: polynomials made orthonormal on the raw inputs,
    for any distribution.
    """
    if basis == "moments":
        different = len(np.unique(inputs))
        if different <= degrees:
            raise UsageError(
                f"inputs of {different} different values have {different - 1} independent"
                f" functions, and {degrees} are asked for; give delays for {different - 1} degrees"
                " at most, or inputs that vary more"
            )
        scaled = (inputs - inputs.mean()) / inputs.std()
        whole, triangle = np.linalg.qr(np.vander(scaled, degrees + 1, increasing=True))
        signs = np.sign(np.diagonal(triangle))
        return np.asarray((whole * signs).T[1:] * np.sqrt(len(inputs)))
    _check_distribution(inputs, basis)
    if basis == "walsh":
        return inputs[None].copy()
    if basis == "trigonometric":
        return np.asarray(
            np.sqrt(2.0) * np.cos(np.arange(1, degrees + 1)[:, None] * np.pi * (inputs + 1) / 2)
        )
    found = np.empty((degrees + 1, len(inputs)))
    found[0], found[1] = 1.0, inputs
    for degree in range(1, degrees):
        step, back = (
            ((2 * degree + 1) / (degree + 1), degree / (degree + 1))
            if basis == "legendre"
            else (1.0, degree)
        )
        found[degree + 1] = step * inputs * found[degree] - back * found[degree - 1]
    orders = np.arange(1, degrees + 1)
    norms = (
        np.sqrt(2 * orders + 1)
        if basis == "legendre"
        else np.cumprod(orders.astype(np.float64)) ** -0.5
    )
    return np.asarray(found[1:] * norms[:, None])


def _check_distribution(inputs: NDArray[np.float64], basis: str) -> None:
    """Raise UsageError where the inputs are plainly not what a basis is orthonormal for."""
    if basis not in BASES:
        raise UsageError(f'no basis "{basis}"; bases: {", ".join(BASES)}')
    wanted = {"hermite": (1.0, "normal, with mean 0 and deviation 1"), "walsh": (1.0, "-1 or 1")}
    square, words = wanted.get(basis, (1 / 3, "uniform in -1 .. 1"))
    off = max(0.1, 8 / np.sqrt(len(inputs)))
    outside = basis != "hermite" and np.abs(inputs).max() > 1 + 1e-9
    strange = basis == "walsh" and not np.isin(inputs, (-1.0, 1.0)).all()
    mean, spread = float(inputs.mean()), float(np.square(inputs).mean())
    if outside or strange or abs(mean) > off * np.sqrt(square) or abs(spread / square - 1) > off:
        raise UsageError(
            f"the basis {basis} is for inputs that are {words}; these have mean {mean:.4g},"
            f" deviation {inputs.std():.4g} and lie in {inputs.min():.4g} .. {inputs.max():.4g};"
            " scale them, or take the basis moments"
        )


def shell(degree: int, delay: int, single: bool = False) -> Iterator[tuple[int, ...]]:
    """The terms of a degree whose largest delay is `delay`, each as its delays, as often as their
    degrees say.

    single: none of them twice, for a basis that has nothing above degree 1.

    >>> list(shell(2, 1)), sum(1 for delay in range(9) for _ in shell(3, delay))
    ([(0, 1), (1, 1)], 165)
    """
    for rest in combinations_with_replacement(range(delay + 1), degree - 1):
        if not single or len({*rest, delay}) == degree:
            yield (*rest, delay)


@dataclass(frozen=True)
class Processing:
    """Capacities of terms, one entry each: degree, delay (the largest), window (different delays in
    it), capacity.

    threshold: what counts. complete: False where the budget, the washout or the degrees
    were used up before nothing more was found.
    """

    degree: NDArray[np.int64]
    delay: NDArray[np.int64]
    window: NDArray[np.int64]
    capacity: NDArray[np.float64]
    threshold: float
    complete: bool

    @classmethod
    def of(
        cls,
        terms: Sequence[tuple[int, ...]],
        capacity: NDArray[np.float64],
        threshold: float,
        complete: bool,
    ) -> Processing:
        """Of terms as `shell` gives them."""
        said = np.array(
            [(len(term), term[-1], len(set(term))) for term in terms], dtype=np.int64
        ).reshape(-1, 3)
        degree, delay, window = said.T
        return cls(degree, delay, window, capacity, threshold, complete)

    def total(self, degree: int | None = None, window: int | None = None) -> float:
        """The sum of all capacities that count: of everything, a degree, or a number of different
        delays.
        """
        chosen = self.capacity >= self.threshold
        if degree is not None:
            chosen = chosen & (self.degree == degree)
        if window is not None:
            chosen = chosen & (self.window == window)
        return float(self.capacity[chosen].sum())


def processing_capacity(
    harvest: Harvest,
    inputs: NDArray[np.float64],
    threshold: float,
    delays: Sequence[int] | None = None,
    basis: str = "legendre",
    degrees: int = 7,
    budget: int = 20_000,
) -> Processing:
    """The capacities of terms, in-sample. inputs (time,): up to the last row of the harvest,
    washout included.

    delays: the largest delay for degree 1, 2 ... and then exactly these terms. None: degrees up to
    `degrees`, each with growing delays until two shells in a row, from the first delay on of which
    anything is held, have nothing above the threshold, and no degree after two empty ones, as long
    as no more than `budget` terms are looked at and the washout is long enough.
    """
    before, single = len(inputs) - harvest.steps, basis == "walsh"
    if delays is not None and max(delays) > before:
        raise UsageError(TOO_LATE.format(max(delays), before))
    functions = orthonormal(inputs, len(delays or range(degrees)), basis)
    if delays is not None:
        terms = [
            term
            for degree, largest in enumerate(delays, 1)
            for delay in range(largest + 1)
            for term in shell(degree, delay, single)
        ]
        return Processing.of(terms, _capacities(harvest, functions, terms), threshold, True)
    # A system with a dead time holds nothing of the first delays: shells before its onset say
    # nothing of the rest.
    alone = [
        (delay,) * degree
        for delay in range(min(max(2 * harvest.size, DEAD), before) + 1)
        for degree in range(1, degrees + 1)
    ]
    holding = _capacities(harvest, functions, alone[:: degrees if single else 1]) >= threshold
    onset = int(holding.argmax()) // (1 if single else degrees)
    terms, found, complete, empty_degrees = [], [np.zeros(0)], True, 0
    for degree in range(1, degrees + 1):
        empty, holds = 0, False
        for delay in range(before + 1):
            more = list(islice(shell(degree, delay, single), budget - len(terms) + 1))
            if len(terms) + len(more) > budget:
                return Processing.of(terms, np.concatenate(found), threshold, False)
            terms += more
            found.append(_capacities(harvest, functions, more))
            some = bool((found[-1] >= threshold).any())
            holds, empty = holds or some, 0 if some else empty + (delay >= onset and bool(more))
            if empty == EMPTY:
                break
        else:
            complete = False
        empty_degrees = 0 if holds else empty_degrees + 1
        if empty_degrees == EMPTY:
            break
    else:
        complete = complete and single
    return Processing.of(terms, np.concatenate(found), threshold, complete)


def _capacities(
    harvest: Harvest, functions: NDArray[np.float64], terms: Sequence[tuple[int, ...]]
) -> NDArray[np.float64]:
    """(term,), a block of targets at a time."""
    steps, total = harvest.steps, functions.shape[1]
    together = max(1, BYTES // (8 * steps))
    found = [np.zeros(0)]
    for first in range(0, len(terms), together):
        block = terms[first : first + together]
        targets = np.empty((len(block), steps))
        for row, term in zip(targets, block, strict=True):
            factors = [
                functions[degree - 1, total - steps - delay : total - delay]
                for delay, degree in Counter(term).items()
            ]
            row[:] = factors[0]
            for factor in factors[1:]:
                row *= factor
        found.append(harvest.capacity(targets))
    return np.concatenate(found)


def too_few(harvest: Harvest, threshold: float) -> str:
    """Why no capacity can be given at a threshold; nothing if they can."""
    if threshold <= MOST_THRESHOLD:
        return ""
    enough = float(f"{threshold * harvest.steps / MOST_THRESHOLD:.2g}")
    return (
        f"{harvest.steps:,} steps are too few for {harvest.size} states: capacities need about"
        f" {enough:,.0f}"
    )


def memory_to_end(
    harvest: Harvest,
    inputs: NDArray[np.float64],
    first: int,
    last: int,
    fitted: int,
    counts: float,
    grow: bool,
) -> NDArray[np.float64]:
    """(delay,): squared correlations with the inputs of `first` to `last` steps ago, on test steps.

    grow: go on while one of the last delays reaches `counts`, as far as the washout allows.
    """
    before = len(inputs) - harvest.steps
    split = harvest.memory_split(inputs, range(first, last + 1), fitted)
    while grow and last < before and (split[-EMPTY:] >= counts).any():
        more = range(last + 1, min(2 * last + 1, before) + 1)
        split = np.append(split, harvest.memory_split(inputs, more, fitted))
        last = more[-1]
    return split


def describe(
    harvest: Harvest,
    inputs: NDArray[np.float64],
    delays: Sequence[int] | None = None,
    train: int | None = None,
    basis: str = "legendre",
    p: float = P_VALUE,
    factor: float = FACTOR,
) -> dict[str, Any]:
    """Memory by delay from 0 on, processing capacity by degree, singular values and ranks.

    inputs: (time,) up to the last row of the harvest, washout included. delays: the largest per
    degree; None: memory up to twice as many delays as states, and on while anything is held and the
    washout allows it; processing capacity as far as anything is found. A memory capacity is the sum
    over delays from 1 on that reach `memory_threshold`; it is not complete where the last delay
    still does. reason: why there are no capacities (they are None), if so.
    """
    threshold = harvest.threshold(p, factor)
    fitted = harvest.steps // 2 if train is None else train
    counts = significance(1, harvest.steps - fitted, p, factor)
    before = len(inputs) - harvest.steps
    longest = delays[0] if delays else min(2 * harvest.size, before)
    split = memory_to_end(harvest, inputs, 0, longest, fitted, counts, grow=not delays)
    longest = len(split) - 1
    memory = range(longest + 1)
    found = processing_capacity(harvest, inputs, threshold, delays, basis)
    reason = too_few(harvest, threshold)
    if reason:
        reason += "; not given"
    elif not longest:
        reason = (
            "no input comes before the first state that is measured: give a washout; memory"
            " capacity not given"
        )
    return {
        "reason": reason,
        "memory_capacity": None if reason else float(split[1:][split[1:] >= counts].sum()),
        "memory_threshold": counts,
        "memory_complete": bool((split[-EMPTY:] < counts).all()),
        "steps": harvest.steps,
        "states": harvest.size,
        "constant": harvest.constant,
        "dimensions": harvest.rank,
        "basis": basis,
        "threshold": threshold,
        "memory_in_sample": harvest.memory(inputs, memory),
        "memory_split": split,
        "ipc": {
            str(degree): {
                "terms": int((found.degree == degree).sum()),
                "total": found.total(degree),
            }
            for degree in np.unique(found.degree)
        },
        "ipc_total": None if threshold > MOST_THRESHOLD else found.total(),
        "ipc_complete": found.complete,
        "cross_memory": found.total(2, window=2),
        "quadratic_memory": found.total(2, window=1),
        "singular_values": harvest.singular_values,
        "effective_rank": effective_rank(harvest.singular_values),
        "rank": ranks(harvest.singular_values),
    }
