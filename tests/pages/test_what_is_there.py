"""Study pages say what is in the folder: how many runs, the notes, the controls, all rows, and numbers as numbers."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from quickstudy.base.parameters import configure, parameters_of
from quickstudy.base.record import Record
from quickstudy.base.study import Published, Study, StudyRow
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.report.page import FORMS
from quickstudy.report.reproduce_text import UNLIKE
from quickstudy.report.study import table
from quickstudy.report.study.numeric import numeric
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Grid, Page, Paragraph
from quickstudy.report.study.render import as_html as page_html
from quickstudy.report.study.render import write_page
from quickstudy.report.study.runs import counts

as_html = FORMS["html"]

Make = Callable[..., Any]
ROWS = (
    StudyRow("language/qa", "5 qa", {"A": "copy-last", "B": "uniform"}, {"A": Published(0.3, 0.05)}),
    StudyRow("language/harder-qa", "6 harder-qa", {"A": "copy-last", "B": "uniform"}, {}),
)
NOTES = "The rule was chosen\non other seeds.\n"
STUDY = Study("mini", 1, "A table", "nowhere", "table", ("wade",), 100, ("A", "B"), ROWS, notes=NOTES, runs="mini")


@pytest.fixture
def fill(make_record: Make, save: Make, tmp_path: pathlib.Path) -> Make:
    """Write runs with the given scores by learner and task, and give the order of the study."""

    def write(*runs: tuple[str, str, list[float]], convention: str = "published", role: str = "learner") -> Order:
        protocol = parameters_of(configure("language", LanguageProtocol, {}, convention))
        records: list[Record] = []
        for learner, task, values in runs:
            made = "control" if learner == "majority" else "oracle" if learner == "qa-oracle" else role
            more = {"role": made, "convention": convention, "protocol": protocol}
            records += [
                make_record(
                    learner, task, repetition=run, scores={"wade": {"version": 1, "values": {"wade": value}}}, **more
                )
                for run, value in enumerate(values)
            ]
        return Order(STUDY, pathlib.Path(save(tmp_path / "runs", records)), convention, 6)

    return write


def words(page: Page) -> str:
    return " ".join(part.text for part in page.parts if isinstance(part, Paragraph))


def grid(page: Page) -> Grid:
    return next(part for part in page.parts if isinstance(part, Grid))


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([10, 10], "10 runs a cell, convention corrected."),
        ([6, 10], "6 to 10 runs a cell, convention corrected."),
        ([7, 0], "7 runs a cell, convention corrected. 1 of 2 cells is empty."),
        ([0, 0], "No run is there yet, convention corrected."),
        (
            [1, 1],
            "1 run a cell, convention corrected. Fewer than 6 runs give no verdict, and an interval of so few says "
            "little.",
        ),
    ],
)
def test_the_runs_that_are_there_are_counted(numbers: list[int], text: str) -> None:
    cells = {"task": {str(place): [0] * number for place, number in enumerate(numbers)}}
    assert counts(cells, "corrected") == text


def test_a_page_counts_what_is_there_and_not_what_was_typed(fill: Make) -> None:
    page = table.page(fill(("copy-last", "language/qa", [0.2] * 8)))
    assert words(page).startswith("8 runs a cell, convention published. 3 of 4 cells are empty.")


def test_the_notes_stand_below_the_title(fill: Make) -> None:
    html = page_html(table.page(fill(("copy-last", "language/qa", [0.2]))))
    assert html.index("nowhere") < html.index("The rule was chosen on other seeds.") < html.index("<table")


def test_one_run_is_promised_no_interval(fill: Make) -> None:
    one, two = (grid(table.page(fill(("copy-last", "language/qa", [0.2] * runs)))) for runs in (1, 2))
    assert "±" not in one.caption + one.rows[1][1]
    assert "±" in two.caption
    assert "±" in two.rows[1][1]


def test_captions_have_titles_and_not_ids(fill: Make) -> None:
    caption = grid(table.page(fill(("copy-last", "language/qa", [0.2])))).caption
    assert caption.startswith(
        "WADE (share of the greatest possible efficiency, higher is better): published | measured"
    )


def test_only_under_the_published_convention_agreement_is_expected(fill: Make) -> None:
    runs = ("copy-last", "language/qa", [0.31] * 6)
    assert UNLIKE not in words(table.page(fill(runs)))
    corrected = table.page(fill(runs, convention="corrected"))
    assert f"1 of 1 cells agree with the published ones (corrected), for information only: {UNLIKE}." in words(
        corrected
    )
    assert "not like with like" in grid(corrected).caption
    # A study that is made under the corrected convention is compared like with like there, and only there.
    order = fill(runs, convention="corrected")
    own = table.page(replace(order, study=replace(order.study, convention="corrected")))
    assert UNLIKE not in words(own)
    assert "not like with like" not in grid(own).caption


def test_controls_that_were_run_are_shown(fill: Make) -> None:
    runs = [("copy-last", "language/qa", [0.2] * 2), ("majority", "language/qa", [0.4] * 2)]
    rows = grid(table.page(fill(*runs, ("qa-oracle", "language/qa", [0.9] * 2)))).rows
    assert rows[0] == ("task", "A", "B", "best control", "oracle")
    assert rows[1][3:] == ("majority 0.400 ±0.000", "qa-oracle 0.900 ±0.000")
    assert rows[2][3:] == ("–", "–")


def test_a_convention_that_nobody_ran_is_not_looked_up(fill: Make) -> None:
    # Under the other convention the column has a rule that is none of the task's.
    rule = {"corrected": "majority", "published": "remaining-share"}
    row = StudyRow("language/qa", "5 qa", {"A": rule}, {})
    order = fill(("majority", "language/qa", [0.2] * 2), convention="corrected")
    page = table.page(replace(order, study=replace(STUDY, rows=(row,), columns=("A",))))
    assert grid(page).rows[1][1] == "0.200 ±0.000"


def test_without_controls_there_is_no_column_for_them(fill: Make) -> None:
    assert grid(table.page(fill(("copy-last", "language/qa", [0.2])))).rows[0] == ("task", "A", "B")


def test_the_file_has_a_number_in_every_cell(fill: Make, tmp_path: pathlib.Path) -> None:
    page = table.page(fill(("copy-last", "language/qa", [0.2, 0.4]), ("majority", "language/qa", [0.1] * 2)))
    write_page(page, tmp_path, "mini-published")
    with (tmp_path / "mini-published-wade.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["task"], line["learner"]) for line in lines] == [("5 qa", "A"), ("5 qa", "majority")]
    first = lines[0]
    assert [float(first[name]) for name in ("published", "published_spread", "mean")] == pytest.approx([0.3, 0.05, 0.3])
    # 12.7 errors of 0.1 to either side, cut at the ends of what WADE can be.
    assert (float(first["low"]), float(first["high"])) == (0.0, 1.0)
    assert (first["runs"], first["within"], lines[1]["published"], lines[1]["within"]) == ("2", "yes", "", "")
    assert (float(first["standard_errors"]), lines[1]["standard_errors"]) == (pytest.approx(0, abs=1e-9), "")


def test_other_tables_are_files_of_numbers_too() -> None:
    rows = [
        ("task", "rule", "share", "less", "order"),
        ("5 qa", "34", "0.213 ±0.020", "−0.015 ±0.003 <", "A > B"),
        ("6 harder-qa", "7", "1,000.5", "–", "B > A"),
    ]
    assert numeric(rows) == [
        ["task", "rule", "share", "share ±", "less", "less ±", "less mark", "order"],
        ["5 qa", "34", "0.213", "0.020", "-0.015", "0.003", "<", "A > B"],
        ["6 harder-qa", "7", "1000.5", "", "", "", "", "B > A"],
    ]


def test_few_runs_are_named_beside_their_interval(make_study: Make, make_report: Make) -> None:
    assert "of 2 runs</small>" in as_html(make_report(make_study(seeds=2)))
    assert "of 6 runs</small>" not in as_html(make_report(make_study(seeds=6)))


def test_a_part_of_a_study_does_not_take_the_place_of_all_of_it(fill: Make) -> None:
    order = fill(("copy-last", "language/qa", [0.2]))
    only = replace(order, study=replace(STUDY, rows=ROWS[1:]))
    assert [row.label for row in only.widened(STUDY).study.rows] == ["5 qa", "6 harder-qa"]
    assert only.widened(STUDY).shelf is only.shelf
    nothing = replace(only, folder=order.folder / "none")
    assert [row.label for row in nothing.widened(STUDY).study.rows] == ["6 harder-qa"]
    assert order.widened(STUDY) is order


def test_captions_are_outside_of_the_box_that_scrolls(make_study: Make, make_report: Make) -> None:
    html = as_html(make_report(make_study(seeds=2)))
    assert "<caption" not in html
    assert '<figcaption>Scores on language/qa, convention corrected</figcaption><div class="scroll"' in html


def test_the_last_command_is_called_that(make_study: Make, make_report: Make) -> None:
    html = as_html(make_report(make_study(seeds=1), "quickstudy run language/qa"))
    assert "The last command that wrote this report" in html
    assert "To run the same again" not in html


def test_counts_of_a_report_are_in_words(make_study: Make, make_report: Make, make_record: Make) -> None:
    records = [*make_study(seeds=1), make_record("a", passes=10), make_record("b", passes=10)]
    html = as_html(make_report(records))
    assert "1 task · 3 learners · 2 learners with replay · 2 controls · 1 oracle · 8 finished runs" in html


def test_the_family_table_has_intervals(make_study: Make, make_report: Make) -> None:
    def caption(seeds: int) -> str:
        html = as_html(make_report([*make_study(seeds), *make_study(seeds, task="language/harder-qa")]))
        table_of_family = html[html.index('<figure class="table">') : html.index('id="task-0"')]
        assert ("±" in table_of_family) is (seeds > 1)
        return table_of_family[: table_of_family.index("</figcaption>")]

    assert "± half the 95 % interval" in caption(3)
    assert "±" not in caption(1)
