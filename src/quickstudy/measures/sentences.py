"""Surprisal of sentences that were not shown, and judgements of minimal pairs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

HELD, ACCEPTABLE, UNACCEPTABLE = 0, 1, 2
"""What a sentence of the test is: held out, or one of a minimal pair."""
_KIND = ("sentence-bits",)
_SHARE = "share of the pairs"


@measure(
    "surprisal",
    version=1,
    kinds=_KIND,
    equation=(
        "bits-per-word: mean of -log2 p(word | words before), over all words and ends of the"
        " sentences held out; perplexity: 2^bits-per-word"
    ),
    chance="log2 of the vocabulary",
    scores=(
        Score("bits-per-word", unit="bits a word", better="lower", range=(0, math.inf)),
        Score("perplexity", unit="words", better="lower", range=(1, math.inf), read="log"),
        Score("word-accuracy", unit="share of the words", better="higher", range=(0, 1)),
    ),
)
def surprisal(trace: Trace, convention: str) -> dict[str, float]:
    """How well the words of sentences that were not shown are predicted."""
    held = trace.arrays["group"] == HELD
    bits = float(trace.arrays["bits"][held].mean())
    return {
        "bits-per-word": bits,
        "perplexity": 2.0**bits,
        "word-accuracy": float(trace.arrays["likeliest"][held].mean()),
    }


@measure(
    "minimal-pairs",
    version=1,
    kinds=_KIND,
    equation=(
        "pairs-right: share of pairs in which the acceptable sentence has fewer bits, a tie counts"
        " half; critical-bits: bits of the unacceptable sentence minus bits of the acceptable one"
        " at the first word in which they differ, mean over pairs"
    ),
    chance="0.5; 0",
    scores=(
        Score("pairs-right", unit=_SHARE, better="higher", range=(0, 1)),
        Score("pairs-right-*", "pairs right:", _SHARE, "higher", (0, 1)),
        Score("critical-bits", unit="bits", better="higher"),
        Score("critical-bits-*", "critical bits:", "bits", "higher"),
    ),
)
def minimal_pairs(trace: Trace, convention: str) -> dict[str, float]:
    """Whether the acceptable one of two sentences is likelier, over all pairs and by what they
    test.

    Source: Warstadt et al. 2020 (BLiMP) for the share of pairs; the surprisal at the critical word
    is that of psycholinguistics.
    """
    kinds = np.array(trace.facts["kinds"], str)
    if not len(kinds):
        return {}
    good, bad = (read_sentences(trace, group) for group in (ACCEPTABLE, UNACCEPTABLE))
    right = np.array([_preferred(g[1], b[1]) for g, b in zip(good, bad, strict=True)])
    critical = np.array([_at_difference(g, b) for g, b in zip(good, bad, strict=True)])
    found = {"pairs-right": float(right.mean()), "critical-bits": float(critical.mean())}
    for kind in sorted(set(kinds.tolist()) if len(set(kinds.tolist())) > 1 else ()):
        ending = kind.lower().replace(" ", "-")
        found[f"pairs-right-{ending}"] = float(right[kinds == kind].mean())
        found[f"critical-bits-{ending}"] = float(critical[kinds == kind].mean())
    return found


Words = tuple[NDArray[np.int64], NDArray[np.float64]]


def read_sentences(trace: Trace, group: int) -> list[Words]:
    """(words, bits) of each sentence of a group, in order."""
    arrays = trace.arrays
    here = arrays["group"] == group
    _, starts = np.unique(arrays["sentence"][here], return_index=True)
    cut = (np.split(arrays[name][here], starts[1:]) for name in ("word", "bits"))
    return list(zip(*cut, strict=True))


def _preferred(good: NDArray[np.float64], bad: NDArray[np.float64]) -> float:
    difference = float(bad.sum() - good.sum())
    return 0.5 if math.isclose(difference, 0.0, abs_tol=1e-9) else float(difference > 0)


def _at_difference(good: Words, bad: Words) -> float:
    """Bits at the first word in which they differ; both end with `#`, so there is one."""
    shared = min(len(good[0]), len(bad[0]))
    place = int((good[0][:shared] != bad[0][:shared]).argmax())
    return float(bad[1][place] - good[1][place])
