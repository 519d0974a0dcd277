"""Whether the tasks of a curriculum are in the order of their complexity, and better orders."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from quickstudy.base.errors import NotApplicable, UsageError, nearest
from quickstudy.data.tables import read_content
from quickstudy.machines.curricula import Compared
from quickstudy.machines.finite import machine_of
from quickstudy.machines.likeness import resemblances
from quickstudy.runs.run_spec import make_task

_KINDS = {
    "topological": "topological_complexity",
    "uniform": "complexity_uniform",
    "right": "complexity_right",
}


def curriculum(
    file: pathlib.Path, *, by: str = "topological", convention: str = "corrected"
) -> dict[str, Any]:
    """The order of a curriculum, JSON with "tasks", and other orders: by complexity, and by
    graduality. by: the complexity: topological, uniform or right.
    """
    if by not in _KINDS:
        raise UsageError(f'no complexity "{by}"; {nearest(by, _KINDS)}')
    names = _tasks(file)
    try:
        found = [machine_of(make_task(name, convention)) for name in names]
    except NotApplicable as error:
        raise UsageError(str(error)) from error
    complexities = [float(one.figures()[_KINDS[by]]) for one in found]
    compared = Compared(names, complexities, resemblances([one.recurrent for one in found]))
    return {"by": by, **compared.facts()}


def _tasks(path: pathlib.Path) -> list[str]:
    try:
        content = json.loads(read_content(path).decode("utf-8"))
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON") from None
    names = content.get("tasks") if isinstance(content, dict) else content
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f'{path} must be a JSON object with "tasks": a list of names of tasks, got {names!r}'[
                :300
            ]
        )
    return names
