"""`quickstudy serve`: a dashboard over results folders, on this machine."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import INCLUDE, include_files, say


def serve(
    folders: list[pathlib.Path] = typer.Argument(
        None, help="Results folders, or folders of them; default: results."
    ),
    host: str = typer.Option(
        "127.0.0.1", help="Address to listen on. Any but loopback lets others read the results."
    ),
    port: int = typer.Option(8321, min=0, max=65535, help="Port; 0 for a free one."),
    open_it: bool = typer.Option(False, "--open/--no-open", help="Open it in the browser."),
    include: list[str] = INCLUDE,
) -> None:
    """Show results in the browser, updated while runs go on. It only reads the folders."""
    try:
        from quickstudy.web.serving import serve_forever
    except ModuleNotFoundError as error:
        raise UsageError(
            f"serve needs {error.name}; pip install -e '.[web]' in the repository"
        ) from error
    include_files(include)
    places = folders or [pathlib.Path("results")]
    for place in places:
        if not place.is_dir():
            raise UsageError(
                f"{place} is not a folder; name a results folder, or one that has some inside"
            )
    serve_forever(places, host, port, open_it, say)
