"""The atlas of rules: families by hand, choices and ranks on made-up runs, the picture, the
command.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.blocks import HeatMap, Page, Table, Text, every
from quickstudy.base.errors import UsageError
from quickstudy.base.record import OK, Record
from quickstudy.base.study import Study, find_study
from quickstudy.pages.page import page_of, screen_page
from quickstudy.pages.study_request import Request, stages_of
from quickstudy.render.html import as_html
from quickstudy.render.numbers import spoken
from quickstudy.render.svg import drawn
from quickstudy.runs.run_spec import Setting, identity, labels
from quickstudy.studies.wade_atlas.candidates import (
    TaskRuns,
    complemented,
    families,
    images,
    mirrored,
)
from quickstudy.studies.wade_atlas.chosen import order_of_published
from quickstudy.studies.wade_atlas.maps import symmetry

Make = Callable[..., Any]
MAIN, CRITERION = "wade-above-chance", "maximum-accuracy"
RULES = range(256)

STUDY = """
version = 1
title = "Four rules"
source = "nowhere"
kind = "atlas"
score = ["wade-above-chance", "maximum-accuracy"]
seeds = 3
[settings]
choosing_seeds = 2
criterion = "maximum-accuracy"
[settings.published]
"language/qa" = [2, 1]
[each]
rule = 4
[learners]
"{rule}" = "reca:rule={rule}"
[[rows]]
task = "language/qa"
label = "5 qa"
[[rows]]
task = "language/world-qa"
label = "7 world-qa"
"""


@pytest.mark.parametrize(
    ("rule", "family"),
    [
        (110, {110, 124, 137, 193}),
        (30, {30, 86, 135, 149}),
        (90, {90, 165}),
        (184, {184, 226}),
        (204, {204}),
    ],
)
def test_images_by_hand(rule: int, family: set[int]) -> None:
    assert set(images(rule)) == family


def test_mirror_and_complement_of_a_shift() -> None:
    # 170 copies the right neighbour, 240 the left one; copying is copying for zeros as for ones.
    assert (mirrored(170), complemented(170)) == (240, 170)
    assert (mirrored(0), complemented(0)) == (0, 255)


def test_there_are_88_families_and_they_hold_every_rule_once() -> None:
    found = families()
    assert len(found) == 88
    assert sorted(rule for family in found for rule in set(family)) == list(RULES)


@given(st.sampled_from(RULES))
def test_both_images_are_their_own_inverses_and_commute(rule: int) -> None:
    assert mirrored(mirrored(rule)) == complemented(complemented(rule)) == rule
    assert mirrored(complemented(rule)) == complemented(mirrored(rule))


def run_of(
    task: str, rule: int, root: int, repetition: int, main: float, accuracy: float
) -> Record:
    setting = Setting(task, f"reca:rule={rule}", root=root)
    parts = setting.resolve()
    scores = {
        MAIN: {"version": 1, "values": {MAIN: main}},
        "accuracy": {"version": 1, "values": {CRITERION: accuracy}},
    }
    return Record(
        identity(setting, parts, repetition), OK, scores=scores, labels=labels(setting, parts)
    )


CHOOSING = {
    0: [(0.1, 0.5), (0.1, 0.5)],
    1: [(0.5, 0.6), (0.3, 0.6)],
    2: [(0.2, 0.7), (0.4, 0.9)],
    3: [(0.0, 0.5)] * 2,
}
REPORTED = {1: [(0.3, 0.6), (0.3, 0.6), (0.36, 0.6)], 2: [(0.2, 0.8), (0.2, 0.8), (0.26, 0.8)]}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    path = tmp_path / "four.toml"
    path.write_text(STUDY)
    return find_study(str(path))


def runs(
    choosing: dict[int, list[tuple[float, float]]], reported: dict[int, list[tuple[float, float]]]
) -> list[Record]:
    return [
        run_of("language/qa", rule, root, repetition, *scores)
        for root, found in ((1, choosing), (0, reported))
        for rule, values in found.items()
        for repetition, scores in enumerate(values)
    ]


def request_of(study: Study, folder: Path, seeds: int = 3) -> Request:
    return Request(study, folder, "corrected", seeds)


def grid(page: Page, name: str) -> dict[str, tuple[str, ...]]:
    found = next(one for one in every(page.blocks) if isinstance(one, Table) and one.name == name)
    rows = [tuple(map(spoken, line.cells)) for line in found.lines]
    return {row[0]: row for row in rows}


def texts(page: Page) -> list[Text]:
    return [one for one in every(screen_page(page).blocks) if isinstance(one, Text)]


def the_map(page: Page) -> HeatMap:
    return next(one for one in every(page.blocks) if isinstance(one, HeatMap))


def test_rules_are_chosen_on_other_seeds_than_those_reported(
    study: Study, save: Make, tmp_path: Path
) -> None:
    folder = save(tmp_path / "runs", runs(CHOOSING, {}))
    first, second = stages_of(request_of(study, folder))
    assert first.seeds == 2
    assert {setting.root for setting in first.settings} == {1}
    assert len(first.settings) == 8
    assert second.seeds == 3
    # Rule 1 has the best score (0.4 against 0.3), rule 2 the best accuracy and is the published
    # one; nothing is known of the other task.
    assert [(one.task, one.learner, one.root) for one in second.settings] == [
        ("language/qa", "reca:rule=1", 0),
        ("language/qa", "reca:rule=2", 0),
    ]


def test_nothing_more_is_run_where_nothing_was_chosen(study: Study, tmp_path: Path) -> None:
    assert len(list(stages_of(request_of(study, tmp_path / "none")))) == 1


def test_the_page_has_choice_ranks_and_optimism(study: Study, save: Make, tmp_path: Path) -> None:
    folder = save(tmp_path / "runs", runs(CHOOSING, REPORTED))
    page = page_of(request_of(study, folder))
    chosen = page.facts["tasks"][MAIN]["language/qa"]
    assert chosen["rule"] == 1
    assert chosen["choosing_mean"] == pytest.approx(0.4)
    assert chosen["reported_mean"] == pytest.approx(0.32)
    assert chosen["optimism"] == pytest.approx(0.08)
    assert chosen["published_rule_mean"] == pytest.approx(0.22)
    assert (chosen["rank_by_criterion"], chosen["published_rank"]) == (2, 2)
    assert page.facts["tasks"][CRITERION]["language/qa"]["rule"] == 2
    row = grid(page, "four-corrected-wade-above-chance")["5 qa"]
    assert row[1] == "1"
    assert row[5].startswith("+0.080")
    beside = grid(page, "four-corrected-wade-above-chance-published")["5 qa"]
    assert beside[1:4] == ("2", "2 of 4", "1 of 4")
    assert beside[5].startswith("+0.100")
    assert grid(page, "four-corrected-maximum-accuracy-published")["5 qa"][5] == "the same rule"
    # In the published list 2 comes before 1, and so it does here: both are among the two best.
    assert grid(page, "four-corrected-order")["5 qa"][1:5] == ("2", "2 of 2", "1.0", "1.5")
    assert page.whole
    # Two choosing runs have an interval, but are no ground for a verdict.
    assert row[3].startswith("0.400 ±")
    assert any(
        "no verdict on 1, where there are fewer than 6 runs" in part.text for part in texts(page)
    )


def test_six_runs_of_each_are_enough_for_a_verdict(
    study: Study, save: Make, tmp_path: Path
) -> None:
    more = replace(study, settings={**study.settings, "choosing_seeds": 6})
    found = runs(
        {rule: values * 3 for rule, values in CHOOSING.items()},
        {rule: v * 3 for rule, v in REPORTED.items()},
    )
    said = " ".join(
        part.text for part in texts(page_of(request_of(more, save(tmp_path / "runs", found))))
    )
    assert "where they differ, by the interval: more on 1." in said
    assert "the rest" not in said


def test_the_colours_have_numbers(study: Study, save: Make, tmp_path: Path) -> None:
    page = page_of(request_of(study, save(tmp_path / "runs", runs(CHOOSING, {}))))
    picture = the_map(page)
    low, high = (f"{pick(float(row[2]) for row in picture.data[1:]):.3f}" for pick in (min, max))
    assert all(f"{low} to {high}" in svg for svg in drawn(picture))


def test_more_choosing_runs_than_wanted_change_nothing(
    study: Study, save: Make, tmp_path: Path
) -> None:
    more = {**CHOOSING, 3: [(0.0, 0.5), (0.0, 0.5), (1.0, 1.0)]}
    page = page_of(request_of(study, save(tmp_path / "runs", runs(more, {}))))
    assert page.facts["tasks"][MAIN]["language/qa"]["rule"] == 1


def test_what_is_missing_is_named(study: Study, save: Make, tmp_path: Path) -> None:
    # A single lucky run does not make a rule the best.
    partial = {**CHOOSING, 3: [(0.9, 0.9)]}
    page = page_of(request_of(study, save(tmp_path / "runs", runs(partial, {}))))
    opening = texts(page)[0]
    assert "7 of 16 choosing runs are stored" in opening.text
    assert (
        "5 qa compares 3 rules with 2 runs each; 1 with fewer or none are left out" in opening.text
    )
    assert "7 world-qa has no runs yet" in opening.text
    assert page.facts["tasks"][MAIN]["language/qa"]["rule"] == 1
    assert any("no runs on the reported seeds yet" in one.text for one in texts(page))


def test_a_folder_without_runs_gives_a_page(study: Study, tmp_path: Path) -> None:
    page = page_of(request_of(study, tmp_path / "none"))
    assert len(screen_page(page).blocks) == 1
    assert "0 of 16 choosing runs" in as_html(page)


def test_columns_of_an_atlas_are_rules(tmp_path: Path) -> None:
    path = tmp_path / "words.toml"
    path.write_text(STUDY.replace('"{rule}" =', '"rule {rule}" ='))
    with pytest.raises(
        UsageError, match='a column of an atlas is a rule from 0 to 255, got "rule 0"'
    ):
        list(stages_of(request_of(find_study(str(path)), tmp_path)))


def task_runs(study: Study, found: dict[int, list[float]]) -> TaskRuns:
    choosing = {
        str(rule): {
            (1, seed): run_of("language/qa", rule, 1, seed, value, value)
            for seed, value in enumerate(values)
        }
        for rule, values in found.items()
    }
    return TaskRuns(study.rows[0], (MAIN, CRITERION), choosing, {})


def test_rules_that_are_level_share_their_places(study: Study) -> None:
    task = task_runs(study, {7: [0.3], 8: [0.5], 9: [0.5], 10: [0.1]})
    assert [task.rank(str(rule), MAIN) for rule in (7, 8, 9, 10, 11)] == [3, 1.5, 1.5, 4, None]
    assert task.chosen(MAIN) == "8"


def test_the_lowest_is_chosen_where_lower_is_better(study: Study) -> None:
    legend = {"scores": {MAIN: {MAIN: {"better": "lower"}}}}
    found = task_runs(study, {7: [0.3], 8: [0.5], 9: [0.1], 10: [0.1]})
    runs = {
        rule: {seed: replace(one, legend=legend) for seed, one in of.items()}
        for rule, of in found.choosing.items()
    }
    task = replace(found, choosing=runs)
    assert task.chosen(MAIN) == "9"
    assert [task.rank(str(rule), MAIN) for rule in (7, 8, 9, 10)] == [3, 4, 1.5, 1.5]
    unknown = replace(
        found,
        choosing={
            rule: {
                seed: replace(one, legend={"scores": {MAIN: {MAIN: {}}}})
                for seed, one in of.items()
            }
            for rule, of in found.choosing.items()
        },
    )
    assert (unknown.chosen(MAIN), unknown.rank("7", MAIN)) == (None, None)


def test_disagreement_of_mirror_images_in_standard_errors(study: Study) -> None:
    # Differences 0.1 and 0.3: mean 0.2, standard deviation 0.1414, standard error 0.1.
    task = task_runs(study, {110: [0.5, 0.7], 124: [0.4, 0.4], 137: [0.5, 0.7], 90: [0.1, 0.2]})
    found = symmetry(MAIN, [task])
    facts = found.facts["symmetry"]
    assert facts["reflection"] == {"pairs": 1, "largest": pytest.approx(2.0), "beyond_two": 0}
    assert facts["complement"] == {"pairs": 1, "largest": 0.0, "beyond_two": 0}
    text = " ".join(one.text for one in every(found.blocks) if isinstance(one, Text))
    # With two runs, a difference beyond 2 standard errors has probability 0.295 (Student's t, one
    # degree of freedom).
    assert "Of 1 pair, 0 are over 2 standard errors apart (0 are expected by chance)" in text
    assert "2.0 standard errors, rules 110 and 124 on 5 qa" in text
    assert "with probability 0.3" in text


def test_without_pairs_there_is_no_symmetry_to_check(study: Study) -> None:
    found = symmetry(MAIN, [task_runs(study, {110: [0.5]})])
    assert found.facts["symmetry"]["reflection"]["largest"] is None
    assert any("no pair" in one.text for one in every(found.blocks) if isinstance(one, Text))


def test_a_list_in_the_opposite_order_disagrees(study: Study, tmp_path: Path) -> None:
    # Published: 2 before 1; here 1 is better.
    found = order_of_published(
        request_of(study, tmp_path), [task_runs(study, {1: [0.9], 2: [0.8], 3: [0.1]})]
    )
    (table,) = (one for one in every(found) if isinstance(one, Table))
    assert spoken(table.lines[0].cells[5]) == "−1.000"


def test_the_map_has_a_column_a_family_and_marks_the_best_and_the_published(
    study: Study, save: Make, tmp_path: Path
) -> None:
    page = page_of(request_of(study, save(tmp_path / "runs", runs(CHOOSING, {}))))
    found = the_map(page)
    assert (found.rows, len(found.columns)) == (["5 qa"], 88)
    # Of the families that were tried, that of the best rule comes first.
    assert found.columns[:4] == ["1", "2", "0", "3"]
    # Rule 1 is its own mirror image.
    assert found.values[0][0] == [pytest.approx(0.4), pytest.approx(0.4), None, None]
    assert found.marks == [(0, 1, 0, "published rule 2"), (0, 0, 0, "best rule 1")]
    for svg in drawn(found):
        words = " ".join(xml.etree.ElementTree.fromstring(svg).itertext())
        assert "5 qa" in words
        assert "best rule 1" in words


def test_the_numbers_behind_the_map_are_a_file(study: Study, save: Make, tmp_path: Path) -> None:
    page = page_of(request_of(study, save(tmp_path / "runs", runs(CHOOSING, {}))))
    picture = the_map(page)
    assert picture.data[:2] == [("rule", "family", "5 qa"), ("0", "0", "0.1")]
    assert len(picture.data) == 5


def test_the_published_atlas_has_all_rules_and_ten_of_each_task() -> None:
    study = find_study("wade-atlas")
    assert [int(column) for column in study.columns] == list(RULES)
    assert {
        row.task: len(study.settings["published"][row.task]) for row in study.rows
    } == dict.fromkeys((row.task for row in study.rows), 10)
    # The first of each list is the rule of the published table.
    table = find_study("wade-table4")
    for row in table.rows:
        rule = study.settings["published"][row.task][0]
        assert row.learner("ReCA", "published") == f"reca:rule={rule}"


def test_the_command_runs_both_stages(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from quickstudy.cli.main import app

    path = tmp_path / "rules.toml"
    rows = STUDY.replace(
        '"{rule}" = "reca:rule={rule}"', '"0" = "copy-last"\n"1" = "majority"'
    ).replace("[each]\nrule = 4\n", "")
    path.write_text(rows.replace("choosing_seeds = 2", "choosing_seeds = 1"))
    out = tmp_path / "results"
    done = CliRunner().invoke(
        app,
        [
            "reproduce",
            str(path),
            "-o",
            str(out),
            "--only",
            "language/qa",
            "--seeds",
            "1",
            "-j",
            "0",
            "--json",
        ],
    )
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    # The token just read is a question mark, never an answer.
    assert facts["tasks"][CRITERION]["language/qa"]["rule"] == 1
    assert facts["tasks"][CRITERION]["language/qa"]["reported_runs"] == 1
    assert (out / "rules-published-map.svg").is_file()
    assert not (out / "report.html").exists()
