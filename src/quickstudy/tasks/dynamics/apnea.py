"""A sleeper who stops breathing now and then: heart rate, respiration and blood oxygen, and when it
happens.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.examples import Series
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import task
from quickstudy.base.spaces import Reals
from quickstudy.data.locate import DataSet
from quickstudy.data.measured import APNEA
from quickstudy.tasks.dynamics.measured import UNKNOWN, Measured, within
from quickstudy.tasks.dynamics.series import RULES, Floats, taxonomy

CHANNELS = ("heart_rate", "respiration", "blood_oxygen")
LICENCE = "Open Data Commons Attribution 1.0"
SHORT, LONG, SHARE = 20, 240, 0.25
"""Of a label: rows over which the range of respiration is taken (10 s), rows over whose ranges the
median is (120 s), and the share of it that counts as no breathing.
"""


@task("dynamics/sleep-apnea", version=2, **UNKNOWN)
@dataclass(frozen=True)
class SleepApnea(Measured):
    """Predict heart rate, respiration and blood oxygen of a sleeper (Wringe et al. 2024).

    Sees: all three values, twice a second.
    Answers: the same, `ahead` steps later.
    Scored: NRMSE of all three together, and of each.
    Chance: 1, by answering the mean; persistence is far lower.
    Ceiling: unknown.
    Source: Santa Fe set B from row 22,000 on, as in Wringe, Trefzer and Stepney 2024.

    The washout has 1,000 values (999 steps, since the first value cannot be predicted), training
    3,000; the test uses rows 26,000 to 26,999. Artefacts and drop-outs are kept.

    Parameters
    ----------
    scaled_by:
        `training`: scale to -1 to 1 by the washout and training sections. `all`, as published:
        scale to -0.5 to 0.5 by all rows, including the test rows.
    """

    first: int | None = parameter(22_000, at_least=0)
    washout: int = parameter(999, at_least=0)
    training: int = parameter(3000, at_least=10)
    validation: int = parameter(0, at_least=0)
    scaled_by: str = parameter("training", choices=("training", "all"), added=True)

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"scaled_by": "all"}}
    data: ClassVar[DataSet] = APNEA
    columns: ClassVar[tuple[str, ...]] = CHANNELS
    interval: ClassVar[float] = 0.5
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "prediction", "unknown", stationary=False, licence=LICENCE
    )

    def scaled(self, values: Floats) -> tuple[Floats, str]:
        """As shown, with a description."""
        if self.raw or self.scaled_by == "training":
            return super().scaled(values)
        return (
            within(values, values.min(axis=0), values.max(axis=0)) - 0.5,
            "-0.5 .. 0.5 by all rows, as published",
        )


@task("dynamics/sleep-apnea-heart", version=2, **UNKNOWN)
@dataclass(frozen=True)
class SleepApneaChannel(SleepApnea):
    """Predict the heart rate of a sleeper (Wringe et al. 2024).

    Sees: the heart rate, twice a second.
    Answers: the heart rate `ahead` steps later.
    Scored: NRMSE over the test section.
    Chance: 1, by answering the mean; persistence has 0.243.
    Ceiling: unknown.
    Source: data and scaling as in dynamics/sleep-apnea.

    Parameters
    ----------
    channel:
        The value to predict.
    others:
        Also show the other two values.
    """

    channel: str = parameter("heart_rate", choices=CHANNELS)
    others: bool = False

    @property
    def inputs(self) -> Reals:
        """One channel, or all."""
        return Reals(3 if self.others else 1)

    @property
    def outputs(self) -> Reals:
        """One channel."""
        return Reals(1)

    def __post_init__(self) -> None:
        if self.others and self.free:
            raise ValueError(
                "what the other channels would be is not known in a free run; leave others or"
                " free out"
            )

    def drive(self, rng: np.random.Generator) -> Series:
        """The rows from the first on."""
        series, mine = super().drive(rng), [CHANNELS.index(self.channel)]
        seen = series.inputs if self.others else series.inputs[:, mine]
        return dataclasses.replace(series, inputs=seen, targets=series.targets[:, mine])


task.variant(
    "dynamics/sleep-apnea-respiration",
    version=2,
    of=SleepApneaChannel,
    summary="Predict the respiration of a sleeper (Wringe et al. 2024).",
    channel="respiration",
)
task.variant(
    "dynamics/sleep-apnea-oxygen",
    version=2,
    of=SleepApneaChannel,
    summary="Predict the blood oxygen of a sleeper (Wringe et al. 2024).",
    channel="blood_oxygen",
)


def stopped(respiration: Floats) -> Floats:
    """(row,): 1 where the range of the last 10 seconds is below a quarter of the median of all such
    ranges of the last 120 seconds, else 0; nan before there are as many rows.
    """
    windows = np.lib.stride_tricks.sliding_window_view
    ranges = np.ptp(windows(respiration, SHORT), axis=1)
    usual = np.median(windows(ranges, LONG), axis=1)
    found = (ranges[LONG - 1 :] < SHARE * usual).astype(np.float64)
    return np.concatenate([np.full(SHORT + LONG - 2, np.nan), found])


@task(
    "dynamics/sleep-apnea-labels",
    version=1,
    **{**RULES, "oracle": "the rule of the labels needs values unscaled"},
)
@dataclass(frozen=True)
class SleepApneaLabels(SleepApnea):
    """Detect whether a sleeper has stopped breathing.

    Sees: heart rate, respiration and blood oxygen, twice a second.
    Answers: 1 where breathing has stopped, else 0.
    Scored: NRMSE; share of wrong answers (each rounded to the nearer value); false positives and
        negatives, and the area under their curve.
    Chance: NRMSE 1, and 0.17 of the answers wrong.
    Ceiling: 0.
    Source: data as in dynamics/sleep-apnea; the labels are ours.

    The labels are synthetic, because the recording is not annotated: breathing counts as stopped
    where the range of respiration over the last 10 seconds is below a quarter of the median of such
    ranges over the last 120 seconds. A rule of two lines computes them.
    """

    washout: int = parameter(1000, at_least=0)

    outputs: ClassVar[Reals] = Reals(1)
    levels: ClassVar[tuple[float, ...]] = (0.0, 1.0)
    taps: ClassVar[int] = 20
    taxonomy: ClassVar[Mapping[str, Any]] = taxonomy(
        "classification", "unknown", stationary=False, output="binary", licence=LICENCE
    )

    def __post_init__(self) -> None:
        if self.free or self.ahead != 1 or (self.first is not None and self.first < SHORT + LONG):
            raise ValueError(
                f"labels are of the row just read: first must be at least {SHORT + LONG}, ahead 1,"
                " free 0"
            )

    def drive(self, rng: np.random.Generator) -> Series:
        """The rows from the first on, with their labels."""
        series = super().drive(rng)
        first, last = series.facts["rows"]
        labels = stopped(self.whole()[:, CHANNELS.index("respiration")])[first : last - 1]
        facts = {**series.facts, "levels": list(self.levels), "labels": "synthetic"}
        return dataclasses.replace(series, targets=np.nan_to_num(labels)[:, None], facts=facts)
