"""A published table beside the measured one, for every score of the study."""

from __future__ import annotations

from collections.abc import Iterator

from quickstudy.report.reproduce import reproduce, settings_of, summary
from quickstudy.report.reproduce_text import reproduction_rows
from quickstudy.report.study import audit_claims
from quickstudy.report.study.audit_data import Audit
from quickstudy.report.study.found import Found
from quickstudy.report.study.order import Order, Stage
from quickstudy.report.study.page import Grid, Page, Paragraph, Part
from quickstudy.runs.job import Setting
from quickstudy.runs.plan import task_controls

MARKS = "published | measured ± half the 95 % interval; = within the published spread, ≠ outside"


def stages(order: Order) -> Iterator[Stage]:
    """Every learner on every task, and the controls if they are wanted."""
    settings = settings_of(order.study, order.convention, order.root, order.protocol)
    if order.controls:
        settings += [
            Setting(row.task, name, order.convention, order.root, order.protocol)
            for row in order.study.rows
            for name in task_controls(row.task)
        ]
    yield Stage(settings, order.seeds)


def page(order: Order) -> Page:
    """One grid per score; for the main one, what agrees and what the convention changes; and what was concluded."""
    study, convention = order.study, order.convention
    parts: list[Part] = [Paragraph(f"{order.seeds} seeds, convention {convention}.")]
    facts = {}
    for score in study.scores:
        found = reproduce(study, order.folder, convention, order.protocol, score, order.root)
        facts[score] = found.as_facts()
        caption = f"{score}. {MARKS}" if found.judged() else f"{score}: mean ± half the 95 % interval"
        parts.append(Grid(f"{study.id}-{convention}-{score}", caption, reproduction_rows(found)))
        if score == study.score:
            others = [name for name in ("published", "corrected") if name != convention]
            other = reproduce(study, order.folder, others[0], order.protocol, score, order.root)
            parts += [Paragraph(line) for line in summary(found, other)]
    claims = audit_claims.section(Audit(order, Found.read(order.folder)), "What was concluded")
    return Page(study.title, study.source, [*parts, *claims.parts], {**facts, **claims.facts})
