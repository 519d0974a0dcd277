"""`quickstudy check`: the checkers, on your own code, and a task's own, on sequences in a file."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import CONVENTION, INCLUDE, JSON, include_files, print_lines, say


def check(
    name: str = typer.Argument(..., help="A task, core or learner by name, or file.py, or file.py:Class."),
    file: pathlib.Path | None = typer.Argument(
        None, help="Sequences of the task, one per line as `sample --text` prints them, to be checked instead."
    ),
    convention: str = CONVENTION,
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Check a task, a core or a learner: same seed same answers, no looking ahead, right shapes ...

    With a FILE: whether each of its lines is a sequence of the task, with the right answers.
    """
    from quickstudy.testing.check import check_name, check_sequences

    include_files(include)
    findings = check_name(name, convention) if file is None else check_sequences(name, file, convention)
    if json:
        print_lines([{"ok": finding.ok, "what": finding.what, "detail": finding.detail} for finding in findings])
    else:
        for finding in findings:
            say(str(finding))
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)
