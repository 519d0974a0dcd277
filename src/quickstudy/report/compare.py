"""Two learners side by side: paired by task and seed, with an interval, a test, an effect size and a verdict."""

from __future__ import annotations

import contextlib
import itertools
import math
import pathlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.legend import read_legend
from quickstudy.base.measure import LOG, MEAN, MEDIAN, PLAIN, Score
from quickstudy.base.parameters import CONVENTIONS
from quickstudy.base.record import OK, Record
from quickstudy.base.task import ASKED
from quickstudy.learners.naming import choose_learner
from quickstudy.report.enough import ALPHA, fewest
from quickstudy.report.intervals import difference, middle, stream
from quickstudy.report.numbers import magnitude, written
from quickstudy.report.scores import ScoreBook, open_book
from quickstudy.runs.reader import read_results
from quickstudy.stats.correction import holm
from quickstudy.stats.effect import cliffs_delta, cohens_d_paired
from quickstudy.stats.paired import paired_permutation_test, signed_ranks


@dataclass(frozen=True)
class Comparison:
    """One task: mean of (first - second) over the seeds both have, its interval, p-values, effect size and verdict.

    adjusted: p after Holm's correction over all tasks compared. better: the label of the better learner, or an empty
    text when the corrected test does not tell them apart. needed: the fewest pairs with which it could, for as many
    tasks as were compared.

    statistic: `mean`, or `median` where the score is shown so or is infinite in some run: then the numbers are medians,
    the test is of signed ranks, and the effect is Cliff's delta. Where orders of magnitude count, means are geometric,
    and the difference is one of decimal logarithms.
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
    statistic: str = MEAN
    read: Score = PLAIN

    def as_facts(self) -> dict[str, Any]:
        """Plain mapping."""
        entries = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**entries, "read": self.read.read, "direction": self.read.better}

    def as_text(self) -> tuple[str, ...]:
        """Cells of a table; the last is the verdict."""
        verdict = f"{self.better} is better" if self.better else "cannot be told apart"
        if not self.read.sign:
            verdict = "no verdict: direction unknown"
        elif not self.better and self.pairs < self.needed:
            verdict = f"no verdict: {self.pairs} pairs are too few, {self.needed} could tell"
        means = " against ".join(written(self.read, value) for value in (self.first_mean, self.second_mean))
        effect = "d" if self.statistic == MEAN else "delta"
        return (
            f"{self.task} ({self.convention})",
            self.score,
            means if self.statistic == MEAN else f"median {means}",
            self._difference(),
            f"p {self.p:.3g} (Holm {self.adjusted:.3g})",
            f"{effect} {self.effect:+.2f}" if not math.isnan(self.effect) else f"{effect} undefined",
            f"{self.pairs} pairs",
            verdict,
        )

    def _difference(self) -> str:
        numbers = (self.difference,) if math.isnan(self.low) else (self.difference, self.low, self.high)
        if self.read.read == LOG:
            word, texts = "ratio", [magnitude(10.0**number) for number in numbers]
        else:
            word = "difference"
            texts = [f"{number:+.3f}" if math.isfinite(number) else f"{number:+}" for number in numbers]
        return f"{word} {texts[0]}" + (f" [{', '.join(texts[1:])}]" if texts[1:] else "")


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
    book = open_book(records)
    found = [pair for task in tasks if (pair := _pairs(records, book, task, first, second, score))]
    if not found:
        raise UsageError(f"{first} and {second} share no task with two seeds or more")
    rows = [_compare(pair) for pair in found]
    adjusted = holm([row["p"] for row, _ in rows])
    needed = fewest(len(rows))
    judged = []
    for (row, ahead), p in zip(rows, adjusted, strict=True):
        leader = first if ahead > 0 else second
        told = p <= ALPHA and ahead != 0
        judged.append(Comparison(**row, adjusted=float(p), better=leader if told else "", needed=needed))
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


class _Pairs(NamedTuple):
    """Scores of both learners on one task, by common seed; keys of the runs, the first learner's first."""

    task: tuple[str, str]
    read: Score
    values: list[tuple[float, float]]
    keys: list[str]


def _pairs(
    records: Sequence[Record], book: ScoreBook, task: tuple[str, str], first: str, second: str, score: str | None
) -> _Pairs | None:
    """The pairs of one task; None when fewer than two seeds are common."""
    chosen = [r for r in records if (r.labels["task"], r.what["convention"]) == task and r.status == OK]
    legend = read_legend(chosen)
    names = legend.order(name for record in chosen for name in book.of(record))
    if score is not None and chosen and score not in names:
        raise UsageError(f'{task[0]} has no score "{score}"; {nearest(score, names)}')
    wanted = score or (names[0] if names else "")
    by_learner: dict[str, dict[Any, tuple[float, str]]] = {first: {}, second: {}}
    for record in chosen:
        value = book.of(record).get(wanted, math.nan) if record.labels["learner"] in by_learner else math.nan
        if not math.isnan(value):
            seed = record.what["root"], record.what["repetition"]
            by_learner[record.labels["learner"]][seed] = value, record.key
    common = sorted(by_learner[first].keys() & by_learner[second].keys())
    if len(common) < 2:
        return None
    values = [(by_learner[first][seed][0], by_learner[second][seed][0]) for seed in common]
    keys = [by_learner[name][seed][1] for name in (first, second) for seed in common]
    return _Pairs(task, legend.score(wanted), values, keys)


def _compare(pairs: _Pairs) -> tuple[dict[str, Any], float]:
    """The numbers of a comparison, and how far the first learner is ahead in them: below 0 if the second is."""
    task, read, values, keys = pairs
    places = np.array([[read.place(value) for value in pair] for pair in values])
    statistic = MEAN if read.shown == MEAN and np.isfinite(places).all() else MEDIAN
    one, other = ({(0, seed): value for seed, value in enumerate(column)} for column in zip(*values, strict=True))
    gap = difference(one, other, read, statistic)
    low, high = gap.interval or (math.nan, math.nan)
    first, second = places.T if statistic == MEAN else (signed_ranks(*places.T), np.zeros(len(places)))
    test = paired_permutation_test(first, second, rng=stream(keys, "permutation"))
    own = replace(read, shown=statistic)
    row = {
        "task": task[0],
        "convention": task[1],
        "score": read.name,
        "pairs": len(values),
        "first_mean": middle(one, own),
        "second_mean": middle(other, own),
        "difference": gap.value,
        "low": low,
        "high": high,
        "p": test.p,
        "effect": cohens_d_paired(first, second) if statistic == MEAN else cliffs_delta(*places.T),
        "statistic": statistic,
        "read": own,
    }
    return row, read.sign * test.difference
