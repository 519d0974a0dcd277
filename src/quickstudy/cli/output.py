"""How results are printed: for people, or as JSON for programs."""

from __future__ import annotations

import json
import os
import pathlib
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

from quickstudy.base.canonical import plain
from quickstudy.base.errors import UsageError
from quickstudy.base.text import LINES, visible

if TYPE_CHECKING:
    from quickstudy.base.blocks import Page
    from quickstudy.base.record import Record

JSON = typer.Option(False, "--json", help="Print JSON: one object, or one object per line.")
INCLUDE = typer.Option(
    [], "--include", help="Import this file first: your own tasks, learners or measures."
)
MEASURE = typer.Option([], "--measure", help="A measure, by its id; may be given several times.")
TRACEBACK = typer.Option(False, "--traceback", help="Print the tracebacks of runs that failed.")
DATA = typer.Option(None, "--data", help="Folder with the data sets that tasks on real data read.")
CONVENTION = typer.Option("corrected", "--convention", help="corrected, published or written.")


def say(text: str, *, err: bool = False) -> None:
    """Text for people, of one line or several. The one way to a terminal: names in it give the
    terminal no orders.
    """
    typer.echo(visible(text, keep=LINES), err=err)


def print_exactly(text: str) -> None:
    """Print text that is data, such as CSV: every character, unless a terminal reads
    it.
    """
    sys.stdout.write(visible(text, keep=LINES) if sys.stdout.isatty() else text)


def print_json(value: Any) -> None:
    """One object on one line, at full precision."""
    typer.echo(json.dumps(plain(value)))


def print_lines(values: Iterable[Any]) -> None:
    """One object per line."""
    for value in values:
        print_json(value)


def print_table(rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Columns, aligned by spaces; the last one runs on."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = (
        [max(len(row[column]) for row in shown) for column in range(len(rows[0]) - 1)]
        if rows
        else []
    )
    for row in shown:
        cells = [
            *(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True)),
            row[-1],
        ]
        say((indent + "  ".join(cells)).rstrip())


def print_page(page: Page, width: int = 0) -> None:
    """A page: fitted to a terminal, whole where something else reads it. width: columns of a line
    there.
    """
    from rich.console import Console

    from quickstudy.render.terminal import as_text, show

    if sys.stdout.isatty():
        show(page, Console())
    else:
        typer.echo(as_text(page, width) if width else as_text(page), nl=False)


def include_files(paths: Iterable[str]) -> None:
    """Import the user's files, so that their components are registered."""
    from quickstudy.base.registry import include

    for path in paths:
        include(path)


def name_data(folder: pathlib.Path | None) -> None:
    """Let this process and its workers look for data sets in a folder first."""
    if folder is not None:
        if not folder.is_dir():
            raise UsageError(
                f"--data names no folder: {folder}; give the folder that holds the data sets"
            )
        os.environ["QUICKSTUDY_DATA"] = str(folder.absolute())


def check_target(path: pathlib.Path | None) -> None:
    """Raise UsageError if the folder that a file is to be written into is not there, or if no file
    is meant.
    """
    if path is not None and str(path) == "-":
        raise UsageError("--out - names no file; leave it out to see the text, or say /dev/stdout")
    if path is not None and not path.absolute().parent.is_dir():
        raise UsageError(
            f"no folder {path.parent} to write {path.name} into; make it first, or name another"
        )


def write_text(path: pathlib.Path, text: str) -> None:
    """Write a file that the user has named, whole or not at all."""
    from quickstudy.runs.folder import write_output

    write_output(path, lambda file: file.write(text.encode()))


def say_left_out(count: int, folder: pathlib.Path, of: str = "lines") -> None:
    """Report on standard error how many damaged lines (or other items) of a folder were left out,
    if any.
    """
    if count:
        say(
            f"{count} damaged {of} of {folder} were left out; type: quickstudy doctor {folder}",
            err=True,
        )


def print_tracebacks(records: Iterable[Record]) -> None:
    """Print the tracebacks of failed runs on standard error; runs with the same traceback share
    one.
    """
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.traceback:
            found.setdefault(record.traceback, []).append(record)
    for text, runs in found.items():
        labels, several = runs[0].labels, f" and {len(runs) - 1} more" if len(runs) > 1 else ""
        run = (
            f"{labels.get('task')}  {labels.get('learner')}  repetition"
            f" {runs[0].what.get('repetition')}{several}"
        )
        typer.echo(f"{run}\n{text}\n", err=True)


def command_line() -> str:
    """What the user typed, so that a report can say how it was made."""
    import shlex

    return shlex.join(["quickstudy", *sys.argv[1:]])
