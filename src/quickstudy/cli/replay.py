"""`quickstudy replay`: an environment driven by a recording. What a line holds and what comes of it is the family's."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import CONVENTION, INCLUDE, JSON, include_files, print_json, print_table, say

USUAL = "games/listener"
"""The task of a recording that names none."""


def replay(
    file: pathlib.Path = typer.Argument(..., help="Recordings: JSON lines, each with the task that it is of."),
    convention: str = CONVENTION,
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Play recorded episodes again: the recorded chances and actions, our observations, rewards and ends.

    On a terminal a table, unless --json is given; elsewhere always JSON, a line for each recording.
    """
    include_files(include)
    for number, line in _lines(file):
        try:
            found = _task(line, convention).replay(line)
        except UsageError as error:
            raise UsageError(f"{file}, line {number}: {error}") from error
        if json or not sys.stdout.isatty() or "steps" not in found:
            print_json(found)
        else:
            _show(found["steps"])


def _lines(file: pathlib.Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a file by the numbers of their lines."""
    import json

    if not file.is_file():
        raise UsageError(f"no file {file}")
    with file.open(encoding="utf-8") as lines:
        for number, text in enumerate(lines, start=1):
            if not text.strip():
                continue
            try:
                line = json.loads(text)
            except ValueError as error:
                raise UsageError(f"{file}, line {number}: no JSON: {error}") from error
            if not isinstance(line, Mapping):
                raise UsageError(f"{file}, line {number}: must be an object, got {text.strip()[:40]}")
            yield number, line


def _task(line: Mapping[str, Any], convention: str) -> Any:
    """The task of a recording, which plays it; without a name, the one that it fits."""
    from quickstudy.base import catalogue
    from quickstudy.base.parameters import configure, parse_assignments

    named = line.get("task", USUAL)
    if not isinstance(named, str):
        raise UsageError(f"task must be the name of a task, got {named!r}")
    id, _, assignments = named.partition(":")
    found = catalogue.task.get(id)
    if not hasattr(found, "replay"):
        raise UsageError(f"task: {id} plays no recordings")
    given = parse_assignments(assignments) if "task" in line else found.fitting(line)
    return configure(id, found, given, convention)


def _show(steps: list[dict[str, Any]]) -> None:
    """One row for every observation."""

    def cell(value: Any) -> str:
        return " ".join(f"{one:.4g}" for one in value)

    rows = [("step", "round", "speaker", "reads", "listener", "hears", "reward", "")]
    for number, step in enumerate(steps):
        views = [
            cell(step[who][key]) for who in ("speaker", "listener") for key in ("stimulus", "communication_channel")
        ]
        end = "done" if step["done"] else ""
        rows.append((str(number), str(step["round_idx"]), *views, f"{step['reward']:g}", end))
    print_table(rows)
    say("")
