"""The published conclusions from a table, and whether the runs support them.

A claim is an entry of the study's `claims`: `text`; `score`, of the printed table it was drawn
from; `by`, the score of the runs that it is judged by, if that is another; columns that are
`better` `than` others; the `rows` it is about, by the number that begins their labels (all, if none
are given); `compared`: `mean` (the default) or `median` of the paired differences, for a score that
is 0 in most runs, of which the interval of a mean does not hold its 95 % (benchmarks/
stored_coverage.py); `wants`: `all` (the default), `most` or `some` of the rows; `every = true` if
every one of the better columns must be above every other, where otherwise one that is above all of
them is enough. A column without a learner is represented by its published number, unless that comes
from another formula (`otherwise_scored` of the study: a human).

The score must be able to express the claim. "Learns faster" is judged by a score above chance: a
non-learning control has a WADE too. "Reaches a higher accuracy" is judged by the final accuracy:
the maximum of a single run is over many noisy tests, and is above 1/2 for a learner that guesses.

On one row, a claim holds if the intervals of paired differences say so and the differences are
large enough to matter, is contradicted if they say the opposite, and is open otherwise, or has too
few runs to say, or is about a number that was not printed or is not comparable. It stands if enough
rows hold, falls if so many are contradicted that not enough are left, is not comparable if all rows
are, and is undecided otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

from quickstudy.base.blocks import Cell, Made, Section, Text, table
from quickstudy.base.errors import UsageError
from quickstudy.base.measure import MEAN, MEDIAN, Score
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow, find_study
from quickstudy.pages.study_request import CONVENTIONS, Request, Stage
from quickstudy.pages.table_helpers import a_cell, compare
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, LEVEL, UNTOLD
from quickstudy.report.words import counted

HOLDS, CONTRADICTED, OPEN, ABSENT = "holds", "contradicted", "open", "too few runs"
UNPRINTED, UNREAD = "no printed number", "direction unknown"
INCOMPARABLE = "not comparable"
"""Of a row and of a claim: the numbers come from different formulas."""
NOT_RUN = "not run"
STANDS, FALLS, CANNOT = "stands", "falls", "undecided"
_SIGNS = {
    HOLDS: "",
    CONTRADICTED: "≠ ",
    OPEN: "? ",
    ABSENT: "– ",
    UNPRINTED: "∅ ",
    UNREAD: "↕ ",
    INCOMPARABLE: "≁ ",
}
_WANTS = ("all", "most", "some")
Standing = Callable[[str, str], str]
"""Of one column against another."""
Printed = Mapping[str, Mapping[str, StudyRow]]
"""The published tables by score, their rows by label."""


@dataclass(frozen=True)
class Claim:
    """One published conclusion; see above."""

    text: str
    score: str
    better: Sequence[str]
    than: Sequence[str]
    rows: Sequence[int] = ()
    wants: str = "all"
    every: bool = False
    by: str = ""
    compared: str = MEAN

    def __post_init__(self) -> None:
        if self.compared not in (MEAN, MEDIAN):
            raise UsageError(f'a claim is compared by {MEAN} or {MEDIAN}, got "{self.compared}"')
        if self.wants not in _WANTS:
            raise UsageError(f'a claim wants {", ".join(_WANTS)} of its rows, got "{self.wants}"')

    @property
    def judged_by(self) -> str:
        """The score of the runs that decides."""
        return self.by or self.score

    def about(self, label: str) -> bool:
        """Whether a row belongs to it."""
        return not self.rows or label.split()[0] in map(str, self.rows)

    def on_row(self, standing: Standing) -> str:
        """The verdict of one row."""
        cells = {one: [standing(one, other) for other in self.than] for one in self.better}
        found = [cell for own in cells.values() for cell in own]
        if self.every:
            holds, contradicted = all(cell == ABOVE for cell in found), BELOW in found
        else:
            holds = any(all(cell == ABOVE for cell in own) for own in cells.values())
            # Some other one is above each of those that should be better.
            contradicted = any(
                all(own[place] == BELOW for own in cells.values())
                for place in range(len(self.than))
            )
        if holds or contradicted:
            return HOLDS if holds else CONTRADICTED
        return next(
            (said for said in (INCOMPARABLE, UNREAD, UNPRINTED) if said in found),
            ABSENT if UNTOLD in found else OPEN,
        )

    def verdict(self, found: Sequence[str], wanted: int) -> str:
        """From what the rows say to the verdict. wanted: how many rows the claim is about, examined
        or not.
        """
        counts = Counter(found)
        if found and counts[INCOMPARABLE] == len(found):
            return INCOMPARABLE
        needed = {"all": wanted, "most": wanted // 2 + 1, "some": 1}[self.wants]
        if wanted and counts[HOLDS] >= needed:
            return STANDS
        return FALLS if wanted - counts[CONTRADICTED] < needed else CANNOT


@block("claims", version=1)
@dataclass(frozen=True)
class Claims:
    """Every published conclusion, by the printed numbers, under the published convention and under
    the corrected one.

    apart: its facts have a table of their own.
    """

    apart: bool = False

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every learner on every task."""
        yield Stage(request.models(), request.seeds)

    def blocks(self, request: Request) -> Made:
        """A sentence and a table; nothing for a study without claims."""
        claims = [Claim(**facts) for facts in request.study.settings.get("claims", [])]
        if not claims:
            return Made([], {"claims": {}} if self.apart else {})
        tables = request.study.settings.get("tables", {})
        printed = {
            score: {row.label: row for row in find_study(name).rows}
            for score, name in tables.items()
        }
        judged = [_Judged.of(request, claim, printed) for claim in claims]
        unrun = [name for name in CONVENTIONS if not _examined(request.under(name))]
        heading = ("claim", "printed numbers", "judged by", *CONVENTIONS)
        rows: list[list[Cell]] = []
        data: list[list[str]] = []
        labels = list(
            dict.fromkeys(
                label for one in judged for found in one.found.values() for label in found
            )
        )
        for one in judged:
            said = one.verdicts | dict.fromkeys(unrun, NOT_RUN)
            cells = {
                name: said[name] if name in unrun else _cell(said[name], one.found[name])
                for name in said
            }
            title = request.score(one.claim.judged_by).title + ", median" * (
                one.claim.compared == MEDIAN
            )
            for lines, shown in ((rows, cells), (data, said)):
                lines.append(
                    [
                        one.claim.text,
                        shown["printed"],
                        title,
                        *(shown[name] for name in CONVENTIONS),
                    ]
                )
            data[-1] += [one.found[name].get(label, "") for name in one.found for label in labels]
        more = [f"{name}: {label}" for name in ("printed", *CONVENTIONS) for label in labels]
        caption = "stands, falls or is undecided: computed from the runs"
        found = table(
            f"{request.study.id}-claims", caption, heading, rows, [[*heading, *more], *data]
        )
        facts = {"claims": [one.as_facts() for one in judged]}
        made = [
            Section(
                "Published conclusion",
                [Text(_sentences(request, judged, unrun)), found],
                "concluded",
            )
        ]
        return Made(made, {"claims": facts} if self.apart else facts)


class _Judged(NamedTuple):
    """found, verdicts: what rows say, and all together, by `printed` and by convention."""

    claim: Claim
    found: Mapping[str, Mapping[str, str]]
    verdicts: dict[str, str]

    @classmethod
    def of(cls, request: Request, claim: Claim, printed: Printed) -> _Judged:
        labels = {label for known in printed.values() for label in known} | {
            row.label for row in request.rows
        }
        otherwise, read = (
            request.study.settings.get("otherwise_scored", ()),
            request.score(claim.score),
        )
        found = {
            "printed": {
                label: claim.on_row(_standing(read, otherwise, partial(_by_numbers, row)))
                for label, row in printed.get(claim.score, {}).items()
                if claim.about(label)
            }
        }
        for convention in CONVENTIONS:
            found[convention] = {
                row.label: claim.on_row(
                    _by_runs(request.under(convention), row, claim, printed, otherwise)
                )
                for row in request.rows
                if claim.about(row.label)
            }
        wanted = sum(map(claim.about, labels))
        return cls(
            claim,
            found,
            {name: claim.verdict(list(said.values()), wanted) for name, said in found.items()},
        )

    def as_facts(self) -> dict[str, Any]:
        said = {
            name: {"verdict": self.verdicts[name], "rows": self.found[name]} for name in CONVENTIONS
        }
        return {
            "claim": self.claim.text,
            "judged_by": self.claim.judged_by,
            "printed": self.found["printed"],
            **said,
        }


def _sentences(request: Request, judged: Sequence[_Judged], unrun: Sequence[str]) -> str:
    sentences = []
    for name in CONVENTIONS:
        counts = Counter(one.verdicts[name] for one in judged)
        said = ", ".join(
            f"{counts[verdict]} {verdict}" for verdict in (STANDS, FALLS, CANNOT, INCOMPARABLE)
        )
        number = counted(len(judged), "published conclusion")
        sentences.append(f"Of {number}, convention {name}: {NOT_RUN if name in unrun else said}.")
    unread = sorted(
        {one.claim.judged_by for one in judged if not request.score(one.claim.judged_by).sign}
    )
    if unread:
        sentences.append(
            f"It is not declared whether higher or lower is better (↕): {', '.join(unread)}."
        )
    return (
        "Each conclusion is written down as a comparison of models, and judged task by task from"
        " 95 % intervals of differences over common seeds, without a correction for their number,"
        " by the score named next to it. In brackets: the tasks on which it holds, is contradicted"
        f" (≠), is open (?), has too few runs (–, fewer than {FEWEST}), lacks a printed number to"
        " compare with (∅) or has one from another formula (≁). " + " ".join(sentences)
    )


def _examined(request: Request) -> bool:
    """Whether any model was run under its convention."""
    return request.convention in request.results.conventions and bool(a_cell(request.cells()))


def _standing(
    read: Score, otherwise: Sequence[str], compared: Callable[[str, str], str | None]
) -> Standing:
    """The standing by which is better; empty if it is unknown whether higher or lower is better."""

    def standing(one: str, other: str) -> str:
        if one in otherwise or other in otherwise:
            return INCOMPARABLE
        found = compared(one, other)
        if found is None or not read.sign:
            return UNPRINTED if found is None else UNREAD
        return {ABOVE: BELOW, BELOW: ABOVE}.get(found, found) if read.sign < 0 else found

    return standing


def _by_numbers(row: StudyRow, one: str, other: str) -> str | None:
    """Which of two columns has the higher printed number; None where one has none."""
    first, second = (
        row.published[column].value if column in row.published else "" for column in (one, other)
    )
    if isinstance(first, str) or isinstance(second, str):
        return None
    return ABOVE if first > second else BELOW if first < second else LEVEL


def _by_runs(
    request: Request, row: StudyRow, claim: Claim, printed: Printed, otherwise: Sequence[str]
) -> Standing:
    learners, score = request.learners(row), claim.judged_by
    read = request.results.score(
        score, (run for one in learners.values() for run in request.runs(row, one).values())
    )
    read = replace(read, shown=MEDIAN) if claim.compared == MEDIAN else read
    published = printed.get(score, {}).get(row.label)

    def compared(one: str, other: str) -> str | None:
        values = {
            who: request.values(row, learners[who], score)
            for who in (one, other)
            if who in learners
        }
        for column, rival in ((one, other), (other, one)):
            number = (
                published.published[column].value
                if published and column in published.published
                else None
            )
            if column not in learners and rival in learners and isinstance(number, float):
                values[column] = dict.fromkeys(values[rival], number)
        if not {one, other} <= set(values):
            return None
        found = compare(values[one], values[other], read)
        tiny = found.standing in (ABOVE, BELOW) and not found.matters(read)
        return LEVEL if tiny else found.standing

    return _standing(read, otherwise, compared)


def _cell(verdict: str, found: Mapping[str, str]) -> str:
    """The verdict and, in brackets, the numbers of the rows by what they say."""
    groups = {
        said: [label.split()[0] for label, one in found.items() if one == said] for said in _SIGNS
    }
    rows = "; ".join(
        _SIGNS[said] + " ".join(numbers) for said, numbers in groups.items() if numbers
    )
    return f"{verdict} [{rows}]" if rows else verdict
