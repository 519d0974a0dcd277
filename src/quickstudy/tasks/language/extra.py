"""Small tasks of tokens besides the ten: look-up, copying, order, counting, state, arithmetic.

No setting of a learner of the package was chosen by them under a root seed that is reported;
`sieve` got codes for some of them after a first look under another root. Each is one function from
a random generator to a prompt, and one from a prompt to its answers; the oracle is the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import control, task
from quickstudy.tasks.controls import WordRule
from quickstudy.tasks.language.checking import Answer, Malformed, Verdict, judge

LETTERS, DIGITS = tuple("abcdefgh"), tuple("0123456789")
Words = list[str]


def _some(rng: np.random.Generator, words: Sequence[str], count: int) -> Words:
    """Different ones."""
    return [words[number] for number in rng.permutation(len(words))[:count]]


def _any(rng: np.random.Generator, words: Sequence[str], count: int) -> Words:
    """Any, also again."""
    return [words[number] for number in rng.integers(len(words), size=count)]


def _one(rng: np.random.Generator, words: Sequence[str]) -> str:
    return words[int(rng.integers(len(words)))]


def _count(rng: np.random.Generator, longest: int, least: int = 3) -> int:
    return int(rng.integers(least, longest + 1))


def _pairs(rng: np.random.Generator, longest: int) -> tuple[Words, Words]:
    keys = _some(rng, LETTERS, min(_count(rng, longest), len(LETTERS)))
    return keys, [part for key in keys for part in (key, _one(rng, DIGITS))]


def _value(words: Words, key: str) -> str:
    return words[words.index(key) + 1]


def _lookup(rng: np.random.Generator, longest: int) -> Words:
    keys, shown = _pairs(rng, longest)
    return [*shown, "?", _one(rng, keys)]


def _far_lookup(rng: np.random.Generator, longest: int) -> Words:
    keys, shown = _pairs(rng, longest)
    return [*shown, "?", _one(rng, keys), *["-"] * _count(rng, 16, 10), "="]


def _inverse(rng: np.random.Generator, longest: int) -> Words:
    keys = _some(rng, LETTERS, min(_count(rng, longest), len(LETTERS)))
    values = _some(rng, DIGITS, len(keys))
    return [
        *(part for both in zip(keys, values, strict=True) for part in both),
        "?",
        _one(rng, values),
    ]


def _chain(rng: np.random.Generator, longest: int) -> Words:
    order = _some(rng, LETTERS, len(LETTERS))
    links = [[a, b, ";"] for a, b in pairwise(order)]
    shown = [word for number in rng.permutation(len(links)) for word in links[number]]
    return [*shown, "?", order[int(rng.integers(len(order) - 2))]]


def _after(words: Words, key: str) -> str:
    return next(b for a, b in zip(words[:-1:3], words[1::3], strict=False) if a == key)


def _string(rng: np.random.Generator, longest: int) -> Words:
    return [*_any(rng, LETTERS, _count(rng, longest)), "|"]


def _first(rng: np.random.Generator, longest: int) -> Words:
    return [*_any(rng, LETTERS, _count(rng, 3 * longest)), "?"]


def _order(rng: np.random.Generator, longest: int) -> Words:
    shown = _some(rng, LETTERS, min(_count(rng, longest), len(LETTERS)))
    return [*shown, "?", *_some(rng, shown, 2)]


def _most(rng: np.random.Generator, longest: int) -> Words:
    count = _count(rng, longest)
    return [*_any(rng, ("a", "b"), 2 * count + 1), "?"]


def _times(rng: np.random.Generator, longest: int) -> Words:
    return [*_any(rng, LETTERS[:4], _count(rng, min(2 * longest, 9))), "?", _one(rng, LETTERS[:4])]


def _parity(rng: np.random.Generator, longest: int) -> Words:
    return [*_any(rng, ("0", "1"), _count(rng, 2 * longest)), "?"]


def _switch(rng: np.random.Generator, longest: int) -> Words:
    kinds = _any(rng, ("on", "off", "-", "-", "-", "-"), _count(rng, 3 * longest))
    return [_one(rng, ("on", "off")), *kinds, "?"]


def _walk(rng: np.random.Generator, longest: int) -> Words:
    return [*_any(rng, ("left", "right"), _count(rng, longest)), "?"]


def _sum(rng: np.random.Generator, longest: int) -> Words:
    return [
        *_any(rng, DIGITS, _count(rng, longest)),
        ";",
        _one(rng, DIGITS),
        "+",
        _one(rng, DIGITS),
        "=",
    ]


def _named_sum(rng: np.random.Generator, longest: int) -> Words:
    keys = _some(rng, LETTERS[:4], 4)
    shown = [part for key in keys for part in (key, _one(rng, DIGITS[:5]))]
    first, second = _some(rng, keys, 2)
    return [*shown, "?", first, "+", second]


def _image(rng: np.random.Generator, longest: int) -> Words:
    return [*_any(rng, LETTERS, _count(rng, longest)), "?", _one(rng, LETTERS)]


def _brackets(rng: np.random.Generator, longest: int) -> Words:
    shown, open = list[str](), list[str]()
    for _ in range(_count(rng, 2 * longest)):
        if open and rng.random() < 0.45:
            shown.append({"(": ")", "[": "]", "{": "}"}[open.pop()])
        else:
            open.append(_one(rng, "([{"))
            shown.append(open[-1])
    if not open:
        shown.append(_one(rng, "([{"))
    return [*shown, "?"]


def _closing(words: Words) -> str:
    open = list[str]()
    for word in words[:-1]:
        if word in "([{":
            open.append(word)
        else:
            open.pop()
    return {"(": ")", "[": "]", "{": "}"}[open[-1]]


def _marked(rng: np.random.Generator, longest: int) -> Words:
    shown = _any(rng, LETTERS, _count(rng, 3 * longest, 6))
    for place in rng.permutation(len(shown) - 1)[: _count(rng, 3, 1)]:  # the last stays a letter
        shown[place] = "-"
    return [*shown, "?"]


def _since(words: Words) -> str:
    return words[max(place for place, word in enumerate(words) if word == "-") + 1]


def _coins(rng: np.random.Generator, longest: int) -> Words:
    return [*_any(rng, ("1", "1", "2", "2", "back"), _count(rng, 3 * longest)), "?"]


def _paid(words: Words) -> str:
    paid = 0
    for word in words[:-1]:
        paid = 0 if word == "back" else paid + int(word)
        paid = paid if paid < 5 else 0
    return str(paid)


IMAGES = dict(zip(LETTERS, (*LETTERS[3:], *LETTERS[:3]), strict=True))
KINDS: dict[
    str, tuple[str, Callable[[np.random.Generator, int], Words], Callable[[Words], Words]]
] = {
    "lookup": ("abcdefgh 0123456789 ?", _lookup, lambda words: [_value(words, words[-1])]),
    "far-lookup": (
        "abcdefgh 0123456789 ?-=",
        _far_lookup,
        lambda w: [_value(w, w[w.index("?") + 1])],
    ),
    "inverse": (
        "abcdefgh 0123456789 ?",
        _inverse,
        lambda words: [words[words.index(str(int(words[-1]))) - 1]],
    ),
    "two-hops": ("abcdefgh ;?", _chain, lambda words: [_after(words, _after(words, words[-1]))]),
    "copy": ("abcdefgh |", _string, lambda words: words[:-1]),
    "reverse": ("abcdefgh |", _string, lambda words: words[:-1][::-1]),
    "first": ("abcdefgh ?", _first, lambda words: [words[0]]),
    "order": ("abcdefgh ?", _order, lambda w: [min(w[-2:], key=w.index)]),
    "most": ("ab ?", _most, lambda words: [max("ab", key=words.count)]),
    "times": ("abcd 0123456789 ?", _times, lambda words: [str(words[:-2].count(words[-1]))]),
    "parity": ("01 ?", _parity, lambda words: [str(words.count("1") % 2)]),
    "switch": (
        "on off - ?",
        _switch,
        lambda words: [next(word for word in words[::-1] if word in ("on", "off"))],
    ),
    "walk": (
        "left right 01234 ?",
        _walk,
        lambda words: [str((words.count("right") - words.count("left")) % 5)],
    ),
    "sum": ("0123456789 ;+=", _sum, lambda words: [str((int(words[-4]) + int(words[-2])) % 10)]),
    "named-sum": (
        "abcd 01234 ?+",
        _named_sum,
        lambda w: [str((int(_value(w, w[-3])) + int(_value(w, w[-1]))) % 5)],
    ),
    "image": ("abcdefgh ?", _image, lambda words: [IMAGES[words[-1]]]),
    "brackets": ("([{}]) ?", _brackets, lambda words: [_closing(words)]),
    "least": ("abcdefgh |", _string, lambda words: [min(words[:-1])]),
    "since": ("abcdefgh -?", _marked, lambda words: [_since(words)]),
    "machine": ("back 01234 ?", _coins, lambda words: [_paid(words)]),
}
"""By kind: the words (letters of a part each, or a part unchanged), how a prompt is drawn, and its
answers.
"""


@dataclass(frozen=True)
class Extra:
    """A small task besides the ten, of look-up, copying, order, counting, state or arithmetic.

    Sees: a prompt, by kind. lookup: letters, each followed by a digit, then ? and one of the
        letters. far-lookup: the same, then 10 to 16 dashes and =. inverse: ? and one of the digits.
        two-hops: pairs of letters that make a chain, in random order, then ? and a letter. copy,
        reverse: letters and a bar. first: letters and ?. order: letters, then ? and two of them.
        most: a and b, an odd number, then ?. times: letters, then ? and one. parity: zeros and
        ones, then ?. switch: on, off and dashes, then ?. walk: left and right, then ?. sum: digits,
        a semicolon, then two digits with + between and = after them. named-sum: four letters with
        digits, then ? and two of them with + between. image: letters, then ? and one. brackets:
        brackets that open and close, then ?. least: letters and a bar. since: letters and one to
        three dashes, then ?. machine: coins of 1 and 2, and `back`, then ?.
    Answers: the digit of the letter; the letter of the digit; the letter two links further; the
        string again, or from its end; the first letter; which of the two came first; which occurs
        more often; how often it occurred; the number of ones modulo 2; on or off, whichever came
        last; the place on a ring of five; the sum modulo 10, or 5; a letter that depends on the one
        asked for alone; the bracket that closes the last open one; the first letter of the alphabet
        that occurred; the letter after the last dash; what a machine has that gives everything
        out at 5 or more, or when told `back`.
    Scored: share of right answers.
    Chance: one over the number of possible answers, or the most frequent one; the controls say it.
    Ceiling: 1, by the rule.
    Example: lookup: `c 4 a 9 f 1 ? a 9`.
    Source: ours. No learner of the package was tuned on them under a root seed that is reported;
        `sieve` got codes for some of them after a first look under another root. least, since and
        machine came when it was finished.
    Departures: none; they are the same under all conventions.

    Parameters
    ----------
    longest:
        Longest prompt, in items.
    """

    longest: int = parameter(8, at_least=3, at_most=60)
    """Size of the longest prompt; what it counts goes by the kind."""

    kind: ClassVar[str] = ""
    controls: ClassVar[tuple[str, ...]] = ("majority", "copy-last", "uniform")
    oracle: ClassVar[str] = "extra-oracle"

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        parts = KINDS[self.kind][0].split()
        return tuple(
            word
            for part in parts
            for word in ([part] if part.isalpha() and part in WHOLE else part)
        )

    def solved(self, prompt: Words) -> Words:
        """The right answers after a prompt."""
        return KINDS[self.kind][2](prompt)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        ids = {word: id for id, word in enumerate(self.vocabulary)}
        sequences, masks = [], []
        for _ in range(count):
            prompt = KINDS[self.kind][1](rng, self.longest)
            answers = self.solved(prompt)
            sequences.append([ids[word] for word in (*prompt, *answers)])
            masks.append([*range(len(prompt), len(prompt) + len(answers))])
        return Examples.from_sequences(sequences, masks)

    def check(self, tokens: Any) -> Verdict:
        """Whether the answers are those of the prompt; the prompt itself is not looked into."""
        return judge(tokens, self.vocabulary, self._verdict)

    def _verdict(self, words: list[str]) -> Verdict:
        prompt = _prompt(self, words)
        if prompt is None:
            raise Malformed(max(len(words) - 1, 0), "no prompt of the task ends before here")
        expected = self.solved(prompt)
        found = words[len(prompt) :]
        places = tuple(range(len(prompt), len(prompt) + len(expected)))
        if len(found) != len(expected):
            raise Malformed(len(words), f"expected {len(expected)} answers, got {len(found)}")
        return Verdict.of(
            [
                Answer((place,), (a,), (b,))
                for place, a, b in zip(places, expected, found, strict=True)
            ]
        )


WHOLE = ("on", "off", "left", "right", "back")


def _prompt(extra: Extra, words: Words) -> Words | None:
    """The part of a sequence before its answers; None where there is none that can be answered."""
    bar = words.index("|") + 1 if "|" in words else max(len(words) - 1, 0)
    try:
        extra.solved(words[:bar])
    except (ValueError, IndexError, KeyError, StopIteration):
        return None
    return words[:bar] if 0 < bar < len(words) else None


@control("extra-oracle", version=1, role="oracle")
class ExtraOracle(WordRule):
    """Knows the rule of a small task besides the ten: always right."""

    def __init__(self, task: Any, brief: Any, seed: int) -> None:
        super().__init__(task, brief, seed)
        self._task = task

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """The right answer wherever there is one, else the first word."""
        words, said = self._words(inputs), np.zeros(len(inputs), dtype=np.int64)
        for place in range(len(words)):
            stop = words.index("|") + 1 if "|" in words[: place + 1] else place + 1
            try:
                answers = self._task.solved(words[:stop])
            except (ValueError, IndexError, KeyError, StopIteration):
                continue
            if place + 1 - stop < len(answers):
                said[place] = self._ids.get(answers[place + 1 - stop], 0)
        return said


task.variant(
    "language/extra-lookup",
    version=1,
    of=Extra,
    summary="Say the digit of a letter.",
    kind="lookup",
)
task.variant(
    "language/extra-far-lookup",
    version=1,
    of=Extra,
    summary="Say it after a pause.",
    kind="far-lookup",
)
task.variant(
    "language/extra-inverse",
    version=1,
    of=Extra,
    summary="Say the letter of a digit.",
    kind="inverse",
)
task.variant(
    "language/extra-two-hops",
    version=1,
    of=Extra,
    summary="Follow two links of a chain.",
    kind="two-hops",
)
task.variant("language/extra-copy", version=1, of=Extra, summary="Say a string again.", kind="copy")
task.variant(
    "language/extra-reverse",
    version=1,
    of=Extra,
    summary="Say a string from its end.",
    kind="reverse",
)
task.variant(
    "language/extra-first",
    version=1,
    of=Extra,
    summary="Say the first letter of many.",
    kind="first",
)
task.variant(
    "language/extra-order",
    version=1,
    of=Extra,
    summary="Say which of two letters came first.",
    kind="order",
)
task.variant(
    "language/extra-most",
    version=1,
    of=Extra,
    summary="Say which letter occurs more often.",
    kind="most",
)
task.variant(
    "language/extra-times",
    version=1,
    of=Extra,
    summary="Say how often a letter occurred.",
    kind="times",
)
task.variant(
    "language/extra-parity",
    version=1,
    of=Extra,
    summary="Say whether ones are odd in number.",
    kind="parity",
)
task.variant(
    "language/extra-switch",
    version=1,
    of=Extra,
    summary="Say how a switch was left.",
    kind="switch",
)
task.variant(
    "language/extra-walk",
    version=1,
    of=Extra,
    summary="Say where on a ring a walk ends.",
    kind="walk",
)
task.variant("language/extra-sum", version=1, of=Extra, summary="Add two digits.", kind="sum")
task.variant(
    "language/extra-named-sum",
    version=1,
    of=Extra,
    summary="Add the digits of two letters.",
    kind="named-sum",
)
task.variant(
    "language/extra-image", version=1, of=Extra, summary="Say the image of a letter.", kind="image"
)
task.variant(
    "language/extra-least",
    version=1,
    of=Extra,
    summary="Say the least of some letters.",
    kind="least",
)
task.variant(
    "language/extra-since",
    version=1,
    of=Extra,
    summary="Say the letter after a mark.",
    kind="since",
)
task.variant(
    "language/extra-machine", version=1, of=Extra, summary="Say what a machine has.", kind="machine"
)
task.variant(
    "language/extra-brackets",
    version=1,
    of=Extra,
    summary="Close the last open bracket.",
    kind="brackets",
)
