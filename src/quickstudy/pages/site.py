"""A static leaderboard from any number of results folders. What cannot be compared is refused, not mixed."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

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
from quickstudy.pages.cells import EMPTY
from quickstudy.pages.profile.index import one_ruleset, read_index
from quickstudy.render.files import write_page
from quickstudy.report.build import build_report, days_of, gather
from quickstudy.report.compare import folders_in
from quickstudy.report.model import LEARNING, Row, TaskTable
from quickstudy.report.page import check_ours, write_report
from quickstudy.report.results import Merged, read_folders
from quickstudy.report.statistics import Contrast, Values, scaled_mean
from quickstudy.report.words import counted, listing
from quickstudy.runs.folder import make_folder, write_output
from quickstudy.runs.identity import label_of, version_of

INDEX = "index"


def write_site(folders: Sequence[str | pathlib.Path], out: str | pathlib.Path, command: str = "") -> pathlib.Path:
    """Write a leaderboard of some folders, the report of each of them and the cards that lie in them; gives the path of
    its first page. A folder that holds no runs stands for those inside it that do.

    Raises UsageError where runs of several versions, conventions or rulesets would stand side by side, and where there
    are none.
    """
    places = list(dict.fromkeys(inside for one in folders for inside in folders_in(pathlib.Path(one))))
    merged = read_folders(places)
    ruleset = _check(merged, places)
    target = pathlib.Path(out)
    check_ours(target / f"{INDEX}.html")
    make_folder(target)
    links = dict(_copied(places, target, command))
    page = site_page(merged, ruleset, links, command)
    return write_page(page, target, INDEX)


def site_page(merged: Merged, ruleset: str, links: Mapping[str, str], command: str = "") -> Page:
    """The leaderboard: one table a family. links: words and the file that they lead to."""
    records = list(merged.records.values())
    tables = build_report([replace(one, trace={}) for one in records], merged.trace).tables
    families = list(dict.fromkeys(table.family for table in tables))
    boards = [_board(family, [table for table in tables if table.family == family]) for family in families]
    blocks: list[Block] = [
        Text(
            "scaled: 0 at the best control of a task, 1 at its oracle. A family's number is the mean over its tasks. "
            "Only those who have a place on all tasks of a table are ranked; the others are below, with how many "
            "they have."
        ),
        *(Section(family, [board], f"family-{family}") for family, board in zip(families, boards, strict=True)),
        Section("Pages", [Terms([(name, "", file) for name, file in links.items()])], "pages"),
    ]
    if command:
        blocks += [Text("The command that made this site:"), Text(command, "command")]
    learners = {row.learner for table in tables for row in table.of_role(*LEARNING)}
    finished = [one for one in records if one.status == OK]
    under = [
        f"{counted(len(finished), 'finished run')} of {counted(len(learners), 'learner')} on "
        f"{counted(len(tables), 'task')}, ruleset “{ruleset}”",
        *([f"made {days} (UTC)"] if (days := days_of(records)) else []),
    ]
    facts = {family: [list(map(_plain, line.cells)) for line in board.lines]
             for family, board in zip(families, boards, strict=True)}  # fmt: skip
    return Page("Leaderboard", blocks, under, "quickstudy site", {"ruleset": ruleset, "families": facts})


def _plain(cell: Cell) -> Any:
    return cell.value if isinstance(cell, Number) else cell.text if isinstance(cell, Name) else str(cell)


def _board(family: str, tables: Sequence[TaskTable]) -> Table:
    """Learners by tasks, best first; those with replay on some task in a group of their own."""
    scaled = [table for table in tables if any(row.scaled.value is not None for row in table.of_role(*LEARNING))]
    learners = dict.fromkeys(row.learner for table in tables for row in table.of_role(*LEARNING))
    found = []
    for learner in learners:
        rows = [table.row(learner, *LEARNING) for table in tables]
        own = [_sample(table, row) for table, row in zip(tables, rows, strict=True) if row is not None]
        known = [one for one in own if one is not None]
        number = scaled_mean(known) if known else Contrast(None, reason="no task has a scale")
        replay = any(row is not None and row.role == REPLAY for row in rows)
        found.append((replay, len(known), number, learner, rows))
    # A learner that lacks a task is not ranked with those that have them all.
    found.sort(key=lambda one: (-one[1], -(one[2].value if one[2].value is not None else -9e9), one[3]))
    groups: dict[bool, list[Line]] = {}
    for replay, count, number, learner, rows in sorted(found, key=lambda one: one[0]):
        cells = [
            EMPTY if row is None else Number(row.scaled.value, row.scaled.interval, note=_failed(row)) for row in rows
        ]
        share = "" if count == len(scaled) else f"{count} of {len(scaled)} tasks"
        overall = Number(number.value, number.interval, strong=not share, note=share)
        groups.setdefault(replay, []).append(Line([Name(learner, note="replay" if replay else ""), overall, *cells]))
    without = [table.task for table in tables if table not in scaled]
    caption = f"{family}: scaled, ± half the 95 % interval over seeds"
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
    """What is not there, beside the number or in its place."""
    if not row.unfinished:
        return "" if row.scaled.value is not None else row.scaled.reason
    return f"{counted(len(row.unfinished), 'run')} {row.unfinished[0].status}"


def _check(merged: Merged, places: Sequence[pathlib.Path]) -> str:
    """The ruleset of all folders. Raises UsageError for what cannot stand side by side."""
    records = list(merged.records.values())
    if not records:
        raise UsageError(f"no runs in {', '.join(map(str, places))}; run something there first, or name another folder")
    _one("conventions", {str(one.what.get("convention")) for one in records}, "make a site of each")
    ruleset = one_ruleset(places, "make a site of each")
    budgets: dict[str, set[str]] = {}
    for index in filter(None, map(read_index, places)):
        budgets.setdefault(index["study"], set()).add(str(index["version"]))
    for study, versions in budgets.items():
        _one(f"versions of {study}", versions, "run the older again")
    for what, versions in _versions(records).items():
        _one(f"versions of {what}", versions, "give only folders of one, or drop the older by `quickstudy forget`")
    return ruleset


def _one(what: str, found: set[str], hint: str) -> None:
    if len(found) > 1:
        raise UsageError(f"several {what} do not stand side by side: {', '.join(sorted(found))}; {hint}")


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


def _copied(places: Sequence[pathlib.Path], target: pathlib.Path, command: str) -> Iterator[tuple[str, str]]:
    """Reports of all folders and cards that lie in them, written into the site: words and file of each."""
    for number, place in enumerate(places):
        name = f"report-{number}.html"
        write_report(gather([place], command or None), target / name)
        yield f"all runs of {place.name or place}", name
        for card in sorted(place.glob("card-*.html")):
            content = card.read_bytes()
            file = f"{number}-{card.name}"
            write_output(target / file, lambda opened, content=content: opened.write(content))  # type: ignore[misc]
            yield f"{card.stem.removeprefix('card-')} in {place.name}", file
