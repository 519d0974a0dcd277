"""The pages of the dashboard: all folders, the runs of one, and one run whole."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator, Sequence

from quickstudy.base import blocks, registries
from quickstudy.base.blocks import (
    CONTROL,
    COUNT,
    EXACT,
    ORACLE,
    SECONDS,
    Block,
    Column,
    Details,
    Group,
    Line,
    Mark,
    Name,
    Number,
    Page,
    Section,
    Stored,
    Table,
    Terms,
    Text,
    Traced,
)
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK, Record
from quickstudy.base.text import described
from quickstudy.render.numbers import written
from quickstudy.report.build import gather
from quickstudy.report.page import report_page
from quickstudy.report.roles import role_of
from quickstudy.report.words import counted
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.grouping import label_of
from quickstudy.runs.results import ResultsFolder, number, seed_of
from quickstudy.web.library import Library, standing

EYEBROW = "quickstudy serve"
RULES = (CONTROL, ORACLE)
_MOST = 1000
"""Runs in one table: the newest."""
_NAMED = 3
"""Tasks and learners of a folder that the front page names."""
ALONE = "/run"
"""Behind a kind of trace: what is to be seen of one run alone, where there is a figure for that."""


def front_page(library: Library) -> Page:
    """All folders."""
    lines = []
    for name, shelf in library.shelves().items():
        found = standing(shelf)
        lines.append(
            Line(
                [
                    Name(name, target=f"{name}/"),
                    *_held(shelf.reading().records.values()),
                    *(
                        Number(found.counts[status], form=COUNT)
                        for status in (OK, FAILED, NOT_APPLICABLE)
                    ),
                    Number(found.going_on, form=COUNT),
                    Number(found.interrupted, form=COUNT),
                    _when(found.last),
                ]
            )
        )
    if not lines:
        return Page(
            "Results",
            [Text("No runs yet. They appear here as soon as there are any.")],
            eyebrow=EYEBROW,
        )
    titles = "finished", "failed", "not applicable", "going on", "interrupted"
    names = (Column(title, numeric=False) for title in ("folder", "tasks", "learners"))
    columns = [*names, *map(Column, titles), Column("last written", numeric=False)]
    table = Table("folders", "Results folders and their runs.", columns, [Group(lines)])
    return Page("Results", [table], eyebrow=EYEBROW)


def _held(records: Iterable[Record]) -> Iterator[str]:
    """The tasks and the learners of a folder, the first few by name."""
    every = list(records)
    tasks = {label_of(record, "task") for record in every}
    learners = {label_of(record, "learner") for record in every if role_of(record) not in RULES}
    for names in (sorted(tasks), sorted(learners)):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield ", ".join(names[:_NAMED]) + more


def folder_page(name: str, shelf: ResultsFolder, files: Sequence[str]) -> Page:
    """The runs of a folder: those of learners and people before controls and oracles, the newest
    first.
    """
    reading, found = shelf.reading(), standing(shelf)
    said = [
        counted(count, f"run {status}" if status != OK else "finished run")
        for status, count in found.counts.items()
    ]
    said += [f"{counted(found.going_on, 'call')} going on"] if found.going_on else []
    said += [f"{counted(found.interrupted, 'call')} interrupted"] if found.interrupted else []
    said_there = (
        [("report", "everything that the runs say, with intervals and verdicts", "report")]
        if said
        else []
    )
    parts: list[Block] = [Terms([("all folders", "", "../"), *said_there])]
    records = sorted(
        reading.records.items(), key=lambda item: (role_of(item[1]) in RULES, -item[1].started)
    )
    if records:
        note = f" The newest {_MOST:,} of {len(records):,}." if len(records) > _MOST else ""
        columns = [
            *(Column(title, numeric=False) for title in ("task", "learner", "role")),
            *map(Column, ("root", "repetition")),
            Column("status", numeric=False),
            Column("headline"),
            Column("seconds"),
            Column("started", numeric=False),
        ]
        lines = [_line(key, record) for key, record in records[:_MOST]]
        parts.append(Table("runs", f"All runs.{note}", columns, [Group(lines)]))
    if files:
        parts.append(
            Section(
                "Pages, tables and pictures",
                [Terms([(one, "", f"files/{one}") for one in files])],
                "files",
            )
        )
    if reading.damage:
        parts.append(Details("Damaged", [Text(str(one)) for one in reading.damage], open=True))
    return Page(name, parts, [" · ".join(said) or "no runs yet"], EYEBROW)


def folder_report(shelf: ResultsFolder) -> Page:
    """The report of a folder. Raises QuickstudyError where there is nothing to report."""
    return shelf.made(
        "served report",
        lambda: report_page(gather(shelf.table())),
    )


def run_page(shelf: ResultsFolder, key: str, record: Record) -> Page:
    """One run: what it was, what came out, its picture, and the record as it is stored."""
    root, repetition = seed_of(record)
    terms = [
        ("task", label_of(record, "task"), ""),
        ("learner", f"{label_of(record, 'learner')} ({role_of(record)})", ""),
        ("convention", str(record.what.get("convention", "")), ""),
        ("root seed, repetition", f"{root}, {repetition}", ""),
        ("status", f"{record.status}: {record.reason}" if record.reason else record.status, ""),
        *_headline_term(record),
        ("started", _when(record.started), ""),
    ]
    parts: list[Block] = [Terms([("all runs", "of this folder", "../"), *terms])]
    if record.status == OK:
        parts.append(Section("What happened", list(_pictures(shelf, record)), "trace"))
    if scores := list(_scores(record)):
        parts.append(Section("All scores", scores, "all-scores"))
    if record.traceback:
        parts.append(Details("Traceback", [Text(record.traceback, "command")], open=True))
    parts.append(Details("The record as it is stored", [Stored({"key": key, **_facts(record)})]))
    title = f"{label_of(record, 'learner')} on {label_of(record, 'task')}"
    return Page(title, parts, [key], EYEBROW)


def fault_page(title: str, text: str) -> Page:
    """What could not be shown, and why."""
    return Page(title, [Text(text)], eyebrow=EYEBROW)


def _line(key: str, record: Record) -> Line:
    root, repetition = seed_of(record)
    return Line(
        [
            Name(label_of(record, "task"), target=f"runs/{key}"),
            label_of(record, "learner"),
            role_of(record),
            Number(root, form=EXACT),
            Number(repetition, form=COUNT),
            record.status,
            _headline(record),
            Number(_seconds(record), form=SECONDS),
            _when(record.started),
        ]
    )


def _headline(record: Record) -> Number:
    """The headline of its family; where a run has none, as a person's in words has not, its first
    score.
    """
    wanted = str(record.legend.get("headline", ""))
    scores = {
        name: value
        for entry in record.scores.values()
        for name, value in entry.get("values", {}).items()
    }
    name = wanted if wanted in scores else next(iter(scores), "")
    return (
        Number(number(scores[name]), note=name)
        if name
        else Number(None, note=record.reason or "none")
    )


def _headline_term(record: Record) -> Iterator[tuple[str, str, str]]:
    found = _headline(record)
    if found.value is not None:
        yield str(found.note), written(found), ""


def _seconds(record: Record) -> float | None:
    found = number(record.where.get("seconds"))
    return None if math.isnan(found) else found


def _scores(record: Record) -> Iterator[Block]:
    lines = [
        Line([name, Number(number(value)), id, Number(number(entry.get("version", 1)), form=COUNT)])
        for id, entry in sorted(record.scores.items())
        for name, value in sorted(entry.get("values", {}).items())
    ]
    if lines:
        columns = [
            Column("score", numeric=False),
            Column("value"),
            Column("measure", numeric=False),
            Column("version"),
        ]
        yield Table(
            "scores",
            "Every score of the run, with the measure that it is of.",
            columns,
            [Group(lines)],
        )


def _pictures(shelf: ResultsFolder, record: Record) -> Iterator[Block]:
    """The figures of its kind of trace: that of one run, and that of the report with this run in it
    alone.
    """
    try:
        trace = load_trace(shelf.folder, record)
    except QuickstudyError as error:
        yield Text(f"Its trace cannot be read: {error}", "remark")
        return
    label, alone = label_of(record, "task"), f"{trace.kind}{ALONE}"
    row = Traced(label_of(record, "learner"), role_of(record), Mark(blocks.LEARNER), [trace])
    if trace.kind not in registries.figure:
        yield Text(f'There is no figure for traces of the kind "{trace.kind}".', "remark")
    for kind, given in ((alone, (record.what, trace)), (trace.kind, (label, [row]))):
        try:
            yield from registries.figure.get(kind)(*given) if kind in registries.figure else ()
        except (
            Exception
        ) as error:  # a figure of the user's, or a damaged trace: the page leaves it out
            yield Text(f'The figure "{kind}" raised {described(error)}.', "remark")


def _facts(record: Record) -> dict[str, object]:
    kept = (
        "what",
        "status",
        "reason",
        "where",
        "cost",
        "scores",
        "saved",
        "labels",
        "legend",
        "files",
    )
    return {name: getattr(record, name) for name in kept}


def _when(seconds: float) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return ""
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC") if seconds else ""
