"""Mini tasks: is a string in the language that a description names?

A description is a list of n-grams, joined by `and` or by `or`, perhaps with `anything`, and perhaps
with n-grams that are negated. Without `anything` a string must be covered by occurrences of the
n-grams, which may overlap.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.loop import CONGRATULATIONS, Instance, Question, ends_right
from quickstudy.tasks.curriculum.tables import Ground

CAPITALS = string.ascii_uppercase
TRUTHS = (b"true.", b"false.")


@dataclass(frozen=True)
class Language:
    """parts: n-grams that must, or may, be there; unwanted: those that must not. every: each part
    must occur (`and`). anything: other letters may be there too.
    """

    parts: tuple[str, ...]
    unwanted: tuple[str, ...] = ()
    every: bool = True
    anything: bool = False

    def holds(self, text: str) -> bool:
        """Whether a string is in the language."""
        if any(part in text for part in self.unwanted) or (
            self.every and any(p not in text for p in self.parts)
        ):
            return False
        return self.anything or self.covered(text) == len(text)

    def covered(self, text: str) -> int:
        """How many letters from the start on are covered without a gap."""
        reached = 0
        for end in range(1, len(text) + 1):
            if any(
                end - len(part) <= reached and text.endswith(part, 0, end) for part in self.parts
            ):
                reached = end
        return reached

    @classmethod
    def read(cls, description: str) -> Language:
        """Of a description, as `AB and not C and anything`."""
        every = " or " not in description
        parts = description.split(" and " if every else " or ")
        unwanted = tuple(part.removeprefix("not ") for part in parts if part.startswith("not "))
        wanted = tuple(part for part in parts if not part.startswith("not ") and part != "anything")
        return cls(wanted, unwanted, every, "anything" in parts)

    @property
    def unused(self) -> list[str]:
        """Letters that are in none of its n-grams."""
        used = set("".join(self.parts + self.unwanted))
        return [letter for letter in CAPITALS if letter not in used]


def grown(language: Language, draws: Draws, length: int) -> str:
    """A string of the language, longer than `length`: n-gram after n-gram, overlapping as they
    come; with `anything`, one time in two, other letters in between.
    """
    text, covered, wanted = "", 0, ""
    while True:
        if language.anything and covered == len(text) <= length and draws.below(2):
            text += _filler(language, draws, text)
            covered = len(text)
        missing = [part for part in language.parts if language.every and part not in text]
        if len(text) > length and not missing and (language.anything or covered == len(text)):
            return text
        if not language.parts:
            continue
        # What may follow: the next letter of every n-gram that has begun early enough to leave no
        # gap.
        begun = [
            (part, count)
            for part in language.parts
            for count in range(len(part))
            if count >= len(text) - covered and text.endswith(part[:count])
        ]
        letters = sorted({part[count] for part, count in begun})
        letter = draws.one_of(letters)
        if len(text) > length and missing:
            wanted = wanted if wanted in missing else draws.one_of(missing)
            towards = [
                part[count]
                for part, count in sorted(begun, key=lambda one: one[1])
                if part == wanted
            ]
            letter = towards[-1] if towards else letter
        text += letter
        if any(len(text) - len(part) <= covered and text.endswith(part) for part in language.parts):
            covered = len(text)


def _filler(language: Language, draws: Draws, before: str) -> str:
    """One to five letters that belong to nothing, or that come near what is unwanted."""
    count = draws.between(1, 5)
    if not language.unwanted or draws.below(2):
        return "".join(draws.one_of(language.unused) for _ in range(count))
    text, letters = before, "".join(language.unwanted)
    for _ in range(count):
        for letter in draws.some_of(letters, len(letters)):
            if not any((text + letter).endswith(part) for part in language.unwanted):
                text += letter
                break
    return text[len(before) :]


def spoiled(language: Language, draws: Draws, length: int) -> str:
    """A string that is nearly in the language, as published: a letter too many, an n-gram
    destroyed, or an unwanted one put in. It is empty where there is nothing to spoil.
    """
    if not language.parts and not language.unwanted:
        return ""
    text = grown(language, draws, length)
    ways: list[Callable[[], str]] = []
    if not language.anything:
        ways += [
            lambda: _with_letter(language, draws, text),
            lambda: _inserted(draws, text, draws.one_of(language.unused)),
        ]
    if language.every and (len(language.parts) > 1 or (language.anything and language.parts)):
        ways += [lambda: _destroyed(language, draws, text)] * (2 if language.anything else 1)
    if language.unwanted:
        ways += [lambda: _inserted(draws, text, draws.one_of(language.unwanted))] * max(
            1, len(ways)
        )
    while True:
        wrong = draws.one_of(ways)()
        if not language.holds(wrong):
            return wrong


def _inserted(draws: Draws, text: str, more: str) -> str:
    place = draws.below(len(text))
    return text[:place] + more + text[place:]


def _with_letter(language: Language, draws: Draws, text: str) -> str:
    """One letter of an n-gram more, such that the cover breaks, if there is one."""
    letters = "".join(language.parts)
    place = draws.below(len(text))
    for letter in draws.some_of(letters, len(letters)):
        if not language.holds(text[:place] + letter + text[place:]):
            return text[:place] + letter + text[place:]
    return _inserted(draws, text, draws.one_of(language.unused))


def _destroyed(language: Language, draws: Draws, text: str) -> str:
    """One n-gram is nowhere any more; where nothing else may stand it leaves no gap."""
    part, before = draws.one_of(language.parts), text
    for attempt in range(len(text) + 3):
        if part not in text:
            break
        letters = (
            language.unused if attempt > 1 else language.unused + list("".join(language.parts))
        )
        other = "".join(draws.one_of(letters) for _ in part) if language.anything else ""
        text = text.replace(part, other)
    short = len(before) < 5 or 2 * len(text) < len(before)
    return _with_letter(language, draws, before) if short and not language.anything else text


def mended(language: Language, draws: Draws, length: int) -> str:
    """A string that is nearly in the language and as long as one that is: some letters are
    others.
    """
    while True:
        text = grown(language, draws, length)
        kind = draws.below(3)
        if kind == 0 and language.unwanted:
            other = draws.one_of(language.unwanted)
        elif kind == 1 and language.parts:
            other = draws.one_of("".join(language.parts))
        else:
            other = draws.one_of(language.unused)
        place = draws.below(max(1, len(text) - len(other) + 1))
        wrong = text[:place] + other + text[place + len(other) :]
        if language.every and language.anything and language.parts and draws.below(2):
            part = draws.one_of(language.parts)
            wrong = text.replace(part, "".join(draws.one_of(language.unused) for _ in part))
        if len(wrong) == len(text) and not language.holds(wrong):
            return wrong


@dataclass(frozen=True)
class Descriptions:
    """A set of descriptions. parts: the most n-grams; longest: the most letters of a string's
    length parameter. anything: how often it occurs, in hundredths; negated: how often an n-gram
    is.
    """

    every: bool = True
    parts: int = 3
    longest: int = 10
    anything: int = 0
    negated: int = 0

    def draw(self, draws: Draws, bare: bool) -> tuple[str, Language]:
        """A description and its language. bare: `anything` alone may be drawn."""
        count = draws.between(1, self.parts)
        anything = draws.below(100) < self.anything
        if not self.every and anything:
            count = 0 if bare else count
            anything = bare
        letters = others = CAPITALS
        if self.negated:
            chosen = {draws.one_of(CAPITALS) for _ in range(13)}
            letters = "".join(sorted(chosen))
            left = [letter for letter in CAPITALS if letter not in chosen]
            others = "".join(sorted({draws.one_of(left) for _ in range(13)}))
        parts: dict[str, None] = {}
        for _ in range(count):
            no = draws.below(100) < self.negated
            made = "".join(
                draws.one_of(others if no else letters) for _ in range(draws.between(1, 3))
            )
            parts["not " + made if no else made] = None
            anything = anything or no
        if anything:
            parts["anything"] = None
        text = (" and " if self.every else " or ").join(draws.some_of(list(parts), len(parts)))
        language = Language.read(text)
        return text, Language(language.parts, language.unwanted, self.every, language.anything)


SETS = {
    "1": Descriptions(parts=1),
    "2": Descriptions(every=False, anything=5),
    "3": Descriptions(longest=30, anything=50),
    "4": Descriptions(longest=30, anything=50, negated=50),
}


def _verified(description: str, verify: str, true: bool, draws: Draws) -> Question:
    answer = TRUTHS[0] if true else TRUTHS[1]
    text = f"description: {description}; verify: {verify}.".encode()
    return Question(
        text, answer, draws.one_of(CONGRATULATIONS), b"Wrong. The right answer is: " + answer
    )


def _instance(question: Question) -> Instance:
    return Instance(lambda: question, ends_right, by_period=True)


def one_set(names: Sequence[str], ground: Ground) -> Instance:
    """Sets 1 to 4, or any of them."""
    draws = ground.draws()
    chosen, true = SETS[draws.one_of(names)], bool(draws.below(2))
    # Nothing is wrong where everything is right.
    description, language = chosen.draw(draws, bare=true or not ground.balanced)
    length = draws.between(1, chosen.longest)
    wrong = mended if ground.balanced else spoiled
    return _instance(
        _verified(description, (grown if true else wrong)(language, draws, length), true, draws)
    )


def first_set(ground: Ground) -> Instance:
    """Set 0: one n-gram for ten questions in a row, of one letter, and of two after a thousand
    questions.
    """
    draws, ten = ground.draws(), ground.number // 10
    count = 2 if ten * 10 > 1000 else 1
    letters = ground.draws("description", ten)
    description = "".join(letters.one_of(CAPITALS) for _ in range(count))
    language, true = Language((description,)), bool(draws.below(2))
    widest = 2 if ground.number > 1000 else 1
    length = draws.between(widest, 3 * widest - 1)
    right = grown(language, draws, length)
    if true:
        return _instance(_verified(description, right, True, draws))
    size = len(right) if ground.balanced else length
    tries = (
        "".join(draws.one_of(CAPITALS) for _ in range(size))
        for _ in range(100 if ground.balanced else 3)
    )
    wrong = next((text for text in tries if not language.holds(text)), "")
    return _instance(
        _verified(description, wrong or spoiled(language, draws, length), False, draws)
    )


MINI: dict[str, Callable[[Ground], Instance]] = {
    "0": first_set,
    **{name: partial(one_set, (name,)) for name in SETS},
    "5": partial(one_set, tuple(SETS)),
}
