"""Reviews as numbers of word pieces. The vocabulary is learned by the library `tokenizers`, which
takes a minute: what is encoded is kept in the cache.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import digest
from quickstudy.base.errors import MissingExtra, UsageError
from quickstudy.base.hardware import cache_folder
from quickstudy.data.imdb import IMDB, SPLITS, Review, read_imdb
from quickstudy.data.locate import find, fingerprint

PADDING, UNKNOWN = "[PAD]", "[UNK]"
_TOGETHER = 1000
"""Texts encoded in one call: the library's own form of a text is fifty times larger than its
numbers.
"""
FORMAT = 1
"""Changes with the layout of the kept file, and with anything above it that changes what is in
it.
"""
LINE_BREAK = "<br />"
"""The only markup in the reviews."""


class WordPieces:
    """A vocabulary of pieces and the steps from a text to their numbers.

    A text is decomposed (NFD), put in lower case, rid of accents, and cut at whitespace and between
    word characters and punctuation (a run of punctuation stays together). A word is then the
    longest piece it begins with, followed by the longest that continues it, written `##...`, and so
    on.
    """

    def __init__(self, tokenizer: Any, pieces: tuple[str, ...]) -> None:
        self._tokenizer = tokenizer
        self.pieces = pieces

    @classmethod
    def learned(cls, texts: Sequence[str], size: int, special: bool) -> WordPieces:
        """At most `size` pieces learned from texts, by the library's usual trainer.

        special: whether `[PAD]` and `[UNK]` are pieces 0 and 1. Without them piece 0 is an ordinary
        one, and a word with an unseen character cannot be written. All other pieces are numbered in
        the order of their spelling.
        """
        first = [PADDING, UNKNOWN] if special else []
        # The trainer numbers continuing characters in the order of a hash table, another one in
        # every process, and decides between equally frequent pairs by number. So they are found
        # first, and handed over in a fixed order.
        alphabet = sorted(_trained(texts, 1, first))
        continuing = [piece for piece in alphabet if piece.startswith("##")]
        found = set(_trained(texts, size, first + continuing))
        pieces = first + sorted(found - set(first))
        library = _library()
        numbers = {piece: number for number, piece in enumerate(pieces)}
        return cls(
            _cutting(library.Tokenizer(library.models.WordPiece(numbers, unk_token=UNKNOWN))),
            tuple(pieces),
        )

    def encode(self, texts: Iterable[str]) -> list[NDArray[np.int32]]:
        """The piece numbers of every text. Raises UsageError for a word that cannot be written."""
        encoded: list[NDArray[np.int32]] = []
        waiting = iter(texts)
        while block := list(itertools.islice(waiting, _TOGETHER)):
            try:
                found = self._tokenizer.encode_batch_fast(block, add_special_tokens=False)
            except Exception as error:  # the library raises nothing narrower
                raise UsageError(
                    f"a word holds a character that the vocabulary has never seen: {error}"
                ) from error
            encoded += [np.array(text.ids, dtype=np.int32) for text in found]
        return encoded


def _trained(texts: Sequence[str], size: int, special: Sequence[str]) -> list[str]:
    """The pieces that the trainer finds."""
    library = _library()
    tokenizer = _cutting(library.Tokenizer(library.models.WordPiece(unk_token=UNKNOWN)))
    trainer = library.trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=list(special), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return list(tokenizer.get_vocab())


def _cutting(tokenizer: Any) -> Any:
    """A tokenizer with the steps that come before the pieces."""
    library = _library()
    normal = library.normalizers
    tokenizer.normalizer = normal.Sequence(
        [normal.NFD(), normal.Lowercase(), normal.StripAccents()]
    )
    tokenizer.pre_tokenizer = library.pre_tokenizers.Whitespace()
    return tokenizer


def library_version() -> str:
    """The version of the library that learns vocabularies: another one may learn another."""
    return str(_library().__version__)


def _library() -> Any:
    try:
        return importlib.import_module("tokenizers")
    except ModuleNotFoundError as error:
        raise MissingExtra("tokenizers", "lm") from error


@dataclass(frozen=True)
class Encoding:
    """How reviews become numbers.

    pieces: size of the vocabulary. learned_from: the parts whose text it is learned from, `train`
    or `all`. markup: whether line breaks stay in the text as `<br />` (`kept`) or become spaces
    (`removed`). special: whether pieces 0 and 1 are reserved for padding and for the unknown.
    """

    pieces: int
    learned_from: str
    markup: str
    special: bool


@dataclass(frozen=True, eq=False)
class EncodedPart:
    """The reviews of one part, end to end. Review i is numbers[ends[i-1]:ends[i]]; labels are 0 and
    1.
    """

    numbers: NDArray[np.uint16] | NDArray[np.int32]
    ends: NDArray[np.int64]
    labels: NDArray[np.int8]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Pieces of each review."""
        return np.diff(self.ends, prepend=0)


@dataclass(frozen=True, eq=False)
class EncodedReviews:
    """pieces: by number. parts: `train` and `test`. text_digest: SHA-256 of all labelled texts, in
    their order.
    """

    pieces: tuple[str, ...]
    parts: Mapping[str, EncodedPart]
    text_digest: str


def encoded_reviews(encoding: Encoding) -> EncodedReviews:
    """The reviews of this machine's copy of the data, from the cache if it has them. See `find`
    for what it raises.

    The key of the kept file is made of the data's fingerprint, the encoding and the version of the
    library.
    """
    path = find(IMDB)
    return _encoded(path, fingerprint(path), encoding)


@lru_cache(maxsize=2)
def _encoded(path: pathlib.Path, data: str, encoding: Encoding) -> EncodedReviews:
    kept = kept_file(data, encoding)
    if not kept.is_file():
        _write_down(encode(read_imdb(path), encoding), kept)
    return _read_back(kept)


def kept_file(data: str, encoding: Encoding) -> pathlib.Path:
    """Where the reviews of a copy of the data, by its fingerprint, are kept under an encoding."""
    key = digest({"format": FORMAT, "data": data, "library": library_version(), **vars(encoding)})
    return cache_folder() / "reviews" / f"{key}.npz"


def encode(reviews: Sequence[Review], encoding: Encoding) -> EncodedReviews:
    """Learn the vocabulary and apply it."""
    texts = [review.text for review in reviews]
    if encoding.markup == "removed":
        texts = [text.replace(LINE_BREAK, " ") for text in texts]
    seen = texts
    if encoding.learned_from == "train":
        seen = [
            text for review, text in zip(reviews, texts, strict=True) if review.split == "train"
        ]
    vocabulary = WordPieces.learned(seen, encoding.pieces, encoding.special)
    numbers = vocabulary.encode(texts)
    parts = {}
    for split in SPLITS:
        chosen = [index for index, review in enumerate(reviews) if review.split == split]
        parts[split] = EncodedPart(
            np.concatenate([numbers[index] for index in chosen]).astype(_smallest(encoding.pieces)),
            np.cumsum([len(numbers[index]) for index in chosen]),
            np.array([reviews[index].label for index in chosen], dtype=np.int8),
        )
    lines = ("\t".join((review.split, str(review.label), review.text)) for review in reviews)
    return EncodedReviews(
        vocabulary.pieces, parts, hashlib.sha256("\n".join(lines).encode()).hexdigest()
    )


def _smallest(pieces: int) -> Any:
    """Half the memory where two bytes are enough."""
    return np.uint16 if pieces <= 1 << 16 else np.int32


def _write_down(reviews: EncodedReviews, path: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = {
        f"{split}_{name}": array
        for split, part in reviews.parts.items()
        for name, array in vars(part).items()
    }
    aside = path.with_name(f"{path.stem}.{os.getpid()}.part.npz")
    try:
        np.savez(
            aside,
            pieces=np.array(reviews.pieces),
            text_digest=np.array(reviews.text_digest),
            **parts,
        )
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def _read_back(path: pathlib.Path) -> EncodedReviews:
    with np.load(path) as kept:
        parts = {
            split: EncodedPart(*(kept[f"{split}_{name}"] for name in ("numbers", "ends", "labels")))
            for split in SPLITS
        }
        return EncodedReviews(tuple(kept["pieces"].tolist()), parts, str(kept["text_digest"]))
