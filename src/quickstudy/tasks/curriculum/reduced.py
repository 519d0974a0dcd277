"""Tasks of the curriculum cut down until all that they can be in can be written down, and their
machines with it.

They are worlds like the others, and they say exactly what they can be in: all events in the world
are sampled from the same probabilities as those of the machine.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.errors import LearnerFault
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import Turn, World
from quickstudy.tasks.curriculum.loop import Stage
from quickstudy.tasks.curriculum.reductions import CHOICES, WANTED, reduced_loop
from quickstudy.tasks.curriculum.schedule import member_named

SPECIALS = '!":?.,;-#&'
CONTROLS = ["silent-byte", "random-byte", "echo-byte"]
NEEDED = 5
"""Instances after which a world is over; none can be failed."""


class Place(NamedTuple):
    """answer: number of the letter that is right in this instance. group: "" where a letter was
    shown, else the special itself. run: rewards in a row so far.
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
        then = (
            self._fresh() if run == self.wanted else {configuration._replace(run=run): Fraction(1)}
        )
        return self._shown(then, 1)

    def judged(self, configuration: Place, given: str) -> bool:
        """Every byte is an answer."""
        return given == self.right(configuration)

    def right(self, configuration: Place) -> str:
        """A special is its own answer, and all letters have one."""
        return configuration.group or string.ascii_lowercase[configuration.answer]

    def name(self, configurations: Sequence[Place]) -> str:
        """As in the figures: instances as capitals, then the group (L for letters) where there are
        several, then the rewards in a row.
        """
        instances = "".join(
            string.ascii_uppercase[answer]
            for answer in sorted({one.answer for one in configurations})
        )
        group = (configurations[0].group or "L") if self.specials else ""
        return f"{instances}{group}{configurations[0].run}"

    def _fresh(self) -> dict[Place, Fraction]:
        return {
            Place(answer, "", 0): Fraction(1, self.instances) for answer in range(self.instances)
        }

    def _shown(self, places: Mapping[Place, Fraction], reward: int) -> Following:
        each = Fraction(1, self.letters + self.specials)
        groups = {
            **dict.fromkeys(string.ascii_lowercase[: self.letters], ""),
            **{one: one for one in self.echoed},
        }
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
    """Draws what may follow. An event, at the end of an instance, as of a `ByteWorld`; no instance
    can be failed.

    place: where it is; stage: what is going on, for those who may look.
    """

    def __init__(self, places: Any, rng: np.random.Generator) -> None:
        self.places, self._rng, self.stage = places, rng, Stage()

    def reset(self) -> int:
        """The first byte of the first instance."""
        self._solved, self._run, self._outcomes = 0, 0, bytearray()
        return self._shown(None, " ")[0]

    def shown_as(self, byte: int) -> int:
        """No symbol is renamed."""
        return byte

    def step(self, action: Any) -> Turn:
        """One reply."""
        if (
            isinstance(action, bool)
            or not isinstance(action, int | np.integer)
            or not 0 <= action < 256
        ):
            raise LearnerFault(f"a reply is one byte, a whole number from 0 to 255, got {action!r}")
        judged = self.places.judged(self.place, chr(action))
        byte, reward = self._shown(self.place, chr(action))
        self._run = 0 if reward < 0 else self._run + (judged is True)
        if judged is not None:
            self._outcomes.append(judged)
        if not judged or self._run < self.places.wanted:
            return Turn(byte, reward, False)
        outcomes, self._outcomes, self._run = bytes(self._outcomes), bytearray(), 0
        self._solved += 1
        over = self._solved == NEEDED
        told = {
            "task": 0,
            "instance": self._solved - 1,
            "success": True,
            "passed": over,
            "outcomes": outcomes,
        }
        return Turn(
            byte, reward, over, {**told, "questions": len(outcomes), "right": sum(outcomes)}
        )

    def _shown(self, place: Any, given: str) -> tuple[int, int]:
        sums, follows = _cumulative(self.places, place, given)
        (symbol, reward), self.place = follows[
            int(np.searchsorted(sums, self._rng.random(), side="right"))
        ]
        self.stage.put(symbol.encode("latin-1"), self.places.right(self.place).encode("latin-1"))
        return ord(symbol), reward


@lru_cache(maxsize=65536)
def _cumulative(places: Any, place: Any, given: str) -> tuple[Any, Any]:
    follows = places.first() if place is None else places.after(place, given)
    return np.cumsum([float(chance) for chance in follows.values()])[:-1], list(follows)


class Reduced:
    """What reduced tasks share: bytes in, bytes out, a world that draws from their
    configurations.
    """

    inputs = Tokens(256)
    outputs = Tokens(256)
    horizon = 10_000
    labels = ("reduced",)
    instances: int
    wanted: int
    letters: int
    specials: int = 0

    def configurations(self) -> Any:
        """All that it can be in."""
        return Places(self.instances, self.wanted, self.letters or self.instances, self.specials)

    def open(self, streams: Streams) -> World:
        """A fresh world."""
        return ReducedWorld(self.configurations(), streams.numpy("data"))


@task("curriculum/reduced-1", version=1, controls=CONTROLS, oracle="perfect-byte")
@dataclass(frozen=True)
class OneAnswer(Reduced):
    """Find the one answer, independent of the question: task 1 with few instances and no limits.

    Its machine has I R + 2^I - I - 1 states, for I instances and R rewards in a row: while nothing
    is known all instances are possible, and that is a state of its own.

    Sees: one of `letters` letters, each equally likely.
    Answers: one byte; in each kind of instance another letter is right, independent of the
    question. Scored: reward 1 if right, -1 if not; `wanted` in a row solve an instance, and another
    is
        sampled without a mark. The end is after five instances.
    Chance: one byte in 256.
    Ceiling: 5 times `wanted` steps.
    Source: Feyereisl et al. 2017, Figure 3a, with I = 2 and R = 5.

    Parameters
    ----------
    instances:
        Kinds of instance (I).
    wanted:
        Rewards in a row that solve an instance (R).
    letters:
        Number of letters; 0 for as many as instances.
    """

    instances: int = parameter(2, at_least=1, at_most=10)
    wanted: int = parameter(5, at_least=1, at_most=1000)
    letters: int = parameter(0, at_least=0, at_most=26)


@task("curriculum/reduced-2", version=1, controls=CONTROLS, oracle="perfect-byte")
@dataclass(frozen=True)
class LettersAndEcho(Reduced):
    """Give one answer to all letters and echo everything else: task 2 with few instances and no
    limits.

    Its machine has R (1 + k)(2^I - 1) states for k specials: letters need not be distinguished,
    specials must be.

    Sees: one of `letters` letters or `specials` other symbols, each equally likely.
    Answers: one byte; letters have one right answer, another in each kind of instance; a special is
        its own answer.
    Scored: as `curriculum/reduced-1`.
    Chance: one byte in 256.
    Ceiling: 5 times `wanted` steps.
    Source: Feyereisl et al. 2017, Figures 3b and 5, with I = 2, R = 5 and k = 1.

    Parameters
    ----------
    instances:
        Kinds of instance (I).
    wanted:
        Rewards in a row that solve an instance (R).
    letters:
        Number of letters; 0 for as many as instances.
    specials:
        Number of other symbols (k).
    """

    instances: int = parameter(2, at_least=1, at_most=10)
    wanted: int = parameter(5, at_least=1, at_most=1000)
    letters: int = parameter(0, at_least=0, at_most=26)
    specials: int = parameter(1, at_least=0, at_most=len(SPECIALS))


@task("curriculum/reduced", version=1, controls=CONTROLS, oracle="perfect-byte")
@dataclass(frozen=True)
class Reduction(Reduced):
    """Any of the 46 tasks with few options per choice, few rewards in a row, and no limits.

    Questions are sampled one by one, not from a pack.

    Sees: what the task `of` shows.
    Answers: as in that task.
    Scored: `wanted` rewards in a row solve an instance (one answer, in a mini task); the end is
        after five.
    Chance: the controls.
    Ceiling: the oracle.
    Source: ours, after Feyereisl et al. 2017, section 9.

    Parameters
    ----------
    of:
        Name of the task, such as `micro-5.1` or `mini-2`.
    choices:
        Options of every choice except among kinds; keys and values of what is looked up; questions
        of a mini task with a right string, and as many with a wrong one.
    wanted:
        Rewards in a row that solve an instance.
    """

    of: str = "micro-1"
    choices: int = parameter(CHOICES, at_least=1, at_most=26)
    wanted: int = parameter(WANTED, at_least=1, at_most=10)

    def __post_init__(self) -> None:
        object.__setattr__(self, "of", member_named(self.of))

    def configurations(self) -> Any:
        """All that it can be in."""
        return reduced_loop(self.of, self.choices, self.wanted)
