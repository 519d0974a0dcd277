from __future__ import annotations

import dataclasses
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from quickstudy.base.study import find_study
from quickstudy.base.trace import Trace
from quickstudy.report.build import build_report
from quickstudy.report.page import FORMS
from quickstudy.report.pictures import NARROW, WIDE
from quickstudy.report.stream_picture import StreamFrame, stream_picture
from quickstudy.report.study.order import Order, kind_of
from quickstudy.report.study.page import Grid, Picture
from quickstudy.runs.engines import choose_engine
from quickstudy.runs.execute import execute
from quickstudy.runs.plan import make_plan

as_html = FORMS["html"]


def stream(steps=(1, 50, 100, 101, 150, 200), end=0.5, names=("periodic", "q<a")):
    rising = np.linspace(0, 1, len(steps))
    accuracy = np.stack([1 - rising * (1 - end), rising], axis=1)
    arrays = {"step": np.array(steps), "accuracy": accuracy, "boundary": np.array([0, 100, 200])}
    return Trace("continual-curve", arrays, {"segments": list(names), "constants": [0.5, 0.5]})


def coordinates(element):
    return [tuple(map(float, pair.split(","))) for pair in element.get("points").split()]


@pytest.mark.parametrize("form", [WIDE, NARROW])
def test_segments_boundaries_and_ends(form):
    picture = stream_picture([stream()], "esn", "continual/chained", form)
    root = ElementTree.fromstring(picture)
    assert "ends at 0.50" in root.get("aria-label")
    assert "q<a ends at 1.00" in root.find("title").text
    assert "q<a" not in picture  # escaped
    curves = [group for group in root if (group.get("class") or "").startswith("curve")]
    assert [group.get("class") for group in curves] == ["curve c1", "curve c2"]
    (boundary,) = (line for line in root.iter("line") if line.get("class") == "axis boundary")
    whole, own = (coordinates(line) for line in curves[1].iter("polyline"))
    # The second segment is bold from its first test on, which comes just after the boundary.
    assert own == whole[3:]
    assert whole[2][0] == pytest.approx(float(boundary.get("x1")), abs=0.2)
    assert own[0][0] > float(boundary.get("x1"))
    assert coordinates(curves[0][2]) == coordinates(curves[0][1])[:3]
    # Higher accuracy, smaller y.
    assert whole[-1][1] < whole[0][1]
    width = float(root.get("viewBox").split()[2])
    assert all(0 <= x <= width for group in curves for line in group.iter("polyline") for x, _ in coordinates(line))


def test_the_mean_of_runs_tested_at_other_steps():
    one, other = stream(end=0.4), stream(steps=(2, 40, 100, 130, 170, 200), end=0.8)
    picture = stream_picture([one, other], "esn", "continual/chained", WIDE)
    assert "periodic ends at 0.60" in picture
    root = ElementTree.fromstring(picture)
    line = next(line for line in root.iter("polyline") if line.get("class") == "line")
    assert len(coordinates(line)) == len({2, 40, 50, 100, 101, 130, 150, 170, 200})


def test_nothing_to_draw():
    assert stream_picture([], "esn", "x", WIDE) == ""
    assert stream_picture([Trace("learning-curve", {}, {})], "esn", "x", WIDE) == ""


@pytest.mark.parametrize(
    ("last", "expected"), [(200, [50, 100, 150, 200]), (3840, [500 * n for n in range(1, 8)]), (9, list(range(1, 10)))]
)
def test_ticks_are_round_and_evenly_spaced(last, expected):
    frame = StreamFrame(0.0, 0.0, 100.0, 100.0, 1.0, float(last))
    assert [step for step, _ in frame.ticks()] == expected
    assert frame.x(1) == 0
    assert frame.x(last) == 100
    assert frame.x((1 + last) / 2) == pytest.approx(50)


def test_many_segments_use_colours_again():
    names = [f"segment {number}" for number in range(8)]
    arrays = {"step": np.arange(1, 9), "accuracy": np.zeros((8, 8)), "boundary": np.arange(9)}
    picture = stream_picture([Trace("continual-curve", arrays, {"segments": names})], "esn", "x", NARROW)
    assert len(re.findall(r'class="curve c\d again"', picture)) == 2


def test_the_page_of_a_study_of_streams_has_a_picture_for_each_learner(tmp_path):
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
    order = Order(declared, tmp_path / "results", "corrected", 2)
    for stage in kind_of(declared).stages(order):
        execute(make_plan(stage.settings, stage.seeds), order.folder, choose_engine(0))
    parts = kind_of(declared).page(order).parts
    assert [part.name for part in parts if isinstance(part, Picture)] == [
        "mini-corrected-short-chain-most",
        "mini-corrected-short-chain-copy",
    ]
    captions = [part.caption for part in parts if isinstance(part, Picture)]
    assert captions[0] == "short chain, Most: mean accuracy of 2 runs on every segment, bold while learned."
    assert [part.caption.split(" (")[0] for part in parts if isinstance(part, Grid)] == [
        "average accuracy at the end",
        "forgotten",
    ]
    assert [part.name for part in parts if isinstance(part, Grid)] == [
        "mini-corrected-average-accuracy",
        "mini-corrected-forgetting",
    ]


def test_the_page_of_a_folder_has_the_picture(make_record):
    record = dataclasses.replace(make_record("esn", "continual/chained"), trace={"kind": "continual-curve"})
    page = as_html(build_report([record], lambda _: stream()))
    assert page.count('class="plot stream') == 2  # wide and narrow
    assert "No run left a learning curve" not in page


@pytest.mark.parametrize("lacks", ["segments", "boundary", "accuracy"])
def test_a_stream_that_is_not_whole_has_no_picture(lacks):
    whole = stream()
    arrays = {name: array for name, array in whole.arrays.items() if name != lacks}
    facts = {name: fact for name, fact in whole.facts.items() if name != lacks}
    assert stream_picture([Trace(whole.kind, arrays, facts)], "esn", "continual/chained", WIDE) == ""
    assert stream_picture([stream(names=("one",))], "esn", "continual/chained", WIDE) == ""
