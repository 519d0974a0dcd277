"""The pages of studies that are figures: curves, the illustration, the thresholds; and their forms as files."""

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

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure, parameters_of
from quickstudy.base.study import Published, Study, StudyRow
from quickstudy.base.trace import Trace
from quickstudy.measures.learning_curve import data_efficiency
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.report.study import curves, grid, illustration
from quickstudy.report.study.order import Order, kind_of
from quickstudy.report.study.page import Grid, Page, Paragraph, Picture
from quickstudy.report.study.panels import Line, Panel, Sheet, colour
from quickstudy.report.study.render import as_html, as_lines, as_svg, write_page
from quickstudy.report.study.rescoring import PUBLISHED, Choice, scores, shift

Make = Callable[..., Any]
PUBLISHED_NUMBERS = {"First": Published(0.30, 0.05), "human": Published(0.15)}
ROWS = (
    StudyRow("language/qa", "5 qa", {"First": "majority", "Second": "polarity"}, PUBLISHED_NUMBERS),
    StudyRow("language/harder-qa", "6 harder-qa", {"First": "majority", "Second": "polarity"}, {}),
)


def an_order(folder: pathlib.Path, kind: str, rows: tuple[StudyRow, ...] = ROWS, **settings: Any) -> Order:
    columns = ("First", "Second", "human")
    study = Study("mini", 1, "A figure", "nowhere", kind, ("wade",), 100, columns, rows, runs="mini", settings=settings)
    return Order(study, folder, "published", 2)


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


def pictures(page: Page) -> list[Picture]:
    return [part for part in page.parts if isinstance(part, Picture)]


def words(page: Page) -> str:
    return " ".join(part.text for part in page.parts if isinstance(part, Paragraph))


TWO = [([1.0, 2, 4], [0.2, 0.4, 0.6]), ([1.0, 2, 4], [0.4, 0.4, 1.0])]


def test_curves_are_means_with_the_standard_deviation_over_runs(fill: Make) -> None:
    folder = fill(("majority", "language/qa", TWO), ("polarity", "language/qa", TWO[:1]))
    page = curves.page(an_order(folder, "curves"))
    (picture,) = pictures(page)
    assert picture.data[0] == ("task", "model", "runs", "sequences", "mean accuracy", "standard deviation")
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
        (learner, task, TWO) for learner in ("majority", "polarity") for task in ("language/qa", "language/harder-qa")
    ]
    page = curves.page(an_order(fill(*runs), "curves"))
    (picture,) = pictures(page)
    for svg in (picture.svg, picture.narrow):
        drawn: Any = xml.dom.minidom.parseString(svg)
        groups = [node for node in drawn.getElementsByTagName("g") if "curve" in node.getAttribute("class").split()]
        assert sorted(node.getAttribute("class") for node in groups) == ["curve c1"] * 2 + ["curve c2"] * 2
        assert all(node.getElementsByTagName("polygon") for node in groups)
        texts = [node.firstChild.data for node in drawn.getElementsByTagName("text")]
        assert {"5 qa", "6 harder-qa"} <= set(texts)
        measured = page.facts["wade"]["rows"]["5 qa"]["First"]["measured"]
        assert f"First (0.300 | {measured:.3f})" in texts
        assert f"Second ({measured:.3f})" in texts
        assert drawn.documentElement.getAttribute("aria-label").startswith("Learning curves")


def test_what_was_not_run_is_said_and_not_an_error(fill: Make, tmp_path: pathlib.Path) -> None:
    page = curves.page(an_order(fill(("majority", "language/qa", TWO)), "curves"))
    assert "Without a finished run: 5 qa Second; 6 harder-qa." in words(page)
    (picture,) = pictures(page)
    assert "no finished runs" in picture.svg
    assert "Second (no runs)" in picture.svg
    for kind in (curves, grid, illustration):
        nothing = kind.page(an_order(tmp_path / "nowhere", "curves"))
        assert not pictures(nothing)
        assert re.search("No run of this study is finished|no run is finished", words(nothing))
        assert as_lines(nothing)
        assert as_html(nothing)


def test_questions_are_counted_in_sequences_of_the_mean_length() -> None:
    def trace(tokens: float) -> Trace:
        arrays = {"step": np.array([1, 9, 17]), "accuracy": np.array([0.1, 0.2, 0.3])}
        return Trace("learning-curve", arrays, {"unit": "tokens", "tokens_per_sequence": tokens})

    found = curves.mean_curve([trace(2.0), trace(6.0)])
    assert found.steps.tolist() == [1.0, 3.0, 5.0]
    assert found.mean.tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert found.deviation.tolist() == [0.0, 0.0, 0.0]


def test_a_study_names_the_unit_of_its_axis(fill: Make) -> None:
    page = curves.page(an_order(fill(("majority", "language/qa", TWO)), "curves", unit="examples"))
    assert "training examples" in pictures(page)[0].svg
    assert pictures(page)[0].data[0][3] == "examples"


def test_the_illustration_can_be_checked_by_hand(fill: Make) -> None:
    folder = fill(("majority", "language/qa", [([1.0, 2, 5], [0.2, 0.2, 0.7])]))
    page = illustration.page(an_order(folder, "illustration", ROWS[:1]))
    (table,) = [part for part in page.parts if isinstance(part, Grid)]
    assert [tuple(row) for row in table.rows[1:]] == [
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
    svg = pictures(page)[0].svg
    assert svg.count("T = ∞") == 3
    assert "T(0.5) = 5" in svg
    assert page.facts["5 qa First"]["times"][-1] is None


def test_the_illustration_needs_one_run_of_each() -> None:
    (stage,) = illustration.stages(an_order(pathlib.Path("nowhere"), "illustration"))
    assert (stage.seeds, len(stage.settings)) == (1, 4)


def a_curve(steps: list[int], accuracy: list[float], **facts: Any) -> Trace:
    arrays = {"step": np.array(steps), "accuracy": np.array(accuracy, dtype=float)}
    given_facts = {"unit": "sequences", "item": "example", "tokens_per_sequence": 1.0, "constant": 0.5, "batch": 1}
    return Trace("learning-curve", arrays, {**given_facts, **facts})


def test_scores_under_other_choices_by_hand() -> None:
    found = scores(a_curve([1, 2, 4], [0.3, 0.55, 0.8]))
    assert len(found) == 7 * 2**4
    # Thresholds 0 and 0.5, weights 0 and 0.5; above 0.5 at step 2, the second published evaluation.
    assert found[Choice(2)] == pytest.approx(1 / 2)
    assert found[Choice(2, weights="equal")] == pytest.approx((1 + 1 / 2) / 2)
    # 0.2, 0.4 ... 1 at ≥: T = 1, 2, 4, 4, never.
    assert found[Choice(5, "≥", time="sequences")] == pytest.approx((0.2 + 0.4 / 2 + 0.6 / 4 + 0.8 / 4) / 3)
    # From chance: 0.5 with weight 0, and 0.75, above which it is at step 4.
    assert found[Choice(2, start="chance", time="sequences")] == pytest.approx(1 / 4)
    # From chance at ≥: 0.75 with weight 1/2 at step 4, and 1, never.
    assert found[Choice(2, "≥", "chance", "sequences")] == pytest.approx((0.5 / 4) / 1.5)
    assert np.isnan(scores(a_curve([1], [1.0], constant=1.0))[Choice(start="chance")])


@given(st.lists(st.integers(0, 240), min_size=1, max_size=30), st.sampled_from([1, 8]))
def test_the_choices_of_the_conventions_give_their_scores(correct: list[int], batch: int) -> None:
    trace = a_curve([batch * (1 + place) for place in range(len(correct))], [one / 240 for one in correct], batch=batch)
    found = scores(trace)
    assert found[PUBLISHED] == pytest.approx(data_efficiency(trace, "published")["wade"])
    printed = Choice(100, "≥", time="sequences")
    assert found[printed] == pytest.approx(data_efficiency(trace, "corrected")["wade"])
    assert all(0 <= value <= 1 for value in found.values())


def test_a_change_of_order_is_measured() -> None:
    found = shift({"a": 0.3, "b": 0.2, "c": 0.1, "d": float("nan")}, {"a": 0.2, "b": 0.25, "c": 0.05, "d": 1.0})
    assert found.order == ("b", "a", "c")
    assert found.tau == pytest.approx(1 / 3)
    assert found.swapped == (("a", "b"),)
    assert found.model == "a"
    assert found.change == pytest.approx(-0.1)
    assert np.isnan(shift({"a": 0.3}, {"a": 0.2}).tau)


def test_the_page_of_the_thresholds_finds_what_turns_the_order(fill: Make) -> None:
    low, late = ([1.0, 50], [0.45, 0.45]), ([1.0, 100], [0.0, 0.9])
    folder = fill(("majority", "language/qa", [low]), ("polarity", "language/qa", [late]))
    page = grid.page(an_order(folder, "grid"))
    # 100 thresholds: 0.01 ... 0.44 at T = 1, 9.9 / 49.5; and 0.01 ... 0.89 at T = 14, 40.05 / 14 / 49.5.
    # Two thresholds: only 0.5 counts, which the first never reaches and the second at T = 14.
    counts, others = [part for part in page.parts if isinstance(part, Grid)]
    assert counts.rows[0] == (
        "task",
        "thresholds",
        "First",
        "Second",
        "tau",
        "largest change",
        "order",
        "changed places",
    )
    by_count = {row[1]: tuple(row[2:]) for row in counts.rows[1:]}
    assert by_count["100"] == ("0.200", "0.058", "1.00", "–", "First > Second", "–")
    assert by_count["2"] == ("0.000", "0.071", "−1.00", "−0.200 First", "Second > First", "First/Second")
    assert others.rows[1][1] == "published formula"
    assert "The order of the models changes with" in words(page)
    # Of 2, 5 and 10 thresholds only the first does.
    assert "with 2 thresholds (a score moves by up to 0.200, 5 qa First; on 1 of 1 task)" in words(page)
    assert re.search("it stays with .*5 or 10 thresholds", words(page))
    assert words(page).startswith("1 run a cell, convention published. 2 of 4 cells are empty.")
    assert "±" not in counts.caption
    assert "; it stays with" in words(page)
    assert re.search(r"it stays with .*more than 10 thresholds", words(page))
    assert len(pictures(page)[0].data) == 1 + 7 * 2**4 * 2
    (stage,) = grid.stages(an_order(folder, "grid"))
    assert not stage.settings


def test_a_kind_that_does_not_exist_is_answered_with_the_nearest() -> None:
    with pytest.raises(UsageError, match='no kind of study "curvs"; did you mean "curves"'):
        kind_of(an_order(pathlib.Path(), "curvs").study)


def test_every_form_of_a_page_is_written(fill: Make, tmp_path: pathlib.Path) -> None:
    page = curves.page(an_order(fill(("majority", "language/qa", TWO)), "curves"))
    path = write_page(page, tmp_path, "mini-published")
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {
        "mini-published.html",
        "mini-published-curves.svg",
        "mini-published-curves.csv",
        "mini-published-wade.csv",
    }
    with (tmp_path / "mini-published-curves.csv").open(encoding="utf-8") as file:
        assert [tuple(line) for line in csv.reader(file)] == [tuple(line) for line in pictures(page)[0].data]
    html = path.read_text(encoding="utf-8")
    assert 'class="plot wide"' in html
    assert 'class="plot narrow"' in html


def test_a_picture_of_its_own_has_its_style_its_size_and_its_ground() -> None:
    wide, narrow = Sheet('a < "b"', "x", "y", [Panel("one", [Line("l & m", colour(0), [1, 10], [0.1, 0.9])])]).drawn()
    for picture in (wide, narrow):
        drawn: Any = xml.dom.minidom.parseString(as_svg(picture))
        root = drawn.documentElement
        # A class that hides by the width of the window would hide it in a narrow <img>.
        assert not root.hasAttribute("class")
        assert [node.getAttribute("class") for node in root.childNodes if node.nodeName == "g"] == ["plot"]
        assert root.getAttribute("viewBox") == f"0 0 {root.getAttribute('width')} {root.getAttribute('height')}"
        assert root.getAttribute("aria-label") == 'a < "b"'
        assert "prefers-color-scheme: dark" in root.getElementsByTagName("style")[0].firstChild.data
        ground = root.getElementsByTagName("rect")[0]
        assert ground.getAttribute("style") == "fill:var(--paper)"
        assert ground.getAttribute("width") == root.getAttribute("width")


@pytest.mark.parametrize("number", [1, 2, 3, 10])
def test_no_text_of_a_picture_lies_outside_it(number: int) -> None:
    line = Line("Transformer (0.156 | 0.143)", "c1", [1, 9600], [0.0, 1.0])
    panels = [Panel(f"{index} a task", [line] * 5, 0.08) for index in range(number)]
    for picture in Sheet("label", "training sequences (logarithmic)", "test accuracy", panels).drawn():
        drawn: Any = xml.dom.minidom.parseString(picture)
        width, height = map(float, drawn.documentElement.getAttribute("viewBox").split()[2:])
        titles = [node for node in drawn.getElementsByTagName("text") if node.firstChild.data.startswith("training")]
        assert len(titles) == (1 if width < 500 or number == 1 else 2)
        for node in drawn.getElementsByTagName("text"):
            x, y, length = float(node.getAttribute("x")), float(node.getAttribute("y")), 6.0 * len(node.firstChild.data)
            if node.hasAttribute("transform"):
                assert y - length / 2 >= 0
                continue
            anchor = node.getAttribute("text-anchor") or "start"
            left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * length
            assert left >= 0
            assert left + length <= width
            assert 8 <= y <= height


def test_cells_of_a_grid_can_be_sorted() -> None:
    rows = [("a", "number", "words", "both"), ("x", "1,000", "b > c", "+0.1 b"), ("y", "−2", "–", "∞")]
    html = as_html(Page("t", "s", [Grid("g", "c", rows)]))
    assert re.findall(r'data-value="([^"]*)"', html) == ["1000.0", "0.1", "-2.0", "inf"]
    assert '<td class="short">b &gt; c</td>' in html


def test_only_long_words_in_a_grid_may_be_broken() -> None:
    rows = [("a", "words"), ("x", "few words"), ("y", "as many words as do not fit in one line of a table")]
    html = as_html(Page("t", "s", [Grid("g", "c", rows)]))
    assert '<td class="short">few words</td>' in html
    assert "<td>as many words" in html


def test_the_same_model_has_the_same_colour_everywhere(fill: Make) -> None:
    page = curves.page(an_order(fill(("polarity", "language/harder-qa", TWO)), "curves"))
    assert 'class="curve c2"' in pictures(page)[0].svg
    page = grid.page(an_order(fill(("polarity", "language/qa", TWO)), "grid"))
    assert 'class="curve c2"' in pictures(page)[0].svg


@pytest.mark.parametrize(
    ("steps", "accuracy"),
    [([1.0, 10, 20, 40], [0.05, 0.3, 0.6, 0.9]), ([1.0, 2, 400, 900], [0.15, 0.5, 0.5, 0.5])],
)
def test_the_label_of_a_time_stands_where_the_curve_is_not(
    fill: Make, steps: list[float], accuracy: list[float]
) -> None:
    page = illustration.page(an_order(fill(("majority", "language/qa", [(steps, accuracy)])), "illustration"))
    for svg in (pictures(page)[0].svg, pictures(page)[0].narrow):
        drawn: Any = xml.dom.minidom.parseString(svg)
        label = next(
            node for node in drawn.getElementsByTagName("text") if "halo" in node.getAttribute("class").split()
        )
        circles = drawn.getElementsByTagName("circle")
        x, y = (float(circles[-1].getAttribute(name)) for name in ("cx", "cy"))
        # Left of where a height is first reached the curve is below it, so above it there is room.
        if label.getAttribute("text-anchor") == "end":
            assert float(label.getAttribute("x")) < x
            assert float(label.getAttribute("y")) < y
            assert float(label.getAttribute("x")) - 7 * len(label.firstChild.data) > 0
        else:
            assert float(label.getAttribute("y")) > y
