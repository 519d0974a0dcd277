"""Languages that strings are accepted or rejected by: the eighteen of FLaRe, and a user's own.

The definitions are facts of Butoi et al. 2024 (Training Neural Networks as Recognizers of Formal
Languages); automata, samplers and tests of membership are written here.
"""

from __future__ import annotations

import math
import pathlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from quickstudy.base.errors import UsageError, nearest
from quickstudy.data.tables import read_content
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.derivation import wrapped
from quickstudy.tasks.grammar.finite_automaton import FiniteAutomaton, below
from quickstudy.tasks.grammar.length_sampling import CountingSampler, DerivationSampler
from quickstudy.tasks.grammar.strings import read_grammar

Letters = Sequence[int]
Drawn = Callable[[np.random.Generator, int], Sequence[int]]
BITS, DIGITS = ("0", "1"), tuple("01234")


@dataclass(frozen=True)
class RecognisedLanguage:
    """A language by its letters, a test of membership, and a sampler of its strings by length.

    level: R regular, DCF deterministic context-free, CF context-free, CS context-sensitive; empty
    where it is not known. possible: whether it has a string of a length. automaton: of a regular
    one.
    """

    symbols: tuple[str, ...]
    contains: Callable[[Letters], bool]
    drawn: Drawn
    possible: Callable[[int], bool]
    level: str = ""
    automaton: FiniteAutomaton | None = field(default=None, repr=False)


def regular(automaton: FiniteAutomaton, level: str = "R") -> RecognisedLanguage:
    """The language of an automaton."""
    return RecognisedLanguage(
        automaton.symbols,
        automaton.contains,
        automaton.drawn,
        lambda length: automaton.count(length) > 0,
        level,
        automaton,
    )


def _automata() -> dict[str, FiniteAutomaton]:
    explore = FiniteAutomaton.explore

    def moved(state: int, symbol: str) -> int | None:
        if state == 5:  # after the position was said
            return None
        if symbol in DIGITS:
            return 5 if int(symbol) == state else None
        return (state + {"<": -1, "=": 0, ">": 1}[symbol]) % 5

    def computed(state: tuple[str, int], symbol: str) -> tuple[str, int] | None:
        # (sign that waits for a digit, value); "" waits for a sign, "." has read the result.
        sign, value = state
        if sign == "":
            return (symbol, value) if symbol in "+-*=" else None
        if sign == "." or symbol not in DIGITS:
            return None
        digit = int(symbol)
        if sign == "=":
            return (".", 0) if digit == value else None
        after = {"+": value + digit, "-": value - digit, "*": value * digit}[sign]
        return "", after % 5

    def nested(state: str, symbol: str) -> str | None:
        if symbol in "([":
            return state + symbol if len(state) < 3 else None
        return state[:-1] if state[-1:] + symbol in ("()", "[]") else None

    return {
        "even-pairs": explore(
            BITS,
            "",
            lambda ends, bit: (ends or bit)[0] + bit,
            lambda ends: ends in ("", "00", "11"),
        ),
        "repeat-01": explore(
            BITS, 0, lambda at, bit: 1 - at if int(bit) == at else None, lambda at: at == 0
        ),
        "parity": explore(BITS, 0, lambda odd, bit: odd ^ int(bit), lambda odd: odd == 1),
        "cycle-navigation": explore((*"<=>", *DIGITS), 0, moved, lambda state: state == 5),
        "modular-arithmetic": explore(
            (*DIGITS, *"+-*="), ("+", 0), computed, lambda state: "." in state
        ),
        "dyck-2-3": explore(tuple("()[]"), "", nested, lambda state: not state),
        "first": explore(
            BITS, 0, lambda read, bit: 1 if read or bit == "1" else None, lambda read: read == 1
        ),
    }


def _bits(rng: np.random.Generator, count: int) -> list[int]:
    return [int(bit) for bit in rng.integers(2, size=count)]


def _number(bits: Letters) -> int:
    """The least bit comes first."""
    return sum(bit << place for place, bit in enumerate(bits))


def _written(number: int, size: int) -> list[int]:
    return [number >> place & 1 for place in range(size)]


def _odd(length: int) -> bool:
    return length % 2 == 1


def _even(length: int) -> bool:
    return length % 2 == 0


def _halves(string: Letters, mark: int) -> tuple[list[int], list[int]] | None:
    """What is before and after the only mark."""
    place = list(string).index(mark) if list(string).count(mark) == 1 else -1
    return None if place < 0 else (list(string[:place]), list(string[place + 1 :]))


def _answered(
    level: str, symbols: Sequence[str], letters: int, answer: Callable[[list[int]], Letters]
) -> RecognisedLanguage:
    """W # f(w), where f keeps the length."""
    mark = letters

    def contains(string: Letters) -> bool:
        parts = _halves(string, mark)
        return parts is not None and parts[1] == list(answer(parts[0]))

    def drawn(rng: np.random.Generator, length: int) -> list[int]:
        word = [int(one) for one in rng.integers(letters, size=length // 2)]
        return [*word, mark, *answer(word)]

    return RecognisedLanguage((*symbols, "#"), contains, drawn, _odd, level)


def _majority(rng: np.random.Generator, length: int) -> list[int]:
    ones = int(rng.integers(length // 2 + 1, length + 1))
    return [int(one) for one in rng.permutation(np.arange(length) < ones)]


def _stacked(rng: np.random.Generator, length: int) -> list[int]:
    """Height h at the beginning, u pushes, any pops: 2h + 3u + 1 symbols whatever is popped."""
    pushes = int(
        rng.choice([u for u in range((length - 1) // 3 + 1) if not (length - 1 - 3 * u) % 2])
    )
    stack = _bits(rng, (length - 1 - 3 * pushes) // 2)
    string = [*stack]
    while True:
        if stack and rng.random() < 0.5:
            string.append(_POP)
            stack.pop()
        elif pushes:
            pushes -= 1
            stack.append(int(rng.integers(2)))
            string += [_PUSH, stack[-1]]
        else:
            return [*string, _BAR, *stack[::-1]]


_PUSH, _POP, _BAR = 2, 3, 4


def _is_stacked(string: Letters) -> bool:
    parts = _halves(string, _BAR)
    if parts is None:
        return False
    stack, pushing, stepped = list[int](), False, False
    for symbol in parts[0]:
        if pushing and symbol > 1:
            return False
        if symbol == _PUSH:
            pushing = stepped = True
        elif symbol == _POP:
            if not stack:
                return False
            stack.pop()
            stepped = True
        elif stepped and not pushing:  # a bit that no step pushes
            return False
        else:
            stack.append(symbol)
            pushing = False
    return not pushing and stack[::-1] == parts[1]


def _missing(rng: np.random.Generator, length: int) -> list[int]:
    word = _bits(rng, length // 2)
    word[rng.integers(len(word))] = 1
    string = word * 2
    string[rng.choice(np.flatnonzero(string))] = 2
    return string


def _is_missing(string: Letters) -> bool:
    whole = [1 if one == 2 else one for one in string]
    half = len(whole) // 2
    return list(string).count(2) == 1 and whole[:half] == whole[half:]


def _arithmetic(sign: str, worked: Callable[[int, int], int]) -> RecognisedLanguage:
    """X sign y = z in bits, the least first, with zeros after the highest allowed."""

    def drawn(rng: np.random.Generator, length: int) -> list[int]:
        cuts = np.sort(rng.choice(length - 3, size=2, replace=False)) + 1
        first, second, third = (int(one) for one in np.diff([0, *cuts, length - 2]))
        limit = (1 << third) - 1
        one = below(rng, min((1 << first) - 1, limit) + 1)
        room = limit - one if sign == "+" else limit // max(one, 1)
        other = below(rng, min((1 << second) - 1, room) + 1)
        value = _written(worked(one, other), third)
        return [*_written(one, first), 2, *_written(other, second), 3, *value]

    def contains(string: Letters) -> bool:
        left = _halves(string, 3)
        parts = _halves(left[0], 2) if left else None
        if left is None or parts is None:
            return False
        every = (*parts, left[1])
        return all(own and max(own) < 2 for own in every) and worked(
            _number(parts[0]), _number(parts[1])
        ) == _number(left[1])

    return RecognisedLanguage((*BITS, sign, "="), contains, drawn, lambda length: length >= 5, "CS")


def _rooted(rng: np.random.Generator, length: int) -> list[int]:
    first = int(rng.integers(1, length - 1))
    second = length - 1 - first
    number = below(rng, 1 << min(first, 2 * second))
    return [*_written(number, first), 2, *_written(math.isqrt(number), second)]


def _is_rooted(string: Letters) -> bool:
    parts = _halves(string, 2)
    return parts is not None and all(parts) and math.isqrt(_number(parts[0])) == _number(parts[1])


@lru_cache
def published() -> dict[str, RecognisedLanguage]:
    """The eighteen languages by name, from the simplest level on."""
    found = {name: regular(automaton) for name, automaton in _automata().items()}
    found |= {
        "majority": RecognisedLanguage(
            BITS, lambda s: 2 * sum(s) > len(s), _majority, lambda length: length > 0, "DCF"
        ),
        "stack-manipulation": RecognisedLanguage(
            (*BITS, "push", "pop", "#"),
            _is_stacked,
            _stacked,
            lambda length: length not in (0, 2),
            "DCF",
        ),
        "marked-reversal": _answered("DCF", BITS, 2, lambda word: word[::-1]),
        "unmarked-reversal": RecognisedLanguage(
            BITS,
            lambda s: _even(len(s)) and list(s) == list(s)[::-1],
            lambda rng, length: [*(half := _bits(rng, length // 2)), *half[::-1]],
            _even,
            "CF",
        ),
        "marked-copy": _answered("CS", BITS, 2, lambda word: word),
        "missing-duplicate": RecognisedLanguage(
            (*BITS, "_"), _is_missing, _missing, lambda length: length > 0 and _even(length), "CS"
        ),
        "odds-first": _answered("CS", BITS, 2, lambda word: [*word[::2], *word[1::2]]),
        "binary-addition": _arithmetic("+", lambda one, other: one + other),
        "binary-multiplication": _arithmetic("*", lambda one, other: one * other),
        "compute-sqrt": RecognisedLanguage(
            (*BITS, "="), _is_rooted, _rooted, lambda length: length >= 3, "CS"
        ),
        "bucket-sort": _answered("CS", tuple("12345"), 5, sorted),
    }
    return found


@lru_cache(maxsize=16)
def language(named: str) -> RecognisedLanguage:
    """A published language by name, or that of an automaton or a grammar by its text. Raises
    UsageError for what is none of them.
    """
    if named in published():
        return published()[named]
    if "accept:" in named:
        return regular(FiniteAutomaton.read(named), "")
    if "->" not in named and "^" not in named:
        raise UsageError(
            f'no language "{named}"; {nearest(named, published())}. Or write an automaton (even 1'
            " -> odd; ... accept: odd), rules (S -> a S b [0.7] | [0.3]), or the name of a file"
            " with them"
        )
    grammar = read_grammar(named)
    sampler = (
        CountingSampler(grammar) if isinstance(grammar, Counting) else DerivationSampler(grammar)
    )
    return RecognisedLanguage(
        grammar.symbols[1:],
        lambda string: grammar.contains(wrapped([one + 1 for one in string])),
        lambda rng, length: [one - 1 for one in sampler.drawn(rng, length)],
        lambda length: sampler.count(length) > 0,
    )


def language_text(named: str) -> str:
    """The name of a published language, or the text of an automaton or grammar, read from a file
    where one is named.
    """
    if named in published() or any(sign in named for sign in ("->", "^", "accept:")):
        return named
    if not pathlib.Path(named).expanduser().is_file():
        language(named)  # raises with what is known
    text = read_content(pathlib.Path(named).expanduser()).decode()
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return "\n".join(filter(None, lines))
