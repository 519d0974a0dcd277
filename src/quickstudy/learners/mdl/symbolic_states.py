"""What proofs are made of: a network that reads symbol by symbol while its values are functions of
variables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from quickstudy.base.errors import NotApplicable
from quickstudy.learners.mdl.evaluation import CLIP
from quickstudy.learners.mdl.exact import CURVED, ONE, ZERO, Span, activated
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.verification import Curve, Form, Region, Unknown, added

FROM = (4, 8, 16, 32, 64, 128)
"""Numbers that are tried, from which on a proof holds for all."""


@dataclass(frozen=True)
class Certificate:
    """right: for every string; None where that was not shown. fails: the values of the first string
    that is wrong; of brackets, how deep it is wrong. limit: while all variables are below it, no
    value reaches ±10^6; None where none ever does. steps: of the proof: for which values, and of
    each block how many steps at its beginning and at its end were taken one by one. reason: why
    nothing was shown. counted: what `fails` counts, if it is not a variable.
    """

    language: str
    right: bool | None
    fails: tuple[int, ...] | None = None
    limit: int | None = None
    steps: tuple[str, ...] = ()
    reason: str = ""
    counted: str = ""

    def __str__(self) -> str:
        if self.right:
            felt = (
                f"; the limit of 10^6 on values may be felt from {self.limit:,} on"
                if self.limit
                else ""
            )
            return f"{self.language}: right for every string, in exact arithmetic{felt}"
        if self.fails:
            return (
                f"{self.language}: wrong, first at {self.counted}{', '.join(map(str, self.fails))}"
            )
        return f"{self.language}: not shown: {self.reason}"


class SymbolicNetwork:
    """limit: while all variables are below it, no value has reached ±10^6; None where none ever
    does.
    """

    def __init__(self, network: Network) -> None:
        self._network, self._units, self._sending = network, network.wired(), network.sending
        self._heard = {source for _, source, _ in network.edges}
        self.limit: int | None = None

    def step(
        self, state: dict[int, Form] | None, symbol: int, region: Region, width: int
    ) -> tuple[dict[int, Form], list[Form | Curve]]:
        """The state after a symbol and the outputs: the same functions everywhere in a region.
        state: None before the first. width: numbers in a form. Raises Unknown where a unit is on in
        one part of the region and off in another, and NotApplicable if its value is not such a
        function.
        """
        values: dict[int, Any] = {}

        def constant(value: Fraction) -> Form:
            return (value, *(ZERO,) * (width - 1))

        for unit, forward, recurrent in self._units:
            parts = [added(constant(ZERO), values[source], weight) for source, weight in forward]
            if state is not None:
                parts += [
                    added(constant(ZERO), state[source], weight) for source, weight in recurrent
                ]
            if own := unit < self._network.symbols:
                parts.append(constant(ONE if unit == symbol else ZERO))
            x = constant(ZERO)
            if not self._network.products[unit]:
                for part in parts:
                    x = added(x, part)
            elif forward or own:
                x = constant(ONE)
                for part in parts:
                    if any(x[1:]) and any(part[1:]):
                        raise NotApplicable("a unit multiplies two values that vary")
                    x = (
                        added(constant(ZERO), part, x[0])
                        if not any(x[1:])
                        else added(constant(ZERO), x, part[0])
                    )
            x = added(x, constant(Fraction(*self._network.biases.get(unit, (0, 1)))))
            self._feel(x, region)
            values[unit] = self._activated(unit, x, region)
        outputs = [values[unit] for unit in range(self._network.symbols, 2 * self._network.symbols)]
        return {unit: values[unit] for unit in self._sending}, outputs

    def _activated(self, unit: int, x: Form, region: Region) -> Form | Curve:
        name, nothing = self._network.activations[unit], (ZERO,) * len(x)
        if not any(x[1:]) and (name not in CURVED or not x[0]):
            return (activated(name, Span.at(x[0])).low, *nothing[1:])
        if name in CURVED and unit not in self._heard:
            return Curve(name, x)
        low, high = region.bounds(x)
        if name in ("linear", "inverse"):
            return x if name == "linear" else added(nothing, x, -ONE)
        if name not in ("relu", "abs", "step"):
            raise NotApplicable(
                f"unit {unit} is {name} of an input that varies, or is heard by others"
            )
        if low < 0 < high or (name == "step" and low <= 0 < high):
            raise Unknown
        if name == "step":
            return (ONE if low > 0 else ZERO, *nothing[1:])
        return x if low >= 0 else nothing if name == "relu" else added(nothing, x, -ONE)

    def _feel(self, x: Form, region: Region) -> None:
        """Note from which value of the variables on the limit of values might be felt."""
        for constant, *slopes in region.ends(x):
            if steep := sum(map(abs, slopes)):
                reached = max(1, math.ceil((Fraction(CLIP) - abs(constant)) / steep))
                self.limit = min(self.limit or reached, reached)
