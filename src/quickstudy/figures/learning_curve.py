"""The pictures of tasks that are learned from sequences: learning curves, ways through a stream,
and how T(α) is read off a curve.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from quickstudy.base.blocks import (
    LEARNER,
    LOG,
    REPLAY,
    ROLES,
    Axis,
    Details,
    Guide,
    Mark,
    Panel,
    Plot,
    Plotted,
    Traced,
)
from quickstudy.base.registries import figure
from quickstudy.base.trace import Trace
from quickstudy.report.curves import SHARE, Curve, Example, example_run, learning_curve, mean_curve
from quickstudy.report.words import span

CONTINUAL_CURVE = "continual-curve"
_FEWEST_HEIGHTS = 3
"""Different T(α) below which a curve does not show how they are read off it."""

_PEOPLE = "People: right answers in a row, as a share of those that end the game."
_LINES = (
    "Solid: learners.",
    "Solid: learners.",
    _PEOPLE,
    "Dashed grey: rules that never learn.",
    "Thin grey: oracle.",
)
"""How those of each role are drawn."""


@figure("learning-curve", version=1)
def learning_curves(task: str, rows: Sequence[Traced]) -> list[Plot]:
    """The mean learning curves of all learners of a task, with their intervals."""
    found = [
        (row, curve)
        for row in rows
        if (curve := learning_curve(row.traces)) and curve.steps[-1] > 0
    ]
    if not found:
        return []
    first = found[0][1]
    counts = [curve.runs for _, curve in found]
    several = f"mean of {span(counts)} runs; shading: 95 % interval of the mean"
    mean = several if max(counts) > 1 else "one run each, so no interval"
    roles = {row.role for row, _ in found}
    lines = [said for role, said in zip(ROLES, _LINES, strict=True) if role in roles]
    if len({curve.steps[-1] for _, curve in found}) > 1:
        lines.append("Thin, after the end of a curve: its last value holds.")
    ends = ", ".join(f"{row.learner} ends at {curve.mean[-1]:.2f}" for row, curve in found)
    return [
        Plot(
            name="",
            caption=(
                f"Test {first.quantity} against training {first.unit}, {mean}."
                f" {' '.join(dict.fromkeys(lines))}"
            ),
            label=f"Learning curves on {task}: {first.quantity} against {first.unit}, {ends}.",
            x=Axis(f"training {first.unit} (logarithmic)", LOG),
            y=Axis(first.quantity, range=SHARE),
            panels=[Panel([_plotted(row.learner, row.mark, curve) for row, curve in found])],
            live=True,
        )
    ]


def _plotted(label: str, mark: Mark, curve: Curve, dots: bool = False) -> Plotted:
    """A curve on a logarithmic axis, which has no place for a step before the first."""
    shown = [index for index, step in enumerate(curve.steps) if step > 0]
    x, y, low, high = (
        [part[index] for index in shown]
        for part in (curve.steps, curve.mean, curve.low, curve.high)
    )
    return (
        Plotted(label, mark, x, y, dots=dots)
        if curve.runs == 1
        else Plotted(label, mark, x, y, low, high, dots=dots)
    )


@figure("continual-curve", version=1)
def streams(task: str, rows: Sequence[Traced]) -> list[Plot | Details]:
    """The way of every learner through a stream; the rules', and the oracle's, are folded away."""
    learning: list[Plot] = []
    folded: list[Plot] = []
    for number, row in enumerate(rows):
        runs = "one run" if len(row.traces) == 1 else f"mean of {len(row.traces)} runs"
        caption = (
            f"{row.learner}: test accuracy on every segment, {runs}; bold while that segment is"
            " learned."
        )
        if plot := stream_plot(row.traces, row.learner, task, str(number), caption):
            (learning if row.role in (LEARNER, REPLAY) else folded).append(plot)
    return [*learning, *([Details("Controls and oracles", folded)] if folded else [])]


def stream_plot(
    traces: Sequence[Trace], learner: str, task: str, name: str, caption: str
) -> Plot | None:
    """One learner in one stream: for every segment the mean accuracy of the runs, from the first
    test to the last.

    Bold while the segment is the one that is learned. Vertical lines stand where the segments of
    the first run begin. None when no trace is of a stream.
    """
    runs = [trace for trace in traces if is_stream(trace)]
    runs = [run for run in runs if run.facts["segments"] == runs[0].facts["segments"]]
    if not runs:
        return None
    names = [str(segment) for segment in runs[0].facts["segments"]]
    boundaries = [float(boundary) for boundary in runs[0].arrays["boundary"]]
    series = []
    for number, segment in enumerate(names):
        curves = [(run.arrays["step"], run.arrays["accuracy"][:, number]) for run in runs]
        if curve := mean_curve(curves, "accuracy", "sequences"):
            own = boundaries[number], boundaries[number + 1]
            series.append(
                Plotted(segment, Mark(LEARNER, number), curve.steps, curve.mean, bold=own)
            )
    if not series:
        return None
    ends = ", ".join(f"{one.label} ends at {one.y[-1]:.2f}" for one in series)
    last = max(2.0, *(float(one.x[-1]) for one in series))
    return Plot(
        name=name,
        caption=caption,
        label=(
            f"Accuracy of {learner} on every segment of {task} against training sequences: {ends}."
        ),
        x=Axis("training sequences", range=(1.0, last)),
        y=Axis("accuracy", range=SHARE),
        panels=[Panel(series, guides=[Guide(x=boundary) for boundary in boundaries[1:-1]])],
    )


def is_stream(trace: Trace) -> bool:
    """Whether a trace is of a stream, and whole: names, boundaries and accuracies of as many
    segments.
    """
    if trace.kind != CONTINUAL_CURVE or not {"step", "accuracy", "boundary"} <= set(trace.arrays):
        return False
    names, steps = trace.facts.get("segments"), trace.arrays["step"]
    if not isinstance(names, list | tuple) or not names or not len(steps):
        return False
    shapes = trace.arrays["accuracy"].shape, trace.arrays["boundary"].shape
    return shapes == ((len(steps), len(names)), (len(names) + 1,))


@figure("learning-curve/read", version=1)
def how_to_read(task: str, rows: Sequence[Traced]) -> list[Plot]:
    """How T(α) is read off the first run of the first learner whose learning curve rises; nothing
    where none does.
    """
    for row in rows:
        example = example_run(row.traces[0])
        # A flat line explains nothing: high accuracies must be reached, and later than low ones.
        if (
            example
            and len({time for time in example.times if math.isfinite(time)}) >= _FEWEST_HEIGHTS
        ):
            caption = (
                "T(α) is the first step at which the accuracy is at least α, ∞ where it never is."
                f" Here: {row.learner} on {task}, one run. A data efficiency is a weighted mean of"
                " 1/T(α)."
            )
            plot = threshold_plot(example, row.learner, task, "", caption)
            return [plot] if plot else []
    return []


def threshold_plot(
    example: Example, learner: str, task: str, name: str, caption: str
) -> Plot | None:
    """One run's learning curve, accuracies α as horizontals, and the step T(α) at which each is
    first reached.
    """
    curve = example.curve
    if curve.steps[-1] <= 0:
        return None
    reached = [
        pair for pair in zip(example.levels, example.times, strict=True) if math.isfinite(pair[1])
    ]
    # The most telling one: the highest that took some learning to reach and is not the last of all.
    later = [pair for pair in reached if pair[1] > reached[0][1]]
    chosen = later[len(later) // 2] if later else reached[-1] if reached else None
    guides = [
        (
            Guide(x=step, y=level, label=f"T({level:g}) = {step:,g}", strong=True)
            if (level, step) == chosen
            else Guide(x=step, y=level)
        )
        for level, step in reached
    ]
    guides += [Guide(y=level, label="T = ∞") for level in example.levels[len(reached) :]]
    # T is the step of an evaluation, not of the line between two: the evaluations are shown.
    line = _plotted("", Mark(), curve, dots=True)
    return Plot(
        name=name,
        caption=caption,
        label=f"How T(α) is read off a learning curve: {learner} on {task}, one run.",
        x=Axis(f"training {curve.unit} (logarithmic)", LOG),
        y=Axis(curve.quantity, range=SHARE),
        panels=[Panel([line], guides=guides)],
    )
