"""What is said of a task: who is above the best control, who is ahead, and when nothing can be said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quickstudy.base.record import Record
from quickstudy.report.html import as_html
from quickstudy.report.model import CONTROL, LEARNER, REPLAY
from quickstudy.report.numbers import score
from quickstudy.report.verdict import clear_winner, verdict

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
    winner = clear_winner(table)
    assert winner is not None
    assert winner.learner == "strong"
    text = verdict(table)
    assert text.startswith("Above the best control, copy (0.200): strong by 0.310 [")
    assert "level cannot be told from it" in text
    assert "weak is below it" in text
    assert text.endswith("strong is clearly ahead of level.")
    assert (
        verdict(make_report([*control, *weak]).tables[0])
        == "No learner is above the best control, copy (0.200); weak is below it."
    )
    assert "no control was run" in verdict(make_report(strong).tables[0])
    assert "there is no learner" in verdict(make_report(control).tables[0])
    assert "nothing to compare" in verdict(make_report([make_record(status="failed")]).tables[0])


def test_fewer_than_six_runs_give_no_verdict(scored: Make, make_report: Make) -> None:
    runs = [*scored("copy", 0.2, 0.21, role="control"), *scored("esn", 0.5, 0.52), *scored("reca", 0.9, 0.92)]
    table = make_report(runs).tables[0]
    assert clear_winner(table) is None
    assert verdict(table) == (
        "reca has WADE above chance 0.910 and esn has WADE above chance 0.510, best control copy 0.205: "
        "2 runs of each learner are too few for a verdict, 6 would do."
    )
    assert "<strong>" not in as_html(make_report(runs)).partition("<script")[0]


@pytest.mark.parametrize(("runs", "told"), [(5, False), (6, True)])
def test_six_runs_give_one(scored: Make, make_report: Make, runs: int, told: bool) -> None:
    records = scored("copy", *around(0.2, runs=runs), role="control") + scored("esn", *around(0.5, runs=runs))
    assert verdict(make_report(records).tables[0]).startswith("Above the best control") is told


def test_those_with_enough_runs_are_judged_without_the_others(scored: Make, make_report: Make) -> None:
    records = [*scored("copy", *around(0.2), role="control"), *scored("esn", *around(0.5)), *scored("new", 0.9)]
    text = verdict(make_report(records).tables[0])
    assert text.startswith("Above the best control, copy (0.200): esn by 0.300 [")
    assert text.endswith("; 1 run of new is too few for a verdict, 6 would do.")


def test_a_control_with_too_few_runs_is_named(scored: Make, make_report: Make) -> None:
    records = [*scored("copy", 0.2, 0.2, role="control"), *scored("esn", *around(0.5))]
    assert verdict(make_report(records).tables[0]).endswith("2 runs of copy are too few for a verdict, 6 would do.")


def test_overlapping_intervals_have_no_winner(scored: Make, make_report: Make) -> None:
    table = make_report([*scored("a", *around(0.5, 0.1)), *scored("b", *around(0.505, 0.05))]).tables[0]
    assert clear_winner(table) is None
    assert "b and a cannot be told apart" in verdict(table)


def test_too_small_to_matter_is_not_the_same_as_cannot_be_told(scored: Make, make_report: Make) -> None:
    records = [
        *scored("copy", *[0.0] * 6, role="control"),
        *scored("a", *around(0.0007, 0.0001)),
        *scored("b", *[0.0] * 6),
    ]
    table = make_report(records).tables[0]
    assert clear_winner(table) is None
    assert verdict(table) == (
        "No learner is clearly above the best control, copy (0.000); a (0.0007) is above it (0.000) in "
        "WADE above chance, by too little to matter; b cannot be told from it; a is ahead of b by too little to matter."
    )


def test_where_the_headline_says_little_the_accuracy_is_named(make_record: Make, make_report: Make) -> None:
    def runs(learner: str, wade: float, accuracy: float, role: str = "learner") -> list[Record]:
        values = zip(around(wade, wade / 10), around(accuracy), strict=True)
        return [
            make_record(
                learner,
                role=role,
                repetition=run,
                scores={
                    "wade-above-chance": {"version": 1, "values": {"wade-above-chance": one}},
                    "accuracy": {"version": 1, "values": {"final-accuracy": two}},
                },
            )
            for run, (one, two) in enumerate(values)
        ]

    control = runs("majority", 0.0, 0.53, "control")
    text = verdict(make_report([*control, *runs("reca", 0.0007, 0.79), *runs("esn", 0.0, 0.53)]).tables[0])
    assert "; by final accuracy reca (0.790) is above the best control, majority (0.530)" in text
    assert "by final accuracy" not in verdict(make_report([*control, *runs("reca", 0.2, 0.79)]).tables[0])


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
    assert [getattr(clear_winner(table, role), "learner", None) for role in (LEARNER, REPLAY)] == ["esn", "lstm"]
    once, again = verdict(table).split(" With replay: ")
    assert "esn is clearly ahead of reca" in once
    assert "lstm is clearly ahead of gru" in again
    assert "lstm" not in once


@pytest.mark.parametrize(
    ("examples", "facts", "role"),
    [
        (320, {"training_sequences": 32}, REPLAY),
        (32, {"training_sequences": 32}, LEARNER),
        # As published, a readout meets the first of its questions twice.
        (2335, {"training_sequences": 960, "item": "question", "tokens_per_sequence": 2334 / 960}, LEARNER),
        (4668, {"training_sequences": 960, "item": "question", "tokens_per_sequence": 2334 / 960}, REPLAY),
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


def test_a_learner_that_could_replay_but_did_not_is_none(make_record: Make, make_report: Make) -> None:
    records = [shown(make_record("lstm", passes=10), 960, training_sequences=960)]
    assert [row.role for row in make_report(records).tables[0].rows] == [LEARNER]


def test_the_number_of_runs_comes_with_a_difference(scored: Make, make_report: Make) -> None:
    records = [*scored("copy", *around(0.2, runs=7), role="control"), *scored("esn", *around(0.5, runs=9))]
    row = make_report(records).tables[0].rows[0]
    assert (row.advantage.n, row.advantage.standing) == (7, "above")
    assert np.isclose(row.advantage.value, 0.3)
