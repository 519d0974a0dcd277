"""Sequences whose answer hangs on a few early steps, with distraction after: addition, order,
permutation, recall.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.tasks.dynamics.series import Floats, taxonomy

LONG: dict[str, Any] = {
    "controls": ["mean", "linear"],
    "oracle": "exact-state",
    "protocol": "long-memory",
}


@dataclass(frozen=True)
class LongMemory:
    """Sequences of `span` steps, up to a tenth longer where lengths vary, with questions at their
    end.

    The class attribute `tolerance` is the largest error of a correct answer; None where the largest
    of several numbers is the answer.

    Parameters
    ----------
    span:
        Length of a sequence in steps.
    """

    span: int = parameter(100, at_least=20)

    tolerance: ClassVar[float | None] = None
    asked_last: ClassVar[int] = 1
    taps: ClassVar[int] = 10
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "computation", "none", stationary=False, output="one-hot"
    )

    def drawn(self, rng: np.random.Generator, count: int, steps: int) -> Floats:
        """(steps, count, width): fresh sequences."""
        raise NotImplementedError

    def response(self, inputs: Floats) -> Floats:
        """(time, width): what could be answered after each step of inputs (time, width); right at
        their end.
        """
        raise NotImplementedError

    def lengths(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """(count,): steps of sequences."""
        return rng.integers(self.span, self.span + self.span // 10 + 1, count)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """Fresh sequences."""
        lengths = self.lengths(rng, count)
        whole = self.drawn(rng, count, int(lengths.max()))
        time = np.arange(len(whole))[:, None]
        inputs = np.where((time < lengths)[..., None], whole, 0.0)
        targets = np.stack([self.response(inputs[:, number]) for number in range(count)], axis=1)
        asked = (time < lengths) & (time >= lengths - self.asked_last)
        return Examples(inputs, np.where(asked[..., None], targets, 0.0), asked, lengths)


def _places(
    rng: np.random.Generator, span: int, tenths: tuple[tuple[int, int], ...], count: int
) -> NDArray[np.int64]:
    """(part, count): one step in each part of the span, given in tenths of it."""
    return np.stack(
        [rng.integers(low * span // 10, high * span // 10, count) for low, high in tenths]
    )


@task("dynamics/long-addition", version=1, **LONG)
@dataclass(frozen=True)
class Marked(LongMemory):
    """Add two marked numbers from a long sequence.

    Sees: a number uniform in 0 to 1, and a mark that is 1 at one step of the first tenth of the
        sequence and at one step of the next four tenths, else 0.
    Answers: after the last step, half the sum of the two marked numbers.
    Scored: share of sequences with an error of 0.04 or more (0.5 for bits), and NRMSE.
    Chance: nearly 1; for bits, one half.
    Ceiling: 0; below 0.01 counts as solved.
    Source: Jaeger 2012, after Hochreiter and Schmidhuber 1997; Wringe, Trefzer and Stepney 2024,
        section 6.1.

    Parameters
    ----------
    operation:
        `sum`, `product`, or `xor`: whether exactly one of two marked bits is set.
    """

    operation: str = parameter("sum", choices=("sum", "product", "xor"))

    inputs: ClassVar[Reals] = Reals(2)
    outputs: ClassVar[Reals] = Reals(1)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy("computation", "none", stationary=False)

    @property
    def tolerance(self) -> float:  # type: ignore[override]  # by what is asked
        """How far off an answer may be."""
        return 0.5 if self.operation == "xor" else 0.04

    def drawn(self, rng: np.random.Generator, count: int, steps: int) -> Floats:
        """Numbers and marks."""
        shape = steps, count
        numbers = (
            rng.integers(2, size=shape) if self.operation == "xor" else rng.uniform(0.0, 1.0, shape)
        )
        marks = np.zeros(shape)
        np.put_along_axis(marks, _places(rng, self.span, ((0, 1), (1, 5)), count), 1.0, axis=0)
        return np.stack([numbers, marks], axis=-1).astype(np.float64)

    def response(self, inputs: Floats) -> Floats:
        """Of the marked numbers so far."""
        marked = np.where(inputs[:, 1] > 0.5, inputs[:, 0], 0.0)
        total, squares = np.cumsum(marked), np.cumsum(marked**2)
        product = np.maximum(total**2 - squares, 0.0) / 2
        return np.asarray(
            {"sum": total / 2, "product": product, "xor": total - 2 * product}[self.operation]
        )[:, None]


task.variant(
    "dynamics/long-multiplication",
    version=1,
    of=Marked,
    summary="Multiply two marked numbers of long ago.",
    operation="product",
)
task.variant(
    "dynamics/long-xor",
    version=1,
    of=Marked,
    summary="Exclusive or of two marked bits of long ago.",
    operation="xor",
)


@task("dynamics/long-order", version=1, **LONG)
@dataclass(frozen=True)
class Order(LongMemory):
    """Report which two signals came, and in which order.

    Sees: one of six symbols per step, one-hot: four distractors and, at one step of the second and
        of the sixth tenth of the sequence, one of two signals.
    Answers: after the last step, which of the four orders it was, one-hot.
    Scored: share of sequences whose largest answer is wrong.
    Chance: 3/4 wrong (7/8 with three signals).
    Ceiling: 0.
    Source: Jaeger 2012.

    Parameters
    ----------
    signals:
        Number of signals. The third comes in the seventh tenth, the second then in the fourth.
    """

    signals: int = parameter(2, choices=(2, 3))

    inputs: ClassVar[Reals] = Reals(6)

    @property
    def outputs(self) -> Reals:
        """One number for each order."""
        return Reals(2**self.signals)

    def drawn(self, rng: np.random.Generator, count: int, steps: int) -> Floats:
        """Symbols, the signals first among them."""
        symbols = rng.integers(2, 6, (steps, count))
        tenths = ((1, 2), (5, 6)) if self.signals == 2 else ((1, 2), (3, 4), (6, 7))
        signals = rng.integers(2, size=(self.signals, count))
        np.put_along_axis(symbols, _places(rng, self.span, tenths, count), signals, axis=0)
        return np.eye(6)[symbols]

    def response(self, inputs: Floats) -> Floats:
        """The signals so far, as digits of a number."""
        number, found = 0, np.zeros((len(inputs), self.outputs.width))
        for row, symbol in enumerate(inputs):
            if symbol[:2].any():
                number = (2 * number + int(symbol[1] > 0.5)) % self.outputs.width
            found[row, number] = 1.0
        return found


task.variant(
    "dynamics/long-order-3",
    version=1,
    of=Order,
    summary="Say which three signals came, and in which order.",
    signals=3,
)


@task("dynamics/long-permutation", version=1, **LONG)
@dataclass(frozen=True)
class Permutation(LongMemory):
    """Report which symbol of a hundred came first.

    Sees: one-hot symbols: first one of two, then others of the remaining 98.
    Answers: after the last step, the first symbol, one-hot.
    Scored: share of sequences whose largest answer is wrong.
    Chance: one half.
    Ceiling: 0.
    Source: Jaeger 2012.
    """

    inputs: ClassVar[Reals] = Reals(100)
    outputs: ClassVar[Reals] = Reals(2)

    def lengths(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """All the same."""
        return np.full(count, self.span)

    def drawn(self, rng: np.random.Generator, count: int, steps: int) -> Floats:
        """One of two, then noise."""
        symbols = rng.integers(2, 100, (steps, count))
        symbols[0] = rng.integers(2, size=count)
        return np.eye(100)[symbols]

    def response(self, inputs: Floats) -> Floats:
        """The first."""
        return np.tile(inputs[0, :2], (len(inputs), 1))


@task("dynamics/long-recall-5", version=1, **LONG)
@dataclass(frozen=True)
class Recall(LongMemory):
    """Repeat a pattern of five bits after a long silence.

    Sees: for `items` steps one of `symbols` channels is 1; then a channel that means wait, for
        `span` steps; one step that means go; and wait again.
    Answers: in the last `items` steps, the pattern, one-hot.
    Scored: share of sequences with any wrong symbol, the largest answer taken.
    Chance: nearly 1.
    Ceiling: 0.
    Source: Jaeger 2012, after Hochreiter and Schmidhuber 1997.

    Two symbols and five items are the five-bit memory task; five symbols and ten items are the
    twenty-bit task.

    Parameters
    ----------
    symbols:
        Number of different symbols.
    items:
        Length of the pattern.
    """

    symbols: int = parameter(2, at_least=2)
    items: int = parameter(5, at_least=1)

    @property
    def inputs(self) -> Reals:
        """The symbols, wait, go."""
        return Reals(self.symbols + 2)

    @property
    def outputs(self) -> Reals:
        """The symbols."""
        return Reals(self.symbols)

    @property
    def asked_last(self) -> int:  # type: ignore[override]  # a parameter here
        """The whole pattern."""
        return self.items

    def lengths(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """All the same."""
        return np.full(count, self.span + 2 * self.items + 1)

    def drawn(self, rng: np.random.Generator, count: int, steps: int) -> Floats:
        """Patterns, waiting, go, waiting."""
        channels = np.full((steps, count), self.symbols)
        channels[: self.items] = rng.integers(self.symbols, size=(self.items, count))
        channels[self.items + self.span] = self.symbols + 1
        return np.asarray(np.eye(self.symbols + 2)[channels])

    def response(self, inputs: Floats) -> Floats:
        """The pattern from the step after go on; nothing before."""
        found = np.zeros((len(inputs), self.symbols))
        go = np.flatnonzero(inputs[:, -1] > 0.5)
        if len(go):
            said = inputs[: self.items, : self.symbols]
            part = found[go[0] + 1 : go[0] + 1 + self.items]
            part[:] = said[: len(part)]
        return found


task.variant(
    "dynamics/long-recall-20",
    version=1,
    of=Recall,
    summary="Say again a pattern of ten symbols out of five after a long silence.",
    symbols=5,
    items=10,
)
