"""Vocabularies of word pieces, learned from text by the library `tokenizers`."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import MissingExtra, UsageError

PADDING, UNKNOWN = "[PAD]", "[UNK]"
_TOGETHER = 1000
"""Texts encoded in one call: the library's own form of a text is fifty times larger than its numbers."""


class WordPieces:
    """A vocabulary of pieces and the steps from a text to their numbers.

    A text is decomposed (NFD), put in lower case, rid of accents, and cut at whitespace and between word characters and
    punctuation (a run of punctuation stays together). A word is then the longest piece it begins with, followed by
    the longest that continues it, written `##...`, and so on.
    """

    def __init__(self, tokenizer: Any, pieces: tuple[str, ...]) -> None:
        self._tokenizer = tokenizer
        self.pieces = pieces

    @classmethod
    def learned(cls, texts: Sequence[str], size: int, special: bool) -> WordPieces:
        """At most `size` pieces learned from texts, by the library's usual trainer.

        special: whether `[PAD]` and `[UNK]` are pieces 0 and 1. Without them piece 0 is an ordinary one, and a word
        with an unseen character cannot be written. All other pieces are numbered in the order of their spelling.
        """
        first = [PADDING, UNKNOWN] if special else []
        # The trainer numbers continuing characters in the order of a hash table, another one in every process, and
        # decides between equally frequent pairs by number. So they are found first, and handed over in a fixed order.
        alphabet = sorted(_trained(texts, 1, first))
        continuing = [piece for piece in alphabet if piece.startswith("##")]
        found = set(_trained(texts, size, first + continuing))
        pieces = first + sorted(found - set(first))
        library = _library()
        numbers = {piece: number for number, piece in enumerate(pieces)}
        return cls(_cutting(library.Tokenizer(library.models.WordPiece(numbers, unk_token=UNKNOWN))), tuple(pieces))

    def encode(self, texts: Iterable[str]) -> list[NDArray[np.int32]]:
        """The piece numbers of every text. Raises UsageError for a word that cannot be written."""
        encoded: list[NDArray[np.int32]] = []
        waiting = iter(texts)
        while block := list(itertools.islice(waiting, _TOGETHER)):
            try:
                found = self._tokenizer.encode_batch_fast(block, add_special_tokens=False)
            except Exception as error:  # the library raises nothing narrower
                raise UsageError(f"a word holds a character that the vocabulary has never seen: {error}") from error
            encoded += [np.array(text.ids, dtype=np.int32) for text in found]
        return encoded


def _trained(texts: Sequence[str], size: int, special: Sequence[str]) -> list[str]:
    """The pieces that the trainer finds."""
    library = _library()
    tokenizer = _cutting(library.Tokenizer(library.models.WordPiece(unk_token=UNKNOWN)))
    trainer = library.trainers.WordPieceTrainer(vocab_size=size, special_tokens=list(special), show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    return list(tokenizer.get_vocab())


def _cutting(tokenizer: Any) -> Any:
    """A tokenizer with the steps that come before the pieces."""
    library = _library()
    normal = library.normalizers
    tokenizer.normalizer = normal.Sequence([normal.NFD(), normal.Lowercase(), normal.StripAccents()])
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
