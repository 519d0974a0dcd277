"""`quickstudy cite`: what to cite."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import INCLUDE, include_files, say


def cite(
    folder: pathlib.Path | None = typer.Argument(
        None, help="A results folder; without it, the papers of all five families."
    ),
    include: list[str] = INCLUDE,
) -> None:
    """Print BibTeX of quickstudy and of the papers whose tasks and learners a folder has runs
    of.
    """
    from quickstudy.api.cite import cite as make

    include_files(include)
    say(make(folder).rstrip("\n"))
