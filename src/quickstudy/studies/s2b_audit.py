"""What the published numbers of meta-referential games rest on: in every cell, as published and
corrected, rules without hearing, rules without symbols, and the ceiling.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quickstudy.base.blocks import Block, Cell, Made, Name, Number, Text, table
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow
from quickstudy.measures.games import EXPLORATION
from quickstudy.pages.study_request import Request, Stage
from quickstudy.pages.table_helpers import EMPTY, halves, mean, mean_of

SCORE = "zero-shot-accuracy"


@block("shortcuts", version=1)
class Shortcuts:
    """Every rule of the study in every cell, with the printed number, under both
    conventions.

    Settings: `deaf`: the columns of rules that hear nothing; `decisions`: from how many a learner
    of the publication had to choose. Rows of a task for two players are a table of their own.
    """

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """All rules, under both conventions."""
        both = map(request.under, request.wanted)
        yield Stage([one for under in both for one in under.models()], request.seeds)

    def blocks(self, request: Request) -> Made:
        """A table for the listener and one for pairs, and how many cells a rule that hears nothing
        reaches.
        """
        made: list[Block] = []
        facts: dict[str, Any] = {}
        for title, alone in (("listener", True), ("pair", False)):
            rows = [row for row in request.rows if ("games/pair" in row.task) != alone]
            if rows:
                made += [_verdict(request, rows, facts)] if alone else []
                made.append(_table(request, rows, title, facts))
        return Made(made, facts)


def _table(request: Request, rows: list[StudyRow], title: str, facts: dict[str, Any]) -> Block:
    columns = [column for column in request.columns if any(column in row.learners for row in rows)]
    lines: list[list[Cell]] = []
    for row in rows:
        printed = _printed(row)
        line: list[Cell] = [Name(row.label), EMPTY if printed is None else Number(printed)]
        if title == "listener":
            line.append(EMPTY if printed is None else Number(_greedy(request, printed)))
        for convention in request.wanted:
            under = request.under(convention)
            for column in columns:
                values = under.values(row, row.learner(column, convention), SCORE)
                line.append(mean(values))
                facts.setdefault(row.label, {}).setdefault(convention, {})[column] = mean_of(values)
        lines.append(line)
    heading = ["cell", "printed", *(["if it explored"] if title == "listener" else [])]
    heading += [f"{column}, {convention}" for convention in request.wanted for column in columns]
    caption = (
        f"Zero-shot accuracy of rules ({title}), mean{halves(lines)}. Printed: the learner of the"
        " publication"
    )
    if title == "listener":
        caption += (
            f"; if it explored: what it is without exploration, if {EXPLORATION:.3f} of its"
            " decisions were random"
        )
    return table(f"{request.study.id}-{title}", f"{caption}.", heading, lines)


def _printed(row: StudyRow) -> float | None:
    found = [one.value for one in row.published.values() if isinstance(one.value, float)]
    return found[0] if found else None


def _greedy(request: Request, printed: float) -> float:
    """Of a number that was logged while actors explored."""
    decisions = float(request.study.settings.get("decisions", 2))
    return float((printed - EXPLORATION / decisions) / (1 - EXPLORATION))


def _verdict(request: Request, rows: list[StudyRow], facts: dict[str, Any]) -> Text:
    """In how many cells a rule that hears nothing is at or above what was printed."""
    deaf, said = list(request.study.settings.get("deaf", [])), []
    for convention in request.wanted:
        under, reached, known = request.under(convention), 0, 0
        for row in rows:
            best = [mean_of(under.values(row, row.learner(one, convention), SCORE)) for one in deaf]
            there, printed = [one for one in best if one is not None], _printed(row)
            if there and printed is not None:
                known, reached = known + 1, reached + (max(there) >= printed)
        facts[f"reached-{convention}"] = [reached, known]
        said.append(f"{convention}: {reached} of {known}")
    names = " or ".join(deaf)
    return Text(
        f"Cells in which {names}, which hear nothing, are at or above the printed number:"
        f" {'; '.join(said)}.",
        "verdict",
    )
