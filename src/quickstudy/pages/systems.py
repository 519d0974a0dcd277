"""Pictures of the systems themselves: their series against time, their phase planes, a field along
a line. Nothing is run for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.blocks import (
    CONTROL,
    LINE,
    Axis,
    Block,
    Cloud,
    Made,
    Mark,
    Panel,
    Plot,
    Plotted,
    Volume,
)
from quickstudy.base.errors import UsageError
from quickstudy.base.registries import block
from quickstudy.base.seeds import Streams
from quickstudy.base.study import StudyRow
from quickstudy.base.text import named
from quickstudy.figures.predictions import thinned
from quickstudy.pages.study_request import Request, Stage
from quickstudy.runs.run_spec import make_task

Floats = NDArray[np.float64]


class Drawn:
    """A block that is drawn from tasks: it needs no runs, and the page is all there is to see."""

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """Nothing is run. Raises UsageError for a task that does not exist, or whose data is not
        here.
        """
        for row in request.rows:
            make_task(row.task, request.convention)
        return iter(())


def task_of(request: Request, row: StudyRow) -> tuple[Any, np.random.Generator]:
    """The task of a row, and the random numbers of the first repetition of it."""
    return make_task(row.task, request.convention), Streams(
        request.root, row.task.partition(":")[0], 0
    ).numpy("data")


@block("series", version=1)
class SeriesBlock(Drawn):
    """Series against time, a picture for each column of each row.

    Settings: `show`: `whole` (all that was measured, as it was measured), `driven` (what systems
    answer to one input uniform in 0 .. `high`, the same for all rows, after `transient` steps) or
    `both` (what is read and what is asked for, in one picture). `first`, `steps`: the part that is
    shown. `scaled`: each column of that part is brought to -0.5 .. 0.5 by its least and greatest
    value. `unit`: what the horizontal axis counts.
    """

    def blocks(self, request: Request) -> Made:
        """The pictures, and how many values there are in each."""
        settings = request.study.settings
        show = str(settings.get("show", "whole"))
        made = {"whole": _measured, "driven": _driven, "both": _both}
        if show not in made:
            raise UsageError(
                f'{request.study.id}: settings: show must be {", ".join(made)}, got "{show}"'
            )
        plots = list(made[show](request, settings))
        return Made(plots, {"pictures": {plot.name: max(len(plot.data) - 1, 0) for plot in plots}})


def _cut(values: Floats, settings: Mapping[str, Any]) -> tuple[int, Floats]:
    first = int(settings.get("first", 0))
    part = values[first : first + int(settings.get("steps", len(values)))]
    if not len(part):
        raise UsageError(
            f"the series has {len(values)} values, and none from {first} on; give an earlier first"
        )
    return first, part


def _measured(request: Request, settings: Mapping[str, Any]) -> Iterator[Plot]:
    for row in request.rows:
        task, _ = task_of(request, row)
        first, part = _cut(np.asarray(task.whole()), settings)
        for column, values in zip(task.columns, part.T, strict=True):
            words = column.replace("_", " ")
            if settings.get("scaled"):
                values = (values - values.min()) / (np.ptp(values) or 1.0) - 0.5
            x, y = thinned(values)
            how = (
                ", brought to -0.5 .. 0.5 by the least and the greatest of these"
                if settings.get("scaled")
                else ""
            )
            spread = f"from {values.min():.4g} to {values.max():.4g}, mean {values.mean():.4g}"
            yield Plot(
                name=f"{request.name}-{named(f'{row.label} {column}')}",
                caption=(
                    f"{row.label}: {words}, {len(values):,} values from number {first:,} on{how}."
                ),
                label=f"{words} of {row.label}: {spread}.",
                x=Axis(str(settings.get("unit", "steps"))),
                y=Axis(words),
                panels=[Panel([Plotted(words, Mark(), [first + place for place in x], y)])],
                data=[
                    ("step", column),
                    *((first + place, value) for place, value in enumerate(values.tolist())),
                ],
                direct=False,
            )


def _driven(request: Request, settings: Mapping[str, Any]) -> Iterator[Plot]:
    high = float(settings.get("high", 0.5))
    transient, steps = (
        int(settings.get(name, usual)) for name, usual in (("transient", 500), ("steps", 200))
    )
    rng = Streams(request.root, request.study.id, 0).numpy("data")
    found: dict[str, Floats] = {}
    for _ in range(100):  # an input that makes one of them diverge is resampled
        inputs = rng.uniform(0.0, high, (transient + steps, 1))
        try:
            found = {
                row.label: task_of(request, row)[0].response(inputs)[-steps:, 0]
                for row in request.rows
            }
            break
        except UsageError:
            continue
    if not found:
        raise UsageError(
            f"{request.study.id}: every input in 0 .. {high} made one of the systems diverge"
        )
    time = list(map(float, range(steps)))
    panels = [
        Panel([Plotted(label, Mark(number=number), time, values.tolist())], label)
        for number, (label, values) in enumerate(found.items())
    ]
    shown = inputs[-steps:, 0]
    panels.append(
        Panel([Plotted("input", Mark(CONTROL), time, shown.tolist())], "the input of all of them")
    )
    spans = ", ".join(
        f"{label} {values.min():.2f} to {values.max():.2f}" for label, values in found.items()
    )
    yield Plot(
        name=f"{request.name}-series",
        caption=(
            f"{steps} steps after a transient of {transient}, under one input uniform in 0 .."
            f" {high}."
        ),
        label=f"Answers of driven systems: {spans}.",
        x=Axis("steps"),
        y=Axis("x(t+1), and u(t)"),
        panels=panels,
        direct=False,
    )


def _both(request: Request, settings: Mapping[str, Any]) -> Iterator[Plot]:
    for row in request.rows:
        task, rng = task_of(request, row)
        series = task.drive(rng)
        first, read = _cut(series.inputs[:, 0], settings)
        asked = series.targets[first : first + len(read), 0]
        time = [float(first + place) for place in range(len(read))]
        lines = [
            Plotted("what is asked for", Mark(), time, asked.tolist(), dots=True),
            Plotted("what is read", Mark(number=1), time, read.tolist(), dots=True),
        ]
        yield Plot(
            name=f"{request.name}-{named(row.label)}",
            caption=(
                f"{row.label}: what a learner reads, and what it is asked for, {len(read)} steps."
            ),
            label=f"Input and target of {row.task}.",
            x=Axis(str(settings.get("unit", "steps"))),
            y=Axis("value"),
            panels=[Panel(lines)],
            direct=False,
        )


@block("phase-planes", version=1)
class PhasePlanes(Drawn):
    """Paths of systems through their space. Of an oscillator that can be forced, one without force
    from each of the settings' `starts`; of a delay equation x(t - delay) against x(t), `delays`
    delays long after a transient of 100 time units; of a flow its first three coordinates.
    """

    def blocks(self, request: Request) -> list[Block]:
        """A plot of all rows that have two coordinates, one for each that has three."""
        made: list[Block] = []
        panels: list[Panel] = []
        titles = ("x", "y")
        for row in request.rows:
            task, rng = task_of(request, row)
            if hasattr(task, "moved"):
                panels += list(_unforced(task, request.study.settings))
                titles = ("x", "x'")
            elif hasattr(task, "delay"):
                panels.append(_embedded(task, row.label, rng, request.study.settings))
                titles = ("x(t)", "x(t - delay)")
            else:
                made.append(_flow(request, task, row, rng))
        if panels:
            ends = (0.1, 1.5) if titles[0] == "x(t)" else None
            made.insert(
                0,
                Plot(
                    name=f"{request.name}-planes",
                    caption=f"{titles[1]} against {titles[0]}.",
                    label=f"Phase planes: {', '.join(panel.title for panel in panels)}.",
                    x=Axis(titles[0], range=ends),
                    y=Axis(titles[1], range=ends),
                    panels=panels,
                    direct=False,
                ),
            )
        return made


def _unforced(task: Any, settings: Mapping[str, Any]) -> Iterator[Panel]:
    for start in settings.get("starts", [[0.1, 0.0]]):
        state, path = np.array([start], dtype=np.float64), []
        for _ in range(int(settings.get("steps", 3000))):
            path.append(state[0])
            state = task.moved(state, np.zeros(1))
        x, y = np.array(path[::4]).T
        yield Panel(
            [Plotted("", Mark(), x.tolist(), y.tolist())], f"from ({start[0]:g}, {start[1]:g})"
        )


def _embedded(
    task: Any, label: str, rng: np.random.Generator, settings: Mapping[str, Any]
) -> Panel:
    step = 0.1 if task.delay < 5 else 0.5
    settled = label not in settings.get("from_the_start", [])
    dropped, lag = (round(100 / step) if settled else 0), round(task.delay / step)
    count = round(float(settings.get("delays", 150)) * lag)
    fine = dataclasses.replace(
        task,
        raw=True,
        start=0.5,
        method="rk4",
        step=step,
        transient=dropped,
        washout=0,
        training=count + lag,
        validation=0,
        test=2,
        free=0,
    )
    x = fine.drive(rng).inputs[: count + lag, 0]
    return Panel([Plotted("", Mark(), x[lag:].tolist(), x[:-lag].tolist())], label)


def _flow(request: Request, task: Any, row: StudyRow, rng: np.random.Generator) -> Volume:
    steps = int(request.study.settings.get("steps", 3000))
    values = dataclasses.replace(task, raw=True).values(rng, steps)[0][:, :3]
    axes = ("x", "y", "z") if task.width == 3 else ("place 1", "place 2", "place 3")
    return Volume(
        f"{request.name}-{named(row.label)}",
        f"{row.label}, {steps:,} values, {steps * task.interval:g} time units.",
        f"A path of {row.task}.",
        axes,
        [("", [Cloud(row.label, Mark(), values.tolist(), LINE)])],
    )
