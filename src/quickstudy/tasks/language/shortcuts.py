"""Rules that answer questions of several kinds without looking up what is asked: what the generators leave open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.base.learner import Brief
from quickstudy.tasks.coins import prefix_coins
from quickstudy.tasks.language.clauses import Fact
from quickstudy.tasks.language.lookup import Answerer, Question, adjective_of, skim_questions
from quickstudy.tasks.language.words import NO, NUMBERS, YES

ZERO = NUMBERS[0]


class _ByKind(Answerer):
    """Keeps count of the answers it was shown, for each kind of question."""

    learns = True

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        super().__init__(task, brief, seed)
        self._seen: dict[str, Counter[str]] = {}

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count the answers; -1 stands where nothing is asked."""
        for question in skim_questions([self._vocabulary[id] for id in inputs.tolist()]):
            target = int(targets[question.place])
            if target >= 0:
                self._seen.setdefault(question.kind, Counter())[self._vocabulary[target]] += 1

    def _usual(self, kind: str, other_than: str = "") -> str:
        """The most frequent answer; the one that was shown first among equals; NO before any was shown."""
        ranking = [answer for answer, _ in self._seen.get(kind, Counter()).most_common() if answer != other_than]
        return ranking[0] if ranking else NO

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        return self._usual(question.kind)


@control("question-majority", version=1, role="control")
class QuestionMajority(_ByKind):
    """The most frequent answer so far to this kind of question: by yes or no, how many, what colour, what size."""


@control("latest-adjective", version=1, role="control")
class LatestAdjective(_ByKind):
    """Asked for a colour or a size, the one that was mentioned last with anything affirmed.

    Other questions, and those where none was, get the most frequent answer so far to this kind of question.
    """

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        latest = _latest([fact for fact in facts if fact.affirmed], question.kind)
        return latest or self._usual(question.kind)


@control("verb-only", version=1, role="control")
class VerbOnly(_ByKind):
    """Looks at the statement with the queried verb, not at the name in the question, and does not count.

    By yes or no: YES if more names of the verb are affirmed than denied, NO if fewer, a coin if as many. How many: ZERO
    if none is affirmed, else the most frequent other number so far. What colour or size: the one mentioned last among
    those affirmed of the verb.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        super().__init__(task, brief, seed)
        self._seed = seed

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        stated = [fact for fact in facts if fact.verb == question.verb]
        affirmed = [fact for fact in stated if fact.affirmed]
        if question.kind == "HOW":
            return self._usual("HOW", other_than=ZERO) if affirmed else ZERO
        if question.kind != "DO":
            return _latest(affirmed, question.kind) or self._usual(question.kind)
        leaning = 2 * len(affirmed) - len(stated)
        if leaning == 0:
            read = inputs[: question.place + 1]
            leaning = 1 if prefix_coins(self._seed, read, len(self._vocabulary))[-1] < 0.5 else -1
        return YES if leaning > 0 else NO


def _latest(facts: Sequence[Fact], kind: str) -> str | None:
    """The last colour or size among the facts; None for other kinds of questions."""
    if kind in ("DO", "HOW"):
        return None
    return next(filter(None, (adjective_of(fact, kind) for fact in reversed(facts))), None)
