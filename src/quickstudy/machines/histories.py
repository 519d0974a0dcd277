"""How often every history of a sequence was followed by each symbol, and which histories this
does not distinguish.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri, gammaln

from quickstudy.base.errors import UsageError
from quickstudy.machines.chains import Floats
from quickstudy.machines.transducer import Ints

_EXPECTED = 5.0
"""Symbols that are expected less often are tested together: chi-squared would not hold for them."""
_FEW, _EACH = 1000, 4
"""If there are more different histories than the first number, each must occur on average as
often as the second number: a history that occurred once gives no information, and comparing
thousands of them takes minutes.
"""


class Histories:
    """How often every history was followed by every symbol. Histories of n symbols are numbers in
    base `kinds`, the latest symbol last; all lengths are counted at the same steps, so that longer
    ones add up to shorter ones.
    """

    def __init__(self, joint: Ints, inputs: int, outputs: int, history: int, level: float) -> None:
        self.joint, self.shape, self.kinds = joint, (inputs, outputs), inputs * outputs
        self.history, self.level = history, level
        self.first = history + 1
        self.tables = [self._table(length) for length in range(2)]
        for length in range(2, history + 2):
            self.tables.append(self._table(length))
            counted, different = len(joint) - self.first, len(self.tables[-1])
            if length <= history and different > _FEW and counted < _EACH * different:
                raise UsageError(
                    f"histories of {length} symbols come {counted / different:.1f} times each, on"
                    " average, too rarely to say what follows them; give more symbols, or a"
                    f" history of at most {length - 1}, not {history}"
                )

    def codes(self, length: int) -> Ints:
        """(step,), from the first that is counted on: the history before it."""
        found = np.zeros(len(self.joint) - self.first, dtype=np.int64)
        for back in range(length, 0, -1):
            found = found * self.kinds + self.joint[self.first - back : len(self.joint) - back]
        return found

    def _table(self, length: int) -> dict[int, NDArray[np.float64]]:
        """By history, (input, output): how often that was next."""
        pairs, times = np.unique(
            self.codes(length) * self.kinds + self.joint[self.first :], return_counts=True
        )
        table: dict[int, NDArray[np.float64]] = {}
        for pair, count in zip(pairs.tolist(), times.tolist(), strict=True):
            code, symbol = divmod(pair, self.kinds)
            table.setdefault(code, np.zeros(self.kinds))[symbol] = count
        return {code: counts.reshape(self.shape) for code, counts in table.items()}

    def chance(self, first: Floats, second: Floats) -> float:
        """Of a difference like this one or a greater if both came from one distribution:
        chi-squared, over all inputs together; symbols too rare for that, even together, are
        compared with all others exactly, and the chance of that goes in as the chi-squared number
        that has it. 1 where nothing can be distinguished.
        """
        statistic, freedom = 0.0, 0
        for one, other in zip(first, second, strict=True):
            seen, many, more = one + other, one.sum(), other.sum()
            expected = seen * (min(many, more) / max(many + more, 1))
            common = expected >= _EXPECTED
            if not many or not more or not common.any() or seen[~common].sum() + common.sum() < 2:
                continue
            rows = np.array([np.append(row[common], row[~common].sum()) for row in (one, other)])
            if (
                rows[:, -1].sum() * min(many, more) / (many + more) < _EXPECTED
            ):  # too rare even together
                if rows[:, -1].sum():
                    statistic += float(
                        chdtri(1, max(_exact(rows[0, -1], many, rows[1, -1], more), 1e-300))
                    )
                    freedom += 1
                rows[:, -2] += rows[:, -1]
                rows = rows[:, :-1]
            if rows.shape[1] < 2:
                continue
            wanted = np.outer([many, more], rows.sum(axis=0)) / (many + more)
            statistic += float(((rows - wanted) ** 2 / wanted).sum())
            freedom += rows.shape[1] - 1
        return float(chdtrc(freedom, statistic)) if freedom else 1.0

    def nearest(self, counts: Floats, states: dict[int, Floats]) -> tuple[int, float]:
        """The state whose distribution is the least different, and the chance of that
        difference.
        """
        chances = {state: self.chance(counts, own) for state, own in states.items()}
        best = max(chances, key=lambda state: (chances[state], states[state].sum()))
        return best, chances[best]


def _exact(one: float, many: float, other: float, more: float) -> float:
    """Fisher's: the chance that of `one + other` marked things among all no likelier number than
    `one` is among the first `many`.
    """
    marked = one + other
    counts = np.arange(max(0.0, marked - more), min(marked, many) + 1)
    parts = np.stack([counts, many - counts, marked - counts, more - marked + counts])
    logs = -gammaln(parts + 1).sum(axis=0)
    chances = np.exp(logs - logs.max())
    here = chances[int(one - counts[0])]
    return float(chances[chances <= here * (1 + 1e-7)].sum() / chances.sum())


def clustered(data: Histories) -> dict[int, int]:
    """The state of every history of the greatest length, by what may be next alone."""
    states = {0: 0}
    for length in range(1, data.history + 1):
        table, parents = data.tables[length], data.tables[length - 1]
        before: dict[int, Floats] = {}
        for code, state in states.items():
            before[state] = before.get(state, 0) + parents[code]
        new, made = {}, dict[int, Floats]()
        power = data.kinds ** (length - 1)
        for code, counts in sorted(table.items(), key=lambda item: -item[1].sum()):
            parent = states[code % power]
            rest = before[parent] - counts
            if data.chance(counts, rest) >= data.level:
                new[code] = parent
                continue
            others = {state: own for state, own in {**before, **made}.items() if state != parent}
            nearest = data.nearest(counts, others) if others else (0, 0.0)
            if nearest[1] < data.level:
                nearest = (max([*before, *made]) + 1, 1.0)
            new[code] = nearest[0]
            if nearest[0] not in before:
                made[nearest[0]] = made.get(nearest[0], 0) + counts
        states = _merged(data, new, table)
    return states


def sums_of(states: dict[int, int], table: dict[int, NDArray[np.float64]]) -> dict[int, Floats]:
    """By state, what followed its histories. states: by history; table: by history, (input,
    output).
    """
    found: dict[int, Floats] = {}
    for code, state in states.items():
        found[state] = found.get(state, 0) + table[code]
    return found


def _merged(
    data: Histories, states: dict[int, int], table: dict[int, NDArray[np.float64]]
) -> dict[int, int]:
    """The same with indistinguishable states merged, the most alike first."""
    while True:
        sums = sums_of(states, table)
        names = sorted(sums)
        alike = [
            (data.chance(sums[one], sums[other]), one, other)
            for place, one in enumerate(names)
            for other in names[place + 1 :]
        ]
        best = max(alike, default=(0.0, 0, 0))
        if best[0] < data.level:
            return states
        states = {code: best[1] if state == best[2] else state for code, state in states.items()}
