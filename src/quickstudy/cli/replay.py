"""`quickstudy replay`: the curriculum's environment driven by a recording, or recordings made of stored runs."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import CONVENTION, INCLUDE, JSON, check_target, include_files, print_json, say

if TYPE_CHECKING:
    from quickstudy.tasks.curriculum.recordings import Rules

SIGNS = {-1: "-", 0: "0", 1: "+"}


def replay(
    file: pathlib.Path = typer.Argument(..., help="JSON lines with task, rows and replies; or a results folder."),
    write: pathlib.Path | None = typer.Option(None, "--write", help="With a folder: write its runs as recordings."),
    convention: str = CONVENTION,
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Live through recorded sessions again: the recorded questions and replies, our judge, timing and limits."""
    if write is not None or file.is_dir():
        if write is None or not file.is_dir():
            raise UsageError("a results folder is written as recordings: quickstudy replay FOLDER --write FILE")
        include_files(include)
        check_target(write)
        _write(file, write)
        return
    from quickstudy.tasks.curriculum.recordings import read_recordings

    for found in read_recordings(file, "session"):
        lived = rules_of(found["task"], convention).replayed(found["rows"], found["replies"])
        if json:
            print_json(lived)
            continue
        shown = lived["environment"]
        say(f"{found['task']}: {len(shown)} bytes, {len(lived['judged'])} answers judged")
        rewards = "".join(SIGNS[reward] for reward in lived["rewards"])
        for name, line in (("environment", shown), ("replies", found["replies"]), ("reward", rewards)):
            say(f"{name:<12}{line.replace(' ', '_')}")
        for one in lived["judged"]:
            limits = " ".join(
                f"{name} {one[name]}" for name in ("asked", "run", "soft", "hard") if one[name] is not None
            )
            verdict = "right" if one["correct"] else "wrong"
            said = f"  step {one['step']}: {one['reply']!r} {verdict}; {limits}"
            say(f"{said}; {one['ended']}" if one["ended"] else said)


def rules_of(member: str, convention: str) -> Rules:
    """How a task judges and limits under a convention."""
    from quickstudy.base import catalogue
    from quickstudy.base.parameters import configure
    from quickstudy.tasks.curriculum.recordings import Rules

    made: Any = configure(member, catalogue.task.get(f"curriculum/{member}"), {}, convention)
    return Rules(member, made.judging == "strict", made.limits == "steps")


def _write(folder: pathlib.Path, target: pathlib.Path) -> None:
    """The runs of a folder that kept their replies, lived through again and written down."""
    import json as library

    from quickstudy.protocols.curriculum import sessions_of
    from quickstudy.runs.reader import read_results
    from quickstudy.runs.traces import load_trace

    written = 0
    with target.open("w", encoding="utf-8") as file:
        for record in read_results(folder, expected=True).records.values():
            trace = load_trace(folder, record) if record.status == "ok" else None
            if trace is None or "replies" not in trace.arrays:
                continue
            for session in sessions_of(record.what, trace):
                file.write(library.dumps(session) + "\n")
                written += 1
    if not written:
        raise UsageError(f"no run of {folder} has kept its replies; run it with --set replies=true")
    say(f"wrote {target}: {written} recordings")
