"""From records to tables: what belongs together, what is compared, what is said."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from quickstudy.base.blocks import CONTROL, LEARNER
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import Record
from quickstudy.report.build import build_report
from quickstudy.report.report_data import ReportData
from quickstudy.runs.results import ResultsTable

Make = Callable[..., Any]


def test_rows_stand_by_role_and_the_best_first(study_report: ReportData) -> None:
    table = study_report.tables[0]
    assert table.task == "language/periodic:longest=5"
    assert [row.role for row in table.rows] == [LEARNER] * 3 + [CONTROL] * 2 + ["oracle"]
    means = [row.scores["log-area"].mean or 0.0 for row in table.of_role(LEARNER)]
    assert means == sorted(means, reverse=True)
    assert (table.headline, table.best_control, table.oracle) == ("log-area", "polarity", "oracle")


def test_conventions_never_share_a_table(study_report: ReportData) -> None:
    found = [(table.convention, table.task) for table in study_report.tables]
    assert found == [
        ("corrected", "language/periodic:longest=5"),
        ("corrected", "language/qa"),
        ("published", "language/qa"),
    ]
    for table in study_report.tables:
        assert {row.setting["convention"] for row in table.rows} == {table.convention}


def test_the_order_of_the_records_does_not_matter(make_study: Make, make_report: Make) -> None:
    records = make_study(seeds=3)
    assert make_report(records) == make_report(records[::-1])


def test_a_further_learner_changes_no_other_number(
    make_study: Make, make_record: Make, make_report: Make
) -> None:
    records = make_study(seeds=3)
    before = {row.learner: row for row in make_report(records).tables[0].rows}
    after = {row.learner: row for row in make_report([*records, make_record("gru")]).tables[0].rows}
    assert all(after[name] == row for name, row in before.items())


def test_another_protocol_is_another_table(make_record: Make, make_report: Make) -> None:
    records = [make_record(), make_record(protocol={"sequences": 300})]
    tables = make_report(records).tables
    assert [table.task for table in tables] == [
        "language/qa (protocol sequences 1200)",
        "language/qa (protocol sequences 300)",
    ]
    assert [len(table.rows[0].runs) for table in tables] == [1, 1]


def test_another_version_of_a_learner_is_another_row(make_record: Make, make_report: Make) -> None:
    rows = make_report([make_record(), make_record(learner_version=2)]).tables[0].rows
    assert sorted(row.learner for row in rows) == [
        "esn (learner version 1)",
        "esn (learner version 2)",
    ]


def test_roots_and_repetitions_are_runs_of_one_row(make_record: Make, make_report: Make) -> None:
    row = (
        make_report([make_record(root=1), make_record(), make_record(repetition=1)])
        .tables[0]
        .rows[0]
    )
    assert [(run.root, run.repetition) for run in row.runs] == [(0, 0), (0, 1), (1, 0)]


def test_only_the_newest_version_of_a_measure_is_shown(
    make_record: Make, make_report: Make
) -> None:
    old = make_record(scores={"wade": {"version": 1, "values": {"wade": 0.9}}})
    new = make_record(repetition=1, scores={"wade": {"version": 2, "values": {"wade": 0.1}}})
    data = make_report([old, new])
    estimate = data.tables[0].rows[0].scores["wade"]
    assert (estimate.n, estimate.mean) == (1, 0.1)
    assert "older version of wade" in data.notes[0]


def test_two_measures_with_one_name_are_told_apart(make_record: Make, make_report: Make) -> None:
    scores = {
        "a": {"version": 1, "values": {"x": 1.0}},
        "b": {"version": 1, "values": {"x": 2.0, "y": 3.0}},
    }
    row = make_report([make_record(scores=scores)]).tables[0].rows[0]
    assert {name: value.mean for name, value in row.scores.items()} == {
        "a/x": 1.0,
        "b/x": 2.0,
        "y": 3.0,
    }


def test_values_that_are_not_finite_are_read_from_text(
    make_record: Make, make_report: Make
) -> None:
    scores = {
        "steps-to-accuracy": {
            "version": 1,
            "values": {"steps-to-0.9": "inf", "steps-to-0.5": "nan"},
        }
    }
    row = make_report([make_record(scores=scores)]).tables[0].rows[0]
    assert row.scores["steps-to-0.9"].median == math.inf
    assert "steps-to-0.5" not in row.scores


def test_scaled_and_advantage_by_hand(scored: Make, make_report: Make) -> None:
    records = scored("esn", 0.4, 0.6) + scored("low", 0.1, 0.1, role="control")
    records += scored("high", 0.2, 0.2, role="control") + scored("all", 1.0, 1.0, role="oracle")
    table = make_report(records).tables[0]
    row, best, worse, oracle = table.rows
    assert table.best_control == "high"
    assert row.advantage.value == pytest.approx(0.3)
    assert row.scaled.value == pytest.approx(0.375)
    assert (best.scaled.value, best.scaled.interval, oracle.scaled.value) == (0.0, None, 1.0)
    assert worse.scaled.value == pytest.approx(-0.125)


def test_equal_controls_are_taken_in_the_order_of_their_names(
    scored: Make, make_report: Make
) -> None:
    records = scored("b", 0.2, role="control") + scored("a", 0.2, role="control")
    assert make_report(records).tables[0].best_control == "a"


def test_lower_is_better_turns_everything_round(scored: Make, make_report: Make) -> None:
    name = "steps-to-0.5"
    rest: dict[str, Any] = {"name": name, "task": "puzzles/one"}
    records = scored("slow", 90.0, 91.0, **rest) + scored("fast", 10.0, 11.0, **rest)
    records += scored("a", 100.0, 100.0, role="control", **rest)
    records += scored("b", 200.0, 200.0, role="control", **rest)
    records += scored("top", 1.0, 1.0, role="oracle", **rest)
    table = make_report(records).tables[0]
    assert [row.learner for row in table.rows] == ["fast", "slow", "a", "b", "top"]
    assert table.best_control == "a"
    assert table.rows[0].advantage.value == pytest.approx(89.5)
    assert table.rows[0].scaled.value == pytest.approx(89.5 / 99)


def test_without_control_or_oracle_the_reason_is_given(scored: Make, make_report: Make) -> None:
    alone = make_report(scored("esn", 0.5, 0.6)).tables[0]
    assert alone.rows[0].scaled.reason == "no control was run"
    records = scored("esn", 0.5, 0.6) + scored("c", 0.1, 0.1, role="control")
    assert list(make_report(records).tables[0].verdict.remarks) == [
        "No scaled score: no oracle was run."
    ]


def test_changes_are_by_hand(scored: Make, make_report: Make) -> None:
    records = scored("esn", 0.5, 0.7, convention="published") + scored("esn", 0.3, 0.3)
    records += scored("new", 0.3, 0.3)
    (change,) = make_report(records).changes
    assert change.conventions == ("published", "corrected")
    (row,) = change.rows
    assert (row.learner, row.means) == ("esn", (0.6, 0.3))
    assert row.difference.value == pytest.approx(-0.3)
    # Only the published values vary: the error of their mean is 0.1, and Student's quantile of one
    # degree 12.706.
    assert row.difference.interval == pytest.approx((-0.3 - 1.2706, -0.3 + 1.2706), abs=1e-4)


def test_the_mean_curve_is_by_hand(make_record: Make, make_report: Make) -> None:
    records = [
        make_record(curve=([1, 4], [0.0, 1.0])),
        make_record(repetition=1, curve=([2, 3], [0.5, 0.6])),
    ]
    row = make_report(records).tables[0].rows[0]
    assert row.curve is not None
    assert row.curve.steps == (2, 3, 4)
    assert row.curve.mean == pytest.approx((0.25, 0.3, 0.8))
    assert row.example is not None
    assert row.example.curve.steps == (1, 4)
    assert row.example.times == (4.0,) * 10


def test_tokens_become_sequences(make_record: Make, make_report: Make) -> None:
    record = make_record(curve=([4, 8], [0.2, 0.6]))
    facts = {**record.trace["facts"], "unit": "tokens", "tokens_per_sequence": 4.0}
    row = make_report([replace(record, trace={**record.trace, "facts": facts})]).tables[0].rows[0]
    assert row.curve is not None
    assert (row.curve.unit, row.curve.steps) == ("sequences", (1.0, 2.0))
    assert row.example is not None
    assert row.example.times == (1.0, 1.0, 2.0, 2.0, 2.0, 2.0, *[math.inf] * 4)


def test_a_damaged_trace_costs_the_curve_only(make_record: Make) -> None:
    def broken(record: Record) -> Any:
        raise QuickstudyError("cannot read traces/x.npz")

    data = build_report(ResultsTable.of([make_record()], broken))
    assert data.tables[0].rows[0].curve is None
    assert data.tables[0].rows[0].scores
    assert "cannot read traces/x.npz" in data.notes[0]


def test_a_protocol_that_shows_everything_once_has_no_replay(
    scored: Make, make_report: Make
) -> None:
    records = scored("lstm", 0.6, 0.7, passes=10, protocol={"replay": False})
    assert [row.role for row in make_report(records).tables[0].rows] == [LEARNER]
