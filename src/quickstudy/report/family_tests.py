"""The verdicts of `compare`: one test for every two learners and family, over all its tasks and
seeds at once.

A single task with six seeds cannot give a p below 1/32, so a correction over seven tasks could
never tell two learners apart. A family is tested by flipping the signs of all its pairs
(`stats.paired.stratified_sign_flips`), and p is corrected by Holm's method over the families, and
over the pairs of learners where there are more than two.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from quickstudy.report.statistics import ALPHA, fewest, stream
from quickstudy.report.words import counted
from quickstudy.stats.intervals import student_quantile
from quickstudy.stats.paired import holm, stratified_sign_flips

MIXED = "one pass is not ranked against replay"
UNREAD = "direction unknown"
POWER = 0.8


@dataclass(frozen=True)
class TaskPairs:
    """What one task brings to the test of its family. task: its id. differences: by seed, positive
    where the first is better. remark: why the task takes no part in a verdict, if so. matters:
    whether the mean difference is large enough to matter. keys: of the runs, for the random stream.
    """

    task: str
    differences: Mapping[tuple[int, int], float]
    remark: str
    matters: bool
    keys: Sequence[str]


@dataclass(frozen=True)
class FamilyTest:
    """Two learners in one family. tasks: how many take part. pairs: of runs, one for each task and
    seed. mean: of the differences over their root mean square, from -1 to 1, positive where the
    first is better.

    p, adjusted: by sign flips, and after Holm's correction. better: the label of the better
    learner, empty where the corrected test finds no significant difference. matters: on some task
    the difference is large enough to matter. needed: the fewest pairs with which so many tests
    could find anything. detectable: the smallest difference, in standard deviations of the pairs of
    each task, that is found four times out of five at the same corrected level. reason: why no task
    takes part.
    """

    family: str
    convention: str
    first: str
    second: str
    tasks: int
    pairs: int
    mean: float = math.nan
    p: float = math.nan
    adjusted: float = math.nan
    better: str = ""
    matters: bool = False
    needed: int = 0
    detectable: float = math.nan
    reason: str = ""

    @property
    def worse(self) -> bool:
        """Whether the second is worse than the first, and by enough to matter."""
        return bool(self.better) and self.better == self.first and self.matters

    def verdict(self) -> str:
        """The result in words."""
        if self.reason:
            return f"no verdict: {self.reason}"
        if self.better:
            return f"{self.better} is better" + (
                "" if self.matters else ", by too little to matter"
            )
        if self.pairs < self.needed:
            return f"no verdict: {self.pairs} pairs are too few, {self.needed} are needed"
        return "no significant difference"

    def as_text(self) -> str:
        """One line."""
        where = f"{self.family} ({self.convention})"
        if self.reason:
            return f"{where}: {self.verdict()}"
        over = f"{counted(self.tasks, 'task')}, {counted(self.pairs, 'pair')}"
        return f"{where}: {self.verdict()} (over {over}, p {self.p:.3g}, Holm {self.adjusted:.3g})"

    def as_facts(self) -> dict[str, Any]:
        """Plain mapping."""
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "verdict": self.verdict(),
        }


Key = tuple[str, str, str, str]
"""Family, convention, and the labels of the two learners."""


def family_tests(found: Mapping[Key, Sequence[TaskPairs]]) -> dict[Key, FamilyTest]:
    """One test for each key, corrected for their number. Families in which no task takes part are
    not counted.
    """
    tests = {key: _test(key, tasks) for key, tasks in found.items()}
    made = [key for key, test in tests.items() if not test.reason]
    corrected = dict(zip(made, holm([tests[key].p for key in made]), strict=True))
    for key, p in corrected.items():
        test = tests[key]
        ahead = test.first if test.mean > 0 else test.second if test.mean < 0 else ""
        tests[key] = replace(
            test,
            adjusted=float(p),
            better=ahead if p <= ALPHA else "",
            needed=fewest(len(made)),
            detectable=detectable_effect(test.pairs, test.tasks, len(made)),
        )
    return tests


def _test(key: Key, tasks: Sequence[TaskPairs]) -> FamilyTest:
    part = [one for one in tasks if not one.remark]
    if not part:
        return FamilyTest(*key, tasks=0, pairs=0, reason=tasks[0].remark)
    keys = sorted(name for one in part for name in one.keys)
    strata = [
        list(_by_seed([one for one in part if one.task == task]))
        for task in dict.fromkeys(one.task for one in part)
    ]
    found = stratified_sign_flips(strata, rng=stream(keys, "sign flips"))
    matters = any(one.matters for one in part)
    return FamilyTest(*key, len(strata), found.pairs, found.difference, found.p, matters=matters)


def _by_seed(tables: Sequence[TaskPairs]) -> Iterator[float]:
    """The differences of one task by seed. Two protocols of a task share their data and are flipped
    together.
    """
    sizes = [
        math.sqrt(math.fsum(value**2 for value in one.differences.values())) or 1.0
        for one in tables
    ]
    for seed in dict.fromkeys(seed for one in tables for seed in one.differences):
        yield math.fsum(
            one.differences.get(seed, 0.0) / size for one, size in zip(tables, sizes, strict=True)
        )


def detectable_effect(pairs: int, tasks: int, tests: int) -> float:
    """The smallest true difference, in standard deviations of the pairs of every task, that so many
    pairs in all find with a probability of 0.8, at the level of the strictest of so many tests
    (Holm). nan below two pairs a task, and where so few pairs cannot find anything at that level.
    """
    freedom = pairs - tasks
    if freedom < 1 or pairs < fewest(tests):
        return math.nan
    reach = student_quantile(freedom, 1 - ALPHA / tests) + student_quantile(freedom, 2 * POWER - 1)
    return reach / math.sqrt(pairs)
