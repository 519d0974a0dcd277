"""How the grammar family examines: learn from few strings of a language, then be asked about many
longer ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import GrammarFacts, stated
from quickstudy.base.trace import Unfinished
from quickstudy.protocols.examination import Examination
from quickstudy.protocols.strings import Call, Material
from quickstudy.tasks.grammar.lists import MODES, TestList
from quickstudy.tasks.grammar.strings import StringTask

MOST_ASKED = 10_000_000
"""Strings of a test."""


@protocol("grammar", version=1)
@dataclass(frozen=True)
class GrammarProtocol:
    """Learn from few strings, then answer many longer ones: the B index is the largest factor
    between the two.

    For a factor b a fresh learner is trained on 10^order / b strings and tested on 10^order b
    others. The largest factor comes first, and the first factor without an error is the last one
    tested: smaller ones cannot be better. A factor for which there are not enough strings is left
    out, and the record has the reason. Passes over the strings are part of the cost.

    Source: Lan, Chemla and Katzir 2023.
    Departures: training sizes are rounded where a factor does not divide.

    Parameters
    ----------
    order:
        Order of magnitude of the number of strings.
    factors:
        Factors b.
    shown:
        Another number of training strings; 0 for none.
    asked:
        Another number of test strings; 0 for none.
    training:
        `sampled` from the grammar (the strings of a larger factor are the first of those of a
        smaller one); `exhaustive`: the shortest, each once; `released`: the published sets.
    data_seed:
        Seed of the released sets.
    test:
        Test strings, all longer than the longest training string: `exhaustive`, `released`, `grid`
        or `deep`.
    metric:
        `det`: the likeliest symbol where the next is certain; `majority`: more than half of the
        probability there; `cat`: the possible next symbols, and no others, above the margin, at
        every step; `usual`: `cat` for languages in which nothing is certain, otherwise `det`.
    margins:
        Shares of errors that are forgiven; for `cat`, probabilities that count as zero.
    bits:
        Also compute the cross-entropy, on all strings.
    upto:
        `decided` reads 10^order strings, and then only as far as any margin can be kept; `whole`
        reads all, with the same scores; `first-wrong` stops at the first error and scores only what
        margin 0 decides.
    """

    order: int = parameter(3, at_least=1, at_most=6)
    factors: tuple[float, ...] = parameter((10.0, 4.0, 2.0, 1.0))
    shown: int = parameter(0, at_least=0)
    asked: int = parameter(0, at_least=0)
    training: str = parameter("sampled", choices=("sampled", "exhaustive", "released"))
    data_seed: int = parameter(100, at_least=0)
    test: str = parameter("exhaustive", choices=MODES)
    metric: str = parameter("usual", choices=("usual", "det", "majority", "cat"))
    margins: tuple[float, ...] = parameter((0.0, 0.005))
    bits: bool = parameter(False)
    upto: str = parameter("decided", choices=("decided", "whole", "first-wrong"))

    measures: ClassVar[tuple[str, ...]] = (
        "reach-beyond",
        "reach",
        "b-index",
        "string-accuracy",
        "cross-entropy",
        "description-length",
    )
    question: ClassVar[str] = "How far does it generalise from how little?"
    programs: ClassVar[int] = 2  # to read many strings, and one
    headline: ClassVar[str] = "log-beyond"
    second: ClassVar[str] = "accuracy"
    outcome: ClassVar[tuple[str, ...]] = ("accuracy",)
    columns: ClassVar[tuple[str, ...]] = (
        "log-beyond",
        "largest-right",
        "b-index",
        "b-index-0.005",
        "accuracy",
        "strings-right",
    )
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"training": "released", "test": "released"},
    }

    def __post_init__(self) -> None:
        if not self.factors or not all(0 < one < math.inf for one in self.factors):
            raise ValueError(f"factors must be numbers above 0, got {self.factors}")
        if len(set(self.factors)) < len(self.factors):
            raise ValueError(f"factors must be different, got {self.factors}")
        if max(self.factors) * 10**self.order > MOST_ASKED:
            raise ValueError(
                f"factors times 10^order must be at most {MOST_ASKED:,}, got {max(self.factors):g}"
            )
        if not self.margins or not all(0 <= margin < 1 for margin in self.margins):
            raise ValueError(f"margins must be numbers from 0 to below 1, got {self.margins}")

    def unfit(self, task: Any) -> str:
        """Why a task cannot be examined; empty where it can. Raises UsageError where the released
        list is too short for every factor, which is known before anything is run.
        """
        if not isinstance(task, StringTask):
            return f"{task.id} is not a language of strings"
        TestList(
            task, self.test if self.test != "released" else "exhaustive", 0, 0
        )  # whether there is such a list
        if stated(task.grammar, GrammarFacts).finite and self.test == "exhaustive":
            fewest = min(self.sizes(factor)[1] for factor in self.factors)
            TestList(task, "exhaustive", 0, fewest).check_enough()
        fault = None
        for factor in (
            sorted(self.factors, reverse=True) if self.training == self.test == "released" else ()
        ):
            try:
                self.material(task, Streams(0, task.id, 0), factor)
            except UsageError as error:
                fault = error
            else:
                return ""
        if fault is not None:
            raise fault
        return ""

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `string-outcomes`."""
        if not isinstance(task, StringTask):
            raise NotApplicable(self.unfit(task))
        return Call(self, task, learner, streams, unfinished or Unfinished()).examined()

    def sizes(self, factor: float) -> tuple[int, int]:
        """Strings shown and strings asked about."""
        by_factor = max(1, round(10**self.order / factor)), max(1, round(10**self.order * factor))
        return self.shown or by_factor[0], self.asked or by_factor[1]

    def material(self, task: StringTask, stream: Streams, factor: float) -> Material:
        """The strings shown, and the strings asked about. Raises UsageError where there are not
        enough strings.
        """
        shown, asked = self.sizes(factor)
        if self.training == "released":
            strings = task.released_strings(self.data_seed, shown)
        elif self.training == "exhaustive":
            strings = list(TestList(task, "exhaustive", 0, shown))
        else:
            strings = task.grammar.draws(stream.numpy("data"), shown)
        return strings, TestList.behind(task, self.test, strings, asked)
