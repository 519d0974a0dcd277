"""From folders to a file."""

from __future__ import annotations

import csv
import dataclasses
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.report.build import gather
from quickstudy.report.page import write_files, write_report

Make = Callable[..., Any]


def test_the_file_is_written_whole(tmp_path: pathlib.Path, make_study: Make, save: Make) -> None:
    folder = save(tmp_path / "results", make_study(seeds=2))
    path = write_report(gather([folder], "quickstudy run x"), tmp_path / "new" / "page.html")
    assert path.read_text().endswith("</html>\n")
    assert [file.name for file in path.parent.iterdir()] == ["page.html"]
    assert "quickstudy run x" in path.read_text()
    first = path.read_bytes()
    assert write_report(gather([folder], "quickstudy run x"), path).read_bytes() == first


def test_a_folder_as_target(tmp_path: pathlib.Path, make_record: Make, save: Make) -> None:
    folder = save(tmp_path, [make_record()])
    assert write_report(gather([folder]), tmp_path) == tmp_path / "report.html"


def test_every_table_and_picture_is_a_file(
    tmp_path: pathlib.Path, make_study: Make, save: Make
) -> None:
    folder = save(tmp_path / "results", make_study(seeds=2))
    data = gather([folder])
    path = write_files(data, tmp_path / "files")
    names = {file.name for file in path.parent.iterdir()}
    assert {
        "report.html",
        "scores-0.csv",
        "cost-0.csv",
        "runs-0.csv",
        "figure-0.svg",
        "figure-0.csv",
    } <= names
    page = path.read_text()
    assert all(f'href="./{name}"' in page for name in names - {"report.html"})
    with (path.parent / "scores-0.csv").open(newline="") as file:
        rows = {row["learner"]: row for row in csv.DictReader(file)}
    table = data.tables[0]
    assert float(rows["lstm"][table.judged.title]) == table.middle(table.rows[0])  # all digits
    write_files(data, tmp_path / "files")
    path.write_text("mine")
    with pytest.raises(UsageError, match="was not written by quickstudy"):
        write_files(data, tmp_path / "files")


def test_folders_merge_by_key_and_ok_wins(
    tmp_path: pathlib.Path, make_record: Make, save: Make
) -> None:
    one = save(
        tmp_path / "one", [make_record(status="failed", reason="killed"), make_record(repetition=1)]
    )
    two = save(tmp_path / "two", [make_record(), make_record(repetition=1)])
    (row,) = gather([one, two]).tables[0].rows
    assert [run.status for run in row.runs] == ["ok", "ok"]
    assert gather([one, two]) == gather([two, one])


def test_scores_that_were_added_in_one_folder_count_in_all(
    tmp_path: pathlib.Path, make_record: Make, save: Make
) -> None:
    """A folder that was copied, and scored again in one of the two places."""
    made = make_record()
    more = {**made.scores, "later": {"version": 1, "values": {"later": 0.5}}}
    one, two = (
        save(tmp_path / "one", [made]),
        save(tmp_path / "two", [dataclasses.replace(made, scores=more)]),
    )
    for folders in ([one, two], [two, one]):
        (row,) = gather(folders).tables[0].rows
        assert row.runs[0].scores["later"] == 0.5


def test_damaged_lines_are_told(tmp_path: pathlib.Path, make_record: Make, save: Make) -> None:
    folder = save(tmp_path, [make_record()])
    (folder / "runs" / "other.jsonl").write_text("not a record\n")
    assert "runs/other.jsonl, line 1" in gather([folder]).notes[0]


def test_nothing_to_report_is_one_line(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty" / "runs").mkdir(parents=True)
    (tmp_path / "file").write_text("")
    for folders in ([], [tmp_path / "nowhere"], [tmp_path / "empty"], [tmp_path / "file"]):
        with pytest.raises(UsageError) as caught:
            write_report(gather(folders), tmp_path / "report.html")
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "report.html").exists()


def test_a_folder_of_failures_is_a_report(
    tmp_path: pathlib.Path, make_record: Make, save: Make
) -> None:
    folder = save(
        tmp_path,
        [
            make_record(status="failed", reason="out of memory", repetition=seed)
            for seed in range(3)
        ],
    )
    source = write_report(gather([folder]), tmp_path / "report.html").read_text()
    assert "out of memory" in source
    assert "nothing to compare" in source


def test_a_target_that_cannot_be_written_is_one_line(
    tmp_path: pathlib.Path, make_record: Make, save: Make
) -> None:
    folder = save(tmp_path, [make_record()])
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        write_report(gather([folder]), tmp_path / "file" / "report.html")
