"""Two learners side by side: paired by task and seed, with an interval, a test, an effect size and a verdict."""

from __future__ import annotations

import contextlib
import itertools
import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.canonical import spelled
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.legend import read_legend
from quickstudy.base.measure import LOG, MEAN, MEDIAN, PLAIN, Score
from quickstudy.base.parameters import CONVENTIONS
from quickstudy.base.record import OK
from quickstudy.base.task import ASKED
from quickstudy.learners.naming import choose_learner
from quickstudy.render.numbers import magnitude, scored, written
from quickstudy.report.records import ScoreBook, open_book, seed_of
from quickstudy.report.results import read_folders
from quickstudy.report.statistics import ALPHA, difference, fewest, middle, stream
from quickstudy.runs.identity import LearnerGroup, TaskGroup, label_of, task_groups, version_of
from quickstudy.stats.paired import cliffs_delta, cohens_d_paired, holm, paired_permutation_test, signed_ranks


@dataclass(frozen=True)
class Comparison:
    """One task: mean of (first - second) over the seeds both have, its interval, p-values, effect size and verdict.

    adjusted: p after Holm's correction over all tasks compared. better: the label of the better learner, or an empty
    text when the corrected test does not tell them apart; whether by enough to matter is said in words. needed: the
    fewest pairs with which it could, for as many tasks as were compared.

    statistic: `mean`, or `median` where the score is shown so or is infinite in some run: then the numbers are medians,
    the test is of signed ranks, and the effect is Cliff's delta. Where orders of magnitude count, means are geometric,
    and the difference is one of decimal logarithms.

    task, first, second: titles as the report prints them; versions: of the task, the protocol and the two learners.
    protocol: its parameters. left_out: damaged lines of the folders, which nothing here rests on.
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
    first: str = ""
    second: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)
    left_out: int = 0

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
        elif self.better and abs(self.difference) < self.read.least:
            verdict = f"{self.better} is better, by too little to matter"
        means = " against ".join(written(scored(self.read, value)) for value in (self.first_mean, self.second_mean))
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

    def compared(self) -> tuple[str, str]:
        """What stands on the two sides, with the versions."""
        sides = {side: (getattr(self, side), f"version {self.versions.get(side, '?')}") for side in ("first", "second")}
        first, second = (
            f"{side}: {title}" + ("" if version in title else f", {version}")
            for side, (title, version) in sides.items()
        )
        return first, second

    def _difference(self) -> str:
        numbers = (self.difference,) if math.isnan(self.low) else (self.difference, self.low, self.high)
        if self.read.read == LOG:
            word, texts = "ratio", [_ratio(10.0**number) for number in numbers]
        else:
            word, texts = "difference", list(map(_signed, numbers))
        return f"{word} {texts[0]}" + (f" [{', '.join(texts[1:])}]" if texts[1:] else "")


def _ratio(number: float) -> str:
    """With the digits that tell it from 1."""
    apart = abs(number - 1.0)
    # What is closer to 1 than that comes from rounding.
    return f"{number:.{1 - math.floor(math.log10(apart))}f}" if 1e-9 < apart < 0.005 else magnitude(number)


def _signed(number: float) -> str:
    """With the digits that tell it from 0."""
    if math.isinf(number):
        return "+∞" if number > 0 else "-∞"
    return f"{number:+.2g}" if 1e-12 < abs(number) < 0.0005 else f"{number:+.3f}"


def compare(
    folders: str | pathlib.Path | Sequence[str | pathlib.Path], first: str, second: str, *, score: str | None = None
) -> list[Comparison]:
    """Every task that both learners have run, by the family's headline score or the one named.

    A learner is named as it is typed, or as the report prints it. Runs are told apart as in the report: two protocols
    are two comparisons, and a name that means two versions of a learner is refused. Raises UsageError when a learner
    or score is unknown, or when they share no task with two seeds or more.
    """
    places = [folders] if isinstance(folders, str | pathlib.Path) else folders
    merged = read_folders(places)
    records = merged.records
    found = task_groups(records.values())
    wanted = _named(first, found), _named(second, found)
    if wanted[0] == wanted[1]:
        raise UsageError(f"{first} is compared with itself; name another learner")
    book = open_book(list(records.values()))
    pairs = [pair for table in found if (pair := _pairs(table, book, (first, second), wanted, score))]
    if not pairs:
        raise UsageError(f"{first} and {second} share no task with two seeds or more")
    rows = [replace(_compare(pair), needed=fewest(len(pairs)), left_out=len(merged.damage)) for pair in pairs]
    return [
        replace(row, adjusted=float(p), better=row.better if p <= ALPHA else "")
        for row, p in zip(rows, holm([row.p for row in rows]), strict=True)
    ]


def _named(name: str, found: Sequence[TaskGroup]) -> set[str]:
    """The identities of the learners that a name stands for: as typed, as printed, or spelled otherwise, such as
    `reca:rule=90` where 90 is what it is anyway.
    """
    typed: dict[str, set[str]] = {}
    printed: dict[str, set[str]] = {}
    for alike in (alike for table in found for alike in table.learners):
        identity = spelled(alike.records[0].what.get("learner"))
        typed.setdefault(label_of(alike.records[0], "learner"), set()).add(identity)
        printed.setdefault(alike.title, set()).add(identity)
    if name in typed or name in printed:
        return typed.get(name) or printed[name]
    for convention, asked in itertools.product(CONVENTIONS, ASKED):
        with contextlib.suppress(UsageError):
            label = choose_learner(name, convention, asked=asked).label
            if label in typed:
                return typed[label]
    raise UsageError(f'no runs of a learner "{name}"; {nearest(name, {**typed, **printed})}')


class _Pairs(NamedTuple):
    """Scores of both learners on one task, by common seed; keys of the runs, the first learner's first."""

    table: TaskGroup
    learners: tuple[LearnerGroup, LearnerGroup]
    read: Score
    values: list[tuple[float, float]]
    keys: list[str]


def _pairs(
    table: TaskGroup, book: ScoreBook, names: tuple[str, str], wanted: tuple[set[str], set[str]], score: str | None
) -> _Pairs | None:
    """The pairs of one table; None when fewer than two seeds are common."""
    finished = [record for record in table.records if record.status == OK]
    legend = read_legend(finished)
    known = legend.order(name for record in finished for name in book.of(record))
    if score is not None and finished and score not in known:
        raise UsageError(f'{table.title} has no score "{score}"; {nearest(score, known)}')
    asked = score or (known[0] if known else "")
    first, second = (_only(table, name, identities) for name, identities in zip(names, wanted, strict=True))
    if first is None or second is None or first is second:
        return None
    one, other = (_by_seed(learner, book, asked) for learner in (first, second))
    common = sorted(one.keys() & other.keys())
    if len(common) < 2:
        return None
    values = [(one[seed][0], other[seed][0]) for seed in common]
    keys = [runs[seed][1] for runs in (one, other) for seed in common]
    return _Pairs(table, (first, second), legend.score(asked), values, keys)


def _only(table: TaskGroup, name: str, identities: set[str]) -> LearnerGroup | None:
    found = [alike for alike in table.learners if spelled(alike.records[0].what.get("learner")) in identities]
    if len(found) > 1:
        titles = " and ".join(f'"{alike.title}"' for alike in found)
        raise UsageError(f"{name} means {len(found)} learners on {table.title}: {titles}; name one of them")
    return found[0] if found else None


def _by_seed(learner: LearnerGroup, book: ScoreBook, score: str) -> dict[tuple[int, int], tuple[float, str]]:
    values = [(record, book.of(record).get(score, math.nan)) for record in learner.records if record.status == OK]
    return {seed_of(record): (value, record.key) for record, value in values if not math.isnan(value)}


def _compare(pairs: _Pairs) -> Comparison:
    """One comparison by itself: nothing is corrected yet, and better is who is ahead at all."""
    table, learners, read, values, keys = pairs
    places = np.array([[read.place(value) for value in pair] for pair in values])
    statistic = MEAN if read.shown == MEAN and np.isfinite(places).all() else MEDIAN
    one, other = ({(0, seed): value for seed, value in enumerate(column)} for column in zip(*values, strict=True))
    own = replace(read, shown=statistic)
    gap = difference(one, other, own)
    low, high = gap.interval or (math.nan, math.nan)
    first, second = places.T if statistic == MEAN else (signed_ranks(*places.T), np.zeros(len(places)))
    test = paired_permutation_test(first, second, rng=stream(keys, "permutation"))
    ahead = read.sign * test.difference
    titles = [learner.title for learner in learners]
    runs = [learner.records[0] for learner in learners]
    return Comparison(
        task=table.title,
        convention=table.convention,
        score=read.name,
        pairs=len(values),
        first_mean=middle(one, own),
        second_mean=middle(other, own),
        difference=math.nan if gap.value is None else gap.value,
        low=low,
        high=high,
        p=test.p,
        adjusted=test.p,
        effect=cohens_d_paired(first, second) if statistic == MEAN else cliffs_delta(*places.T),
        better=titles[0] if ahead > 0 else titles[1] if ahead < 0 else "",
        needed=fewest(),
        statistic=statistic,
        read=own,
        first=titles[0],
        second=titles[1],
        versions={
            **{part: version_of(runs[0], part) for part in ("task", "protocol")},
            **{side: version_of(run, "learner") for side, run in zip(("first", "second"), runs, strict=True)},
        },
        protocol=runs[0].parameters("protocol"),
    )
