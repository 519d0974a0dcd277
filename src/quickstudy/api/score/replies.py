"""Answers to questions of the curriculum, judged one by one."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.runs.replaying import lines_of, task_of
from quickstudy.tasks.curriculum.recordings import looked_through


def replies(file: pathlib.Path, *, convention: str = "corrected") -> list[dict[str, Any]]:
    """Judge replies to questions: whether each is finished and correct, and its reward. file: JSON
    lines with task, question, expected and reply.
    """
    return [judged for _, judged in judged_replies(file, convention)]


def judged_replies(
    file: pathlib.Path, convention: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every line of the file and how it is judged, one by one."""
    for number, line in lines_of(file):
        try:
            found = looked_through(line, "replies")
        except UsageError as error:
            raise UsageError(f"{file}, line {number}: {error}") from error
        judge = task_of(found, convention).judge
        yield found, judge.judged(found["question"], found["expected"], found["reply"])
