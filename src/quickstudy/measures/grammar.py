"""How far a learner generalises from how little: the index B, the largest string right, accuracy
and bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

ENTROPY_MARGIN = 0.05
"""A factor is passed by its bits where the grammar itself needs at least 1 minus this share of
them.
"""
SOLVED = 0.9
"""A function of strings is solved from this accuracy at unseen lengths on, as published."""
_KIND = ("string-outcomes",)
_INDEX: dict[str, Any] = {
    "unit": "factor",
    "better": "higher",
    "range": (0, math.inf),
    "words": {"<1e-9": "<1"},
}
Arrays = Mapping[str, NDArray[Any]]


def _factors(trace: Trace) -> Iterator[tuple[float, Arrays]]:
    """Every factor with the outcomes of its test, the largest first."""
    arrays = trace.arrays
    for factor in sorted(set(arrays["factor"].tolist()), reverse=True):
        here = (arrays["factor"] == factor) & arrays["tested"]
        yield factor, {name: values[here] for name, values in arrays.items()}


def wrong_column(trace: Trace, margin: float | None = None) -> str:
    """Where the wrong steps at a margin stand; none: at the largest."""
    margin = max(trace.facts["margins"]) if margin is None else margin
    return f"wrong-{margin:g}" if trace.facts["metric"] == "cat" else "wrong"


def right_in_a_row(wrong: NDArray[Any]) -> int:
    """How many strings, from the first on, have nothing wrong."""
    return int(np.append(wrong > 0, True).argmax())


def largest_right(sizes: NDArray[Any], wrong: NDArray[Any]) -> float:
    """The largest size up to which no string has anything wrong."""
    right = sizes[sizes < sizes[wrong > 0].min()] if wrong.any() else sizes
    return float(right.max(initial=0))


def forgiven(margin: float, steps: Any) -> Any:
    """How many wrong steps of so many a margin forgives, whole ones. A hair is added: in doubles
    0.29 * 100 is a little less than 29.

    >>> int(forgiven(0.29, 100)), int(forgiven(0.005, 199))
    (29, 0)
    """
    return np.floor(margin * steps + 1e-9)


def _passes(trace: Trace, test: Arrays, margin: float, each: bool) -> bool:
    """Under `cat` the margin is in the marks, and every step must be right."""
    wrong, steps = test[wrong_column(trace, margin)], np.maximum(test["steps"], 1)
    if trace.facts["metric"] == "cat" or margin == 0:
        return not wrong.any()
    return bool(
        (wrong <= forgiven(margin, steps)).all()
        if each
        else wrong.sum() <= forgiven(margin, steps.sum())
    )


def _best(trace: Trace, margin: float, each: bool) -> float:
    return max(
        (factor for factor, test in _factors(trace) if _passes(trace, test, margin, each)),
        default=0.0,
    )


@measure(
    "b-index",
    version=1,
    kinds=_KIND,
    equation=(
        "B = max {b: the learner shown 10^N / b strings is right on the next 10^N b, within the"
        " margin}"
    ),
    chance="<1",
    scores=(
        Score("b-index", "B", **_INDEX),
        Score("b-index-*", "B at margin", **_INDEX),
        Score("b-continuous", "continuous B", **{**_INDEX, "words": {}}),
    ),
)
def b_index(trace: Trace) -> dict[str, float]:
    """The largest factor that is passed, 0 for none. At margin 0; at the others over all steps
    together, as the published numbers seem to be, and string by string (`-each`), as the paper
    defines it. Continuous: the largest number of strings that are right from the first of a test
    on, in units of 10^N, no more than the factor itself.

    Source: Lan, Chemla and Katzir 2023, equation 1.
    """
    found = {}
    for margin in trace.facts["margins"]:
        if trace.facts["upto"] == "first-wrong" and margin and trace.facts["metric"] != "cat":
            continue  # what comes after the first error has not been asked
        name = "b-index" if margin == 0 else f"b-index-{margin:g}"
        found[name] = _best(trace, margin, each=False)
        if margin and trace.facts["metric"] != "cat":
            found[f"{name}-each"] = _best(trace, margin, each=True)
    column = wrong_column(trace, min(trace.facts["margins"]))
    runs = {factor: right_in_a_row(test[column]) for factor, test in _factors(trace)}
    found["b-continuous"] = max(
        min(factor, run / 10 ** trace.facts["order"]) for factor, run in runs.items()
    )
    return found


@measure(
    "reach",
    version=1,
    kinds=_KIND,
    equation="n* = max {n: every string asked about of a size up to n is right}; log10(1 + n*)",
    chance="0",
    scores=(
        Score("log-reach", "reach", "powers of ten", "higher", (0, math.inf), least=0.01),
        Score(
            "largest-right",
            "largest n right",
            "letters",
            "higher",
            (0, math.inf),
            shown="median",
            least=1,
        ),
    ),
)
def reach(trace: Trace) -> dict[str, float]:
    """The largest size (n, n + m, or symbols) up to which every string is right, those shown
    included, of the learner that was shown the fewest. No more than the largest of the test. At
    margin 0; where the symbols that may follow are asked for, at the largest margin, since no
    softmax gives a symbol no probability at all.

    Source: ours, after figure 3 of Lan, Chemla and Katzir 2023.
    """
    first = trace.arrays["factor"] == trace.arrays["factor"].max()
    largest = largest_right(trace.arrays["size"][first], trace.arrays[wrong_column(trace)][first])
    return {"log-reach": math.log10(1 + largest), "largest-right": largest}


@measure(
    "reach-beyond",
    version=1,
    kinds=_KIND,
    equation="log10(1 + max(n*, s)) - log10(1 + s), n* as for reach, s the largest size shown",
    chance="0: nothing larger than what was shown is right, or something shown is wrong",
    scores=(
        Score(
            "log-beyond",
            "reach beyond training",
            "powers of ten",
            "higher",
            (0, math.inf),
            least=0.01,
        ),
    ),
)
def reach_beyond(trace: Trace) -> dict[str, float]:
    """How many times further than the largest string shown every string is right, in powers of ten.

    Of the learner that was shown the fewest strings. 0 for one that fits a part of its training
    strings.
    """
    factor = trace.arrays["factor"].max()
    shown = float(trace.facts["largest_shown"][f"{factor:g}"])
    reached = reach(trace)["largest-right"]
    return {"log-beyond": max(0.0, math.log10((1 + reached) / (1 + shown)))}


@measure(
    "string-accuracy",
    version=1,
    kinds=_KIND,
    equation="share of the steps that count which are right; share of strings with none wrong",
    chance=(
        "by the language: always answering b has all but one step of a^n b^n right, and no string"
    ),
    scores=(
        Score("accuracy", unit="share of steps", better="higher", range=(0, 1), least=0.0001),
        Score("strings-right", unit="share of strings", better="higher", range=(0, 1)),
    ),
)
def string_accuracy(trace: Trace) -> dict[str, float]:
    """Over the first 10^N tests of the learner that was shown the fewest; at the largest margin,
    where it is in the marks.
    """
    if trace.facts["upto"] == "first-wrong":
        return {}
    _, test = next(_factors(trace))
    most = 10 ** trace.facts["order"]
    wrong, steps = test[wrong_column(trace)][:most], test["steps"][:most]
    return {
        "accuracy": 1 - float(wrong.sum() / max(1, steps.sum())),
        "strings-right": float((wrong == 0).mean()),
    }


@measure(
    "cross-entropy",
    version=1,
    kinds=_KIND,
    equation=(
        "bits of the grammar / bits of the learner; their difference per string; B by the first"
        " within 0.05"
    ),
    chance="0",
    scores=(
        Score("entropy-ratio", unit="share of the bits", better="higher", range=(0, 1)),
        Score(
            "excess-bits",
            unit="bits a string",
            better="lower",
            range=(-math.inf, math.inf),
            shown="median",
        ),
        Score("b-index-entropy", "B by entropy", **_INDEX),
    ),
)
def cross_entropy(trace: Trace) -> dict[str, float]:
    """How near the learner's probabilities come to those of the grammar, on the test; where bits
    were asked for.

    Source: the further work named by Lan, Chemla and Katzir 2023, section 3.5.
    """
    if "bits" not in trace.arrays:
        return {}
    ratios = {factor: _ratio(test) for factor, test in _factors(trace)}
    _, first = next(_factors(trace))
    return {
        "entropy-ratio": ratios[max(ratios)],
        "excess-bits": float((first["bits"] - first["optimum"]).mean()),
        "b-index-entropy": max(
            (factor for factor, ratio in ratios.items() if ratio >= 1 - ENTROPY_MARGIN), default=0.0
        ),
    }


def _ratio(test: Arrays) -> float:
    bits = float(test["bits"].sum())
    return min(1.0, float(test["optimum"].sum()) / bits) if bits > 0 else 0.0


@measure(
    "description-length",
    version=1,
    kinds=_KIND,
    equation=(
        "|H| + |D:H|: bits of the network, and of the strings it was shown by what it holds for"
        " likely"
    ),
    chance="none",
    scores=(
        Score("mdl-bits", "|H| + |D:H|", "bits", "lower", (0, math.inf), shown="median", least=0.1),
        Score("h-bits", "|H|", "bits", "lower", (0, math.inf), shown="median", least=1),
        Score("d-bits", "|D:H|", "bits", "lower", (0, math.inf), shown="median", least=0.1),
    ),
)
def description_length(trace: Trace) -> dict[str, float]:
    """Of the learner that was shown the fewest, where it has a description length.

    Source: Lan, Geyer, Chemla and Katzir 2022.
    """
    found = trace.facts.get("learned", {})
    if not found:
        return {}
    own = found[max(found, key=float)]
    bits = {"h-bits": float(own["h_bits"]), "d-bits": float(own["d_bits"])}
    return {"mdl-bits": sum(bits.values()), **bits}


@measure(
    "length-generalisation",
    version=1,
    kinds=("length-outcomes",),
    equation=(
        "mean over lengths l of right(l) / asked(l): those beyond the longest shown, and the"
        " others; solved: the first is at least 0.9"
    ),
    chance="by the task: its controls",
    scores=(
        Score(
            "unseen-accuracy",
            unit="share of answers, mean over lengths",
            better="higher",
            range=(0, 1),
        ),
        Score(
            "seen-accuracy",
            unit="share of answers, mean over lengths",
            better="higher",
            range=(0, 1),
        ),
        Score(
            "solved", unit="share of runs with 0.9 at unseen lengths", better="higher", range=(0, 1)
        ),
    ),
)
def length_generalisation(trace: Trace) -> dict[str, float]:
    """How well answers go on beyond the lengths that were shown, every length alike; strings of
    seen lengths are resampled, and short ones among them have been shown.

    Source: Deletang et al. 2022.
    """
    shares = trace.arrays["right"] / trace.arrays["asked"]
    unseen = trace.arrays["length"] > trace.facts["longest_shown"]
    found = float(shares[unseen].mean())
    return {
        "unseen-accuracy": found,
        "seen-accuracy": float(shares[~unseen].mean()),
        "solved": float(found >= SOLVED),
    }
