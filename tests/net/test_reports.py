"""The forms of a report, stored as text."""

from __future__ import annotations

import json

import pytest

from expected import Expected, page_text, summary
from quickstudy.report import page
from quickstudy.report.facts import as_json
from quickstudy.report.model import ReportData

FORMS = {
    **page.FORMS,
    "json": lambda data: json.dumps(summary(as_json(data)), sort_keys=True, indent=1),
}


@pytest.mark.parametrize("form", FORMS)
def test_reports(form: str, study_report: ReportData, expected: Expected) -> None:
    text = FORMS[form](study_report)
    expected.text(f"report {form}.txt", page_text(text) if form == "html" else text)
