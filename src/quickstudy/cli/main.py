"""The command `quickstudy`. Every verb is a function, which imports what it needs when it runs."""

from __future__ import annotations

import importlib
import os
import sys
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperGroup

from quickstudy import __version__
from quickstudy.base.errors import QuickstudyError, Stopped, UsageError
from quickstudy.cli.output import say

VERBS = {
    **{
        "ls": "show",
        "show": "show",
        "sample": "sample",
        "drive": "drive",
        "play": "play",
        "replay": "replay",
    },
    **{
        "run": "run",
        "profile": "profile",
        "score": "score",
        "report": "report",
        "reproduce": "reproduce",
        "compare": "compare",
        "site": "site",
        "submit": "submit",
        "verify": "submit",
        "export": "export",
        "serve": "serve",
        "check": "check",
        "cite": "cite",
    },
    **dict.fromkeys(("doctor", "pack", "query", "forget"), "folder"),
}
"""Every verb, in the order of the help, and the module of this room that has a function of its
name.
"""

RENAMED: dict[str, str] = {}
"""Verbs by the names that they had first. Those still work, and are not in the help."""
OUTPUTS = ("--out", "-o")
"""Options that name what is written: an empty name would be the current folder."""
_PIPE_CLOSED = 141
"""The status of a program that the closing of its pipe has ended."""


class _Verbs(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # the parser would end without a word
            raise Stopped from None


app = typer.Typer(
    cls=_Verbs,
    help="Measure how a learner learns.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,  # plain help: Rich would cost more time than all the rest
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"quickstudy {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Measure how a learner learns."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for verb, module in VERBS.items():
    made = getattr(importlib.import_module(f"quickstudy.cli.{module}"), verb)
    for name in (verb, *(old for old, new in RENAMED.items() if new == verb)):
        if isinstance(made, typer.Typer):
            app.add_typer(made, name=name, hidden=name != verb)
        else:
            app.command(name, hidden=name != verb)(made)


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its status; a user's mistake is one or two lines on standard
    error.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the parent process closed it
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115, it stays open to the end
        if hasattr(
            getattr(sys, name), "reconfigure"
        ):  # a terminal that lacks a letter must not cost the answer
            getattr(sys, name).reconfigure(errors="replace")
    try:
        typed = sys.argv[1:] if arguments is None else arguments
        for option, value in pairwise([*typed, "nothing"]):
            if (option in OUTPUTS and not value) or option == "--out=":
                raise UsageError(f'{option} must name a file or a folder, got ""')
        status = app(args=arguments, standalone_mode=False)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as error:
        # The reader closed the pipe, which the parser turns into SystemExit. Pass other exits on.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        _drop_output()
        status = _PIPE_CLOSED
    except QuickstudyError as error:
        say(str(error), err=True)
        status = error.exit_status
    except OSError as error:
        _drop_output()
        say(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", err=True)
        status = 2
    except Exception as error:
        status = _usage_status(error)
        if status is None:
            raise
    sys.exit(status if isinstance(status, int) else 0)


def _drop_output() -> None:
    """Discard the buffered output that could not be written: it must not raise again when Python
    ends.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)


def _usage_status(error: Any) -> int | None:
    """The status of a parser's own complaint (its classes have moved between releases, so it is
    known by its shape).
    """
    if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
        return None
    message = error.format_message().replace("Input should be", "must be")
    if message:
        context, verb = getattr(error, "ctx", None), ""
        while context is not None and context.parent is not None:
            context, verb = context.parent, f" {context.info_name}{verb}"
        say(
            f"{message[0].lower()}{message[1:]}".rstrip(".") + f"; see quickstudy{verb} --help",
            err=True,
        )
    return int(error.exit_code)
