"""`sieve`: a general learner in one pass over symbols, at a cost that is linear in the length of a
sequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief, Pace, Snapshot
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.learners.host import Hosted, HostPupil
from quickstudy.learners.sieve.code_weights import Mind, answer, fresh, study
from quickstudy.learners.sieve.pattern_reading import read

MOST_SYMBOLS = 400
"""Symbols that are still allowed: counts and weights grow with the square of their number."""


class SieveHost:
    """Counts and weights, in plain arrays. Nothing in it is random."""

    scale = "probabilities"

    def __init__(self, settings: Sieve, brief: Brief, seed: int) -> None:
        # A symbol that is read and a symbol that is answered with are the same where the
        # vocabularies are.
        self._symbols, self._answers = (
            max(brief.inputs.width, brief.outputs.width),
            brief.outputs.width,
        )
        if self._symbols > MOST_SYMBOLS:
            raise NotApplicable(
                f"sieve has room for {MOST_SYMBOLS} symbols, and there are {self._symbols}"
            )
        self._mind = fresh(
            self._symbols,
            settings.doubt,
            settings.kept,
            settings.nearness,
            settings.copying,
            settings.plain,
        )
        self._codes = np.zeros(len(self._mind.seen), np.int32)
        self._kept = np.zeros(self._mind.evidence.shape)
        self._ready = np.zeros(self._mind.evidence.shape[:2], bool)

    @property
    def parameters(self) -> int:
        """Counts and weights that answers rest on."""
        parts = ("tables", "cells", "hits", "tries", "evidence", "gates")
        return sum(int(getattr(self._mind, part).size) for part in parts)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Every question of a sequence in its order."""
        sequence = np.ascontiguousarray(inputs, np.int32)
        self._ready[:] = False
        study(
            self._mind,
            sequence,
            read(sequence, self._symbols),
            np.ascontiguousarray(targets, np.int32),
            self._codes,
        )

    def predict(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        """How likely each answer is, after every symbol."""
        return self.predict_at(inputs, np.arange(len(inputs)))

    def predict_at(self, inputs: NDArray[Any], places: NDArray[Any]) -> NDArray[np.float64]:
        """How likely each answer is, after some of the symbols."""
        sequence = np.ascontiguousarray(inputs, np.int32)
        known, wanted = read(sequence, self._symbols), np.ascontiguousarray(places, np.int64)
        rows = answer(self._mind, sequence, known, wanted, self._codes, self._kept, self._ready)
        rows = np.maximum(rows[:, : self._answers], 0.0) + 1e-12
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))

    def snapshot(self) -> Snapshot:
        """All counts and weights."""
        return Snapshot({name: part.copy() for name, part in self._mind._asdict().items()})

    def restore(self, snapshot: Snapshot) -> None:
        """As it was."""
        self._ready[:] = False
        self._mind = Mind(**{name: np.array(snapshot.arrays[name]) for name in Mind._fields})


class SievePupil(HostPupil):
    """Answers an exam at its questions only: a row for every symbol read would cost ten times as
    much.
    """

    def _predicted_at(
        self, read: Sequence[NDArray[Any]], places: Sequence[NDArray[np.int64]]
    ) -> Iterator[NDArray[np.float64]]:
        return map(self.host.predict_at, read, places)  # type: ignore[attr-defined]


@learner("sieve", version=1)
@dataclass(frozen=True)
class Sieve:
    """Bayesian mixture of hypotheses on where the answer is or what it depends on, weighted by
    their predictions.

    A sequence is read once. Before a question hundreds of codes are looked up: symbols around the
    first and last occurrences of recent symbols, pairs and chains of them; continuations of the
    longest matches of the current context; counts, distances, order, parity. A hypothesis is that
    the answer equals one of these symbols, or depends on one code or on two. All are weighted by
    Bayes' rule with forgetting, separately for each of the last symbols. Symbols only; nothing is
    random.

    Source: ours; sleeping experts after Freund et al. 1997, suffix matching after Cleary and Witten
        1984.

    Parameters
    ----------
    doubt:
        Pseudo-count of a table's prior.
    kept:
        Factor by which evidence is discounted per question.
    nearness:
        Factor of a lookup's prior for every symbol that it is further back.
    copying:
        Prior odds of copying against a table.
    plain:
        Prior weight of a hypothesis that looks nothing up.
    """

    doubt: float = parameter(0.3, above=0)
    kept: float = parameter(0.98, above=0, at_most=1)
    nearness: float = parameter(0.7, above=0, at_most=1)
    copying: float = parameter(1.5, above=0)
    plain: float = parameter(0.3, above=0)

    reads: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    pace: ClassVar[Pace] = Pace()
    draws: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """A pupil of one lane."""
        hosted = Hosted(lambda brief, seed: SieveHost(self, brief, seed), Sieve).begin(
            brief, streams
        )
        return SievePupil(hosted.host, brief)
