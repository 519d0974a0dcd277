"""The pages of studies that are figures: curves, the illustration, the thresholds; and their forms
as files.
"""

from __future__ import annotations

import csv
import pathlib
import re
import xml.dom.minidom
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.blocks import Page, Plot, Table, Text, every
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure, parameters_of
from quickstudy.base.study import Published, Study, StudyRow
from quickstudy.base.trace import Trace
from quickstudy.measures.learning_curve import data_efficiency
from quickstudy.pages.curves import curve_of
from quickstudy.pages.page import page_of, screen_page
from quickstudy.pages.study_request import Request, blocks_of, stages_of
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.render.html import as_html
from quickstudy.render.numbers import spoken
from quickstudy.render.svg import drawn
from quickstudy.render.terminal import as_text
from quickstudy.render.write_page import write_page
from quickstudy.studies.wade_grid import PUBLISHED, Choice, scores, shift

Make = Callable[..., Any]
PUBLISHED_NUMBERS = {"First": Published(0.30, 0.05), "human": Published(0.15)}
ROWS = (
    StudyRow("language/qa", "5 qa", {"First": "majority", "Second": "polarity"}, PUBLISHED_NUMBERS),
    StudyRow("language/harder-qa", "6 harder-qa", {"First": "majority", "Second": "polarity"}, {}),
)


def a_request(
    folder: pathlib.Path, kind: str, rows: tuple[StudyRow, ...] = ROWS, **settings: Any
) -> Request:
    columns = ("First", "Second", "human")
    study = Study(
        "mini",
        1,
        "A figure",
        "nowhere",
        kind,
        ("wade",),
        100,
        columns,
        rows,
        runs="mini",
        settings=settings,
    )
    return Request(study, folder, "published", 2)


@pytest.fixture
def fill(make_record: Make, save: Make, tmp_path: pathlib.Path) -> Make:
    """Write runs, given as curves by learner and task, and give the folder."""
    protocol = parameters_of(configure("language", LanguageProtocol, {}, "published"))

    def write(*runs: tuple[str, str, list[tuple[list[float], list[float]]]]) -> pathlib.Path:
        more = {"role": "control", "convention": "published", "protocol": protocol}
        records = [
            make_record(learner, task, curve=curve, repetition=repetition, **more)
            for learner, task, found in runs
            for repetition, curve in enumerate(found)
        ]
        return pathlib.Path(save(tmp_path / "runs", records))

    return write


def pictures(page: Page) -> list[Plot]:
    return [one for one in every(page.blocks) if isinstance(one, Plot)]


def tables(page: Page) -> list[Table]:
    return [one for one in every(page.blocks) if isinstance(one, Table)]


def rows_of(table: Table) -> list[tuple[str, ...]]:
    """The rows as they are read."""
    return [tuple(map(spoken, line.cells)) for line in table.lines]


def words(page: Page) -> str:
    return " ".join(one.text for one in every(screen_page(page).blocks) if isinstance(one, Text))


TWO = [([1.0, 2, 4], [0.2, 0.4, 0.6]), ([1.0, 2, 4], [0.4, 0.4, 1.0])]


def test_curves_are_means_with_the_standard_deviation_over_runs(fill: Make) -> None:
    folder = fill(("majority", "language/qa", TWO), ("polarity", "language/qa", TWO[:1]))
    page = page_of(a_request(folder, "curves"))
    (picture,) = pictures(page)
    assert picture.data[0] == (
        "task",
        "model",
        "runs",
        "sequences",
        "mean accuracy",
        "standard deviation",
    )
    assert list(picture.data[1:4]) == [
        ("5 qa", "First", "2", "1", "0.3", "0.141421"),
        ("5 qa", "First", "2", "2", "0.4", "0"),
        ("5 qa", "First", "2", "4", "0.8", "0.282843"),
    ]
    assert [line[1:] for line in picture.data[4:]] == [
        ("Second", "1", "1", "0.2", "0"),
        ("Second", "1", "2", "0.4", "0"),
        ("Second", "1", "4", "0.6", "0"),
    ]
    assert "standard deviation over runs" in picture.caption


def test_every_panel_has_its_curves_and_a_legend_with_published_and_measured(fill: Make) -> None:
    runs = [
        (learner, task, TWO)
        for learner in ("majority", "polarity")
        for task in ("language/qa", "language/harder-qa")
    ]
    page = page_of(a_request(fill(*runs), "curves"))
    (picture,) = pictures(page)
    for svg in drawn(picture):
        tree: Any = xml.dom.minidom.parseString(svg)
        groups = [
            node
            for node in tree.getElementsByTagName("g")
            if "curve" in node.getAttribute("class").split()
        ]
        assert (
            sorted(node.getAttribute("class") for node in groups)
            == ["curve c1"] * 2 + ["curve c2"] * 2
        )
        assert all(node.getElementsByTagName("polygon") for node in groups)
        texts = [node.firstChild.data for node in tree.getElementsByTagName("text")]
        assert {"5 qa", "6 harder-qa"} <= set(texts)
        measured = page.facts["wade"]["rows"]["5 qa"]["First"]["measured"]
        assert f"First (0.300 | {measured:.3f})" in texts
        assert f"Second ({measured:.3f})" in texts
        assert tree.documentElement.getAttribute("aria-label").startswith("Learning curves")


def test_what_was_not_run_is_said_and_not_an_error(fill: Make, tmp_path: pathlib.Path) -> None:
    page = page_of(a_request(fill(("majority", "language/qa", TWO)), "curves"))
    assert "Without a finished run: 5 qa Second; 6 harder-qa." in words(page)
    (picture,) = pictures(page)
    assert "no finished runs" in drawn(picture)[0]
    assert "Second (no runs)" in drawn(picture)[0]
    for kind in ("curves", "grid", "illustration"):
        nothing = page_of(a_request(tmp_path / "nowhere", kind))
        assert not pictures(nothing)
        assert re.search("No run of this study is finished|no run is finished", words(nothing))
        assert as_text(nothing)
        assert as_html(nothing)


def test_questions_are_counted_in_sequences_of_the_mean_length() -> None:
    def trace(tokens: float) -> Trace:
        arrays = {"step": np.array([1, 9, 17]), "accuracy": np.array([0.1, 0.2, 0.3])}
        return Trace("learning-curve", arrays, {"unit": "tokens", "tokens_per_sequence": tokens})

    found = curve_of([trace(2.0), trace(6.0)])
    assert found
    assert found.steps == (1.0, 3.0, 5.0)
    assert found.mean == pytest.approx((0.1, 0.2, 0.3))
    assert found.deviation == (0.0, 0.0, 0.0)


def test_a_study_names_the_unit_of_its_axis(fill: Make) -> None:
    page = page_of(a_request(fill(("majority", "language/qa", TWO)), "curves", unit="examples"))
    assert "training examples" in drawn(pictures(page)[0])[0]
    assert pictures(page)[0].data[0][3] == "examples"


def test_the_illustration_can_be_checked_by_hand(fill: Make) -> None:
    folder = fill(("majority", "language/qa", [([1.0, 2, 5], [0.2, 0.2, 0.7])]))
    page = page_of(a_request(folder, "illustration", ROWS[:1]))
    assert rows_of(tables(page)[0]) == [
        ("0.1", "1", "0.10000"),
        ("0.2", "1", "0.20000"),
        ("0.3", "5", "0.06000"),
        ("0.4", "5", "0.08000"),
        ("0.5", "5", "0.10000"),
        ("0.6", "5", "0.12000"),
        ("0.7", "5", "0.14000"),
        ("0.8", "∞", "0.00000"),
        ("0.9", "∞", "0.00000"),
        ("1", "∞", "0.00000"),
        ("sum 5.5", "", "0.80000"),
    ]
    assert "WADE = 0.80000 / 5.5 = 0.14545." in words(page)
    assert "5 qa Second: no run is finished" in words(page)
    svg = drawn(pictures(page)[0])[0]
    assert svg.count("T = ∞</text>") == 3
    assert "T(0.5) = 5" in svg
    assert page.facts["5 qa First"]["times"][-1] is None


def test_the_illustration_needs_one_run_of_each() -> None:
    (stage,) = stages_of(a_request(pathlib.Path("nowhere"), "illustration"))
    assert (stage.seeds, len(stage.settings)) == (1, 4)


def a_curve(steps: list[int], accuracy: list[float], **facts: Any) -> Trace:
    arrays = {"step": np.array(steps), "accuracy": np.array(accuracy, dtype=float)}
    given_facts = {
        "unit": "sequences",
        "item": "example",
        "tokens_per_sequence": 1.0,
        "constant": 0.5,
        "batch": 1,
    }
    return Trace("learning-curve", arrays, {**given_facts, **facts})


def test_scores_under_other_choices_by_hand() -> None:
    found = scores(a_curve([1, 2, 4], [0.3, 0.55, 0.8]))
    assert len(found) == 7 * 2**4
    # Thresholds 0 and 0.5, weights 0 and 0.5; above 0.5 at step 2, the second published evaluation.
    assert found[Choice(2)] == pytest.approx(1 / 2)
    assert found[Choice(2, weights="equal")] == pytest.approx((1 + 1 / 2) / 2)
    # 0.2, 0.4 ... 1 at ≥: T = 1, 2, 4, 4, never.
    assert found[Choice(5, "≥", time="sequences")] == pytest.approx(
        (0.2 + 0.4 / 2 + 0.6 / 4 + 0.8 / 4) / 3
    )
    # From chance: 0.5 with weight 0, and 0.75, above which it is at step 4.
    assert found[Choice(2, start="chance", time="sequences")] == pytest.approx(1 / 4)
    # From chance at ≥: 0.75 with weight 1/2 at step 4, and 1, never.
    assert found[Choice(2, "≥", "chance", "sequences")] == pytest.approx((0.5 / 4) / 1.5)
    assert np.isnan(scores(a_curve([1], [1.0], constant=1.0))[Choice(start="chance")])


@given(st.lists(st.integers(0, 240), min_size=1, max_size=30), st.sampled_from([1, 8]))
def test_the_choices_of_the_conventions_give_their_scores(correct: list[int], batch: int) -> None:
    trace = a_curve(
        [batch * (1 + place) for place in range(len(correct))],
        [one / 240 for one in correct],
        batch=batch,
    )
    found = scores(trace)
    assert found[PUBLISHED] == pytest.approx(data_efficiency(trace, "published")["wade"])
    printed = Choice(100, "≥", time="sequences")
    assert found[printed] == pytest.approx(data_efficiency(trace, "corrected")["wade"])
    assert all(0 <= value <= 1 for value in found.values())


def test_a_change_of_order_is_measured() -> None:
    found = shift(
        {"a": 0.3, "b": 0.2, "c": 0.1, "d": float("nan")},
        {"a": 0.2, "b": 0.25, "c": 0.05, "d": 1.0},
    )
    assert found.order == ("b", "a", "c")
    assert found.tau == pytest.approx(1 / 3)
    assert found.swapped == (("a", "b"),)
    assert found.model == "a"
    assert found.change == pytest.approx(-0.1)
    assert np.isnan(shift({"a": 0.3}, {"a": 0.2}).tau)


def test_the_page_of_the_thresholds_finds_what_turns_the_order(fill: Make) -> None:
    low, late = ([1.0, 50], [0.45, 0.45]), ([1.0, 100], [0.0, 0.9])
    folder = fill(("majority", "language/qa", [low]), ("polarity", "language/qa", [late]))
    page = page_of(a_request(folder, "grid"))
    # 100 thresholds: 0.01 ... 0.44 at T = 1, 9.9 / 49.5; and 0.01 ... 0.89 at T = 14, 40.05 / 14 /
    # 49.5. Two thresholds: only 0.5 counts, which the first never reaches and the second at T = 14.
    counts, others = tables(page)
    assert tuple(column.title for column in counts.columns) == (
        "task",
        "thresholds",
        "First",
        "Second",
        "tau",
        "largest change",
        "order",
        "changed places",
    )
    by_count = {row[1]: tuple(row[2:]) for row in rows_of(counts)}
    assert by_count["100"] == ("0.200", "0.058", "1.00", "–", "First > Second", "–")
    assert by_count["2"] == (
        "0.000",
        "0.071",
        "−1.00",
        "−0.200 First",
        "Second > First",
        "First/Second",
    )
    assert rows_of(others)[0][1] == "published formula"
    assert "The order of the models changes with" in words(page)
    # Of 2, 5 and 10 thresholds only the first does.
    assert "with 2 thresholds (a score moves by up to 0.200, 5 qa First; on 1 of 1 task)" in words(
        page
    )
    assert re.search("it stays with .*5 or 10 thresholds", words(page))
    assert words(page).startswith("1 run a cell, convention published. 2 of 4 cells are empty.")
    assert "±" not in counts.caption
    assert "; it stays with" in words(page)
    assert re.search(r"it stays with .*more than 10 thresholds", words(page))
    assert len(pictures(page)[0].data) == 1 + 7 * 2**4 * 2
    (stage,) = stages_of(a_request(folder, "grid"))
    assert not stage.settings


def test_a_kind_that_does_not_exist_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match='no kind of study "curvs"; did you mean "curves"'):
        blocks_of(a_request(pathlib.Path(), "curvs").study)


def test_every_form_of_a_page_is_written(fill: Make, tmp_path: pathlib.Path) -> None:
    page = page_of(a_request(fill(("majority", "language/qa", TWO)), "curves"))
    path = write_page(page, tmp_path, "mini-published")
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {
        "mini-published.html",
        "mini-published-curves.svg",
        "mini-published-curves.csv",
        "mini-published-wade.csv",
    }
    with (tmp_path / "mini-published-curves.csv").open(encoding="utf-8") as file:
        assert [tuple(line) for line in csv.reader(file)] == [
            tuple(line) for line in pictures(page)[0].data
        ]
    html = path.read_text(encoding="utf-8")
    assert 'class="plot wide"' in html
    assert 'class="plot narrow"' in html


def test_the_same_model_has_the_same_colour_everywhere(fill: Make) -> None:
    page = page_of(a_request(fill(("polarity", "language/harder-qa", TWO)), "curves"))
    assert 'class="curve c2"' in drawn(pictures(page)[0])[0]
    page = page_of(a_request(fill(("polarity", "language/qa", TWO)), "grid"))
    assert 'class="curve c2"' in drawn(pictures(page)[0])[0]
