"""Agents that answer: by trying symbols, by a table that feedback fills, and by programs that they
put together.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.registries import learner
from quickstudy.base.spaces import Tokens
from quickstudy.learners.agents.guessing import SYMBOLS, Guesses, Hints
from quickstudy.learners.agents.library import Library
from quickstudy.learners.agents.membership import Membership
from quickstudy.learners.agents.operations import explained
from quickstudy.learners.agents.turns import BYTE, NOTHING, SPACE, Turns

PERIOD, PRINTABLE = 46, 95
SEVERAL = 6
"""Answers by which it is seen that only two are possible."""
CHECKED_ON = "curriculum/chain"


def check_bytes(brief: Brief) -> None:
    """Raise NotApplicable unless bytes are read and given."""
    if not brief.inputs == brief.outputs == Tokens(256):
        raise NotApplicable("it talks in bytes: it reads 256 symbols, and gives 256")


@learner("search", version=1)
class Search:
    """Tries one symbol after another, stays with one as long as it is rewarded, and then
    restarts.
    """

    checked_on = CHECKED_ON

    def __init__(self, brief: Brief, seed: int) -> None:
        check_bytes(brief)
        self._place, self._found = 0, False

    def act(self, observation: int, reward: float, first: bool) -> int:
        """The symbol that was rewarded last, or the next."""
        if reward < 0:
            self._place = 0 if self._found else (self._place + 1) % PRINTABLE
        self._found = reward > 0 or (self._found and not reward)
        return SYMBOLS[self._place]

    def snapshot(self) -> dict[str, Any]:
        """Where it stands."""
        return {"place": np.array([self._place, self._found])}

    def restore(self, snapshot: Snapshot) -> None:
        """Stand there again."""
        place, found = snapshot.arrays["place"]
        self._place, self._found = int(place), bool(found)


@learner("program", version=1)
class ProgramAgent:
    """Finds out when to speak, tries symbols, fills a table from feedback, and searches
    compositions of small string operations for what a table cannot hold. It keeps those that
    worked, and prefers what has worked for such words.

    It knows bytes and rewards; of tasks, instances, words and formats it knows nothing beforehand.
    programs: whether it searches for programs.
    """

    programs = True
    checked_on = CHECKED_ON

    def __init__(self, brief: Brief, seed: int) -> None:
        check_bytes(brief)
        self._lived = bytearray()
        self._begin_life()

    def _begin_life(self) -> None:
        self._turns, self._guesses, self._hints, self._library = (
            Turns(),
            Guesses(),
            Hints(),
            Library(),
        )
        self._rules = Membership()
        self._table: dict[str, str] = {}
        self._sure: set[str] = set()
        self._heard: deque[tuple[str, str]] = deque(maxlen=SEVERAL)
        self._said, self._plan = bytearray(), iter(b"")
        self._asked: str | None = None
        self._looked_up = False
        self._wrong: tuple[str, str] | None = None
        self._given: deque[str] = deque(maxlen=4 * SEVERAL)
        self._sentence = self._asked_sentence = "", ""

    def act(self, observation: int, reward: float, first: bool) -> int:
        """Listen, and speak where it is one's turn."""
        turns = self._turns
        self._lived += bytes((observation, int(reward) + 1))
        turns.hear(observation, int(reward))
        if turns.judged and self._asked is not None:
            self._judged(self._asked, self._said.decode("latin-1"), turns.right)
        if turns.began:
            self._begin()
        reply = SPACE
        if turns.turn and not turns.wants_silence():
            reply = next(self._plan, PERIOD)
        if turns.turn:
            self._said.append(reply)
        turns.said(observation, reply)
        return reply

    def snapshot(self) -> dict[str, Any]:
        """All that it has heard: nothing else has made it what it is."""
        return {"heard": np.frombuffer(bytes(self._lived), np.uint8)}

    def restore(self, snapshot: Snapshot) -> None:
        """Live through the same again."""
        heard = snapshot.arrays["heard"].tolist()
        self._lived = bytearray()
        self._begin_life()
        for byte, reward in zip(heard[::2], heard[1::2], strict=True):
            self.act(byte, reward - 1, False)

    def _begin(self) -> None:
        """A question is complete: read the feedback before it, and decide what to say."""
        turns = self._turns
        question, feedback = turns.question.decode("latin-1"), turns.feedback.decode("latin-1")
        if turns.format.feedback != BYTE:
            feedback = feedback[:-1]  # its mark
        if self._wrong is not None and feedback:
            asked, said = self._wrong
            # Text after the last whole sentence belongs to the next question.
            before, sentence, _ = feedback.rpartition(". ")
            feedback = before if sentence else feedback
            self._heard.append((_body(asked), feedback))
            if self.programs and len(self._heard) == self._heard.maxlen:
                self._hints.favour(list(self._heard), explained)
                self._heard.clear()
            answer = self._hints.read(asked, feedback)
            self._table[asked] = answer
            self._learn(asked, answer, said)
        self._wrong = None
        self._said, self._asked = bytearray(), question
        self._sentence = feedback.rpartition(". ")[2], _body(question)
        self._plan = iter(self._answer(question).encode("latin-1"))

    def _answer(self, question: str) -> str:
        if self._turns.format.feedback == NOTHING and self._turns.format.question == BYTE:
            return chr(self._guesses.answer(ord(question)))
        self._looked_up = False
        if self.programs and (answers := self._two_answers()):
            return self._rules.answer(*self._sentence, answers) + "."
        self._looked_up = question in self._table
        if self._looked_up:
            return self._table[question]
        if self.programs:
            body, odds = self._library.answer(_body(question))
            if body and odds > 0.1:
                return body + "."
        return ""

    def _judged(self, question: str, said: str, right: bool) -> None:
        self._asked_sentence = self._sentence
        if self._turns.format.feedback == NOTHING and self._turns.format.question == BYTE:
            if len(question) == len(said) == 1:
                self._guesses.told(ord(question), ord(said), right)
            return
        if right or self._looked_up:
            self._hints.told(question, said, right)
        if right:
            self._heard.clear()
            self._table[question] = said
            self._sure.add(question)
            self._learn(question, said, None)
            return
        if self._looked_up and question in self._sure:
            # A right answer is now wrong: this is another instance.
            self._table.clear()
            self._sure.clear()
            self._hints.forget()
        self._wrong = question, said

    def _learn(self, question: str, answer: str, said: str | None) -> None:
        """A right answer; said: the wrong one given instead."""
        self._given.append(_body(answer))
        if self.programs and (answers := self._two_answers()):
            self._rules.shown(*self._asked_sentence, _body(answer), answers)
        elif self.programs:
            self._library.shown(
                _body(question), _body(answer), None if said is None else _body(said)
            )

    def _two_answers(self) -> list[str]:
        """The two answers that there have been for a while, if there were no more: it is a question
        of yes or no.
        """
        last = list(self._given)[-SEVERAL:]
        found = list(dict.fromkeys([*last[::-1], *list(self._given)[::-1]]))[:2]
        return sorted(found) if len(last) == SEVERAL and len(set(last) | set(found)) == 2 else []


def _body(text: str) -> str:
    return text.removesuffix(".")


@learner("table", version=1)
class TableAgent(ProgramAgent):
    """The same without programs: it learns when to speak, and what goes with what."""

    programs = False
