"""The words of reports and pages: counting, listing, and what every term means."""

from __future__ import annotations

from collections.abc import Sequence

from quickstudy.base.measure import Score
from quickstudy.base.text import counted as counted
from quickstudy.report.statistics import CLOSEST, FEWEST

MOST_NAMED, MOST_LETTERS = 5, 130
"""A sentence with more names in it, or more letters of names, is too long to read; the table
has them all.
"""


def span(numbers: Sequence[int]) -> str:
    """Several counts in a few words, in any order.

    >>> span([6, 10, 8]), span([6, 6])
    ('6 to 10', '6')
    """
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def listing(names: Sequence[str]) -> str:
    """Names in a sentence; of very many, or very long ones, the first.

    >>> listing(["a", "b", "c"]), listing(["a"]), listing(list("abcdefg"))
    ('a, b and c', 'a', 'a, b, c and 4 more')
    """
    most = len(names) if len(names) <= MOST_NAMED else MOST_NAMED - 2
    while most > 1 and sum(map(len, names[:most])) > MOST_LETTERS:
        most -= 1
    names = [*names[:most], *([f"{len(names) - most} more"] if most < len(names) else [])]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def described(score: Score) -> str:
    """The title of a score with its unit and which direction is better, if known."""
    better = f"{score.better} is better" if score.sign else "direction unknown"
    return f"{score.title} ({', '.join(filter(None, (score.unit, better)))})"


COST_TITLES = {
    "trained_parameters": "trained parameters",
    "fixed_parameters": "fixed parameters",
    "bits": "bits",
    "examples": "examples",
    "updates": "updates",
    "learn_seconds": "learn s",
    "answer_seconds": "answer s",
    "compile_seconds": "compile s",
}
MODEL_TITLES = {"tokens": "tokens", "answers": "answers", "understood": "understood"}
"""Costs that only language models have."""
RUNNING_TITLES = {
    "state_bytes": "state bytes",
    "macs": "MACs a step",
    "matrix_macs": "in matrix products",
    "effective_macs": "effective MACs",
    "peak_bytes": "peak memory bytes",
}
"""What a trained learner costs to run, where it was measured (`quickstudy.learners.footprint`)."""
TERMS = (
    (
        "Interval",
        (
            "The numbers in brackets are a 95 % interval of the mean over runs: Student's t,"
            " longer on the side to which the runs are skewed, and cut at the ends of the score's"
            " range. One run has none; runs that are all alike, and medians, are shown without;"
            f" that of two or three is wide. Fewer than {FEWEST} runs, or pairs of runs, give no"
            " verdict. Where orders of magnitude count, the mean is the geometric one, and ×÷"
            " stands before the factor from it to either end."
        ),
    ),
    (
        "Scaled",
        (
            "(headline − best control) ÷ (oracle − best control): 0 is the best rule that never"
            " learns, 1 the best that can be done. The headline is the first score of a table; the"
            " best control has the best mean. Not defined without a control or an oracle, or where"
            f" the two are closer than {CLOSEST}. Runs of the same seed are compared with one"
            " another."
        ),
    ),
    ("Control", "A rule that never learns, run under the same protocol on the same data."),
    (
        "Above the best control",
        (
            "Above: the interval of the difference from every control lies above 0. Below: that"
            " from some control lies below 0 at a level corrected for their number, since the one"
            " that looks best was chosen in the same runs. Nothing is corrected for the number of"
            " learners and tasks."
        ),
    ),
    ("Oracle", "The best that can be done with what a learner is shown, run the same way."),
    (
        "Bold",
        (
            "The best learner is bold only where the interval of its difference from the next one"
            f" leaves 0 out, and both have {FEWEST} runs or more."
        ),
    ),
    (
        "Curves",
        (
            "Each run is read as a step function, on the steps of all runs together. Line and"
            " shading are the mean and its 95 % interval, at every step by itself. Where a line"
            " ends before the others, its last value holds."
        ),
    ),
    (
        "Convention",
        (
            "corrected does it right; written follows the paper's text; published repeats what"
            " produced the published numbers. Two conventions never share a table."
        ),
    ),
)
"""What the words of a report mean."""
