"""A measure: a pure function from a trace to numbers, with all that a reader must know about each
of them.
"""

from __future__ import annotations

import fnmatch
import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from quickstudy.base.errors import UsageError

if TYPE_CHECKING:
    from quickstudy.base.trace import Trace

HIGHER, LOWER, UNKNOWN = "higher", "lower", "unknown"
MEAN, MEDIAN = "mean", "median"
LINEAR, LOG = "linear", "log"
_LEAST = {LINEAR: 0.001, LOG: 0.01}
"""A difference that three decimals do not show; a ratio of 1.02."""
_CHOICES = {"better": (HIGHER, LOWER, UNKNOWN), "shown": (MEAN, MEDIAN), "read": (LINEAR, LOG)}
_WORD = re.compile(r"([<>]?)(-?inf|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def is_score_name(name: str) -> bool:
    """Whether a score may be called so: every reader of records relies on it.

    >>> [is_score_name(name) for name in ("errors", "steps-*", "", "a*b")]
    [True, True, False, False]
    """
    return bool(name) and "*" not in name[:-1]


@dataclass(frozen=True)
class Score:
    """One number that a measure gives, and how it is read.

    name: as in a record; `*` at its end for any ending. title: its heading, the name with
    spaces if none is given. unit: what it counts, or what it is a share of. better: `higher` or
    `lower`; `unknown` is for scores without a declaration, and no measure may declare it. range:
    the least and the greatest value, which may be infinite. shown: its `mean` over runs, or the
    `median`, where infinity is a possible value. read: `linear`, or `log` where orders of magnitude
    count: means are then geometric, and a difference is one of decimal logarithms. least: the
    smallest difference that matters, in the unit of differences; nan for the usual one. words: what
    is written instead of a value, by the value (`inf`) or its side of a bound (`<1`). alias: the
    name that it had first; records that have it are read by the present one.

    >>> Score("steps-to-0.9", better="lower", words={"inf": "never"}).word(float("inf"))
    'never'
    """

    name: str
    title: str = ""
    unit: str = ""
    better: str = UNKNOWN
    range: tuple[float, float] = (-math.inf, math.inf)
    shown: str = MEAN
    read: str = LINEAR
    least: float = math.nan
    words: Mapping[str, str] = field(default_factory=dict, hash=False)
    alias: str = ""

    def __post_init__(self) -> None:
        if not is_score_name(self.name):
            self._refuse("name", "a name, with `*` at its end only")
        for entry, choices in _CHOICES.items():
            if getattr(self, entry) not in choices:
                self._refuse(entry, " or ".join(choices[:2]))
        if self.read == LOG and self.range == (-math.inf, math.inf):
            object.__setattr__(self, "range", (0.0, math.inf))
        if not _is_range(self.range) or (self.read == LOG and self.range[0] < 0):
            self._refuse(
                "range",
                f"two numbers, the lower one first{', none below 0' if self.read == LOG else ''}",
            )
        if self.least != self.least:
            object.__setattr__(self, "least", _LEAST[self.read])
        if not _is_number(self.least) or not 0 <= self.least < math.inf:
            self._refuse("least", "a number, 0 or more")
        if not isinstance(self.words, Mapping) or not all(
            _WORD.fullmatch(str(place)) for place in self.words
        ):
            self._refuse("words", 'texts by value ("inf") or by the side of a bound ("<1")')
        if not self.title:
            object.__setattr__(
                self, "title", self.name.removesuffix("*").strip("-").replace("-", " ")
            )

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is, 0 where unknown."""
        return {HIGHER: 1, LOWER: -1}.get(self.better, 0)

    def named(self, name: str) -> Score:
        """The same for one of its names; the text for `*` follows the
        title.
        """
        ending = name.removeprefix(self.name.removesuffix("*")).replace("-", " ")
        return (
            self
            if name == self.name
            else replace(self, name=name, title=f"{self.title} {ending}".strip())
        )

    def place(self, value: float) -> float:
        """Where a value lies when it is read: itself, or its decimal logarithm."""
        if self.read == LINEAR or math.isnan(value):
            return value
        return -math.inf if value <= 0 else math.log10(value)

    def value(self, place: float) -> float:
        """The value that lies at a place."""
        return place if self.read == LINEAR else 10.0**place

    def word(self, value: float) -> str:
        """Text to print instead of a value; empty for most."""
        for place, word in self.words.items():
            side, bound = _WORD.fullmatch(place).groups()  # type: ignore[union-attr]  # seen when it was declared
            if (
                value < float(bound)
                if side == "<"
                else value > float(bound)
                if side == ">"
                else value == float(bound)
            ):
                return word
        return ""

    def as_facts(self) -> dict[str, Any]:
        """All that a reader needs who has no measures: what is not as usual. Without the name; the
        range as `ends`, None for an infinite one, which JSON has no number for.
        """
        usual = Score(self.name, read=self.read)
        entries = ("title", "unit", "better", "shown", "least", "words")
        facts = {
            entry: getattr(self, entry)
            for entry in entries
            if getattr(self, entry) != getattr(usual, entry)
        }
        if self.range != usual.range:
            facts["ends"] = [end if math.isfinite(end) else None for end in self.range]
        return facts if self.read == LINEAR else {"read": self.read, **facts}

    def _refuse(self, entry: str, wanted: str) -> None:
        raise UsageError(
            f'score "{self.name}": {entry} must be {wanted}, got {getattr(self, entry)!r}'
        )


@dataclass(frozen=True)
class Measure:
    """A pure function that gives numbers by name for one trace.

    kinds: the kinds of trace it can be applied to.
    equation, chance: the definition, and what is scored without learning.
    scores: its numbers, known before anything is run.
    function: of a trace; one that has a second parameter is also given the convention.
    """

    id: str
    version: int
    kinds: tuple[str, ...]
    equation: str
    chance: str
    scores: tuple[Score, ...]
    function: Callable[..., Mapping[str, float]]
    uses_convention: bool = field(init=False)

    def __post_init__(self) -> None:
        for score in self.scores:
            if not isinstance(score, Score):
                raise UsageError(f'measure "{self.id}": scores must be Score(...), got {score!r}')
            if score.better == UNKNOWN:
                raise UsageError(
                    f'measure "{self.id}": score "{score.name}" must say which is better:'
                    ' better="higher" or "lower"'
                )
        object.__setattr__(self, "uses_convention", _parameters_of(self.function) > 1)
        if not self.scores or len({score.name for score in self.scores}) < len(self.scores):
            raise UsageError(
                f'measure "{self.id}" must declare its scores, each once: scores=(Score(...), ...)'
            )

    def __call__(self, trace: Trace, convention: str = "corrected") -> Mapping[str, float]:
        """The numbers of one trace. Raises ValueError for one that was not announced."""
        found = self.function(trace, convention) if self.uses_convention else self.function(trace)
        for name in found:
            if not is_score_name(name) or not self.gives(name):
                announced = ", ".join(score.name for score in self.scores)
                raise ValueError(f'measure {self.id} gives "{name}", but announces {announced}')
        return found

    def gives(self, score: str) -> bool:
        """Whether a score of that name is one of its numbers."""
        return find_score(score, self.scores) is not None

    @property
    def unit(self) -> str:
        """That of its first score, as are direction and range."""
        return self.scores[0].unit

    @property
    def direction(self) -> str:
        """Which is better."""
        return self.scores[0].better

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest value."""
        return self.scores[0].range


def _parameters_of(function: Callable[..., Any]) -> int:
    """How many arguments by position it takes; two where that is unknown, as for a builtin."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return 2
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in parameters)


def find_score(name: str, scores: Iterable[Score]) -> Score | None:
    """The score of that name among some; one that is named in full comes before one that ends in
    `*`.
    """
    fitting = [score for score in scores if fnmatch.fnmatchcase(name, score.name)]
    found = next((score for score in fitting if score.name == name), next(iter(fitting), None))
    return found.named(name) if found else None


def read_range(facts: Mapping[str, Any]) -> tuple[float, float]:
    """The range among the facts of a score; without bounds where they have none, as those of
    earlier versions, or none that makes sense.

    >>> [read_range({"ends": ends}) for ends in ([0, None], "odd", [0, 10**400])]
    [(0, inf), (-inf, inf), (-inf, inf)]
    """
    ends = facts.get("ends")
    known = ends if isinstance(ends, list) and len(ends) == 2 else [None, None]
    found = -math.inf if known[0] is None else known[0], math.inf if known[1] is None else known[1]
    return found if _is_range(found) else (-math.inf, math.inf)


def _is_range(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and all(map(_is_number, value))
        and value[0] < value[1]
    )


def _is_number(value: Any) -> bool:
    if isinstance(
        value, int
    ):  # a whole number of JSON has no bound; what no float can hold cannot be computed with
        return not isinstance(value, bool) and abs(value) < 10**300
    return isinstance(value, float) and not math.isnan(value)


PLAIN = Score("number")
"""How a number is read of which nothing is known."""
