"""The report of results folders as a page: in short, every task with its picture and tables, how to read it, and the
whole record of what was run.
"""

from __future__ import annotations

import math
import pathlib
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from quickstudy.base import catalogue
from quickstudy.base.blocks import (
    LEARNER,
    REPLAY,
    ROLES,
    Block,
    Details,
    Graph,
    HeatMap,
    Page,
    Plot,
    Section,
    Stored,
    Table,
    Terms,
    Text,
    Traced,
)  # fmt: skip
from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Score
from quickstudy.base.origin import described as described_error
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.task import ExampleTask
from quickstudy.render.html import as_html
from quickstudy.render.latex import as_latex
from quickstudy.render.terminal import as_text
from quickstudy.report.facts import as_csv, as_json
from quickstudy.report.model import LEARNING, MeasureNote, Place, ReportData, Row, TaskTable
from quickstudy.report.tables import (
    Marks,
    change_table,
    cost_table,
    failure_table,
    glance_table,
    marks_of,
    run_table,
    score_table,
)  # fmt: skip
from quickstudy.report.words import TERMS, counted
from quickstudy.runs.folder import write_output

_ALL_NAMED = 4
_LONGEST_EXAMPLE = 240
_READ, _RECORD = "read", "record"
READ = "/read"
"""Behind a kind of trace: the figure that explains how scores are read off such a trace."""


def report_page(data: ReportData) -> Page:
    """The page. Equal data give equal pages."""
    marks = marks_of(data)
    families = [(*key, list(members)) for key, members in groupby(enumerate(data.tables), key=_family)]
    blocks: list[Block] = [Text(note, "note") for note in data.notes]
    blocks += _in_short(data, families, marks)
    for index, (convention, family, members) in enumerate(families):
        questions = dict.fromkeys(table.legend.question for _, table in members)
        inside: list[Block] = [Text(question, "question") for question in questions if question]
        inside += [_task(table, number, marks) for number, table in members]
        blocks.append(Section(family, inside, f"family-{index}", convention))
    if data.changes:
        tables = [change_table(change, f"change-{index}") for index, change in enumerate(data.changes)]
        blocks.append(Section("What the convention changes", tables, "changes"))
    blocks.append(Section("How to read this", list(_how_to_read(data, marks)), _READ))
    blocks.append(Section("The record", list(_record(data)), _RECORD))
    return Page(_title(data), blocks, [_counts(data), *_made(data)], "quickstudy report", as_json(data))


def screen_page(data: ReportData) -> Page:
    """What a terminal and a notebook show of it: the tasks, without pictures, how to read it, and the record."""
    page = report_page(data)
    blocks = [block for block in page.blocks if not isinstance(block, Section) or block.name not in (_READ, _RECORD)]
    return replace(page, blocks=[_without_pictures(block) for block in blocks])


def _without_pictures(block: Block) -> Block:
    if not isinstance(block, Section):
        return block
    kept = [one for one in block.blocks if not isinstance(one, Plot | HeatMap | Graph)]
    return replace(block, blocks=list(map(_without_pictures, kept)))


def write_report(data: ReportData, target: str | pathlib.Path, *, replaces: bool = True) -> pathlib.Path:
    """Write the page as HTML; gives its path. A reader sees the old file or the whole new one.

    target: the file, or a folder that exists, in which it is then called report.html. replaces: a file that is there,
    whatever it is; else only a page of ours. Raises UsageError when the file cannot be written.
    """
    path = pathlib.Path(target)
    path = path / "report.html" if path.is_dir() else path
    if not replaces and path.is_file() and not _is_ours(path):
        raise UsageError(f"{path} is there, and no page of quickstudy's; move it away, or name a file by `report -o`")
    page = FORMS["html"](data).encode(errors="backslashreplace")
    write_output(path, lambda file: file.write(page))
    return path


FORMS: Mapping[str, Callable[[ReportData], str]] = {
    "html": lambda data: as_html(report_page(data)),
    "text": lambda data: as_text(screen_page(data)),
    "csv": as_csv,
    "latex": lambda data: as_latex(report_page(data)),
}
"""The forms of a report that are text."""


def _is_ours(path: pathlib.Path) -> bool:
    """Whether a file begins like a page of ours, whose title ends so."""
    with open(path, "rb") as file:
        return "· quickstudy</title>".encode() in file.read(4096)


def _family(numbered: tuple[int, TaskTable]) -> tuple[str, str]:
    return numbered[1].convention, numbered[1].family


def _title(data: ReportData) -> str:
    names = sorted({row.learner for found in data.tables for row in found.of_role(*LEARNING)})
    if not names:
        return "Controls and oracles"
    if len(names) > _ALL_NAMED:
        return f"How {len(names)} learners learn"
    return f"How {', '.join(names[:-1])} and {names[-1]} learn" if len(names) > 1 else f"How {names[0]} learns"


def _counts(data: ReportData) -> str:
    rows = [row for found in data.tables for row in found.rows]
    ok, rest = sum(len(row.finished) for row in rows), sum(len(row.unfinished) for row in rows)
    facts = [counted(len({(found.family, found.task) for found in data.tables}), "task")]
    names = {role: {row.learner for row in rows if row.role == role} for role in ROLES}
    facts += [counted(len(found), role) for role, found in names.items() if role != REPLAY]
    # In the order of the table: after those who see every example once.
    facts[2:2] = [f"{counted(len(names[REPLAY]), LEARNER)} with replay"] if names[REPLAY] else []
    facts.append(counted(ok, "finished run"))
    facts += [f"{counted(rest, 'run')} without result"] if rest else []
    facts.append("convention " + " and ".join(dict.fromkeys(found.convention for found in data.tables)))
    return " · ".join(facts)


def _made(data: ReportData) -> Iterator[str]:
    """When, with which versions and by which command the runs were made, as far as it is known."""
    if data.started:
        days = dict.fromkeys(time.strftime("%Y-%m-%d", time.gmtime(moment)) for moment in data.started)
        made = {", ".join(f"{name} {version}" for name, version in place.versions.items()) for place in data.places}
        by = f" with {made.pop()}" if len(made) == 1 and made != {""} else ""
        yield f"Run {' to '.join(days)}{by}"
    if data.command:
        yield data.command


def _in_short(data: ReportData, families: Sequence[tuple[Any, ...]], marks: Marks) -> Iterator[Block]:
    """The headline of every learner on every task, and a sentence for each task; nothing where there is one task."""
    if len(data.tables) < 2:
        return
    tables: list[Block] = [
        glance_table([table for _, table in members], marks, f"glance-{index}")
        for index, (*_, members) in enumerate(families)
        if len(members) > 1
    ]
    several = len({table.convention for table in data.tables}) > 1
    said = [
        (f"{table.task}, {table.convention}" if several else table.task, table.verdict.short, f"task-{number}")
        for number, table in enumerate(data.tables)
    ]
    yield Section("In short", [*tables, Terms(said)], "short", listed=False)


def _task(table: TaskTable, number: int, marks: Marks) -> Section:
    cost, failures = cost_table(table, marks, f"cost-{number}"), failure_table(table, f"failures-{number}")
    blocks: list[Block] = [
        *_about(table),
        Text(table.verdict.text, "verdict"),
        *_figure(table, marks, f"figure-{number}"),
        score_table(table, marks, f"scores-{number}"),
        *(Text(remark, "remark") for remark in table.verdict.remarks),
        *([Details("What it cost", [cost], open=True)] if cost else []),
        *([failures] if failures else []),
    ]
    return Section(table.task, blocks, f"task-{number}", table.convention)


def _about(table: TaskTable) -> Iterator[Block]:
    """What the task asks, how much there was of it, and one example, where the very task is installed."""
    task = table.rows[0].setting.get("task", {})
    id, version = task.get("id", ""), task.get("version")
    entry = catalogue.task.find(id) if id in catalogue.task else None
    summary = entry.summary if entry and entry.version == version else ""
    if summary or table.material:
        yield Text(" ".join(filter(None, (summary, table.material))), "question")
    if summary and (example := _example(id, task.get("parameters", {}), table.convention)):
        yield Text(textwrap.shorten(example, _LONGEST_EXAMPLE, placeholder=" …"), "example")


def _example(id: str, parameters: Mapping[str, Any], convention: str) -> str:
    """The first draw of a task that writes strings, as `quickstudy sample --text` prints it; else nothing."""
    try:
        task = configure(id, catalogue.task.get(id), dict(parameters), convention)
        if not isinstance(task, ExampleTask):
            return ""
        released = getattr(task, "released", None) if convention == "published" else None
        drawn = released(0, 1) if released else task.sample(Streams(0, task.id, 0).numpy("data"), 1)
        if not drawn.sequential:
            return ""
        ids, _ = drawn.sequence(0)
        if callable(own := getattr(task, "text", None)):
            return str(own(ids))
        vocabulary = getattr(task, "vocabulary", None)
        words = getattr(task, "words", lambda ids: [vocabulary[id] for id in ids] if vocabulary else ids)
        return " ".join(map(str, words(ids)))
    except Exception:  # a task of somebody's, or one whose data are not here: the report stands without
        return ""


def _figure(table: TaskTable, marks: Marks, name: str) -> Iterator[Block]:
    """The picture of a task, by the kind of trace that its runs left; of a kind without a figure, that it has none."""
    kinds = sorted({trace.kind for row in table.rows for trace in row.traces})
    if not kinds:
        yield Text("No run left a trace that could be drawn.", "remark")
    for kind in kinds:
        if kind not in catalogue.figure:
            yield Text(f'There is no figure for traces of the kind "{kind}".', "remark")
            continue
        drawn = _drawn(kind, table.task, _traced(table.rows, marks, kind))
        yield from _prefixed(drawn or [Text(f'No trace of the kind "{kind}" could be drawn.', "remark")], name)


def _traced(rows: Sequence[Row], marks: Marks, kind: str) -> list[Traced]:
    found = [(row, [trace for trace in row.traces if trace.kind == kind]) for row in rows]
    return [Traced(row.learner, row.role, marks[row.role, row.learner], traces) for row, traces in found if traces]


def _drawn(figure: str, task: str, rows: Sequence[Traced]) -> Sequence[Block]:
    try:
        return list(catalogue.figure.get(figure)(task, rows))
    except Exception as error:  # a figure of somebody's: the report stands without, and says so
        return [Text(f'The figure "{figure}" raised {described_error(error)}.', "remark")]


def _prefixed(blocks: Sequence[Block], name: str) -> Iterator[Block]:
    """Blocks whose names, which are anchors and names of files, are no other task's."""
    for block in blocks:
        if isinstance(block, Table | Plot | HeatMap | Graph):
            yield replace(block, name=f"{name}-{block.name}" if block.name else name)
        elif isinstance(block, Section | Details):
            yield replace(block, blocks=list(_prefixed(block.blocks, name)))
        else:
            yield block


def _how_to_read(data: ReportData, marks: Marks) -> Iterator[Block]:
    yield Terms([(term, meaning, "") for term, meaning in TERMS])
    kinds = {trace.kind for table in data.tables for row in table.of_role(*LEARNING) for trace in row.traces}
    for kind in sorted(kind for kind in kinds if f"{kind}{READ}" in catalogue.figure):
        drawn = (
            _drawn(f"{kind}{READ}", table.task, _traced(table.of_role(*LEARNING), marks, kind)) for table in data.tables
        )
        yield from _prefixed(next(filter(None, drawn), []), f"read-{kind}")
    if data.measures:
        yield Section("Measures", [_measure(note) for note in data.measures])


def _measure(note: MeasureNote) -> Section:
    facts = [
        ("equation", note.equation),
        ("unit", _each(note, lambda score: score.unit)),
        ("better", _each(note, lambda score: score.better)),
        ("range", _each(note, lambda score: " to ".join(map(_bound, score.range))) if note.known else ""),
        ("chance", note.chance),
    ]
    names = ", ".join(score.name for score in note.scores)
    version = f"version {note.version}" + (f": {names}" if names != note.id else "")
    summary = note.summary if note.known else "This measure is not installed here: all that is known is in the records."
    return Section(note.id, [Text(summary), Terms([(name, said, "") for name, said in facts if said])], note=version)


def _each(note: MeasureNote, say: Callable[[Score], str]) -> str:
    """What is said of the scores of a measure: once where it is the same of all."""
    said = {score.name: say(score) for score in note.scores}
    return next(iter(said.values()), "") if len(set(said.values())) < 2 else "; ".join(map(": ".join, said.items()))


def _bound(value: float) -> str:
    return f"{value:g}" if math.isfinite(value) else "∞" if value > 0 else "−∞"


def _record(data: ReportData) -> Iterator[Block]:
    """Where, with what and how everything was run; every setting whole; every run."""
    if data.command:
        yield Text(
            "The last command that wrote this report; given again, it runs nothing twice. Runs of earlier commands "
            "in the same folder are in the report too: their settings are below."
        )
        yield Text(data.command, "command")
    yield Section("Where", [_place(number, place) for number, place in enumerate(data.places, start=1)])
    for index, table in enumerate(data.tables):
        settings: list[Block] = [Details(f"{row.learner}, {row.role}", [Stored(row.setting)]) for row in table.rows]
        runs = run_table(table, f"runs-{index}")
        every = Details(f"All runs ({len(runs.lines):,})", [runs])
        yield Section(table.task, [*settings, every], f"settings-{index}", table.convention)


def _place(number: int, place: Place) -> Section:
    facts = [
        ("runs", f"{place.runs:,}"),
        ("device", place.device),
        ("lanes", str(place.lanes)),
        ("machine", ", ".join(f"{name} {value}" for name, value in place.machine.items())),
        ("versions", ", ".join(f"{name} {value}" for name, value in place.versions.items())),
    ]
    return Section(f"Place {number}", [Terms([(name, said, "") for name, said in facts if said])])
