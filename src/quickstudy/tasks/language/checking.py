"""Is a sequence from anywhere a sentence of a task, what in it is asked, and are the answers
right?
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """The answer to one question: its position, the right words and the words found."""

    indices: tuple[int, ...]
    expected: tuple[str, ...]
    found: tuple[str, ...]

    @property
    def right(self) -> bool:
        """Every word is the expected one, and there are as many."""
        return self.expected == self.found


@dataclass(frozen=True)
class Verdict:
    """What a task declares about a sequence.

    well_formed: the task could have written it, its answers apart. masks: the lists of supervised
    indices that can belong to it; more than one where the words alone do not say from where on the
    task asks, none when it is malformed. answers: one entry per question, of all masks together.
    reason: empty when the sequence is right, otherwise the first fault, with its index.
    """

    well_formed: bool
    masks: tuple[tuple[int, ...], ...] = ()
    answers: tuple[Answer, ...] = ()
    reason: str = ""

    @property
    def right(self) -> bool:
        """Well formed, with every answer right."""
        return self.well_formed and all(answer.right for answer in self.answers)

    @property
    def supervised(self) -> tuple[int, ...]:
        """The indices that are supervised whichever of the masks belongs to the sequence."""
        common = set(self.masks[0]).intersection(*self.masks) if self.masks else set()
        return tuple(sorted(common))

    def accepts(self, supervised: Sequence[int]) -> bool:
        """The sequence is right, and these may be its supervised indices."""
        return self.right and tuple(sorted(supervised)) in self.masks

    @classmethod
    def of(cls, answers: Sequence[Answer], masks: Sequence[Sequence[int]] | None = None) -> Verdict:
        """The verdict on a well-formed sequence; without masks, exactly the indices of the answers
        are supervised.
        """
        if masks is None:
            masks = [[index for answer in answers for index in answer.indices]]
        wrong = next((answer for answer in answers if not answer.right), None)
        reason = ""
        if wrong is not None:
            reason = (
                f"index {wrong.indices[0]}: the answer is {_said(wrong.found)}, right is"
                f" {_said(wrong.expected)}"
            )
        return cls(True, tuple(tuple(mask) for mask in masks), tuple(answers), reason)


class Malformed(Exception):
    """The sequence cannot be of the task. Raised while reading, turned into a verdict by
    `judge`.
    """

    def __init__(self, index: int, fault: str) -> None:
        super().__init__(f"index {index}: {fault}")


def judge(tokens: Any, vocabulary: Sequence[str], rule: Callable[[list[str]], Verdict]) -> Verdict:
    """The rule's verdict on tokens: words or ids, mixed if need be, or one text with spaces. Never
    raises for them.
    """
    try:
        return rule(_words(tokens, vocabulary))
    except Malformed as fault:
        return Verdict(False, reason=str(fault))


class Reader:
    """Walks through words from left to right; anything that does not fit raises Malformed with its
    index.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.index = 0

    def sees(self, allowed: Collection[str], ahead: int = 0) -> bool:
        """Whether the next word, or one further ahead, is one of the allowed ones."""
        place = self.index + ahead
        return place < len(self.words) and self.words[place] in allowed

    def take(self, allowed: Collection[str], wanted: str) -> str:
        """The next word, which must be one of the allowed ones; `wanted` describes them."""
        if not self.sees(allowed):
            raise Malformed(self.index, f"expected {wanted}, {self._found()}")
        self.index += 1
        return self.words[self.index - 1]

    def take_all(self, allowed: Collection[str], wanted: str) -> tuple[str, ...]:
        """The next word, and those after it while they are allowed."""
        found = [self.take(allowed, wanted)]
        while self.sees(allowed):
            found.append(self.take(allowed, wanted))
        return tuple(found)

    def phrase(self, words: str) -> None:
        """The next words, exactly."""
        for word in words.split():
            self.take((word,), f'"{word}"')

    def end(self) -> None:
        """Nothing may follow."""
        if self.index < len(self.words):
            raise Malformed(self.index, f"expected the end of the sequence, {self._found()}")

    def _found(self) -> str:
        return (
            f'got "{self.words[self.index]}"'
            if self.index < len(self.words)
            else "but the sequence ends"
        )


def _words(tokens: Any, vocabulary: Sequence[str]) -> list[str]:
    if isinstance(tokens, str):
        tokens = tokens.split()
    try:
        parts = list(tokens)
    except TypeError:
        raise Malformed(
            0, f"a sequence of words or ids must be given, not {type(tokens).__name__}"
        ) from None
    return [_word(index, token, vocabulary) for index, token in enumerate(parts)]


def _word(index: int, token: Any, vocabulary: Sequence[str]) -> str:
    if isinstance(token, str):
        if token not in vocabulary:
            raise Malformed(index, f'"{token}" is not in the vocabulary: {" ".join(vocabulary)}')
        return str(token)
    try:
        id = operator.index(token)
    except TypeError:
        raise Malformed(index, f"{token!r} is neither a word nor an id") from None
    if not 0 <= id < len(vocabulary):
        raise Malformed(index, f"id {id} is not in 0..{len(vocabulary) - 1}")
    return vocabulary[id]


def _said(words: Sequence[str]) -> str:
    return f'"{" ".join(words)}"'
