"""The made-up runs of the report's tests, for the pages of studies too."""

from made_up_runs import _make_record, _save  # noqa: F401
