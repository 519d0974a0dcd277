"""`quickstudy report`: tables and the offline page."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import (
    INCLUDE,
    JSON,
    TRACEBACK,
    check_target,
    include_files,
    print_exactly,
    print_json,
    print_tracebacks,
    say,
    say_left_out,
)


def report(
    folders: list[pathlib.Path] = typer.Argument(
        ..., help="Results folders; the runs of several are merged."
    ),
    out: pathlib.Path | None = typer.Option(
        None,
        "--out",
        "-o",
        help="File to write; default FOLDER/report.html. With --format files: FOLDER/report.",
    ),
    format: str = typer.Option(
        "html", "--format", help="html, text, csv, latex, or files: all tables and pictures."
    ),
    task: list[str] = typer.Option(
        [], "--task", help="Only this task; patterns such as 'language/*'."
    ),
    learner: list[str] = typer.Option(
        [], "--learner", help="Only this learner, and the controls; patterns too."
    ),
    latest: bool = typer.Option(
        False, "--latest", help="Only the latest version of each task, learner and protocol."
    ),
    traceback: bool = TRACEBACK,
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Make a report of results: an offline page, or text, CSV, LaTeX, JSON, or a file for every
    table and picture.
    """
    from quickstudy.base.errors import UsageError, nearest
    from quickstudy.pages.profile.index import one_ruleset
    from quickstudy.report.build import gather
    from quickstudy.report.export import as_json
    from quickstudy.report.page import FORMS, write_files, write_report
    from quickstudy.runs.folder import write_output
    from quickstudy.runs.grouping import shown
    from quickstudy.runs.results import read_folders

    if format not in (known := [*FORMS, "files"]):
        raise UsageError(f'no format "{format}"; {nearest(format, known)}')
    check_target(out)
    include_files(include)
    one_ruleset(folders, "make a report of each")
    results = read_folders(folders)
    if task or learner or latest:
        found = shown(list(results.records.values()), task, learner, latest)
        if not found:
            raise UsageError("no run fits --task and --learner; without them the report names all")
        results = results.only({record.key for record in found})
    for folder in folders:
        say_left_out(sum(place == folder for place, _ in results.damage), folder)
    if traceback:
        print_tracebacks(results.records.values())
    data = gather(results if results.records else folders)
    if json:
        print_json(as_json(data))
    elif format == "html":
        target = folders[0] / "report.html" if out is None else out
        say(f"Report: {write_report(data, target, replaces=out is not None)}")
    elif format == "files":
        say(f"Report: {write_files(data, folders[0] / 'report' if out is None else out)}")
    elif out is None:
        print_exactly(FORMS[format](data))
    else:
        text = FORMS[format](data).encode(errors="backslashreplace")
        write_output(out, lambda file: file.write(text))
        say(f"Report: {out}", err=not out.is_file())  # /dev/stdout is for the report alone
