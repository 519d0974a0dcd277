"""`quickstudy score curriculum`: are tasks in the order of their complexity, and which order would
be?
"""

from __future__ import annotations

import json as json_module
import pathlib
from typing import Any

import typer

from quickstudy.base.errors import UsageError, nearest
from quickstudy.cli.output import (
    CONVENTION,
    INCLUDE,
    JSON,
    include_files,
    print_json,
    print_table,
    say,
)

_KINDS = {
    "topological": "topological_complexity",
    "uniform": "complexity_uniform",
    "right": "complexity_right",
}


def curriculum(
    file: pathlib.Path = typer.Argument(
        ..., help='JSON with "tasks": finite tasks by name, in their order.'
    ),
    by: str = typer.Option(
        "topological", "--by", help="Complexity: topological, uniform or right."
    ),
    convention: str = CONVENTION,
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Score the order of a curriculum, and put its tasks into others: by complexity, and by
    graduality.

    By complexity no task is less complex than the one before it. By graduality no other order that
    begins with the least complex task has a greater sum, over tasks, of the resemblance to the best
    task before each.
    """
    from quickstudy.base.errors import NotApplicable
    from quickstudy.machines.curricula import Compared
    from quickstudy.machines.finite import machine_of
    from quickstudy.machines.likeness import resemblances
    from quickstudy.runs.setting import make_task

    include_files(include)
    if by not in _KINDS:
        raise UsageError(f'no complexity "{by}"; {nearest(by, _KINDS)}')
    names = _tasks(file)
    try:
        found = [machine_of(make_task(name, convention)) for name in names]
    except NotApplicable as error:
        raise UsageError(str(error)) from error
    complexities = [float(one.figures()[_KINDS[by]]) for one in found]
    compared = Compared(names, complexities, resemblances([one.recurrent for one in found]))
    facts: dict[str, Any] = {"by": by, **compared.facts()}
    if json:
        print_json(facts)
        return
    print_table(
        [
            ("task", "bits"),
            *((name, f"{one:.4f}") for name, one in zip(names, complexities, strict=True)),
        ]
    )
    say(
        "complexity"
        f" {'never falls' if facts['ordered'] else 'falls on the way'}{_correlated(facts)}"
    )
    for kind, order in facts["orders"].items():
        means = facts["graduality"].get(kind)
        more = (
            f"  (to the next {means['consecutive']:.3f}, from the best before"
            f" {means['best_earlier']:.3f})"
            if means
            else ""
        )
        say(f"{kind}: {' '.join(order)}{more}")


def _correlated(facts: dict[str, Any]) -> str:
    return (
        ""
        if facts["tau"] is None
        else f"; Kendall's tau with the position {facts['tau']:.3f}, p = {facts['p']:.4f}"
    )


def _tasks(path: pathlib.Path) -> list[str]:
    from quickstudy.data.tables import read_content

    try:
        content = json_module.loads(read_content(path).decode("utf-8"))
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
