"""A network in exact arithmetic: fractions, and, where a value is none, two fractions around it.

The network becomes an automaton whose states are the values that the next step needs. States that
are the same are one, and each of its steps is computed once: a counter that comes back has been
there before.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.learners.mdl.evaluation import CLIP, EMPTY
from quickstudy.learners.mdl.network import Network

ZERO, ONE = Fraction(0), Fraction(1)
_DIGITS, _ERROR = 60, Fraction(1, 10**50)
"""Decimal digits in which exponentials are computed, and more than the error that remains in a
value below 1.
"""
_LIMIT, _NOTHING = Fraction(CLIP), Fraction(EMPTY)
CURVED = ("tanh", "sigmoid")
"""Monotonic activations whose values are not fractions."""


@dataclass(frozen=True)
class Span:
    """A value: between two fractions, which are one where it is known exactly. of: the activation
    and the fraction it is the value of, where that is all there is to know.
    """

    low: Fraction
    high: Fraction
    of: tuple[str, Fraction] | None = None

    @classmethod
    def at(cls, value: Fraction) -> Span:
        """A fraction."""
        return cls(value, value)

    def above(self, other: Span) -> bool | None:
        """Whether it is larger than another; None if that is undecided."""
        if self.of and other.of and self.of[0] == other.of[0]:
            return self.of[1] > other.of[1]
        return True if self.low > other.high else False if self.high <= other.low else None


def tanh(x: Fraction) -> Span:
    """The hyperbolic tangent of a fraction, within 10^-50, and on the right side of -1, 0 and 1."""
    if x < 0:
        other = tanh(-x)
        return Span(-other.high, -other.low, ("tanh", x))
    if x == 0:
        return Span.at(ZERO)
    with decimal.localcontext(decimal.Context(prec=_DIGITS)):
        power = (
            (decimal.Decimal(-2 * x.numerator) / x.denominator).exp()
            if x < 10**4
            else decimal.Decimal(0)
        )
        value = Fraction((1 - power) / (1 + power))
    # tanh x > x / (1 + x), tanh x < x, and 1 - tanh x = 2 / (e^2x + 1) > 2 / (3^2x + 1)
    far = 1 - Fraction(2, 3 ** math.ceil(2 * x) + 1) if x < 10**3 else ONE
    return Span(max(value - _ERROR, x / (1 + x)), min(value + _ERROR, x, far), ("tanh", x))


def activated(name: str, x: Span) -> Span:
    """The value of a unit. Raises NotApplicable where it can be neither a fraction nor enclosed."""
    if x.low != x.high:
        if name in ("linear", "relu", "floor", "step", ">>", *CURVED):  # they never fall
            return Span(activated(name, Span.at(x.low)).low, activated(name, Span.at(x.high)).high)
        raise NotApplicable(
            f"exact arithmetic has no bounds for {name} of a value that is not a fraction"
        )
    value = x.low
    if name == "tanh":
        return tanh(value)
    if name == "sigmoid":
        half = tanh(value / 2)
        return Span((1 + half.low) / 2, (1 + half.high) / 2, ("sigmoid", value))
    rational: dict[str, Any] = {
        "linear": lambda: value,
        "relu": lambda: max(value, ZERO),
        "square": lambda: value * value,
        "floor": lambda: Fraction(math.floor(value)),
        "step": lambda: ONE if value > 0 else ZERO,
        "inverse": lambda: -value,
        "abs": lambda: abs(value),
        "mod2": lambda: value % 2,
        ">>": lambda: Fraction(math.floor(value / 2)),
        "mod3": lambda: value % 3,
    }
    if name not in rational:
        raise NotApplicable(f"exact arithmetic knows no {name}")
    return Span.at(rational[name]())


def _product(one: Span, other: Span) -> Span:
    ends = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
    return Span(min(ends), max(ends))


def likeliest(values: list[Span]) -> int:
    """The symbol with the largest output, the first among equals, or the first of all where there
    is nothing to tell them apart. Raises NotApplicable if that is undecided.
    """
    shown, total = _shares(values)
    if total.high <= _NOTHING:
        return 0
    for symbol, value in enumerate(shown):
        if all(
            not other.above(value) if place > symbol else value.above(other)
            for place, other in enumerate(shown)
            if place != symbol
        ):
            if total.low <= _NOTHING or any(
                other.above(value) is None for other in shown[symbol + 1 :]
            ):
                break
            return symbol
    raise NotApplicable(f"exact arithmetic cannot tell the largest output within {_DIGITS} digits")


def _shares(values: list[Span]) -> tuple[list[Span], Span]:
    """Outputs with none below 0, and their sum."""
    shown = [value if value.low >= 0 else Span(ZERO, max(value.high, ZERO)) for value in values]
    return shown, Span(
        sum((one.low for one in shown), ZERO), sum((one.high for one in shown), ZERO)
    )


def possible(values: list[Span], margin: Fraction) -> list[bool]:
    """Which symbols have more probability than a margin. Raises NotApplicable where it cannot be
    told.
    """
    shown, total = _shares(values)
    if total.high <= _NOTHING:
        return [Fraction(1, len(values)) > margin] * len(values)
    found = []
    for value in shown:
        more = (
            True
            if value.low > margin * total.high
            else False
            if value.high <= margin * total.low
            else None
        )
        if more is None or total.low <= _NOTHING:
            raise NotApplicable(
                f"exact arithmetic cannot tell a probability from {float(margin):g}"
            )
        found.append(more)
    return found


class Automaton:
    """A network as a pupil that goes step by step; a state is a number. Its output for the next
    symbol is 1 or 0: with a margin, of all symbols that have more probability than that; without,
    of the likeliest alone.
    """

    lanes, scale = 1, "probabilities"

    def __init__(
        self, network: Network, margin: Fraction | None = None, clipped: bool = True
    ) -> None:
        network = network.spread()
        self._network, self._margin, self._clipped = network, margin, clipped
        self._units, self._sending = network.wired(), network.sending
        self._numbers: dict[tuple[Span, ...], int] = {}
        self._states: list[tuple[Span, ...] | None] = [None]
        self._after = np.full((1, network.symbols), -1, np.int64)
        self._said = np.full((1, network.symbols, network.symbols), -1, np.int8)

    def start(self, rows: int, capacity: int) -> NDArray[np.int64]:
        """Nothing read."""
        return np.zeros(rows, np.int64)

    def rows(self, state: NDArray[np.int64], numbers: NDArray[Any]) -> NDArray[np.int64]:
        """Some rows of a state."""
        return np.asarray(state[numbers])

    def same(self, state: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
        """Whether the same comes after two states."""
        return bool((state == other).all())

    def step(
        self, state: NDArray[np.int64], inputs: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Read one symbol a row (lane, row)."""
        symbols = np.asarray(inputs)[0]
        for number, symbol in zip(state, symbols, strict=True):
            if self._after[number, symbol] < 0:
                self._explore(int(number), int(symbol))
        return self._after[state, symbols], self._said[state, symbols].astype(np.float64)[None]

    def _explore(self, number: int, symbol: int) -> None:
        values = self.values(self._states[number], symbol)
        state = tuple(values[unit] for unit in self._sending)
        if state not in self._numbers:
            self._numbers[state] = len(self._states)
            self._states.append(state)
            if len(self._states) > len(self._after):
                self._after = np.concatenate([self._after, np.full_like(self._after, -1)])
                self._said = np.concatenate([self._said, np.full_like(self._said, -1)])
        symbols = self._network.symbols
        outputs = [values[unit] for unit in range(symbols, 2 * symbols)]
        if self._margin is None:
            said: Iterable[bool] = np.arange(symbols) == likeliest(outputs)
        else:
            said = possible(outputs, self._margin)
        self._after[number, symbol], self._said[number, symbol] = self._numbers[state], list(said)

    def values(self, state: tuple[Span, ...] | None, symbol: int) -> dict[int, Span]:
        """Of all units that are computed, after a symbol."""
        before = {} if state is None else dict(zip(self._sending, state, strict=True))
        values: dict[int, Span] = {}
        for unit, forward, recurrent in self._units:
            parts = [_scaled(values[source], weight) for source, weight in forward]
            if state is not None:
                parts += [_scaled(before[source], weight) for source, weight in recurrent]
            own = unit < self._network.symbols
            if own:
                parts.append(Span.at(ONE if unit == symbol else ZERO))
            if not self._network.products[unit]:
                x = Span(
                    sum((part.low for part in parts), ZERO),
                    sum((part.high for part in parts), ZERO),
                )
            elif forward or own:
                x = Span.at(ONE)
                for part in parts:
                    x = _product(x, part)
            else:
                x = Span.at(ZERO)
            bias = Fraction(*self._network.biases.get(unit, (0, 1)))
            x = Span(x.low + bias, x.high + bias)
            if self._clipped:
                x = Span(min(max(x.low, -_LIMIT), _LIMIT), min(max(x.high, -_LIMIT), _LIMIT))
            values[unit] = activated(self._network.activations[unit], x)
        return values


def _scaled(value: Span, weight: Fraction) -> Span:
    ends = value.low * weight, value.high * weight
    return Span(*ends) if weight > 0 else Span(ends[1], ends[0])
