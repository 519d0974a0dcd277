"""Which scores a run of a task will have, known before anything is run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.study import Study
from quickstudy.base.trace import Trace
from quickstudy.runs.job import protocol_of

MAXIMUM_OF_MEAN = "maximum-of-mean-curve"
"""A score of many runs together, which no single one has."""

_SEGMENTS = 32

# The smallest traces that every measure of their kind can read: only the names of the numbers are looked at.
_SPECIMENS = {
    "learning-curve": Trace(
        "learning-curve",
        {"step": np.array([1, 2]), "accuracy": np.array([0.5, 1.0]), "evaluation": np.array([1, 2])},
        {"unit": "sequences", "constant": 0.5, "tokens_per_sequence": 1.0, "published_preset": "published-imdb"},
    ),
    "continual-curve": Trace(
        "continual-curve",
        {
            "step": np.arange(1, _SEGMENTS + 1),
            "accuracy": np.full((_SEGMENTS, _SEGMENTS), 0.75),
            "boundary": np.arange(_SEGMENTS + 1),
        },
        {"constants": [0.5] * _SEGMENTS},
    ),
}


def score_names(measures: Iterable[str]) -> list[str]:
    """The names of the numbers that some measures give; of a measure that reads no trace we know, its id."""
    names: list[str] = []
    for id in measures:
        measure = catalogue.measure.get(id)
        specimen = next((_SPECIMENS[kind] for kind in measure.kinds if kind in _SPECIMENS), None)
        names += (list(measure(specimen, "published")) if specimen else []) or [id]
    return sorted(set(names))


def check_scores(study: Study) -> None:
    """Raise UsageError for a score that the runs of some row will not have."""
    for row in study.rows:
        measures = catalogue.protocol.get(protocol_of(catalogue.task.get(row.task.partition(":")[0]))).measures
        known = [*score_names(measures), MAXIMUM_OF_MEAN]
        for score in study.scores:
            if score not in known:
                raise UsageError(f'{study.id}: {row.task} has no score "{score}"; {nearest(score, known)}')
