"""`quickstudy sample`: look at a task's data, of any kind."""

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
    task: str = typer.Argument(
        ..., help="A task, optionally with parameters: language/qa:names=8."
    ),
    count: int | None = typer.Option(
        None,
        "--count",
        "-n",
        help="Number of samples (default 3), or of rows of a series or a world (20).",
    ),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    convention: str = CONVENTION,
    text: bool = typer.Option(
        False,
        "--text",
        help="Print strings as the task writes them, one per line; with --json, as field `text`.",
    ),
    inputs: pathlib.Path | None = typer.Option(
        None,
        "--inputs",
        help="Drive a dynamical system with these inputs instead: CSV or NPY, one row per step.",
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Print data of a task: independent samples, before de-duplication. Supervised tokens are in
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
