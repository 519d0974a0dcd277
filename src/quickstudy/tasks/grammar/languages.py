"""The six languages of the benchmark, and one that a user writes."""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.data.tables import read_content
from quickstudy.tasks.grammar import released
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.derivation import WRONG_ARROWS, wrapped
from quickstudy.tasks.grammar.strings import String, StringTask, read_grammar

_RULES = ["always-b", "bigram", "trigram"]
_SIDE = 123
"""Of the square of values in which the released list of a^n b^m c^{n+m} lies: the root of 15,000,
rounded up.
"""


_CORPUS = "A file of strings is not a grammar; use grammar/sentences:corpus=FILE"


@dataclass(frozen=True)
class Counted(StringTask):
    """A counter language.

    Parameters
    ----------
    p:
        Probability that a variable stops growing.
    least:
        Smallest value of a variable.
    """

    p: float = parameter(0.3, above=0, at_most=0.99)
    least: int = parameter(1, at_least=0, at_most=1, added=True)

    blocks, variables = "", "n"

    @property
    def rules(self) -> str:
        """The text of the grammar."""
        start = "" if self.least else " from 0"
        return " ".join(
            [self.blocks, *(f"[{name} {self.p:.10g}{start}]" for name in self.variables)]
        )

    @property
    def released_rules(self) -> str:
        """The text by which the released strings were drawn. Raises UsageError where there are
        none.
        """
        self._check_released()
        return self._drawn_rules

    def listed(self) -> Sequence[String]:
        """The released test list, made when it is asked for: as text it may be hundreds of
        megabytes.
        """
        self._check_released()
        return self._listed

    def _check_released(self) -> None:
        if not self.least:
            raise UsageError(
                f"{self.id}: released strings have one of each letter at least; use least=1"
            )

    @property
    def _drawn_rules(self) -> str:
        return self.rules

    @property
    def _listed(self) -> Sequence[String]:
        """From n = 1 to 15,000."""
        return _Listed(self.rules)


@dataclass(frozen=True)
class _Listed(Sequence[String]):
    rules: str

    def __len__(self) -> int:
        return released.LISTED

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        return read_grammar(self.rules).string(self.values(place))  # type: ignore[union-attr]

    def values(self, place: int) -> tuple[int, ...]:
        """Of the string at a place."""
        return (place + 1,)


@task("grammar/an-bn", version=1, controls=_RULES, oracle="true-grammar")
@dataclass(frozen=True)
class EqualTwo(Counted):
    """As many b as there were a: a^n b^n.

    Sees: `#`, n letters a, n letters b; n = 1, 2, 3 ... stops growing with chance p.
    Answers: the next symbol, `#` at the end.
    Scored: where the next symbol is certain, from the first b on, in strings longer than all that
        were shown.
    Chance: always answering b errs once in a string.
    Ceiling: all strings right.
    Source: Lan, Chemla and Katzir 2023. Released: n from a grammar in which the first step takes a
        draw too. The grammar of the paper's appendix allows n = 0: `least=0`.
    """

    blocks = "a^n b^n"

    @property
    def _drawn_rules(self) -> str:
        return f"S -> a X b [1]; X -> a X b [{1 - self.p:.10g}] | [{self.p:.10g}]"


@task("grammar/an-bn-cn", version=1, controls=_RULES, oracle="true-grammar")
@dataclass(frozen=True)
class EqualThree(Counted):
    """As many b, and as many c, as there were a: a^n b^n c^n.

    Sees: `#`, then three blocks of n letters; n = 1, 2, 3 ... stops growing with chance p.
    Answers: the next symbol.
    Scored: where it is certain, from the first b on, in strings longer than all that were shown.
    Chance: always answering c is wrong for all b and the end.
    Ceiling: all strings right.
    Source: Lan, Chemla and Katzir 2023.
    """

    blocks = "a^n b^n c^n"


@task("grammar/an-bn-cn-dn", version=1, controls=_RULES, oracle="true-grammar")
@dataclass(frozen=True)
class EqualFour(Counted):
    """As many b, c and d as there were a: a^n b^n c^n d^n.

    Sees: `#`, then four blocks of n letters; n = 1, 2, 3 ... stops growing with chance p.
    Answers: the next symbol.
    Scored: where it is certain, from the first b on, in strings longer than all that were shown.
    Chance: always answering d is wrong for all b, all c and the end.
    Ceiling: all strings right.
    Source: Lan, Chemla and Katzir 2023.
    """

    blocks = "a^n b^n c^n d^n"


@task("grammar/an-bm-cnm", version=1, controls=_RULES, oracle="true-grammar")
@dataclass(frozen=True)
class Addition(Counted):
    """Add two numbers: a^n b^m c^{n+m}.

    Sees: `#`, n letters a, m letters b, n + m letters c; both numbers stop growing with chance p,
        independently.
    Answers: the next symbol.
    Scored: where it is certain, from the first c on, in strings longer than all that were shown.
    Chance: always answering c errs once in a string.
    Ceiling: all strings right.
    Source: Lan, Chemla and Katzir 2023. Released: the test list is exhaustive up to n + m = 124
        only; the paper's text has a square of values instead (`test=grid`). The grammar of the
        paper's appendix allows 0 of each: `least=0`.
    """

    blocks, variables = "a^n b^m c^{n+m}", "nm"

    @property
    def _drawn_rules(self) -> str:
        stop, go_on = f"[{self.p:.10g}]", f"[{1 - self.p:.10g}]"
        return (
            f"S -> a X c [1]; X -> a X c {go_on} | Y {stop}; Y -> b Z c [1]; Z -> b Z c {go_on} |"
            f" {stop}"
        )

    @property
    def _listed(self) -> Sequence[String]:
        """All pairs up to 123, by their sum; the first 15,000."""
        return _pair_list(self.rules)


@lru_cache
def _pair_list(rules: str) -> list[String]:
    grammar = read_grammar(rules)
    assert isinstance(grammar, Counting)
    return [grammar.string(pair) for pair in released.grid_values(_SIDE)[: released.LISTED]]


@dataclass(frozen=True)
class Balanced(StringTask):
    """Balanced brackets.

    Parameters
    ----------
    p:
        Probability that a bracket is opened, below a half so that strings end.
    """

    p: float = parameter(0.3, above=0, at_most=0.49)

    brackets: ClassVar[tuple[tuple[str, str], ...]] = (("(", ")"),)

    @property
    def rules(self) -> str:
        """The text of the grammar."""
        chance = self.p / len(self.brackets)
        opened = " | ".join(f"{one} S {other} S [{chance:.10g}]" for one, other in self.brackets)
        return f"S -> {opened} | [{1 - self.p:.10g}]"

    def listed(self) -> Sequence[String]:
        """15,000 words, not all of their lengths."""
        return _bracket_list(len(self.brackets))


@lru_cache
def _bracket_list(kinds: int) -> list[String]:
    return [
        wrapped(word)
        for word in released.bracket_words([(2 * kind + 1, 2 * kind + 2) for kind in range(kinds)])
    ]


@task("grammar/dyck-1", version=1, controls=_RULES, oracle="true-grammar")
@dataclass(frozen=True)
class DyckOne(Balanced):
    """Balanced brackets of one kind.

    Sees: `#` and a balanced word: a bracket is opened with chance p, else the last one is closed or
        the word ends.
    Answers: the next symbol.
    Scored: at every step, whether those symbols that may follow, and no others, are given more than
        the margin of probability; in strings longer than all that were shown. Chance 0.
    Ceiling: all strings right.
    Source: Lan, Chemla and Katzir 2023. Released: the test list leaves most words out from length
        10 on.
    """


@task("grammar/dyck-2", version=1, controls=_RULES, oracle="true-grammar")
@dataclass(frozen=True)
class DyckTwo(Balanced):
    """Balanced brackets of two kinds.

    Sees: `#` and a balanced word: a bracket is opened with chance p, of either kind, else the last
        one is closed or the word ends.
    Answers: the next symbol.
    Scored: as for one kind; only the bracket that was opened last may be closed. Chance 0.
    Ceiling: all strings right.
    Source: Lan, Chemla and Katzir 2023. Released: the test list ends at length 30, shorter than the
        longest training strings of 500 and of 1,000, and leaves most words out from length 8 on.
    """

    brackets = ("(", ")"), ("[", "]")


@task("grammar/written", version=1, controls=_RULES, oracle="true-grammar")
@dataclass(frozen=True)
class Written(StringTask):
    """A language that you write, as probabilistic rules or as blocks of counted letters.

    Sees: a string between two `#`.
    Answers: the next symbol.
    Scored: where the next symbol is certain, in strings longer than all training strings; at every
        step, if it never is.
    Chance: 0.
    Ceiling: all strings right.
    Source: yours. Example: `S -> a S b S [0.3] | [0.7]`, one left side per line or between
        semicolons; or counted blocks, `a^n b^m c^{n+m} [n 0.3] [m 0.3]`, with the probability that
        each variable stops growing.

    Parameters
    ----------
    rules:
        The rules, or the name of a file that holds them. Their text identifies a run.
    """

    rules: str = parameter("S -> a S b S [0.3] | [0.7]")

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"reads {given['rules']}" if _is_file(given.get("rules", "->")) else ""

    def __post_init__(self) -> None:
        if _is_file(self.rules):
            try:
                text = read_content(pathlib.Path(self.rules).expanduser()).decode()
            except (UsageError, UnicodeDecodeError) as error:
                raise UsageError(
                    f'grammar: "{self.rules}" is neither rules nor a file of them: {error}'
                ) from error
            object.__setattr__(self, "rules", _rules_in(self.rules, text))
        elif "\n" in self.rules and "#" in self.rules:
            object.__setattr__(self, "rules", _rules_in("the text", self.rules))
        read_grammar(self.rules)


def _is_file(rules: str) -> bool:
    """Whether the parameter names a file, and is not a grammar itself."""
    return not any(sign in rules for sign in ("->", "^", *WRONG_ARROWS))


def _rules_in(file: str, text: str) -> str:
    """The grammar in the text of a file, without comments: what follows a # to the end of a line,
    at its beginning or after a space.
    """
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if lines and all(len(line) > 2 and line[0] == line[-1] == "#" for line in lines):
        raise UsageError(f"grammar: {file} has strings between # and no rules; {_CORPUS}")
    rules = "\n".join(filter(None, (re.sub(r"(^|\s)#.*", "", line).strip() for line in lines)))
    if not rules:
        raise UsageError(f"grammar: {file} is empty; write rules into it: S -> a S b [0.7] | [0.3]")
    if "->" not in rules and "^" not in rules and not any(arrow in rules for arrow in WRONG_ARROWS):
        raise UsageError(
            f"grammar: {file} has no rules; write S -> a S b [0.7] | [0.3] or a^n b^n [n 0.3]."
            f" {_CORPUS}"
        )
    return rules


def grammar(name: str, rules: str | pathlib.Path) -> str:
    """Make a language of a text, or of the file that holds it, and give the task's name:
    `grammar/NAME`.

    >>> grammar("pairs", "S -> a S b S [0.3] | [0.7]")
    'grammar/pairs'
    """
    made = Written(rules=str(rules))
    own: Any = dataclass(frozen=True)(
        type(
            "Written",
            (Written,),
            {
                "__doc__": Written.__doc__,
                # Of the caller: what a script itself defines is run in its process, what a file
                # does, anywhere.
                "__module__": sys._getframe(1).f_globals.get("__name__", __name__),
                "__annotations__": {"rules": str},
                "rules": parameter(made.rules),
                "__reduce__": lambda self: (_again, (name, made.rules, self.setup, self.rules)),
                "written": True,
            },
        )
    )
    id = f"grammar/{name}"
    if id in registries.task and not stated(registries.task.get(id), TaskFacts).written:
        raise UsageError(f'there is a task "{id}" already; take another name')
    registries.task(id, version=1, controls=_RULES, oracle="true-grammar")(own)
    return id


def _again(name: str, text: str, setup: str, rules: str) -> Any:
    """The task of another process, here."""
    id = f"grammar/{name}"
    if id not in registries.task:
        grammar(name, text)
    return registries.task.get(id)(setup=setup, rules=rules)
