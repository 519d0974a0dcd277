"""The command `quickstudy`. Every verb is a small module; whatever it needs is imported when it runs."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import typer

from quickstudy import __version__
from quickstudy.base.errors import QuickstudyError

VERBS = (
    "listing",
    "showing",
    "sampling",
    "running",
    "scoring",
    "reporting",
    "reproducing",
    "comparing",
    "checking",
    "keeping",
)

app = typer.Typer(
    help="Measure how a learner learns.",
    no_args_is_help=True,
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
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Measure how a learner learns."""


for verb in VERBS:
    importlib.import_module(f"quickstudy.cli.{verb}").add(app)


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its status; a user's mistake is one or two lines on standard error."""
    try:
        status = app(args=arguments, standalone_mode=False)
    except QuickstudyError as error:
        _say(str(error))
        status = error.exit_status
    except KeyboardInterrupt:
        status = 130
    except OSError as error:
        _say(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
        status = 2
    except Exception as error:
        status = _usage_status(error)
        if status is None:
            raise
    sys.exit(status if isinstance(status, int) else 0)


def _usage_status(error: Any) -> int | None:
    """The status of a parser's own complaint (its classes have moved between releases, so it is known by its shape)."""
    if not hasattr(error, "format_message") or not hasattr(error, "exit_code"):
        return None
    message = error.format_message()
    if message:
        _say(f"{message[0].lower()}{message[1:]}".rstrip(".") + "; see quickstudy --help")
    return int(error.exit_code)


def _say(message: str) -> None:
    typer.echo(message, err=True)
