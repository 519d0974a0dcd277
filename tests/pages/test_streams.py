"""The way of a learner through a stream of tasks: what is drawn, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from quickstudy.base.blocks import Plot, Table, every
from quickstudy.base.study import find_study
from quickstudy.base.trace import Trace
from quickstudy.figures.learning_curve import stream_plot
from quickstudy.pages.page import page_of
from quickstudy.pages.study_request import Request, stages_of
from quickstudy.render.svg import drawn
from quickstudy.runs.execute import execute
from quickstudy.runs.options import ExecuteOptions
from quickstudy.runs.plan import make_plan

Make = Callable[..., Any]


def stream(
    steps: Sequence[int] = (1, 50, 100, 101, 150, 200),
    end: float = 0.5,
    names: Sequence[str] = ("periodic", "q<a"),
) -> Trace:
    rising = np.linspace(0, 1, len(steps))
    accuracy = np.stack([1 - rising * (1 - end), rising], axis=1)
    arrays = {"step": np.array(steps), "accuracy": accuracy, "boundary": np.array([0, 100, 200])}
    return Trace("continual-curve", arrays, {"segments": list(names), "constants": [0.5, 0.5]})


def plot_of(*traces: Trace) -> Plot:
    found = stream_plot(traces, "esn", "continual/chained", "name", "caption")
    assert found
    return found


def coordinates(element: Any) -> list[tuple[float, ...]]:
    return [tuple(map(float, pair.split(","))) for pair in element.get("points").split()]


def test_segments_boundaries_and_ends() -> None:
    plot = plot_of(stream())
    assert "periodic ends at 0.50" in plot.label
    assert "q<a ends at 1.00" in plot.label
    (panel,) = plot.panels
    assert [one.label for one in panel.series] == ["periodic", "q<a"]
    assert [one.bold for one in panel.series] == [(0.0, 100.0), (100.0, 200.0)]
    assert [guide.x for guide in panel.guides] == [100.0]
    assert list(panel.series[1].x) == [1, 50, 100, 101, 150, 200]


@pytest.mark.parametrize("form", [0, 1])
def test_a_segment_is_bold_while_it_is_learned(form: int) -> None:
    picture = drawn(plot_of(stream()))[form]
    assert "q<a" not in picture  # escaped
    root = ElementTree.fromstring(picture)
    curves = [group for group in root.iter("g") if (group.get("class") or "").startswith("curve")]
    found = {
        group.findtext("title"): [coordinates(line) for line in group.iter("polyline")]
        for group in curves
    }
    whole, own = found["q<a"]
    # From the boundary on, where the last test of the first one is its first.
    assert own == whole[2:]
    whole, own = found["periodic"]
    assert own == whole[:3]
    # Higher accuracy, smaller y.
    assert whole[-1][1] > whole[0][1]
    width = float(str(root.get("viewBox")).split()[2])
    assert all(0 <= x <= width for lines in found.values() for line in lines for x, _ in line)


def test_the_mean_of_runs_tested_at_other_steps() -> None:
    plot = plot_of(stream(end=0.4), stream(steps=(2, 40, 100, 130, 170, 200), end=0.8))
    assert "periodic ends at 0.60" in plot.label
    assert list(plot.panels[0].series[0].x) == [2, 40, 50, 100, 101, 130, 150, 170, 200]


def test_nothing_to_draw() -> None:
    assert stream_plot([], "esn", "x", "name", "caption") is None
    assert stream_plot([Trace("learning-curve", {}, {})], "esn", "x", "name", "caption") is None


@pytest.mark.parametrize("lacks", ["segments", "boundary", "accuracy"])
def test_a_stream_that_is_not_whole_has_no_picture(lacks: str) -> None:
    whole = stream()
    arrays = {name: array for name, array in whole.arrays.items() if name != lacks}
    facts = {name: fact for name, fact in whole.facts.items() if name != lacks}
    assert stream_plot([Trace(whole.kind, arrays, facts)], "esn", "x", "name", "caption") is None
    assert stream_plot([stream(names=("one",))], "esn", "x", "name", "caption") is None


def test_many_segments_use_colours_again() -> None:
    names = [f"segment {number}" for number in range(8)]
    arrays = {"step": np.arange(1, 9), "accuracy": np.zeros((8, 8)), "boundary": np.arange(9)}
    plot = plot_of(Trace("continual-curve", arrays, {"segments": names}))
    assert [one.mark.number for one in plot.panels[0].series] == list(range(8))
    assert drawn(plot)[1].count('class="curve c1') == 2


def test_the_page_of_a_study_of_streams_has_a_picture_for_each_learner(tmp_path: Path) -> None:
    study = tmp_path / "mini.toml"
    study.write_text(
        """
version = 1
title = "Two learners in a stream"
source = "nowhere"
kind = "streams"
score = ["average-accuracy", "forgetting"]
seeds = 2
[learners]
Most = "majority"
Copy = "copy-last"
[[rows]]
task = "continual/chained:members=symbol-counting/qa"
label = "short chain"
protocol = {sequences = 40}
"""
    )
    declared = find_study(str(study))
    request = Request(declared, tmp_path / "results", "corrected", 2)
    for stage in stages_of(request):
        execute(make_plan(stage.settings, stage.seeds), request.folder, ExecuteOptions(workers=0))
    shown = list(every(page_of(request).blocks))
    plots = [one for one in shown if isinstance(one, Plot)]
    tables = [one for one in shown if isinstance(one, Table)]
    assert [one.name for one in plots] == [
        "mini-corrected-short-chain-most",
        "mini-corrected-short-chain-copy",
    ]
    assert (
        plots[0].caption
        == "short chain, Most: mean accuracy of 2 runs on every segment, bold while learned."
    )
    assert [one.caption.split(" (")[0] for one in tables] == [
        "average accuracy at the end",
        "forgotten",
    ]
    assert [one.name for one in tables] == [
        "mini-corrected-average-accuracy",
        "mini-corrected-forgetting",
    ]
