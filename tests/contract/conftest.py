from __future__ import annotations

import numpy as np
import pytest

import quickstudy.gateway  # noqa: F401  the compiler's cache stays where it is
from made_up_reviews import made_up_reviews, write_reviews
from quickstudy.data.measured import APNEA, IPIX, LASER, ZURICH

SERIES = (
    (ZURICH, ["sunspot_number"], 2820),
    (LASER, ["intensity"], 5101),
    (APNEA, ["heart_rate", "respiration", "blood_oxygen"], 27_001),
    (IPIX, ["I", "Q"], 2001),
)


@pytest.fixture(scope="session", autouse=True)
def made_up_data(tmp_path_factory):
    """Tasks on measured data keep their promises on made-up data as well."""
    folder = tmp_path_factory.mktemp("data")
    write_reviews(folder, made_up_reviews(np.random.default_rng(0), 60), "imdb_labelled.tsv.xz")
    for data, names, rows in SERIES:
        table = np.random.default_rng(0).normal(size=(rows, len(names)))
        np.savetxt(folder / data.layouts[0], table, delimiter=",", header=",".join(names), comments="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QUICKSTUDY_DATA", str(folder))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
