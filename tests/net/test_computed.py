"""What is computed of numbers and of machines, on fixed input: statistics of reports, complexities,
description lengths, certificates. These have no version, since no record holds them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from known_machines import alternating, delay, drawn, even, golden_mean, parity, sticky
from quickstudy import machines
from quickstudy.stats import intervals, paired, ranks

RUNS = [0.31, 0.42, 0.44, 0.47, 0.52, 0.91]
OTHERS = [0.33, 0.37, 0.40, 0.41, 0.55, 0.60]
LONGER = [*RUNS, 0.38, 0.49, 0.57, 0.63]
CURVES = [[0.1 * run + step / 10 for step in range(4)] for run in RUNS]
GENERATORS = {"golden mean": golden_mean, "even": even, "alternating": alternating}
CHANNELS = {"delay of two": partial(delay, 2), "parity": partial(parity, {0: 1})}
KNOWN = {**GENERATORS, **CHANNELS}


def chances() -> np.random.Generator:
    return np.random.default_rng(7)


def reconstruction() -> dict[str, Any]:
    found = machines.reconstructed(drawn(even(), 4000))
    return {"figures": found.figures(), "moves": found.moves, "counts": found.counts}


def compared() -> dict[str, Any]:
    """Of every two machines with an input."""
    first, second = (make() for make in CHANNELS.values())
    found = machines.step(first, second)
    return {"step": list(found), "resemblance": machines.resemblance(first, second)}


COMPUTED: dict[str, Callable[[], Any]] = {
    "stats mean_interval": lambda: list(intervals.mean_interval(RUNS)),
    "stats student_interval": lambda: list(intervals.student_interval(RUNS)),
    "stats median_interval": lambda: list(intervals.median_interval(LONGER)),
    "stats combined_interval": lambda: list(intervals.combined_interval([RUNS, OTHERS], [1, -1])),
    "stats mean_band": lambda: list(intervals.mean_band(CURVES)),
    "stats student_quantile": lambda: [intervals.student_quantile(n) for n in (1, 5, 30)],
    "stats summarise": lambda: vars(intervals.summarise(LONGER)),
    "stats paired_permutation_test": lambda: [
        vars(paired.paired_permutation_test(RUNS, OTHERS, rng=chances())),
        vars(paired.paired_permutation_test(LONGER * 2, RUNS * 3 + OTHERS[:2], rng=chances())),
    ],
    "stats stratified_sign_flips": lambda: [
        vars(paired.stratified_sign_flips([RUNS, [-0.1, 0.3]], rng=chances())),
        vars(paired.stratified_sign_flips([RUNS, OTHERS, [-0.1] * 6], rng=chances())),
    ],
    "stats signed_ranks": lambda: paired.signed_ranks(RUNS, OTHERS),
    "stats cohens_d_paired": lambda: paired.cohens_d_paired(RUNS, OTHERS),
    "stats cliffs_delta": lambda: paired.cliffs_delta(RUNS, OTHERS),
    "stats holm": lambda: paired.holm([0.03, 0.01, 0.02, 0.5]),
    "stats ranking": lambda: vars(ranks.ranking([[3, 2, 1], [3, 1, 2], [3, 2, 2], [1, 3, 2]])),
    "stats improvement": lambda: list(ranks.improvement([(RUNS, OTHERS)], chances(), 200)),
    "stats performance_profile": lambda: ranks.performance_profile(
        {"one": RUNS, "other": OTHERS}, [0.35, 0.45, 0.6]
    ),
    "machines complexity": lambda: {
        name: [machines.complexity(make()), machines.topological(make())]
        for name, make in KNOWN.items()
    },
    "machines entropy_rate": lambda: {
        name: machines.entropy_rate(make()) for name, make in KNOWN.items()
    },
    "machines excess_entropy": lambda: {
        name: machines.excess_entropy(make()) for name, make in GENERATORS.items()
    },
    "machines channel": lambda: {
        name: list(machines.channel(make())) for name, make in CHANNELS.items()
    },
    "machines stationary": lambda: machines.stationary(sticky()),
    "machines description_length": lambda: {
        name: machines.description_length(make()) for name, make in KNOWN.items()
    },
    "machines reconstructed": reconstruction,
    "machines step": compared,
    "machines rank_correlation": lambda: list(
        machines.rank_correlation([1.0, 3.0, 2.0, 5.0, 4.0], permutations=100)
    ),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_computed(name, expected):
    expected.check("computed", name, {name: None}, COMPUTED[name]())


def test_no_other_numbers_are_stored(expected):
    expected.names("computed", COMPUTED)
