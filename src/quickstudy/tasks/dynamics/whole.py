"""The baseline of every classification of sequences that has all of a sequence before it, and no
memory to fill.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.base.spaces import Reals
from quickstudy.base.stated import TaskFacts, stated

Floats = NDArray[np.float64]
STRENGTHS: Floats = np.array([10.0**power for power in range(-6, 3)])
"""The ridge strengths that are tried, times the number of sequences; inputs are standardised."""


@control("linear-whole", version=1, role="control")
class WholeLinear:
    """A linear classifier of the raw input: ridge regression on whole sequences, each cut into as
    many equal parts as the shortest one has steps, a part being the mean of its steps. Where all
    have the same length, as images do, that is every number of them. Its strength is the one by
    which each sequence is best predicted from all the others.

    Its answer at a step makes the mean of its answers so far its opinion of the
    sequence so far; where the class is asked for at the end alone, it gives its opinion there. A
    linear rule on single steps sees less: where every input has mean 0 over a sequence, as in
    speech, the mean of its answers is the same for all sequences. Source: Wringe, Trefzer and
    Stepney, section 9.3, ask for base cases.
    """

    reads = gives = (Reals,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._shown: list[Floats] = []
        self._answers: list[Floats] = []
        self._outputs = brief.outputs.width
        self._at_the_end = stated(task, TaskFacts).asked == "last"
        self._fit: tuple[int, Floats, Floats] | None = None

    @property
    def parameters(self) -> int:
        """Of its regression."""
        return int(self._fitted()[1].size + self._outputs) if self._shown else 0

    def learn(self, inputs: Floats, targets: Floats) -> None:
        """Keep the sequence, and its class."""
        self._shown.append(np.array(inputs, dtype=np.float64))
        self._answers.append(targets[~np.isnan(targets).any(axis=1)][-1])
        self._fit = None

    def predict(self, inputs: Floats) -> Floats:
        """(step, output), each by what was read so far."""
        answers = np.zeros((len(inputs), self._outputs))
        if not self._shown:
            return answers
        parts, weights, constant = self._fitted()
        sequence, counts = np.asarray(inputs, np.float64), np.arange(1, len(inputs) + 1)
        if self._at_the_end:
            answers[-1] = _cut(sequence, counts[-1:], parts)[0] @ weights + constant
            return answers
        totals = counts[:, None] * (_cut(sequence, counts, parts) @ weights + constant)
        return np.diff(totals, axis=0, prepend=0.0)

    def _fitted(self) -> tuple[int, Floats, Floats]:
        if self._fit is None:
            parts = min(len(one) for one in self._shown)
            rows, answers = (
                np.concatenate([_cut(one, np.array([len(one)]), parts) for one in self._shown]),
                np.stack(self._answers),
            )
            spread = rows.std(axis=0)
            spread[spread < 1e-12] = 1.0  # a part that never changes has no information
            fits, wrong = foretelling(rows / spread, answers, STRENGTHS * float(len(rows)))
            weights = fits[wrong.argmin()] / spread[:, None]
            self._fit = parts, weights, answers.mean(axis=0) - rows.mean(axis=0) @ weights
        return self._fit


def _cut(sequence: Floats, counts: NDArray[np.int64], parts: int) -> Floats:
    """(count, parts x width): the means of equal parts of so many first steps; of too few, some
    twice.
    """
    begins = np.arange(parts) * counts[:, None] // parts
    ends = np.maximum(begins + 1, np.arange(1, parts + 1) * counts[:, None] // parts)
    sums = np.concatenate([np.zeros((1, sequence.shape[1])), np.cumsum(sequence, axis=0)])
    return np.asarray((sums[ends] - sums[begins]) / (ends - begins)[..., None]).reshape(
        len(counts), -1
    )


def foretelling(rows: Floats, answers: Floats, strengths: Floats) -> tuple[Floats, Floats]:
    """Weights (strength, feature, output) of ridge regressions with a constant, and (strength,) the
    squared errors of all rows, each predicted from the others: those of the fit, divided by what a
    row has not to say in it itself.
    """
    shown, wanted = rows - rows.mean(axis=0), answers - answers.mean(axis=0)
    left, sizes, right = np.linalg.svd(shown, full_matrices=False)
    products = left.T @ wanted
    fits, errors = [], []
    for strength in strengths:
        share = sizes**2 / (sizes**2 + strength)
        own = 1 / len(rows) + np.square(left) @ share
        errors.append(
            np.square((wanted - left @ (share[:, None] * products)) / (1 - own)[:, None]).sum()
        )
        fits.append(right.T @ ((sizes / (sizes**2 + strength))[:, None] * products))
    return np.stack(fits), np.array(errors)
