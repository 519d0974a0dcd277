"""Rules without left recursion, for the same strings with the same probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from quickstudy.base.errors import UsageError

Alternatives = list[tuple[Fraction, tuple[str, ...]]]
Rules = Mapping[str, Sequence[tuple[Fraction, tuple[str, ...]]]]


def without_left_recursion(rules: Rules) -> Rules:
    """The rules themselves if no left side begins with itself; else others that read from the left.

    Paull's algorithm with probabilities: of `A -> A x [p] | y [1 - p]` it makes `A -> y A' [1]` and
    `A' -> x A' [p] | [1 - p]`. Each derivation becomes one derivation of the same string with the
    same probability. Raises UsageError where recursion is left over: through parts that may be
    empty, or through a left side that stands alone.
    """
    if not left_recursive(rules):
        return rules
    found: dict[str, Alternatives] = {left: list(some) for left, some in rules.items()}
    for number, left in enumerate(rules):
        for earlier in list(rules)[:number]:
            found[left] = [
                one
                for chance, right in found[left]
                for one in _substituted(chance, right, earlier, found[earlier])
            ]
        _go_right(found, left)
    if lost := left_recursive(found):
        raise UsageError(
            f"grammar: {lost.split()[0]} begins with itself after parts that may be empty, or"
            " is replaced by itself; write the recursion after a part that is never empty"
        )
    return found


def left_recursive(rules: Rules) -> str:
    """The first left side that begins with itself, however far down; empty if there is none."""
    empty = set[str]()
    for _ in rules:  # each round finds one more, or none is left
        empty |= {
            left
            for left, found in rules.items()
            if any(p and all(part in empty for part in right) for p, right in found)
        }
    firsts = {
        left: {
            part
            for _, right in found
            for place, part in enumerate(right)
            if all(before in empty for before in right[:place])
        }
        for left, found in rules.items()
    }
    for left in rules:
        seen, left_most = set[str](), firsts[left]
        while left_most - seen:
            seen |= left_most
            left_most = set().union(*(firsts.get(part, set()) for part in left_most))
        if left in seen:
            return left
    return ""


def _substituted(
    chance: Fraction, right: tuple[str, ...], earlier: str, alternatives: Alternatives
) -> Alternatives:
    """An alternative, with all that a left side at its beginning may become."""
    if right[:1] != (earlier,):
        return [(chance, right)]
    return [(chance * p, (*first, *right[1:])) for p, first in alternatives]


def _go_right(found: dict[str, Alternatives], left: str) -> None:
    """Replace alternatives that begin with their own left side."""
    own = [(p, right[1:]) for p, right in found[left] if right[:1] == (left,)]
    others = [(p, right) for p, right in found[left] if right[:1] != (left,)]
    again = sum((p for p, _ in own), Fraction(0))
    if not own or again >= 1:
        return
    more = f"{left} more"  # with a space, so that no left side of a text has this name
    found[left] = [(p / (1 - again), (*right, more)) for p, right in others]
    found[more] = [*((p, (*right, more)) for p, right in own), (1 - again, ())]
