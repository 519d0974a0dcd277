"""The report as one HTML file that needs nothing else: styles, pictures, script and data are inside."""

from __future__ import annotations

import math
from itertools import groupby

from quickstudy.base.canonical import spelled
from quickstudy.report.document import document
from quickstudy.report.glance import glance_table
from quickstudy.report.html_record import how_to_read, run_record
from quickstudy.report.html_table import change_table, cost_table, failure_table, score_table
from quickstudy.report.json import as_json
from quickstudy.report.markup import escape, tag
from quickstudy.report.model import LEARNER, LEARNING, REPLAY, ROLES, ReportData, Row, TaskTable
from quickstudy.report.pictures import NARROW, WIDE, Style, learning_curves, styles, threshold_picture
from quickstudy.report.stream_picture import stream_picture
from quickstudy.report.verdict import remarks, verdict
from quickstudy.report.words import counted, span

_ALL_NAMED = 4


def as_html(data: ReportData) -> str:
    """The page. Equal data give equal bytes; nothing in it refers to anything outside it."""
    style = styles(data)
    title = _title(data)
    sections = [
        tag(
            "header",
            tag("p", "quickstudy report", class_="eyebrow"),
            tag("h1", escape(title)),
            _facts(data),
            _notes(data),
        ),
        _verdicts(data),
        _contents(data),
        *_families(data, style),
        _changes(data),
        tag("section", tag("h2", "How to read this"), how_to_read(data, _illustration(data)), id="read"),
        tag("section", tag("h2", "The record"), run_record(data), id="record"),
    ]
    embedded = tag("script", _harmless(spelled(as_json(data))), type="application/json", id="data")
    return document(title, tag("main", *sections) + embedded)


def _harmless(text: str) -> str:
    """JSON that cannot end the script element it stands in."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _title(data: ReportData) -> str:
    names = sorted({row.learner for found in data.tables for row in found.of_role(*LEARNING)})
    if not names:
        return "Controls and oracles"
    if len(names) > _ALL_NAMED:
        return f"How {len(names)} learners learn"
    return f"How {', '.join(names[:-1])} and {names[-1]} learn" if len(names) > 1 else f"How {names[0]} learns"


def _facts(data: ReportData) -> str:
    rows = [row for found in data.tables for row in found.rows]
    ok, rest = sum(len(row.finished) for row in rows), sum(len(row.unfinished) for row in rows)
    facts = [counted(len({(found.family, found.task) for found in data.tables}), "task")]
    names = {role: {row.learner for row in rows if row.role == role} for role in ROLES}
    facts += [counted(len(found), role) for role, found in names.items() if role != REPLAY]
    # In the order of the table: after those who see every example once.
    facts[2:2] = [f"{counted(len(names[REPLAY]), LEARNER)} with replay"] if names[REPLAY] else []
    facts.append(counted(ok, "finished run"))
    facts += [f"{counted(rest, 'run')} without result"] if rest else []
    facts.append("convention " + " and ".join(dict.fromkeys(escape(found.convention) for found in data.tables)))
    return tag("p", " · ".join(facts), class_="facts-line")


def _notes(data: ReportData) -> str:
    return (
        tag("div", tag("ul", *(tag("li", escape(note)) for note in data.notes)), class_="notes", role="note")
        if data.notes
        else ""
    )


def _verdicts(data: ReportData) -> str:
    several = len({found.convention for found in data.tables}) > 1
    items = []
    for index, found in enumerate(data.tables):
        suffix = tag("small", f" {escape(found.convention)}") if several else ""
        link = tag("a", escape(found.task), href=f"#task-{index}")
        items.append(tag("dt", link, suffix) + tag("dd", escape(verdict(found))))
    return tag("section", tag("h2", "In short"), tag("dl", *items, class_="verdicts"), id="short")


def _contents(data: ReportData) -> str:
    items = []
    for index, (convention, family, _) in enumerate(_grouped(data)):
        items.append(tag("a", escape(f"{family}, {convention}"), href=f"#family-{index}"))
    items += [tag("a", "what the convention changes", href="#changes")] if data.changes else []
    items += [tag("a", "how to read this", href="#read"), tag("a", "the record", href="#record")]
    return tag("nav", tag("ul", *(tag("li", item) for item in items)), aria_label="Contents")


def _grouped(data: ReportData) -> list[tuple[str, str, list[tuple[int, TaskTable]]]]:
    """(convention, family, tables with their numbers), in order."""
    numbered = groupby(enumerate(data.tables), key=lambda pair: (pair[1].convention, pair[1].family))
    return [(*key, list(members)) for key, members in numbered]


def _families(data: ReportData, style: Style) -> list[str]:
    sections = []
    for index, (convention, family, members) in enumerate(_grouped(data)):
        title = tag("h2", escape(family), tag("small", f" {escape(convention)}"))
        questions = dict.fromkeys(found.legend.question for _, found in members)
        parts = [title, *(tag("p", escape(question), class_="question") for question in questions if question)]
        if len(members) > 1:
            parts.append(glance_table(members, style, f"glance-{index}"))
        parts += [_task(found, number, style) for number, found in members]
        sections.append(tag("section", *parts, id=f"family-{index}", class_="family"))
    return sections


def _task(found: TaskTable, number: int, style: Style) -> str:
    missing = failure_table(found, f"failures-{number}")
    return tag(
        "section",
        tag("h3", escape(found.task)),
        tag("p", escape(verdict(found)), class_="verdict"),
        _figure(found, number, style),
        score_table(found, style, f"scores-{number}"),
        *(tag("p", escape(remark), class_="remark") for remark in remarks(found)),
        tag("details", tag("summary", "What it cost"), cost_table(found, style, f"cost-{number}"), open=True),
        missing,
        id=f"task-{number}",
        class_="task",
    )


def _figure(found: TaskTable, number: int, style: Style) -> str:
    pictures = [learning_curves(found, style, form, str(number)) for form in (WIDE, NARROW)]
    if not any(pictures):
        if any(row.streams for row in found.rows):
            return _streams(found)
        return tag("p", "No run left a learning curve.", class_="remark")
    counts = sorted({row.curve.runs for row in found.rows if row.curve})
    several = f"mean of {span(counts)} runs; shading: 95 % interval of the mean"
    mean = several if counts[-1] > 1 else "one run each, so no interval"
    lines = "Solid: learners. Dashed grey: rules that never learn. Thin: oracle."
    caption = tag("figcaption", f"Test accuracy against training data, {mean}. {lines}")
    return tag("figure", *pictures, caption, tag("div", class_="readout", hidden=True), class_="curves")


def _streams(found: TaskTable) -> str:
    """The way of every learner through a stream; the rules', and the oracle's, are folded away."""
    figures: dict[bool, list[str]] = {True: [], False: []}
    for row in found.rows:
        pictures = [stream_picture(row.streams, row.learner, found.task, form) for form in (WIDE, NARROW)]
        if any(pictures):
            runs = "one run" if len(row.streams) == 1 else f"mean of {len(row.streams)} runs"
            caption = f"{row.learner}: test accuracy on every segment, {runs}; bold while that segment is learned."
            figure = tag("figure", *pictures, tag("figcaption", escape(caption)))
            figures[row.role in LEARNING].append(figure)
    rest = tag("details", tag("summary", "Controls and oracles"), *figures[False]) if figures[False] else ""
    return "".join(figures[True]) + rest


def _illustration(data: ReportData) -> str:
    """T(α) on the first run of the first learner whose learning curve rises; where none does, that left one."""
    rows = [(found, row) for found in data.tables for row in found.of_role(*LEARNING)]
    for found, row in sorted(rows, key=lambda pair: not _rises(pair[1])):
        pictures = [threshold_picture(row, found.task, form) for form in (WIDE, NARROW)]
        if any(pictures):
            caption = (
                f"T(α) is the first step at which the accuracy is at least α, ∞ where it never is. Here: "
                f"{row.learner} on {found.task}, one run. A data efficiency is a weighted mean of 1/T(α)."
            )
            return tag("figure", *pictures, tag("figcaption", escape(caption)))
    return ""


def _rises(row: Row) -> bool:
    """Whether a high accuracy is reached, and later than a low one: a flat line explains nothing."""
    times = row.example.times if row.example else ()
    return len({time for time in times if math.isfinite(time)}) > 2


def _changes(data: ReportData) -> str:
    if not data.changes:
        return ""
    tables = [
        tag("h3", escape(change.task)) + change_table(change, f"change-{index}")
        for index, change in enumerate(data.changes)
    ]
    return tag("section", tag("h2", "What the convention changes"), *tables, id="changes")
