"""`quickstudy site`: a static leaderboard of any number of results folders."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import INCLUDE, JSON, command_line, include_files, print_json, say


def site(
    folders: list[pathlib.Path] = typer.Argument(..., help="Results folders, or folders of them."),
    out: pathlib.Path = typer.Option(
        pathlib.Path("site"), "--out", "-o", help="Folder to write the pages into."
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Make a leaderboard of results. It never mixes versions, conventions or rulesets."""
    from quickstudy.pages.site import write_site

    include_files(include)
    path = write_site(folders, out, command_line())
    if json:
        print_json({"site": str(path)})
    else:
        say(f"Site: {path}")
