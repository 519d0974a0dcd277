"""Language task 2, patterns whose bits grow, and its oracle."""

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
from quickstudy.tasks.language.patterns import (
    bit_groups,
    draw_patterns,
    earliest_question,
    latest_delay,
    pattern_verdict,
    questions,
)


@task(
    "language/increasing-period",
    version=1,
    controls=["majority", "copy-last"],
    oracle="increasing-period-oracle",
)
@dataclass(frozen=True)
class IncreasingPeriod:
    """Go on with a binary pattern that repeats itself more slowly each time.

    Sees: `length` tokens out of `0 1`. A period p is uniform in shortest .. longest, a pattern of p fair bits is
    passed through again and again: each bit once, then each bit twice, then three times ..., cut at `length`.
    (`increase` is how many repetitions each pass adds.)
    Answers: the next token, at every index from 3p + j to the end (2 + increase instead of 3), where j is uniform in
    0 .. p-2 (0 for p = 1 and 2): the pattern has been passed through at least twice.
    Scored: share of these tokens that are right.
    Chance: 1/2. Controls: the most frequent answer 0.50; `copy-last`, which repeats the token just read, 0.868 over
    1200 different sequences, since the later passes are long runs. No published model is more than about 0.02 above
    that.
    Ceiling: 1 (see `increasing-period-oracle`).
    Example: `1 0 1 1 0 0 1 1 1 0 0 0 1 1 1 1 ...`, p = 2, supervised from index 6.
    Source: Cisneros, Sivic and Mikolov 2022, task 2.

    What can be closed. With turns=yes only the first token of each bit's run is asked, the one place where the next
    token is not given by the last: for periods of 2 and more and independent draws, `copy-last` and its opposite are
    then both right with probability 1/2 exactly, since neighbouring bits of the pattern are equal with probability
    1/2. That is not the default: whoever is asked at turns only need not know when a turn comes, which is what the
    task is about.

    Departures: none in the numbers; published, written and corrected are the same.
    """

    shortest: int = parameter(1, at_least=1)
    """Smallest period."""
    longest: int = parameter(10, at_least=1)
    """Largest period."""
    length: int = parameter(100, at_least=4)
    """Tokens per sequence."""
    increase: int = parameter(1, at_least=1)
    """How many times more a bit is repeated in each pass than in the one before."""
    turns: bool = False
    """Whether only the first token of each bit's run is asked."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {}, "written": {}, "corrected": {}}

    def __post_init__(self) -> None:
        if self.shortest > self.longest:
            raise ValueError(f"shortest must be at most longest ({self.longest}), got {self.shortest}")
        # A turn comes at the latest one whole run of the third pass after the first question may have come.
        wait = 2 * self.increase if self.turns else 0
        latest = earliest_question(self.longest, self.increase) + latest_delay(self.longest) + wait
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
        groups = {period: bit_groups(period, self.increase, self.length) for period in self._periods}
        starts = earliest_question(patterns.periods, self.increase) + patterns.delays
        sequences, masks = [], []
        for period, bits, start in zip(patterns.periods.tolist(), patterns.bits, starts.tolist(), strict=True):
            sequences.append(bits[groups[period] % period])
            masks.append(questions(groups[period], start, self.turns))
        return Examples.from_sequences(sequences, masks)

    def check(self, tokens: Any) -> Verdict:
        """The verdict on a sequence; see `pattern_verdict`."""
        return judge(
            tokens,
            self.vocabulary,
            lambda words: pattern_verdict(words, self._periods, self.length, self.increase, self.turns),
        )

    @property
    def _periods(self) -> range:
        return range(self.shortest, self.longest + 1)


@control("increasing-period-oracle", version=1, role="oracle")
class IncreasingPeriodOracle(FixedRule):
    """Continues with the smallest period whose first two passes, and all since, are what has been read.

    Always right where the task asks: the period p of the pattern is one of those that fit, and all that fit go on in
    the same way. (Two sequences of periods p < q that agree in the first two passes of q agree for ever. Verified for
    all patterns of up to 12 bits against all q up to 16 and increases of 1 to 3.)
    """

    def __init__(self, task: IncreasingPeriod, brief: Brief, seed: int) -> None:
        self._periods = range(task.shortest, task.longest + 1)
        self._increase = task.increase

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The token that the smallest period gives; the token just read where no period fits."""
        answers = np.array(inputs)
        for period in reversed(self._periods):
            first = earliest_question(period, self._increase)
            if first <= len(inputs):
                places = bit_groups(period, self._increase, len(inputs) + 1) % period
                wrong = np.flatnonzero(inputs != inputs[places[:-1]])
                stop = wrong[0] if len(wrong) else len(inputs)
                answers[first - 1 : stop] = inputs[places[first : stop + 1]]
        return answers
