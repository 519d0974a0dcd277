"""`quickstudy replay`: drive an environment by a recording. The fields of a line and of the result
is the family's.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import (
    CONVENTION,
    INCLUDE,
    JSON,
    check_target,
    include_files,
    print_json,
    print_table,
    say,
)

SIGNS = {-1: "-", 0: "0", 1: "+"}


def replay(
    file: pathlib.Path = typer.Argument(
        ..., help="Recordings: JSON lines, each with its task; or a results folder."
    ),
    write: pathlib.Path | None = typer.Option(
        None, "--write", help="With a folder: write its runs as recordings."
    ),
    convention: str = CONVENTION,
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Replay recorded sessions: the recorded questions and replies, with quickstudy's judge, timing
    and limits.

    On a terminal as text, unless --json is given; elsewhere always JSON, a line for each recording.
    """
    include_files(include)
    if write is not None or file.is_dir():
        if write is None or not file.is_dir():
            raise UsageError(
                "a results folder is written as recordings: quickstudy replay FOLDER --write FILE"
            )
        check_target(write)
        _write(file, write)
        return
    from quickstudy.runs.replaying import lines_of, task_of

    for number, line in lines_of(file):
        try:
            found = task_of(line, convention).replay(line)
        except (UsageError, OverflowError) as error:
            raise UsageError(f"{file}, line {number}: {error}") from error
        if json or not sys.stdout.isatty():
            print_json(found)
        elif "environment" in found:
            _show_session(line, found)
        else:
            _show_steps(found["steps"])


def _show_session(line: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Environment, replies and rewards, one under another, and what was judged."""
    say(f"{line['task']}: {len(found['environment'])} bytes, {len(found['judged'])} answers judged")
    rewards = "".join(SIGNS[reward] for reward in found["rewards"])
    for name, text in (
        ("environment", found["environment"]),
        ("replies", "".join(line["replies"])),
        ("reward", rewards),
    ):
        say(f"{name:<12}{text.replace(' ', '_')}")
    for one in found["judged"]:
        limits = " ".join(
            f"{name} {one[name]}"
            for name in ("asked", "run", "soft", "hard")
            if one[name] is not None
        )
        said = (
            f"  step {one['step']}: {one['reply']!r} {'right' if one['correct'] else 'wrong'};"
            f" {limits}"
        )
        say(f"{said}; {one['ended']}" if one["ended"] else said)


def _show_steps(steps: Sequence[Mapping[str, Any]]) -> None:
    """One row for every observation of an episode."""

    def cell(value: Sequence[float]) -> str:
        return " ".join(f"{one:.4g}" for one in value)

    rows: list[tuple[str, ...]] = [
        ("step", "round", "speaker", "reads", "listener", "hears", "reward", "")
    ]
    for number, step in enumerate(steps):
        views = [
            cell(step[who][key])
            for who in ("speaker", "listener")
            for key in ("stimulus", "communication_channel")
        ]
        end = "done" if step["done"] else ""
        rows.append((str(number), str(step["round_idx"]), *views, f"{step['reward']:g}", end))
    print_table(rows)
    say("")


def _write(folder: pathlib.Path, target: pathlib.Path) -> None:
    """Replay the runs of a folder that kept their replies, and write them as recordings."""
    import json

    from quickstudy.protocols.curriculum import sessions_of
    from quickstudy.runs.array_files import load_trace
    from quickstudy.runs.folder import write_output
    from quickstudy.runs.merge import read_results

    written: list[str] = []
    for record in read_results(folder, expected=True).records.values():
        trace = load_trace(folder, record) if record.status == "ok" else None
        if trace is not None and "replies" in trace.arrays:
            whose = {
                "learner": record.labels.get("learner", ""),
                "repetition": record.what["repetition"],
            }
            written += [
                json.dumps({**session, **whose}) + "\n"
                for session in sessions_of(record.what, trace)
            ]
    if not written:
        raise UsageError(f"no run of {folder} has kept its replies; run it with --set replies=true")
    write_output(target, lambda file: file.writelines(line.encode() for line in written))
    say(f"wrote {target}: {len(written)} recordings")
