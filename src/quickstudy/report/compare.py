"""Learners compared two by two: by task, paired by seed, with an interval and an effect size; by
family, with a test and a verdict (`report/family_tests.py`). `report/ranking.py` describes how they
rank over all tasks together.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.canonical import spelled
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.measure import LOG, MEAN, MEDIAN, PLAIN, Score
from quickstudy.base.parameters import CONVENTIONS
from quickstudy.base.record import OK, Record
from quickstudy.base.score_metadata import read_legend
from quickstudy.base.task import ASKED
from quickstudy.base.text import counted
from quickstudy.learners.learner_spec import choose_learner, fitted, without_place
from quickstudy.learners.outside import reached
from quickstudy.measures.span import SHARE, SPAN
from quickstudy.render.numbers import magnitude, scored, span_text, written
from quickstudy.report.family_tests import MIXED, UNREAD, FamilyTest, Key, TaskPairs, family_tests
from quickstudy.report.report_data import LEARNING
from quickstudy.report.roles import played
from quickstudy.report.statistics import difference, middle, stream
from quickstudy.runs.folder import RUNS
from quickstudy.runs.grouping import LearnerGroup, TaskGroup, label_of, version_of
from quickstudy.runs.results import ResultsTable, read_folders, seed_of
from quickstudy.runs.run_spec import make_task
from quickstudy.stats.paired import (
    cliffs_delta,
    cohens_d_paired,
    paired_permutation_test,
    signed_ranks,
)


@dataclass(frozen=True)
class Comparison:
    """One task: mean of (first - second) over the seeds both have, its interval, effect size and
    uncorrected p.

    A single task has no verdict of its own. family: the test of its family, which includes it
    unless `remark` gives a reason. adjusted, better, needed: those of that test.

    statistic: `mean`, or `median` where the score is shown so or is infinite in some run: then the
    numbers are medians, the test is of signed ranks, and the effect is Cliff's delta. Where orders
    of magnitude count, means are geometric, and the difference is one of decimal logarithms.

    task, first, second: titles as the report prints them; versions: of the task, the protocol and
    the two learners. protocol: its parameters. left_out: damaged lines of the folders, which
    nothing here rests on.
    detectable: the smallest true difference on this task that the family's test finds four times
    out of five, corrected as its verdict is, if all tasks of the family differ by as many standard
    deviations; nan where there is none. improvement: the chance that a run of the first is better
    than one of the second, 0.5 where they are level; nan where the direction is unknown. named: the
    two as they were asked for.
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
    detectable: float = math.nan
    improvement: float = math.nan
    named: tuple[str, str] = ("", "")
    family: FamilyTest | None = None
    remark: str = ""
    unit: str = ""
    spans: tuple[float, float] | None = None

    def as_facts(self) -> dict[str, Any]:
        """Plain mapping."""
        entries = {field.name: getattr(self, field.name) for field in fields(self)}
        family = None if self.family is None else self.family.as_facts()
        return {**entries, "read": self.read.read, "direction": self.read.better, "family": family}

    def as_text(self) -> tuple[str, ...]:
        """Cells of a table; the last is the remark."""
        effect = "d" if self.statistic == MEAN else "delta"
        return (
            f"{self.task} ({self.convention})",
            self.unit or self.score,
            self._means(),
            self._difference(),
            f"p {self.p:.3g} uncorrected",
            f"{effect} {self.effect:+.2f}"
            if not math.isnan(self.effect)
            else f"{effect} undefined",
            counted(self.pairs, "pair"),
            self._seen(),
            self.remark,
        )

    def _means(self) -> str:
        """The middles of both, of spans in their unit."""
        if self.spans is not None:
            return " against ".join(map(span_text, self.spans))
        means = " against ".join(
            written(scored(self.read, value)) for value in (self.first_mean, self.second_mean)
        )
        return means if self.statistic == MEAN else f"median {means}"

    def compared(self) -> tuple[str, str]:
        """The two learners, with their versions."""
        sides = {
            side: (getattr(self, side), f"version {self.versions.get(side, '?')}")
            for side in ("first", "second")
        }
        first, second = (
            f"{side}: {title}" + ("" if version in title else f", {version}")
            for side, (title, version) in sides.items()
        )
        return first, second

    def _seen(self) -> str:
        """The detectable difference in words."""
        if not self.detectable > 0:
            return ""
        logarithms = self.read.read == LOG
        size = (
            f"ratio of {_ratio(10.0**self.detectable)}"
            if logarithms
            else f"difference of {_size(self.detectable)}"
        )
        return f"a {size} is detectable"

    def _difference(self) -> str:
        numbers = (
            (self.difference,) if math.isnan(self.low) else (self.difference, self.low, self.high)
        )
        if self.read.read == LOG:
            word, texts = "ratio", [_ratio(10.0**number) for number in numbers]
        else:
            word = "difference" if self.spans is None else "difference in share of the axis"
            texts = list(map(_signed, numbers))
        return f"{word} {texts[0]}" + (f" [{', '.join(texts[1:])}]" if texts[1:] else "")


def _ratio(number: float) -> str:
    """With the digits that tell it from 1."""
    apart = abs(number - 1.0)
    # A value closer to 1 than this comes from rounding.
    return (
        f"{number:.{1 - math.floor(math.log10(apart))}f}"
        if 1e-9 < apart < 0.005
        else magnitude(number)
    )


def _size(number: float) -> str:
    """With the digits that tell it from 0."""
    return _signed(number).removeprefix("+")


def _signed(number: float) -> str:
    """With the digits that tell it from 0."""
    if math.isinf(number):
        return "+∞" if number > 0 else "-∞"
    return f"{number:+.2g}" if 1e-12 < abs(number) < 0.0005 else f"{number:+.3f}"


def compare(
    folders: str | pathlib.Path | Sequence[str | pathlib.Path],
    first: str,
    second: str,
    *others: str,
    score: str | None = None,
) -> list[Comparison]:
    """Every two of some learners on every task that both have run, by the family's headline score
    or the one named.

    A learner is named as it is typed, or as the report prints it. Runs are grouped as in the
    report: two protocols are two comparisons, and a name that means two versions of a learner is
    refused. Verdicts are by family, corrected by Holm's method over all families and pairs of
    learners. Raises UsageError when a learner or score is unknown, or when no two share a task with
    two seeds or more.
    """
    return comparisons(table_of(folders), (first, second, *others), score)


def table_of(folders: str | pathlib.Path | Sequence[str | pathlib.Path]) -> ResultsTable:
    """The runs of some folders. A folder without runs of its own, such as `results`, is
    replaced by the folders inside it that have runs.
    """
    places = [folders] if isinstance(folders, str | pathlib.Path) else folders
    return read_folders([inside for place in places for inside in folders_in(pathlib.Path(place))])


def folders_in(place: pathlib.Path) -> list[pathlib.Path]:
    """A results folder, or those inside a folder that is none."""
    found = (
        []
        if (place / RUNS).is_dir()
        else sorted(one.parent for one in place.glob(f"*/{RUNS}") if one.is_dir())
    )
    return found or [place]


def comparisons(
    results: ResultsTable, names: Sequence[str], score: str | None = None
) -> list[Comparison]:
    """The comparisons of every two of some learners in runs that have been read."""
    found = results.groups
    wanted = {name: _named(name, found) for name in names}
    pairs = []
    for first, second in itertools.combinations(names, 2):
        if wanted[first] == wanted[second]:
            raise UsageError(f"{first} is compared with itself; name another learner")
        own = wanted[first], wanted[second]
        pairs += [
            pair for table in found if (pair := _pairs(table, results, (first, second), own, score))
        ]
    if not pairs:
        raise UsageError(f"{' and '.join(names)} share no task with two seeds or more")
    rows = [replace(_compare(pair), left_out=len(results.damage)) for pair in pairs]
    members: dict[Key, list[TaskPairs]] = {}
    for pair, row in zip(pairs, rows, strict=True):
        members.setdefault(_key(pair, row), []).append(_part(pair, row))
    tests = family_tests(members)
    return [
        _judged(pair, row, tests[_key(pair, row)]) for pair, row in zip(pairs, rows, strict=True)
    ]


def _key(pair: _Pairs, row: Comparison) -> Key:
    return family_in(pair.table), pair.table.convention, row.first, row.second


def _part(pair: _Pairs, row: Comparison) -> TaskPairs:
    """What a task brings to the test of its family."""
    if row.statistic == MEAN:
        differences = row.read.sign * np.subtract(*_places(pair).T)
    else:
        differences = row.read.sign * signed_ranks(*_places(pair).T)
    by_seed = dict(zip(pair.seeds, differences.tolist(), strict=True))
    id = str(pair.learners[0].records[0].part("task").get("id"))
    return TaskPairs(id, by_seed, row.remark, not abs(row.difference) < row.read.least, pair.keys)


def _judged(pair: _Pairs, row: Comparison, test: FamilyTest) -> Comparison:
    """A row with the result of its family's test."""
    if row.remark:
        return replace(row, family=test, adjusted=math.nan, better="", needed=test.needed)
    spread = float(np.subtract(*_places(pair).T).std(ddof=1)) if row.statistic == MEAN else math.nan
    seen = test.detectable * spread
    return replace(
        row,
        family=test,
        adjusted=test.adjusted,
        better=test.better,
        needed=test.needed,
        detectable=seen,
    )


def item_of(record: Record) -> Any:
    """The task of a record; None where it cannot be made here, or where its name reaches outside:
    a record may be anybody's, and whoever reads it must not run what it names.
    """
    name = label_of(record, "task")
    if ".py" in name or reached(name):
        return None
    with contextlib.suppress(UsageError):
        return make_task(name, str(record.what.get("convention")))
    return None


def family_in(table: TaskGroup) -> str:
    """The family of a task: for an item of the battery the one that it belongs to there."""
    return str(getattr(item_of(table.records[0]), "family", "") or table.family)


def _places(pair: _Pairs) -> NDArray[np.float64]:
    return np.array([[pair.read.place(value) for value in both] for both in pair.values])


def identities(results: ResultsTable, names: Sequence[str]) -> dict[str, set[str]]:
    """The identities of the learners that each name refers to. Raises UsageError for a name of
    no learner.
    """
    return {name: _named(name, results.groups) for name in names}


def _named(name: str, found: Sequence[TaskGroup]) -> set[str]:
    """The identities of the learners that a name refers to: as typed, as printed, or spelled
    otherwise, such as `reca:rule=90` where 90 is the default. A learner in a file is known by what
    is written only: to compare runs imports no file.
    """
    typed: dict[str, set[str]] = {}
    printed: dict[str, set[str]] = {}
    for alike in (alike for table in found for alike in table.learners):
        identity = spelled(alike.records[0].what.get("learner"))
        typed.setdefault(label_of(alike.records[0], "learner"), set()).add(identity)
        printed.setdefault(alike.title, set()).add(identity)
    said, meant = typed.get(name) or printed.get(name, set()), set[str]()
    in_file = ".py" in name
    if in_file and not said:
        said = typed.get(without_place(name), set())
    # One name of a profile is a name with fewer parameters in a family whose training has not all
    # of them.
    for convention, asked in () if in_file else itertools.product(CONVENTIONS, ASKED):
        with contextlib.suppress(UsageError):
            fit = fitted(name, convention, asked)
            if said and not fit.left_out:
                continue
            meant |= typed.get(choose_learner(fit.name, convention, asked=asked).label, set())
    if said | meant:
        return said | meant
    raise UsageError(f'no runs of a learner "{name}"; {nearest(name, {**typed, **printed})}')


class _Pairs(NamedTuple):
    """Scores of both learners on one task, by common seed; keys of the runs, the first learner's
    first.

    spans: those of both in natural units, where their shares of the axis are compared.
    """

    table: TaskGroup
    named: tuple[str, str]
    learners: tuple[LearnerGroup, LearnerGroup]
    read: Score
    values: list[tuple[float, float]]
    keys: list[str]
    seeds: list[tuple[int, int]]
    spans: tuple[float, float] | None = None


def _pairs(
    table: TaskGroup,
    results: ResultsTable,
    names: tuple[str, str],
    wanted: tuple[set[str], set[str]],
    score: str | None,
) -> _Pairs | None:
    """The pairs of one table; None when fewer than two seeds are common."""
    finished = [record for record in table.records if record.status == OK]
    legend = read_legend(finished)
    known = legend.order(name for record in finished for name in results.scores(record))
    if score is not None and finished and score not in known:
        raise UsageError(f'{table.title} has no score "{score}"; {nearest(score, known)}')
    asked = score or (known[0] if known else "")
    in_units = score is None and asked == SPAN.name and SHARE.name in known
    asked = SHARE.name if in_units else asked
    first, second = (
        _only(table, name, identities) for name, identities in zip(names, wanted, strict=True)
    )
    if first is None or second is None or first is second:
        return None
    one, other = (_by_seed(learner, results, asked) for learner in (first, second))
    common = sorted(one.keys() & other.keys())
    if len(common) < 2:
        return None
    values = [(one[seed][0], other[seed][0]) for seed in common]
    keys = [runs[seed][1] for runs in (one, other) for seed in common]
    spans = (_span(first, results, common), _span(second, results, common)) if in_units else None
    return _Pairs(table, names, (first, second), legend.score(asked), values, keys, common, spans)


def _span(learner: LearnerGroup, results: ResultsTable, seeds: Sequence[tuple[int, int]]) -> float:
    """The span of some seeds, as a card has it: the mean of ln(1 + span), in natural units."""
    values = _by_seed(learner, results, SPAN.name)
    return float(np.expm1(np.mean([np.log1p(values[seed][0]) for seed in seeds if seed in values])))


def _only(table: TaskGroup, name: str, identities: set[str]) -> LearnerGroup | None:
    found = [
        alike
        for alike in table.learners
        if spelled(alike.records[0].what.get("learner")) in identities
    ]
    if len(found) > 1:
        titles = " and ".join(f'"{alike.title}"' for alike in found)
        raise UsageError(
            f"{name} means {len(found)} learners on {table.title}: {titles}; name one of them"
        )
    return found[0] if found else None


def _by_seed(
    learner: LearnerGroup, results: ResultsTable, score: str
) -> dict[tuple[int, int], tuple[float, str]]:
    values = [
        (record, results.scores(record).get(score, math.nan))
        for record in learner.records
        if record.status == OK
    ]
    return {
        seed_of(record): (value, record.key) for record, value in values if not math.isnan(value)
    }


def _compare(pairs: _Pairs) -> Comparison:
    """One task by itself, without a verdict."""
    table, named, learners, read, values, keys, _, spans = pairs
    places = _places(pairs)
    statistic = MEAN if read.shown == MEAN and np.isfinite(places).all() else MEDIAN
    one, other = (
        {(0, seed): value for seed, value in enumerate(column)}
        for column in zip(*values, strict=True)
    )
    own = replace(read, shown=statistic)
    gap = difference(one, other, own)
    low, high = gap.interval or (math.nan, math.nan)
    first, second = (
        places.T if statistic == MEAN else (signed_ranks(*places.T), np.zeros(len(places)))
    )
    test = paired_permutation_test(first, second, rng=stream(keys, "permutation"))
    titles = [learner.title for learner in learners]
    roles = {
        role for learner in learners if (role := played(learner.records, table.legend)) in LEARNING
    }
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
        better="",
        needed=0,
        statistic=statistic,
        read=own,
        first=titles[0],
        second=titles[1],
        versions={
            **{part: version_of(runs[0], part) for part in ("task", "protocol")},
            **{
                side: version_of(run, "learner")
                for side, run in zip(("first", "second"), runs, strict=True)
            },
        },
        protocol=runs[0].parameters("protocol"),
        improvement=(1 + read.sign * cliffs_delta(*places.T)) / 2 if read.sign else math.nan,
        named=named,
        unit="" if spans is None else str(getattr(item_of(runs[0]), "unit", "")),
        spans=spans,
        remark=MIXED if len(roles) > 1 else "" if read.sign else UNREAD,
    )
