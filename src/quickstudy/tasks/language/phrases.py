"""Things with adjectives, such as `A BIG RED CAR`: written, taken apart, and read strictly."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from quickstudy.tasks.language.checking import Malformed, Reader
from quickstudy.tasks.language.clauses import TakeName
from quickstudy.tasks.language.words import ADJECTIVES, ARTICLES, COLOURS, SIZES


def write_phrase(size: str, colour: str, noun: str) -> str:
    """Article, size, colour, noun; size and colour may be empty. The article is AN before a vowel.

    >>> write_phrase("", "", "APPLE"), write_phrase("BIG", "", "APPLE")
    ('AN APPLE', 'A BIG APPLE')
    """
    words = [word for word in (size, colour, noun) if word]
    return " ".join([ARTICLES[words[0][0] in "AEIOU"], *words])


def noun_of(phrase: str) -> str:
    """The last word."""
    return phrase.rpartition(" ")[2]


def first_word(phrase: str) -> str:
    """The first word after the article."""
    return phrase.split()[1]


def adjectives_of(phrase: str) -> dict[str, str]:
    """The adjectives by what they say: SIZE, COLOR or both.

    >>> adjectives_of("A BIG RED CAR")
    {'SIZE': 'BIG', 'COLOR': 'RED'}
    """
    return {kind: word for word in phrase.split()[1:-1] for kind, known in ADJECTIVES.items() if word in known}


def phrases(nouns: Sequence[str], colours: Sequence[str], sizes: Sequence[str]) -> TakeName:
    """Reads phrases about nouns that are none of those used."""

    def take(reader: Reader, used: Collection[str]) -> str:
        start = reader.index
        article = reader.take(ARTICLES, "A or AN")
        size = reader.take(sizes, "a size") if reader.sees(SIZES) else ""
        colour = reader.take(colours, "a colour") if reader.sees(COLOURS) else ""
        known = {noun_of(phrase) for phrase in used}
        noun = reader.take([noun for noun in nouns if noun not in known], "a noun not yet mentioned")
        phrase = write_phrase(size, colour, noun)
        if not phrase.startswith(f"{article} "):
            raise Malformed(start, f'"{phrase.split()[0]}" must stand before "{first_word(phrase)}", not "{article}"')
        return phrase

    return take
