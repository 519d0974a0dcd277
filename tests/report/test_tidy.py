"""Learning curves as rows, a readable result, one colour for a learner, and accuracy by length."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import quickstudy as qs
from quickstudy.base.blocks import LEARNER, REPLAY, Mark, Traced
from quickstudy.base.trace import Trace
from quickstudy.figures.length_outcomes import length_outcomes
from quickstudy.report.tables import marks_of


@pytest.fixture
def results(tmp_path):
    return qs.run(
        "language/periodic",
        "copy-last",
        seeds=2,
        out=tmp_path,
        protocol={"sequences": 20},
        controls=False,
    )


def test_curves_have_a_row_for_every_point(results, monkeypatch):
    frame = SimpleNamespace(DataFrame=dict)
    monkeypatch.setitem(sys.modules, "pandas", frame)
    monkeypatch.setattr(
        "quickstudy.api.run.importlib.util.find_spec", lambda name: name == "pandas"
    )
    curves = results.curves()
    assert list(curves) == [
        "task",
        "convention",
        "learner",
        "root",
        "seed",
        "step",
        "accuracy",
        "unit",
    ]
    assert set(curves["learner"]) == {"copy-last"}
    assert set(curves["seed"]) == {0, 1}
    own = [
        value for value, seed in zip(curves["accuracy"], curves["seed"], strict=True) if seed == 1
    ]
    record = next(record for record in results.records if record.what["repetition"] == 1)
    from quickstudy.runs.array_files import load_trace

    assert own == load_trace(results.folder, record).arrays["accuracy"].tolist()


def test_results_are_named_by_their_folder_and_what_is_in_it(results):
    assert repr(results) == f"Results({str(results.folder)!r}: 2 ok)"
    assert repr(qs.Results(results.folder / "nothing")).endswith("nothing': no runs)")


def test_a_learner_has_one_colour_with_and_without_replay():
    rows = [
        SimpleNamespace(role=role, learner=name)
        for role, name in ((LEARNER, "gru"), (REPLAY, "esn"), (REPLAY, "gru"), (LEARNER, "zzz"))
    ]
    marks = marks_of(SimpleNamespace(tables=[SimpleNamespace(rows=rows)]))
    assert marks[LEARNER, "gru"].number == marks[REPLAY, "gru"].number == 1
    assert [marks[REPLAY, "esn"].number, marks[LEARNER, "zzz"].number] == [0, 2]


def test_accuracy_by_length_is_the_mean_over_runs():
    def trace(right):
        arrays = {
            "length": np.array([2, 5, 9]),
            "right": np.array(right),
            "asked": np.array([4, 4, 4]),
        }
        return Trace("length-outcomes", arrays, {"longest_shown": 5})

    (plot,) = length_outcomes(
        "grammar/parity-check",
        [Traced("gru", LEARNER, Mark(), [trace([4, 2, 0]), trace([4, 4, 2])])],
    )
    (line,) = plot.panels[0].series
    assert (list(line.x), list(line.y)) == ([2.0, 5.0, 9.0], [1.0, 0.75, 0.25])
    assert plot.panels[0].guides[0].x == 5.0
