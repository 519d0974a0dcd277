"""Third section of the audit: every model beside the rules that never learn."""

from __future__ import annotations

from typing import Any

from quickstudy.report.numbers import NOTHING
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, LEVEL, UNTOLD
from quickstudy.report.study.audit_data import (
    CONVENTIONS,
    Audit,
    Section,
    compare_with_best,
    listed,
    mean_of,
    mean_text,
    pair_text,
)
from quickstudy.report.study.page import Grid, Paragraph, Part, half_words
from quickstudy.runs.plan import task_controls

SCORES = ("final-accuracy", "wade")
"""Never the maximum of a run: over many noisy tests it is above what was learned, and a rule with a flat curve has no
such bonus. A learner that guesses anew at each of 87 tests of 240 questions has a mean maximum of 0.577."""
_SIGNS = {ABOVE: ">", BELOW: "<", LEVEL: "=", UNTOLD: "?"}


def section(audit: Audit) -> Section:
    """The best control of each task, every model's distance from it, and all controls by themselves."""
    text = (
        "Each task names rules that never learn what it is about: the most frequent answer, the token just read, the "
        "shortcuts that its sentences leave open. They are run under the same protocol on the same data."
    )
    parts: list[Part] = [Paragraph(text, "3. Rules that never learn")]
    facts: dict[str, Any] = {}
    for convention in CONVENTIONS:
        parts += _controls(audit, convention)
        for score in SCORES:
            found = _against(audit, convention, score)
            parts += found.parts
            facts.setdefault(convention, {})[score] = found.facts
    return Section(parts, facts)


def _controls(audit: Audit, convention: str) -> list[Part]:
    rows = [("task", "rule", *(audit.found.score(score).title for score in SCORES))]
    for row in audit.rows:
        for name in task_controls(row.task):
            values = [audit.values(row, name, convention, score) for score in SCORES]
            if any(values):
                rows.append((row.label, name, *map(mean_text, values)))
    if len(rows) == 1:
        return [Paragraph(f"Convention {convention}: no runs of the controls are there.")]
    caption = f"Controls and oracles, convention {convention}, mean{half_words(rows)}"
    return [Grid(f"{audit.order.study.id}-rules-{convention}", caption, rows)]


def _against(audit: Audit, convention: str, score: str) -> Section:
    """Every model less the best control, task by task."""
    read = audit.found.score(score)
    rows = [("task", "best control", "its score", *audit.columns)]
    facts: dict[str, Any] = {}
    ahead: dict[str, list[str]] = {}
    for row in audit.rows:
        controls = audit.controls(row, convention, score)
        if not controls:
            continue
        name, values = next(iter(controls.items()))
        cells = []
        facts[row.label] = {"control": name, "score": mean_of(values), "models": {}}
        for column in audit.columns:
            own = audit.values(row, row.learner(column, convention), convention, score)
            pair = compare_with_best(own, controls, read)
            cells.append(NOTHING if pair.value is None else f"{pair_text(pair)} {_SIGNS[pair.standing]}")
            if pair.value is not None:
                facts[row.label]["models"][column] = {"difference": pair.value, "standing": pair.standing}
            if pair.standing != UNTOLD:
                ahead.setdefault(column, []).extend([row.label] if pair.standing == ABOVE else [])
        rows.append((row.label, name, mean_text(values), *cells))
    if len(rows) == 1:
        return Section([], facts)
    caption = (
        f"{read.title} of every model, how far ahead of the best control, convention {convention}: mean"
        f"{half_words(rows)} over common seeds; > above every control, < below one, = level by the interval, which is "
        f"corrected for the choice of the best; ? fewer than {FEWEST} pairs"
    )
    told = [f"{column} on {listed(tasks)}" for column, tasks in ahead.items()]
    sentence = f"Above the best control by {read.title}, convention {convention}: {'; '.join(told) or 'untold'}."
    return Section(
        [Grid(f"{audit.order.study.id}-above-{score}-{convention}", caption, rows), Paragraph(sentence)], facts
    )
