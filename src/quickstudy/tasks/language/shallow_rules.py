"""Rules that answer questions by what stands beside a word, or before it, and read no clause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from quickstudy.base.catalogue import control
from quickstudy.tasks.language.qa_rules import ByKind, Question
from quickstudy.tasks.language.statements import ADJECTIVES, NO, NUMBERS, YES, Fact


class _ByWords(ByKind):
    """Answers a question by yes or no out of the words of the prompt and of the question; other questions get the most
    frequent answer so far to their kind.
    """

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        words = self._words(inputs[: question.place])
        start = max(place for place, word in enumerate([".", *words]) if word in (".", "?"))
        return self._told(facts, question, words[: max(start - 1, 0)], words[start:])

    def _told(self, facts: Sequence[Fact], question: Question, prompt: list[str], asked: list[str]) -> str:
        if question.kind != "DO":
            return self._usual(question.kind)
        return YES if self._yes(question, prompt, asked) else NO

    def _yes(self, question: Question, prompt: list[str], asked: list[str]) -> bool:
        raise NotImplementedError


@control("verbatim", version=1, role="control")
class Verbatim(_ByWords):
    """YES if the words of the question, `I VERB NAME`, stood in the prompt one after another, else NO.

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

    Asked for that name with that verb: what was said of it. Asked for another name: the opposite; with another verb:
    the opposite as well, so that both together leave it as it was. It seeks the asked name nowhere. Other questions get
    the most frequent answer so far to their kind.
    """

    def _answer(self, facts: Sequence[Fact], question: Question, inputs: NDArray[Any]) -> str:
        if question.kind != "DO" or not facts:
            return self._usual(question.kind)
        last = facts[-1]
        other = (last.name != question.name) != (last.verb != question.verb)
        return YES if last.affirmed != other else NO


@control("composite", version=1, role="control")
class Composite(Verbatim):
    """Shallow rules together, one for each kind of question.

    By yes or no: `verbatim`. How many: none of the verb's names if nothing is affirmed of it, all if nothing is denied,
    else half of them, rounded up. What colour or size: the nearest such adjective before the last place of the noun,
    whatever the verb and the NOT.
    """

    def _told(self, facts: Sequence[Fact], question: Question, prompt: list[str], asked: list[str]) -> str:
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
