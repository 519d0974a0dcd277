from __future__ import annotations

import pytest

from made_up_data import data_in_place


@pytest.fixture(scope="package", autouse=True)
def made_up_data(tmp_path_factory):
    """Tasks on measured data keep their promises on made-up data as well."""
    with data_in_place(tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("cache")):
        yield
