"""What is said of a task: who is above the best control, who is ahead, and when nothing can be
said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quickstudy.base.blocks import CONTROL, LEARNER, REPLAY
from quickstudy.base.record import Record
from quickstudy.render.numbers import score
from quickstudy.report.page import FORMS

as_html = FORMS["html"]

Make = Callable[..., Any]


def around(mean: float, width: float = 0.01, runs: int = 6) -> list[float]:
    """Values evenly around their mean."""
    return [mean + width * (2 * run / (runs - 1) - 1) for run in range(runs)]


def shown(record: Record, examples: int, **facts: Any) -> Record:
    """The record of a learner that was shown so many examples, of what the facts say there was."""
    trace = {**record.trace, "facts": {**record.trace["facts"], **facts}}
    return replace(record, cost={**record.cost, "examples": examples}, trace=trace)


def test_verdicts(scored: Make, make_record: Make, make_report: Make) -> None:
    control = scored("copy", *around(0.20), role="control")
    strong = scored("strong", *around(0.51))
    level = scored("level", *around(0.20)[::-1])
    weak = scored("weak", *around(0.11))
    table = make_report([*control, *strong, *level, *weak]).tables[0]
    assert table.verdict.ahead == {LEARNER: "strong"}
    assert table.verdict.short == "1 of 3 above the best control, strong clearly ahead."
    text = table.verdict.text
    assert text.startswith("Above the best control, copy (0.200): strong by 0.310")
    assert "no significant difference from it: level" in text
    assert "weak is below it" in text
    assert text.endswith("strong is clearly ahead of level.")
    assert (
        make_report([*control, *weak]).tables[0].verdict.text
        == "No learner is above the best control, copy (0.200); weak is below it."
    )
    # An interval that holds more than what matters does not show that a learner is not above.
    open_text = make_report([*control, *level]).tables[0].verdict.text
    assert open_text.startswith(
        "No learner is shown to be above the best control, copy (0.200) (6 runs); no significant"
    )
    assert "no control was run" in make_report(strong).tables[0].verdict.text
    assert "there is no learner" in make_report(control).tables[0].verdict.text
    assert (
        "nothing to compare" in make_report([make_record(status="failed")]).tables[0].verdict.text
    )


@pytest.mark.parametrize(
    "name", ["learner-{}", "esn+rls:units={}00,leak=0.{},radius=0.9{},ridge=0.{}1"]
)
def test_a_verdict_on_fifteen_learners_can_be_read(
    scored: Make, make_report: Make, name: str
) -> None:
    control = scored("copy", *around(0.20), role="control")
    strong = [
        run
        for number in range(10)
        for run in scored(name.format(*[number] * 4), *around(0.5 + number / 100))
    ]
    weak = [
        run for number in range(10, 15) for run in scored(name.format(*[number] * 4), *around(0.1))
    ]
    verdict = make_report([*control, *strong, *weak]).tables[0].verdict
    best = name.format(*[9] * 4)
    assert verdict.short == f"10 of 15 above the best control, {best} clearly ahead."
    assert verdict.text.startswith(f"Above the best control, copy (0.200): {best} by 0.390")
    assert re.search(r"and [78] more; .* below it; ", verdict.text)
    assert len(verdict.text) < 600


def test_fewer_than_six_runs_give_no_verdict(scored: Make, make_report: Make) -> None:
    runs = [
        *scored("copy", 0.2, 0.21, role="control"),
        *scored("esn", 0.5, 0.52),
        *scored("reca", 0.9, 0.92),
    ]
    table = make_report(runs).tables[0]
    assert not table.verdict.ahead
    assert (
        table.verdict.text
        == "reca has WADE above chance 0.910 and esn has WADE above chance 0.510, best control copy"
        " 0.205: 2 runs of each learner are too few for a verdict, 6 would do."
    )
    assert "<strong>" not in as_html(make_report(runs)).partition("<script")[0]


@pytest.mark.parametrize(("runs", "told"), [(5, False), (6, True)])
def test_six_runs_give_one(scored: Make, make_report: Make, runs: int, told: bool) -> None:
    records = scored("copy", *around(0.2, runs=runs), role="control") + scored(
        "esn", *around(0.5, runs=runs)
    )
    assert make_report(records).tables[0].verdict.text.startswith("Above the best control") is told


def test_those_with_enough_runs_are_judged_without_the_others(
    scored: Make, make_report: Make
) -> None:
    records = [
        *scored("copy", *around(0.2), role="control"),
        *scored("esn", *around(0.5)),
        *scored("new", 0.9),
    ]
    text = make_report(records).tables[0].verdict.text
    assert text.startswith("Above the best control, copy (0.200): esn by 0.300")
    assert text.endswith("; 1 run of new is too few for a verdict, 6 would do.")


def test_a_control_with_too_few_runs_is_named(scored: Make, make_report: Make) -> None:
    records = [*scored("copy", 0.2, 0.2, role="control"), *scored("esn", *around(0.5))]
    assert (
        make_report(records)
        .tables[0]
        .verdict.text.endswith("2 runs of copy are too few for a verdict, 6 would do.")
    )


@pytest.mark.parametrize(
    ("controls", "runs", "told"), [(3, 6, True), (2, 6, False), (3, 40, False)]
)
def test_more_runs_of_several_controls_are_advised_where_they_may_show_more(
    scored: Make, make_report: Make, controls: int, runs: int, told: bool
) -> None:
    rules = [
        record
        for place in range(controls)
        for record in scored(f"rule{place}", *around(0.2, 0.2, runs), role="control")
    ]
    ahead = scored("mine", *around(0.3, 0.1)[::-1])
    remarks = make_report([*rules, *ahead]).tables[0].verdict.remarks
    advice = [one for one in remarks if "--control-seeds 200" in one]
    assert bool(advice) == told
    if told:
        assert advice[0].startswith("mine is ahead of the best of 3 controls, but not signif")
        behind = scored("mine", *around(0.1, 0.1)[::-1])
        others = make_report([*rules, *behind]).tables[0].verdict.remarks
        assert not any("--control-seeds" in one for one in others)


def test_overlapping_intervals_have_no_winner(scored: Make, make_report: Make) -> None:
    table = make_report(
        [*scored("a", *around(0.5, 0.1)), *scored("b", *around(0.505, 0.05))]
    ).tables[0]
    assert not table.verdict.ahead
    assert "no significant difference between b and a" in table.verdict.text


def test_too_small_to_matter_is_not_the_same_as_cannot_be_told(
    scored: Make, make_report: Make
) -> None:
    records = [
        *scored("copy", *[0.0] * 6, role="control"),
        *scored("a", *around(0.0007, 0.0001)),
        *scored("b", *[0.0] * 6),
    ]
    table = make_report(records).tables[0]
    assert not table.verdict.ahead
    assert (
        table.verdict.text
        == "No learner is clearly above the best control, copy (0.000); a (0.0007) is above it"
        " (0.000) in WADE above chance, by too little to matter; no significant difference from"
        " it: b; a is ahead of b by too little to matter."
    )


def ending(
    make_record: Make, learner: str, area: float, end: float, soon: float, role: str = "learner"
) -> list[Record]:
    """Six runs with an area under the curve, an accuracy at the end and the steps to 0.9."""
    rows = zip(
        around(area, area / 10),
        around(end),
        around(soon, soon / 50 if np.isfinite(soon) else 0.0),
        strict=True,
    )
    return [
        make_record(
            learner,
            role=role,
            repetition=run,
            scores={
                "log-area": {"version": 2, "values": {"log-area": one}},
                "accuracy": {"version": 1, "values": {"final-accuracy": two}},
                "steps-to-accuracy": {"version": 1, "values": {"steps-to-0.9": three}},
            },
        )
        for run, (one, two, three) in enumerate(rows)
    ]


def test_a_verdict_begins_with_where_learners_end_and_when_they_get_there(
    make_record: Make, make_report: Make
) -> None:
    """A learner that solves a task late has the area of one that never learns."""
    never = float("inf")
    records = [
        *ending(make_record, "majority", 0.214, 0.23, never, "control"),
        *ending(make_record, "late", 0.214, 0.93, 6889.0),
        *ending(make_record, "level", 0.214, 0.23, never),
        *ending(make_record, "poor", 0.1, 0.1, never),
    ]
    verdict = make_report(records).tables[0].verdict
    assert verdict.text.startswith(
        "At the end late (0.930) is above the best control, majority (0.230); level (0.230) is not"
        " shown to be above it; poor (0.100) is below it. Steps to 0.9 (training sequences): late"
        " 6,889. By accuracy over log data: no "
    )
    assert verdict.text.count("majority") == 2
    assert verdict.short == "1 of 3 above the best control at the end, 0 by accuracy over log data."
    few = (
        make_report([record for record in records if record.what["repetition"] < 2])
        .tables[0]
        .verdict.text
    )
    assert few.startswith("At the end late (0.9")
    assert "above" not in few.partition("By accuracy")[0]


def test_small_scores_are_not_shown_as_nothing() -> None:
    assert [score(value) for value in (0.00042, 0.000042, -0.0000042, 1e-17)] == [
        "0.0004",
        "0.00004",
        "−0.000004",
        "0.000",
    ]


def test_learners_with_replay_are_a_class_of_their_own(scored: Make, make_report: Make) -> None:
    records = [
        *scored("esn", *around(0.31)),
        *scored("reca", *around(0.11)),
        *scored("lstm", *around(0.61), passes=10),
        *scored("gru", *around(0.51), passes=10),
        *scored("majority", *around(0.01), role=CONTROL),
    ]
    table = make_report(records).tables[0]
    assert [(row.learner, row.role) for row in table.rows[:4]] == [
        ("esn", LEARNER),
        ("reca", LEARNER),
        ("lstm", REPLAY),
        ("gru", REPLAY),
    ]
    assert table.verdict.ahead == {LEARNER: "esn", REPLAY: "lstm"}
    once, again = table.verdict.text.split(" With replay: ")
    assert "esn is clearly ahead of reca" in once
    assert "lstm is clearly ahead of gru" in again
    assert "lstm" not in once


@pytest.mark.parametrize(
    ("examples", "facts", "role"),
    [
        (320, {"training_sequences": 32}, REPLAY),
        (32, {"training_sequences": 32}, LEARNER),
        # As published, a readout meets the first of its questions twice.
        (
            2335,
            {"training_sequences": 960, "item": "question", "tokens_per_sequence": 2334 / 960},
            LEARNER,
        ),
        (
            4668,
            {"training_sequences": 960, "item": "question", "tokens_per_sequence": 2334 / 960},
            REPLAY,
        ),
        (600, {"training_sequences": [300, 300]}, LEARNER),
        (6000, {"training_sequences": [300, 300]}, REPLAY),
    ],
)
def test_what_was_shown_makes_replay(
    make_record: Make, make_report: Make, examples: int, facts: dict[str, Any], role: str
) -> None:
    record = shown(make_record("relearning:learner=rnn"), examples, **facts)
    failed = make_record("relearning:learner=rnn", status="failed", repetition=1)
    (row,) = make_report([record, failed]).tables[0].rows
    assert (row.role, len(row.runs)) == (role, 2)


def test_a_learner_that_could_replay_but_did_not_is_none(
    make_record: Make, make_report: Make
) -> None:
    records = [shown(make_record("lstm", passes=10), 960, training_sequences=960)]
    assert [row.role for row in make_report(records).tables[0].rows] == [LEARNER]


def test_the_number_of_runs_comes_with_a_difference(scored: Make, make_report: Make) -> None:
    records = [
        *scored("copy", *around(0.2, runs=7), role="control"),
        *scored("esn", *around(0.5, runs=9)),
    ]
    row = make_report(records).tables[0].rows[0]
    assert (row.advantage.n, row.advantage.standing) == (7, "above")
    assert np.isclose(row.advantage.value, 0.3)


LEGEND = {
    "headline": "error",
    "second": "size",
    "question": "How exactly?",
    "columns": ["error", "size"],
    "scores": {
        "waves": {
            "error": {"better": "lower", "read": "log", "unit": "of the spread"},
            "size": {"better": "lower", "shown": "median", "least": 1.0, "words": {"inf": "never"}},
        }
    },
}


def waves(
    make_record: Make, learner: str, errors: list[float], size: float = 5.0, **more: Any
) -> list[Record]:
    """Runs of a family that is not installed, which carry how they are read."""
    legend = more.pop("legend", LEGEND)
    scores = [
        {"waves": {"version": 1, "values": {"error": error, "size": size}}} for error in errors
    ]
    records = [
        make_record(learner, "waves/sine", repetition=run, scores=score, **more)
        for run, score in enumerate(scores)
    ]
    what = {"protocol": {"id": "waves", "version": 1, "parameters": {}}}
    return [replace(record, what={**record.what, **what}, legend=legend) for record in records]


def test_records_are_read_without_the_code_that_made_them(
    make_record: Make, make_report: Make
) -> None:
    records = [
        *waves(make_record, "last", around(0.1), role="control"),
        *waves(make_record, "zero", around(1.0), role="control"),
        *waves(make_record, "fine", around(2e-9, 1e-10)),
        *waves(make_record, "coarse", around(4e-9, 1e-10)),
    ]
    table = make_report(records).tables[0]
    assert (table.headline, table.best_control, table.legend.question) == (
        "error",
        "last",
        "How exactly?",
    )
    assert [row.learner for row in table.rows] == ["fine", "coarse", "last", "zero"]
    # 0.1 over 2e-9 and over 4e-9; the means are geometric, so that the digits differ a little.
    assert [round(10 ** (row.advantage.value or 0) / 1e7) for row in table.rows[:2]] == [5, 2]
    text = table.verdict.text
    assert text.startswith("Above the best control, last (0.0998): fine by a factor of 4.9")
    assert text.endswith("fine is clearly ahead of coarse.")
    assert "2e-9" in as_html(make_report(records))


def test_a_run_without_end_makes_medians_the_judges(make_record: Make, make_report: Make) -> None:
    records = [
        *waves(make_record, "last", around(0.1), role="control"),
        *waves(make_record, "fine", around(2e-9, 1e-10)),
        *waves(make_record, "diverging", [0.01] * 4 + [float("inf")] * 2),
        *waves(make_record, "lost", [float("inf")] * 6),
    ]
    table = make_report(records).tables[0]
    assert [row.learner for row in table.rows] == ["fine", "diverging", "lost", "last"]
    text = table.verdict.text
    # Between two who are finite the means still judge, and they are geometric.
    assert table.judged.shown == "mean"
    assert "fine by a factor of 4.99e7" in text
    assert "lost is below it" in text
    assert text.endswith("fine is clearly ahead of diverging.")


def test_who_is_infinite_does_not_judge_the_others(make_record: Make, make_report: Make) -> None:
    others = [
        *waves(make_record, "last", around(0.1), role="control"),
        *waves(make_record, "zero", around(1.0), role="control"),
        *waves(make_record, "fine", around(2e-9, 1e-10)),
        *waves(make_record, "bad", around(9.0)),
    ]
    exact = waves(make_record, "exact", [0.0, *[1e-15] * 5], role="oracle")
    without, having = (make_report(records).tables[0] for records in (others, [*others, *exact]))
    assert having.verdict.text.startswith(without.verdict.text.removesuffix("."))
    assert "bad is below it" in having.verdict.text
    assert [row.advantage for row in having.rows[:2]] == [row.advantage for row in without.rows[:2]]


@pytest.mark.parametrize(("controls", "told"), [(2, True), (3, False)])
def test_where_few_runs_cannot_be_corrected_for_the_controls_that_is_said(
    make_record: Make, make_report: Make, controls: int, told: bool
) -> None:
    rules = [
        waves(make_record, f"rule-{rule}", around(10.0**rule), role="control")
        for rule in range(controls)
    ]
    never = float("inf")
    halting = waves(make_record, "halting", [*[5.0] * 4, never, never])
    lost = waves(make_record, "lost", [never] * 6)
    text = (
        make_report([*halting, *lost, *(record for rule in rules for record in rule)])
        .tables[0]
        .verdict.text
    )
    assert ("halting and lost are below it" in text) == told
    assert (
        "no significant difference from it: halting (6 runs are too few to correct for 3 controls)"
        in text
    ) != told
    assert told or "lost is below it" in text


def test_what_too_few_decimals_hide_still_counts_where_orders_of_magnitude_do(
    make_record: Make, make_report: Make
) -> None:
    records = [
        *waves(make_record, "rule", around(4e-9, 1e-11), role="control"),
        *waves(make_record, "fine", around(2e-9, 1e-11)),
        *waves(make_record, "level", around(3.99e-9, 1e-13)),
    ]
    text = make_report(records).tables[0].verdict.text
    assert "fine by a factor of 2 [" in text
    assert "by too little to matter" in text


@pytest.mark.parametrize("second", [{}, {"size": {"better": "lower", "shown": "median"}}])
def test_without_a_direction_there_is_no_verdict(
    make_record: Make, make_report: Make, second: dict[str, Any]
) -> None:
    legend = {**LEGEND, "scores": {"waves": second}}
    records = [
        *waves(make_record, "last", around(0.1), role="control", legend=legend),
        *waves(make_record, "fine", around(0.01, 0.001), legend=legend),
    ]
    data = make_report(records)
    assert "direction unknown, so there is no verdict" in data.tables[0].verdict.text
    assert not data.tables[0].verdict.ahead
    assert data.tables[0].best_control is None
    assert "direction unknown" in as_html(data)


def test_the_second_opinion_is_the_protocols_and_goes_by_its_direction(
    make_record: Make, make_report: Make
) -> None:
    records = [
        *waves(make_record, "long", around(0.1), size=90.0, role="control"),
        *waves(make_record, "short", around(0.1)[::-1], size=40.0, role="control"),
        *waves(make_record, "level", around(0.1)[::-1], size=7.0),
        *waves(make_record, "better", around(0.01, 0.001), size=50.0),
    ]
    text = make_report(records).tables[0].verdict.text
    assert "; by size level (7) is above the best control, short (40)" in text
    assert "; by size better (50) is not above the best control, short (40)" in text


def test_of_two_that_are_level_the_second_score_says_who_is_ahead(
    make_record: Make, make_report: Make
) -> None:
    """Two that pass a task are level, though one needs 57 steps and the other 11,095."""
    sizes = {"better": "lower", "shown": "median", "least": 1.0, "words": {"inf": "never"}}
    legend = {**LEGEND, "scores": {"waves": {**LEGEND["scores"]["waves"], "size": sizes}}}
    slow = waves(make_record, "slow", [0.1] * 6, size=11_095.0, legend=legend)
    quick = waves(make_record, "quick", [0.1] * 6, size=57.0, legend=legend)
    table = make_report([*slow, *quick]).tables[0]
    assert "but by size quick (57) is ahead of slow (11,095)" in table.verdict.text
    third = waves(make_record, "alike", [0.1] * 6, size=11_095.0, legend=legend)
    table = make_report([*slow, *third, *quick]).tables[0]
    assert [row.learner for row in table.rows] == ["quick", "alike", "slow"]
    assert "but by size" not in make_report([*slow, *third]).tables[0].verdict.text


@pytest.mark.parametrize(("apart", "role"), [(True, REPLAY), (False, LEARNER)])
def test_whether_replay_is_a_class_of_its_own_is_the_protocols_to_say(
    make_record: Make, make_report: Make, apart: bool, role: str
) -> None:
    records = waves(
        make_record,
        "lstm",
        [0.1] * 2,
        legend={**LEGEND, "replay_apart": apart, "again": "shown again"},
    )
    (row,) = make_report([shown(record, 960, passes=10) for record in records]).tables[0].rows
    assert row.role == role
    assert (
        "shown again" in as_html(make_report([shown(record, 960, passes=10) for record in records]))
    ) is apart


def test_scores_of_an_older_version_are_left_out_and_the_next_column_judges(
    make_record: Make, make_report: Make
) -> None:
    old = {
        "log-area": {"version": 1, "values": {"log-area": 0.9}},
        "wade": {"version": 1, "values": {"wade": 0.1}},
    }
    data = make_report([make_record(repetition=run, scores=old) for run in range(2)])
    assert data.tables[0].headline == "wade"
    assert "log-area" not in data.tables[0].rows[0].scores
    assert "older version of log-area than 2" in data.notes[0]


@pytest.mark.parametrize(("steps", "told"), [(30_000, True), (606, False)])
def test_a_rate_is_compared_over_equal_steps_only(
    make_record: Make, make_report: Make, steps: int, told: bool
) -> None:
    """The rate of one that passed early is that of its search alone: it says nothing against
    passing.
    """
    rate = {"better": "higher", "unit": "reward per step"}
    legend = {**LEGEND, "scores": {"waves": {**LEGEND["scores"]["waves"], "size": rate}}}
    control = waves(make_record, "echo", around(0.1), size=-0.7, role="control", legend=legend)
    fast = waves(make_record, "fast", around(0.01, 0.001), size=-0.8, legend=legend)
    records = [*(shown(one, 30_000) for one in control), *(shown(one, steps) for one in fast)]
    text = make_report(records).tables[0].verdict.text
    assert "Above the best control, echo" in text
    assert ("by size fast (-0.800) is not above" in text.replace("−", "-")) == told


def test_people_alone_are_not_called_controls(scored: Make, make_report: Make) -> None:
    people = [
        replace(one, labels={**one.labels, "role": "person"})
        for one in scored("person ann", *around(0.5))
    ]
    text = make_report(people).tables[0].verdict.text
    assert text == "Only people were examined: there is no learner to judge."


def test_learners_that_are_tied_on_a_task_share_its_rank(scored: Make, make_report: Make) -> None:
    """In the order of the alphabet `a` would come first on two tasks of three, though it is never
    better.
    """
    values = {"a": (0.0, 0.0, 0.0), "b": (1.0, 0.0, 0.0)}
    records = [
        run
        for name, own in values.items()
        for number, value in enumerate(own)
        for run in scored(
            name, *[value] * 6, task=f"language/{('qa', 'periodic', 'adjective-qa')[number]}"
        )
    ]
    text = FORMS["text"](make_report(records))
    first = [line.split()[0] for line in text.splitlines() if line.split()[:1] in (["a"], ["b"])]
    assert first[:2] == ["b", "a"]


def test_an_interval_as_wide_as_the_scale_is_only_named_so(scored: Make, make_report: Make) -> None:
    records = [
        *scored("copy", 0.3, 0.5, role="control"),
        *scored("esn", 0.1, 0.9),
        *scored("best", 0.9, 1.0, role="oracle"),
    ]
    (line,) = [
        one for one in FORMS["text"](make_report(records)).splitlines() if one.startswith("esn  ")
    ][:1]
    assert "± more than 1" in line


def test_where_all_are_at_the_ceiling_the_second_score_is_told(
    tmp_path: Any, make_report: Make
) -> None:
    """Task 2 is passed by an echo too, later: tasks passed tells them not apart, steps do."""
    import quickstudy as qs

    results = qs.run(
        "curriculum/micro-2", "table", seeds=2, protocol={"steps": 6000}, out=tmp_path, workers=1
    )
    (table,) = make_report(list(results.records)).tables
    told = next(one for one in table.verdict.remarks if one.startswith("All at 1"))
    steps = {row.learner: table.middle(row, "steps-to-pass") for row in table.rows}
    assert steps["table"] < steps["echo-byte"]
    assert f"table {steps['table']:g}" in told
    assert "echo-byte" in told
    assert "random-byte" not in told
