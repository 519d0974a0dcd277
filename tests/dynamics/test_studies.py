"""Figures and tables of the review, and our own studies: what is drawn is what the systems do."""

from __future__ import annotations

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.blocks import HeatMap, Mark, Plot, Table, Traced, Volume
from quickstudy.base.errors import UsageError
from quickstudy.base.study import find_study, study_names
from quickstudy.base.trace import Trace
from quickstudy.figures.predictions import thinned


@pytest.fixture
def made(tmp_path):
    def make(name, **given):
        return qs.reproduce(name, out=tmp_path / "study", workers=0, **{"seeds": 1, **given})

    return make


def pictures(page, kind):
    return [block for block in page.page.blocks if isinstance(block, kind)]


def test_every_table_and_figure_of_the_review_is_there():
    names = set(study_names())
    assert {f"rc-table{number}" for number in range(1, 10)} <= names
    assert {f"rc-figure{number}" for number in range(2, 16)} <= names
    assert {"rc-narma-proxy", "rc-memory-trained", "charc-task-map", "charc-substrates"} <= names
    for name in names:
        find_study(name)


def test_orders_of_narma_follow_one_input(made):
    (plot,) = pictures(made("rc-figure4"), Plot)
    *orders, given = (panel.series[0] for panel in plot.panels)
    u, x = np.array(given.y), np.array(orders[1].y)
    assert len(u) == len(x) == 200
    assert 0 <= u.min() < u.max() <= 0.5
    # The recurrence of order 10, where all that it needs is in the picture.
    for t in range(10, 199):
        wanted = 0.3 * x[t] + 0.05 * x[t] * x[t - 9 : t + 1].sum() + 1.5 * u[t - 8] * u[t + 1] + 0.1
        assert x[t + 1] == pytest.approx(wanted, abs=1e-12)


def test_an_oscillator_without_force_goes_to_its_cycle(made):
    (plot,) = pictures(made("rc-figure6"), Plot)
    assert [panel.title for panel in plot.panels][:2] == ["from (0.1, 0)", "from (2, 0)"]
    for panel in plot.panels:
        assert max(np.abs(panel.series[0].x[-400:])) == pytest.approx(2.0, abs=0.05)


def test_a_delay_equation_settles_or_does_not(made):
    (plot,) = pictures(made("rc-figure7", only=["0.2, 9.65, 0.1, 2", "2, 8.5, 1, 2"]), Plot)
    settled, periodic = (np.array(panel.series[0].x) for panel in plot.panels)
    assert settled[-1] == pytest.approx(1.0, abs=1e-3)
    assert np.ptp(periodic) > 0.5
    # x(t - delay) is what x was, so many steps before.
    late = np.array(plot.panels[1].series[0].y)
    np.testing.assert_allclose(late[20:], periodic[:-20])


def test_a_field_is_a_map_of_its_values(made):
    (found,) = pictures(made("rc-figure10"), HeatMap)
    assert found.fine
    assert np.shape(found.values) == (len(found.rows), len(found.columns))
    assert -5 < np.min(found.values) < -2 < 2 < np.max(found.values) < 5


def test_errors_of_nothing_are_those_of_the_formulas(made):
    page = made("rc-table8")
    errors = page.facts["errors"]
    # Of 100 targets the mean square is the variance, and their own mean takes a hundredth of it
    # away.
    assert errors["MSE"]["2"] == pytest.approx(4.0, rel=0.01)
    assert errors["RMSE"]["0.1"] == pytest.approx(0.1, rel=0.01)
    assert errors["NMSE"]["1"] == pytest.approx(1 + 1 / 99, abs=0.002)
    assert errors["NRMSE"]["1"] == pytest.approx(1.005, abs=0.002)
    assert (page.facts["inside"], page.facts["published"]) == (12, 12)


def test_measured_series_are_drawn_whole_and_in_part(made, tmp_path, monkeypatch):
    monkeypatch.setenv("QUICKSTUDY_DATA", str(tmp_path))
    with pytest.raises(UsageError, match="sunspots_zurich_monthly_1749_1983"):
        made("rc-figure11")
    rng = np.random.default_rng(0)
    numbers = rng.uniform(0, 200, 2820)
    text = "sunspot_number\n" + "\n".join(f"{value:.1f}" for value in numbers)
    (tmp_path / "sunspots_zurich_monthly_1749_1983.csv").write_text(text, encoding="utf-8")
    (plot,) = pictures(made("rc-figure11"), Plot)
    assert len(plot.data) == 2821
    assert max(plot.panels[0].series[0].y) == pytest.approx(numbers.max(), abs=0.06)
    rows = rng.uniform(5, 9, (27_100, 3))
    text = "heart_rate,respiration,blood_oxygen\n" + "\n".join(
        ",".join(f"{cell:.4f}" for cell in row) for row in rows
    )
    (tmp_path / "santafe_b_sleep_apnea.csv").write_text(text, encoding="utf-8")
    plots = pictures(made("rc-figure15"), Plot)
    assert len(plots) == 3
    for plot, column in zip(plots, rows[22_000:27_000].T, strict=True):
        wanted = (column - column.min()) / np.ptp(column) - 0.5
        assert [row[1] for row in plot.data[1:]] == pytest.approx(wanted.tolist(), abs=1e-4)
        assert plot.data[1][0] == 22_000


def test_long_series_keep_their_extremes():
    values = np.sin(np.arange(50_000) / 7.0)
    values[[123, 40_000]] = 5.0, -6.0
    x, y = thinned(values)
    assert len(x) <= 2000
    assert (max(y), min(y)) == (5.0, -6.0)
    assert all(values[int(place)] == value for place, value in zip(x, y, strict=True))
    assert x == sorted(x)


def test_what_was_answered_is_drawn_and_so_is_the_length_of_training():
    from quickstudy.base import registries

    rng = np.random.default_rng(0)
    target = rng.normal(size=(60, 1))
    arrays = {
        "answer": target + 0.1,
        "target": target,
        "driven_target": target,
        "lengths": np.array([10, 20]),
        "answers": np.stack([target + 0.5, target + 0.1]),
        "free_answer": np.ones((2, 30, 1)),
        "free_target": rng.normal(size=(2, 30, 1)),
    }
    traces = [Trace("predictions", arrays, {})]
    driven, free, lengths = registries.figure.get("predictions")(
        "task", [Traced("esn", "learner", Mark(), traces)]
    )
    assert driven.panels[0].series[1].y == pytest.approx((target[:, 0] + 0.1).tolist())
    assert free.panels[0].series[1].y == [1.0] * 30
    (line,) = lengths.panels[0].series
    assert line.y == pytest.approx([0.5 / target.std(), 0.1 / target.std()])


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """A small study of two substrates, one of which is an automaton, with a task of several
    inputs.
    """
    folder = tmp_path_factory.mktemp("substrates")
    study = folder / "small.toml"
    study.write_text(
        """
version = 1
title = "Two substrates"
source = "Made up"
kind = "table + behaviour-space"
score = ["voxels", "voxels-at-random"]
seeds = 1
convention = "corrected"

[learners]
ESN = "esn:units=8"
CA = "reca:redundancy=1,block=8,applications=1,levels=3"

[protocol]
population = 6
generations = 8
steps = 60
placed = 10
tasks = "dynamics/narma-5:PARTS+dynamics/lorenz-63:PARTS"

[[rows]]
task = "dynamics/charc"
label = "search"
""".replace("PARTS", "washout=50,training=100,validation=0,test=50"),
        encoding="utf-8",
    )
    return qs.reproduce(str(study), out=folder / "out", seeds=1, workers=0)


def test_substrates_are_compared_voxel_by_voxel(searched):
    assert searched.execution.failed == 0
    counts = searched.facts["shared"]["ESN and CA"]
    assert counts["first"] == counts["both"] + counts["only first"]
    assert counts["second"] == counts["both"] + counts["only second"]
    blocks = list(searched.page.blocks)
    names = [block.name for block in blocks if isinstance(block, Plot | Volume | Table)]
    for ending in ("space", "kernel-rank-memory", "coverage", "shared", "places", "task-map"):
        assert any(name.endswith(ending) for name in names), ending


def test_a_task_of_three_inputs_has_a_place(searched):
    (places, other) = [
        block
        for block in searched.page.blocks
        if isinstance(block, Table) and "-places" in block.name
    ]
    assert [line.cells[0].text.partition(":")[0] for line in places.lines] == [
        "dynamics/narma-5",
        "dynamics/lorenz-63",
    ]
    for line in (*places.lines, *other.lines):
        assert all(0 <= cell.value <= 8.01 for cell in line.cells[1:4])
        assert 0 < line.cells[4].value < 3


def test_the_largest_order_that_is_learned_stands_beside_memory(made, tmp_path):
    study = tmp_path / "proxy.toml"
    study.write_text(
        """
version = 1
title = "Proxy"
source = "Made up"
kind = "narma-proxy"
score = ["nrmse", "memory-capacity"]
measures = ["errors", "memory-capacity"]
seeds = 1
convention = "corrected"

[each]
order = [2, 8]

[learners]
small = "esn:units=10,input_scale=0.5"
rule = "linear"

[settings]
bound = 0.45

[[rows]]
task = "dynamics/memory"
label = "memory"
columns = ["small"]
[rows.protocol]
steps = 200
budget = 30

[[rows]]
task = "dynamics/narma-10-fujii:order={order},training=300,validation=100,test=200"
label = "order {order}"
""",
        encoding="utf-8",
    )
    page = made(str(study))
    found = page.facts["learners"]
    assert set(found) == {"small"}  # the rule has no states to measure
    errors = found["small"]["nrmse"]
    assert errors[2] < errors[8]
    assert found["small"]["largest_order"] == max(
        [order for order, error in errors.items() if error < 0.45], default=0
    )
