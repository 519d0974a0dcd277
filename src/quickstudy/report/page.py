"""The report of results folders as a page: in short, every task with its picture and tables, how to
read it, and the whole record of what was run.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from quickstudy.base.blocks import (
    LEARNER,
    PERSON,
    REPLAY,
    ROLES,
    Block,
    Details,
    Page,
    Section,
    Terms,
    Text,
)
from quickstudy.base.errors import UsageError
from quickstudy.render.html import as_html
from quickstudy.render.latex import as_latex
from quickstudy.render.terminal import as_text
from quickstudy.render.write_page import write_page
from quickstudy.report.class_chart import class_chart
from quickstudy.report.export import as_csv, facts_of
from quickstudy.report.report_data import LEARNING, ReportData, TaskTable
from quickstudy.report.sections import about, figure, how_to_read, record
from quickstudy.report.sweeps import sweep_pictures
from quickstudy.report.tables import (
    Marks,
    change_table,
    cost_table,
    failure_table,
    glance_table,
    marks_of,
    score_table,
)
from quickstudy.report.words import counted
from quickstudy.runs.folder import write_output, writing_fault

_ALL_NAMED = 4


MOST_LISTED = 5_000
"""Runs that a page lists one by one: 10,000 of them are 14 MB. More are in a file next to it."""


def report_page(data: ReportData, file: str = "") -> Page:
    """The page. Equal data give equal pages. file: the name of one with the runs that are too many
    to be listed.
    """
    marks, listed = marks_of(data), _lists_runs(data)
    blocks: list[Block] = [*(Text(note, "note") for note in data.notes), *_in_short(data, marks)]
    for index, (convention, family, members) in enumerate(_families(data)):
        questions = dict.fromkeys(table.legend.question for _, table in members)
        inside: list[Block] = [Text(question, "question") for question in questions if question]
        inside += [_task(table, number, marks) for number, table in members]
        blocks.append(Section(family, inside, f"family-{index}", convention))
    blocks += _changes(data)
    blocks.append(Section("How to read this", list(how_to_read(data, marks)), "read"))
    blocks.append(Section("The record", list(record(data, listed, file)), "record"))
    facts = facts_of(data, listed)
    return Page(_title(data), blocks, [_counts(data), *_made(data)], "quickstudy report", facts)


def _lists_runs(data: ReportData) -> bool:
    return sum(len(row.runs) for table in data.tables for row in table.rows) <= MOST_LISTED


def screen_page(data: ReportData, *, pictures: bool = False) -> Page:
    """What a terminal shows: numbers and verdicts. pictures: with the figures of every task, for a
    notebook.
    """
    marks = marks_of(data)
    above = [
        list(figure(table, marks, f"{index}-")) if pictures else []
        for index, table in enumerate(data.tables)
    ]
    blocks: list[Block] = [
        *(Text(note, "note") for note in data.notes),
        *_in_short(data, marks),
        *(
            Section(
                table.task, [*above[index], *_numbers(table, index, marks)], "", table.convention
            )
            for index, table in enumerate(data.tables)
        ),
        *_changes(data),
    ]
    return Page(_title(data), blocks, [_counts(data)], "quickstudy report")


def write_report(
    data: ReportData, target: str | pathlib.Path, *, replaces: bool = True
) -> pathlib.Path:
    """Write the page as HTML; gives its path. A reader sees the old file or the whole new one.
    More runs than a page lists are in NAME-runs.csv next to it.

    target: the file, or a folder that exists, in which it is then called report.html. replaces: any
    existing file that the user named; otherwise only a page written by quickstudy. Raises
    UsageError when the file cannot be written.
    """
    path = pathlib.Path(target)
    if path.is_dir():  # the user has not named the existing file
        path, replaces = path / "report.html", False
    if not replaces:
        check_ours(path)
    file = ""
    if not _lists_runs(data) and (path.is_file() or not path.exists()):
        file = f"{path.stem}-runs.csv"
        runs = as_csv(data).encode(errors="backslashreplace")
        write_output(path.with_name(file), lambda opened: opened.write(runs))
    page = as_html(report_page(data, file)).encode(errors="backslashreplace")
    write_output(path, lambda opened: opened.write(page))
    return path


def write_files(data: ReportData, folder: pathlib.Path) -> pathlib.Path:
    """Write the page into a folder as report.html, with a CSV file for every table and an SVG and a
    CSV file for every picture. Return its path. Raises UsageError when the folder cannot be
    written.
    """
    check_ours(folder / "report.html")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise writing_fault(error, folder) from error
    return write_page(report_page(data), folder, "report")


FORMS: Mapping[str, Callable[[ReportData], str]] = {
    "html": lambda data: as_html(report_page(data)),
    "text": lambda data: as_text(screen_page(data)),
    "csv": as_csv,
    "latex": lambda data: as_latex(report_page(data)),
}
"""The forms of a report that are text."""


def check_ours(path: pathlib.Path) -> None:
    """Raise UsageError for an existing file that does not begin like a page of quickstudy,
    whose title ends this way.
    """
    if path.is_file():
        with open(path, "rb") as file:
            ours = "· quickstudy</title>".encode() in file.read(4096)
        if not ours:
            raise UsageError(
                f"{path} exists and was not written by quickstudy; move it, or choose another file"
                " with -o"
            )


def _families(data: ReportData) -> list[tuple[str, str, list[tuple[int, TaskTable]]]]:
    """(convention, family, tables with their numbers), in order."""
    numbered = groupby(
        enumerate(data.tables), key=lambda pair: (pair[1].convention, pair[1].family)
    )
    return [(*key, list(members)) for key, members in numbered]


_NAMED = (LEARNING, (PERSON,))
"""Whom a title names: machines, and people where there are none."""


def _title(data: ReportData) -> str:
    found = [
        sorted({row.learner for table in data.tables for row in table.of_role(*roles)})
        for roles in _NAMED
    ]
    names = found[0] or found[1]
    if not names:
        return "Controls and oracles"
    if len(names) > _ALL_NAMED:
        return f"How {len(names)} learners learn"
    return (
        f"How {', '.join(names[:-1])} and {names[-1]} learn"
        if len(names) > 1
        else f"How {names[0]} learns"
    )


def _counts(data: ReportData) -> str:
    rows = [row for found in data.tables for row in found.rows]
    ok, rest = sum(len(row.finished) for row in rows), sum(len(row.unfinished) for row in rows)
    facts = [counted(len({(found.family, found.task) for found in data.tables}), "task")]
    names = {role: {row.learner for row in rows if row.role == role} for role in ROLES}
    facts += [
        counted(len(found), role) for role, found in names.items() if role not in (REPLAY, PERSON)
    ]
    # In the order of the table: after those who see every example once.
    facts[2:2] = [f"{counted(len(names[REPLAY]), LEARNER)} with replay"] if names[REPLAY] else []
    facts += [counted(len(names[PERSON]), PERSON)] if names[PERSON] else []
    facts.append(counted(ok, "finished run"))
    facts += [f"{counted(rest, 'run')} without result"] if rest else []
    facts.append(
        "convention " + " and ".join(dict.fromkeys(found.convention for found in data.tables))
    )
    return " · ".join(facts)


def _made(data: ReportData) -> Iterator[str]:
    """When, with which versions and by which command the runs were made, if known."""
    if data.days:
        made = {
            ", ".join(f"{name} {version}" for name, version in place.versions.items())
            for place in data.places
        }
        by = f" with {made.pop()}" if len(made) == 1 and made != {""} else ""
        yield f"Run {data.days}{by}"
    if data.command:
        yield data.command


def _in_short(data: ReportData, marks: Marks) -> Iterator[Block]:
    """The headline of every learner on every task, and a sentence for each task; nothing where
    there is one task.
    """
    if len(data.tables) < 2:
        return
    tables: list[Block] = [
        glance_table([table for _, table in members], marks, f"glance-{index}")
        for index, (*_, members) in enumerate(_families(data))
        if len(members) > 1
    ]
    several = len({table.convention for table in data.tables}) > 1
    said = [
        (
            f"{table.task}, {table.convention}" if several else table.task,
            table.verdict.short,
            f"task-{number}",
        )
        for number, table in enumerate(data.tables)
    ]
    yield Section("In short", [*tables, Terms(said)], "short", listed=False)


def _task(table: TaskTable, number: int, marks: Marks) -> Section:
    numbers = _numbers(table, number, marks)
    pictures = [
        *sweep_pictures(table, f"sweep-{number}"),
        *figure(table, marks, f"figure-{number}"),
        *class_chart(table, marks, f"class-{number}"),
    ]
    blocks = [*about(table), numbers[0], *pictures, *numbers[1:]]
    return Section(table.task, blocks, f"task-{number}", table.convention)


def _numbers(table: TaskTable, number: int, marks: Marks) -> list[Block]:
    """The verdict first, then the tables of a task."""
    cost, failures = (
        cost_table(table, marks, f"cost-{number}"),
        failure_table(table, f"failures-{number}"),
    )
    return [
        Text(table.verdict.text, "verdict"),
        score_table(table, marks, f"scores-{number}"),
        *(Text(remark, "remark") for remark in table.verdict.remarks),
        *([Details("What it cost", [cost], open=True)] if cost else []),
        *([failures] if failures else []),
    ]


def _changes(data: ReportData) -> Iterator[Block]:
    if data.changes:
        tables = [
            change_table(change, f"change-{index}") for index, change in enumerate(data.changes)
        ]
        yield Section("What the convention changes", tables, "changes")
