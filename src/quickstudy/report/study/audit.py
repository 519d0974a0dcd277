"""The audit of a published comparison: what its numbers rest on, and which of its conclusions stand.

Under the convention `corrected` everything is run, under `published` only what was published; the page shows what
there is of both.
"""

from __future__ import annotations

from collections.abc import Iterator

from quickstudy.report.reproduce import settings_of
from quickstudy.report.statistics import FEWEST
from quickstudy.report.study import audit_claims, audit_controls, audit_first, audit_leak, audit_material, audit_time
from quickstudy.report.study.audit_data import CONVENTIONS, Audit
from quickstudy.report.study.order import Order, Stage
from quickstudy.report.study.page import Page, Paragraph
from quickstudy.report.words import span
from quickstudy.runs.job import Setting
from quickstudy.runs.plan import task_controls

_SECTIONS = {
    "leak": audit_leak,
    "first": audit_first,
    "controls": audit_controls,
    "material": audit_material,
    "time": audit_time,
    "claims": audit_claims,
}


def stages(order: Order) -> Iterator[Stage]:
    """All models and controls under the conventions wanted, what the closer looks need, and the tampered networks."""
    study = order.study
    wanted = CONVENTIONS if order.convention == "corrected" else (order.convention,)
    settings: list[Setting] = []
    for convention in wanted:
        settings += settings_of(study, convention, order.root)
        settings += [order.setting(row, name, convention) for row in study.rows for name in task_controls(row.task)]
        settings += _closer(order, convention)
    networks = [study.settings[name] for name in ("leaking", "causal") if name in study.settings]
    if "published" in wanted:
        settings += [order.setting(row, network, "published") for row in study.rows for network in networks]
    yield Stage(settings, order.seeds)
    tampered = [
        order.setting(row, audit_leak.tampered(network, how), "published")
        for row in study.rows
        if "published" in wanted and row.task in study.settings.get("exchange", [])
        for network in networks
        for how in audit_leak.KINDS
    ]
    if tampered:
        yield Stage(tampered, min(order.seeds, int(study.settings.get("exchange_seeds", order.seeds))))


def page(order: Order) -> Page:
    """All sections."""
    study = order.study
    audit = Audit(order, order.shelf.found())
    head = (
        f"Everything below is computed from runs: {_runs(order)}. Intervals are 95 % intervals over runs, "
        f"differences are over common seeds. Fewer than {FEWEST} pairs give no verdict."
    )
    found = {name: section.section(audit) for name, section in _SECTIONS.items()}
    facts = {"study": study.id, "version": study.version, **{name: part.facts for name, part in found.items()}}
    parts = [Paragraph(head), *_absent(audit), *(part for section in found.values() for part in section.parts)]
    return Page.of(study, parts, facts, whole=True)


def _runs(order: Order) -> str:
    """How many there are of every model on every task."""
    said = []
    for convention in CONVENTIONS:
        cells = order.shelf.found().cells(order.study, convention, order.root)
        counts = [len(runs) for columns in cells.values() for runs in columns.values() if runs]
        number = f"{span(counts)} {'run' if max(counts) == 1 else 'runs'} a cell" if counts else "none"
        said.append(f"{number} under the convention {convention}")
    return ", ".join(said)


def _closer(order: Order, convention: str) -> list[Setting]:
    """Every model on the other forms of the task that is looked at more closely."""
    return [
        order.setting(form, learner, convention)
        for form in audit_material.variants(order.study)
        for column in form.learners
        if (learner := form.learner(column, convention))
    ]


def _absent(audit: Audit) -> list[Paragraph]:
    """Which runs of the models are not there."""
    found = []
    for convention in CONVENTIONS:
        lacking = {
            row.label: [
                column for column in audit.columns if not audit.runs(row, row.learner(column, convention), convention)
            ]
            for row in audit.rows
        }
        cells = [
            label if len(columns) == len(audit.columns) else f"{label} ({', '.join(columns)})"
            for label, columns in lacking.items()
            if columns
        ]
        if cells:
            found.append(Paragraph(f"No finished runs under the convention {convention}: {', '.join(cells)}."))
    return found
