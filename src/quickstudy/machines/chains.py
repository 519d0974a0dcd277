"""Where a machine is in the long run: its stationary distribution, for inputs of some kind.

Inputs are memoryless, or come from another machine, or, in a closed loop, from an agent that sees
the state. A chain that never settles because it goes round has a stationary distribution all the
same: nothing here iterates.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from quickstudy.base.errors import UsageError
from quickstudy.machines.transducer import INPUT, SOURCE, TARGET, Ints, Transducer

Floats = NDArray[np.float64]
_DENSE = 300
"""States up to which a chain is written as a full matrix."""


def uniform(machine: Transducer) -> Floats:
    """(input,): every input as likely as another."""
    return np.full(len(machine.inputs), 1 / len(machine.inputs))


def memoryless(machine: Transducer, chances: Mapping[Any, float]) -> Floats:
    """(input,): inputs with these chances, none for those that are not named. Raises UsageError for
    a wrong one.
    """
    for symbol in chances:
        if symbol not in machine.inputs:
            raise UsageError(
                f'"{symbol}" is not an input of the machine; its inputs:'
                f" {', '.join(map(str, machine.inputs))}"
            )
    found = np.array([float(chances.get(symbol, 0)) for symbol in machine.inputs])
    if (found < 0).any() or abs(found.sum() - 1) > 1e-9:
        raise UsageError(f"chances of inputs must not be below 0 and sum to 1, got {found.sum():g}")
    return found


def stationary(machine: Transducer, given: Floats | None = None) -> Floats:
    """(state,): the distribution over states in the long run.

    given: chances of inputs, (input,) for memoryless ones or (state, input) where they go by the
    state; uniform, if left out. From the machine's start, if it has one; else there must be one
    recurrent class. Raises UsageError where it is not unique.
    """
    policy = np.broadcast_to(
        uniform(machine) if given is None else given, (machine.size, len(machine.inputs))
    )
    edges = machine.edges
    weights = machine.probabilities * policy[edges[:, SOURCE], edges[:, INPUT]]
    return long_run(
        matrix(machine.size, edges[:, SOURCE], edges[:, TARGET], weights), _start(machine)
    )


def stationary_under(machine: Transducer, source: Transducer) -> Floats:
    """(state,): the same where the inputs are the outputs of another machine that is given nothing
    itself.
    """
    if not source.generator:
        raise UsageError("inputs must come from a machine that is given nothing itself")
    places = {symbol: place for place, symbol in enumerate(machine.inputs)}
    for symbol in source.outputs:
        if symbol not in places:
            raise UsageError(
                f'the input process shows "{symbol}", which is not an input of the machine'
            )
    own = [machine.edges[:, INPUT] == place for place in range(len(machine.inputs))]
    rows, columns, weights = [], [], []
    for (before, _, shown, after, _), chance in zip(
        source.edges.tolist(), source.probabilities, strict=True
    ):
        some = own[places[source.outputs[shown]]]
        rows.append(before * machine.size + machine.edges[some, SOURCE])
        columns.append(after * machine.size + machine.edges[some, TARGET])
        weights.append(chance * machine.probabilities[some])
    size = source.size * machine.size
    began = None
    if machine.start:
        first = stationary(source) if not source.start else _start(source)
        began = np.outer(first, _start(machine)).ravel()  # type: ignore[arg-type]
    both = matrix(size, *map(np.concatenate, (rows, columns, weights)))
    return np.asarray(long_run(both, began).reshape(source.size, machine.size).sum(axis=0))


def exact_stationary(machine: Transducer) -> dict[int, Fraction]:
    """By recurrent state, its exact share in the long run, of a machine that is given nothing. For
    small ones.
    """
    kept = the_recurrent(machine)
    place = {int(state): number for number, state in enumerate(kept)}
    rows = np.full((len(kept), len(kept)), Fraction(0), dtype=object)
    for source, _, _, target, chance in machine.edges.tolist():
        if source in place:
            rows[place[source], place[target]] += machine.chances[chance]
    return dict(zip(map(int, kept), _eliminated(rows).tolist(), strict=True))


def reached(machine: Transducer) -> Transducer:
    """The part of a machine that can be reached from its start."""
    edges = machine.edges
    chances = matrix(machine.size, edges[:, SOURCE], edges[:, TARGET], np.ones(len(edges)))
    return machine.only(
        np.unique(np.concatenate([_reached(chances, state) for state, _ in machine.start]))
    )


def recurrent_classes(machine: Transducer) -> list[Ints]:
    """The closed classes of states that lead to one another, if all inputs may come; states in
    order.
    """
    edges = machine.edges
    return _closed(matrix(machine.size, edges[:, SOURCE], edges[:, TARGET], np.ones(len(edges))))


def the_recurrent(machine: Transducer) -> Ints:
    """The states of the one recurrent class. Raises UsageError if there are several and no start
    decides.
    """
    classes = recurrent_classes(machine)
    if len(classes) > 1:
        named = "; ".join(
            ", ".join(machine.states[state] for state in own[:4]) for own in classes[:4]
        )
        raise UsageError(
            f"the machine has {len(classes)} recurrent parts ({named}): give one of them, or its"
            " start"
        )
    return classes[0]


def matrix(size: int, rows: Ints, columns: Ints, weights: Floats) -> Any:
    """A sparse matrix of chances; those of equal places are added up."""
    return sparse.csr_array((weights, (rows, columns)), shape=(size, size))


def long_run(chances: Any, start: Floats | None = None) -> Floats:
    """The distribution over the states of a chain in the long run, on the mean over time where it
    goes round.

    start: where it begins; it decides where there are several recurrent classes. Raises UsageError
    where there are and no start is known.
    """
    chances = sparse.csr_array(chances)
    chances.eliminate_zeros()
    size = chances.shape[0]
    if start is not None:
        met = np.unique(
            np.concatenate([_reached(chances, int(state)) for state in np.flatnonzero(start)])
        )
        if len(met) < size:
            found = np.zeros(size)
            found[met] = long_run(chances[met][:, met], start[met])
            return found
    classes = _closed(chances)
    if len(classes) > 1 and start is None:
        raise UsageError(
            f"not ergodic: {len(classes)} recurrent classes, and no start decides which is reached"
        )
    shares = [1.0] if len(classes) == 1 else _absorbed(chances, classes, start)  # type: ignore[arg-type]
    found = np.zeros(size)
    for own, share in zip(classes, shares, strict=True):
        found[own] = share * _settled(chances[own][:, own])
    return found


def _start(machine: Transducer) -> Floats | None:
    if not machine.start:
        return None
    found = np.zeros(machine.size)
    for state, chance in machine.start:
        found[state] += float(chance)
    return found


def _reached(chances: Any, state: int) -> Ints:
    return np.asarray(
        csgraph.breadth_first_order(chances, state, return_predecessors=False), dtype=np.int64
    )


def _closed(chances: Any) -> list[Ints]:
    count, labels = csgraph.connected_components(chances, directed=True, connection="strong")
    entries = chances.tocoo()
    left = np.zeros(count, dtype=bool)
    left[labels[entries.coords[0]][labels[entries.coords[0]] != labels[entries.coords[1]]]] = True
    classes = [np.flatnonzero(labels == number) for number in np.flatnonzero(~left)]
    return sorted(classes, key=lambda own: int(own[0]))


def _absorbed(chances: Any, classes: Sequence[Ints], start: Floats) -> list[float]:
    """The chance to end in each of several recurrent classes: every other state is cut out of the
    chain.
    """
    ends = np.full(len(start), -1, dtype=np.int64)
    for number, own in enumerate(classes):
        ends[own] = number
    transient = np.flatnonzero(ends < 0)
    place = {int(state): len(classes) + 1 + number for number, state in enumerate(transient)}

    def row(states: Any, weights: Any) -> dict[int, float]:
        found: dict[int, float] = {}
        for state, weight in zip(states, weights, strict=True):
            node = int(ends[state]) if ends[state] >= 0 else place[int(state)]
            found[node] = found.get(node, 0.0) + float(weight)
        return found

    some = np.flatnonzero(start)
    out: list[dict[int, float]] = [{} for _ in classes]
    out.append(row(some, start[some]))
    for state in transient:
        span = slice(chances.indptr[state], chances.indptr[state + 1])
        out.append(row(chances.indices[span], chances.data[span]))
    _cut_out(out, set(place.values()))
    reached = out[len(classes)]
    return [reached.get(number, 0.0) / sum(reached.values()) for number in range(len(classes))]


def _settled(chances: Any) -> Floats:
    """The stationary distribution of an irreducible chain.

    Nothing is subtracted: a chain that leaves some of its parts once in 10^15 steps keeps its
    digits.
    """
    size = chances.shape[0]
    if size <= _DENSE:
        return np.asarray(_eliminated(chances.toarray()), dtype=float)
    bounds = zip(chances.indptr[:-1], chances.indptr[1:], strict=True)
    out = [
        dict(zip(chances.indices[a:b].tolist(), chances.data[a:b].tolist(), strict=True))
        for a, b in bounds
    ]
    found = np.zeros(size)
    cut = _cut_out(out, set(range(size)), keep=1)
    found[next(iter(set(range(size)) - {node for node, _ in cut}))] = 1.0
    for node, arrivals in reversed(cut):
        found[node] = sum(found[before] * weight for before, weight in arrivals)
    return np.asarray(found / found.sum())


def _cut_out(
    out: list[dict[int, float]], nodes: set[int], keep: int = 0
) -> list[tuple[int, list[tuple[int, float]]]]:
    """Cut nodes out of a chain but for `keep` of them, those with the fewest ways through them
    first; `out` has the chances between the others then. Gives every node with those before it,
    each with its chance over all ways out.
    """
    into: list[set[int]] = [set() for _ in out]
    for node, row in enumerate(out):
        row.pop(node, None)  # who stays comes to leave
        for target in row:
            into[target].add(node)
    queue = [(len(into[node]) * len(out[node]), node) for node in nodes]
    heapq.heapify(queue)
    cut: list[tuple[int, list[tuple[int, float]]]] = []
    left = len(nodes) - keep
    while left:
        ways, node = heapq.heappop(queue)
        if ways != len(into[node]) * len(out[node]):
            heapq.heappush(queue, (len(into[node]) * len(out[node]), node))
            continue
        row, arrivals = out[node], list[tuple[int, float]]()
        total = sum(row.values())
        for before in into[node]:
            weight = out[before].pop(node) / total
            arrivals.append((before, weight))
            for target, chance in row.items():
                if target != before:
                    out[before][target] = out[before].get(target, 0.0) + weight * chance
                    into[target].add(before)
        for target in row:
            into[target].discard(node)
        cut.append((node, arrivals))
        left -= 1
    return cut


def _eliminated(rows: NDArray[Any]) -> NDArray[Any]:
    """The stationary distribution by Grassmann, Taksar and Heyman's elimination, which subtracts
    nothing: floats keep their digits, fractions stay exact.
    """
    rows = rows.copy()
    for last in range(len(rows) - 1, 0, -1):
        rows[:last, last] /= rows[last, :last].sum()
        rows[:last, :last] += np.outer(rows[:last, last], rows[last, :last])
    found = (
        np.ones(len(rows), dtype=rows.dtype)
        if rows.dtype != object
        else np.array([Fraction(1)] * len(rows))
    )
    for state in range(1, len(rows)):
        found[state] = (found[:state] * rows[:state, state]).sum()
    return np.asarray(found / found.sum())
