"""`quickstudy score curriculum`: whether tasks are in order of complexity, and which order would
be?
"""

from __future__ import annotations

import pathlib
from typing import Any

import typer

from quickstudy.cli.output import (
    CONVENTION,
    INCLUDE,
    JSON,
    include_files,
    print_json,
    print_table,
    say,
)


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
    from quickstudy.api.score.curriculum import curriculum as score

    include_files(include)
    facts = score(file, by=by, convention=convention)
    if json:
        print_json(facts)
        return
    print_table(
        [
            ("task", "bits"),
            *((one["task"], f"{one['complexity']:.4f}") for one in facts["tasks"]),
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
