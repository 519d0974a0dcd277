"""Scores by name: which measure a score belongs to, and whether the runs of a task will have it."""

from __future__ import annotations

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.measure import Measure
from quickstudy.base.study import Study
from quickstudy.runs.job import protocol_of

MAXIMUM_OF_MEAN = "maximum-of-mean-curve"
"""A score of many runs together, which no single one has."""


def measure_of(score: str) -> Measure | None:
    """The measure that gives a score; None for one that is not known."""
    if score in catalogue.measure:
        return catalogue.measure.get(score)
    measures = map(catalogue.measure.get, catalogue.measure.names())
    return next((measure for measure in measures if measure.gives(score)), None)


def check_scores(study: Study) -> None:
    """Raise UsageError for a score that the runs of some row will not have."""
    for row in (row for row in study.rows if row.learners):
        protocol = catalogue.protocol.get(protocol_of(catalogue.task.get(row.task.partition(":")[0])))
        measures = [catalogue.measure.get(id) for id in (*protocol.measures, *study.measures)]
        for score in study.scores:
            if score != MAXIMUM_OF_MEAN and not any(measure.gives(score) for measure in measures):
                known = [*(name for measure in measures for name in measure.scores), MAXIMUM_OF_MEAN]
                raise UsageError(f'{study.id}: {row.task} has no score "{score}"; {nearest(score, known)}')
