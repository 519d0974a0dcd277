"""Micro tasks 6 to 20: a text is asked, and a text that ends in a period is the answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import pairwise

from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.loop import Instance, Question, same
from quickstudy.tasks.curriculum.tables import LETTERS, TABLES, Ground, shown
from quickstudy.tasks.curriculum.words import SYNONYMS, without

PRAISE, BLAME = b"good job! ", b"wrong! "
LISTS = (
    b"zero one two three four five six seven eight nine".split(),
    b"first second third fourth fifth sixth seventh eighth ninth".split(),
    b"ten twenty thirty forty fifty sixty seventy eighty ninety".split(),
    b"ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
)
PAIRS, TRIPLES, SINGLES = (
    b"ab ac ad bc bd cd".split(),
    b"abc acd adc bcd bda cdb".split(),
    shown(b"abcd"),
)
FEW = shown(b"abcde")

Ask = Callable[[Draws, tuple[bytes, ...]], Question]
"""A question of a task that draws each by itself, from random numbers and a list of words."""


def random_map(ground: Ground) -> Instance:
    """Task 6: eight words are mapped to eight words."""
    draws = ground.draws()
    keys, values = (draws.some_of(ground.words.every[:200], 8) for _ in range(2))
    questions = [
        _short(b"random_map: " + key + b".", value + b".")
        for key, value in zip(keys, values, strict=True)
    ]
    return _looked_up(draws, questions)


def next_in_list(ground: Ground) -> Instance:
    """Task 15: what comes next in one of four lists, two times out of three in the list
    backwards.
    """
    draws = ground.draws()
    items = draws.one_of(LISTS)
    if draws.below(3):
        items = items[::-1]
    questions = [
        _short(b"say next after: " + item + b".", following + b".")
        for item, following in pairwise(items)
    ]
    return _looked_up(draws, questions)


def _looked_up(draws: Draws, questions: list[Question]) -> Instance:
    left = {question.text for question in questions}

    def knows(question: Question, correct: bool) -> bool:
        left.discard(question.text)
        return not left

    return Instance(draws.any_of(questions).__next__, by_period=True, knows=knows, patience=2)


def _short(text: bytes, answer: bytes) -> Question:
    return Question(text, answer, PRAISE + b";", BLAME + answer + b";")


def _long(text: bytes, answer: bytes, praise: bytes = PRAISE, blame: bytes = BLAME) -> Question:
    return Question(text, answer, praise + answer + b";", blame + answer + b";")


def _said(text: bytes, answer: bytes) -> Question:
    return _long(b"say: " + text, answer, b"correct! ", b"false! ")


def say_letter(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 7.1."""
    letter = draws.one_of(shown(LETTERS)) + b"."
    return _said(letter, letter)


def say_words(count: int, draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Tasks 7.2 and 7.3."""
    text = b" ".join(draws.one_of(words) for _ in range(count)) + b"."
    return _said(text, text)


def say_squeezed(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 8: runs of spaces become one, a space before the period stays."""
    first, second = draws.one_of(shown(LETTERS)), draws.one_of(shown(LETTERS))
    before, between, behind = (b" " * draws.below(7) for _ in range(3))
    text = before + first + between + second + behind + b"."
    return _said(text, re.sub(b" +", b" ", text).strip(b" "))


def spell_letter(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 9.1."""
    letter = draws.one_of(shown(LETTERS))
    return _long(b"spell: " + letter + b".", letter + b" .")


def spell_word(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 9.2."""
    word = draws.one_of(words) + b"."
    return _long(b"spell: " + word, b" ".join(shown(word)))


def interleave_word(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 9.3."""
    word, joint = draws.one_of(words), draws.one_of(shown(b"-#,"))
    return _long(b"interleave: " + word + b" by " + joint + b".", joint.join(shown(word)) + b".")


def say_several(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 10."""
    some = [draws.one_of(words) for _ in range(draws.between(2, 3))]
    return _short(b" ".join(b"say: " + word for word in some) + b".", b" ".join(some) + b".")


def combine(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 11: two pairs, turned round, put together or interleaved."""
    action = draws.one_of((b"reverse", b"concatenate", b"interleave"))
    first, second = draws.one_of(PAIRS), draws.one_of(PAIRS)
    if action == b"reverse":
        answer = second + b" " + first
    elif action == b"concatenate":
        answer = first + second
    else:
        answer = bytes([first[0], second[0], first[1], second[1]])
    return _short(b"say: " + first + b" say: " + second + b" " + action + b":.", answer + b".")


def as_sets(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 12: a letter is added to a word, unless it has it, or removed from it."""
    action, word, letter = (
        draws.one_of((b"union", b"exclude")),
        draws.one_of(TRIPLES),
        draws.one_of(SINGLES),
    )
    joined = word if letter in word else word + letter
    answer = joined if action == b"union" else word.replace(letter, b"")
    return _short(b"say: " + word + b" say: " + letter + b" " + action + b":.", answer + b".")


def logic(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 13.1: and, or, anything but, or but not."""
    kind = draws.below(4)
    if kind == 2:
        unwanted = draws.one_of(FEW)
        sample = draws.one_of([letter for letter in FEW if letter != unwanted])
        return Question(
            b" say: anything and not " + unwanted + b".",
            sample + b".",
            PRAISE + b";",
            _blame(sample),
        )
    if kind == 3:
        first, second, third = draws.some_of(FEW, 3)
        unwanted = draws.one_of((first, second, third))
        sample = draws.one_of([letter for letter in (first, second) if letter != unwanted])
        text = b" say: " + first + b" or " + second + b" but not " + unwanted + b"."
        return Question(text, sample + b".", PRAISE + b";", _blame(sample))
    first, second = draws.one_of(FEW), draws.one_of(FEW)
    if kind == 0:
        return _short(b" say: " + first + b" and " + second + b".", first + second + b".")
    return _short(b" say: " + first + b" or " + second + b".", draws.one_of((first, second)) + b".")


def _blame(sample: bytes) -> bytes:
    return BLAME + sample + b";"


def logic_of_words(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 13.2: two to four texts, all of them or any."""
    connective = draws.one_of((b" or ", b" and "))
    some = [
        b"".join(draws.some_of(shown(LETTERS), draws.between(1, 3)))
        for _ in range(draws.between(2, 4))
    ]
    text = b"say: " + connective.join(some) + b"."
    if connective == b" and ":
        return _short(text, b"".join(some) + b".")
    sample = draws.one_of(some)
    return Question(text, sample + b".", PRAISE + b";", _blame(sample))


def next_letter(draws: Draws, words: tuple[bytes, ...]) -> Question:
    """Task 14."""
    place = draws.below(len(LETTERS) - 1)
    letters = shown(LETTERS)
    return _short(b"after " + letters[place] + b" comes what:.", letters[place + 1] + b".")


_LOGIC = re.compile(
    rb" ?say: (?P<first>\w+) (?P<by>and not|and|or) (?P<second>\w+)(?: but not"
    rb" (?P<unwanted>\w+))?\."
)


def judge_logic(question: Question, reply: bytes, strict: bool = True) -> bool:
    """Of task 13.1. Not strict: `and` takes any part of what is expected, even a lone period, as
    was published.
    """
    found = _LOGIC.fullmatch(question.text)
    if found is None:
        return reply == question.expected
    first, second, said = found["first"], found["second"], reply[:-1]
    if found["by"] == b"and not":
        return second not in reply and len(said) > 0
    if found["by"] == b"and":
        return reply == question.expected if strict else reply in question.expected
    unwanted = found["unwanted"]
    allowed = said in (first, second, first + second, second + first)
    return allowed and (unwanted is None or unwanted not in reply)


def judge_words(question: Question, reply: bytes) -> bool:
    """Of task 13.2: with `or` any text that contains one of the words."""
    # Every second word joins two others, and one of these may be the word `or` as well.
    words = question.text.removeprefix(b"say: ").removesuffix(b".").split(b" ")
    if words[1:2] != [b"or"]:
        return reply == question.expected
    return any(word in reply for word in words[::2])


def _independent(ask: Ask, ground: Ground) -> Instance:
    """An instance whose questions are drawn one by one, and are the same in every instance."""
    draws = ground.draws()
    return Instance(lambda: ask(draws, ground.words.every), by_period=True)


def any_of_four(ground: Ground) -> Instance:
    """Task 16: 9.2, 10, 11 or 12."""
    return _independent(
        ground.draws("base").one_of((spell_word, say_several, combine, as_sets)), ground
    )


def with_synonyms(ground: Ground) -> Instance:
    """Task 19: 10, 11, 12 or 14, with other words for its words in every question."""
    draws, base = ground.draws(), _in_turn(ground)

    def ask() -> Question:
        question = base(draws, ground.words.plain)
        text = question.text
        for original, others in SYNONYMS.items():
            text = replaced(text, original, draws.one_of(others))
        return question._replace(text=text)

    return Instance(ask, by_period=True, patience=2)


def with_new_words(ground: Ground) -> Instance:
    """Task 20: the same with a new word for one of its words, announced before."""
    draws, base = ground.draws(), _in_turn(ground)
    new = dict(
        zip(SYNONYMS, draws.some_of(ground.words.plain[200:400], len(SYNONYMS)), strict=True)
    )
    words = without(ground.words.plain, new.values()) if base is say_several else ()

    def ask() -> Question:
        question = base(draws, words)
        old = draws.one_of(
            [word for word in SYNONYMS if replaced(question.text, word, b"") != question.text]
        )
        text = new[old] + b" is as " + old + b" - " + replaced(question.text, old, new[old])
        return question._replace(text=text)

    return Instance(ask, by_period=True, patience=2)


def _in_turn(ground: Ground) -> Ask:
    """One of four tasks, none repeated before all four came."""
    order: list[Ask] = ground.draws("base", ground.number // 4).some_of(
        [say_several, combine, as_sets, next_letter], 4
    )
    return order[ground.number % 4]


def replaced(text: bytes, word: bytes, other: bytes) -> bytes:
    """The text with a whole word replaced wherever it stands."""
    return _whole(word).sub(other.replace(b"\\", rb"\\"), text)


@lru_cache(maxsize=256)
def _whole(word: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)")


_ALONE: dict[str, Ask] = {
    "7.1": say_letter,
    "7.2": partial(say_words, 1),
    "7.3": partial(say_words, 2),
    "8": say_squeezed,
    "9.1": spell_letter,
    "9.2": spell_word,
    "9.3": interleave_word,
    "10": say_several,
    "11": combine,
    "12": as_sets,
    "13.1": logic,
    "13.2": logic_of_words,
    "14": next_letter,
}


def judge_of(name: str, strict: bool) -> Callable[[Question, bytes], bool]:
    """How answers to a micro task are judged."""
    if name == "13.1":
        return partial(judge_logic, strict=strict)
    return judge_words if name == "13.2" else same


def _judged(name: str, ground: Ground) -> Instance:
    made = _independent(_ALONE[name], ground)
    made.judge = judge_of(name, ground.strict)
    return made


MICRO: dict[str, Callable[[Ground], Instance]] = {
    **TABLES,
    "6": random_map,
    **{name: partial(_judged, name) for name in _ALONE},
    "15": next_in_list,
    "16": any_of_four,
    "19": with_synonyms,
    "20": with_new_words,
}
PATIENT = ("6", "15", "19", "20")
"""Tasks with F = 2."""
