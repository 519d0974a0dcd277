"""Made-up data for all tasks on measured data: small, the same every time, and noise."""

from __future__ import annotations

import wave

import numpy as np
import pytest

from made_up_reviews import made_up_reviews, write_reviews
from quickstudy.data.measured import (
    APNEA,
    DIGITS,
    IPIX,
    LASER,
    MNIST,
    MNIST_TEST,
    NOAA,
    SILSO,
    SPOKEN,
    VOWELS,
    ZURICH,
)

SERIES = (
    *((data, ["sunspot_number"], 3200) for data in (ZURICH, NOAA, SILSO)),
    (LASER, ["intensity"], 5101),
    (APNEA, ["heart_rate", "respiration", "blood_oxygen"], 27_001),
    (IPIX, ["I", "Q"], 2001),
)


def write_data(folder):
    """All data from outside, made up, and the library of flows."""
    write_reviews(folder, made_up_reviews(np.random.default_rng(0), 60), "imdb_labelled.tsv.xz")
    for data, names, rows in SERIES:
        table = np.abs(np.random.default_rng(0).normal(size=(rows, len(names))))
        if data is APNEA:  # who breathes, and now and then does not
            table[:, 1] *= np.where(np.arange(rows) % 200 < 150, 1.0, 0.02)
        np.savetxt(
            folder / data.layouts[0], table, delimiter=",", header=",".join(names), comments=""
        )
    write_recordings(folder, np.random.default_rng(0))
    write_waves(folder / "ti46", np.random.default_rng(0))
    write_catalogue(folder / "library" / "dysts")


@pytest.fixture(scope="session")
def made_up_data(tmp_path_factory):
    """A folder of made-up data, written once."""
    folder = tmp_path_factory.mktemp("data")
    write_data(folder)
    return folder


@pytest.fixture(scope="session")
def cache_of_data(tmp_path_factory):
    """A cache of its own for what is derived from the data, apart from that of the compiler."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def data_in_place(made_up_data, cache_of_data, monkeypatch):
    """Tasks on measured data find the made-up data, in this test and in no other."""
    monkeypatch.syspath_prepend(str(made_up_data / "library"))
    monkeypatch.setenv("QUICKSTUDY_DATA", str(made_up_data))
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_of_data))


def write_recordings(folder, rng):
    """A few sequences of every class, all noise."""
    for data, side, count in ((DIGITS, 8, 1040), (MNIST, 28, 40), (MNIST_TEST, 28, 20)):
        images, labels = (
            rng.integers(17, size=(count, side, side), dtype=np.uint8),
            np.arange(count) % 10,
        )
        np.savez(folder / data.layouts[0], images=images, labels=labels.astype(np.uint8))
    digit, index = np.repeat(np.arange(10), 8), np.tile(np.arange(8), 10)
    np.savez(
        folder / SPOKEN.layouts[0],
        audio=rng.integers(-9000, 9000, 80 * 900).astype(np.int16),
        offsets=np.arange(81) * 900,
        digit=digit,
        speaker=np.arange(80) % 6,
        index=index,
    )
    lines = [
        ",".join(["split", "utterance", "speaker", "t", *(f"c{number}" for number in range(1, 13))])
    ]
    for utterance in range(36):
        for time in range(7 + utterance % 3):
            numbers = ",".join(f"{number:.3f}" for number in rng.normal(size=12))
            part = "train" if utterance < 27 else "test"
            lines.append(f"{part},{utterance},{utterance % 9 + 1},{time},{numbers}")
    (folder / VOWELS.layouts[0]).write_text("\n".join(lines) + "\n")


def write_waves(folder, rng):
    """Ten digits of one speaker, twice to learn from and once to be tested on."""
    for digit in range(10):
        for part, session in (("train", "set0"), ("train", "set1"), ("test", "s1t0")):
            path = folder / part / "f1" / f"{digit:02}f1{session}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            with wave.open(str(path), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(12_500)
                file.writeframes(rng.integers(-9000, 9000, 2500).astype("<i2").tobytes())


def write_catalogue(folder):
    """What is used of Gilpin's catalogue, with one flow in it."""
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "flows.py").write_text(CATALOGUE)


CATALOGUE = """
class Lorenz:
    ic, period, std, maximum_lyapunov_estimated = (1.0, 1.0, 20.0), 1.5, (8.0, 9.0, 8.5), 0.89

    @staticmethod
    def _rhs(x, y, z, t):
        return 10 * (y - x), 28 * x - x * z - y, x * y - 2.667 * z

    def rhs(self, X, t):
        return self._rhs(*X.T, t)


class Late(Lorenz):
    delay = True
"""
