"""Fifth section of the audit: the same curves with time in updates and in sequences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.trace import Trace
from quickstudy.measures import curve, wade
from quickstudy.measures.learning_curve import training_sequences
from quickstudy.report.statistics import Values
from quickstudy.report.study.audit_data import CONVENTIONS, Audit, Section, listed, mean_of, mean_text
from quickstudy.report.study.page import Grid, Paragraph, Part, half_words
from quickstudy.report.words import counted

UNITS = ("updates", "sequences")
HOW = {"published": "as published", "corrected": "sequences"}
"""In which unit a convention itself counts."""


def wade_in(unit: str, trace: Trace, convention: str) -> float:
    """WADE of a curve with T in updates of the weights or in training sequences; thresholds as the convention has them.

    What is shown between two updates counts as part of the next; nothing comes before time 1.
    """
    preset = wade.published_nets() if convention == "published" else wade.paper(100)
    time = _updates(trace) if unit == "updates" else training_sequences(trace)
    return replace(preset, time=time).score(trace.arrays["step"], trace.arrays["accuracy"])


def section(audit: Audit) -> Section:
    """Every model in both units, and how the ranking changes."""
    text = (
        "As published, time runs in updates from 8 sequences for the networks and in sequences for the readouts. Here "
        "both units are applied to all, on the same curves: an update is one change of the trained weights, which a "
        "readout makes after every question and a network after every batch."
    )
    parts: list[Part] = [Paragraph(text, "5. The unit of time")]
    facts: dict[str, Any] = {}
    for convention in CONVENTIONS:
        found = _convention(audit, convention)
        parts += found.parts
        facts[convention] = found.facts
    return Section(parts, facts)


def ranking(means: Mapping[str, float]) -> list[str]:
    """The models from the best to the worst."""
    return sorted(means, key=lambda column: -means[column])


def _convention(audit: Audit, convention: str) -> Section:
    rows = [("task", "time in", *audit.columns)]
    facts: dict[str, Any] = {}
    for row in audit.rows:
        scored: dict[str, dict[str, Values]] = {}
        for column in audit.columns:
            learner = row.learner(column, convention)
            scored.setdefault(HOW[convention], {})[column] = audit.values(row, learner, convention, "wade")
            traces = audit.traces(row, learner, convention)
            for unit in _others(convention):
                values = {seed: wade_in(unit, trace, convention) for seed, trace in traces.items()}
                scored.setdefault(unit, {})[column] = values
        for unit, values_of in scored.items():
            means = {column: mean for column, values in values_of.items() if (mean := mean_of(values)) is not None}
            if means:
                order = ranking(means)
                places = {column: f" ({place})" for place, column in enumerate(order, start=1)}
                cells = [mean_text(values) + places.get(column, "") for column, values in values_of.items()]
                rows.append((row.label, unit, *cells))
                facts.setdefault(row.label, {})[unit] = {"means": means, "ranking": order}
    if len(rows) == 1:
        return Section([Paragraph(f"Convention {convention}: no runs are there.")], facts)
    caption = (
        f"WADE by the unit of time, convention {convention}: mean{half_words(rows)}; in brackets, the place "
        "among the models by the mean"
    )
    lines = [_changes(facts, HOW[convention], unit) for unit in _others(convention)]
    grid = Grid(f"{audit.order.study.id}-time-{convention}", caption, rows)
    return Section([grid, *map(Paragraph, lines)], facts)


def _others(convention: str) -> list[str]:
    """The units that a convention does not count in."""
    return [unit for unit in UNITS if unit != HOW[convention]]


def _changes(facts: Mapping[str, Any], before: str, after: str) -> str:
    """How many rankings another unit changes."""
    pairs = {task: (found[before]["ranking"], found[after]["ranking"]) for task, found in facts.items()}
    turned = [task for task, (one, other) in pairs.items() if one != other]
    best = [f"{task} ({one[0]}, then {other[0]})" for task, (one, other) in pairs.items() if one[0] != other[0]]
    return (
        f"With time in {after} for all instead of {before}, the ranking of the models changes on "
        f"{len(turned)} of {counted(len(pairs), 'task')}, the best model on {len(best)}: {listed(best)}."
    )


def _updates(trace: Trace) -> curve.Times:
    """From the steps of the curve to updates of the weights."""
    per_step = trace.cost.updates / trace.cost.examples if trace.cost.examples else 1.0

    def whole(steps: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(1.0, steps * per_step)

    return whole
