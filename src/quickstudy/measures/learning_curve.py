"""The measures of a learning curve, as the catalogue knows them.

They read traces of kind `learning-curve`: arrays `step` (whole, increasing, from 1) and `accuracy`,
one entry per evaluation on the test questions; facts `unit` (`sequences` or `tokens`: what a step
counts), `item` (`example` or `question`: what the learner is shown one at a time),
`tokens_per_sequence` (mean number of questions in a sequence) and `constant` (accuracy of the best
constant answer on the test questions); perhaps `training_sequences` (how many different ones there
are) and `passes` (how often they are shown), `network` (whether an update changes all of the
learner) and `batch` (sequences in one update).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.base.parameters import check_convention
from quickstudy.base.registries import measure
from quickstudy.base.trace import Trace
from quickstudy.measures import curve, wade

PUBLISHED_STRIDE = 8
"""Items between two evaluations of a readout in the published programs."""
ACCURACIES = (0.5, 0.75, 0.9)
"""The accuracies of `steps-to-accuracy`."""
SHARE = "share of test questions answered rightly"
SPAN = 10
"""Of the published smoothing."""


@measure(
    "wade",
    version=1,
    kinds=("learning-curve",),
    equation="sum of w(a) / T(a) over the thresholds a, divided by the sum of w(a); 1/inf = 0",
    chance="not 0: a constant answer right with share c from the first step scores about c squared",
    scores=(Score("wade", "WADE", wade.UNIT, "higher", (0.0, 1.0)),),
)
def data_efficiency(trace: Trace, convention: str) -> Mapping[str, float]:
    """Weighted average data efficiency: how early each accuracy is reached, from its published
    definition.

    `corrected` and `written`: the formula as printed, with thresholds 0.01, 0.02 ... 1, each its
    own weight, reached at ≥, T in training sequences for every learner. `published`: thresholds 0
    ... 0.99, reached at >; T is the number of the evaluation (one per update from 8 sequences)
    where whole sequences are shown, and 1 + (k - 1) 8 / m for evaluation k where single questions
    are shown, m being the mean number of questions in a sequence. A trace with the fact
    `published_preset` is scored by that preset, T being its array `evaluation`: on reviews,
    thresholds 0.50 ... 0.99 with weights on a line from 1 to 10. One with the fact `thresholds`, a
    person's, has so many in the formula as printed under every convention: as many as right answers
    in a row are asked for, since there is nothing between.

    Source: Cisneros, Sivic, Mikolov 2022, equation 1, and appendix A.
    """
    check_convention(convention)
    accuracy = trace.arrays["accuracy"]
    if "thresholds" in trace.facts:
        return {
            "wade": wade.paper(int(trace.facts["thresholds"])).score(trace.arrays["step"], accuracy)
        }
    if convention != "published":
        return {
            "wade": wade.paper(100, training_sequences(trace)).score(trace.arrays["step"], accuracy)
        }
    return {"wade": published_preset(trace).score(trace.arrays["step"], accuracy)}


def published_preset(trace: Trace) -> wade.Preset:
    """What scores a run in the publication: the thresholds, and its unit of time for a learner like
    this one.
    """
    if (
        "published_preset" in trace.facts
    ):  # the protocol knows which, and the published number of every evaluation
        own = wade.wade_preset(str(trace.facts["published_preset"]))
        return replace(own, time=lambda _: trace.arrays["evaluation"])
    preset = wade.published_nets()
    if trace.facts.get("item") == "question":
        # The published programs estimated m from fresh draws of the task in its default form, not
        # from training data.
        known = trace.facts.get("published_tokens_per_sequence")
        preset = wade.published_reservoirs(
            float(_fact(trace, "tokens_per_sequence") if known is None else known)
        )
    batch = int(trace.facts.get("batch", 1))
    evaluations = _published_evaluations(batch if trace.facts.get("network", batch > 1) else None)
    time = preset.time
    return replace(preset, time=lambda steps: time(evaluations(steps)))


def _published_evaluations(batch: int | None) -> curve.Times:
    """From items shown to the number of the evaluation in the published schedule.

    One evaluation comes after every update of a network, from `batch` items; for all others one
    after the first item and then one after every 8. So a curve that was tested more or less often
    has the right times too.
    """

    def number(steps: NDArray[np.float64]) -> NDArray[np.float64]:
        return (
            1 + np.ceil((steps - 1) / PUBLISHED_STRIDE) if batch is None else np.ceil(steps / batch)
        )

    return number


@measure(
    "wade-above-chance",
    version=1,
    kinds=("learning-curve",),
    equation="sum of (k/100) / T(c + (1 - c) k/100) over k = 1..100, divided by 50.5; 1/inf = 0",
    chance="0: scored by every learner that never beats the best constant answer",
    scores=(Score("wade-above-chance", "WADE above chance", wade.UNIT, "higher", (0.0, 1.0)),),
)
def data_efficiency_above_chance(trace: Trace) -> Mapping[str, float]:
    """Data efficiency above the best constant answer, each threshold to be reached twice in a row.

    The same under every convention. c is the accuracy of the best constant answer on the test
    questions; T is counted in training sequences. A lucky first guess earns nothing: see
    `above_chance` for the reasons. nan where c = 1.

    Source: ours, after Cisneros, Sivic, Mikolov 2022, equation 1.
    """
    constant = float(_fact(trace, "constant"))
    steps, accuracy = trace.arrays["step"], trace.arrays["accuracy"]
    return {
        "wade-above-chance": wade.wade_above_chance(
            steps, accuracy, constant, training_sequences(trace)
        )
    }


@measure(
    "accuracy",
    version=1,
    kinds=("learning-curve",),
    equation="a(last step); maximum of a over the steps",
    chance="the accuracy of the best constant answer, a fact of the trace",
    scores=(
        Score("final-accuracy", unit=SHARE, better="higher", range=(0.0, 1.0)),
        Score("maximum-accuracy", unit=SHARE, better="higher", range=(0.0, 1.0)),
    ),
)
def accuracies(trace: Trace) -> Mapping[str, float]:
    """Test accuracy at the end of training, and the highest on the way.

    The highest is chosen on the test itself, so it is too favourable; published tables often give
    it.
    """
    steps, accuracy = trace.arrays["step"], trace.arrays["accuracy"]
    return {
        "final-accuracy": curve.final_accuracy(steps, accuracy),
        "maximum-accuracy": curve.maximum_accuracy(steps, accuracy),
    }


@measure(
    "steps-to-accuracy",
    version=1,
    kinds=("learning-curve",),
    equation=(
        "T(a) = the first step at which accuracy is at least a, for a = 0.5, 0.75, 0.9; inf if"
        " never"
    ),
    chance="inf above the accuracy of the best constant answer, 1 up to it",
    scores=tuple(
        Score(
            f"steps-to-{level}",
            unit="training sequences",
            better="lower",
            range=(1.0, math.inf),
            shown="median",
            least=1.0,
            words={"inf": "never"},
        )
        for level in ACCURACIES
    ),
)
def steps_to_accuracy(trace: Trace) -> Mapping[str, float]:
    """Training sequences until the test accuracy first is 0.5, 0.75 and 0.9; inf when it never
    is.
    """
    steps, accuracy = trace.arrays["step"], trace.arrays["accuracy"]
    times = curve.threshold_times(steps, accuracy, ACCURACIES, time=training_sequences(trace))
    return {f"steps-to-{level}": float(time) for level, time in zip(ACCURACIES, times, strict=True)}


@measure(
    "log-area",
    version=2,
    kinds=("learning-curve",),
    equation=(
        "integral of a d(log t) from t = 1 to N, divided by log N; a = c before the first test"
    ),
    chance="c, the accuracy of the best constant answer, a fact of the trace",
    scores=(
        Score(
            "log-area",
            "accuracy over log data",
            "mean accuracy over the logarithm of the training sequences",
            better="higher",
            range=(0.0, 1.0),
        ),
    ),
)
def area(trace: Trace) -> Mapping[str, float]:
    """Mean test accuracy over the logarithm of the data, from the first training sequence to the
    last one shown.

    Every doubling of the data counts the same: of 960 sequences the first ten are a third, the last
    half a tenth. So a learner that is slow at first and ends well is distinguished from one that
    never learns, which a mean of 1/T hardly does.

    N is the number of training sequences shown, every pass counted (`training_sequences` times
    `passes` of the trace). It follows from the task and the passes, not from when a learner happens
    to be tested: all that make one pass have the window 1 to 960, all that make ten 1 to 9,600, and
    the two are ranked apart. Before the first test (after 8 sequences, for a learner that takes 8
    an update) the accuracy is c, that of the best constant answer to the test questions; between
    two tests it runs straight over log t, and after the last it stays. Where single questions are
    shown (the published order of readouts), t is the questions over their mean number in a
    sequence, 1 at least. The same under every convention. Version 1 ran from the first test to the
    last, a window of each learner's own.

    Source: ours.
    """
    window = {"before": float(_fact(trace, "constant")), "end": sequences_shown(trace)}
    steps, accuracy = trace.arrays["step"], trace.arrays["accuracy"]
    return {"log-area": curve.log_area(steps, accuracy, **window, time=training_sequences(trace))}


def sequences_shown(trace: Trace) -> float:
    """How many training sequences are shown in all, every pass counted."""
    last = float(
        training_sequences(trace)(np.asarray(trace.arrays["step"][-1:], dtype=np.float64))[0]
    )
    there = trace.facts.get("training_sequences")
    if there is None:  # a curve from elsewhere ends with its last test
        return last
    # Traces of earlier versions do not say their passes; the last test is never half a pass from
    # the end.
    return float(there) * float(trace.facts.get("passes") or max(1, round(last / float(there))))


def training_sequences(trace: Trace) -> curve.Times:
    """From the trace's steps to training sequences; a part of a first sequence counts as one."""
    unit = _fact(trace, "unit")
    if unit == "sequences":
        return curve.step_itself
    if unit != "tokens":
        raise UsageError(f'a learning curve counts its steps in sequences or tokens, got "{unit}"')
    tokens = float(_fact(trace, "tokens_per_sequence"))
    if not 0 < tokens < np.inf:
        raise UsageError(f"tokens_per_sequence must be a number above 0, got {tokens}")

    def whole(steps: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(1.0, steps / tokens)

    return whole


def _fact(trace: Trace, name: str) -> Any:
    if name not in trace.facts:
        raise UsageError(
            f'the learning curve has no fact "{name}"; the protocol that made it must state it'
        )
    return trace.facts[name]


@measure(
    "wade-smoothed",
    version=1,
    kinds=("learning-curve",),
    equation="wade of s, where s(1) = a(1) and s(i) = 9/11 s(i - 1) + 2/11 a(i)",
    chance="not 0: as that of wade",
    scores=(Score("wade-smoothed", "WADE of the smoothed curve", wade.UNIT, "higher", (0.0, 1.0)),),
)
def smoothed_efficiency(trace: Trace, convention: str) -> Mapping[str, float]:
    """Data efficiency of the smoothed curve: how the published linear model on reviews was scored,
    and nothing else.

    An exponential moving average of span 10 that starts at the first accuracy, then the published
    WADE for reviews. For the convention `published` and a curve with every published test only:
    there is no number otherwise.

    That it starts there is inferred. The published number is 0.0374 with a spread over runs of
    0.0075; 12 runs here give 0.034 with 0.008, while the same average with weights that are
    normalised from the start gives 0.044 with 0.021, and no smoothing 0.084 with 0.048.

    Source: the programs of Cisneros, Sivic, Mikolov 2022, Table 2, column Linear.
    """
    check_convention(convention)
    evaluations = trace.arrays.get("evaluation")
    if (
        convention != "published"
        or evaluations is None
        or (np.diff(evaluations, prepend=0) != 1).any()
    ):
        return {}
    preset = wade.wade_preset(str(trace.facts["published_preset"]))
    return {
        "wade-smoothed": preset.score(evaluations, exponential_mean(trace.arrays["accuracy"], SPAN))
    }


def exponential_mean(values: ArrayLike, span: int) -> NDArray[np.float64]:
    """The running mean that starts at the first value and then moves 2/(span + 1) of the way to
    each further one.

    >>> exponential_mean([1.0, 0.0, 0.0], 3).tolist()
    [1.0, 0.5, 0.25]
    """
    part = 2 / (span + 1)
    accuracies = np.asarray(values, dtype=np.float64).tolist()
    return np.array(
        list(itertools.accumulate(accuracies, lambda mean, now: mean + part * (now - mean)))
    )
