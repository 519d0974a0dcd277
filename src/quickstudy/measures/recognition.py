"""How well whole strings are accepted or rejected, by length and by distance to the language."""

from __future__ import annotations

from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace

_UNIT = "share of strings"


@measure(
    "recognition",
    version=1,
    kinds=("recognition",),
    equation=(
        "mean of the shares judged rightly of strings of the language and of others: beyond, longer"
        " than all that were shown, and within; members-accepted, others-rejected: those shares"
        " over all lengths; near-misses-rejected: of those one edit away"
    ),
    chance="0.5",
    scores=(
        Score("beyond-accuracy", unit=_UNIT, better="higher", range=(0, 1)),
        Score("within-accuracy", unit=_UNIT, better="higher", range=(0, 1)),
        Score("members-accepted", unit=_UNIT, better="higher", range=(0, 1)),
        Score("others-rejected", unit=_UNIT, better="higher", range=(0, 1)),
        Score("near-misses-rejected", unit=_UNIT, better="higher", range=(0, 1)),
    ),
)
def recognition(trace: Trace) -> dict[str, float]:
    """Whether the learner knows the language: what is near to it must be rejected too.

    Source: Butoi et al. 2024 for the question; there the score is the accuracy over all strings.
    """
    right, member = trace.arrays["right"], trace.arrays["member"]
    beyond = trace.arrays["length"] > trace.facts["longest_shown"]
    near = trace.arrays["distance"] == 1
    found = {
        "members-accepted": float(right[member].mean()),
        "others-rejected": float(right[~member].mean()),
    }
    for name, some in (("beyond-accuracy", beyond), ("within-accuracy", ~beyond)):
        if (some & member).any() and (some & ~member).any():
            found[name] = float((right[some & member].mean() + right[some & ~member].mean()) / 2)
    if near.any():
        found["near-misses-rejected"] = float(right[near].mean())
    return found
