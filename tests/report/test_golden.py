"""The forms of a report, stored as hashes: nothing in them changes unawares.

A form that should change is looked at, and then `RENEW=pages pytest tests/report/test_golden.py` stores its new hash.
Numbers are rounded to nine figures before: their last digits are the machine's.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re

import pytest

from quickstudy.report import page
from quickstudy.report.facts import as_json
from quickstudy.report.model import ReportData

STORED = pathlib.Path(__file__).with_name("golden.json")
FORMS = {**page.FORMS, "json": lambda data: json.dumps(as_json(data), sort_keys=True)}


def check(name: str, form: str) -> None:
    """Fail if a form is not the stored one, or store it."""
    rounded = re.sub(r"-?\d+\.\d{6,}(e[+-]?\d+)?|-?\d+(\.\d+)?e[+-]?\d+", lambda found: f"{float(found[0]):.9g}", form)
    stored = json.loads(STORED.read_text())
    found = hashlib.sha256(rounded.encode()).hexdigest()
    if os.environ.get("RENEW") == "pages":
        STORED.write_text(json.dumps({**stored, name: found}, indent=1, sort_keys=True) + "\n")
        return
    assert stored.get(name) == found, f"{name} is another; look at it, and if it is right: RENEW=pages"


@pytest.mark.parametrize("form", FORMS)
def test_reports(form: str, study_report: ReportData) -> None:
    check(f"report {form}", FORMS[form](study_report))
