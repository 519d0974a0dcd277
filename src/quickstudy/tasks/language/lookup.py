"""The oracle of the question-answering tasks, and the questions that it and the other rules find in a sequence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.base.learner import Brief
from quickstudy.tasks.fixed import FixedRule
from quickstudy.tasks.language.clauses import Fact, skim_facts
from quickstudy.tasks.language.words import ADJECTIVES, NO, NUMBERS, THINGS, VERBS, YES


class Question(NamedTuple):
    """A question: where its question mark stands, its kind, and the verb and the name in it (empty: none).

    kind: `DO` (yes or no), `HOW` (how many), `COLOR` or `SIZE` (what).
    """

    place: int
    kind: str
    verb: str
    name: str


def skim_questions(words: Sequence[str]) -> list[Question]:
    """A question for every question mark, whatever the words are, out of what stands between it and the period or
    question mark before it.
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


class Answerer(FixedRule, ABC):
    """Answers every question by a rule on what was stated, and NO anywhere else.

    A subclass gives the answer; a word that is not in the vocabulary becomes NO.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._vocabulary: tuple[str, ...] = task.vocabulary
        self._ids = {word: id for id, word in enumerate(task.vocabulary)}

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The rule's answer after every question mark."""
        words = [self._vocabulary[id] for id in inputs.tolist()]
        facts = skim_facts(words)
        answers = np.full(len(words), self._ids[NO], dtype=np.int64)
        for question in skim_questions(words):
            known = [fact for fact in facts if fact.place < question.place]
            answers[question.place] = self._ids.get(self._answer(known, question, inputs), self._ids[NO])
        return answers

    @abstractmethod
    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        """What a rule of this kind says."""


def adjective_of(fact: Fact, kind: str) -> str | None:
    """The colour or the size of a fact, if it has one."""
    return next((adjective for adjective in fact.adjectives if adjective in ADJECTIVES[kind]), None)


@control("qa-oracle", version=1, role="oracle")
class QaOracle(Answerer):
    """Looks up what was affirmed of the verb in question: always right.

    YES if it was affirmed of the name; how many names it was affirmed of; the colour or size of the one asked about.
    """

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        affirmed = [fact for fact in facts if fact.affirmed and fact.verb == question.verb]
        if question.kind == "HOW":
            return NUMBERS[min(len(affirmed), len(NUMBERS) - 1)]
        named = [fact for fact in affirmed if fact.name == question.name]
        if question.kind == "DO":
            return YES if named else NO
        return next(filter(None, (adjective_of(fact, question.kind) for fact in named)), NO)
