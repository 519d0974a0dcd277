"""Second section of the audit: how much of a score comes from the first evaluation, before much can be learned."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Any

import numpy as np

from quickstudy.base.catalogue import measure
from quickstudy.base.trace import Trace
from quickstudy.report.numbers import NOTHING
from quickstudy.report.statistics import Values
from quickstudy.report.study.audit_data import CONVENTIONS, Audit, Section, mean_of, mean_text
from quickstudy.report.study.page import Grid, Paragraph, Part, half_words


def first_share(trace: Trace, convention: str) -> float:
    """The share of WADE from thresholds that the first evaluation reaches; nan where WADE is 0.

    WADE is a sum over thresholds, each counted when it is first reached: cut after its first evaluation, a curve keeps
    just those terms.
    """
    wade = measure.get("wade")
    arrays = {name: array[:1] for name, array in trace.arrays.items()}
    whole = wade(trace, convention)["wade"]
    first = wade(dataclasses.replace(trace, arrays=arrays), convention)["wade"]
    return first / whole if whole > 0 else np.nan


def section(audit: Audit) -> Section:
    """Mean share over runs for every model and task, under both conventions."""
    parts: list[Part] = []
    facts: dict[str, Any] = {}
    for convention in CONVENTIONS:
        rows = [("task", *audit.columns)]
        shares: dict[str, dict[str, float]] = {}
        for row in audit.rows:
            cells = []
            for column in audit.columns:
                traces = audit.traces(row, row.learner(column, convention), convention)
                values = {seed: first_share(trace, convention) for seed, trace in traces.items()}
                known: Values = {seed: value for seed, value in values.items() if not np.isnan(value)}
                cells.append(mean_text(known))
                mean = mean_of(known)
                if mean is not None:
                    shares.setdefault(column, {})[row.label] = mean
            if any(cell != NOTHING for cell in cells):
                rows.append((row.label, *cells))
        facts[convention] = shares
        if not shares:
            parts.append(Paragraph(f"Convention {convention}: no runs are there."))
            continue
        most = [f"{column} {_range(shares[column].values())}" for column in audit.columns if column in shares]
        caption = f"Share of WADE from the first evaluation, mean over runs{half_words(rows)}, {convention}"
        parts += [
            Grid(f"{audit.order.study.id}-first-{convention}", caption, rows),
            Paragraph(
                f"From the task with the lowest share to that with the highest, {convention}: {'; '.join(most)}."
            ),
        ]
    text = (
        "A threshold counts by the time at which it is first reached, so that what the first evaluation happens to "
        "show counts most. As published, the first evaluation of a readout comes after a single question, that of a "
        "network after 8 sequences, and both count as time 1; corrected, time is in sequences for all."
    )
    return Section([Paragraph(text, "2. What the first evaluation is worth"), *parts], facts)


def _range(shares: Collection[float]) -> str:
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return low if low == high else f"{low} to {high}"
