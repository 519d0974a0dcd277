"""The task on which learners are checked: small, learnable by anything that learns, with many questions a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from quickstudy.base.examples import Examples


@dataclass(frozen=True)
class Partners:
    """Say the partner of each letter.

    Sees: letters, each followed by its partner (`b B d D a A`), 2 to 5 letters a sequence, uniform. Answers: the
    partner, after every letter. Chance 1/letters; a table of the last token is enough for 1, so that a learner that
    fails here has learned nothing from what it was told.
    """

    letters: int = 6

    id: ClassVar[str] = "testing/partners"
    version: ClassVar[int] = 1
    controls: ClassVar[tuple[str, ...]] = ("majority", "copy-last")
    oracle: ClassVar[str] = "none is needed: the task only serves to check learners"

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Lower case, then their partners in upper case."""
        lower = [chr(ord("a") + letter) for letter in range(self.letters)]
        return *lower, *(letter.upper() for letter in lower)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        drawn = [rng.integers(self.letters, size=rng.integers(2, 6)) for _ in range(count)]
        tokens = [np.stack([letters, letters + self.letters], axis=1).ravel() for letters in drawn]
        return Examples.from_sequences(tokens, [range(1, len(sequence), 2) for sequence in tokens])
