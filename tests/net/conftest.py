"""Tasks on measured data draw from made-up data."""

from made_up_data import cache_of_data, data_in_place, made_up_data  # noqa: F401
from made_up_runs import _save, study_report  # noqa: F401
