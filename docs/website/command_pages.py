"""Every verb and every option, from the program itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main
from sheets import cell, escaped

from quickstudy.cli.main import app

HEAD = """# All options

What `quickstudy VERB --help` prints. [The command line](command-line.md) explains it, with exit
statuses and
the keys of `--json`.
"""


def pages() -> Iterator[tuple[str, str]]:
    """One page."""
    group: Any = typer.main.get_command(app)
    yield "reference/options.md", "\n".join([HEAD, *_sections(group, "quickstudy", 2)])


def _sections(group: Any, name: str, level: int) -> Iterator[str]:
    for verb in group.list_commands(None):
        command = group.get_command(None, verb)
        yield _section(command, f"{name} {verb}", level)
        if hasattr(command, "list_commands"):
            yield from _sections(command, f"{name} {verb}", level + 1)


def _section(command: Any, name: str, level: int) -> str:
    given = [one for one in command.params if one.param_type_name == "argument"]
    words = " ".join(_argument(one) for one in given)
    rows = [
        f"| {names} | {cell(one.help or '')} |"
        for one in command.params
        if one.param_type_name == "option" and (names := _names(one))
    ]
    table = "\n".join(["| option | meaning |", "|---|---|", *rows]) if rows else ""
    arguments = "\n".join(f"- `{_argument(one)}`: {escaped(one.help or '')}" for one in given)
    usage = f"    {name} {words}".rstrip() + (" [OPTIONS]" if rows else "")
    parts = [f"{'#' * level} {name}", escaped(command.help or ""), usage, arguments, table]
    return "\n\n".join(part for part in parts if part) + "\n"


def _argument(one: Any) -> str:
    name = (one.metavar or one.name).upper()
    many = "..." if one.nargs != 1 else ""
    return f"{name}{many}" if one.required else f"[{name}{many}]"


def _names(option: Any) -> str:
    names = [name for name in (*option.opts, *option.secondary_opts) if name != "--help"]
    return ", ".join(f"`{name}`" for name in names)
