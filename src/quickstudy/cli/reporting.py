"""`quickstudy report`: tables and the offline page."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import (
    INCLUDE,
    JSON,
    check_target,
    include_files,
    print_exactly,
    print_json,
    say,
    say_left_out,
)


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("report")(report)


def report(
    folders: list[pathlib.Path] = typer.Argument(..., help="Results folders; several are merged."),
    out: pathlib.Path | None = typer.Option(None, "--out", "-o", help="File to write; default FOLDER/report.html."),
    format: str = typer.Option("html", "--format", help="html, text, csv or latex."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Make a report of results: an offline page, or text, CSV, LaTeX or JSON."""
    from quickstudy.base.errors import UsageError, nearest
    from quickstudy.report.csv import as_csv
    from quickstudy.report.gather import gather
    from quickstudy.report.json import as_json
    from quickstudy.report.latex import as_latex
    from quickstudy.report.text import as_text
    from quickstudy.report.write import write_report
    from quickstudy.runs.reader import read_results

    writers = {"text": as_text, "csv": as_csv, "latex": as_latex}
    if format != "html" and format not in writers:
        raise UsageError(f'no format "{format}"; {nearest(format, ["html", *writers])}')
    check_target(out)
    include_files(include)
    readings = {folder: read_results(folder, expected=True) for folder in folders}
    for folder, reading in readings.items():
        say_left_out(len(reading.damage), folder)
    if json:
        print_json(as_json(gather(folders, None, readings)))
        return
    if format == "html":
        say(f"Report: {write_report(folders, out or folders[0] / 'report.html', readings=readings)}")
        return
    text = writers[format](gather(folders, None, readings))
    if out is None:
        print_exactly(text)
    else:
        out.write_text(text, encoding="utf-8")
        say(f"Report: {out}")
