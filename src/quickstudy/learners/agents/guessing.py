"""Answers to guess without feedback, and answers to infer from feedback."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable

from quickstudy.learners.agents.turns import SPACE

ORDER = (string.ascii_letters + string.digits + " .,!?;:-\"'" + string.punctuation).encode()
SYMBOLS = bytes(dict.fromkeys(ORDER + bytes(range(256))))
"""All bytes, those first that texts are made of."""


class Guesses:
    """Answers to single symbols without feedback: the right answer for this symbol before, the
    symbol itself, what was right for others, symbols that were seen, all symbols. Which kind is
    tried first follows from what worked for symbols of its class.
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
        """Whether a reply to a symbol was right. A right answer that is now wrong means a new
        instance.
        """
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


CUTS: dict[str, Callable[[str], str]] = {
    "whole": lambda text: text,
    "after a space": lambda text: text.partition(" ")[2],
    "without the first": lambda text: text[1:],
    "without the first two": lambda text: text[2:],
    "last three": lambda text: text[-3:],
    "last two": lambda text: text[-2:],
    "last": lambda text: text[-1:],
    "from colon to period": lambda text: text.partition(": ")[2].partition(".")[0],
}


COMMON = "common end"


class Hints:
    """The position of the right answer in the feedback to a wrong one: which part of it, and
    whether a period is missing.
    """

    def __init__(self) -> None:
        self._ways = [(cut, period) for period in (False, True) for cut in (*CUTS, COMMON)]
        self._scores = {way: -0.2 * place for place, way in enumerate(self._ways)}
        self._heard: dict[str, list[str]] = {}
        self._acted: dict[str, tuple[str, bool]] = {}

    def read(self, key: str, feedback: str) -> str:
        """The answer to a question, as far as its feedback tells."""
        heard = self._heard.setdefault(key, [])
        before = {way: _cut(way, heard) for way in self._ways} if heard else {}
        heard.append(feedback)
        for way, text in before.items():
            if _cut(way, heard) != text:
                self._count(way, -1.0)
        best = max((way for way in self._ways if _cut(way, heard)), key=self._scores.__getitem__)
        self._acted[key] = best
        return _cut(best, heard)

    def told(self, key: str, reply: str, right: bool) -> None:
        """How the answer that came from feedback did."""
        way = self._acted.pop(key, None)
        if right and key in self._heard:
            for one in self._ways:
                self._count(one, 0.5 if _cut(one, self._heard[key]) == reply else -0.5)
        elif not right and way is not None:
            self._count(way, -0.7)

    def favour(
        self, heard: list[tuple[str, str]], worth: Callable[[list[tuple[str, str]]], int]
    ) -> None:
        """Read feedback from now on in the way in which it makes most sense. heard: questions with
        their feedback; worth: how much sense questions with their answers make.
        """
        found = {
            way: worth([(asked, _cut(way, [said]).removesuffix(".")) for asked, said in heard])
            for way in self._ways
        }
        best = max(self._ways, key=lambda way: (found[way], self._scores[way]))
        if found[best] > len(heard) // 3:
            self._scores[best] = max(self._scores.values()) + 0.5

    def forget(self) -> None:
        """All that was heard of single questions."""
        self._heard, self._acted = {}, {}

    def _count(self, way: tuple[str, bool], evidence: float) -> None:
        self._scores[way] = 0.93 * self._scores[way] + evidence


def _cut(way: tuple[str, bool], heard: list[str]) -> str:
    text = _common_end(heard) if way[0] == COMMON else CUTS[way[0]](heard[-1])
    return text + "." if way[1] and not text.endswith(".") else text


def _common_end(texts: list[str]) -> str:
    """What the last few have in common, from their ends."""
    last = texts[-4:]
    count = next(
        (
            n
            for n in range(len(min(last, key=len)), 0, -1)
            if len({text[-n:] for text in last}) == 1
        ),
        0,
    )
    return last[0][len(last[0]) - count :]
