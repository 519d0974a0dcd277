"""The scores of a study: whether the runs of its tasks will have them."""

from __future__ import annotations

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.measure import Score
from quickstudy.base.study import Study
from quickstudy.runs.job import protocol_of

MAXIMUM_OF_MEAN = "maximum-of-mean-curve"
"""A score of many runs together, which no single one has."""
MEAN_CURVE = Score(
    MAXIMUM_OF_MEAN,
    "maximum of the mean curve",
    "share of test questions answered rightly",
    better="higher",
    range=(0.0, 1.0),
)


def check_scores(study: Study) -> None:
    """Raise UsageError for a score that the runs of some row will not have."""
    for row in (row for row in study.rows if row.learners):
        protocol = catalogue.protocol.get(protocol_of(catalogue.task.get(row.task.partition(":")[0])))
        measures = [catalogue.measure.get(id) for id in (*protocol.measures, *study.measures)]
        for score in study.scores:
            if score != MAXIMUM_OF_MEAN and not any(measure.gives(score) for measure in measures):
                known = [*(one.name for measure in measures for one in measure.scores), MAXIMUM_OF_MEAN]
                raise UsageError(f'{study.id}: {row.task} has no score "{score}"; {nearest(score, known)}')
