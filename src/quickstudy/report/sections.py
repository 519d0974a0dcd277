"""What stands around the numbers of a report: what a task asks, its picture, how to read it all,
and the record.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from quickstudy.base import blocks, registries
from quickstudy.base.blocks import Block, Details, Section, Stored, Terms, Text, Traced
from quickstudy.base.measure import Score
from quickstudy.base.parameters import parameters_of
from quickstudy.base.seeds import Streams
from quickstudy.base.task import ExampleTask
from quickstudy.base.text import described
from quickstudy.report.report_data import LEARNING, MeasureNote, Place, ReportData, Row, TaskTable
from quickstudy.report.tables import Marks, run_table
from quickstudy.report.words import TERMS

_LONGEST_EXAMPLE, _END_OF_EXAMPLE = 240, 40
"""Letters of an example that are shown, and those of its end, where the question stands, if that is
not all of it.
"""
_READ = "/read"
"""Behind a kind of trace: the figure that explains how scores are read off such a trace."""


def about(table: TaskTable) -> Iterator[Block]:
    """What the task asks, how much there was of it, and one example, where the very task is
    installed.
    """
    task = table.rows[0].setting.get("task")
    said = task if isinstance(task, Mapping) else {}  # a record from elsewhere may say anything
    id = f"{said.get('id', '')}@{said.get('version', '')}"
    summary = registries.task.find(id).summary if id in registries.task else ""
    if summary or table.material:
        yield Text(" ".join(filter(None, (summary, table.material))), "question")
    if summary and (example := _example(id, said.get("parameters"), table.convention)):
        yield Text(_shortened(example), "example")


def _shortened(example: str) -> str:
    if len(example) <= _LONGEST_EXAMPLE:
        return example
    end = example[-_END_OF_EXAMPLE:].partition(" ")[2]
    return f"{textwrap.shorten(example, _LONGEST_EXAMPLE - len(end) - 1, placeholder=' …')} {end}"


def _example(id: str, parameters: Any, convention: str) -> str:
    """The first draw of a task that writes strings, as `quickstudy sample --text` prints it; else
    nothing.

    Only for a task with its defaults: a sample with parameters from a user's record may fill the
    memory.
    """
    try:
        task = registries.typed_task(id, convention)
        # One on data of elsewhere (`ready`) would read them all, and make a vocabulary of them, for
        # a line.
        if (
            not isinstance(task, ExampleTask)
            or parameters_of(task) != parameters
            or hasattr(task, "ready")
        ):
            return ""
        released = getattr(task, "released", None) if convention == "published" else None
        drawn = (
            released(0, 1)
            if released
            else task.sample(Streams(0, id.partition("@")[0], 0).numpy("data"), 1)
        )
        if not drawn.sequential:
            return ""
        ids, _ = drawn.sequence(0)
        if callable(own := getattr(task, "text", None)):
            return str(own(ids))
        vocabulary = getattr(task, "vocabulary", None)
        words = getattr(
            task, "words", lambda ids: [vocabulary[id] for id in ids] if vocabulary else ids
        )
        return " ".join(map(str, words(ids)))
    except (
        Exception
    ):  # a task of the user's, or one whose data are not here: the report leaves it out
        return ""


def figure(table: TaskTable, marks: Marks, name: str) -> Iterator[Block]:
    """The picture of a task, by the kind of trace that its runs left; of a kind without a figure,
    that it has none.
    """
    kinds = sorted({trace.kind for row in table.rows for trace in row.traces})
    if not kinds:
        yield Text("No run left a trace that could be drawn.", "remark")
    for kind in kinds:
        if kind not in registries.figure:
            yield Text(f'There is no figure for traces of the kind "{kind}".', "remark")
            continue
        drawn = _drawn(kind, table.task, _traced(table.rows, marks, kind))
        yield from _prefixed(
            drawn or [Text(f'No trace of the kind "{kind}" could be drawn.', "remark")], name
        )


def _traced(rows: Sequence[Row], marks: Marks, kind: str) -> list[Traced]:
    found = [(row, [trace for trace in row.traces if trace.kind == kind]) for row in rows]
    return [
        Traced(row.learner, row.role, marks[row.role, row.learner], traces)
        for row, traces in found
        if traces
    ]


def _drawn(figure: str, task: str, rows: Sequence[Traced]) -> Sequence[Block]:
    try:
        return list(registries.figure.get(figure)(task, rows))
    except Exception as error:  # a figure of the user's: the report leaves it out, with a note
        return [Text(f'The figure "{figure}" raised {described(error)}.', "remark")]


def _prefixed(parts: Sequence[Block], name: str) -> Iterator[Block]:
    """Blocks with unique names, which are anchors and names of files."""
    for block in parts:
        if isinstance(block, blocks.Table | blocks.Picture):
            yield replace(block, name=f"{name}-{block.name}" if block.name else name)
        elif isinstance(block, Section | Details):
            yield replace(block, blocks=list(_prefixed(block.blocks, name)))
        else:
            yield block


def how_to_read(data: ReportData, marks: Marks) -> Iterator[Block]:
    """What the words mean, how scores are read off a trace, and every measure with its equation,
    unit and range.
    """
    yield _terms(TERMS)
    kinds = {
        trace.kind
        for table in data.tables
        for row in table.of_role(*LEARNING)
        for trace in row.traces
    }
    for kind in sorted(kind for kind in kinds if f"{kind}{_READ}" in registries.figure):
        drawn = (
            _drawn(f"{kind}{_READ}", table.task, _traced(table.of_role(*LEARNING), marks, kind))
            for table in data.tables
        )
        yield from _prefixed(next(filter(None, drawn), []), f"read-{kind}")
    if data.measures:
        yield Section("Measures", [_measure(note) for note in data.measures])


def _measure(note: MeasureNote) -> Section:
    facts = [
        ("equation", note.equation),
        ("unit", _each(note, lambda score: score.unit)),
        ("better", _each(note, lambda score: score.better)),
        (
            "range",
            _each(note, lambda score: " to ".join(map(_bound, score.range))) if note.known else "",
        ),
        ("chance", note.chance),
    ]
    names = ", ".join(score.name for score in note.scores)
    version = f"version {note.version}" + (f": {names}" if names != note.id else "")
    summary = (
        note.summary
        if note.known
        else "This measure is not installed here: all that is known is in the records."
    )
    return Section(note.id, [Text(summary), _terms(facts)], note=version)


def _terms(facts: Iterable[tuple[str, str]]) -> Terms:
    return Terms([(name, said, "") for name, said in facts if said])


def _each(note: MeasureNote, say: Callable[[Score], str]) -> str:
    """The description of the scores of a measure: once if it is the same for all."""
    said = {score.name: say(score) for score in note.scores}
    return (
        next(iter(said.values()), "")
        if len(set(said.values())) < 2
        else "; ".join(map(": ".join, said.items()))
    )


def _bound(value: float) -> str:
    return f"{value:g}" if math.isfinite(value) else "∞" if value > 0 else "−∞"


def record(data: ReportData, listed: bool = True, file: str = "") -> Iterator[Block]:
    """Where, with what and how everything was run; every setting whole; every run, if `listed`.
    file: next to the page, with the runs that it does not list.
    """
    if data.command:
        yield Text(
            "The last command that wrote this report; given again, it runs nothing twice. Runs of"
            " earlier commands in the same folder are in the report too: their settings are below."
        )
        yield Text(data.command, "command")
    yield where(data.places)
    for index, table in enumerate(data.tables):
        settings: list[Block] = [
            Details(f"{row.learner}, {row.role}", [Stored(row.setting)]) for row in table.rows
        ]
        if listed:
            runs = run_table(table, f"runs-{index}")
            settings.append(Details(f"All runs ({len(runs.lines):,})", [runs]))
        yield Section(table.task, settings, f"settings-{index}", table.convention)
    if not listed:
        yield Text(
            "The runs are too many to list on a page. This lists them:"
            " quickstudy report FOLDER --format csv"
        )
        if file:
            yield Terms([(file, "all runs, one a row", file)])


def where(places: Sequence[Place]) -> Section:
    """Where runs were made, and with what."""
    return Section("Where", [_place(number, place) for number, place in enumerate(places, start=1)])


def _place(number: int, place: Place) -> Section:
    facts = [
        ("runs", f"{place.runs:,}"),
        ("device", place.device),
        ("lanes", str(place.lanes)),
        ("machine", ", ".join(f"{name} {value}" for name, value in place.machine.items())),
        ("versions", ", ".join(f"{name} {value}" for name, value in place.versions.items())),
    ]
    return Section(f"Place {number}", [_terms(facts)])
