"""The made-up runs of the report's tests, for the pages of studies too."""

from __future__ import annotations

import importlib.util
import pathlib

_SPEC = importlib.util.spec_from_file_location(
    "made_up_runs", pathlib.Path(__file__).parents[1] / "report" / "conftest.py"
)
assert _SPEC
assert _SPEC.loader
_found = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_found)

make_record = _found._make_record
save = _found._save
