"""Rules that answer the questions of the question-answering tasks: the oracle, and what the
generators leave open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.tasks.controls import WordRule, uniform_by_prefix
from quickstudy.tasks.language.statements import (
    ADJECTIVES,
    NO,
    NUMBERS,
    THINGS,
    VERBS,
    YES,
    Fact,
    skim_facts,
)


class Question(NamedTuple):
    """A question: where its question mark stands, its kind, and the verb and the name in it (empty:
    none).

    kind: `DO` (yes or no), `HOW` (how many), `COLOR` or `SIZE` (what).
    """

    place: int
    kind: str
    verb: str
    name: str


def skim_questions(words: Sequence[str]) -> list[Question]:
    """A question for every question mark, for any words, from the text between it and
    the period or question mark before it.
    """
    found: list[Question] = []
    kind, verb, name = "DO", "", ""
    for place, word in enumerate(words):
        if word == "?":
            found.append(Question(place, kind, verb, name))
        if word in (".", "?"):
            kind, verb, name = "DO", "", ""
        elif word == "HOW" or word in ADJECTIVES:
            kind = word
        elif word in VERBS:
            verb = word
        elif word in THINGS:
            name = word
    return found


class Answerer(WordRule, ABC):
    """Answers every question by a rule on what was stated, and NO anywhere else.

    A subclass gives the answer; a word that is not in the vocabulary becomes NO.
    """

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The rule's answer after every question mark."""
        words = self._words(inputs)
        facts = skim_facts(words)
        answers = np.full(len(words), self._ids[NO], dtype=np.int64)
        for question in skim_questions(words):
            known = [fact for fact in facts if fact.place < question.place]
            answers[question.place] = self._ids.get(
                self._answer(known, question, inputs), self._ids[NO]
            )
        return answers

    @abstractmethod
    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        """The answer of a rule of this kind."""


def adjective_of(fact: Fact, kind: str) -> str | None:
    """The colour or the size of a fact, if it has one."""
    return next((adjective for adjective in fact.adjectives if adjective in ADJECTIVES[kind]), None)


@control("qa-oracle", version=1, role="oracle")
class QaOracle(Answerer):
    """Looks up what was affirmed of the verb in question: always right.

    YES if it was affirmed of the name; how many names it was affirmed of; the colour or size of the
    one asked about.
    """

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        affirmed = [fact for fact in facts if fact.affirmed and fact.verb == question.verb]
        if question.kind == "HOW":
            return NUMBERS[min(len(affirmed), len(NUMBERS) - 1)]
        named = [fact for fact in affirmed if fact.name == question.name]
        if question.kind == "DO":
            return YES if named else NO
        return next(filter(None, (adjective_of(fact, question.kind) for fact in named)), NO)


@control("polarity-count", version=1, role="control")
class PolarityCount(WordRule):
    """YES if more names of the queried verb are affirmed than denied, NO if fewer, a coin if as
    many.
    """

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The answer that the names mentioned so far with the verb read last lean to."""
        words = self._words(inputs)
        verbs = np.array(list(accumulate(words, _latest_verb)))
        affirmed, denied = np.zeros((2, len(words)), dtype=np.int64)
        for fact in skim_facts(words):
            (affirmed if fact.affirmed else denied)[fact.place :] += (
                verbs[fact.place :] == fact.verb
            )
        leaning = self._leaning(affirmed, denied)
        coins = uniform_by_prefix(self._seed, inputs, len(self._vocabulary)) < 0.5
        return np.where((leaning > 0) | ((leaning == 0) & coins), self._ids[YES], self._ids[NO])

    def _leaning(self, affirmed: NDArray[np.int64], denied: NDArray[np.int64]) -> NDArray[np.int64]:
        return affirmed - denied


@control("polarity", version=1, role="control")
class Polarity(PolarityCount):
    """YES if all names of the queried verb are affirmed, NO if all are denied, else a coin."""

    def _leaning(self, affirmed: NDArray[np.int64], denied: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.sign(affirmed) - np.sign(denied)


class ByKind(Answerer):
    """Keeps count of the answers it was shown, for each kind of question."""

    learns = True

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        super().__init__(task, brief, seed)
        self._seen: dict[str, Counter[str]] = {}

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count the answers; -1 stands where nothing is asked."""
        for question in skim_questions(self._words(inputs)):
            target = int(targets[question.place])
            if target >= 0:
                self._seen.setdefault(question.kind, Counter())[self._vocabulary[target]] += 1

    def _usual(self, kind: str, other_than: str = "") -> str:
        """The most frequent answer; the one that was shown first among equals; NO before any was
        shown.
        """
        ranking = [
            answer
            for answer, _ in self._seen.get(kind, Counter()).most_common()
            if answer != other_than
        ]
        return ranking[0] if ranking else NO

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        return self._usual(question.kind)


@control("question-majority", version=1, role="control")
class QuestionMajority(ByKind):
    """The most frequent answer so far to this kind of question: by yes or no, how many, what
    colour, what size.
    """


@control("latest-adjective", version=1, role="control")
class LatestAdjective(ByKind):
    """Asked for a colour or a size, the one that was mentioned last with anything affirmed.

    Other questions, and those where none was, get the most frequent answer so far to this kind of
    question.
    """

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        latest = _latest([fact for fact in facts if fact.affirmed], question.kind)
        return latest or self._usual(question.kind)


@control("verb-only", version=1, role="control")
class VerbOnly(ByKind):
    """Looks at the statement with the queried verb, not at the name in the question, and does not
    count.

    By yes or no: YES if more names of the verb are affirmed than denied, NO if fewer, a coin if as
    many. How many: ZERO if none is affirmed, else the most frequent other number so far. What
    colour or size: the one mentioned last among those affirmed of the verb.
    """

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        stated = [fact for fact in facts if fact.verb == question.verb]
        affirmed = [fact for fact in stated if fact.affirmed]
        if question.kind == "HOW":
            return self._usual("HOW", other_than=NUMBERS[0]) if affirmed else NUMBERS[0]
        if question.kind != "DO":
            return _latest(affirmed, question.kind) or self._usual(question.kind)
        leaning = 2 * len(affirmed) - len(stated)
        if leaning == 0:
            read = inputs[: question.place + 1]
            leaning = (
                1 if uniform_by_prefix(self._seed, read, len(self._vocabulary))[-1] < 0.5 else -1
            )
        return YES if leaning > 0 else NO


def _latest_verb(last: str, word: str) -> str:
    return word if word in VERBS else last


def _latest(facts: Sequence[Fact], kind: str) -> str | None:
    """The last colour or size among the facts; None for other kinds of questions."""
    if kind in ("DO", "HOW"):
        return None
    return next(filter(None, (adjective_of(fact, kind) for fact in reversed(facts))), None)


class _ByWords(ByKind):
    """Answers a question by yes or no out of the words of the prompt and of the question; other
    questions get the most frequent answer so far to their kind.
    """

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        words = self._words(inputs[: question.place])
        start = max(place for place, word in enumerate([".", *words]) if word in (".", "?"))
        return self._told(facts, question, words[: max(start - 1, 0)], words[start:])

    def _told(
        self, facts: Sequence[Fact], question: Question, prompt: list[str], asked: list[str]
    ) -> str:
        if question.kind != "DO":
            return self._usual(question.kind)
        return YES if self._yes(question, prompt, asked) else NO

    @abstractmethod
    def _yes(self, question: Question, prompt: list[str], asked: list[str]) -> bool:
        """Whether the answer is YES."""


@control("verbatim", version=1, role="control")
class Verbatim(_ByWords):
    """YES if the words of the question, `I VERB NAME`, stood in the prompt one after another, else
    NO.

    Other questions get the most frequent answer so far to their kind.
    """

    def _yes(self, question: Question, prompt: list[str], asked: list[str]) -> bool:
        sought = asked[1:]
        return any(prompt[place : place + len(sought)] == sought for place in range(len(prompt)))


@control("not-before", version=1, role="control")
class NotBefore(_ByWords):
    """NO if a NOT stands anywhere before the first place of the asked name, else YES.

    Other questions get the most frequent answer so far to their kind.
    """

    def _yes(self, question: Question, prompt: list[str], asked: list[str]) -> bool:
        place = prompt.index(question.name) if question.name in prompt else len(prompt)
        return "NOT" not in prompt[:place]


@control("last-name", version=1, role="control")
class LastName(ByKind):
    """Looks at the last name of the prompt alone, with its verb and whether it is affirmed of it.

    Asked for that name with that verb: what was stated of it. Asked for another name: the opposite;
    with another verb: the opposite as well, so that both together change nothing. It seeks the
    asked name nowhere. Other questions get the most frequent answer so far to their kind.
    """

    back: ClassVar[int] = 1

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        if question.kind != "DO" or len(facts) < self.back:
            return self._usual(question.kind)
        one = facts[-self.back]
        other = (one.name != question.name) != (one.verb != question.verb)
        return YES if one.affirmed != other else NO


@control("inner-name", version=1, role="control")
class InnerName(LastName):
    """Looks at the last name but one of the prompt alone, as `last-name` looks at the last: a place
    inside a clause.
    """

    back: ClassVar[int] = 2


@control("composite", version=1, role="control")
class Composite(Verbatim):
    """Shallow rules together, one for each kind of question.

    By yes or no: `verbatim`. How many: none of the verb's names if nothing is affirmed of it, all
    if nothing is denied, else half of them, rounded up. What colour or size: the nearest such
    adjective before the last place of the noun, for any verb and NOT.
    """

    def _told(
        self, facts: Sequence[Fact], question: Question, prompt: list[str], asked: list[str]
    ) -> str:
        if question.kind == "DO":
            return super()._told(facts, question, prompt, asked)
        if question.kind == "HOW":
            stated = [fact.affirmed for fact in facts if fact.verb == question.verb]
            number = len(stated) if all(stated) else -(-len(stated) // 2) if any(stated) else 0
            return NUMBERS[min(number, len(NUMBERS) - 1)]
        places = [place for place, word in enumerate(prompt) if word == question.name]
        before = prompt[: places[-1]] if places else []
        fitting = [word for word in before if word in ADJECTIVES[question.kind]]
        return fitting[-1] if fitting else self._usual(question.kind)
