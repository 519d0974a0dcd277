"""Two learners, paired by task and seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.report.compare import compare, table_of
from quickstudy.report.family_tests import detectable_effect
from quickstudy.report.ranking import overall
from quickstudy.stats.paired import stratified_sign_flips

Make = Callable[..., Any]


def scored(make_record: Make, learner: str, *values: float, **more: Any) -> list[Any]:
    scores = [
        {"wade-above-chance": {"version": 1, "values": {"wade-above-chance": value}}}
        for value in values
    ]
    return [
        make_record(learner, repetition=seed, scores=score, **more)
        for seed, score in enumerate(scores)
    ]


def test_pairs_are_by_seed_and_the_numbers_are_right(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    first = scored(make_record, "a", 0.5, 0.6, 0.7, 0.8, 0.9, 0.6, 0.7)
    second = scored(make_record, "b", 0.4, 0.4, 0.4, 0.4, 0.4, 0.4)
    (row,) = compare(save(tmp_path, [*first, *second]), "a", "b")
    assert row.pairs == 6  # the seventh seed of a has no partner
    assert row.difference == pytest.approx((0.1 + 0.2 + 0.3 + 0.4 + 0.5 + 0.2) / 6)
    assert row.p == pytest.approx(2 / 2**6)  # all six differences have one sign
    assert row.adjusted == row.p
    assert row.better == "a"
    assert row.low > 0
    (other,) = compare(tmp_path, "b", "a")
    assert other.difference == -row.difference
    assert other.better == "a"


def test_six_seeds_decide_over_the_tasks_of_a_family(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = []
    for number, task in enumerate(("language/qa", "language/periodic")):
        records += scored(
            make_record, "a", *[0.5 + 0.01 * seed + 0.1 * number for seed in range(6)], task=task
        )
        records += scored(make_record, "b", *[0.4] * 6, task=task)
    rows = compare(save(tmp_path, records), "a", "b")
    assert [row.p for row in rows] == pytest.approx([1 / 32, 1 / 32])
    assert [row.family.p for row in rows] == pytest.approx(
        [2 / 2**12] * 2
    )  # twelve pairs, all of one sign
    assert [(row.better, row.adjusted) for row in rows] == [("a", 2 / 2**12)] * 2
    assert (
        rows[0].family.as_text()
        == "language (corrected): a is better (over 2 tasks, 12 pairs, p 0.000488, Holm 0.000488)"
    )


def test_families_are_corrected_for_their_number(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = []
    for task in ("language/qa", "grammar/an-bn"):
        records += scored(make_record, "a", *[0.5 + 0.01 * seed for seed in range(6)], task=task)
        records += scored(make_record, "b", *[0.4] * 6, task=task)
    rows = compare(save(tmp_path, records), "a", "b")
    assert [row.adjusted for row in rows] == pytest.approx([1 / 16, 1 / 16])
    assert {row.family.verdict() for row in rows} == {
        "no verdict: 6 pairs are too few, 7 are needed"
    }
    assert all(
        math.isnan(row.detectable) for row in rows
    )  # where nothing can be found, no difference is detectable


def test_two_protocols_of_a_task_share_their_data_and_are_one_test(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = []
    for sequences in (600, 1200):
        protocol = {"sequences": sequences}
        records += scored(
            make_record, "a", *[0.5 + 0.01 * seed for seed in range(6)], protocol=protocol
        )
        records += scored(make_record, "b", *[0.4] * 6, protocol=protocol)
    rows = compare(save(tmp_path, records), "a", "b")
    assert len(rows) == 2
    assert [(row.family.tasks, row.family.pairs, row.family.p) for row in rows] == [
        (1, 6, 1 / 32)
    ] * 2


def test_one_pass_is_not_ranked_against_replay(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = [
        *scored(make_record, "a", *[0.9] * 6),
        *scored(make_record, "b", *[0.4] * 6, passes=10),
        *scored(make_record, "a", *[0.9] * 6, task="language/periodic", passes=10),
        *scored(make_record, "b", *[0.4] * 6, task="language/periodic", passes=10),
    ]
    save(tmp_path, records)
    by_task = {row.task: row for row in compare(tmp_path, "a", "b")}
    assert by_task["language/qa"].remark == "one pass is not ranked against replay"
    assert by_task["language/periodic"].remark == ""
    assert by_task["language/periodic"].family.tasks == 1
    found = overall(table_of(tmp_path), ["a", "b"])
    assert (list(found.tasks), list(found.mixed)) == (
        ["language/periodic (corrected)"],
        ["language/qa (corrected)"],
    )
    (alone,) = compare(save(tmp_path / "alone", records[:12]), "a", "b")
    assert (alone.better, alone.family.verdict()) == (
        "",
        "no verdict: one pass is not ranked against replay",
    )


@pytest.mark.parametrize(
    ("names", "words"),
    [(("a", "c"), 'no runs of a learner "c"'), (("a", "lonely"), "share no task")],
)
def test_what_cannot_be_compared(
    make_record: Make, save: Make, tmp_path: Path, names: tuple[str, str], words: str
) -> None:
    records = [
        *scored(make_record, "a", 0.1, 0.2),
        *scored(make_record, "lonely", 0.1, 0.2, task="language/periodic"),
    ]
    with pytest.raises(UsageError, match=words):
        compare(save(tmp_path, records), *names)


def test_an_unknown_score_is_answered_with_the_nearest(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = [*scored(make_record, "a", 0.1, 0.2), *scored(make_record, "b", 0.1, 0.2)]
    with pytest.raises(UsageError, match="wade-above-chance"):
        compare(save(tmp_path, records), "a", "b", score="wade-above-chanc")


LEGEND = {
    "headline": "error",
    "scores": {
        "m": {
            "error": {"better": "lower", "read": "log"},
            "steps": {"better": "lower", "shown": "median", "words": {"inf": "never"}},
            "depth": {},
        }
    },
}


def runs(make_record: Make, learner: str, name: str, *values: float) -> list[Any]:
    scores = [{"m": {"version": 1, "values": {name: value}}} for value in values]
    return [
        replace(make_record(learner, repetition=seed, scores=score), legend=LEGEND)
        for seed, score in enumerate(scores)
    ]


def test_lower_is_better_where_the_records_say_so(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = runs(make_record, "a", "error", *[1e-9] * 6) + runs(
        make_record, "b", "error", *[2e-9] * 6
    )
    (row,) = compare(save(tmp_path, records), "a", "b")
    assert (row.score, row.better, row.p) == ("error", "a", 2 / 2**6)
    assert row.difference == pytest.approx(-0.30103)
    assert row.as_text()[2:4] == ("1e-9 against 2e-9", "ratio 0.5 [0.5, 0.5]")
    assert row.as_facts()["direction"] == "lower"


def test_never_is_compared_by_ranks(make_record: Make, save: Make, tmp_path: Path) -> None:
    never = float("inf")
    records = runs(make_record, "a", "steps", 8, 9, 10, 11, 12, never)
    records += runs(make_record, "b", "steps", 30, never, never, never, never, never)
    (row,) = compare(save(tmp_path, records), "a", "b", score="steps")
    assert (row.statistic, row.first_mean, row.second_mean) == ("median", 10.5, never)
    # Five pairs have one sign and the sixth does not differ: 4 of 64 sign flips are as far out.
    assert row.p == pytest.approx(4 / 64)
    assert row.better == ""
    # Six pairs differ by the least and the greatest of their differences: that of never and never
    # is 0.
    assert row.as_text()[2:4] == ("median 10.5 against never", "difference -∞ [-∞, +0.000]")
    records += [
        replace(record, what={**record.what, "root": 1}) for record in records[:5] + records[6:11]
    ]
    (more,) = compare(save(tmp_path / "more", records), "a", "b", score="steps")
    assert more.better == "a"


def test_a_difference_that_does_not_matter_is_called_so_and_is_seen(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = scored(make_record, "a", *[0.50012] * 6) + scored(make_record, "b", *[0.5] * 6)
    (row,) = compare(save(tmp_path / "plain", records), "a", "b")
    assert row.better == "a"
    assert row.as_text()[3] == "difference +0.00012 [+0.00012, +0.00012]"
    assert row.family.verdict() == "a is better, by too little to matter"
    records = runs(make_record, "a", "error", *[1e-9] * 6) + runs(
        make_record, "b", "error", *[1.0012e-9] * 6
    )
    (row,) = compare(save(tmp_path / "log", records), "a", "b")
    assert (row.as_text()[3], row.family.verdict()) == (
        "ratio 0.9988 [0.9988, 0.9988]",
        "a is better, by too little to matter",
    )
    records = runs(make_record, "a", "error", *[1.002] * 6) + runs(
        make_record, "b", "error", *[1002.0] * 6
    )
    (row,) = compare(save(tmp_path / "far", records), "b", "a")
    assert row.as_text()[2:4] == ("1,002 against 1", "ratio 1,000 [1,000, 1,000]")


def test_without_a_direction_nobody_is_better(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    records = runs(make_record, "a", "depth", *[1.0] * 6) + runs(
        make_record, "b", "depth", *[2.0] * 6
    )
    (row,) = compare(save(tmp_path, records), "a", "b", score="depth")
    assert (row.better, row.family.verdict()) == ("", "no verdict: direction unknown")


def test_scores_that_were_added_in_a_copy_of_a_folder_are_compared(
    make_record: Make, save: Make, tmp_path: Path
) -> None:
    later = [*runs(make_record, "a", "depth", 1, 2, 3), *runs(make_record, "b", "depth", 2, 3, 4)]
    before = [replace(record, scores={}) for record in later]
    folders = save(tmp_path / "one", before), save(tmp_path / "two", later)
    for places in (folders, folders[::-1]):
        (row,) = compare(places, "a", "b", score="depth")
        assert (row.pairs, row.first_mean, row.second_mean) == (3, 2.0, 3.0)


def test_the_detectable_difference_is_found_four_times_out_of_five_at_the_corrected_level() -> None:
    rng, tests = np.random.default_rng(3), 3
    effect = detectable_effect(12, 2, tests)
    said = [
        stratified_sign_flips(rng.normal(effect, 1.0, (2, 6)), rng=0).p <= 0.05 / tests
        for _ in range(600)
    ]
    assert 0.72 < np.mean(said) < 0.92
    assert math.isnan(detectable_effect(6, 1, 2))
