"""`quickstudy sample`: look at a task's data, whatever kind they are of."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import (
    CONVENTION,
    DATA,
    INCLUDE,
    JSON,
    include_files,
    name_data,
    print_lines,
    print_table,
    say,
)


def sample(
    task: str = typer.Argument(..., help="A task, with parameters after a colon if need be."),
    count: int | None = typer.Option(
        None,
        "--count",
        "-n",
        help="How many: independent draws (3), or rows of a series or of a world (20).",
    ),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    convention: str = CONVENTION,
    text: bool = typer.Option(
        False,
        "--text",
        help="Strings as the task writes them, one per line; with --json, in the field `text`.",
    ),
    inputs: pathlib.Path | None = typer.Option(
        None,
        "--inputs",
        help="Drive a system with these inputs instead: CSV or NPY, a row per step.",
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Look at the data: independent draws, before de-duplication. Supervised tokens are in
    [brackets].
    """
    from quickstudy.api.sample import sample as make

    name_data(data)
    include_files(include)
    found = make(task, count=count, seed=seed, convention=convention, text=text, inputs=inputs)
    if json:
        print_lines(found.as_json())
        return
    for part in found.parts():
        if isinstance(part, str):
            say(part)
        else:
            print_table(part)
