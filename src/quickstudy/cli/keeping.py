"""`quickstudy doctor`, `pack` and `query`: look after results folders."""

from __future__ import annotations

import pathlib

import typer

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


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    app.command("doctor")(doctor)
    app.command("pack")(pack)
    app.command("query")(query)


def doctor(
    folder: pathlib.Path | None = typer.Argument(None, help="A results folder; without it, the installation."),
    repair: bool = typer.Option(True, help="Repair what can be repaired; damaged lines are kept in damaged/."),
    json: bool = JSON,
) -> None:
    """Say what is wrong with a results folder and repair it, or describe the installation."""
    if folder is None:
        _installation(json)
        return
    from quickstudy.runs.doctor import examine_folder
    from quickstudy.runs.doctor import repair as repair_folder

    damage = [str(found) for found in examine_folder(folder)]
    done = repair_folder(folder) if repair else []
    if json:
        print_json({"damage": damage, "repaired": done})
    else:
        for line in [*damage, *done]:
            say(line)
        if not damage and not done:
            say(f"{folder} is sound")
    raise typer.Exit(1 if damage and not repair else 0)


def pack(
    folder: pathlib.Path = typer.Argument(..., help="A results folder."),
    out: pathlib.Path | None = typer.Option(None, "--out", "-o", help="The file; default FOLDER.zip."),
) -> None:
    """Make one file of a results folder."""
    from quickstudy.runs.pack import pack as pack_folder

    check_target(out)
    say(str(pack_folder(folder, out)))


def query(
    folder: pathlib.Path = typer.Argument(..., help="A results folder."),
    sql: str = typer.Argument(..., help="SQL over the views runs, scores, traces and curves."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Ask a results folder in SQL (DuckDB)."""
    from quickstudy.runs.seal import query as ask

    include_files(include)
    columns, rows, left_out = ask(folder, sql)
    say_left_out(left_out, folder)
    if json:
        print_lines([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table([columns, *[[str(value) for value in row] for row in rows]])


def _installation(json: bool) -> None:
    import dataclasses

    from quickstudy.runs.installation import examine_installation

    found = examine_installation()
    if json:
        print_json(dataclasses.asdict(found))
    else:
        for line in found.lines():
            say(line)
