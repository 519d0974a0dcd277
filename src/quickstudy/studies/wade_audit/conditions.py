"""What the numbers of an audit depend on: how much there is to learn from, and in which unit time
is counted.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import (
    COUNT,
    Block,
    Cell,
    Made,
    Name,
    Number,
    Section,
    Several,
    Text,
    table,
)
from quickstudy.base.registries import block
from quickstudy.base.study import Study, StudyRow
from quickstudy.base.trace import Trace
from quickstudy.measures import curve, wade
from quickstudy.measures.learning_curve import training_sequences
from quickstudy.pages.study_request import CONVENTIONS, Request, Stage
from quickstudy.pages.table_helpers import halves, mean, mean_of, under_each
from quickstudy.report.words import counted, span
from quickstudy.studies.wade_audit.shares import Audited

SCORES = ("wade", "final-accuracy")
COUNTS = ("training_sequences", "test_sequences", "test_questions")
UNITS = ("updates", "sequences")
HOW = {"published": "as published", "corrected": "sequences"}
"""In which unit a convention itself counts."""


def variants(study: Study) -> list[StudyRow]:
    """The other forms of the row that is looked at more closely; none where the study has no such
    row.
    """
    closer = study.settings.get("closer", {})
    return [
        dataclasses.replace(row, task=f"{row.task}:{closer['parameter']}={value}")
        for row in study.rows
        if row.task == closer.get("task")
        for value in closer.get("values", [])
    ]


@block("material", version=1)
class Material:
    """How much there is to learn from, and what one task gives with more of it."""

    def stages(self, request: Request) -> Iterator[Stage]:
        """Every model on the other forms of the task that is looked at more closely."""
        study = dataclasses.replace(request.study, rows=tuple(variants(request.study)))
        closer = dataclasses.replace(request, study=study)
        yield Stage(
            [one for name in request.wanted for one in closer.under(name).models()], request.seeds
        )

    def blocks(self, request: Request) -> Made:
        """Different sequences, and how they are split, for every task and convention; then the
        closer look.
        """
        rows: list[list[Cell]] = []
        facts: dict[str, Any] = {}
        for row in request.rows:
            for convention in CONVENTIONS:
                counts = _counts(request.under(convention), row)
                if counts:
                    train, test, questions = zip(*counts, strict=True)
                    whole = [one + other for one, other, _ in counts]
                    rows.append(
                        [Name(row.label), convention, *map(_range, (whole, train, test, questions))]
                    )
                    sizes = {"train": sorted(set(train)), "test": sorted(set(test))}
                    facts.setdefault(row.label, {})[convention] = sizes
        text = (
            "A task is sampled until there are enough different sequences, or five times as many"
            " samples."
        )
        made: list[Block] = [Text(text)]
        if rows:
            caption = (
                "Sequences that were found when 1,200 different ones were asked for; over all runs"
            )
            heading = (
                "task",
                "convention",
                "different sequences",
                "learned from",
                "tested on",
                "questions in the test",
            )
            made.append(table(f"{request.study.id}-sequences", caption, heading, rows))
            known = {
                label: found["published"]["train"]
                for label, found in facts.items()
                if "published" in found
            }
            made += [Text(_least(known))] if known else []
        else:
            made.append(Text("There are no runs whose sequences could be counted."))
        closer = _closer(request)
        section = Section("How much there is to learn from", [*made, *closer.blocks], "material")
        return Made([section], {"material": {"tasks": facts, "closer": closer.facts}})


def _counts(request: Request, row: StudyRow) -> list[tuple[int, int, int]]:
    """What every run of a task has noted of its sequences, seed by seed; all learners of a seed
    have the same.
    """
    seen = {}
    for learner in request.learners(row).values():
        for place, record in request.runs(row, learner).items():
            facts = record.trace.get("facts", {})
            if all(name in facts for name in COUNTS):
                seen[place] = tuple(int(facts[name]) for name in COUNTS)
    return list(seen.values())  # type: ignore[arg-type]  # as many as COUNTS


def _range(numbers: Sequence[int]) -> Cell:
    low, high = (Number(end, form=COUNT) for end in (min(numbers), max(numbers)))
    return low if low == high else Several([low, high], " to ")


def _least(sizes: Mapping[str, list[int]]) -> str:
    """Which task has the fewest sequences to learn from."""
    every = sorted({size for found in sizes.values() for size in found})
    if len(every) == 1:
        return (
            f"As published, every task that was examined ({len(sizes)}) is learned from"
            f" {every[0]:,} sequences."
        )
    fewest = [label for label, found in sizes.items() if found[0] == every[0]]
    return (
        f"As published, {', '.join(fewest)} is learned from {span(sizes[fewest[0]])} sequences, the"
        f" fewest of the {counted(len(sizes), 'task')} examined; the most are {every[-1]:,}."
    )


def _closer(request: Request) -> Made:
    found = variants(request.study)
    if not found:
        return Made([])
    tables: list[Block] = []
    facts: dict[str, Any] = {}
    for score in SCORES:
        rows: list[list[Cell]] = []
        for convention, row in itertools.product(CONVENTIONS, found):
            under = request.under(convention)
            values = {
                column: under.values(row, under.learners(row).get(column), score)
                for column in request.columns
            }
            if any(values.values()):
                rows.append([convention, Name(row.task), *map(mean, values.values())])
                means = {column: mean_of(one) for column, one in values.items() if one}
                facts.setdefault(score, {}).setdefault(convention, {})[row.task] = means
        if rows:
            caption = (
                f"{request.score(score).title} on {found[0].label} by what is drawn,"
                f" mean{halves(rows)}"
            )
            heading = ("convention", "task", *request.columns)
            tables.append(table(f"{request.study.id}-closer-{score}", caption, heading, rows))
    return Made(
        tables or [Text(f"There are no runs of the other forms of {found[0].label}.")], facts
    )


def wade_in(unit: str, trace: Trace, convention: str) -> float:
    """WADE of a curve with T in updates of the weights or in training sequences; thresholds as the
    convention has them.

    Sequences shown between two updates count as part of the next; nothing comes before time 1.
    """
    per_step = trace.cost.updates / trace.cost.examples if trace.cost.examples else 1.0
    times: dict[str, curve.Times] = {
        "updates": lambda steps: np.maximum(1.0, steps * per_step),
        "sequences": training_sequences(trace),
    }
    preset = wade.published_nets() if convention == "published" else wade.paper(100)
    return dataclasses.replace(preset, time=times[unit]).score(
        trace.arrays["step"], trace.arrays["accuracy"]
    )


@block("time", version=1)
class Time:
    """The same curves with time in updates and in sequences."""

    stages = Audited.stages

    def blocks(self, request: Request) -> Made:
        """Every model in both units, and how the ranking changes."""
        text = (
            "As published, time runs in updates from 8 sequences for the networks and in sequences"
            " for the readouts. Here both units are applied to all, on the same curves: an update"
            " is one change of the trained weights, which a readout makes after every question and"
            " a network after every batch."
        )
        found = under_each(request, "The unit of time", "time", text, _timed)
        return Made(found.blocks, {"time": found.facts})


def _timed(request: Request) -> Made:
    rows: list[list[Cell]] = []
    facts: dict[str, Any] = {}
    convention = request.convention
    own, others = HOW[convention], [unit for unit in UNITS if unit != HOW[convention]]
    for row in request.rows:
        learners = {column: request.learners(row).get(column) for column in request.columns}
        traces = {column: request.traces(row, learner) for column, learner in learners.items()}
        scored = {
            own: {column: request.values(row, one, "wade") for column, one in learners.items()}
        }
        for unit in others:
            scored[unit] = {
                column: {seed: wade_in(unit, trace, convention) for seed, trace in known.items()}
                for column, known in traces.items()
            }
        for unit, values in scored.items():
            means = {
                column: known
                for column, runs in values.items()
                if (known := mean_of(runs)) is not None
            }
            if means:
                order = sorted(means, key=lambda column: -means[column])
                places = {column: f"({place})" for place, column in enumerate(order, start=1)}
                cells = [mean(runs, places.get(column, "")) for column, runs in values.items()]
                rows.append([Name(row.label), unit, *cells])
                facts.setdefault(row.label, {})[unit] = {"means": means, "ranking": order}
    if not rows:
        return Made([Text(f"Convention {convention}: no runs.")], facts)
    caption = (
        f"WADE by the unit of time, convention {convention}: mean{halves(rows)}; in brackets, the"
        " place among the models by the mean"
    )
    made: list[Block] = [
        table(
            f"{request.study.id}-time-{convention}",
            caption,
            ("task", "time in", *request.columns),
            rows,
        )
    ]
    for unit in others:
        pairs = {
            task: (found[own]["ranking"], found[unit]["ranking"]) for task, found in facts.items()
        }
        turned = sum(one != other for one, other in pairs.values())
        best = [
            f"{task} ({one[0]}, then {other[0]})"
            for task, (one, other) in pairs.items()
            if one[0] != other[0]
        ]
        text = (
            f"With time in {unit} for all instead of {own}, the ranking of the models changes on"
            f" {turned} of {counted(len(pairs), 'task')}, the best model on {len(best)}:"
            f" {', '.join(best) or 'none'}."
        )
        made.append(Text(text))
    return Made(made, facts)
