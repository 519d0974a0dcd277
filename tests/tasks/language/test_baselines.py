"""The reference lines of the published form, on 1200 different sequences, and what the balanced
form makes of them.
"""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.seeds import Streams
from quickstudy.tasks.sampling import draw_unique

REPETITIONS = 5


@pytest.fixture(scope="module")
def mean_accuracy(make_task, accuracy):
    cache = {}

    def measure(rule, id, convention="published", repetitions=REPETITIONS):
        task = make_task(id, convention)
        for repetition in range(repetitions):
            key = id, convention, repetition
            if key not in cache:
                cache[key] = draw_unique(task, Streams(0, id, repetition).numpy("data"), 1200)
        sets = [cache[id, convention, repetition] for repetition in range(repetitions)]
        return float(
            np.mean([accuracy(rule, task, examples, seed) for seed, examples in enumerate(sets)])
        )

    return measure


# The references are rounded (0.005) and come from one set each, the means here from five: with n
# questions a set and share a, 4 standard errors of the difference are 4 * sqrt(a (1 - a) / n * (1 +
# 1/5)).
@pytest.mark.parametrize(
    ("rule", "id", "reference", "questions"),
    [
        ("majority", "language/symbol-counting", 0.26, 2400),
        ("majority", "language/qa@1", 0.52, 1200),
        ("polarity", "language/qa@1", 0.73, 1200),
        ("polarity-count", "language/qa@1", 0.80, 1200),
        ("majority", "language/pattern-counting", 0.43, 6900),
        ("majority", "language/harder-qa@1", 0.52, 1200),
        ("polarity", "language/harder-qa@1", 0.68, 1200),
        ("polarity-count", "language/harder-qa@1", 0.81, 1200),
        ("majority", "language/world-qa@1", 0.51, 1200),
        ("polarity", "language/world-qa@1", 0.90, 1200),
        ("polarity-count", "language/world-qa@1", 0.93, 1200),
        ("majority", "language/world-qa-counting@1", 0.25, 1200),
        ("majority", "language/adjective-qa@1", 0.26, 1200),
        ("majority", "language/adjective-qa-counting@1", 0.19, 3000),
    ],
)
def test_published_references(mean_accuracy, rule, id, reference, questions):
    tolerance = 0.005 + 4 * np.sqrt(reference * (1 - reference) / questions * (1 + 1 / REPETITIONS))
    assert mean_accuracy(rule, id) == pytest.approx(reference, abs=tolerance)


def test_periodic_references(mean_accuracy):
    # All 52 sequences are always there; only the places of the first questions vary.
    assert mean_accuracy("majority", "language/periodic") == pytest.approx(0.50, abs=0.006)
    assert mean_accuracy("copy-last", "language/periodic") == pytest.approx(24 / 52, abs=0.006)


def test_copying_solves_most_of_the_increasing_period(mean_accuracy):
    assert mean_accuracy("majority", "language/increasing-period") == pytest.approx(0.50, abs=0.01)
    assert mean_accuracy("copy-last", "language/increasing-period") == pytest.approx(
        0.868, abs=0.002
    )


@pytest.mark.parametrize("id", ["language/qa@1", "language/harder-qa@1", "language/world-qa@1"])
@pytest.mark.parametrize("rule", ["majority", "polarity", "polarity-count"])
def test_balanced_form_leaves_one_half(mean_accuracy, rule, id):
    # Leaving out repetitions favours polarity-count by about 0.004, and the majority is chosen on
    # the set itself, which is worth 0.8 standard deviations of a set (0.012): both lie within the
    # second term.
    tolerance = 4 * np.sqrt(0.25 / (1200 * REPETITIONS)) + 0.012
    assert mean_accuracy(rule, id, "corrected") == pytest.approx(0.5, abs=tolerance)


def test_balanced_form_leaves_one_half_for_independent_draws(make_task, accuracy):
    task = make_task("language/qa@1")
    examples = task.sample(np.random.default_rng(0), 10000)
    for rule in ("polarity", "polarity-count"):
        assert accuracy(rule, task, examples) == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 10000))


def test_remaining_share_is_far_above_the_majority(mean_accuracy):
    assert mean_accuracy("remaining-share", "language/symbol-counting") == pytest.approx(
        0.47, abs=0.02
    )


@pytest.mark.parametrize(
    ("rule", "id", "published", "corrected"),
    [
        ("query-only", "language/pattern-counting", 0.73, 0.73),
        ("seen-or-not", "language/pattern-counting", 0.73, 0.75),
        ("question-majority", "language/world-qa-counting@1", 0.47, 0.54),
        ("verb-only", "language/world-qa-counting@1", 0.86, 0.64),
        ("question-majority", "language/adjective-qa@1", 0.44, 0.30),
        ("latest-adjective", "language/adjective-qa@1", 0.79, 0.47),
        ("verb-only", "language/adjective-qa@1", 0.94, 0.49),
        ("question-majority", "language/adjective-qa-counting@1", 0.47, 0.41),
        ("latest-adjective", "language/adjective-qa-counting@1", 0.65, 0.51),
        ("verb-only", "language/adjective-qa-counting@1", 0.90, 0.59),
    ],
)
def test_what_the_shortcuts_are_worth(mean_accuracy, rule, id, published, corrected):
    # Of one set; 4 standard errors at most.
    assert mean_accuracy(rule, id, "published", 1) == pytest.approx(
        published, abs=0.005 + 2 / np.sqrt(1200)
    )
    assert mean_accuracy(rule, id, "corrected", 1) == pytest.approx(
        corrected, abs=0.005 + 2 / np.sqrt(1200)
    )
