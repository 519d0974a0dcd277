"""From the text of a language model to scores of its answers; and whether the text could be
parsed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.llm_cache import Said

LEAST = 1e-6
"""The share of an answer that a model did not list among its likeliest tokens: a distribution has
no zero.
"""
NAMED = 0.01
"""The probability of all answers together from which on log-probabilities say something about
them.
"""
_AROUND = " \t\"'`*_.,;:!?()[]{}<>“”‘’«»"
_PHRASE = re.compile(
    r"\b(?i:answer|symbol|letter|output)\b(?:\s+(?:is|would be|should be|must be))?\s*[:=]?\s*"
    rf"[{re.escape(_AROUND)}]*(?P<word>[A-Za-z])(?![A-Za-z])"
)
_LONGEST_SYMBOL = 3
"""Letters of `k>t`: a model that goes on with the line writes words of this length and no longer
ones.
"""


class ReadAnswer(NamedTuple):
    """scores: (answer,) probabilities, or 1 for the answer that was given. understood: the model
    named an answer.
    """

    scores: NDArray[np.float64]
    understood: bool


def answer_in(text: str, words: Sequence[str]) -> str | None:
    """The answer that a text gives, without quotes, full stops and phrases around it; None if there
    is none.

    >>> texts = '"k".', "The answer is k", "k t>k k", "I am not sure", "?"
    >>> [answer_in(text, ["k", "I"]) for text in texts]
    ['k', 'k', 'k', None, None]
    """
    if (found := _PHRASE.search(text)) and found["word"] in words:
        return found["word"]
    parts = [part.strip(_AROUND) for part in (text.strip().splitlines() or [""])[0].split()]
    parts = [part for part in parts if part]
    if not parts or parts[0] not in words:
        return None
    # "I" and "a" are words too: with other words after them they are no answer, unless it says what
    # the answer is.
    prose = (
        len(parts) > 1
        and parts[1] != "is"
        and any(len(part) > _LONGEST_SYMBOL for part in parts[1:])
    )
    return None if prose else parts[0]


def scores_of(said: Said, prompt: str, words: Sequence[str]) -> ReadAnswer:
    """Scores of the answers. One that is not understood is a guess, derived from its prompt: it
    must not count as the first symbol.
    """
    guess = int.from_bytes(hashlib.sha256(prompt.encode()).digest()[:8], "big") % len(words)
    if said.likely is None:
        answer = answer_in(said.text, words)
        place = guess if answer is None else words.index(answer)
        return ReadAnswer(np.asarray(np.eye(len(words))[place]), answer is not None)
    shares = np.full(len(words), LEAST)
    named = 0.0
    for text, logarithm in said.likely.items():
        if (word := text.strip(_AROUND)) in words:
            share = float(np.exp(min(0.0, logarithm)))
            shares[words.index(word)] += share
            named += share
    if not named:
        shares[guess] += LEAST
    return ReadAnswer(np.asarray(shares / shares.sum()), named >= NAMED)
