"""`ngram`: counts of what was right after the last symbols, backed off to shorter contexts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief, Pace, Snapshot
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.learners.host import Hosted, HostPupil


class NgramHost:
    """Counts of answers by context, the symbols read last. Nothing in it is random."""

    scale = "probabilities"

    def __init__(self, order: int, answers: int) -> None:
        self._order, self._answers = order, answers
        self._counts: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)

    @property
    def parameters(self) -> int:
        """Counts above 0."""
        return sum(map(len, self._counts.values()))

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count every answer under all its contexts; -1 is where nothing is asked."""
        tokens = inputs.tolist()
        for position, answer in enumerate(targets.tolist()):
            if answer >= 0:
                for context in self._contexts(tokens, position):
                    self._counts[context][answer] += 1

    def predict(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        """(row, answer): probabilities after every symbol."""
        tokens = inputs.tolist()
        return np.array([self._probabilities(tokens, position) for position in range(len(tokens))])

    def _contexts(self, tokens: Sequence[int], position: int) -> list[tuple[int, ...]]:
        """The last 0, 1 ... `order` symbols, as many as there are."""
        most = min(self._order, position + 1)
        return [tuple(tokens[position + 1 - size : position + 1]) for size in range(most + 1)]

    def _probabilities(self, tokens: Sequence[int], position: int) -> NDArray[np.float64]:
        """Interpolated: a context with t kinds of answers among n gives t / (n + t) to shorter
        ones.
        """
        found = np.full(self._answers, 1.0 / self._answers)
        for context in self._contexts(tokens, position):
            counts = self._counts.get(context)
            if counts is None:  # then no longer context was seen either
                break
            found *= len(counts) / (counts.total() + len(counts))
            for answer, count in counts.items():
                found[answer] += count / (counts.total() + len(counts))
        return found

    def snapshot(self) -> Snapshot:
        """A row for every count: size of the context, the context, the answer, the count."""
        rows = [
            [len(context), *context, *[0] * (self._order - len(context)), answer, count]
            for context, counts in self._counts.items()
            for answer, count in counts.items()
        ]
        return Snapshot({"counts": np.array(rows, np.int64).reshape(-1, self._order + 3)})

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        self._counts.clear()
        for size, *context, answer, count in snapshot.arrays["counts"].tolist():
            self._counts[tuple(context[:size])][answer] = count


@learner("ngram", version=1)
@dataclass(frozen=True)
class Ngram:
    """Interpolated n-gram counts: the answer distribution after the last symbols, backed off to
    shorter contexts.

    It learns online, in one pass, and reads symbols only.

    Source: Witten and Bell 1991, method C, interpolated.

    Parameters
    ----------
    order:
        Symbols of the longest context.
    """

    order: int = parameter(5, at_least=0)

    reads: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    pace: ClassVar[Pace] = Pace()
    draws: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """A pupil of one lane."""
        return Hosted(lambda brief, seed: NgramHost(self.order, brief.outputs.width), Ngram).begin(
            brief, streams
        )
