"""`quickstudy doctor`, `forget`, `pack` and `query`: look after results folders."""

from __future__ import annotations

import decimal
import pathlib
from typing import TYPE_CHECKING, Any

import typer

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.cli.output import (
    INCLUDE,
    JSON,
    check_target,
    include_files,
    print_json,
    print_lines,
    print_table,
    say,
    say_left_out,
)

if TYPE_CHECKING:
    from quickstudy.runs.scoring import Compared


def doctor(
    folder: pathlib.Path | None = typer.Argument(
        None, help="A results folder; without it, the installation."
    ),
    repair: bool = typer.Option(
        True, help="Repair the folder; damaged lines are kept in damaged/."
    ),
    scores: bool = typer.Option(
        False,
        "--scores",
        help="Also recompute every score from its trace and report differences.",
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Check a results folder and repair it, or describe the installation."""
    include_files(include)
    if folder is None:
        _installation(json)
        return
    from quickstudy.runs.doctor import examine_folder
    from quickstudy.runs.doctor import repair as repair_folder
    from quickstudy.runs.merge import read_results
    from quickstudy.runs.provenance import compiled_on
    from quickstudy.runs.scoring import compare_scores

    damage = [str(found) for found in examine_folder(folder)]
    if not json:
        for line in damage:  # before anything is done: on a full disk nothing can be
            say(line)
    try:
        done = repair_folder(folder) if repair else []
    except QuickstudyError:
        if json:
            print_json({"damage": damage, "repaired": []})
        raise
    compared = compare_scores(folder) if scores else None
    records = read_results(folder).records
    compiled = compiled_on(records.values())
    if json:
        more: dict[str, Any] = {"scores": compared._asdict()} if compared else {}
        more |= {"programs": compiled} if compiled else {}
        print_json({"damage": damage, "repaired": done, **more})
    else:
        for line in done:
            say(line)
        if not damage and not done:
            # The number, because runs whose journal was deleted are not missed by themselves.
            say(f"{folder} is sound: {len(records):,} {'run' if len(records) == 1 else 'runs'}")
        for host, counts in sorted(compiled.items()):
            say(
                f"programs on {host}: {counts['hits']} found in the cache, {counts['misses']}"
                " compiled"
            )
        if compared:
            _say_compared(compared)
    differ = compared is not None and compared.differences
    raise typer.Exit(1 if (damage and not repair) or differ else 0)


def _say_compared(compared: Compared) -> None:
    for line in compared.differences:
        say(line)
    more = f"; {compared.skipped} not computed: of another version" if compared.skipped else ""
    count = f"{len(compared.differences)} differ" if compared.differences else "none differs"
    say(f"{compared.equal} scores are those of their traces, {count}{more}")


def forget(
    folder: pathlib.Path = typer.Argument(..., help="A results folder."),
    task: list[str] = typer.Option(
        [], "--task", help="Runs on this task; patterns such as 'language/*'."
    ),
    learner: list[str] = typer.Option(
        [], "--learner", help="Runs of this learner, as typed or as the report prints it."
    ),
    status: list[str] = typer.Option(
        [], "--status", help="Runs with this status: ok, failed or not-applicable."
    ),
    old: bool = typer.Option(
        False, "--old", help="Runs of old versions that have a run of a later version."
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Print which runs would move, and do nothing."
    ),
    json: bool = JSON,
) -> None:
    """Move the runs that match every option given into FOLDER/forgotten. Nothing is deleted."""
    from collections import Counter

    from quickstudy.runs.archive import forget as put_aside
    from quickstudy.runs.grouping import Selection, outdated, task_groups
    from quickstudy.runs.merge import read_results

    if not (task or learner or status or old):
        raise UsageError(
            "nothing is named to be forgotten; give --task, --learner, --status or --old"
        )
    records = list(read_results(folder, expected=True).records.values())
    meant = {record.key for record in Selection(task, learner, status).of(records)}
    if old:
        meant &= {record.key for record in outdated(records)}
    counts = Counter(
        (task_group.title, task_group.convention, group.title, record.status)
        for task_group in task_groups(records)
        for group in task_group.learners
        for record in group.records
        if record.key in meant
    )
    place = put_aside(folder, meant) if meant and not dry_run else None
    if json:
        print_json({"runs": len(meant), "folder": str(place or "")})
        return
    print_table(
        [
            (f"{number} {found[3]}", f"{found[0]} ({found[1]})", found[2])
            for found, number in counts.items()
        ]
    )
    counted = f"{len(meant)} run{'' if len(meant) == 1 else 's'}"
    say(
        f"{counted} put aside into {place}"
        if place
        else f"{counted} would be put aside"
        if meant
        else "none fits"
    )


def pack(
    folder: pathlib.Path = typer.Argument(..., help="A results folder."),
    out: pathlib.Path | None = typer.Option(
        None, "--out", "-o", help="The file; default FOLDER.zip."
    ),
) -> None:
    """Pack a results folder into one file."""
    from quickstudy.runs.archive import pack as pack_folder

    check_target(out)
    say(str(pack_folder(folder, out)))


def query(
    folder: pathlib.Path = typer.Argument(..., help="A results folder."),
    sql: str = typer.Argument(..., help="SQL over the views runs, scores, traces and curves."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Query a results folder in SQL (DuckDB)."""
    from quickstudy.runs.sql import asks_for_traces
    from quickstudy.runs.sql import query as ask

    include_files(include)
    columns, rows, left_out = ask(folder, sql)
    say_left_out(left_out, folder, "lines or traces" if asks_for_traces(sql) else "lines")
    if json:
        print_lines([dict(zip(columns, map(_told, row), strict=True)) for row in rows])
    else:
        print_table([columns, *[[str(value) for value in row] for row in rows]])


def _told(value: Any) -> Any:
    """A value of SQL in types of JSON: a decimal is a number, bytes are hexadecimal, times and all
    else are text.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, dict):
        return {str(name): _told(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_told(part) for part in value]
    if isinstance(value, decimal.Decimal):
        return float(value)
    return value.hex() if isinstance(value, bytes) else str(value)


def _installation(json: bool) -> None:
    import dataclasses

    from quickstudy.runs.provenance import examine_installation

    found = examine_installation()
    if json:
        print_json(dataclasses.asdict(found))
    else:
        for line in found.lines():
            say(line)
