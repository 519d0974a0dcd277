"""A published table beside the measured one, for every score of the study."""

from __future__ import annotations

from collections.abc import Iterator

from quickstudy.report.reproduce import reproduce, settings_of
from quickstudy.report.reproduce_text import best_of, marks, reproduction_data, reproduction_rows, summary
from quickstudy.report.study import audit_claims
from quickstudy.report.study.audit_data import CONVENTIONS, Audit
from quickstudy.report.study.order import Order, Stage
from quickstudy.report.study.page import Grid, Page, Paragraph, Part
from quickstudy.report.study.runs import counts
from quickstudy.runs.setting import task_controls


def stages(order: Order) -> Iterator[Stage]:
    """Every learner on every task, and the controls if they are wanted."""
    settings = settings_of(order.study, order.convention, order.root)
    if order.controls:
        settings += [order.setting(row, name) for row in order.study.rows for name in task_controls(row.task)]
    yield Stage(settings, order.seeds)


def page(order: Order) -> Page:
    """One grid per score; for the main one, what agrees and what the convention changes; and what was concluded."""
    study, convention, runs = order.study, order.convention, order.shelf.found()
    parts: list[Part] = [Paragraph(counts(order.cells(), convention))]
    facts = {}
    for score in study.scores:
        found = reproduce(study, runs, convention, score, order.root)
        facts[score] = found.as_facts()
        name = f"{study.id}-{convention}-{score}"
        parts.append(Grid(name, marks(found), reproduction_rows(found), reproduction_data(found)))
        parts += [Paragraph(line) for line in best_of(found)]
        if score == study.score:
            # Nothing is looked up that nobody has run: a learner of one convention may not suit a task of another.
            others = [name for name in CONVENTIONS if name != convention and name in runs.conventions]
            other = reproduce(study, runs, others[0], score, order.root) if others else None
            parts += [Paragraph(line) for line in summary(found, other)]
    claims = audit_claims.section(Audit(order, runs), "What was concluded")
    return Page.of(study, [*parts, *claims.parts], {**facts, **claims.facts})
