"""`quickstudy score`: score a file of a given kind, or rescore the stored traces of a results
folder.

Each kind of file has a module in this folder with a function of its name: `quickstudy score KIND
FILE` is in `KIND.py`, and no list names it. The module is imported when its kind is asked for, or
for the list in `quickstudy score --help`; heavy packages are imported when the command runs.
"""

from __future__ import annotations

import dataclasses
import importlib
import pathlib
import pkgutil
from typing import Any

import typer
from typer.core import TyperGroup

from quickstudy.base.errors import UsageError, nearest
from quickstudy.cli.output import INCLUDE, JSON, MEASURE, include_files, print_json, say

_FOLDER = "FOLDER"
"""The name in the help of the command for an argument that is not a kind of file."""


class Kinds(TyperGroup):
    """The kinds of file as commands, found by the names of their modules; any other first argument
    is a folder.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """The folder first, then the kinds by name."""
        return [_FOLDER, *_names()]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A kind's command; its module is imported now."""
        if cmd_name not in _names():
            return _command(_FOLDER, again) if cmd_name == _FOLDER else None
        kind = cmd_name.replace("-", "_")
        return _command(cmd_name, getattr(importlib.import_module(f"{__name__}.{kind}"), kind))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Let everything that is neither a kind nor a call for help be read as a folder with its
        options.
        """
        if not args or args[0] not in [*_names(), *ctx.help_option_names]:
            args = [_FOLDER, *args]
        return super().parse_args(ctx, args)


score = typer.Typer(cls=Kinds, rich_markup_mode=None, subcommand_metavar="FOLDER | KIND FILE")


@score.callback()
def options() -> None:
    """Score a file of a given kind, or rescore the stored traces of a results folder."""


def again(
    folders: list[str] = typer.Argument(..., metavar=_FOLDER, help="A results folder."),
    measure: list[str] = MEASURE,
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Print what would be done, and do nothing."
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Score the stored traces of a results folder: every measure that can read them and has no
    score yet.
    """
    from quickstudy.runs.scoring import score_again

    folder, *rest = folders
    if not pathlib.Path(folder).is_dir():
        what = (
            f'cannot score "{folder}" from a file'
            if rest
            else f'"{folder}" is neither a folder nor a kind of file'
        )
        raise UsageError(f"{what}; {nearest(folder, _names())}")
    if rest:
        raise UsageError(
            f"one folder at a time can be scored again, got {len(folders)}: {', '.join(folders)}"
        )
    include_files(include)
    done = score_again(folder, measure, dry_run=dry_run)
    if json:
        left_out = [one._asdict() for one in done.left_out]
        print_json({"folder": folder, **dataclasses.asdict(done), "left_out": left_out})
    else:
        for line in done.lines():
            say(line)
    raise typer.Exit(done.exit_status)


def _names() -> list[str]:
    """The kinds of file, by the names of the modules; none of them is imported."""
    return sorted(found.name.replace("_", "-") for found in pkgutil.iter_modules(__path__))


def _command(name: str, function: Any) -> Any:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name)(function)
    return typer.main.get_command(app)
