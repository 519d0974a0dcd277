"""Published hypotheses on differences between a table's rows, and whether the runs support them.

A hypothesis is an entry of the study's `hypotheses`: `text`; `pairs` of labels, of which the first
row is expected to have the higher score; `column`, the learner that is compared with itself (the
first, if none is named); `printed`, the column of the published numbers. A pair holds, is
contradicted or is open by the 95 % interval of differences over common seeds; a hypothesis stands
if all pairs hold, falls if one is contradicted, and is undecided otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.base.blocks import Cell, Made, Name, Section, Text, table
from quickstudy.base.errors import UsageError
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow
from quickstudy.pages.claims import CANNOT, CONTRADICTED, FALLS, HOLDS, NOT_RUN, OPEN, STANDS
from quickstudy.pages.study_request import CONVENTIONS, Request, Stage
from quickstudy.pages.table_helpers import compare, gap
from quickstudy.render.numbers import HALVES
from quickstudy.report.statistics import ABOVE, BELOW, Contrast
from quickstudy.runs.results import Values


@dataclass(frozen=True)
class Hypothesis:
    """One of them; see above."""

    text: str
    pairs: Sequence[Sequence[str]]
    column: str = ""
    printed: str = ""

    def rows(self, request: Request) -> list[tuple[StudyRow, StudyRow]]:
        """The pairs of rows that are asked for. Raises UsageError for a label that the study does
        not have.
        """
        known = {row.label: row for row in (request.whole or request.study).rows}
        if missing := {label for pair in self.pairs for label in pair} - set(known):
            raise UsageError(
                "a hypothesis is about rows that the study does not have:"
                f" {', '.join(sorted(missing))}"
            )
        asked = {row.label for row in request.rows}
        return [(known[one], known[other]) for one, other in self.pairs if {one, other} <= asked]


def verdict(found: Sequence[str], wanted: int) -> str:
    """From what the pairs say, of so many, to the verdict.

    >>> verdict(["holds", "holds"], 2), verdict(["holds", "contradicted"], 2), verdict(["holds"], 2)
    ('stands', 'falls', 'undecided')
    """
    counts = Counter(found)
    if counts[CONTRADICTED]:
        return FALLS
    return STANDS if counts[HOLDS] == wanted else CANNOT


@block("hypotheses", version=1)
@dataclass(frozen=True)
class Hypotheses:
    """Expected differences between rows, under the published convention and under the corrected
    one.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every learner on every task."""
        yield Stage(request.models(), request.seeds)

    def blocks(self, request: Request) -> Made:
        """A table of all pairs and a line for every hypothesis; nothing for a study without."""
        hypotheses = [Hypothesis(**facts) for facts in request.study.settings.get("hypotheses", [])]
        if not hypotheses:
            return Made([], {})
        lines: list[list[Cell]] = []
        sentences, facts = [], []
        for one in hypotheses:
            said: dict[str, Any] = {"hypothesis": one.text}
            cells: dict[str, list[Cell]] = {" > ".join(pair): [] for pair in one.pairs}
            for convention in CONVENTIONS:
                found = _differences(request.under(convention), one)
                standing = {pair: _said(contrast) for pair, contrast in found.items()}
                for pair, own in cells.items():
                    own.append(gap(found[pair], standing[pair]) if pair in found else Name("–"))
                known = [what for what in standing.values() if what]
                said[convention] = verdict(known, len(one.pairs)) if known else NOT_RUN
            said["printed"] = _printed(request, one)
            sentences.append(
                f"{one.text}: by the printed numbers, the hypothesis {said['printed']}; "
                + "; ".join(
                    f"convention {convention}: {said[convention]}" for convention in CONVENTIONS
                )
                + "."
            )
            lines += [[Name(pair), *own] for pair, own in cells.items()]
            facts.append(said)
        title = request.score(request.study.score).title
        caption = f"differences of {title} {HALVES}"
        made = table(f"{request.study.id}-hypotheses", caption, ("rows", *CONVENTIONS), lines)
        return Made(
            [Section("Hypothesis", [Text(" ".join(sentences)), made], "expected")],
            {"hypotheses": facts},
        )


def _differences(request: Request, hypothesis: Hypothesis) -> Mapping[str, Contrast]:
    found = {}
    for one, other in hypothesis.rows(request):
        first, second = (_values(request, hypothesis, row) for row in (one, other))
        if first and second:
            found[f"{one.label} > {other.label}"] = compare(
                first, second, request.score(request.study.score)
            )
    return found


def _values(request: Request, hypothesis: Hypothesis, row: StudyRow) -> Values:
    learners = request.learners(row)
    column = hypothesis.column or next(iter(learners), "")
    return request.values(row, learners[column], request.study.score) if column in learners else {}


def _said(contrast: Contrast) -> str:
    return (
        ""
        if contrast.value is None
        else {ABOVE: HOLDS, BELOW: CONTRADICTED}.get(contrast.standing, OPEN)
    )


def _printed(request: Request, hypothesis: Hypothesis) -> str:
    """What the printed means say, without their spread."""
    rows = (request.whole or request.study).rows
    known = {row.label: row.published.get(hypothesis.printed) for row in rows}
    found = []
    for pair in hypothesis.pairs:
        one, other = (getattr(known[label], "value", None) for label in pair)
        if not isinstance(one, float) or not isinstance(other, float):
            return CANNOT
        found.append(HOLDS if one > other else CONTRADICTED)
    return verdict(found, len(found))
