from made_up_runs import _make_record, _make_report, _make_study, _save, _scored, study_report  # noqa: F401
