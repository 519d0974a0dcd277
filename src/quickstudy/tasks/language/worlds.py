"""Prompts of several statements, one for each verb: how things are spread over verbs, and how such a prompt is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.tasks.language.checking import Malformed, Reader
from quickstudy.tasks.language.clauses import JOINTS, Statement, TakeName, read_statement
from quickstudy.tasks.language.draws import between, heads, shuffled

T = TypeVar("T")


class Plan(NamedTuple):
    """A statement before its words are chosen: numbers of the verb and of the things, and how it is put.

    sure: the one statement of a balanced prompt that is bound to have things on both sides.
    """

    verb: int
    affirmed: list[int]
    denied: list[int]
    affirmed_first: bool
    joint: str
    sure: bool


@dataclass(frozen=True)
class Spread:
    """Which of `things` things are spread over which of `verbs` verbs.

    s things in random order, s uniform in fewest .. most; v different verbs, v uniform in 1 .. min(verbs, s); v
    different cuts out of 0 .. s-1 divide the things: each verb gets those from its cut up to the next one, those
    before the first cut are not used. Of a verb's m things, k uniform in 0 .. m are affirmed, the others denied.
    Either clause comes first with probability 1/2; AND and BUT are equally likely.

    sides: 0, or how many things at least one of the statements affirms and denies (balanced). Then all but 2 sides - 1
    of the s things are spread in this way. Those go to one of the verbs, each as likely as the others, of whose m
    things k uniform in sides .. m - sides are affirmed. Exchanging affirmed and denied everywhere then gives an
    equally likely prompt.
    """

    things: int
    verbs: int
    fewest: int
    most: int
    sides: int

    @property
    def width(self) -> int:
        """Uniform numbers for one prompt."""
        return 3 + 2 * self.things + 4 * self.verbs

    @property
    def _spare(self) -> int:
        """Things that are kept for the sure statement."""
        return max(2 * self.sides - 1, 0)

    def draw(self, uniform: NDArray[np.float64]) -> Iterator[list[Plan]]:
        """One prompt for each row of a (count, width) table."""
        columns = np.split(uniform, np.cumsum([3, self.things, self.things, self.verbs]), axis=1)
        sizes = between(columns[0][:, 0], self.fewest, self.most) - self._spare
        numbers = between(columns[0][:, 1], 1, np.minimum(self.verbs, sizes))
        sure = between(columns[0][:, 2], 0, numbers - 1)
        orders = shuffled(columns[1])
        # Cuts are drawn among the places in use: those behind them come last in the order.
        cuts = shuffled(np.where(np.arange(self.things) < sizes[:, None], columns[2], 1.0))
        verbs = shuffled(columns[3])
        shares, first, joints = np.split(columns[4], 3, axis=1)
        tables = (sizes, numbers, sure, orders, cuts, verbs, shares, heads(first), between(joints, 0, len(JOINTS) - 1))
        for row in zip(*(table.tolist() for table in tables), strict=True):
            yield self._plans(*row)

    def _plans(
        self,
        size: int,
        number: int,
        sure: int,
        order: list[int],
        cuts: list[int],
        verbs: list[int],
        shares: list[float],
        first: list[bool],
        joints: list[int],
    ) -> list[Plan]:
        bounds = [*sorted(cuts[:number]), size]
        plans = []
        for place in range(number):
            group = order[bounds[place] : bounds[place + 1]]
            is_sure = self.sides > 0 and place == sure
            if is_sure:
                group += order[size : size + self._spare]
            margin = self.sides if is_sure else 0
            split = margin + int(shares[place] * (len(group) + 1 - 2 * margin))
            plans.append(Plan(verbs[place], group[:split], group[split:], first[place], JOINTS[joints[place]], is_sure))
        return plans


def pick(uniform: float, choices: Sequence[T]) -> T:
    """One of the choices, each as likely as the others, from a number uniform in [0, 1)."""
    return choices[int(uniform * len(choices))]


def read_world(reader: Reader, take_name: TakeName, verbs: Collection[str], most: int) -> list[Statement]:
    """The statements that stand next, with periods between them: about different verbs and at most `most` things."""
    statements: list[Statement] = []
    used: tuple[str, ...] = ()
    while not statements or (reader.sees((".",)) and reader.sees(("I",), ahead=1)):
        if statements:
            reader.phrase(".")
        known = {statement.verb for statement in statements}
        statement = read_statement(reader, take_name, [verb for verb in verbs if verb not in known], used)
        statements.append(statement)
        used = (*used, *statement.affirmed, *statement.denied)
        if len(used) > most:
            raise Malformed(reader.index, f"the statement ends here with {len(used)} things in all, at most {most}")
    return statements
