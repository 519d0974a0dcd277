"""Learners that differ in the values of one or two parameters, as a curve and a heat map."""

from __future__ import annotations

import dataclasses
import math

import pytest

from quickstudy.base.blocks import HeatMap, Plot
from quickstudy.report.sweeps import sweep_pictures, sweeps


@pytest.fixture
def make_sweep(make_record, make_report):
    def made(settings, value):
        records = []
        for given in settings:
            name = "echo:" + ",".join(f"{key}={one}" for key, one in given.items())
            for repetition in range(3):
                score = {
                    "wade-above-chance": {
                        "version": 1,
                        "values": {"wade-above-chance": value(**given) + 0.01 * (repetition - 1)},
                    }
                }
                record = make_record(name, repetition=repetition, scores=score)
                learner = {"id": "echo+ridge", "version": 1, "parameters": given}
                records.append(
                    dataclasses.replace(record, what={**record.what, "learner": learner})
                )
        return make_report(records).tables[0]

    return made


@pytest.fixture
def swept(make_sweep):
    return make_sweep(
        [{"leak": leak, "radius": radius} for leak in (0.1, 1.0) for radius in (0.3, 0.6, 0.9)],
        lambda leak, radius: 0.1 + 0.5 * radius - 0.1 * leak,
    )


def test_two_parameters_are_a_heat_map_and_curves(swept):
    found = list(sweep_pictures(swept, "sweep"))
    [heat] = [block for block in found if isinstance(block, HeatMap)]
    [curve] = [block for block in found if isinstance(block, Plot)]  # leak has two values only
    assert heat.columns == ["radius=0.3", "radius=0.6", "radius=0.9"]
    assert heat.rows == ["leak=0.1", "leak=1"]
    assert heat.values[0] == pytest.approx([0.24, 0.39, 0.54])
    assert heat.marks == [(0, 2, 0, "best")]
    assert heat.texts[1][0] == "0.15"
    lines = curve.panels[0].series
    assert [line.label for line in lines] == ["leak=0.1", "leak=1"]
    assert lines[1].x == [0.3, 0.6, 0.9]
    assert lines[1].y == pytest.approx([0.15, 0.30, 0.45])
    assert all(
        low < middle < high
        for low, middle, high in zip(lines[1].low, lines[1].y, lines[1].high, strict=True)
    )


def test_one_parameter_is_a_curve(make_sweep):
    table = make_sweep(
        [{"radius": radius} for radius in (0.01, 0.1, 1.0)], lambda radius: 0.3 + radius / 9
    )
    [curve] = sweep_pictures(table, "sweep")
    assert curve.x.scale == "log"
    assert len(curve.panels[0].series[0].x) == 3


@pytest.mark.parametrize(
    "settings",
    [
        [{"radius": 0.1}, {"radius": 0.2}],
        [{"radius": 0.1, "leak": 1.0}, {"radius": 0.2, "leak": 0.5}, {"radius": 0.3, "leak": 0.2}],
        [{"a": a, "b": b, "c": c} for a in (1, 2) for b in (1, 2) for c in (1, 2)],
    ],
    ids=["two values", "no grid", "three parameters"],
)
def test_what_is_no_sweep_has_no_picture(make_sweep, settings):
    table = make_sweep(settings, lambda **given: 0.5 + sum(given.values()) / 100)
    assert not sweeps(table)
    assert not list(sweep_pictures(table, "sweep"))
    assert math.isfinite(table.middle(table.rows[0]))
