"""What was concluded from a table, and whether the runs say so: for the table's page, and last section of the audit.

A claim is an entry of the study's `claims`: `text`; `score`, of the printed table it was drawn from; `by`, the score of
the runs that it is judged by, if that is another; columns that are `better` `than` others; the `rows` it is about, by
the number that begins their labels (all, if none are given); `wants`: `all` (the default), `most` or `some` of the
rows; `every = true` if every one of the better columns must be above every other, where otherwise one that is above all
of them is enough. A column that has no learner stands for its published number, unless that comes from another formula
(`otherwise_scored` of the study: a human).

A score must be able to say what the claim says. That somebody learns faster is judged by a score above chance: a rule
that never learns has WADE too. That somebody reaches a higher accuracy is judged by the final one: the maximum of a
single run is over many noisy tests, and is above 1/2 for a learner that guesses.

On one row, a claim holds if the intervals of paired differences say so, is contradicted if they say the opposite, and
is open otherwise, or has too few runs to say, or is about a number that was not printed or is not comparable. It stands
if enough rows hold, falls if so many are contradicted that not enough are left, is not comparable if all rows are, and
cannot be told otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.base.study import StudyRow, find_study
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, LEVEL, UNTOLD
from quickstudy.report.study.audit_data import CONVENTIONS, Audit, Section, compare, oriented
from quickstudy.report.study.page import Grid, Paragraph
from quickstudy.report.words import counted

HOLDS, CONTRADICTED, OPEN, ABSENT = "holds", "contradicted", "open", "too few runs"
UNPRINTED, UNREAD = "no printed number", "direction unknown"
INCOMPARABLE = "not comparable"
"""Of a row and of a claim: the numbers come from different formulas."""
NOT_RUN = "not run"
STANDS, FALLS, CANNOT = "stands", "falls", "cannot be told"
_WANTS = ("all", "most", "some")


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

    def __post_init__(self) -> None:
        if self.wants not in _WANTS:
            raise UsageError(f'a claim wants {", ".join(_WANTS)} of its rows, got "{self.wants}"')

    @property
    def judged_by(self) -> str:
        """The score of the runs that decides."""
        return self.by or self.score

    def about(self, label: str) -> bool:
        """Whether a row belongs to it."""
        return not self.rows or label.split()[0] in map(str, self.rows)

    def on_row(self, standing: Callable[[str, str], str]) -> str:
        """What one row says. standing: of one column against another."""
        table = {one: [standing(one, other) for other in self.than] for one in self.better}
        found = [cell for cells in table.values() for cell in cells]
        if self.every:
            holds, contradicted = all(cell == ABOVE for cell in found), BELOW in found
        else:
            holds = any(all(cell == ABOVE for cell in cells) for cells in table.values())
            # Some other one is above each of those that should be better.
            contradicted = any(
                all(cells[place] == BELOW for cells in table.values()) for place in range(len(self.than))
            )
        if holds or contradicted:
            return HOLDS if holds else CONTRADICTED
        return next(
            (said for said in (INCOMPARABLE, UNREAD, UNPRINTED) if said in found), ABSENT if UNTOLD in found else OPEN
        )

    def verdict(self, found: Sequence[str], wanted: int) -> str:
        """From what the rows say to the verdict. wanted: how many rows the claim is about, examined or not."""
        counts = Counter(found)
        if found and counts[INCOMPARABLE] == len(found):
            return INCOMPARABLE
        needed = {"all": wanted, "most": wanted // 2 + 1, "some": 1}[self.wants]
        if wanted and counts[HOLDS] >= needed:
            return STANDS
        return FALLS if wanted - counts[CONTRADICTED] < needed else CANNOT


def section(audit: Audit, heading: str = "6. What was concluded") -> Section:
    """Every claim as printed, under the published convention and under the corrected one."""
    claims = [Claim(**facts) for facts in audit.setting("claims", [])]
    if not claims:
        return Section([], {})
    rows: list[tuple[str, ...]] = [("claim", "printed numbers", "judged by", *CONVENTIONS)]
    facts: list[dict[str, Any]] = []
    printed = _printed(audit)
    labels = {row.label: row for table in printed.values() for row in table.values()}
    labels.update({row.label: row for row in audit.rows})
    examined = [name for name in CONVENTIONS if _examined(audit, name)]
    for claim in claims:
        read = audit.found.score(claim.judged_by)
        wanted = sum(map(claim.about, labels))
        numbers = {label: row.published for label, row in printed.get(claim.score, {}).items() if claim.about(label)}
        by_print = {
            label: claim.on_row(_by_numbers(known, audit.found.score(claim.score), _otherwise(audit)))
            for label, known in numbers.items()
        }
        cells, said = [_cell(claim.verdict(list(by_print.values()), wanted), by_print)], {}
        for convention in CONVENTIONS:
            found = {
                row.label: claim.on_row(_measured(audit, row, convention, claim.judged_by, printed))
                for row in audit.rows
                if claim.about(row.label)
            }
            verdict = claim.verdict(list(found.values()), wanted)
            cells.append(_cell(verdict, found) if convention in examined else NOT_RUN)
            said[convention] = {"verdict": verdict, "rows": found}
        rows.append((claim.text, cells[0], read.title, *cells[1:]))
        facts.append({"claim": claim.text, "judged_by": claim.judged_by, "printed": by_print, **said})
    counts = {name: Counter(entry[name]["verdict"] for entry in facts) for name in CONVENTIONS}
    sentences = [
        f"Of {counted(len(facts), 'published conclusion')}, convention {name}: "
        f"{_count(counts[name]) if name in examined else NOT_RUN}."
        for name in CONVENTIONS
    ]
    directionless = sorted({claim.judged_by for claim in claims if not audit.found.score(claim.judged_by).sign})
    unread = (
        [f"Nobody says whether higher or lower is better (↕): {', '.join(directionless)}."] if directionless else []
    )
    text = (
        "Each conclusion is written down as a comparison of models, and judged task by task from 95 % intervals of "
        "differences over common seeds, without a correction for their number, by the score "
        "named beside it. In brackets: the tasks on which it "
        "holds, is contradicted (≠), is open (?), has too few runs (–, fewer than "
        f"{FEWEST}), lacks a printed number to compare with (∅) or has one from another formula (≁). "
        + " ".join([*sentences, *unread])
    )
    return Section(
        [
            Paragraph(text, heading),
            Grid(f"{audit.order.study.id}-claims", "stands, falls or cannot be told: computed from the runs", rows),
        ],
        {"claims": facts},
    )


def _examined(audit: Audit, convention: str) -> bool:
    """Whether any model was run under a convention."""
    return convention in audit.found.conventions and any(
        audit.runs(row, row.learner(column, convention), convention) for row in audit.rows for column in audit.columns
    )


def _printed(audit: Audit) -> dict[str, dict[str, StudyRow]]:
    """The published tables by score, their rows by label."""
    tables: Mapping[str, str] = audit.setting("tables", {})
    return {score: {row.label: row for row in find_study(name).rows} for score, name in tables.items()}


def _otherwise(audit: Audit) -> Sequence[str]:
    """The columns whose printed numbers come from another formula."""
    found: Sequence[str] = audit.setting("otherwise_scored", ())
    return found


def _by_numbers(published: Mapping[str, Any], read: Score, otherwise: Sequence[str]) -> Callable[[str, str], str]:
    def standing(one: str, other: str) -> str:
        if one in otherwise or other in otherwise:
            return INCOMPARABLE
        if one not in published or other not in published:
            return UNPRINTED
        first, second = published[one].value, published[other].value
        if isinstance(first, str) or isinstance(second, str):
            return UNPRINTED
        return _said(ABOVE if first > second else BELOW if first < second else LEVEL, read)

    return standing


def _said(standing: str, read: Score) -> str:
    """A standing, above being better; nothing is said where nobody knows which is."""
    return oriented(standing, read) if read.sign else UNREAD


def _measured(
    audit: Audit, row: StudyRow, convention: str, score: str, printed: Mapping[str, Mapping[str, StudyRow]]
) -> Callable[[str, str], str]:
    columns = [learner for column in audit.columns if (learner := row.learner(column, convention))]
    read = audit.found.score(score, (run for one in columns for run in audit.runs(row, one, convention).values()))

    def standing(one: str, other: str) -> str:
        if one in _otherwise(audit) or other in _otherwise(audit):
            return INCOMPARABLE
        known = [column for column in (one, other) if row.learner(column, convention)]
        values = {c: audit.values(row, row.learner(c, convention), convention, score) for c in known}
        for column, rival in ((one, other), (other, one)):
            published = printed.get(score, {}).get(row.label)
            number = published.published[column].value if published and column in published.published else None
            if column not in known and rival in known and isinstance(number, float):
                values[column] = dict.fromkeys(values[rival], number)
        if one not in values or other not in values:
            return UNPRINTED
        return _said(compare(values[one], values[other], read).standing, read)

    return standing


def _cell(verdict: str, found: Mapping[str, str]) -> str:
    """The verdict and, in brackets, the numbers of the rows by what they say."""
    signs = {HOLDS: "", CONTRADICTED: "≠ ", OPEN: "? ", ABSENT: "– ", UNPRINTED: "∅ ", UNREAD: "↕ ", INCOMPARABLE: "≁ "}
    groups = {said: [label.split()[0] for label, one in found.items() if one == said] for said in signs}
    rows = "; ".join(signs[said] + " ".join(numbers) for said, numbers in groups.items() if numbers)
    return f"{verdict} [{rows}]" if rows else verdict


def _count(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts.get(name, 0)} {name}" for name in (STANDS, FALLS, CANNOT, INCOMPARABLE))
