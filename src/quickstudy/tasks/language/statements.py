"""Statements such as `I SEE TOM BUT I DO NOT SEE A BIG CAR`: written, read strictly, skimmed for
facts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from quickstudy.tasks.language.checking import Malformed, Reader

NAMES = (
    *("PETER", "JOHN", "TOM", "JAMES", "PAUL"),
    *("MARC", "LUKE", "SIMON", "ANDREW", "BRUNO", "LISA"),
    *("HENRI", "LEO"),
    *("MARY", "ANNA", "CLARA", "OSCAR", "VICTOR", "EMMA", "HUGO"),
)
VERBS = ("SEE", "HEAR", "CALL", "FEEL", "SMELL", "UNDERSTAND", "TOUCH")
GLUE = ("I", "DO", "NOT", "AND", "BUT", "?", ".", "YES", "NO")
YES, NO = "YES", "NO"
NUMBERS = (
    *("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX"),
    *("SEVEN", "EIGHT", "NINE", "TEN", "ELEVEN", "TWELVE", "THIRTEEN"),
    *("FOURTEEN", "FIFTEEN", "SIXTEEN", "SEVENTEEN", "EIGHTEEN", "NINETEEN", "TWENTY"),
)

OBJECTS = ("BANANA", "APPLE", "PEAR", "PEACH", "APRICOT", "CAR", "PLANE", "TRAIN")
OBJECT_VERBS = ("SEE", "HEAR", "CALL", "FEEL", "SMELL", "TOUCH")
COLOURS = ("RED", "GREEN", "BLUE", "YELLOW")
SIZES = ("SMALL", "BIG", "HUGE", "TINY", "NORMAL")
ADJECTIVES = {"COLOR": COLOURS, "SIZE": SIZES}
ADJECTIVE_WORDS = frozenset(COLOURS + SIZES)
THINGS = frozenset(NAMES + OBJECTS)
ARTICLES = ("A", "AN")
DESCRIBING = ("WHAT", *ARTICLES, *ADJECTIVES, "IS", "THE")


JOINTS = ("AND", "BUT")


class Statement(NamedTuple):
    """One verb, the names it is affirmed of and the names it is denied of, in the order in which
    they stand.
    """

    verb: str
    affirmed: tuple[str, ...]
    denied: tuple[str, ...]

    @property
    def mixed(self) -> bool:
        """Something is affirmed and something is denied."""
        return bool(self.affirmed and self.denied)


class Fact(NamedTuple):
    """That a verb is affirmed or denied of a name, where the name stands, and the adjectives before
    it.
    """

    place: int
    verb: str
    name: str
    affirmed: bool
    adjectives: tuple[str, ...] = ()


TakeName = Callable[[Reader, Collection[str]], str]
"""Reads one name, which may be of several words, that is none of those given."""


def write_statement(
    verb: str, affirmed: Sequence[str], denied: Sequence[str], affirmed_first: bool, joint: str
) -> list[str]:
    """One clause for each list that is not empty; `joint` stands between the two if there are
    two.
    """
    clauses = [
        [*opening, verb, *" AND ".join(names).split()]
        for opening, names in ((["I"], affirmed), (["I", "DO", "NOT"], denied))
        if names
    ]
    if not affirmed_first:
        clauses.reverse()
    return clauses[0] if len(clauses) == 1 else [*clauses[0], joint, *clauses[1]]


def plain_names(names: Collection[str]) -> TakeName:
    """Names of one word each."""

    def take(reader: Reader, used: Collection[str]) -> str:
        return reader.take([name for name in names if name not in used], "a name not yet mentioned")

    return take


def read_statement(
    reader: Reader,
    take_name: TakeName,
    verbs: Collection[str],
    used: Collection[str] = (),
    again: bool = False,
) -> Statement:
    """The statement that stands next: one clause, or two of opposite polarity about one verb, no
    name twice (again: none twice in one clause) and none that was used before.
    """
    verb, is_affirmed, first = read_clause(reader, take_name, verbs, used)
    second: tuple[str, ...] = ()
    if reader.sees(JOINTS):
        reader.take(JOINTS, "AND or BUT")
        start = reader.index
        _, other, second = read_clause(
            reader, take_name, (verb,), used if again else (*used, *first)
        )
        if other == is_affirmed:
            raise Malformed(
                start, "two clauses of one statement must not be both affirmed or both denied"
            )
    return Statement(verb, first, second) if is_affirmed else Statement(verb, second, first)


def read_clause(
    reader: Reader, take_name: TakeName, verbs: Collection[str], used: Collection[str]
) -> tuple[str, bool, tuple[str, ...]]:
    """The clause that stands next: its verb, whether it affirms, and its names."""
    reader.phrase("I")
    is_affirmed = not reader.sees(("DO",))
    if not is_affirmed:
        reader.phrase("DO NOT")
    verb = reader.take(verbs, "the verb " + " or ".join(verbs))
    found: list[str] = []
    while not found or (reader.sees(("AND",)) and not reader.sees(("I",), ahead=1)):
        if found:
            reader.phrase("AND")
        found.append(take_name(reader, (*used, *found)))
    return verb, is_affirmed, tuple(found)


def skim_facts(words: Sequence[str]) -> list[Fact]:
    """All that is stated before the first question, for any words. What it finds up to an
    index depends on nothing after it. A question begins with HOW, with WHAT, or where DO does not
    follow I.
    """
    facts: list[Fact] = []
    verb, affirmed = "", True
    adjectives: list[str] = []
    for index, word in enumerate(words):
        if word in ("HOW", "WHAT") or (word == "DO" and (index == 0 or words[index - 1] != "I")):
            break
        if word == "I":
            affirmed = True
        elif word == "NOT":
            affirmed = False
        elif word in VERBS:
            verb = word
        elif word in ADJECTIVE_WORDS:
            adjectives.append(word)
            continue
        elif word in THINGS:
            facts.append(Fact(index, verb, word, affirmed, tuple(adjectives)))
        adjectives = []
    return facts


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
    return {
        kind: word
        for word in phrase.split()[1:-1]
        for kind, known in ADJECTIVES.items()
        if word in known
    }


def phrases(nouns: Sequence[str], colours: Sequence[str], sizes: Sequence[str]) -> TakeName:
    """Reads phrases about nouns that are none of those used."""

    def take(reader: Reader, used: Collection[str]) -> str:
        start = reader.index
        article = reader.take(ARTICLES, "A or AN")
        size = reader.take(sizes, "a size") if reader.sees(SIZES) else ""
        colour = reader.take(colours, "a colour") if reader.sees(COLOURS) else ""
        known = {noun_of(phrase) for phrase in used}
        noun = reader.take(
            [noun for noun in nouns if noun not in known], "a noun not yet mentioned"
        )
        phrase = write_phrase(size, colour, noun)
        if not phrase.startswith(f"{article} "):
            raise Malformed(
                start,
                f'"{phrase.split()[0]}" must come before "{first_word(phrase)}", not "{article}"',
            )
        return phrase

    return take


def described(statements: Sequence[Statement]) -> list[tuple[str, str]]:
    """The affirmed things that have an adjective, each after its verb."""
    return [
        (statement.verb, phrase)
        for statement in statements
        for phrase in statement.affirmed
        if adjectives_of(phrase)
    ]


def contrasts(statements: Sequence[Statement]) -> list[tuple[str, str, dict[str, list[str]]]]:
    """Each verb and COLOR or SIZE of which its affirmed things have two or more, with the things by
    adjective.
    """
    found = []
    for verb, affirmed, _ in statements:
        for sort in ADJECTIVES:
            things: dict[str, list[str]] = {}
            for phrase in affirmed:
                if sort in adjectives_of(phrase):
                    things.setdefault(adjectives_of(phrase)[sort], []).append(phrase)
            if len(things) > 1:
                found.append((verb, sort, things))
    return found
