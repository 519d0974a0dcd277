"""The page of a report: what a task asks, its figure, what comes first, and what a notebook and a
frame show.
"""

from __future__ import annotations

import dataclasses
import math
import pathlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from quickstudy.api.run import Results
from quickstudy.base import registries
from quickstudy.base.blocks import Page, Plot, Section, Table, Terms, Text, every
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameters_of
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.report.build import build_report, gather
from quickstudy.report.export import as_json
from quickstudy.report.page import report_page, screen_page, write_report
from quickstudy.runs.results import ResultsTable

Make = Callable[..., Any]


def texts(page: Page, kind: str) -> list[str]:
    return [
        block.text for block in every(page.blocks) if isinstance(block, Text) and block.kind == kind
    ]


def section(page: Page, name: str) -> Section:
    return next(
        block for block in every(page.blocks) if isinstance(block, Section) and block.name == name
    )


@pytest.fixture
def registered() -> Iterator[Callable[..., None]]:
    """Register figures that are gone after the test."""
    names: list[str] = []

    def add(name: str, function: Callable[..., Any]) -> None:
        registries.figure(name, version=1)(function)
        names.append(name)

    yield add
    for name in names:
        del registries.figure._entries[name, 1]


def with_facts(record: Record, **facts: Any) -> Record:
    return dataclasses.replace(
        record, trace={**record.trace, "facts": {**record.trace["facts"], **facts}}
    )


def test_a_task_says_what_it_asks_of_how_many_and_shows_an_example(
    make_record: Make, make_report: Make
) -> None:
    made = with_facts(make_record(), training_sequences=960, test_sequences=240)
    task = registries.task.get("language/qa")
    own = {"id": task.id, "version": task.version, "parameters": parameters_of(task())}
    records = [dataclasses.replace(made, what={**made.what, "task": own})]
    page = report_page(make_report(records, "quickstudy run language/qa"))
    asked = (
        "Say whether something was affirmed or denied of a name. 960 sequences to learn from, 240"
        " to be tested on."
    )
    assert asked in texts(page, "question")
    (example,) = texts(page, "example")
    assert re.fullmatch(r"I .* \. DO I [A-Z]+ [A-Z]+ \? (YES|NO)", example)
    # The page says when, with what and by which command.
    assert page.under[1:] == [
        "Run 1970-01-01 with quickstudy 0.1.0, python 3.11.2, numpy 2.4.6",
        "quickstudy run language/qa",
    ]


def test_of_a_task_on_data_of_elsewhere_no_example_is_drawn(
    make_record: Make, make_report: Make, monkeypatch: Any
) -> None:
    task, made = registries.task.get("language/qa"), make_record()
    own = {"id": task.id, "version": task.version, "parameters": parameters_of(task())}
    record = dataclasses.replace(made, what={**made.what, "task": own})
    assert len(texts(report_page(make_report([record])), "example")) == 1
    monkeypatch.setattr(task, "ready", lambda self: None, raising=False)
    assert texts(report_page(make_report([record])), "example") == []


def test_of_a_task_with_other_parameters_no_example_is_drawn(
    make_record: Make, make_report: Make
) -> None:
    page = report_page(make_report([make_record()]))
    assert texts(page, "question")
    assert texts(page, "example") == []


def test_of_a_task_that_is_not_the_installed_one_nothing_is_said(
    make_record: Make, make_report: Make
) -> None:
    record = make_record()
    other = {**record.what, "task": {**record.what["task"], "version": 99}}
    page = report_page(make_report([dataclasses.replace(record, what=other)]))
    assert texts(page, "example") == []


def test_learners_by_tasks_come_first_and_each_task_in_a_line(
    make_study: Make, make_report: Make
) -> None:
    page = report_page(make_report([*make_study(), *make_study(task="language/harder-qa")]))
    short = section(page, "short")
    table, terms = short.blocks
    assert isinstance(table, Table)
    assert isinstance(terms, Terms)
    assert [column.title for column in table.columns] == ["learner", "harder-qa", "qa"]
    assert {target for _, _, target in terms.items} == {"task-0", "task-1"}
    first = "3 of 3 above the best control at the end, 3 by accuracy over log data"
    assert terms.items[1][1] == f"{first}, lstm clearly ahead."
    # One task needs no summary of it.
    alone = report_page(make_report(make_study()))
    assert not any(isinstance(block, Section) and block.name == "short" for block in alone.blocks)


def test_a_figure_from_outside_is_found_by_the_kind_of_trace(
    make_record: Make, registered: Make
) -> None:
    def life(_: Record) -> Trace:
        return Trace("life", {"reward": np.array([1.0, 2.0])}, {})

    def draw(task: str, rows: Any) -> list[Text]:
        return [
            Text(f"{row.learner} on {task}: {row.traces[0].arrays['reward'].sum():g}")
            for row in rows
        ]

    data = build_report(ResultsTable.of([make_record("cat")], life))
    assert 'There is no figure for traces of the kind "life".' in texts(report_page(data), "remark")
    registered("life", draw)
    assert "cat on language/qa: 3" in texts(report_page(data), "")


def test_a_figure_that_fails_costs_the_picture_only(make_record: Make, registered: Make) -> None:
    def broken(task: str, rows: Any) -> list[Text]:
        raise KeyError("reward")

    registered("life", broken)
    page = report_page(
        build_report(ResultsTable.of([make_record()], lambda _: Trace("life", {}, {})))
    )
    assert any(
        remark.startswith('The figure "life" raised KeyError') for remark in texts(page, "remark")
    )
    assert any(
        isinstance(block, Table) and block.name == "scores-0" for block in every(page.blocks)
    )


def test_t_is_read_off_a_curve_that_rises(make_record: Make, make_report: Make) -> None:
    steps = [1, 2, 4, 8, 16]
    flat = make_record("a-flat", curve=(steps, [1.0] * 5))
    rising = make_record("rising", curve=(steps, [0.1, 0.3, 0.5, 0.7, 0.9]))

    def read(*records: Record) -> list[Plot]:
        page = report_page(make_report(records))
        return [block for block in every(section(page, "read").blocks) if isinstance(block, Plot)]

    assert read(flat) == []
    (plot,) = read(flat, rising)
    assert "rising on language/qa, one run" in plot.caption
    (strong,) = (guide for guide in plot.panels[0].guides if guide.strong)
    assert strong.label == f"T({strong.y:g}) = {strong.x:g}"
    assert (strong.x, strong.y) in zip((4.0, 8.0, 8.0, 16.0), (0.5, 0.6, 0.7, 0.8), strict=True)
    assert [guide.label for guide in plot.panels[0].guides if guide.x is None] == ["T = ∞"]


def test_a_curve_that_ends_early_is_explained(make_record: Make, make_report: Make) -> None:
    def caption(*ends: int) -> str:
        records = [make_record(f"learner {end}", curve=([1, end], [0.5, 0.9])) for end in ends]
        return next(
            block
            for block in every(report_page(make_report(records)).blocks)
            if isinstance(block, Plot)
        ).caption

    assert caption(10, 10).endswith("Solid: learners.")
    assert caption(10, 20).endswith(
        "Solid: learners. Thin, after the end of a curve: its last value holds."
    )


@pytest.mark.parametrize("moment", [1e300, float("inf"), float("nan"), -5.0, 0.0])
def test_a_record_that_was_made_at_no_time_has_no_day(
    make_record: Make, make_report: Make, moment: float
) -> None:
    odd = make_record(started=moment)
    assert make_report([odd]).days == ""
    assert make_report([odd, make_record(repetition=1, started=86400.0 * 365)]).days == "1971-01-01"
    report_page(make_report([odd]))


def test_material_is_counted_in_what_the_trace_counts(make_record: Make, make_report: Make) -> None:
    record = make_record()
    facts = {"training_steps": 2000, "test_steps": 1000, "washout_steps": 100}
    driven = dataclasses.replace(
        record, trace={**record.trace, "facts": {**record.trace["facts"], **facts}}
    )
    assert (
        make_report([driven]).tables[0].material
        == "2,000 steps to learn from, 1,000 to be tested on."
    )


def test_a_screen_has_no_pictures_and_no_record(study_report: Any) -> None:
    page = screen_page(study_report)
    assert not any(isinstance(block, Plot) for block in every(page.blocks))
    names = [block.name for block in every(page.blocks) if isinstance(block, Table)]
    assert "scores-0" in names
    assert not any(name.startswith("runs-") for name in names)


def test_results_are_built_once(
    make_study: Make, save: Make, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    from quickstudy.report import build

    results = Results(save(tmp_path, make_study(seeds=2)))
    calls = []
    true = build.build_report
    monkeypatch.setattr(build, "build_report", lambda *given: calls.append(1) or true(*given))
    results.report("quickstudy run x")
    results.show(keys=set(results.shelf.reading().records))
    results.as_json()
    assert len(calls) == 1
    save(tmp_path, make_study(seeds=3))
    assert len(results.as_json()["tasks"][0]["learners"][0]["records"]) == 3
    assert len(calls) == 2


def test_a_notebook_shows_the_tables(make_study: Make, save: Make, tmp_path: pathlib.Path) -> None:
    html = Results(save(tmp_path, make_study(seeds=2)))._repr_html_()
    assert "<svg" in html
    assert "Scores on language/qa" in html
    assert "<script" not in html


def test_a_frame_has_a_row_for_every_run(
    make_study: Make, save: Make, tmp_path: pathlib.Path
) -> None:
    results = Results(save(tmp_path, make_study(seeds=2)))
    pandas = pytest.importorskip("pandas")
    frame = results.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == 12
    assert set(frame.task_id) == {"language/qa"}
    lstm = next(
        row for row in results.as_json()["tasks"][0]["learners"] if row["learner"] == "lstm"
    )
    assert frame[frame.learner == "lstm"]["wade"].mean() == pytest.approx(
        lstm["scores"]["wade"]["mean"]
    )


def test_without_pandas_a_frame_is_arrows_or_says_what_to_install(
    make_study: Make, save: Make, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    import importlib.util
    import types

    results = Results(save(tmp_path, make_study(seeds=1)))
    there = {"pyarrow"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name in there or None)
    monkeypatch.setitem(sys.modules, "pyarrow", types.SimpleNamespace(table=dict))
    columns = results.frame()
    assert columns["learner"].count("lstm") == 1
    assert math.isfinite(columns["wade"][columns["learner"].index("lstm")])
    there.clear()
    with pytest.raises(UsageError, match="pip install pandas"):
        results.frame()


def test_scores_of_one_run_in_two_folders_are_merged(
    make_record: Make, save: Make, tmp_path: pathlib.Path
) -> None:
    record = make_record()
    halves = [
        save(tmp_path / name, [dataclasses.replace(record, scores={name: record.scores[name]})])
        for name in ("wade", "accuracy")
    ]
    (row,) = gather(halves).tables[0].rows
    assert {"wade", "final-accuracy"} <= set(row.scores)
    assert len(row.runs) == 1


def test_runs_that_are_too_many_for_a_page_are_in_a_file_next_to_it(
    make_study: Make, save: Make, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    from quickstudy.report import page

    data = gather([save(tmp_path, make_study(seeds=3))])
    runs = sum(len(row.runs) for table in data.tables for row in table.rows)
    whole = write_report(data, tmp_path / "whole.html").read_text()
    assert not (tmp_path / "whole-runs.csv").exists()
    monkeypatch.setattr(page, "MOST_LISTED", runs - 1)
    short = write_report(data, tmp_path / "short.html").read_text()
    keys = [run.key[:8] for table in data.tables for row in table.rows for run in row.runs]
    assert all(key in whole for key in keys)
    assert not any(key in short for key in keys)
    assert "./short-runs.csv" in short
    lines = (tmp_path / "short-runs.csv").read_text().splitlines()
    assert len(lines) == runs + 1
    assert as_json(data)["tasks"][0]["learners"][0]["records"]
