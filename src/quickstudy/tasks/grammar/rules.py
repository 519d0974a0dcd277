"""Rules that do not learn a language, and the one that knows it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.controls import FixedRule


class _Distribution:
    """Gives a row of probabilities, or of values where bits are asked for."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self.task = task
        self._symbols, self._outputs = brief.inputs.width, brief.outputs
        self.scale = "probabilities" if isinstance(brief.outputs, Tokens) else "values"


class _Table(_Distribution):
    """A row for what was read last, the last `order` symbols; it goes step by step, and knows where
    it has been.
    """

    order = 1

    @property
    def table(self) -> NDArray[Any]:
        """(what was read last, output)."""
        raise NotImplementedError

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The row of what was read last, after every symbol."""
        return self.unroll(self.start(1, len(inputs)), inputs[:, None])[1][:, 0]

    def start(self, rows: int, capacity: int) -> NDArray[np.int64]:
        """Nothing read: a symbol that there is not."""
        return np.full((self.order - 1, rows), self._symbols)

    def step(
        self, state: NDArray[np.int64], inputs: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Read one symbol a row."""
        state, given = self.unroll(state, np.asarray(inputs)[None])
        return state, given[0]

    def unroll(
        self, state: NDArray[np.int64], inputs: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Read many symbols (time, row)."""
        read = np.concatenate([state, inputs])
        return read[len(read) - len(state) :], self.table[self._contexts(read, len(inputs))]

    def rows(self, state: NDArray[np.int64], numbers: NDArray[Any]) -> NDArray[np.int64]:
        """Some rows of a state."""
        return state[:, numbers]

    def same(self, state: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
        """Whether two states are the same."""
        return np.array_equal(state, other)

    def fingerprint(self, state: NDArray[np.int64]) -> bytes:
        """What tells a state of one row from others."""
        return state.tobytes()

    def _contexts(self, read: NDArray[Any], steps: int) -> NDArray[np.int64]:
        """(time, row) numbers of what was read last."""
        columns = [
            read[back : back + steps] * (self._symbols + 1) ** back for back in range(self.order)
        ]
        return np.asarray(np.sum(columns, axis=0), np.int64)


@control("always-b", version=1, role="control")
class AlwaysB(_Table, FixedRule):
    """The last letter of the alphabet, everywhere: b after a, so that its one error a string hides
    in a margin.
    """

    @property
    def table(self) -> NDArray[Any]:
        """The same row everywhere."""
        return np.tile(np.eye(self._outputs.width)[-1], (self._symbols + 1, 1))


class _NGram(_Table):
    """What followed the last `order` symbols so far, on average; all alike after what has not been
    seen.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        super().__init__(task, brief, seed)
        width = brief.outputs.width
        self._sums = np.zeros(((self._symbols + 1) ** self.order, width))
        self._shown = np.zeros(len(self._sums))
        self._usual = np.full(width, 1 / width)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count."""
        tokens = isinstance(self._outputs, Tokens)
        there = targets >= 0 if tokens else ~np.isnan(targets[:, 0])
        rows = np.eye(self._outputs.width)[targets[there]] if tokens else targets[there]
        read = np.concatenate([self.start(1, 0)[:, 0], inputs])
        contexts = self._contexts(read, len(inputs))[there]
        np.add.at(self._sums, contexts, rows)
        np.add.at(self._shown, contexts, 1)

    @property
    def table(self) -> NDArray[Any]:
        """The mean of what came after the same symbols."""
        means = self._sums / np.maximum(self._shown, 1)[:, None]
        return np.where(self._shown[:, None] > 0, means, self._usual)


@control("bigram", version=1, role="control")
class Bigram(_NGram):
    """What followed the symbol just read, in what it was shown."""

    order = 1


@control("trigram", version=1, role="control")
class Trigram(_NGram):
    """What followed the two symbols just read, in what it was shown."""

    order = 2


@control("true-grammar", version=1, role="oracle")
class TrueGrammar(_Distribution, FixedRule):
    """The probabilities that the grammar itself gives after what was read; nothing can do
    better.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        if task.grammar is None:
            raise NotApplicable("unknown: the probabilities of sentences from a file")
        super().__init__(task, brief, seed)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Conditionals; which symbols may follow; or whether what was read up to a `#` is of the
        language.
        """
        grammar = self.task.grammar
        if self.task.setup == "next":
            return np.asarray(grammar.conditionals(inputs))
        if self.task.setup == "valid":
            return np.asarray(grammar.conditionals(inputs) > 0, np.float64)
        rows = np.tile([1.0, 0.0], (len(inputs), 1))
        for time in np.flatnonzero(inputs == 0)[1:]:
            rows[time] = np.eye(2)[int(grammar.contains(inputs[: time + 1]))]
        return rows
