"""A static leaderboard from any number of results folders. What cannot be compared is refused, not
mixed.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from quickstudy.base.blocks import (
    CONTROL,
    HALF,
    ORACLE,
    REPLAY,
    Block,
    Cell,
    Column,
    Group,
    Line,
    Name,
    Number,
    Page,
    Section,
    Table,
    Terms,
    Text,
)
from quickstudy.base.errors import UsageError
from quickstudy.base.record import OK, Record
from quickstudy.pages.profile.index import card_name, one_ruleset
from quickstudy.pages.profile.overview import overview, profiles_in, span_table
from quickstudy.pages.profile.spans import Profile
from quickstudy.pages.table_helpers import EMPTY
from quickstudy.render.numbers import HALVES
from quickstudy.render.write_page import write_page
from quickstudy.report.build import build_report, days_of, gather
from quickstudy.report.compare import folders_in
from quickstudy.report.page import check_ours, write_report
from quickstudy.report.report_data import LEARNING, Row, TaskTable
from quickstudy.report.statistics import Contrast, scaled_mean
from quickstudy.report.words import counted, listing
from quickstudy.runs.folder import make_folder, write_output
from quickstudy.runs.grouping import label_of, version_of
from quickstudy.runs.results import ResultsTable, Values, merge_tables, read_folders

INDEX = "index"


def write_site(
    folders: Sequence[str | pathlib.Path], out: str | pathlib.Path, command: str = ""
) -> pathlib.Path:
    """Write a leaderboard of some folders, the report of each of them and the cards that lie in
    them; gives the path of its first page. A folder without runs is replaced by the folders inside
    it that have runs.

    Raises UsageError where runs of several versions, conventions or rulesets would stand side by
    side, and where there are none.
    """
    places = list(
        dict.fromkeys(inside for one in folders for inside in folders_in(pathlib.Path(one)))
    )
    tables = {place: read_folders([place]) for place in places}
    results = merge_tables(list(tables.values()))
    ruleset = _check(results, places)
    target = pathlib.Path(out)
    check_ours(target / f"{INDEX}.html")
    make_folder(target)
    copied = list(_copied(tables, target, command))
    cards = {place: _profiled(place, copied) for place in places}
    page = site_page(
        results, ruleset, copied, {place: own for place, own in cards.items() if own[0]}, command
    )
    return write_page(page, target, INDEX)


def _profiled(place: pathlib.Path, copied: Sequence[Copied]) -> Cards:
    """The learners with cards in a folder, and the page of each."""
    files = {one.card: one.file for one in copied if one.place == place and one.card}
    found = profiles_in(place)
    return found, {
        one.learner: file for one in found if (file := files.get(card_name(one.learner)))
    }


def site_page(
    results: ResultsTable,
    ruleset: str,
    copied: Sequence[Copied],
    cards: Mapping[pathlib.Path, Cards],
    command: str = "",
) -> Page:
    """The leaderboard: an overview of every folder of cards, and a table a family of all other
    tasks.
    """
    records = list(results.records.values())
    tables = build_report(results, traces=False).tables
    learners = {row.learner for table in tables for row in table.of_role(*LEARNING)}
    tasks = len(tables)
    items = {
        str(item.subject["task"]["id"])
        for found, _ in cards.values()
        for one in found
        for item in one.items
        if not item.why
    }
    others = [
        table for table in tables if table.task.partition(":")[0].partition(" ")[0] not in items
    ]
    families = list(dict.fromkeys(table.family for table in others))
    boards = [
        _board(family, [table for table in others if table.family == family]) for family in families
    ]
    overviews = [
        Section(
            f"Profiles in {place.name}",
            overview(found, f"cards-{number}", files),
            f"profiles-{number}",
        )
        for number, (place, (found, files)) in enumerate(cards.items())
    ]
    scaled = [
        Text(
            "scaled: 0 at the best control of a task, 1 at its oracle. A family's number is the"
            " mean over its tasks. Only those who have a place on all tasks of a table are ranked;"
            " the others are below, with how many they have."
        )
    ]
    blocks: list[Block] = [
        *overviews,
        *(scaled if boards else []),
        *(
            Section(family, [board], f"family-{family}")
            for family, board in zip(families, boards, strict=True)
        ),
        Section("Pages", [Terms([(one.name, "", one.file) for one in copied])], "pages"),
    ]
    if command:
        blocks += [Text("The command that made this site:"), Text(command, "command")]
    finished = [one for one in records if one.status == OK]
    under = [
        (
            f"{counted(len(finished), 'finished run')} of {counted(len(learners), 'learner')} on "
            f"{counted(tasks, 'task')}, ruleset “{ruleset}”"
        ),
        *([f"made {days} (UTC)"] if (days := days_of(records)) else []),
    ]
    facts = {
        family: [list(map(_plain, line.cells)) for line in board.lines]
        for family, board in zip(families, boards, strict=True)
    }
    profiles = {place.name: span_table(found) for place, (found, _) in cards.items()}
    whole = {"ruleset": ruleset, "families": facts, "profiles": profiles}
    return Page("Leaderboard", blocks, under, "quickstudy site", whole)


def _plain(cell: Cell) -> Any:
    return (
        cell.value
        if isinstance(cell, Number)
        else cell.text
        if isinstance(cell, Name)
        else str(cell)
    )


def _board(family: str, tables: Sequence[TaskTable]) -> Table:
    """Learners by tasks, best first; those with replay on some task in a group of their own."""
    scaled = [
        table
        for table in tables
        if any(row.scaled.value is not None for row in table.of_role(*LEARNING))
    ]
    learners = dict.fromkeys(row.learner for table in tables for row in table.of_role(*LEARNING))
    found = []
    for learner in learners:
        rows = [table.row(learner, *LEARNING) for table in tables]
        own = [
            _sample(table, row) for table, row in zip(tables, rows, strict=True) if row is not None
        ]
        known = [one for one in own if one is not None]
        number = scaled_mean(known) if known else Contrast(None, reason="no task has a scale")
        replay = any(row is not None and row.role == REPLAY for row in rows)
        found.append((replay, len(known), number, learner, rows))
    # A learner that lacks a task is not ranked with those that have them all.
    found.sort(
        key=lambda one: (-one[1], -(one[2].value if one[2].value is not None else -9e9), one[3])
    )
    groups: dict[bool, list[Line]] = {}
    for replay, count, number, learner, rows in sorted(found, key=lambda one: one[0]):
        cells = [
            (
                EMPTY
                if row is None
                else Number(row.scaled.value, row.scaled.interval, note=_failed(row))
            )
            for row in rows
        ]
        share = "" if count == len(scaled) else f"{count} of {len(scaled)} tasks"
        overall = Number(number.value, number.interval, strong=not share, note=share)
        groups.setdefault(replay, []).append(
            Line([Name(learner, note="replay" if replay else ""), overall, *cells])
        )
    without = [table.task for table in tables if table not in scaled]
    caption = f"{family}: scaled, {HALVES}, over seeds"
    caption += f". Without a scale: {listing(without)}" if without else ""
    scores = ["all tasks", *(table.task for table in tables)]
    if len(groups) > 1:
        caption += ". Learners with replay are ranked apart from those that see every example once"
    titles = {False: "", True: "With replay"}
    columns = [Column("learner"), *(Column(title, "higher", numeric=True) for title in scores)]
    made = [Group(lines, titles[replay]) for replay, lines in groups.items()]
    return Table(f"board-{family}", caption, columns, made, HALF, paper=True)


def _sample(table: TaskTable, row: Row) -> tuple[Values, Values, Values, Any] | None:
    if row.scaled.value is None:
        return None
    control, oracle = table.end(CONTROL), table.end(ORACLE)
    if control is None or oracle is None:
        return None
    own, floor, ceiling = (one.values(table.headline or "") for one in (row, control, oracle))
    return own, floor, ceiling, table.judged


def _failed(row: Row) -> str:
    """A note on what is missing, next to the number or in its place."""
    if not row.unfinished:
        return "" if row.scaled.value is not None else row.scaled.reason
    return f"{counted(len(row.unfinished), 'run')} {row.unfinished[0].status}"


def _check(results: ResultsTable, places: Sequence[pathlib.Path]) -> str:
    """The ruleset of all folders. Raises UsageError for what cannot stand side by side."""
    records = list(results.records.values())
    if not records:
        raise UsageError(
            f"no runs in {', '.join(map(str, places))}; run something there first, or name another"
            " folder"
        )
    _one("conventions", {str(one.what.get("convention")) for one in records}, "make a site of each")
    ruleset = one_ruleset(places, "make a site of each")
    for what, versions in _versions(records).items():
        _one(
            f"versions of {what}",
            versions,
            "give only folders of one, or drop the older by `quickstudy forget`",
        )
    return ruleset


def _one(what: str, found: set[str], hint: str) -> None:
    if len(found) > 1:
        raise UsageError(
            f"several {what} do not stand side by side: {', '.join(sorted(found))}; {hint}"
        )


def _versions(records: Sequence[Record]) -> dict[str, set[str]]:
    """The versions, and code, of every task, protocol, learner and measure."""
    found: dict[str, set[str]] = {}
    for record in records:
        for part in ("task", "protocol", "learner"):
            id = str(record.part(part).get("id", label_of(record, part)))
            found.setdefault(f"{part} {id}", set()).add(version_of(record, part))
        for id, entry in record.scores.items():
            found.setdefault(f"measure {id}", set()).add(str(entry.get("version", 1)))
    return found


class Copied(NamedTuple):
    """A page of the site. card: the stem of a card's file, or nothing."""

    place: pathlib.Path
    name: str
    file: str
    card: str = ""


Cards = tuple[Sequence[Profile], Mapping[str, str]]
"""Learners with a card, and by their name the page of it."""


def _copied(
    tables: Mapping[pathlib.Path, ResultsTable], target: pathlib.Path, command: str
) -> Iterator[Copied]:
    """Reports of all folders and cards that lie in them, written into the site."""
    for number, (place, table) in enumerate(tables.items()):
        name = f"report-{number}.html"
        write_report(gather(table if table.records else [place], command or None), target / name)
        yield Copied(place, f"all runs of {place.name or place}", name)
        for card in sorted(place.glob("card-*.html")):
            content = card.read_bytes()
            file = f"{number}-{card.name}"
            write_output(target / file, lambda opened, content=content: opened.write(content))  # type: ignore[misc]
            yield Copied(
                place, f"{card.stem.removeprefix('card-')} in {place.name}", file, card.stem
            )
