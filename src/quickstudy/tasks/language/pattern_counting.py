"""Language task 4, pattern counting."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.tasks.language.checking import Answer, Malformed, Reader, Verdict, judge
from quickstudy.tasks.language.symbol_counting import DIGITS, END, QUERY

SEPARATOR = "y"


class Query(NamedTuple):
    """A pattern that is asked for, and the number that is given as the answer."""

    pattern: str
    number: int


@task(
    "language/pattern-counting",
    version=1,
    controls=["majority", "copy-last", "query-only", "seen-or-not"],
    oracle="pattern-counting-oracle",
)
@dataclass(frozen=True)
class PatternCounting:
    """Count how often each pattern was shown, then say it when asked.

    Sees: patterns, which are groups of letters, with a separator `y` between them. (n is uniform in
        shortest .. longest; int(stretch n) tokens are drawn, each letter one slot and the separator
        `separators` slots; the last is always a letter; separators at the start are taken away and
        runs of them become one.) Then `x` and queries, each written as the letters of a pattern,
        `y`, its count; then `.`. The number of patterns of the prompt that are asked for is uniform
        in 1 .. the number of different ones; they are drawn without replacement, in random order.
        After each, with probability `negatives`, follows a query that should have the count 0: the
        letters of the pattern three times over are shuffled and all but the first len + d of them
        are cut off, d uniform in -slack .. slack (as a Python slice does it: below 0, that many are
        cut off at the end). It is left out if it is empty or does not pass the test below.
    Answers: the count, in decimal digits, each digit a token. Earlier counts stay visible.
    Scored: share of the digits that are right; nothing else is asked.
    Chance: 0.43, the share of the most frequent answer, 1. Other controls: `copy-last`, which
        repeats the separator, 0; `query-only`, which does not look at the prompt, 0.73 (it answers
        0 if a query has no letters but those of the query before, else 1); `seen-or-not`, which
        looks for the pattern but does not count, 0.75. Best published: 0.61 (a recurrent network
        and an LSTM), reservoirs 0.59.
    Ceiling: 1, by counting, in the verified form. Where negatives are not verified, 1.5 % of the
        answers are wrong, so that counting reaches 0.985.
    Example: `A y B B y A x A y 2 B B y 1 B B B y 0 .`, supervised at 9, 13 and 18.
    Source: Cisneros, Sivic and Mikolov 2022, task 4.

    Verified or not. Verified (corrected, written): a query that should have the count 0 is left out
    if the prompt has that pattern, or if it was asked before. Not verified (published): it is left
    out only if it is a part of the one pattern that it was made from. So it may be a pattern of the
    prompt all the same, and its answer 0 wrong (4.8 % of the answers 0, in 8 % of the sequences),
    and it may be asked twice (in 7 % of the sequences).

    Departures: Published: five letters, int(2.5 n) tokens with n from 1 to 45, not verified.
        Written: three letters, 1 to 45 tokens; answers are counts, so it is verified. Corrected: as
        published, but verified.

    Parameters
    ----------
    letters:
        Number of letters.
    shortest:
        Smallest n, see above.
    longest:
        Largest n.
    stretch:
        Tokens drawn per n.
    separators:
        Slots of the separator, where each letter has one.
    negatives:
        Probability of a query with the count 0 after each other query.
    slack:
        Largest difference in length between such a query and the pattern it is made from.
    verified:
        Queries with the count 0 are checked against the prompt.
    """

    letters: int = parameter(5, at_least=1, at_most=26)
    """How many different letters there are."""
    shortest: int = parameter(1, at_least=1)
    """Smallest n."""
    longest: int = parameter(45, at_least=1)
    """Largest n."""
    stretch: float = parameter(2.5, at_least=1, at_most=100)
    """Tokens drawn for each unit of n."""
    separators: int = parameter(13, at_least=1)
    """How much more likely a separator is drawn than any one letter."""
    negatives: float = parameter(0.8, at_least=0, at_most=1)
    """How likely a query is followed by one that should have the count 0."""
    slack: int = parameter(2, at_least=0)
    """By how much the length of such a query may differ from that of the pattern it is made
    from.
    """
    verified: bool = True
    """Whether such a query is compared with the prompt and with earlier queries."""

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"verified": False},
        "written": {"letters": 3, "stretch": 1.0},
        "corrected": {},
    }

    def __post_init__(self) -> None:
        if self.shortest > self.longest:
            raise ValueError(
                f"shortest must be at most longest ({self.longest}), got {self.shortest}"
            )

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The letters that patterns are made of."""
        return tuple(string.ascii_uppercase[: self.letters])

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The words; a token's id is its position."""
        return *self.alphabet, QUERY, SEPARATOR, END, *DIGITS

    @property
    def ceiling(self) -> float:
        """The best share of right answers that is known; below 1 where answers are wrong by
        themselves.
        """
        return 1.0 if self.verified else 0.985

    @property
    def _capacity(self) -> int:
        """Most tokens of a prompt."""
        return int(self.stretch * self.longest)

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """`count` independent sequences."""
        ids = {word: id for id, word in enumerate(self.vocabulary)}
        sequences, masks = [], []
        for _ in range(count):
            # One row per sequence: n, the number of queries; for each token of the prompt one
            # number for itself, one for the pattern that begins there (its order, then its
            # negative: whether, how long) and three to shuffle.
            row = rng.random((self._capacity + 1, 7))
            (n, asked), table = row[-1, :2].tolist(), row[:-1]
            shown = self._prompt(n, table[:, 0])
            queries = self._queries(shown, asked, table)
            words, mask = self._write(shown, queries)
            sequences.append([ids[word] for word in words])
            masks.append(mask)
        return Examples.from_sequences(sequences, masks)

    def _prompt(self, uniform: float, draws: NDArray[np.float64]) -> str:
        """The tokens of a prompt, as one text."""
        n = self.shortest + int(uniform * (self.longest - self.shortest + 1))
        slots = (
            (draws[: int(self.stretch * n)] * (self.letters + self.separators))
            .astype(np.int64)
            .tolist()
        )
        # A draw that does not end with a letter would be resampled as a whole: the last token is
        # a uniform letter.
        last = int(draws[len(slots) - 1] * self.letters)
        tokens = [self.alphabet[slot] if slot < self.letters else SEPARATOR for slot in slots[:-1]]
        groups = "".join([*tokens, self.alphabet[last]]).split(SEPARATOR)
        return SEPARATOR.join(group for group in groups if group)

    def _queries(self, shown: str, asked: float, table: NDArray[np.float64]) -> list[Query]:
        """The queries about a prompt, in order."""
        counts = Counter(shown.split(SEPARATOR))
        places: dict[str, int] = {}
        place = 0
        for group in shown.split(SEPARATOR):
            places.setdefault(group, place)
            place += len(group) + 1
        order = sorted(counts, key=lambda pattern: float(table[places[pattern], 1]))
        queries: list[Query] = []
        for pattern in order[: 1 + int(asked * len(counts))]:
            queries.append(Query(pattern, counts[pattern]))
            rows = table[places[pattern] : places[pattern] + len(pattern)]
            if rows[0, 2] < self.negatives:
                negative = self._negative(pattern, float(rows[0, 3]), rows[:, 4:].ravel())
                known = {query.pattern for query in queries}
                if negative and self._passes(negative, pattern, counts, known):
                    queries.append(Query(negative, 0))
        return queries

    def _negative(self, pattern: str, uniform: float, keys: NDArray[np.float64]) -> str:
        """The letters of a pattern, three times over, shuffled and cut."""
        bound = len(pattern) - self.slack + int(uniform * (2 * self.slack + 1))
        return "".join(
            (pattern * 3)[place] for place in np.argsort(keys, kind="stable").tolist()[:bound]
        )

    def _passes(
        self, negative: str, pattern: str, shown: Collection[str], asked: Collection[str]
    ) -> bool:
        """Whether a query for 0 is kept."""
        return (
            negative not in shown and negative not in asked
            if self.verified
            else negative not in pattern
        )

    def _write(self, shown: str, queries: Sequence[Query]) -> tuple[list[str], list[int]]:
        """The whole sequence, and the indices that are supervised."""
        words = [*shown, QUERY]
        mask: list[int] = []
        for query in queries:
            words += [*query.pattern, SEPARATOR]
            digits = str(query.number)
            mask += range(len(words), len(words) + len(digits))
            words += digits
        return [*words, END], mask

    def check(self, tokens: Any) -> Verdict:
        """The verdict on a sequence. An answer is the whole run of digits after the separator of a
        query.

        Where negatives are not verified, a query can be both a pattern of the prompt and one made
        from the query before; then its own answer tells which it is meant to be, and both 0 and the
        count are right.
        """
        return judge(tokens, self.vocabulary, self._verdict)

    def _verdict(self, words: list[str]) -> Verdict:
        reader = Reader(words)
        counts = Counter(self._read_prompt(reader))
        reader.phrase(QUERY)
        answers: list[Answer] = []
        asked: dict[
            str, bool
        ] = {}  # each pattern asked for, and whether it was as one of the prompt
        source = ""  # the pattern that a query for 0 may be made from now
        while not answers or reader.sees(self.alphabet):
            start = reader.index
            pattern = self._read_letters(reader)
            reader.phrase(SEPARATOR)
            first = reader.index
            found = reader.take_all(DIGITS, "a digit")
            is_shown = pattern in counts and not asked.get(pattern, False)
            is_made = self._can_be_made(pattern, source) and self._passes(
                pattern, source, counts, asked
            )
            if not is_shown and not is_made:
                wanted = (
                    "a pattern of the prompt not yet asked for, or one for 0 that can be made from"
                    " the one before"
                )
                wanted += "" if self.verified else " and is not part of it"
                raise Malformed(start, f'expected {wanted}, got "{" ".join(pattern)}"')
            is_negative = is_made and (found == ("0",) or not is_shown)
            expected = ("0",) if is_negative else tuple(str(counts[pattern]))
            answers.append(Answer(tuple(range(first, reader.index)), expected, found))
            asked[pattern] = asked.get(pattern, False) or not is_negative
            source = "" if is_negative else pattern
        reader.phrase(END)
        reader.end()
        return Verdict.of(answers)

    def _read_prompt(self, reader: Reader) -> list[str]:
        """The patterns of the prompt that stands next."""
        shown = [self._read_letters(reader)]
        while reader.sees((SEPARATOR,)):
            reader.phrase(SEPARATOR)
            shown.append(self._read_letters(reader))
        if reader.index > self._capacity:
            raise Malformed(
                self._capacity, f"at most {self._capacity} tokens may come before {QUERY}"
            )
        return shown

    def _read_letters(self, reader: Reader) -> str:
        return "".join(reader.take_all(self.alphabet, "a letter"))

    def _can_be_made(self, negative: str, pattern: str) -> bool:
        """Whether a query for 0 can be made from a pattern, apart from the test that it must
        pass.
        """
        whole = pattern * 3
        bounds = range(len(pattern) - self.slack, len(pattern) + self.slack + 1)
        fits = len(negative) in {len(whole[:bound]) for bound in bounds}
        return self.negatives > 0 and fits and Counter(negative) <= Counter(whole)
