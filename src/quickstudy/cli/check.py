"""`quickstudy check`: the checkers, on your own code."""

from __future__ import annotations

import typer

from quickstudy.cli.output import INCLUDE, JSON, include_files, print_lines, say


def check(
    name: str = typer.Argument(..., help="A task, core or learner by name, or file.py, or file.py:Class."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Check a task, a core or a learner: same seed same answers, no looking ahead, right shapes ..."""
    from quickstudy.testing.check import check_name

    include_files(include)
    findings = check_name(name)
    if json:
        print_lines([{"ok": finding.ok, "what": finding.what, "detail": finding.detail} for finding in findings])
    else:
        for finding in findings:
            say(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.what}{': ' + finding.detail if finding.detail else ''}")
    raise typer.Exit(0 if all(finding.ok for finding in findings) else 1)
