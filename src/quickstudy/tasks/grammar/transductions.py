"""Fifteen functions from strings to strings, by level of the hierarchy of Chomsky.

Each is a row of one table: how a string is drawn, and what is right after it; the oracle is the
second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Tokens

Words = Sequence[str]
Draw = Callable[[np.random.Generator, int], Words]
BLANK, END = ".", "#"
BITS, DIGITS = "01", "01234"
STEPS = ("pop", "push-0", "push-1")


def _any(rng: np.random.Generator, symbols: Words, count: int) -> list[str]:
    return [symbols[number] for number in rng.integers(len(symbols), size=count)]


def _sum_of_products(rng: np.random.Generator, length: int) -> Words:
    """Digits and signs in turn; an even length means one less."""
    string = _any(rng, DIGITS, (length + 1) // 2 * 2 - 1)
    string[1::2] = _any(rng, "+-*", len(string) // 2)
    return string


def _summed(string: Words) -> str:
    total, product = 0, int(string[0])
    for sign, digit in zip(string[1::2], string[2::2], strict=True):
        if sign == "*":
            product *= int(digit)
        else:
            total, product = total + product, {"+": 1, "-": -1}[sign] * int(digit)
    return DIGITS[(total + product) % 5]


def _stack_and_steps(rng: np.random.Generator, length: int) -> Words:
    height = int(rng.integers(1, length)) if length > 1 else 1
    return _any(rng, BITS, height) + _any(rng, STEPS, length - height)


def _left_on_stack(string: Words) -> Words:
    stack = list[str]()
    for symbol in string:
        if symbol != "pop":
            stack.append(symbol[-1])
        elif stack:
            stack.pop()
    return stack[::-1]


def _expression(rng: np.random.Generator, length: int, signs: str = "+-*") -> list[str]:
    """Two shorter ones with a sign between, of any lengths that fit, in brackets. The shortest are
    a digit: alone, with a minus, in brackets, with both.
    """
    if length < 5:
        digit = [*("-" if length % 2 == 0 else ""), *_any(rng, DIGITS, 1)]
        return ["(", *digit, ")"] if length > 2 else digit
    left = int(rng.integers(1, length - 3))
    first, second = _expression(rng, left, signs), _expression(rng, length - 3 - left, signs)
    return ["(", *first, *_any(rng, signs, 1), *second, ")"]


def _value(symbols: Iterator[str]) -> tuple[int, int]:
    """Of the expression that comes next: a number, and how often x is added to it. x occurs once
    at most.
    """
    symbol = next(symbols, "")
    if symbol == "-":
        number, unknown = _value(symbols)
        return -number, -unknown
    if symbol != "(":
        return (0, 1) if symbol == "x" else (int(symbol), 0)
    (one, first), sign = _value(symbols), next(symbols, "")
    if sign == ")":
        return one, first
    (other, second), closed = _value(symbols), next(symbols, "")
    if closed != ")":
        raise ValueError(f"a bracket is closed by {closed}")
    if sign == "*":
        return one * other, one * second + other * first
    turn = {"+": 1, "-": -1}[sign]
    return one + turn * other, first + turn * second


def _worked_out(string: Words) -> str:
    symbols = iter(string)
    number, _ = _value(symbols)
    () = symbols  # a ValueError if anything follows
    return DIGITS[number % 5]


def _equation(rng: np.random.Generator, length: int) -> Words:
    """What becomes x is the first digit at or after any position, after the end from the beginning
    on.
    """
    shown = _expression(rng, length - 2, "+-")
    value, place = _value(iter(shown))[0], int(rng.integers(len(shown)))
    digits = [number for number, symbol in enumerate(shown) if symbol in DIGITS]
    shown[min(digits, key=lambda number: (number - place) % len(shown))] = "x"
    return [*shown, "=", DIGITS[value % 5]]


def _unknown(string: Words) -> str:
    symbols = iter(string)
    (number, times), (sign, value) = _value(symbols), symbols
    if sign != "=" or abs(times) != 1:
        raise ValueError("no equation in which one x is added or subtracted")
    return DIGITS[times * (int(value) - number) % 5]


def _twice_but_one(rng: np.random.Generator, length: int) -> Words:
    string = _any(rng, BITS, length // 2) * 2
    string[rng.integers(len(string))] = "?"
    return [*string, *["-"] * (length % 2)]


def _half_away(string: Words) -> str:
    half, place = len(string) // 2, string.index("?")
    return BITS[int(string[(place + half) % (2 * half)])]


def _above_zero(rng: np.random.Generator, length: int) -> list[str]:
    """Bits of a number from 1 to 2^length - 1, all as likely."""
    while "1" not in (bits := _any(rng, BITS, length)):
        pass
    return bits


def _two_numbers(sign: str) -> Draw:
    def draw(rng: np.random.Generator, length: int) -> Words:
        left = int(rng.integers(1, length - 1))
        return [*_above_zero(rng, left), sign, *_above_zero(rng, length - 1 - left)]

    return draw


def _of_two(string: Words) -> str:
    """The least bit comes first, in the numbers and in what is made of them."""
    (sign,) = {*string} - {*BITS}
    first, second = (int(bits[::-1], 2) for bits in "".join(string).split(sign))
    return f"{first + second if sign == '+' else first * second:b}"[::-1]


def _root(string: Words) -> str:
    return f"{math.isqrt(int(''.join(string), 2)):b}".zfill((len(string) + 1) // 2)


class StringFunction(NamedTuple):
    """given, answered: symbols of strings and of answers. draw: a string of a length; None: each
    symbol is as likely. shortest: string there is. ends: an answer ends in `#`, among as many
    blanks as the string has symbols, and one, so that their number does not give it away.
    """

    given: Words
    answered: Words
    turned: Callable[[Words], Words]
    draw: Draw | None = None
    shortest: int = 1
    ends: bool = False


FUNCTIONS = {
    # Regular.
    "grammar/even-pairs": StringFunction(
        BITS, BITS, lambda string: BITS[sum(a != b for a, b in pairwise(string)) % 2]
    ),
    "grammar/modular-arithmetic": StringFunction(DIGITS + "+-*", DIGITS, _summed, _sum_of_products),
    "grammar/parity-check": StringFunction(BITS, BITS, lambda string: BITS[string.count("1") % 2]),
    "grammar/cycle-navigation": StringFunction(
        ("left", "stay", "right"),
        DIGITS,
        lambda way: DIGITS[(way.count("right") - way.count("left")) % 5],
    ),
    # Deterministic context-free.
    "grammar/stack-manipulation": StringFunction(
        (*BITS, *STEPS), BITS, _left_on_stack, _stack_and_steps, ends=True
    ),
    "grammar/reverse-string": StringFunction(BITS, BITS, lambda string: string[::-1]),
    "grammar/modular-arithmetic-brackets": StringFunction(
        DIGITS + "+-*()", DIGITS, _worked_out, _expression
    ),
    "grammar/solve-equation": StringFunction(
        DIGITS + "+-()x=", DIGITS, _unknown, _equation, shortest=3
    ),
    # Context-sensitive.
    "grammar/duplicate-string": StringFunction(BITS, BITS, lambda string: [*string, *string]),
    "grammar/missing-duplicate": StringFunction(
        BITS + "?-", BITS, _half_away, _twice_but_one, shortest=2
    ),
    "grammar/odds-first": StringFunction(BITS, BITS, lambda string: [*string[::2], *string[1::2]]),
    "grammar/binary-addition": StringFunction(
        BITS + "+", BITS, _of_two, _two_numbers("+"), shortest=3, ends=True
    ),
    "grammar/binary-multiplication": StringFunction(
        BITS + "*", BITS, _of_two, _two_numbers("*"), shortest=3, ends=True
    ),
    "grammar/compute-sqrt": StringFunction(BITS, BITS, _root, _above_zero),
    "grammar/bucket-sort": StringFunction(DIGITS, DIGITS, sorted),
}


@dataclass(frozen=True)
class Transduction:
    """A function of strings: a string is read, then blanks, and after each blank a symbol of the
    answer is asked for.

    Regular. even-pairs: 1 if the number of pairs 01 and 10 together is odd, otherwise 0.
    modular-arithmetic: the value modulo 5 of digits with +, - and * between them; an even length is
    reduced by one. parity-check: 1 if the number of ones is odd, otherwise 0. cycle-navigation: the
    position on a ring of five after steps left, right and none.

    Deterministic context-free. stack-manipulation: the stack from its top, and `#`, after a stack
    from its bottom and pops and pushes; a pop of an empty stack has no effect. reverse-string: the
    bits in reverse. modular-arithmetic-brackets: the value modulo 5 of an expression with brackets
    around every two operands of +, - or *, and with minus signs before digits. solve-equation: the
    digit that x represents in such an expression of + and -, followed by = and its value.

    Context-sensitive. duplicate-string: the bits, twice. missing-duplicate: the bit hidden by `?`
    in bits that occur twice; for an odd length followed by a -. odds-first: bits at positions 1, 3,
    5 ..., then the others. binary-addition, binary-multiplication: the result for two positive
    numbers, least significant bit first, possibly padded with zeros; the result has no padding and
    ends in `#`. compute-sqrt: the integer part of the root of a positive number, most significant
    bit first, with half as many bits. bucket-sort: the string of five kinds of digits, sorted.

    Sees: symbols, equally likely unless the function demands otherwise, then as many blanks as
        there are answers; where the answer ends in `#`, one more than the string has symbols. An
        answer is not shown before the next question.
    Answers: the value of the function, symbol by symbol.
    Scored: mean accuracy over lengths beyond those of training.
    Chance: one over the number of symbols; for many tasks more, by the position of an answer: see
        the controls.
    Ceiling: 1, by the function.
    Source: Delétang et al. 2022, "Neural networks and the Chomsky hierarchy".
    Departures: published strings that are too short for a sum, an equation or a duplicate have
        arbitrary answers; here such strings do not occur. Published answers are padded with zeros
        after `#`, and these are trained too; here they are not asked. The released program of
        odds-first puts positions 2, 4, 6 ... first, unlike its text. Example: parity-check: `1 0 1
        1 . 1`.

    Parameters
    ----------
    longest:
        Longest training string; lengths are uniform from the shortest possible one.
    """

    longest: int = parameter(40, at_least=4, at_most=1000)

    id: ClassVar[str]
    controls: ClassVar[tuple[str, ...]] = ("majority", "uniform", "by-place", "say-again")
    oracle: ClassVar[str] = "transduction-oracle"
    protocol: ClassVar[str] = "transduction"

    @property
    def shortest(self) -> int:
        """String that there is."""
        return FUNCTIONS[self.id].shortest

    @property
    def answered(self) -> Words:
        """The words of answers."""
        return (*FUNCTIONS[self.id].answered, *([END] if FUNCTIONS[self.id].ends else []))

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """All words, those of answers first: a word has one number, read or answered. The last is
        the blank.
        """
        return (*dict.fromkeys((*self.answered, *FUNCTIONS[self.id].given)), BLANK)

    @property
    def inputs(self) -> Tokens:
        """All words."""
        return Tokens(len(self.vocabulary))

    @property
    def outputs(self) -> Tokens:
        """Those of answers."""
        return Tokens(len(self.answered))

    def solved(self, string: Words) -> list[str]:
        """The right output after a string. Raises UsageError for anything that is not a string of
        the task.
        """
        own = FUNCTIONS[self.id]
        try:
            if len(string) < own.shortest or not {*string} <= {*own.given}:
                raise ValueError
            return [*own.turned(string), *([END] if own.ends else [])]
        except (ValueError, IndexError, KeyError) as error:
            raise UsageError(
                f'{self.id}: "{" ".join(string)}" is not a string of the task'
            ) from error

    def of_lengths(self, rng: np.random.Generator, lengths: Iterable[int]) -> Examples:
        """A string of each length."""
        ids, own = {word: id for id, word in enumerate(self.vocabulary)}, FUNCTIONS[self.id]
        strings = [
            own.draw(rng, length) if own.draw else _any(rng, own.given, length)
            for length in lengths
        ]
        answers = [self.solved(string) for string in strings]
        sizes = [(len(string), len(said)) for string, said in zip(strings, answers, strict=True)]
        steps = np.array(
            [read + (read + 1 if own.ends else said) for read, said in sizes], np.int64
        )
        inputs = np.full((int(steps.max(initial=1)), len(strings)), ids[BLANK], np.int32)
        targets, asked = np.zeros_like(inputs), np.zeros(inputs.shape, np.bool_)
        for index, (read, said) in enumerate(sizes):
            inputs[:read, index] = [ids[word] for word in strings[index]]
            targets[read : read + said, index] = [ids[word] for word in answers[index]]
            asked[read : read + said, index] = True
        return Examples(inputs, targets, asked, steps)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent strings; a length is drawn just before its symbols, so that grouping
        changes nothing.
        """
        return self.of_lengths(
            rng, (int(rng.integers(self.shortest, self.longest + 1)) for _ in range(count))
        )


task.variant(
    "grammar/even-pairs",
    version=1,
    of=Transduction,
    summary="Tell if unequal neighbours are odd in number.",
)
task.variant(
    "grammar/modular-arithmetic", version=1, of=Transduction, summary="Work out a sum of products."
)
task.variant(
    "grammar/parity-check", version=1, of=Transduction, summary="Tell if ones are odd in number."
)
task.variant(
    "grammar/cycle-navigation",
    version=1,
    of=Transduction,
    summary="Say where on a ring a walk ends.",
)
task.variant(
    "grammar/stack-manipulation",
    version=1,
    of=Transduction,
    summary="Push and pop, then say the stack.",
)
task.variant(
    "grammar/reverse-string", version=1, of=Transduction, summary="Say bits from their end."
)
task.variant(
    "grammar/modular-arithmetic-brackets",
    version=1,
    of=Transduction,
    summary="Work out an expression.",
)
task.variant(
    "grammar/solve-equation",
    version=1,
    of=Transduction,
    summary="Find the value of x in an equation.",
)
task.variant("grammar/duplicate-string", version=1, of=Transduction, summary="Say bits twice.")
task.variant(
    "grammar/missing-duplicate",
    version=1,
    of=Transduction,
    summary="Find the bit missing in a duplicate.",
)
task.variant(
    "grammar/odds-first", version=1, of=Transduction, summary="Say bits at odd places first."
)
task.variant(
    "grammar/binary-addition", version=1, of=Transduction, summary="Add two binary numbers."
)
task.variant(
    "grammar/binary-multiplication", version=1, of=Transduction, summary="Multiply two numbers."
)
task.variant(
    "grammar/compute-sqrt", version=1, of=Transduction, summary="Work out the root of a number."
)
task.variant("grammar/bucket-sort", version=1, of=Transduction, summary="Sort digits.")
