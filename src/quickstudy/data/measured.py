"""Measured series and sequences: sunspots, a laser, a sleeper, a radar, vowels, digits. None is
part of the package.

Each has its datasheet in `docs/reference/data-sets.md`: who measured it, how, what it holds, what
may be done with it.
"""

from __future__ import annotations

import csv
import pathlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.data.locate import DataSet, find, fingerprint
from quickstudy.data.tables import read_content


def _of_user(id: str, title: str, file: str, home: str) -> DataSet:
    """A data set that comes as one file made from the original: it cannot be
    fetched directly.
    """
    return DataSet(id, title, (file,), home, archive="", checksum="")


ZURICH = _of_user(
    "sunspots-zurich",
    "the Zurich monthly sunspot numbers",
    "sunspots_zurich_monthly_1749_1983.csv",
    "the Time Series Data Library (Andrews and Herzberg 1985)",
)
NOAA = _of_user(
    "sunspots-noaa",
    "the monthly sunspot numbers of NOAA",
    "sunspots_noaa_monthly_1749_2009.csv",
    "https://www.ngdc.noaa.gov/stp/solar/ssndata.html",
)
SILSO = _of_user(
    "sunspots-silso",
    "the monthly sunspot numbers of SILSO, version 2",
    "sunspots_silso_v2_monthly_1749_2017.csv",
    "https://www.sidc.be/SILSO/datafiles",
)
LASER = _of_user(
    "santa-fe-laser",
    "the Santa Fe laser with its continuation",
    "santafe_laser.csv",
    "the Santa Fe competition's data set A (Weigend and Gershenfeld 1993)",
)
APNEA = _of_user(
    "sleep-apnea",
    "the Santa Fe sleep apnea recording",
    "santafe_b_sleep_apnea.csv",
    "https://physionet.org/content/santa-fe/1.0.0/",
)
IPIX = _of_user(
    "ipix",
    "the IPIX radar, two columns I and Q",
    "ipix.csv",
    "http://soma.mcmaster.ca/ipix/ (no copy may be passed on)",
)
VOWELS = _of_user(
    "japanese-vowels",
    "the Japanese vowels",
    "japanese_vowels.csv",
    "https://archive.ics.uci.edu/dataset/128/japanese+vowels",
)
DIGITS = _of_user(
    "digits-8x8",
    "the handwritten digits of 8 x 8 points",
    "digits_8x8.npz",
    "https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
)

MNIST = _of_user(
    "mnist",
    "5,000 training images of MNIST",
    "mnist_train5k.npz",
    "http://yann.lecun.com/exdb/mnist/",
)
MNIST_TEST = _of_user("mnist-test", "the test images of MNIST", "mnist_t10k.npz", MNIST.home)
SPOKEN = _of_user(
    "spoken-digits",
    "the Free Spoken Digit Dataset, recordings 0 to 19",
    "fsdd_8khz_subset.npz",
    "https://github.com/Jakobovski/free-spoken-digit-dataset",
)


def columns(data: DataSet, names: tuple[str, ...]) -> NDArray[np.float64]:
    """(row, column): named columns of a data set's CSV file. Raises UsageError for what is missing
    or no number.
    """
    return _columns(find(data), names)


def digest(data: DataSet) -> str:
    """What tells one copy of a data set from another."""
    return _digest(find(data))


_digest = lru_cache(fingerprint)


@lru_cache(maxsize=16)
def _columns(path: pathlib.Path, names: tuple[str, ...]) -> NDArray[np.float64]:
    table = rows_of(path)
    missing = [name for name in names if table and name not in table[0]]
    if missing or not table:
        raise UsageError(f"{path} must have a heading with {', '.join(names)}, and rows below it")
    values = np.empty((len(table), len(names)))
    for place, row in enumerate(table):
        try:
            values[place] = [float(row[name]) for name in names]
        except (TypeError, ValueError):
            found = ", ".join(str(row[name]) for name in names)
            raise UsageError(
                f"{path}, row {place + 1}: {', '.join(names)} must be numbers, got {found}"
            ) from None
    if not np.isfinite(values).all():
        raise UsageError(f"{path}: every number must be finite")
    values.setflags(write=False)
    return values


def rows_of(path: pathlib.Path) -> list[dict[str, Any]]:
    """The rows of a CSV file by the names in its heading."""
    try:
        return list(csv.DictReader(read_content(path).decode("utf-8").splitlines()))
    except (UnicodeDecodeError, csv.Error):
        raise UsageError(f"{path} is not CSV in UTF-8") from None


def archive(data: DataSet, *names: str) -> list[NDArray[Any]]:
    """Named arrays of a data set's NPZ file."""
    path = find(data)
    try:
        with np.load(path, allow_pickle=False) as kept:
            return [kept[name] for name in names]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path} must be an NPZ file with {', '.join(names)}: {error}") from None
