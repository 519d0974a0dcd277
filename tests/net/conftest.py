from __future__ import annotations

import pytest

from made_up_data import data_in_place
from made_up_runs import _save, study_report  # noqa: F401


@pytest.fixture(scope="package", autouse=True)
def made_up_data(tmp_path_factory):
    """Tasks on measured data draw from made-up data."""
    with data_in_place(tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("cache")):
        yield
