"""Prediction of measured series, of unknown dynamics: sunspots, a laser, a radar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.data.locate import DataSet, find
from quickstudy.data.measured import IPIX, LASER, NOAA, SILSO, ZURICH, columns, digest
from quickstudy.tasks.dynamics.series import RULES, Floats, Forecast, taxonomy

UNKNOWN = {**RULES, "oracle": "unknown: how much of it is predictable"}


@dataclass(frozen=True)
class Measured(Forecast):
    """A measured series from a file.

    Unless raw, values are scaled to -1 to 1 by the smallest and largest value of the washout and
    training sections.

    Parameters
    ----------
    first:
        The row at which the washout begins; none: sampled in every repetition, so that runs are
        slices of one series, each with its own washout.
    """

    first: int | None = parameter(0, at_least=0)

    data: ClassVar[DataSet]
    columns: ClassVar[tuple[str, ...]] = ("sunspot_number",)

    @property
    def width(self) -> int:  # type: ignore[override]  # by the columns
        """One value per column."""
        return len(self.columns)

    @property
    def draws(self) -> bool:
        """Whether repetitions differ."""
        return self.first is None

    def ready(self) -> None:
        """Raise UsageError, with the remedy, if the data is not on this machine."""
        find(self.data)

    def whole(self) -> Floats:
        """(row, column): all values, as measured."""
        return columns(self.data, self.columns)

    def drive(self, rng: np.random.Generator) -> Series:
        """The rows from the first on."""
        whole = self.whole()
        last = len(whole) - self.length
        if last < (self.first or 0):
            raise UsageError(
                f"{self.data.title} has {len(whole)} rows, and {self.length} are asked for from row"
                f" {self.first or 0} on; give shorter parts or an earlier first"
            )
        first = int(rng.integers(last + 1)) if self.first is None else self.first
        values, said = self.scaled(whole[first : first + self.length])
        facts = {
            "rows": [first, first + self.length],
            "sha256": digest(self.data),
            "shown": said,
            "varies": ["slice", "weights"] if self.draws else ["weights"],
        }
        return self.forecast(values, **facts)

    def scaled(self, values: Floats) -> tuple[Floats, str]:
        """As shown, with a description."""
        if self.raw:
            return values, "raw"
        learned = values[: self.washout + self.training]
        low, high = learned.min(axis=0), learned.max(axis=0)
        return within(values, low, high) * 2.0 - 1.0, "-1 .. 1 by the washout and training part"


def within(values: Floats, low: Floats, high: Floats) -> Floats:
    """0 at the low end and 1 at the high end; a column that never changes is 0."""
    return np.asarray((values - low) / np.where(high > low, high - low, 1.0))


FREE_USE = "free use with attribution"


@task("dynamics/sunspots-zurich", version=1, **UNKNOWN)
@dataclass(frozen=True)
class Sunspots(Measured):
    """Predict the sunspots of the next month, by the Zurich numbers.

    Sees: the monthly mean number.
    Answers: the number `ahead` months later.
    Scored: NRMSE over the test section.
    Chance: 1, by answering the mean. Persistence has 0.396 over the whole series, and
        autoregression is hardly above any reservoir.
    Ceiling: unknown.
    Source: 1749 to 1983, 2,820 months. Wringe, Trefzer and Stepney 2024, section 5.6 and Table 5.
    """

    washout: int = parameter(100, at_least=0)
    training: int = parameter(1500, at_least=10)
    validation: int = parameter(219, at_least=0)

    def whole(self) -> Floats:
        """As it was measured. Raises UsageError for a month without a number, which some sources
        write as -99.
        """
        values = super().whole()
        without = np.flatnonzero((values < 0).any(axis=1))
        if len(without):
            raise UsageError(
                f"{self.data.title}, row {without[0] + 1}: no month has {values[without[0], 0]:g}"
                " sunspots, it marks a missing number; keep only the rows before or after it in"
                " the file"
            )
        return values

    data: ClassVar[DataSet] = ZURICH
    interval: ClassVar[float] = 1 / 12
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "unknown", stationary=False, licence=FREE_USE
    )


task.variant(
    "dynamics/sunspots-noaa",
    version=1,
    of=Sunspots,
    summary="Predict the sunspots of the next month, by the numbers of NOAA.",
    data=NOAA,
    taxonomy=taxonomy("prediction", "unknown", stationary=False, licence="public domain"),
)
task.variant(
    "dynamics/sunspots-silso",
    version=1,
    of=Sunspots,
    summary=(
        "Predict the sunspots of the next month, by SILSO version 2 (1,600, 500 and 1,000 months,"
        " as CHARC)."
    ),
    data=SILSO,
    validation=500,
    taxonomy=taxonomy("prediction", "unknown", stationary=False, licence="CC BY-NC 4.0"),
)


@task("dynamics/santa-fe-laser", version=1, **UNKNOWN)
@dataclass(frozen=True)
class Laser(Measured):
    """Predict the Santa Fe laser (2,500, 1,250 and 1,250 values, Dale et al. 2018).

    Sees: the intensity, 0 to 255.
    Answers: the intensity `ahead` steps later.
    Scored: NRMSE over the test section.
    Chance: 1, by answering the mean. Persistence has 0.969 over the whole series, autoregression
        with ten taps about 0.44.
    Ceiling: unknown.
    Source: Wringe, Trefzer and Stepney 2024, section 5.7 and Table 6, where "25000" is a misprint
        of 2,500.

    There are 10,093 values: the first 1,000 are the training data of the competition, the next 100
    its test. The washout is the beginning of what publications count as training.
    """

    training: int = parameter(2300, at_least=10)
    validation: int = parameter(1250, at_least=0)
    test: int = parameter(1250, at_least=2)

    data: ClassVar[DataSet] = LASER
    columns: ClassVar[tuple[str, ...]] = ("intensity",)
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "unknown", licence="free research use"
    )


task.variant(
    "dynamics/santa-fe-laser-brunner",
    version=1,
    of=Laser,
    summary="Predict the Santa Fe laser (3,200 and 800 values, Brunner et al.).",
    training=3000,
    validation=0,
    test=800,
)
task.variant(
    "dynamics/santa-fe-laser-guo",
    version=1,
    of=Laser,
    summary="Predict the Santa Fe laser (3,000 and 1,000 values, Guo et al.).",
    training=2800,
    validation=0,
    test=1000,
)
task.variant(
    "dynamics/santa-fe-laser-competition",
    version=2,
    of=Laser,
    summary="Go on with the Santa Fe laser for 100 steps, as in the competition.",
    # One step less than 200: the last answer that is learned from is the last value that was given.
    washout=199,
    training=800,
    validation=0,
    test=100,
    running="free",
)


@task("dynamics/ipix", version=1, **UNKNOWN)
@dataclass(frozen=True)
class Radar(Measured):
    """Predict the echo of the sea in the IPIX radar (Xue et al. 2007).

    Sees: the channels I and Q, a thousand times per second.
    Answers: the same, `ahead` steps later (1 or 5).
    Scored: NRMSE of both together and of each.
    Chance: 1, by answering the mean.
    Ceiling: unknown.
    Source: Xue et al. 2007. Your own file `ipix.csv` with columns I and Q; which recording was
        published is unknown.

    The washout has 200 values, training 800 and the test 1,000.
    """

    training: int = parameter(800, at_least=10)
    validation: int = parameter(0, at_least=0)

    data: ClassVar[DataSet] = IPIX
    columns: ClassVar[tuple[str, ...]] = ("I", "Q")
    interval: ClassVar[float] = 0.001
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "unknown", licence="no copy may be passed on"
    )
