"""A picture of learning in a stream: the accuracy on every segment all along, and where each segment begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.trace import Trace
from quickstudy.report.markup import escape, tag
from quickstudy.report.pictures import COLOURS, Format
from quickstudy.report.svg import Frame, axes, points, shorten, spread, text

KIND = "continual-curve"
_LETTER = 6.7
"""Width of a letter of a label in pixels, on the safe side."""
_FEWEST_TICKS = 4


@dataclass(frozen=True)
class StreamFrame(Frame):
    """A frame whose steps run linearly: every part of a stream is as wide as it is long."""

    def x(self, step: float) -> float:
        """Where a step lies; steps outside lie at the edge."""
        share = (step - self.first) / (self.last - self.first)
        return self.left + self.width * min(max(share, 0.0), 1.0)

    def ticks(self) -> list[tuple[float, bool]]:
        """Round steps, four to ten of them, all alike."""
        power = 10.0 ** math.floor(math.log10(self.last))
        unit = next(part for part in (power, power / 2, power / 5, power / 10) if self.last / part >= _FEWEST_TICKS)
        return [(number * unit, True) for number in range(1, math.floor(self.last / unit) + 1)]


def stream_picture(traces: Sequence[Trace], learner: str, task: str, form: Format) -> str:
    """One learner in one stream: for every segment the mean accuracy of the runs, from the first test to the last.

    Bold while the segment is the one that is learned. Vertical lines stand where the segments of the first run begin.
    Nothing when no trace is of a stream.
    """
    runs = [trace for trace in traces if is_stream(trace)]
    runs = [run for run in runs if run.facts["segments"] == runs[0].facts["segments"]]
    if not runs:
        return ""
    names = [str(name) for name in runs[0].facts["segments"]]
    boundaries = [float(boundary) for boundary in runs[0].arrays["boundary"]]
    steps, means = _mean(runs)
    labels = [shorten(name, form.letters) for name in names]
    margin = 34 + _LETTER * max(map(len, labels))
    last = max(float(steps[-1]), 2.0)
    frame = StreamFrame(46.0, 30.0, form.width - 46.0 - margin, form.height - 30.0 - 50.0, 1.0, last)
    ends = [f"{name} ends at {value:.2f}" for name, value in zip(names, means[-1], strict=True)]
    label = f"Accuracy of {learner} on every segment of {task} against training sequences: {', '.join(ends)}."
    return tag(
        "svg",
        tag("title", escape(label)),
        axes(frame, "training sequences", "accuracy"),
        *(_boundary(boundary, frame) for boundary in boundaries[1:-1]),
        *(
            _curve(name, number, steps, means[:, number], boundaries[number : number + 2], frame)
            for number, name in enumerate(names)
        ),
        _labels(names, labels, means[-1].tolist(), frame),
        class_=f"plot stream {form.name}",
        viewBox=f"0 0 {form.width} {form.height}",
        role="img",
        aria_label=label,
    )


def is_stream(trace: Trace) -> bool:
    """Whether a trace is of a stream, and whole: names, boundaries and accuracies of as many segments."""
    if trace.kind != KIND or not {"step", "accuracy", "boundary"} <= set(trace.arrays):
        return False
    names, steps = trace.facts.get("segments"), trace.arrays["step"]
    if not isinstance(names, list | tuple) or not names or not len(steps):
        return False
    shapes = trace.arrays["accuracy"].shape, trace.arrays["boundary"].shape
    return shapes == ((len(steps), len(names)), (len(names) + 1,))


def _mean(runs: Sequence[Trace]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Common steps, and the mean accuracy (step, segment) there; a test holds until the next."""
    steps = np.unique(np.concatenate([run.arrays["step"] for run in runs]))
    first = max(run.arrays["step"][0] for run in runs)
    steps = steps[steps >= first]
    held = [run.arrays["accuracy"][np.searchsorted(run.arrays["step"], steps, side="right") - 1] for run in runs]
    return steps.astype(np.float64), np.mean(held, axis=0)


def _boundary(step: float, frame: StreamFrame) -> str:
    x = frame.x(step)
    return tag("line", class_="axis boundary", x1=x, x2=x, y1=frame.top, y2=frame.top + frame.height)


def _curve(
    name: str,
    number: int,
    steps: NDArray[np.float64],
    values: NDArray[np.float64],
    ends: Sequence[float],
    frame: StreamFrame,
) -> str:
    line = [(frame.x(step), frame.y(value)) for step, value in zip(steps, values, strict=True)]
    own = [pair for step, pair in zip(steps, line, strict=True) if ends[0] < step <= ends[1]]
    parts = [tag("title", escape(name)), tag("polyline", class_="line", points=points(line))]
    if len(own) > 1:
        parts.append(tag("polyline", class_="line own", points=points(own), style="stroke-width: 4"))
    return tag("g", *parts, class_=f"curve {_colour(number)}")


def _labels(names: Sequence[str], labels: Sequence[str], ends: Sequence[float], frame: StreamFrame) -> str:
    edge = frame.left + frame.width
    wanted = [frame.y(value) for value in ends]
    places = spread(wanted, 15, frame.top, frame.top + frame.height)
    parts = []
    for number, (end, place) in enumerate(zip(wanted, places, strict=True)):
        leader = points([(edge + 2, end), (edge + 10, place), (edge + 20, place)])
        parts.append(
            tag(
                "g",
                tag("title", escape(names[number])),
                tag("polyline", class_="leader", points=leader),
                text(labels[number], edge + 24, place + 4, class_="label"),
                class_=_colour(number),
            )
        )
    return tag("g", *parts, class_="labels")


def _colour(number: int) -> str:
    return f"c{number % COLOURS + 1}" + (" again" if number >= COLOURS else "")
