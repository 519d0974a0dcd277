"""The measures of a stream: what is known at the end, what was forgotten, what helped, how fast
each part was learned.

They read traces of kind `continual-curve`: arrays `step` (whole, increasing, from 1), `accuracy`
(step, segment) on the held-out questions of every segment, and `boundary` (segment + 1: steps
before each segment begins, and in all), at whose every entry but the first there is a test; facts
`constants` (the accuracy of the best constant answer on each segment's questions). All are the same
under every convention.

In the equations K is the number of segments, b(k) the end of segment k with b(0) = 0, a(t, k) the
accuracy on segment k after t training sequences, and c(k) that of the best constant answer. A mean
over no segment is nan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace
from quickstudy.measures import wade

KIND = "continual-curve"
SHARE = "share of test questions answered rightly, mean over segments"
WITHIN = "share of the greatest possible efficiency, mean over segments"


@dataclass(frozen=True, eq=False)
class StreamCurve:
    """A trace that has been looked through. ends: (segment end, segment) accuracy on each segment
    when each ends.
    """

    steps: NDArray[np.int64]
    accuracy: NDArray[np.float64]
    boundaries: NDArray[np.int64]
    constants: NDArray[np.float64]
    ends: NDArray[np.float64]

    @classmethod
    def of(cls, trace: Trace) -> StreamCurve:
        """Raises UsageError for a trace that is not a curve of a stream."""
        if "constants" not in trace.facts:
            raise UsageError(
                'the stream has no fact "constants"; the protocol that made it must state it'
            )
        steps, accuracy = (
            np.asarray(trace.arrays["step"]),
            np.asarray(trace.arrays["accuracy"], dtype=np.float64),
        )
        boundaries = np.asarray(trace.arrays["boundary"])
        constants = np.asarray(trace.facts["constants"], dtype=np.float64)
        segments = len(boundaries) - 1
        if (
            segments < 1
            or accuracy.shape != (len(steps), segments)
            or constants.shape != (segments,)
        ):
            raise UsageError(
                f"accuracies must be (tests, segments) = ({len(steps)}, {segments}) with {segments}"
                f" constants, got {accuracy.shape} with {len(constants)}"
            )
        if (
            not np.isin(boundaries[1:], steps).all()
            or steps[-1] != boundaries[-1]
            or (np.diff(boundaries) < 1).any()
        ):
            raise UsageError(
                f"there must be a test at the end of every segment: {boundaries[1:].tolist()}"
            )
        return cls(
            steps, accuracy, boundaries, constants, accuracy[np.searchsorted(steps, boundaries[1:])]
        )

    @property
    def final(self) -> NDArray[np.float64]:
        """(segment,): accuracy when all is over."""
        return np.asarray(self.ends[-1])

    @property
    def learned(self) -> NDArray[np.float64]:
        """(segment,): accuracy on each segment when it has just ended."""
        return np.diag(self.ends)

    def within(self, segment: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The learning curve of a segment while it lasts; steps are counted from its start."""
        start, end = self.boundaries[segment : segment + 2]
        inside = (self.steps > start) & (self.steps <= end)
        return self.steps[inside] - start, self.accuracy[inside, segment]


@measure(
    "average-accuracy",
    version=1,
    kinds=(KIND,),
    equation="mean of a(b(K), k) over the segments k = 1..K",
    chance=(
        "the mean of the best constant answers c(k), facts of the trace; one constant answer to all"
        " gets less"
    ),
    scores=(Score("average-accuracy", "average accuracy at the end", SHARE, "higher", (0.0, 1.0)),),
)
def average_accuracy(trace: Trace) -> Mapping[str, float]:
    """Accuracy at the end of the stream, averaged over its segments: what is known when all is
    over.

    Source: Lopez-Paz and Ranzato 2017 (ACC); Chaudhry et al. 2018 (average accuracy).
    """
    return {"average-accuracy": float(StreamCurve.of(trace).final.mean())}


@measure(
    "learned-accuracy",
    version=1,
    kinds=(KIND,),
    equation="mean of a(b(k), k) over the segments k = 1..K",
    chance="the mean of the best constant answers c(k), facts of the trace",
    scores=(Score("learned-accuracy", "learned", SHARE, "higher", (0.0, 1.0)),),
)
def learned_accuracy(trace: Trace) -> Mapping[str, float]:
    """Accuracy on each segment when it has just ended, averaged: what can be forgotten.

    A learner that learns nothing forgets nothing; this number tells it from one that keeps what it
    has learned. Source: Riemer et al. 2019 (learning accuracy).
    """
    return {"learned-accuracy": float(StreamCurve.of(trace).learned.mean())}


@measure(
    "forgetting",
    version=1,
    kinds=(KIND,),
    equation="mean over k = 1..K-1 of: maximum of a(b(j), k) over j = k..K, minus a(b(K), k)",
    chance="0 for a non-learning control; read it next to the learned accuracy",
    scores=(
        Score("forgetting", "forgotten", "accuracy lost, mean over segments", "lower", (0.0, 1.0)),
    ),
)
def forgetting(trace: Trace) -> Mapping[str, float]:
    """How much accuracy is lost between a segment's best time and the end of the stream.

    Source: Chaudhry et al. 2018. They take the maximum over the ends of all tasks before the last,
    also of those before the task itself; here only from the segment's own end on, so that luck
    before anything was learned is not held against a learner, and up to the last, so that it is
    never negative (gains are in `backward-transfer`). Only the ends of segments count: the maximum
    of many noisy tests would be forgetting by itself. nan for one segment.
    """
    curve = StreamCurve.of(trace)
    segments = range(len(curve.final) - 1)
    lost = [curve.ends[segment:, segment].max() - curve.final[segment] for segment in segments]
    return {"forgetting": _mean(lost)}


@measure(
    "backward-transfer",
    version=1,
    kinds=(KIND,),
    equation="mean of a(b(K), k) - a(b(k), k) over k = 1..K-1",
    chance="0 for a learner that never learns",
    scores=(
        Score(
            "backward-transfer",
            "gained afterwards",
            "accuracy gained, mean over segments",
            "higher",
            (-1.0, 1.0),
        ),
    ),
)
def backward_transfer(trace: Trace) -> Mapping[str, float]:
    """What learning the later segments does to the earlier ones: above 0 they help, below 0 they
    are forgotten.

    Source: Lopez-Paz and Ranzato 2017 (BWT). nan for one segment.
    """
    curve = StreamCurve.of(trace)
    return {"backward-transfer": _mean((curve.final - curve.learned)[:-1])}


@measure(
    "forward-transfer",
    version=1,
    kinds=(KIND,),
    equation="mean of a(b(k-1), k) - c(k) over k = 2..K",
    chance=(
        "0 for the best constant answer to each segment; minus the mean of c(k) for one that is"
        " never right"
    ),
    scores=(
        Score(
            "forward-transfer",
            "known before",
            "accuracy above the best constant answer, mean over segments",
            "higher",
            (-1.0, 1.0),
        ),
    ),
)
def forward_transfer(trace: Trace) -> Mapping[str, float]:
    """The accuracy on a segment just before it begins, above the best constant answer to its
    questions.

    Source: after Lopez-Paz and Ranzato 2017 (FWT). They subtract the accuracy of the untrained
    learner, which with many words is near 0, so that merely having learned which words are answers
    counts as transfer; the best constant answer is the stricter zero and needs no second run. Where
    earlier segments have other answers it is below 0: compare it between learners, or look at
    `wade-within`, which shows whether the segment is then learned faster. nan for one segment.
    """
    curve = StreamCurve.of(trace)
    before = np.diag(curve.ends, 1)
    return {"forward-transfer": _mean(before - curve.constants[1:])}


@measure(
    "wade-within",
    version=1,
    kinds=(KIND,),
    equation=(
        "mean over k of: sum of (i/100) / T(c(k) + (1 - c(k)) i/100) over i = 1..100, divided by"
        " 50.5, with T counted from b(k-1)"
    ),
    chance="0: scored by every learner that never beats the best constant answer",
    scores=(
        Score("wade-within", "WADE within segments", WITHIN, "higher", (0.0, 1.0)),
        Score("wade-within-*", "WADE within segment", WITHIN, "higher", (0.0, 1.0)),
    ),
)
def wade_within(trace: Trace) -> Mapping[str, float]:
    """Data efficiency above the best constant answer within each segment, time counted from the
    segment's start.

    `wade-within` is the mean, `wade-within-1`, `wade-within-2` ... are those of the segments; a
    segment with c = 1 is nan and not in the mean. Compare a segment's with that of a stream that
    begins with the same task: a segment learned faster after other tasks has a higher one. An
    accuracy reached before the segment begins counts as reached at its first test. Source: ours, as
    `wade-above-chance` after Cisneros, Sivic, Mikolov 2022, equation 1.
    """
    curve = StreamCurve.of(trace)
    scores = [
        wade.wade_above_chance(*curve.within(segment), float(constant))
        for segment, constant in enumerate(curve.constants)
    ]
    defined = [score for score in scores if not np.isnan(score)]
    each = {f"wade-within-{number}": score for number, score in enumerate(scores, start=1)}
    return {"wade-within": _mean(defined), **each}


def _mean(values: NDArray[np.float64] | list[float]) -> float:
    return float(np.mean(values)) if len(values) else float("nan")
