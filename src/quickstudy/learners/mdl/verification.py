"""Numbers that depend on variables, and how they compare wherever these lie in a region."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from quickstudy.learners.mdl.evaluation import EMPTY
from quickstudy.learners.mdl.exact import ONE, ZERO, Span, activated

Form = tuple[Fraction, ...]
"""A number that depends on the free variables and on the step: a constant, and how often each of
them is in it.
"""


class Wrong(Exception):
    """A step is wrong wherever the variables are large enough."""


class Unknown(Exception):
    """Not the same everywhere in a region; perhaps in another."""


class Region:
    """All values of the free variables from a number on, and, with a span, all steps from 0 to
    it.
    """

    def __init__(self, least: int, span: Form | None = None) -> None:
        self._least, self._span = least, span

    def ends(self, form: Form) -> list[Form]:
        """A form at the first and at the last step: of the variables alone."""
        *rest, slope = form
        first = (*rest, ZERO)
        return (
            [first] if self._span is None or not slope else [first, added(first, self._span, slope)]
        )

    def bounds(self, form: Form) -> tuple[Any, Any]:
        """The least and the largest it can be; infinite where there is none."""
        found = []
        for constant, *slopes in self.ends(form):
            corner = constant + self._least * sum(slopes)
            found += [
                corner if min(slopes) >= 0 else -math.inf,
                corner if max(slopes) <= 0 else math.inf,
            ]
        return min(found), max(found)


def added(one: Form, other: Form, times: Fraction = ONE) -> Form:
    """One form and another, so many times."""
    return tuple(a + times * b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True)
class Curve:
    """The value of a curved activation."""

    name: str
    of: Form


def judge(outputs: list[Form | Curve], target: int, region: Region) -> None:
    """Nothing, where the target is the likeliest everywhere; else raises Wrong or Unknown."""
    sizes = [_size(output, region) for output in outputs]
    if all(high <= 0 for _, high in sizes):
        if target:
            raise Wrong
        return
    low, high = sizes[target]
    if high <= 0 and any(least > EMPTY for least, _ in sizes):
        raise Wrong
    for symbol, (least, most) in enumerate(sizes):
        if symbol == target or most <= 0:
            continue
        one, other = (
            out.of if isinstance(out, Curve) else out for out in (outputs[target], outputs[symbol])
        )
        if getattr(outputs[target], "name", "") == getattr(outputs[symbol], "name", ""):
            difference = region.bounds(added(one, other, -ONE))
        else:
            difference = low - most, high - least
        if difference[1] < 0 and least > EMPTY:
            raise Wrong
        if difference[0] < 0 or (difference[0] == 0 and symbol < target):
            raise Unknown
    if low <= EMPTY:
        raise Unknown


def judge_possible(outputs: list[Form | Curve], valid: set[int], region: Region) -> None:
    """Nothing, where those symbols and no others have a probability above 0 everywhere; else raises
    Wrong or Unknown. Outputs that add up to nothing make all symbols equally likely.
    """
    sizes = [_size(output, region) for output in outputs]
    if sum(max(high, ZERO) for _, high in sizes) <= EMPTY:
        if len(valid) < len(outputs):
            raise Wrong
        return
    full = sum(max(low, ZERO) for low, _ in sizes) > EMPTY
    for symbol, (low, high) in enumerate(sizes):
        if full and (high <= 0 if symbol in valid else low > 0):
            raise Wrong
        if low <= 0 if symbol in valid else high > 0:
            raise Unknown
    if not full:
        raise Unknown


def _size(output: Form | Curve, region: Region) -> tuple[Any, Any]:
    if not isinstance(output, Curve):
        return region.bounds(output)
    low, high = region.bounds(output.of)
    lowest, highest = (-1 if output.name == "tanh" else 0), 1
    return (
        activated(output.name, Span.at(low)).low if low > -math.inf else lowest,
        activated(output.name, Span.at(high)).high if high < math.inf else highest,
    )
