"""Sentences from a file or a grammar, and minimal pairs: surprisal word by word."""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Tokens
from quickstudy.data.tables import read_content
from quickstudy.tasks.grammar.derivation import END, Derivation
from quickstudy.tasks.grammar.strings import read_grammar

AGREEMENT = (
    "S -> the NS P V1 [1/2] | the NP P V2 [1/2]; NS -> cat [1/2] | key [1/2];"
    " NP -> cats [1/2] | keys [1/2]; P -> near the NS [1/4] | near the NP [1/4] | [1/2];"
    " V1 -> is W [1]; V2 -> are W [1]; W -> here [1/2] | new [1/2]"
)
_SEED, _MOST_DRAWS = 0, 20_000
String = NDArray[np.int32]


class Pair(NamedTuple):
    """Two sentences of which the first is acceptable, and what they test."""

    acceptable: String
    unacceptable: String
    kind: str


@task(
    "grammar/sentences",
    version=1,
    controls=["bigram", "trigram"],
    oracle="true-grammar",
    protocol="sentences",
)
@dataclass(frozen=True)
class Sentences:
    """Predict the next word of sentences from a file or a grammar, and judge minimal pairs.

    Sees: a sentence between two `#`.
    Answers: the next word.
    Scored: bits per word of sentences that were not shown, and the share of pairs whose acceptable
        sentence has fewer bits.
    Chance: log2 of the vocabulary size, and half of the pairs.
    Ceiling: the grammar's own probabilities, if there is a grammar.
    Source: yours.

    Parameters
    ----------
    corpus:
        A file of sentences, one per line, with spaces between words (or letters without spaces); or
        rules as in `grammar/written`, or a file of them, of which the different sentences among
        20,000 samples are used. A line that begins with `# ` is a comment, and a `#` at both ends
        of a sentence is left out.
    pairs:
        A file of minimal pairs, one per line: acceptable sentence, tab, unacceptable sentence, and
        optionally a tab and the name of what is tested.
    digest:
        Digest of both, computed when they are read.
    """

    corpus: str = parameter(AGREEMENT, place=True)
    pairs: str = parameter("", place=True)
    digest: str = parameter("", derived=True)

    id: ClassVar[str]
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    setup: ClassVar[str] = "next"
    asks: ClassVar[str] = "strings"

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        files = [given.get("corpus", ""), given.get("pairs", "")]
        read = [name for name in files if name and "->" not in name]
        return f"reads {' and '.join(read)}" if read else ""

    def __post_init__(self) -> None:
        texts = [_text(self.corpus), _text(self.pairs) if self.pairs else ""]
        found = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
        if self.digest not in ("", found):
            raise UsageError(
                f"grammar/sentences: {self.corpus or self.pairs} has changed: its digest is"
                f" {found}, not {self.digest}"
            )
        object.__setattr__(self, "digest", found)
        self.material  # noqa: B018  # errors in the files are found here

    @cached_property
    def material(self) -> Material:
        """Sentences, pairs and vocabulary."""
        return read_material(
            _text(self.corpus), _text(self.pairs) if self.pairs else "", self.pairs
        )

    @property
    def grammar(self) -> Derivation | None:
        """The grammar, if the corpus is drawn from one."""
        return self.material.grammar

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """`#` and the words; a word's number is its position."""
        return self.material.vocabulary

    @property
    def inputs(self) -> Tokens:
        """Words."""
        return Tokens(len(self.vocabulary))

    outputs = inputs

    def sample(self, rng: np.random.Generator, count: int) -> Examples:
        """Sentences of the corpus with replacement, by how often they occur."""
        return self.examples(self.draw(rng, count, range(len(self.material.sentences))))

    def draw(self, rng: np.random.Generator, count: int, among: Sequence[int]) -> list[String]:
        """Some sentences, out of these numbers."""
        chances = self.material.counts[list(among)]
        drawn = rng.choice(np.array(among), size=count, p=chances / chances.sum())
        return [self.material.sentences[number] for number in drawn]

    def examples(self, sentences: Sequence[String]) -> Examples:
        """Sentences with both `#`, of which every next word is asked for."""
        lengths = np.array([len(sentence) - 1 for sentence in sentences], np.int64)
        shape = int(lengths.max(initial=1)), len(sentences)
        inputs, targets = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        for column, (sentence, length) in enumerate(zip(sentences, lengths, strict=True)):
            inputs[:length, column], targets[:length, column] = sentence[:-1], sentence[1:]
        return Examples(inputs, targets, np.arange(shape[0])[:, None] < lengths, lengths)

    def text(self, tokens: Sequence[int]) -> str:
        """A sentence; words stand between spaces."""
        between = " " if any(len(word) > 1 for word in self.vocabulary) else ""
        return between.join(self.vocabulary[token] for token in tokens)


@dataclass(frozen=True)
class Material:
    """What a corpus and its pairs come to.

    sentences: all different ones. counts: how often each occurs. free: numbers of those that are
    in no pair, which alone may be shown.
    """

    vocabulary: tuple[str, ...]
    sentences: list[String]
    counts: NDArray[np.float64]
    pairs: list[Pair]
    free: list[int]
    grammar: Derivation | None


@lru_cache(maxsize=8)
def read_material(corpus: str, pairs: str, named: str) -> Material:
    """Of the texts of both files. named: what the file of pairs is called in messages. Raises
    UsageError for a corpus with fewer than two sentences that are in no pair, and for pairs that
    are none.
    """
    grammar = None
    if "->" in corpus:
        found = read_grammar(corpus)
        assert isinstance(found, Derivation)
        grammar, lines = found, _drawn(found)
    else:
        lines = [_words(line) for line in _lines(corpus)]
    rows = [_pair(line, named, place) for place, line in enumerate(_lines(pairs), 1)]
    written = {word for sentence in lines for word in sentence}
    judged = [sentence for row in rows for sentence in row[:2]]
    words = sorted(written | {word for sentence in judged for word in sentence})
    vocabulary = (END, *words) if grammar is None else grammar.symbols
    numbers = {word: number for number, word in enumerate(vocabulary)}
    if unknown := [word for word in words if word not in numbers]:
        raise UsageError(f'grammar/sentences: "{unknown[0]}" of the pairs is not in the grammar')

    def numbered(sentence: Sequence[str]) -> String:
        return np.array([0, *(numbers[word] for word in sentence), 0], np.int32)

    counted: dict[tuple[str, ...], int] = {}
    for sentence in lines:
        counted[sentence] = counted.get(sentence, 0) + 1
    free = [number for number, sentence in enumerate(counted) if sentence not in set(judged)]
    if len(free) < 2:
        raise UsageError(
            f"grammar/sentences: {len(free)} sentence of the corpus is in no pair; there must be"
            " one to learn from and another to be tested on"
        )
    return Material(
        vocabulary,
        [numbered(sentence) for sentence in counted],
        np.array(list(counted.values()), float),
        [Pair(numbered(good), numbered(bad), kind) for good, bad, kind in rows],
        free,
        grammar,
    )


def _drawn(grammar: Derivation) -> list[tuple[str, ...]]:
    rng = np.random.default_rng(_SEED)
    return [
        tuple(grammar.symbols[symbol] for symbol in grammar.draw(rng.random))
        for _ in range(_MOST_DRAWS)
    ]


def _text(named: str) -> str:
    """Rules unchanged, or the text of a file."""
    if "->" in named:
        return named
    try:
        return read_content(pathlib.Path(named).expanduser()).decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"grammar/sentences: {named} is not text in UTF-8: {error}") from error


def _lines(text: str) -> list[str]:
    """Lines that are neither empty nor comments; what also ends with `#` is a sentence."""
    return [
        line
        for line in text.splitlines()
        if line.strip() and (not line.startswith("# ") or line.rstrip().endswith(END))
    ]


def _words(line: str) -> tuple[str, ...]:
    """The words of a sentence; letters, if it has no spaces."""
    bare = line.strip().removeprefix(END).removesuffix(END).strip()
    return tuple(bare.split() if " " in bare else bare)


def _pair(line: str, named: str, place: int) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) not in (2, 3) or not cells[0] or not cells[1] or cells[0] == cells[1]:
        raise UsageError(
            f"{named}, line {place}: a pair is an acceptable sentence, a tab and an unacceptable"
            f" one, and optionally a tab and a name, got {line!r:.80}"
        )
    return _words(cells[0]), _words(cells[1]), cells[2] if len(cells) == 3 else "all"
