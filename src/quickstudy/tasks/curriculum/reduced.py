"""Tasks 1 and 2 of the curriculum cut down until all they can be in fits on a page, and their machines with it.

They are worlds like the others, and they say exactly what they can be in: whatever happens in the world is drawn from
the same chances that the machine is built of.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.catalogue import task
from quickstudy.base.errors import LearnerFault
from quickstudy.base.parameters import parameter
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import Turn, World

SPECIALS = '!":?.,;-#&'
NEEDED = 5
"""Instances after which a world is over; none can be failed."""


class Place(NamedTuple):
    """answer: number of the letter that is right in this instance. group: "" where a letter was shown, else the special
    itself. run: rewards in a row so far.
    """

    answer: int
    group: str
    run: int


Following = dict[tuple[tuple[str, int], Place], Fraction]


@dataclass(frozen=True)
class Places:
    """All that a reduced task can be in (see `Reduced`), as a machine is built of it."""

    instances: int
    wanted: int
    letters: int
    specials: int

    @property
    def inputs(self) -> tuple[str, ...]:
        """What may be answered: the letters that may be right, and the specials."""
        return (*string.ascii_lowercase[: self.instances], *SPECIALS[: self.specials])

    def first(self) -> Following:
        """Any instance, any symbol."""
        return self._shown(self._fresh(), 0)

    def after(self, configuration: Place, given: str) -> Following:
        """Right or wrong, then the next symbol; of the next instance, if this one is solved."""
        if given != self.right(configuration):
            return self._shown({configuration._replace(run=0): Fraction(1)}, -1)
        run = configuration.run + 1
        then = self._fresh() if run == self.wanted else {configuration._replace(run=run): Fraction(1)}
        return self._shown(then, 1)

    def right(self, configuration: Place) -> str:
        """A special is its own answer, and all letters have one."""
        return configuration.group or string.ascii_lowercase[configuration.answer]

    def name(self, configurations: Sequence[Place]) -> str:
        """As in the figures: instances as capitals, then the group (L for letters) where there are several, then the
        rewards in a row.
        """
        instances = "".join(string.ascii_uppercase[answer] for answer in sorted({one.answer for one in configurations}))
        group = (configurations[0].group or "L") if self.specials else ""
        return f"{instances}{group}{configurations[0].run}"

    def _fresh(self) -> dict[Place, Fraction]:
        return {Place(answer, "", 0): Fraction(1, self.instances) for answer in range(self.instances)}

    def _shown(self, places: Mapping[Place, Fraction], reward: int) -> Following:
        each = Fraction(1, self.letters + self.specials)
        groups = {**dict.fromkeys(string.ascii_lowercase[: self.letters], ""), **{one: one for one in self.echoed}}
        return {
            ((symbol, reward), place._replace(group=group)): chance * each
            for place, chance in places.items()
            for symbol, group in groups.items()
        }

    @property
    def echoed(self) -> str:
        """The specials."""
        return SPECIALS[: self.specials]


class ReducedWorld(World):
    """Draws what may follow. An event, at the end of an instance: task, instance, success, questions, right, outcomes.

    place: where it is, for those who may look.
    """

    def __init__(self, places: Places, rng: np.random.Generator) -> None:
        self.places, self._rng = places, rng

    def reset(self) -> int:
        """The first symbol of the first instance."""
        self._solved, self._outcomes = 0, bytearray()
        (symbol, _), self.place = self._drawn(None, "")
        return ord(symbol)

    def step(self, action: Any) -> Turn:
        """One answer."""
        if isinstance(action, bool) or not isinstance(action, int | np.integer) or not 0 <= action < 256:
            raise LearnerFault(f"a reply is one byte, a whole number from 0 to 255, got {action!r}")
        run = self.place.run
        (symbol, reward), self.place = self._drawn(self.place, chr(action))
        self._outcomes.append(reward > 0)
        if reward < 0 or run + 1 < self.places.wanted:
            return Turn(ord(symbol), reward, False)
        outcomes, self._outcomes = bytes(self._outcomes), bytearray()
        told = {"task": 0, "instance": self._solved, "success": True, "questions": len(outcomes)}
        self._solved += 1
        over = self._solved == NEEDED
        return Turn(ord(symbol), reward, over, {**told, "right": sum(outcomes), "outcomes": outcomes})

    def _drawn(self, place: Place | None, given: str) -> tuple[tuple[str, int], Place]:
        sums, follows = _cumulative(self.places, place, given)
        return follows[int(np.searchsorted(sums, self._rng.random(), side="right"))]


@lru_cache(maxsize=4096)
def _cumulative(places: Places, place: Place | None, given: str) -> tuple[Any, Any]:
    follows = places.first() if place is None else places.after(place, given)
    return np.cumsum([float(chance) for chance in follows.values()])[:-1], list(follows)


class Reduced:
    """What both tasks share: bytes in, bytes out, `instances`, `wanted` and `letters` of their parameters."""

    inputs = Tokens(256)
    outputs = Tokens(256)
    horizon = 1000
    instances: int
    wanted: int
    letters: int
    specials: int = 0

    def configurations(self) -> Places:
        """All that it can be in."""
        return Places(self.instances, self.wanted, self.letters or self.instances, self.specials)

    def open(self, streams: Streams) -> World:
        """A fresh world."""
        return ReducedWorld(self.configurations(), streams.numpy("data"))


@task("curriculum/reduced-1", version=1, controls=["random", "silent"], oracle="perfect")
@dataclass(frozen=True)
class OneAnswer(Reduced):
    """Find the one answer, whatever is shown: task 1 with few instances and no limits.

    Sees: one of `letters` letters (as many as instances, if 0), each as likely as another. Answers: one byte; in each of
    `instances` kinds of instance another letter is right, whatever is shown. Scored: reward 1 if right, -1 if not;
    `wanted` in a row solve an instance, and another is drawn without a mark. Over after five instances. Chance: one
    byte in 256. Ceiling: 5 times `wanted` steps. Its machine has I R + 2^I - I - 1 states: while nothing is known all
    instances are possible, and that is a state of its own. Source: Feyereisl et al. 2017, Figure 3a, with I = 2 and
    R = 5.
    """

    instances: int = parameter(2, at_least=1, at_most=10)
    wanted: int = parameter(5, at_least=1, at_most=1000)
    letters: int = parameter(0, at_least=0, at_most=26)


@task("curriculum/reduced-2", version=1, controls=["random", "silent"], oracle="perfect")
@dataclass(frozen=True)
class LettersAndEcho(Reduced):
    """Give the one answer to letters, and say all else again: task 2 with few instances and no limits.

    Sees: one of `letters` letters (as many as instances, if 0) or `specials` other symbols, each as likely as another.
    Answers: one byte; letters have one right answer, another in each of `instances` kinds of instance, a special is its
    own. Scored: as `curriculum/reduced-1`, and over as that is. Chance: one byte in 256. Ceiling: 5 times `wanted`
    steps. Its machine has R (1 + k) (2^I - 1) states, k specials: letters need not be told apart, specials must.
    Source: Feyereisl et al. 2017, Figures 3b and 5, with I = 2, R = 5 and k = 1.
    """

    instances: int = parameter(2, at_least=1, at_most=10)
    wanted: int = parameter(5, at_least=1, at_most=1000)
    letters: int = parameter(0, at_least=0, at_most=26)
    specials: int = parameter(1, at_least=0, at_most=len(SPECIALS))
