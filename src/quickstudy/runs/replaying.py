"""Recordings of sessions: files with a JSON object a line, each of a task that plays it."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.tasks.curriculum.schedule import member_named


def lines_of(file: pathlib.Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of a file by the numbers of their lines. Raises UsageError with line and
    reason.
    """
    if not file.is_file():
        raise UsageError(f"no file {file}")
    try:
        lines = file.read_text(encoding="utf-8-sig").split(
            "\n"
        )  # other ends of lines are bytes of a recording
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not text: {error.reason} at byte {error.start}") from error
    if not any(line.strip() for line in lines):
        raise UsageError(f"{file} is empty; it must have one JSON object a line")
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{file}, line {number}: no JSON: {error}") from error
        if not isinstance(line, Mapping):
            raise UsageError(f"{file}, line {number}: must be an object, got {text.strip()[:40]}")
        yield number, line


def task_of(line: Mapping[str, Any], convention: str) -> Any:
    """The task of a recording, which plays it."""
    named = line.get("task")
    if not isinstance(named, str):
        raise UsageError(
            "the field task is missing" if named is None else f"task must be a name, got {named!r}"
        )
    id, colon, assignments = named.partition(":")
    if "/" not in id:  # the curriculum's tasks have short names
        id = f"curriculum/{member_named(id)}"
    if not hasattr(registries.task.get(id), "replay"):
        raise UsageError(f"task: {id} plays no recordings")
    return registries.typed_task(id + colon + assignments, convention)
