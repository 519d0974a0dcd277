"""Two learners side by side: paired by task and seed, with an interval, a test, an effect size and a verdict."""

from __future__ import annotations

import contextlib
import itertools
import math
import pathlib
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import CONVENTIONS
from quickstudy.base.record import OK, Record
from quickstudy.base.task import ASKED
from quickstudy.learners.naming import choose_learner
from quickstudy.report.enough import ALPHA, fewest
from quickstudy.report.intervals import RESAMPLES, stream
from quickstudy.report.view import order_scores
from quickstudy.runs.reader import read_results
from quickstudy.stats.bootstrap import mean_interval
from quickstudy.stats.correction import holm
from quickstudy.stats.effect import cohens_d_paired
from quickstudy.stats.paired import paired_permutation_test


@dataclass(frozen=True)
class Comparison:
    """One task: mean of (first - second) over the seeds both have, its interval, p-values, effect size and verdict.

    adjusted: p after Holm's correction over all tasks compared. better: the label of the better learner, or an empty
    text when the corrected test does not tell them apart. needed: the fewest pairs with which it could, for as many
    tasks as were compared.
    """

    task: str
    convention: str
    score: str
    pairs: int
    first_mean: float
    second_mean: float
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    effect: float
    better: str
    needed: int

    def as_facts(self) -> dict[str, Any]:
        """Plain mapping."""
        return asdict(self)

    def as_text(self) -> tuple[str, ...]:
        """Cells of a table; the last is the verdict."""
        verdict = f"{self.better} is better" if self.better else "cannot be told apart"
        if not self.better and self.pairs < self.needed:
            verdict = f"no verdict: {self.pairs} pairs are too few, {self.needed} could tell"
        return (
            f"{self.task} ({self.convention})",
            self.score,
            f"{self.first_mean:.3f} against {self.second_mean:.3f}",
            f"difference {self.difference:+.3f} [{self.low:+.3f}, {self.high:+.3f}]",
            f"p {self.p:.3g} (Holm {self.adjusted:.3g})",
            f"d {self.effect:+.2f}" if not math.isnan(self.effect) else "d undefined",
            f"{self.pairs} pairs",
            verdict,
        )


def compare(
    folders: str | pathlib.Path | Sequence[str | pathlib.Path], first: str, second: str, *, score: str | None = None
) -> list[Comparison]:
    """Every task that both learners have run, by the family's headline score or the one named.

    Raises UsageError when a learner or score is unknown, or when they share no task with two seeds or more.
    """
    places = [folders] if isinstance(folders, str | pathlib.Path) else folders
    records = [record for place in places for record in read_results(place, expected=True).records.values()]
    known = {record.labels["learner"] for record in records}
    first, second = (_known_as(name, known) for name in (first, second))
    if first == second:
        raise UsageError(f"{first} is compared with itself; name another learner")
    tasks = sorted({(record.labels["task"], record.what["convention"]) for record in records})
    found = [pair for task in tasks if (pair := _pairs(records, task, first, second, score))]
    if not found:
        raise UsageError(f"{first} and {second} share no task with two seeds or more")
    rows = [_compare(*pair) for pair in found]
    adjusted = holm([row["p"] for row in rows])
    needed = fewest(len(rows))
    judged = []
    for row, p in zip(rows, adjusted, strict=True):
        ahead = first if (row["difference"] > 0) == _higher_is_better(records, row["score"]) else second
        judged.append(Comparison(**row, adjusted=float(p), better=ahead if p <= ALPHA else "", needed=needed))
    return judged


def _known_as(name: str, known: Collection[str]) -> str:
    """How the records call a learner that may be spelled otherwise: `reca:rule=90` where 90 is what it is anyway."""
    if name in known:
        return name
    for convention, asked in itertools.product(CONVENTIONS, ASKED):
        with contextlib.suppress(UsageError):
            label = choose_learner(name, convention, asked=asked).label
            if label in known:
                return label
    raise UsageError(f'no runs of a learner "{name}"; {nearest(name, known)}')


def _pairs(
    records: Sequence[Record], task: tuple[str, str], first: str, second: str, score: str | None
) -> tuple[tuple[str, str], str, list[tuple[float, float]], list[str]] | None:
    """Scores by seed of both learners on one task; None when fewer than two seeds are common."""
    chosen = [r for r in records if (r.labels["task"], r.what["convention"]) == task and r.status == OK]
    names = order_scores(sorted(_values(chosen[0]))) if chosen else ()
    if score is not None and chosen and score not in names:
        raise UsageError(f'{task[0]} has no score "{score}"; {nearest(score, names)}')
    wanted = score or (names[0] if names else "")
    by_learner: dict[str, dict[Any, tuple[float, str]]] = {first: {}, second: {}}
    for record in chosen:
        if record.labels["learner"] in by_learner and wanted in _values(record):
            seed = record.what["root"], record.what["repetition"]
            by_learner[record.labels["learner"]][seed] = _values(record)[wanted], record.key
    common = sorted(by_learner[first].keys() & by_learner[second].keys())
    if len(common) < 2:
        return None
    values = [(by_learner[first][seed][0], by_learner[second][seed][0]) for seed in common]
    keys = [by_learner[name][seed][1] for name in (first, second) for seed in common]
    return task, wanted, values, keys


def _compare(task: tuple[str, str], score: str, values: list[tuple[float, float]], keys: list[str]) -> dict[str, Any]:
    first, second = np.array(values).T
    if not np.isfinite(values).all():
        raise UsageError(f"{task[0]}: {score} is not finite in every run; choose another score")
    low, high = mean_interval(first - second, rng=stream(keys, "compare"), resamples=RESAMPLES)
    return {
        "task": task[0],
        "convention": task[1],
        "score": score,
        "pairs": len(values),
        "first_mean": float(first.mean()),
        "second_mean": float(second.mean()),
        "difference": float((first - second).mean()),
        "low": float(low),
        "high": float(high),
        "p": paired_permutation_test(first, second, rng=stream(keys, "permutation")).p,
        "effect": cohens_d_paired(first, second),
    }


def _higher_is_better(records: Sequence[Record], score: str) -> bool:
    """By the measure that gave the score."""
    measures = (id for record in records for id, part in record.scores.items() if score in part["values"])
    return bool(catalogue.measure.get(next(measures)).direction == "higher")


def _values(record: Record) -> dict[str, float]:
    return {name: float(value) for part in record.scores.values() for name, value in part["values"].items()}
