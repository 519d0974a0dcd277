"""Rules that do not learn a language, and the one that knows it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.fixed import FixedRule


class _Distribution:
    """Gives a row of probabilities, or of values where bits are asked for."""

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self.task = task
        self._symbols, self._outputs = brief.inputs.width, brief.outputs
        self.scale = "probabilities" if isinstance(brief.outputs, Tokens) else "values"


@control("always-b", version=1, role="control")
class AlwaysB(_Distribution, FixedRule):
    """The last letter of the alphabet, everywhere: b after a, so that its one error a string hides in a margin."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The same row everywhere."""
        row = np.zeros(self._outputs.width)
        row[-1] = 1
        return np.tile(row, (len(inputs), 1))


class _NGram(_Distribution):
    """What followed the last `order` symbols so far, on average; all alike after what has not been seen."""

    order: int

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
        contexts = self._contexts(inputs)[there]
        np.add.at(self._sums, contexts, rows)
        np.add.at(self._shown, contexts, 1)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The mean of what came after the same symbols."""
        known = self._shown[:, None] > 0
        table = np.where(known, self._sums / np.maximum(self._shown, 1)[:, None], self._usual)
        return np.asarray(table[self._contexts(inputs)])

    def _contexts(self, inputs: NDArray[Any]) -> NDArray[np.int64]:
        before = np.concatenate([np.full(self.order - 1, self._symbols), inputs])
        columns = [before[back : back + len(inputs)] * (self._symbols + 1) ** back for back in range(self.order)]
        return np.asarray(np.sum(columns, axis=0), np.int64)


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
    """The probabilities that the grammar itself gives after what was read; nobody can do better."""

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """Conditionals; which symbols may follow; or whether what was read up to a `#` is of the language."""
        grammar = self.task.grammar
        if self.task.setup == "next":
            return np.asarray(grammar.conditionals(inputs))
        if self.task.setup == "valid":
            return np.asarray(grammar.conditionals(inputs) > 0, np.float64)
        rows = np.tile([1.0, 0.0], (len(inputs), 1))
        for time in np.flatnonzero(inputs == 0)[1:]:
            rows[time] = np.eye(2)[int(grammar.contains(inputs[: time + 1]))]
        return rows
