"""Programs that have worked, which of them to use for a question, and where to look for more."""

from __future__ import annotations

from collections import deque
from typing import Any

from quickstudy.learners.agents.operations import VIEWS, Program, View, explaining, identity

FEW, MANY = 3, 8
"""Questions with a word in common from which, and by how many of the last of which, a program for
it is looked for.
"""


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

    It is shown questions with their answers. Where none of its programs has the answer, it looks
    for one that explains at least two such questions, first unchanged, then with words replaced by
    others.
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
        """A question with an answer that is right. said: the wrong answer given before, if any."""
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
                # There may be several right answers: what differs from one that was given is not
                # wrong for that.
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
        """Search for what explains what nothing explains, then for what explains all that share a
        word.
        """
        open_ = list(dict.fromkeys(self._open))
        if len({answer for _, answer in open_}) > 1:
            found = next((one for one in explaining(open_, 2) if one not in self.programs), None)
            if found is not None:
                self._take(found, open_)
            elif len(open_) > 3:
                self._look_otherwise(open_)
        for view in self.views:
            seen = [
                (shown, answer)
                for asked, answer in self._pairs
                if (shown := view(asked)) is not None
            ]
            for mark in _marks(view(question) or ""):
                alike = list(dict.fromkeys(pair for pair in seen if mark in _marks(pair[0])))[
                    -MANY:
                ]
                if len(alike) < FEW or any(
                    all(one(text) == out for text, out in alike) for one in self.programs
                ):
                    continue
                found = next(iter(explaining(alike, len(alike))), None)
                if found is not None:
                    self._take(found, seen)

    def _look_otherwise(self, pairs: list[tuple[str, str]]) -> None:
        """Search for the view under which most is known already."""
        best, most = None, 2
        for view in VIEWS:
            seen = [
                (found, answer)
                for question, answer in pairs
                if (found := view(question)) is not None
            ]
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
        self._open = deque(
            (pair for pair in self._open if program(pair[0]) != pair[1]), maxlen=self._open.maxlen
        )
