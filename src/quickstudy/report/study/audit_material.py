"""Fourth section of the audit: how much there is to learn from, and what task 1 gives with more of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from quickstudy.base.study import Study, StudyRow
from quickstudy.report.study.audit_data import CONVENTIONS, Audit, Section, listed, mean_of, mean_text
from quickstudy.report.study.page import Grid, Paragraph, Part, half_words
from quickstudy.report.words import counted

SCORES = ("wade", "final-accuracy")
COUNTS = ("training_sequences", "test_sequences", "test_questions")


def variants(study: Study) -> list[StudyRow]:
    """The other forms of the row that is looked at more closely; none where the study has no such row."""
    closer = study.settings.get("closer", {})
    return [
        dataclasses.replace(row, task=f"{row.task}:{closer['parameter']}={value}")
        for row in study.rows
        if row.task == closer.get("task")
        for value in closer.get("values", [])
    ]


def section(audit: Audit) -> Section:
    """Different sequences, and how they are split, for every task and convention; then the closer look."""
    rows: list[tuple[str, ...]] = [
        ("task", "convention", "different sequences", "learned from", "tested on", "questions in the test")
    ]
    facts: dict[str, Any] = {}
    for row in audit.rows:
        for convention in CONVENTIONS:
            counts = _counts(audit, row, [row.learner(column, convention) for column in audit.columns], convention)
            if counts:
                train, test, questions = (counts[name] for name in COUNTS)
                whole = sorted({one + other for one, other in zip(train, test, strict=True)})
                rows.append((row.label, convention, *map(_range, (whole, train, test, questions))))
                facts.setdefault(row.label, {})[convention] = {"train": sorted(set(train)), "test": sorted(set(test))}
    parts: list[Part] = []
    if len(rows) == 1:
        parts.append(Paragraph("No runs are there to count the sequences of."))
    else:
        caption = "Sequences that were found when 1,200 different ones were asked for; over all runs"
        parts.append(Grid(f"{audit.order.study.id}-sequences", caption, rows))
        sizes = {label: found["published"]["train"] for label, found in facts.items() if "published" in found}
        if sizes:
            parts.append(Paragraph(_least(sizes)))
    closer = _closer(audit)
    text = "A task is drawn until enough different sequences are there, or five times as many draws have been made."
    head = Paragraph(text, "4. How much there is to learn from")
    return Section([head, *parts, *closer.parts], {"tasks": facts, "closer": closer.facts})


def _least(sizes: Mapping[str, list[int]]) -> str:
    """Which task has the fewest sequences to learn from."""
    every = sorted({size for found in sizes.values() for size in found})
    if len(every) == 1:
        return f"As published, every task that was examined ({len(sizes)}) is learned from {every[0]:,} sequences."
    fewest = [label for label, found in sizes.items() if found[0] == every[0]]
    return (
        f"As published, {listed(fewest)} is learned from {_range(sizes[fewest[0]])} sequences, the fewest of the "
        f"{counted(len(sizes), 'task')} examined; the most are {every[-1]:,}."
    )


def _closer(audit: Audit) -> Section:
    found = variants(audit.order.study)
    if not found:
        return Section([], {})
    label = found[0].label
    grids: list[Part] = []
    facts: dict[str, Any] = {}
    for score in SCORES:
        rows = [("convention", "task", *audit.columns)]
        for convention in CONVENTIONS:
            for row in found:
                values = [
                    audit.values(row, row.learner(column, convention), convention, score) for column in audit.columns
                ]
                if any(values):
                    rows.append((convention, row.task, *map(mean_text, values)))
                    means = {column: mean_of(one) for column, one in zip(audit.columns, values, strict=True) if one}
                    facts.setdefault(score, {}).setdefault(convention, {})[row.task] = means
        if len(rows) > 1:
            caption = f"{audit.found.score(score).title} on {label} by what is drawn, mean{half_words(rows)}"
            grids.append(Grid(f"{audit.order.study.id}-closer-{score}", caption, rows))
    return Section(grids or [Paragraph(f"No runs of the other forms of {label} are there.")], facts)


def _counts(audit: Audit, row: StudyRow, learners: list[str | None], convention: str) -> dict[str, list[int]]:
    """The counts that every run of a task has noted; all learners of a seed have the same."""
    seen: dict[tuple[int, int], list[int]] = {}
    for learner in learners:
        for place, record in audit.runs(row, learner, convention).items():
            facts = record.trace.get("facts", {})
            if all(name in facts for name in COUNTS):
                seen[place] = [int(facts[name]) for name in COUNTS]
    return {name: [counts[index] for counts in seen.values()] for index, name in enumerate(COUNTS)} if seen else {}


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
