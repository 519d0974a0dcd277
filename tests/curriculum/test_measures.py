"""The measures by hand, and the protocols through the whole line."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.blocks import LEARNER, Mark, Traced
from quickstudy.base.trace import Trace
from quickstudy.figures import curriculum_life as figures
from quickstudy.measures.curriculum import levels, steps_to_pass, tasks_passed
from quickstudy.measures.gradual import kept, transfer
from quickstudy.render.svg import svg_file


def life(ends, tasks=("micro-1", "micro-2"), steps=100, outcome=(), oracle=(10, 20)):
    columns = zip(*ends, strict=True)
    arrays = dict(
        zip(("end", "task", "success", "passed", "questions"), map(np.array, columns), strict=True)
    )
    arrays["outcome"] = np.array(outcome, np.uint8)
    return Trace(
        "curriculum-life",
        arrays,
        {"tasks": list(tasks), "steps": steps, "reward": 5, "oracle": list(oracle)},
    )


WAY = life(
    [
        (30, 0, False, False, 30),
        (50, 0, True, False, 20),
        (60, 0, True, True, 10),
        (100, 1, False, False, 40),
    ]
)


def test_a_task_that_is_not_passed_is_censored():
    assert tasks_passed(WAY) == {"tasks-passed": 0.5, "reward-rate": 0.05}
    scores = steps_to_pass(WAY)
    assert scores == {
        "steps-on-micro-1": 60.0,
        "steps-on-micro-2": math.inf,
        "steps-to-pass": math.inf,
        "ratio-to-oracle": 6.0,
    }


def test_the_levels():
    scores = levels(WAY)
    assert scores["questions-to-solve"] == math.inf  # of 30 (unsolved), 20, 10 and 40 (unsolved)
    assert scores["speed-up"] == pytest.approx(30 / 20)


def test_a_life_without_an_end():
    names = ("end", "task", "success", "passed", "questions", "outcome")
    facts = {"tasks": ["micro-1"], "steps": 7, "reward": -7, "oracle": [50]}
    empty = Trace("curriculum-life", {name: np.zeros(0, np.int64) for name in names}, facts)
    assert tasks_passed(empty)["tasks-passed"] == 0.0
    assert steps_to_pass(empty) == {"steps-to-pass": math.inf}
    assert levels(empty) == {"questions-to-solve": math.inf}


def moved(steps, first=(20, 10, 20, 20), passed=True, before=(0, 5, 5, 5), **facts):
    arrays = {"steps": np.array(steps), "first": np.array(first), "before": np.array(before)}
    return transfer(Trace("transfer", arrays, {"budget": 1000, "before_passed": passed, **facts}))


def test_the_bar_of_a_condition_stands_on_its_name():
    facts = {"budget": 1000, "conditions": ["fresh", "after", "unrelated", "renamed"]}
    traces = [Trace("transfer", {"steps": np.array([400, 100, -1, 200])}, facts)]
    (plot,) = figures.transfer("curriculum/transfer", [Traced("table", LEARNER, Mark(), traces)])
    (bars,) = plot.panels[0].series
    assert (list(bars.x), list(bars.y)) == ([0, 1, 2, 3], [400.0, 100.0, 1000.0, 200.0])
    drawn = svg_file(plot)
    boxes = re.findall(r'<rect class="dot bar" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawn)
    names = re.findall(r'<text x="([\d.]+)"[^>]*>(?:fresh|after|unrelated|renamed)</text>', drawn)
    assert [float(x) + float(width) / 2 for x, width in boxes] == pytest.approx(
        [float(x) for x in names], abs=0.2
    )


def test_gains():
    scores = moved([400, 100, 400, 200])
    assert scores["transfer-gain"] == 0.75
    assert scores["gain-of-warm-up"] == 0.0
    assert scores["gain-of-renamed"] == 0.5
    assert scores["first-instance-gain"] == 0.5


def test_gains_where_something_was_not_passed():
    assert (
        moved([-1, 100, 100, 100])["transfer-gain"] == 0.9
    )  # at least: fresh took more than the budget
    assert moved([100, -1, 100, 100])["transfer-gain"] == -9.0
    assert "transfer-gain" not in moved([-1, -1, 100, 100])
    assert "transfer-gain" not in moved([100, 50, 100, 100], passed=False)
    assert "gain-of-renamed" not in moved([100, 50, 100, 100], renamed_passed=False)
    assert (
        moved([100, 50, 100, 50], before=(0, 5, 5, 1000), renamed_passed=True)["gain-of-renamed"]
        == 0.5
    )


def test_older_traces_say_by_their_steps_that_the_renamed_course_was_not_passed():
    scores = moved([100, 50, 100, 50], before=(0, 5, 5, 1000))
    assert "gain-of-renamed" not in scores
    assert scores["transfer-gain"] == 0.5


def test_the_constant_of_forgetting():
    steps = np.array([[100, -2, -2], [150, 80, -2], [100, -1, 60]])
    trace = Trace(
        "forgetting", {"steps": steps, "learned": np.array([9, 9, 9])}, {"tasks": ["a", "b", "c"]}
    )
    scores = kept(trace)
    assert scores["forgetting-constant"] == math.inf
    assert scores["tasks-learned"] == 1.0
    steps[2, 1] = 40
    assert kept(trace)["forgetting-constant"] == 1.5
    assert kept(trace)["forgetting-ratio"] == pytest.approx((1.5 * 1.0 * 0.5) ** (1 / 3))


def test_the_whole_line(tmp_path):
    results = qs.run(
        [
            "curriculum/chain:members=micro-1/micro-4",
            "curriculum/transfer",
            "curriculum/forgetting",
        ],
        ["table"],
        seeds=1,
        out=tmp_path,
        protocol={"steps": 5000},
        progress=False,
    )
    scores = {
        (record.labels["task"].partition(":")[0], record.labels["learner"]): record.scores
        for record in results.records
    }
    oracle = scores["curriculum/chain", "perfect-byte"]
    assert oracle["tasks-passed"]["values"]["tasks-passed"] == 1.0
    assert oracle["steps-to-pass"]["values"] == {
        "steps-on-micro-1": 50.0,
        "steps-on-micro-4": 50.0,
        "steps-to-pass": 100.0,
        "ratio-to-oracle": 1.0,
    }
    assert (
        scores["curriculum/transfer", "perfect-byte"]["transfer"]["values"]["transfer-gain"] == 0.0
    )
    assert (
        scores["curriculum/forgetting", "perfect-byte"]["kept"]["values"]["forgetting-constant"]
        == 1.0
    )
    assert scores["curriculum/forgetting", "table"]["kept"]["values"]["tasks-learned"] == 1.0
    assert (
        scores["curriculum/chain", "silent-byte"]["tasks-passed"]["values"]["tasks-passed"] == 0.0
    )
