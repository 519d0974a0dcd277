"""Which questions of an exam were answered rightly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault
from quickstudy.base.lesson import Exam


def right_answers(scores: Any, exam: Exam) -> NDArray[np.bool_]:
    """(lane, question): where the largest score is that of the right symbol; False in the padding.

    Raises LearnerFault for scores of a wrong shape, or not finite.
    """
    lanes, questions = exam.counted.shape
    if scores.ndim != 3 or scores.shape[:2] != (lanes, questions):
        raise LearnerFault(f"answer must give scores of shape ({lanes}, {questions}, outputs), got {scores.shape}")
    scores = np.asarray(scores)
    if not np.isfinite(scores).all():
        raise LearnerFault("the learner's scores are not finite: it has diverged")
    return np.asarray((scores.argmax(axis=-1) == exam.targets) & exam.counted)
