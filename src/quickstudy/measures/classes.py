"""How well sequences are classified: errors, the confusion of classes, and the area under the curve
of either error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace


def confusion(trace: Trace) -> NDArray[np.int64]:
    """(true class, answered class): how many sequences of each class were answered with which."""
    scores, label = trace.arrays["score"], trace.arrays["label"]
    classes = scores.shape[1]
    pairs = label * classes + scores.argmax(axis=1)
    return np.bincount(pairs, minlength=classes**2).reshape(classes, classes)


def roc(
    score: NDArray[np.float64], positive: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """False and true positives, as shares, for every threshold from the highest score down; both
    begin at 0.

    >>> false, true = roc(np.array([3.0, 2.0, 1.0]), np.array([True, False, True]))
    >>> [false.tolist(), true.tolist()]
    [[0.0, 0.0, 1.0, 1.0], [0.0, 0.5, 0.5, 1.0]]
    """
    order = np.argsort(-score, kind="stable")
    last_of_equals = np.append(np.diff(score[order]) != 0, True)
    counts = [np.cumsum(found[order])[last_of_equals] for found in (~positive, positive)]
    false, true = (np.concatenate([[0.0], count / max(count[-1], 1)]) for count in counts)
    return false, true


@measure(
    "classification",
    version=1,
    kinds=("classes",),
    equation=(
        "error rate = wrong / all; AUC: mean over classes of the area under true over false"
        " positives, one class against the rest"
    ),
    chance="1 less the share of the most frequent class; AUC 0.5",
    scores=(
        Score("error-rate", "error rate", "share of the sequences", "lower", (0, 1)),
        Score("accuracy", unit="share of the sequences", better="higher", range=(0, 1)),
        Score("auc", "AUC", "mean over classes", "higher", (0, 1)),
        Score("wrong-answers", "wrong", "sequences", "lower", (0, math.inf), least=1),
        Score("false-negatives-*", "missed of class", "share of the class", "lower", (0, 1)),
        Score("false-positives-*", "taken for class", "share of the others", "lower", (0, 1)),
    ),
)
def classification(trace: Trace) -> Mapping[str, float]:
    """The error rate is the word error rate where words are classified. Classes are counted from
    0.
    """
    table = confusion(trace)
    total, right = int(table.sum()), np.diag(table)
    wrong = total - int(right.sum())
    found = {
        "error-rate": wrong / total,
        "accuracy": 1 - wrong / total,
        "wrong-answers": float(wrong),
    }
    areas = []
    for place, (those, said) in enumerate(zip(table.sum(axis=1), table.sum(axis=0), strict=True)):
        if 0 < those < total:
            areas.append(
                np.trapezoid(
                    *roc(trace.arrays["score"][:, place], trace.arrays["label"] == place)[::-1]
                )
            )
            found[f"false-negatives-{place}"] = float(1 - right[place] / those)
            found[f"false-positives-{place}"] = float((said - right[place]) / (total - those))
    return {**found, "auc": float(np.mean(areas))} if areas else found


@measure(
    "failures",
    version=1,
    kinds=("sequences",),
    equation=(
        "share of sequences with an answer that is off by the tolerance or more, or whose largest"
        " number is not at the right place; NRMSE over all answers"
    ),
    chance="by the mean of all answers: nearly 1, or 1 less the share of the most frequent",
    scores=(
        Score("failure-rate", "failures", "share of the sequences", "lower", (0, 1)),
        Score(
            "sequence-nrmse",
            "NRMSE",
            "deviations of the target",
            "lower",
            (0, math.inf),
            read="log",
        ),
    ),
)
def failures(trace: Trace) -> Mapping[str, float]:
    """Of sequences with one answer or several in their end; all must be right."""
    answer, target, tolerance = (
        trace.arrays["answer"],
        trace.arrays["target"],
        trace.facts["tolerance"],
    )
    if tolerance is None:
        wrong = answer.argmax(axis=2) != target.argmax(axis=2)
    else:
        wrong = (np.abs(answer - target) >= tolerance).any(axis=2)
    spread = np.square(target - target.mean(axis=(0, 1))).sum()
    found = {"failure-rate": float(wrong.any(axis=1).mean())}
    return found | (
        {"sequence-nrmse": math.sqrt(np.square(answer - target).sum() / spread)} if spread else {}
    )
