"""The forms of a report, and comparisons, stored as text."""

from __future__ import annotations

import json
import pathlib
import sys

import pytest

from expected import Expected, page_text, summary
from made_up_runs import make_study, save
from quickstudy.cli.main import main
from quickstudy.report import page
from quickstudy.report.export import as_json
from quickstudy.report.report_data import ReportData

FORMS = {
    **page.FORMS,
    "json": lambda data: json.dumps(summary(as_json(data)), sort_keys=True, indent=1),
}


@pytest.mark.parametrize("form", FORMS)
def test_reports(form: str, study_report: ReportData, expected: Expected) -> None:
    text = FORMS[form](study_report)
    expected.text(f"report {form}.txt", page_text(text) if form == "html" else text)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """Three learners, two controls and an oracle on two tasks."""
    lifts = {"language/qa": 0.0, "language/periodic": 0.1}
    return save(
        tmp_path / "runs",
        [record for task, lift in lifts.items() for record in make_study(task=task, lift=lift)],
    )


@pytest.mark.parametrize("names", [("lstm", "rnn"), ("lstm", "rnn", "esn:units=200,leak=0.3")])
def test_comparisons(
    names: tuple[str, ...],
    folder: pathlib.Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    expected: Expected,
) -> None:
    place = folder.with_name("page.html")
    monkeypatch.setattr(sys, "argv", ["quickstudy", "compare", *names])  # which the page shows
    with pytest.raises(SystemExit) as ended:
        main(["compare", *names, str(folder), "--page", str(place)])
    assert not ended.value.code
    shown = capsys.readouterr().out.replace(str(place), "page.html")
    expected.text(f"compare {len(names)} terminal.txt", shown)
    expected.text(f"compare {len(names)} page.txt", page_text(place.read_text(encoding="utf-8")))
