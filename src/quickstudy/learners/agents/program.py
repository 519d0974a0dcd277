"""Agents that answer: by trying symbols, by a table that feedback fills, and by programs that they put together."""

from __future__ import annotations

import string
from collections import Counter, deque
from typing import Any

import numpy as np

from quickstudy.base.catalogue import learner
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.learners.agents.membership import Membership
from quickstudy.learners.agents.operations import VIEWS, Program, View, explaining, identity
from quickstudy.learners.agents.turns import BYTE, NOTHING, SPACE, Turns

ORDER = (string.ascii_letters + string.digits + " .,!?;:-\"'" + string.punctuation).encode()
SYMBOLS = bytes(dict.fromkeys(ORDER + bytes(range(256))))
"""All bytes, those first that texts are made of."""
PERIOD, PRINTABLE = 46, 95
SEVERAL = 6
"""Answers by which it is seen that only two are possible."""
FEW, MANY = 3, 8
"""Questions with a word in common from which, and by how many of the last of which, a program for it is looked for."""


@learner("search", version=1)
class Search:
    """Tries one symbol after another, stays with one as long as it is rewarded, and then begins anew."""

    def __init__(self, brief: Brief, seed: int) -> None:
        self._place, self._found = 0, False

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """The symbol that was rewarded last, or the next."""
        if reward < 0 and learning:
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


class Guesses:
    """What to answer to single symbols where nobody says what is right: what was right for this symbol, the symbol
    itself, what was right for others, symbols that were seen, all symbols. Which kind is tried first follows from what
    worked for symbols of its class.
    """

    def __init__(self) -> None:
        self._worked: dict[tuple[str, str], float] = {}
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.known: dict[int, int] = {}
        self._wrong: dict[int, set[int]] = {}
        self._failures: Counter[int] = Counter()
        self._right: list[int] = []
        self._seen: dict[int, None] = {}

    def answer(self, key: int) -> int:
        """The most promising reply."""
        self._seen[key] = None
        if key in self.known:
            return self.known[key]
        excluded = self._wrong.get(key, set())
        seen = [one for one in self._seen if one not in excluded and one != key]
        kinds: dict[str, list[int]] = {"echo": [key], "same": self._right[-1:], "seen": seen}
        kinds["other"] = [one for one in SYMBOLS if one not in excluded and one not in self._seen]
        best, most = SPACE, -1.0
        for kind, candidates in kinds.items():
            candidates = [one for one in candidates if one not in excluded]
            if candidates and self._rate(key, kind) > most:
                best, most = min(candidates, key=self._failures.__getitem__), self._rate(key, kind)
        return best

    def _rate(self, key: int, kind: str) -> float:
        usual = {"echo": 0.5, "same": 0.6, "seen": 0.2, "other": 0.02}[kind]
        return self._worked.get((_kind_of(key), kind), usual)

    def told(self, key: int, reply: int, right: bool) -> None:
        """Whether a reply to a symbol was right. What was right and is not any more means that all is new."""
        if not right and self.known.get(key) == reply:
            self._begin_anew()
            return
        if key not in self.known:
            kind = "echo" if reply == key else "same" if self._right[-1:] == [reply] else None
            kind = kind or ("seen" if reply in self._seen else "other")
            place = _kind_of(key), kind
            self._worked[place] = 0.85 * self._rate(key, kind) + 0.15 * right
        if right:
            self.known[key] = reply
            self._right.append(reply)
        else:
            self._wrong.setdefault(key, set()).add(reply)
            self._failures[reply] += 1


def _kind_of(byte: int) -> str:
    letter = chr(byte)
    return "letter" if letter.isalpha() else "digit" if letter.isdigit() else "other"


CUTS = {
    "whole": lambda text: text,
    "after a space": lambda text: text.partition(" ")[2],
    "without the first": lambda text: text[1:],
    "without the first two": lambda text: text[2:],
    "last three": lambda text: text[-3:],
    "last two": lambda text: text[-2:],
    "last": lambda text: text[-1:],
    "from colon to period": lambda text: text.partition(": ")[2].partition(".")[0],
}


class Hints:
    """How the right answer stands in the feedback to a wrong one: which part of it, and whether a period is missing."""

    def __init__(self) -> None:
        self._ways = [(cut, period) for period in (False, True) for cut in CUTS]
        self._scores = {way: -0.2 * place for place, way in enumerate(self._ways)}
        self._heard: dict[str, list[str]] = {}
        self._acted: dict[str, tuple[str, bool]] = {}

    def read(self, key: str, feedback: str) -> str:
        """The answer to a question, as far as its feedback tells."""
        before = self._heard.setdefault(key, [])
        if before:
            for way in self._ways:
                if _cut(way, feedback) != _cut(way, before[-1]):
                    self._count(way, -1.0)
        before.append(feedback)
        best = max(self._ways, key=self._scores.__getitem__)
        self._acted[key] = best
        return _cut(best, feedback)

    def told(self, key: str, reply: str, right: bool) -> None:
        """How the answer that came from feedback did."""
        way = self._acted.pop(key, None)
        if right and key in self._heard:
            for one in self._ways:
                self._count(one, 0.5 if _cut(one, self._heard[key][-1]) == reply else -0.5)
        elif not right and way is not None:
            self._count(way, -0.7)

    def forget(self) -> None:
        """All that was heard of single questions."""
        self._heard, self._acted = {}, {}

    def _count(self, way: tuple[str, bool], evidence: float) -> None:
        self._scores[way] = 0.93 * self._scores[way] + evidence


def _cut(way: tuple[str, bool], feedback: str) -> str:
    text = CUTS[way[0]](feedback)
    return text + "." if way[1] and not text.endswith(".") else text


class Credit:
    """How often something was right, by the words of the question. The last times count most."""

    def __init__(self) -> None:
        self._counts: dict[Any, tuple[float, float]] = {}

    def told(self, what: Any, words: list[str], right: bool, weight: float = 1.0) -> None:
        """It was right or wrong once."""
        self._add((what, ""), right, weight, 0.9)
        for word in words:
            self._add((what, word), right, weight, 0.98)

    def _add(self, place: Any, right: bool, weight: float, decay: float) -> None:
        good, all_ = self._counts.get(place, (0.0, 0.0))
        self._counts[place] = decay * good + weight * right, decay * all_ + weight

    def of(self, what: Any, words: list[str]) -> float:
        """The odds that it is right, by the words taken one by one."""
        good, all_ = self._counts.get((what, ""), (0.0, 0.0))
        base = (good + 0.3) / (all_ + 1.0)
        odds = base
        for word in words:
            good, all_ = self._counts.get((what, word), (0.0, 0.0))
            if all_:
                odds *= (good + 0.5 * base) / (all_ + 0.5) / base
        return odds


def _marks(text: str) -> list[str]:
    """What a question may be known by: its words, its first and last, their number."""
    words = text.split()
    return [*set(words), f"#{len(words)}", f"^{words[0]}", f"{words[-1]}$"] if words else ["#0"]


class Library:
    """Programs that have worked, and which of them to use for a question.

    It is shown questions with their answers. Where none of its programs has the answer, it looks for one that explains
    at least two such questions, first as they are, then with words put in the place of others.
    """

    def __init__(self) -> None:
        self.programs: list[Program] = []
        self.views: list[View] = [identity]
        self._credit, self._sight = Credit(), Credit()
        self._open: deque[tuple[str, str]] = deque(maxlen=12)
        self._pairs: deque[tuple[str, str]] = deque(maxlen=60)
        self._facts: dict[str, str] = {}

    def answer(self, question: str) -> tuple[str, float]:
        """The best answer, and the odds of it; an empty one where there is none."""
        best, most = "", 0.0
        for view in self.views:
            seen = view(question)
            if seen is None:
                continue
            sight = self._sight.of(view, _marks(question)) if len(self.views) > 1 else 1.0
            out, odds = self._by_programs(seen)
            if out and odds * sight > most:
                best, most = out, odds * sight
        if question in self._facts and self._credit.of("fact", _marks(question)) > most:
            return self._facts[question], self._credit.of("fact", _marks(question))
        return best, most

    def _by_programs(self, text: str) -> tuple[str, float]:
        best, most, marks = "", 0.0, _marks(text)
        for program in self.programs:
            out = program(text)
            odds = self._credit.of(program, marks) if out else 0.0
            if out and odds > most:
                best, most = out, odds
        return best, most

    def shown(self, question: str, answer: str, said: str | None) -> None:
        """A question with an answer that is right. said: what was answered wrongly before, if it was."""
        explained = False
        marks = _marks(question)
        for view in list(self.views):
            seen = view(question)
            if seen is None:
                continue
            outs = [(program, program(seen)) for program in self.programs]
            hit = any(out == answer for _, out in outs)
            explained = explained or hit
            if len(self.views) > 1:
                self._sight.told(view, marks, self._by_programs(seen)[0] == answer)
            # Where a view does not lead to the answer, its words say nothing of the programs.
            for program, out in outs if hit or view is identity else ():
                # There may be several right answers: what differs from one that was given is not wrong for that.
                if out is not None and (out == answer or said is not None):
                    weight = 2.0 if out == said else 1.0
                    self._credit.told(program, _marks(seen), out == answer, weight)
        if question in self._facts:
            self._credit.told("fact", marks, self._facts[question] == answer)
        self._facts[question] = answer
        self._pairs.append((question, answer))
        if not explained:
            self._open.append((question, answer))
        if said is not None:
            self._look(question)

    def _look(self, question: str) -> None:
        """Search for what explains what nothing explains, then for what explains all that share a word."""
        open_ = list(dict.fromkeys(self._open))
        if len({answer for _, answer in open_}) > 1:
            found = next((one for one, _ in explaining(open_, 2) if one not in self.programs), None)
            if found is not None:
                self._take(found, open_)
            elif len(open_) > 3:
                self._look_otherwise(open_)
        for view in self.views:
            seen = [(shown, answer) for asked, answer in self._pairs if (shown := view(asked)) is not None]
            for mark in _marks(view(question) or ""):
                alike = list(dict.fromkeys(pair for pair in seen if mark in _marks(pair[0])))[-MANY:]
                if len(alike) < FEW or any(all(one(text) == out for text, out in alike) for one in self.programs):
                    continue
                found = next((one for one, _ in explaining(alike, len(alike))), None)
                if found is not None:
                    self._take(found, seen)

    def _look_otherwise(self, pairs: list[tuple[str, str]]) -> None:
        """Search for the view under which most is known already."""
        best, most = None, 2
        for view in VIEWS:
            seen = [(found, answer) for question, answer in pairs if (found := view(question)) is not None]
            known = sum(self._by_programs(found)[0] == answer for found, answer in seen)
            if known > most and view not in self.views:
                best, most = view, known
        if best is not None:
            self.views.append(best)
            for question, answer in pairs:
                if (found := best(question)) is not None:
                    self._sight.told(best, _marks(question), self._by_programs(found)[0] == answer)
            self._open.clear()

    def _take(self, program: Program, pairs: list[tuple[str, str]]) -> None:
        """Keep a program, with what it would have done so far."""
        self.programs.append(program)
        for question, answer in pairs:
            if (out := program(question)) is not None:
                self._credit.told(program, _marks(question), out == answer)
        self._open = deque((pair for pair in self._open if program(pair[0]) != pair[1]), maxlen=self._open.maxlen)


@learner("program", version=1)
class ProgramAgent:
    """Finds out when to speak, tries symbols, fills a table from feedback, and searches compositions of small string
    operations for what a table cannot hold. It keeps those that worked, and prefers what has worked for such words.

    It knows bytes and rewards; of tasks, instances, words and formats it knows nothing beforehand. programs: whether it
    searches for programs.
    """

    programs = True

    def __init__(self, brief: Brief, seed: int) -> None:
        self._turns, self._guesses, self._hints, self._library = Turns(), Guesses(), Hints(), Library()
        self._rules = Membership()
        self._table: dict[str, str] = {}
        self._said, self._plan = bytearray(), iter(b"")
        self._asked: str | None = None
        self._looked_up = False
        self._wrong: tuple[str, str] | None = None
        self._given: deque[str] = deque(maxlen=4 * SEVERAL)
        self._sentence = self._asked_sentence = "", ""

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """Listen, and speak where it is one's turn."""
        turns = self._turns
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

    def _begin(self) -> None:
        """A question is complete: read the feedback before it, and decide what to say."""
        turns = self._turns
        question, feedback = turns.question.decode("latin-1"), turns.feedback.decode("latin-1")
        if turns.format.feedback != BYTE:
            feedback = feedback[:-1]  # its mark
        if self._wrong is not None and feedback:
            asked, said = self._wrong
            # What follows the last whole sentence is said of the next question.
            before, sentence, _ = feedback.rpartition(". ")
            answer = self._hints.read(asked, before if sentence else feedback)
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
            self._table[question] = said
            self._learn(question, said, None)
            return
        if self._looked_up:
            # What was right is not any more: this is another instance, or the feedback was read wrongly.
            self._table.clear()
            self._hints.forget()
        self._wrong = question, said

    def _learn(self, question: str, answer: str, said: str | None) -> None:
        """A right answer; said: the wrong one that was given instead."""
        self._given.append(_body(answer))
        if self.programs and (answers := self._two_answers()):
            self._rules.shown(*self._asked_sentence, _body(answer), answers)
        elif self.programs:
            self._library.shown(_body(question), _body(answer), None if said is None else _body(said))

    def _two_answers(self) -> list[str]:
        """The two answers that there have been for a while, if there were no more: it is a question of yes or no."""
        last = list(self._given)[-SEVERAL:]
        found = list(dict.fromkeys([*last[::-1], *list(self._given)[::-1]]))[:2]
        return sorted(found) if len(last) == SEVERAL and len(set(last) | set(found)) == 2 else []


def _body(text: str) -> str:
    return text.removesuffix(".")


@learner("table", version=1)
class TableAgent(ProgramAgent):
    """The same without programs: it learns when to speak, and what goes with what."""

    programs = False
