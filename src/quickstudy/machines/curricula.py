"""Curricula by machine: tasks put into an order, or chosen for a way to a goal, with what can be
promised of it.

- by complexity: no task is less complex than the one before it (Definition 1), ties apart there is
  one such order.
- by graduality: of all orders that begin with the least complex task, none has a greater sum, over
  tasks, of the graduality from the best task before each.
- a way: the fewest tasks from the least complex to a goal, such that each is more complex than the
  one before it by no more than a given number of bits, and contains a given share of it.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.machines.sharing import shared_structure
from quickstudy.machines.transducer import Transducer

Floats = NDArray[np.float64]


def by_complexity(complexities: Sequence[float]) -> list[int]:
    """Numbers of tasks from the least complex to the most; equal ones keep their order."""
    return sorted(range(len(complexities)), key=lambda task: complexities[task])


def is_ordered(complexities: Sequence[float], tolerance: float = 1e-9) -> bool:
    """Whether complexity never falls: Definition 1."""
    return all(later >= before - tolerance for before, later in itertools.pairwise(complexities))


class RankCorrelation(NamedTuple):
    """Kendall's tau-b of position and complexity; its p from `permutations` shuffled orders,
    two-sided.
    """

    tau: float
    p: float
    permutations: int


def rank_correlation(complexities: Sequence[float], permutations: int = 10_000) -> RankCorrelation:
    """Whether later tasks are more complex. The shuffles come from a stream of their own: the same
    every time.
    """
    values = np.asarray(complexities, dtype=float)
    if len(values) < 3 or np.ptp(values) == 0:
        raise NotApplicable("a rank correlation needs three tasks that are not all equally complex")
    later, earlier = np.tril_indices(len(values), -1)
    signs = np.sign(values[later] - values[earlier])
    scale = np.sqrt(len(signs) * np.count_nonzero(signs))
    rng = np.random.default_rng(np.random.SeedSequence(0))
    found = abs(signs.sum())
    shuffled = (rng.permutation(values) for _ in range(permutations))
    beyond = sum(abs(np.sign(one[later] - one[earlier]).sum()) >= found for one in shuffled)
    return RankCorrelation(
        float(signs.sum() / scale), (1 + int(beyond)) / (1 + permutations), permutations
    )


def by_graduality(steps: Floats, complexities: Sequence[float]) -> list[int]:
    """The order that begins with the least complex task and has the greatest sum of graduality from
    the best task before each. steps: (first, second), how much of the second is known from the
    first.

    In any order, each task and its best task before it make a tree; the heaviest of all trees
    is found (Chu, Liu and Edmonds), and an order that goes along it has its whole weight. Among
    those, less complex tasks come first.
    """
    root = by_complexity(complexities)[0]
    weights = np.array(steps, dtype=float)
    np.fill_diagonal(weights, -np.inf)
    children: list[list[int]] = [[] for _ in complexities]
    for task, parent in _arborescence(weights, root).items():
        children[parent].append(task)
    open_, order = [(complexities[root], root)], list[int]()
    while open_:
        _, task = heapq.heappop(open_)
        order.append(task)
        for child in children[task]:
            heapq.heappush(open_, (complexities[child], child))
    return order


def _arborescence(weights: Floats, root: int) -> dict[int, int]:
    """By node but the root, its parent. Circles of best parents are made one node, solved, and
    opened again.
    """
    size = len(weights)
    best = {node: int(np.argmax(weights[:, node])) for node in range(size) if node != root}
    circle = _circle(best, root)
    if not circle:
        return best
    inside = set(circle)
    outside = [node for node in range(size) if node not in inside]
    place = {node: number for number, node in enumerate(outside)}
    one = len(outside)
    small = np.full((one + 1, one + 1), -np.inf)
    enters: dict[int, int] = {}
    leaves: dict[int, int] = {}
    for node in outside:
        small[place[node], [place[other] for other in outside]] = weights[node, outside]
        gains = [weights[node, inner] - weights[best[inner], inner] for inner in circle]
        enters[node] = circle[int(np.argmax(gains))]
        small[place[node], one] = max(gains)
        leaves[node] = circle[int(np.argmax(weights[circle, node]))]
        small[one, place[node]] = weights[leaves[node], node]
    found = _arborescence(small, place[root])
    parents = {inner: best[inner] for inner in circle}
    for number, parent in found.items():
        if number == one:
            entered = enters[outside[parent]]
            parents[entered] = outside[parent]
        else:
            node = outside[number]
            parents[node] = leaves[node] if parent == one else outside[parent]
    return parents


def _circle(best: dict[int, int], root: int) -> list[int]:
    for node in best:
        seen: list[int] = []
        while node != root and node not in seen:
            seen.append(node)
            node = best[node]
        if node != root:
            return seen[seen.index(node) :]
    return []


class Graduality(NamedTuple):
    """Of tasks in some order. consecutive: the mean step from each task to the next. best_earlier:
    the mean, over all tasks but the first, of the step from that task before which helps most.
    """

    consecutive: float
    best_earlier: float


def graduality(steps: Floats, order: Sequence[int]) -> Graduality:
    """How gradual an order is. steps: (first, second), how much of the second is known from the
    first, 0 to 1.
    """
    if len(order) < 2:
        raise NotApplicable("graduality is of two tasks at least")
    follow = [float(steps[before, after]) for before, after in itertools.pairwise(order)]
    best = [
        max(float(steps[before, after]) for before in order[:place])
        for place, after in enumerate(order)
        if place
    ]
    return Graduality(sum(follow) / len(follow), sum(best) / len(best))


class Compared(NamedTuple):
    """Tasks of a curriculum, held against each other. steps: (first, second), how much of the
    second is known from the first.
    """

    names: Sequence[str]
    complexities: Sequence[float]
    steps: Floats

    def orders(self) -> dict[str, list[int]]:
        """As given, by complexity, by graduality, and as given backwards."""
        given = list(range(len(self.names)))
        by_graduality_ = by_graduality(self.steps, self.complexities)
        by_complexity_ = by_complexity(self.complexities)
        return {
            "given": given,
            "complexity": by_complexity_,
            "graduality": by_graduality_,
            "reversed": given[::-1],
        }

    def facts(self) -> dict[str, Any]:
        """ordered: complexity never falls (Definition 1). tau, p: rank correlation of position and
        complexity. orders: names; graduality: of every order.
        """
        orders = self.orders()
        found = (
            rank_correlation(self.complexities)
            if len(set(self.complexities)) > 1 and len(self.names) > 2
            else None
        )
        return {
            "tasks": [
                {"task": name, "complexity": one}
                for name, one in zip(self.names, self.complexities, strict=True)
            ],
            "ordered": is_ordered(self.complexities),
            "tau": None if found is None else found.tau,
            "p": None if found is None else found.p,
            "orders": {
                kind: [self.names[task] for task in order] for kind, order in orders.items()
            },
            "graduality": {
                kind: graduality(self.steps, order)._asdict()
                for kind, order in orders.items()
                if len(order) > 1
            },
        }


class Way(NamedTuple):
    """A curriculum that was made. tasks: numbers of candidates. rises: bits from each to the next.
    contained: the share of each that the next contains; exact, or more than that.
    """

    tasks: list[int]
    rises: list[float]
    contained: list[float]


def way_to(
    goal: int,
    machines: Sequence[Transducer],
    complexities: Sequence[float],
    rise: float,
    contained: float,
) -> Way:
    """The fewest candidates from the least complex one to a goal, each more complex than the one
    before it by at most `rise` bits and containing at least the share `contained` of its edges. Of
    equally short ones, the one with the smallest greatest rise. Raises NotApplicable where there is
    none.
    """
    order = [
        task for task in by_complexity(complexities) if complexities[task] <= complexities[goal]
    ]
    first, shares = order[0], dict[tuple[int, int], float]()
    reached: dict[int, tuple[int, float, int]] = {first: (1, 0.0, -1)}
    for place, after in enumerate(order):
        for before in order[:place]:
            up = complexities[after] - complexities[before]
            if before not in reached or not 1e-12 < up <= rise:
                continue
            offer = (reached[before][0] + 1, max(reached[before][1], up), before)
            if after in reached and reached[after][:2] <= offer[:2]:
                continue
            shares[before, after] = shared_structure(machines[before], machines[after]).containment
            if shares[before, after] >= contained:
                reached[after] = offer
    if goal not in reached:
        raise NotApplicable(
            f"no way to the goal with rises of at most {rise:g} bits and {contained:g} contained;"
            " allow more, or give more candidates"
        )
    tasks = [goal]
    while reached[tasks[0]][2] >= 0:
        tasks.insert(0, reached[tasks[0]][2])
    pairs = list(itertools.pairwise(tasks))
    rises = [complexities[after] - complexities[before] for before, after in pairs]
    return Way(tasks, rises, [shares[pair] for pair in pairs])
