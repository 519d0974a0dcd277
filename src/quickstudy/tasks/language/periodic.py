"""Language task 1, periodic patterns, and its oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control, task
from quickstudy.base.examples import Examples
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameter
from quickstudy.tasks.fixed import FixedRule
from quickstudy.tasks.language.checking import Verdict, judge
from quickstudy.tasks.language.patterns import draw_patterns, latest_delay, pattern_verdict


@task("language/periodic", version=1, controls=["majority", "copy-last"], oracle="periodic-oracle")
@dataclass(frozen=True)
class Periodic:
    """Go on with a binary pattern that repeats itself.

    Sees: `length` tokens out of `0 1`. A period p is uniform in shortest .. longest, a pattern of p fair bits is
    repeated and cut at `length`. A pattern may itself be periodic (0101 counts as period 4), so that short periods are
    more frequent than they look.
    Answers: the next token, at every index from 2p + j to the end, where j is uniform in 0 .. p-2 (0 for p = 1 and 2):
    the pattern has been seen at least twice.
    Scored: share of these tokens that are right.
    Chance: 1/2. Controls: the most frequent answer 0.50; repeating the token just read, 0.46 over the 52 sequences
    of the published form.
    Ceiling: 1. The smallest period of the prefix predicts every token that is asked (see `periodic-oracle`).
    Example: `1 1 0 1 1 0 1 1 0 ...`, p = 3, supervised from index 6 or from index 7.
    Source: Cisneros, Sivic and Mikolov 2022, task 1.

    Departures. Written: periods 1 to 10. Published: the experiments used periods 1 to 5, which give only 52 different
    sequences, hence 41 to learn from and 11 to be tested on instead of 960 and 240. Corrected: as written.
    """

    shortest: int = parameter(1, at_least=1)
    """Smallest period."""
    longest: int = parameter(10, at_least=1)
    """Largest period."""
    length: int = parameter(100, at_least=3)
    """Tokens per sequence."""

    package_defaults: ClassVar[Mapping[str, Any]] = {"longest": 10}
    """What the published package has where its experiment gives another value; the unit of time rests on it."""
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"longest": 5},
        "written": {},
        "corrected": {},
    }

    def __post_init__(self) -> None:
        if self.shortest > self.longest:
            raise ValueError(f"shortest must be at most longest ({self.longest}), got {self.shortest}")
        latest = 2 * self.longest + latest_delay(self.longest)
        if latest >= self.length:
            raise ValueError(
                f"length must be above {latest}, where the first question of period {self.longest} may stand, "
                f"got {self.length}"
            )

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return "0", "1"

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        patterns = draw_patterns(rng, count, self.shortest, self.longest)
        places = np.arange(self.length)[None] % patterns.periods[:, None]
        starts = 2 * patterns.periods + patterns.delays
        tokens = np.take_along_axis(patterns.bits, places, axis=1).T.astype(np.int32)
        asked = np.arange(1, self.length)[:, None] >= starts
        return Examples(tokens[:-1].copy(), tokens[1:].copy(), asked, np.full(count, self.length - 1))

    def check(self, tokens: Any) -> Verdict:
        """The verdict on a sequence; see `pattern_verdict`."""
        periods = range(self.shortest, self.longest + 1)
        return judge(tokens, self.vocabulary, lambda words: pattern_verdict(words, periods, self.length))


@control("periodic-oracle", version=1, role="oracle")
class PeriodicOracle(FixedRule):
    """Continues with the smallest period of what has been read.

    Always right where the task asks. The prefix that was read has the period p of the pattern and at least 2p tokens;
    let q <= p be its smallest period. It is longer than p + q - gcd(p, q), so that by the theorem of Fine and Wilf
    gcd(p, q) is a period too, hence q itself: q divides p, and going on with either is the same.
    """

    def __init__(self, task: Periodic, brief: Brief, seed: int) -> None:
        pass

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The token after the longest border of each prefix, which is the token one smallest period back."""
        tokens = inputs.tolist()
        borders = [0] * len(tokens)
        for index in range(1, len(tokens)):
            border = borders[index - 1]
            while border and tokens[index] != tokens[border]:
                border = borders[border - 1]
            borders[index] = border + (tokens[index] == tokens[border])
        return inputs[np.array(borders, dtype=np.int64)]
