"""A rule that judges reviews without any word of praise or blame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.base.learner import Brief

STARS = 10
"""A rating is one number out of so many."""


@control("stated-rating", version=1, role="control")
class StatedRating:
    """Takes the writer's own rating, such as `8/10`, for the answer; the most frequent answer so far without one.

    The labels of the reviews are their writers' ratings, so a rating in the text gives the answer away. Positive from 6
    on; of several ratings the last one counts.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        of, *self._numbers = task.numbers(["/", *map(str, range(STARS + 1))])
        # Pieces that are not in the vocabulary must not be found: no input is negative.
        self._of = -1 if of is None else of
        self._counts = np.zeros(brief.outputs.width, dtype=np.int64)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count the answers; -1 stands where nothing is asked."""
        self._counts += np.bincount(targets[targets >= 0], minlength=len(self._counts))

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """One answer per row, from what has been read up to it."""
        answers = np.full(len(inputs), np.argmax(self._counts))
        for place in np.flatnonzero(inputs[1:-1] == self._of) + 1:
            if inputs[place + 1] == self._numbers[STARS] and int(inputs[place - 1]) in self._numbers:
                answers[place + 1 :] = 2 * self._numbers.index(int(inputs[place - 1])) > STARS
        return answers
