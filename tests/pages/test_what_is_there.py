"""Study pages say what is in the folder: how many runs, the notes, the controls, all rows, and
numbers as numbers.
"""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from quickstudy.base.blocks import Number, Page, Table, Text, every, table
from quickstudy.base.parameters import configure, parameters_of
from quickstudy.base.record import Record
from quickstudy.base.study import Published, Study, StudyRow
from quickstudy.pages.page import page_of, screen_page
from quickstudy.pages.published_table import UNLIKE
from quickstudy.pages.study_request import Request
from quickstudy.pages.table_helpers import counts
from quickstudy.protocols.language import LanguageProtocol
from quickstudy.render.html import as_html
from quickstudy.render.numbers import spoken
from quickstudy.render.write_page import table_rows, write_page

Make = Callable[..., Any]
ROWS = (
    StudyRow(
        "language/qa", "5 qa", {"A": "copy-last", "B": "uniform"}, {"A": Published(0.3, 0.05)}
    ),
    StudyRow("language/harder-qa", "6 harder-qa", {"A": "copy-last", "B": "uniform"}, {}),
)
NOTES = "The rule was chosen\non other seeds.\n"
STUDY = Study(
    "mini",
    1,
    "A table",
    "nowhere",
    "table",
    ("wade",),
    100,
    ("A", "B"),
    ROWS,
    notes=NOTES,
    runs="mini",
)


@pytest.fixture
def fill(make_record: Make, save: Make, tmp_path: pathlib.Path) -> Make:
    """Write runs with the given scores by learner and task, and give the request for the study."""

    def write(
        *runs: tuple[str, str, list[float]], convention: str = "published", role: str = "learner"
    ) -> Request:
        protocol = parameters_of(configure("language", LanguageProtocol, {}, convention))
        records: list[Record] = []
        for learner, task, values in runs:
            made = (
                "control" if learner == "majority" else "oracle" if learner == "qa-oracle" else role
            )
            more = {"role": made, "convention": convention, "protocol": protocol}
            records += [
                make_record(
                    learner,
                    task,
                    repetition=run,
                    scores={"wade": {"version": 1, "values": {"wade": value}}},
                    **more,
                )
                for run, value in enumerate(values)
            ]
        return Request(STUDY, pathlib.Path(save(tmp_path / "runs", records)), convention, 6)

    return write


def words(page: Page) -> str:
    return " ".join(one.text for one in every(screen_page(page).blocks) if isinstance(one, Text))


def grid(page: Page) -> Table:
    return next(one for one in every(page.blocks) if isinstance(one, Table))


def rows_of(found: Table) -> list[tuple[str, ...]]:
    """A table as it is read, the heading first."""
    return [
        tuple(column.title for column in found.columns),
        *(tuple(map(spoken, line.cells)) for line in found.lines),
    ]


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([10, 10], "10 runs a cell, convention corrected."),
        ([6, 10], "6 to 10 runs a cell, convention corrected."),
        ([7, 0], "7 runs a cell, convention corrected. 1 of 2 cells is empty."),
        ([0, 0], "No runs yet, convention corrected."),
        (
            [1, 1],
            (
                "1 run a cell, convention corrected. Fewer than 6 runs give no verdict, and"
                " their intervals are unreliable."
            ),
        ),
    ],
)
def test_the_runs_that_are_there_are_counted(numbers: list[int], text: str) -> None:
    cells = {"task": {str(place): [0] * number for place, number in enumerate(numbers)}}
    assert counts(cells, "corrected") == text


def test_a_page_counts_what_is_there_and_not_what_was_typed(fill: Make) -> None:
    page = page_of(fill(("copy-last", "language/qa", [0.2] * 8)))
    assert words(page).startswith("8 runs a cell, convention published. 3 of 4 cells are empty.")


def test_the_notes_stand_below_the_title(fill: Make) -> None:
    html = as_html(page_of(fill(("copy-last", "language/qa", [0.2]))))
    assert (
        html.index("nowhere")
        < html.index("The rule was chosen on other seeds.")
        < html.index("<table")
    )


def test_one_run_is_promised_no_interval(fill: Make) -> None:
    one, two = (
        grid(page_of(fill(("copy-last", "language/qa", [0.2, 0.3][:runs])))) for runs in (1, 2)
    )
    assert "±" not in one.caption + rows_of(one)[1][1]
    assert "±" in two.caption
    assert "[0.000, 0.885]" in rows_of(two)[1][1]  # cut at 0, so not the same to both sides


def test_captions_have_titles_and_not_ids(fill: Make) -> None:
    caption = grid(page_of(fill(("copy-last", "language/qa", [0.2])))).caption
    assert caption.startswith(
        "WADE (share of the greatest possible efficiency, higher is better): published | measured"
    )


def test_only_under_the_published_convention_agreement_is_expected(fill: Make) -> None:
    runs = ("copy-last", "language/qa", [0.31] * 6)
    assert UNLIKE not in words(page_of(fill(runs)))
    corrected = page_of(fill(runs, convention="corrected"))
    assert (
        f"1 of 1 cells agree with the published ones (corrected), for information only: {UNLIKE}."
        in words(corrected)
    )
    assert "not like with like" in grid(corrected).caption
    # A study that is made under the corrected convention is compared like with like there, and only
    # there.
    order = fill(runs, convention="corrected")
    own = page_of(replace(order, study=replace(order.study, convention="corrected")))
    assert UNLIKE not in words(own)
    assert "not like with like" not in grid(own).caption


def test_controls_that_were_run_are_shown(fill: Make) -> None:
    runs = [("copy-last", "language/qa", [0.2] * 2), ("majority", "language/qa", [0.4] * 2)]
    rows = rows_of(grid(page_of(fill(*runs, ("qa-oracle", "language/qa", [0.9] * 2)))))
    assert rows[0] == ("task", "A", "B", "best control", "oracle")
    assert rows[1][3:] == ("majority 0.400", "qa-oracle 0.900")
    assert rows[2][3:] == ("–", "–")


def test_a_convention_that_nobody_ran_is_not_looked_up(fill: Make) -> None:
    # Under the other convention the column has a rule that is none of the task's.
    rule = {"corrected": "majority", "published": "remaining-share"}
    row = StudyRow("language/qa", "5 qa", {"A": rule}, {})
    order = fill(("majority", "language/qa", [0.2] * 2), convention="corrected")
    page = page_of(replace(order, study=replace(STUDY, rows=(row,), columns=("A",))))
    assert rows_of(grid(page))[1][1] == "0.200"


def test_without_controls_there_is_no_column_for_them(fill: Make) -> None:
    assert rows_of(grid(page_of(fill(("copy-last", "language/qa", [0.2])))))[0] == (
        "task",
        "A",
        "B",
    )


def test_the_file_has_a_number_in_every_cell(fill: Make, tmp_path: pathlib.Path) -> None:
    page = page_of(
        fill(("copy-last", "language/qa", [0.2, 0.4] * 3), ("majority", "language/qa", [0.1] * 2))
    )
    write_page(page, tmp_path, "mini-published")
    with (tmp_path / "mini-published-wade.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["task"], line["learner"]) for line in lines] == [
        ("5 qa", "A"),
        ("5 qa", "majority"),
    ]
    first = lines[0]
    assert [
        float(first[name]) for name in ("published", "published_spread", "mean")
    ] == pytest.approx([0.3, 0.05, 0.3])
    # 2.57 errors of 0.1095 / sqrt(6) to either side.
    assert (float(first["low"]), float(first["high"])) == pytest.approx((0.185, 0.415), abs=1e-3)
    assert (first["runs"], first["within"], lines[1]["published"], lines[1]["within"]) == (
        "6",
        "yes",
        "",
        "",
    )
    assert (float(first["standard_errors"]), lines[1]["standard_errors"]) == (
        pytest.approx(0, abs=1e-9),
        "",
    )


def test_other_tables_are_files_of_numbers_too() -> None:
    rows = [
        [
            "5 qa",
            Number(34),
            Number(0.213, (0.193, 0.233)),
            Number(-0.015, (-0.018, -0.012), note="<"),
            "A > B",
        ],
        ["6 harder-qa", Number(7), Number(1000.5), Number(None), "B > A"],
    ]
    heading, first, second = table_rows(
        table("name", "", ("task", "rule", "share", "less", "order"), rows)
    )
    assert heading == ["task", "rule", "share", "share ±", "less", "less ±", "less mark", "order"]
    assert (first[:3], first[6:]) == (["5 qa", "34", "0.213"], ["<", "A > B"])
    assert [float(first[place]) for place in (3, 4, 5)] == pytest.approx([0.02, -0.015, 0.003])
    assert second == ["6 harder-qa", "7", "1000.5", "", "", "", "", "B > A"]


def test_a_part_of_a_study_does_not_take_the_place_of_all_of_it(fill: Make) -> None:
    whole = replace(fill(("copy-last", "language/qa", [0.2])), whole=STUDY)
    only = replace(whole, study=replace(STUDY, rows=ROWS[1:]))
    assert [row.label for row in only.widened().study.rows] == ["5 qa", "6 harder-qa"]
    assert only.widened().shelf is only.shelf
    nothing = replace(only, folder=whole.folder / "none")
    assert [row.label for row in nothing.widened().study.rows] == ["6 harder-qa"]
    assert whole.widened() is whole


def test_a_title_says_what_was_left_out(fill: Make) -> None:
    whole = replace(fill(("copy-last", "language/qa", [0.2])), whole=STUDY)
    assert page_of(whole).title == "A table"
    part = page_of(replace(whole, study=replace(STUDY, rows=ROWS[:1])))
    assert part.title == "A table (1 of 2 rows)"
    assert part.under[-1] == "Showing 1 of 2 rows (5 qa); the others have no runs in this folder."


def test_the_record_has_command_date_versions_and_the_report(
    fill: Make, tmp_path: pathlib.Path
) -> None:
    page = page_of(fill(("copy-last", "language/qa", [0.2])), "quickstudy reproduce mini")
    path = write_page(page, tmp_path, "mini-published")
    html = path.read_text(encoding="utf-8")
    assert '<pre class="command">quickstudy reproduce mini</pre>' in html
    assert "1 finished run in the folder, made 1970-01-01 (UTC)" in html
    assert "numpy 2.4.6, python 3.11.2, quickstudy 0.1.0" in html
    assert "host bench, processor x86_64, system Linux" in html
    assert 'href="./report.html"' in html
    assert 'href="./mini-published-wade.csv"' in html
