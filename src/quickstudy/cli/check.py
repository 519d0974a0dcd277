"""`quickstudy check`: the checkers, on your own code, and a task's own, on sequences in a file."""

from __future__ import annotations

import dataclasses
import pathlib

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import CONVENTION, INCLUDE, JSON, include_files, print_lines, say


def check(
    name: str = typer.Argument(
        ..., help="A task, core or learner by name, or file.py, or file.py:Class."
    ),
    file: pathlib.Path | None = typer.Argument(
        None,
        help=(
            "Sequences of the task, one per line as `sample --text` prints them, to be checked"
            " instead."
        ),
    ),
    shortcuts: bool = typer.Option(
        False, "--shortcuts", help="Fit shallow rules to a task, and report how well they do."
    ),
    convention: str = CONVENTION,
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Check a task, a core or a learner: same seed same answers, no looking ahead, right shapes ...

    With a FILE, check that each line is a sequence of the task with the right answers. With
    --shortcuts, fit rules to the n-grams of a task's tokens and compare them with its controls (for
    a span item: print the spans of its baselines); takes about half a minute.
    """
    from quickstudy.testing.check import check_name, check_sequences, check_shortcuts

    include_files(include)
    if shortcuts:
        if file is not None:
            raise UsageError("--shortcuts draws sequences of the task; leave out the file")
        findings, found = check_shortcuts(name, convention)
        if json:
            print_lines([dataclasses.asdict(rule) for rule in found])
        else:
            wide = max(len(rule.rule) for rule in found)
            for rule in found:
                say(f"{rule.rule:{wide}}  {rule.line}")
    else:
        findings = (
            check_name(name, convention)
            if file is None
            else check_sequences(name, file, convention)
        )
    if json:
        print_lines(
            [
                {"ok": finding.ok, "what": finding.what, "detail": finding.detail}
                for finding in findings
            ]
        )
    else:
        for finding in findings:
            say(str(finding))
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)
