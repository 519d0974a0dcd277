"""Rules for a task that is made of others: which member a sequence is of, and what that member's
own rules answer.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.base.spaces import Tokens
from quickstudy.tasks.controls import FixedRule

REMEMBERED = 8192
"""Sequences whose member is kept in mind: a protocol asks about the same ones again and again."""


class Told(NamedTuple):
    """For every prefix of a sequence: the number of the member that it is taken for (-1: none), and
    what the member's oracle answers (-1 where there is none).
    """

    member: NDArray[np.int64]
    answer: NDArray[np.int64]


class Members:
    """Tells members apart by their words, and lets their own rules answer. task: has `tasks` and
    `vocabulary`.

    A prefix is taken for a member whose vocabulary has all its words. Of several, for the one with
    the fewest words; of those with equally many, for the one whose oracle has predicted the most of
    the latest tokens without a mistake; of these, for the first.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._brief = brief
        self._seed = seed
        self._tasks = task.tasks
        for member in task.tasks:
            if member.oracle not in registries.control:
                raise NotApplicable(f"{member.id} has no oracle: {member.oracle}")
        self._oracles = [
            self.rule(number, member.oracle) for number, member in enumerate(task.tasks)
        ]
        words = {word: id for id, word in enumerate(task.vocabulary)}
        self._common = [
            np.array([words[word] for word in member.vocabulary]) for member in task.tasks
        ]
        self._own = [np.full(len(words), -1) for _ in task.tasks]
        for own, common in zip(self._own, self._common, strict=True):
            own[common] = np.arange(len(common))
        self._remembered = lru_cache(maxsize=REMEMBERED)(self._tell)

    def rule(self, number: int, name: str) -> Any:
        """A rule of a member, by its name, in the member's vocabulary."""
        space = Tokens(len(self._tasks[number].vocabulary))
        brief = replace(self._brief, inputs=space, outputs=space)
        return registries.control.get(name)(self._tasks[number], brief, self._seed)

    def own(self, number: int, tokens: NDArray[Any]) -> NDArray[np.int64]:
        """Tokens as the member numbers them; -1 for words that it does not have, and for -1."""
        return np.where(tokens < 0, -1, self._own[number][tokens])

    def common(self, number: int, tokens: NDArray[Any]) -> NDArray[np.int64]:
        """A member's tokens as the whole numbers them."""
        return np.asarray(self._common[number][tokens])

    def told(self, inputs: NDArray[Any]) -> Told:
        """Which member each prefix is taken for."""
        return self._remembered(np.asarray(inputs, dtype=np.int64).tobytes())

    def _tell(self, written: bytes) -> Told:
        inputs = np.frombuffer(written, dtype=np.int64)
        told = Told(np.full(len(inputs), -1), np.full(len(inputs), -1))
        belief = np.full(len(inputs), -np.inf)
        for number, oracle in enumerate(self._oracles):
            ids = self.own(number, inputs)
            known = int(np.append(ids, -1).argmin())
            if known:
                said = self.common(number, oracle.predict(ids[:known]))
                # One word less counts more than any number of tokens predicted.
                trust = _streaks(said[:-1] == inputs[1:known]) - len(inputs) * len(
                    self._common[number]
                )
                better = np.flatnonzero(trust > belief[:known])
                told.member[better], told.answer[better], belief[better] = (
                    number,
                    said[better],
                    trust[better],
                )
        return told


@control("mixed-oracle", version=1, role="oracle")
class MixedOracle(FixedRule):
    """Asks the oracles of the members whose vocabularies have all the words read so far.

    Of several it believes the one with the fewest words; of those with equally many the one that
    has predicted the most of the latest tokens without a mistake; of these the first.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._members = Members(task, brief, seed)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The answer of the oracle that is believed, for every prefix; the token just read where
        none knows it.
        """
        told = self._members.told(inputs)
        return np.where(told.member < 0, inputs, told.answer)


@control("best-rule", version=2, role="control")
class BestRule:
    """Answers by a control of the member that the words belong to: the one that was right most
    often so far.

    Of controls that were right equally often, the first that the member names. Its score is what
    the shortcuts of all members reach together.
    """

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._members = Members(task, brief, seed)
        self._rules = [
            [self._members.rule(number, name) for name in member.controls]
            for number, member in enumerate(task.tasks)
        ]
        self._right = [np.zeros(len(rules), dtype=np.int64) for rules in self._rules]

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Count how often each control of the member would have been right, then let each look at
        the answers.
        """
        number = int(self._members.told(inputs).member[-1])
        if number < 0:
            return
        ids, wanted = self._members.own(number, inputs), self._members.own(number, targets)
        for place, rule in enumerate(self._rules[number]):
            self._right[number][place] += int((rule.predict(ids) == wanted)[wanted >= 0].sum())
            rule.learn(ids, wanted)

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The answer for every prefix; the token just read where no member has its words."""
        member = self._members.told(inputs).member
        answers = np.array(inputs, dtype=np.int64)
        for number in set(member[member >= 0].tolist()):
            places = np.flatnonzero(member == number)
            rule = self._rules[number][int(self._right[number].argmax())]
            said = rule.predict(self._members.own(number, inputs[: places[-1] + 1]))
            answers[places] = self._members.common(number, said[places])
        return answers


def _streaks(right: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many predictions in a row were right just before each token, the first included.

    >>> _streaks(np.array([True, True, False, True])).tolist()
    [0, 1, 2, 0, 1]
    """
    places = np.arange(len(right) + 1)
    return places - np.maximum.accumulate(np.where(np.concatenate([[True], ~right]), places, 0))
