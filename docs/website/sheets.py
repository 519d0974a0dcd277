"""Spec sheets, which are docstrings, as Markdown; and what a command prints."""

from __future__ import annotations

import contextlib
import inspect
import io
import re

from quickstudy.cli.main import main


def sheet(target: object) -> str:
    """The docstring as Markdown. Lines like `name: what it does` become a list."""
    return escaped(inspect.cleandoc(getattr(target, "__doc__", None) or ""))


def escaped(text: str) -> str:
    """Text in which no letter is markup, apart from code in backticks and indented examples."""
    return "\n\n".join(map(_paragraph, text.split("\n\n")))


def cell(text: str) -> str:
    """Text in the cell of a table: one line, and no bar that ends the cell."""
    return escaped(" ".join(text.split())).replace("|", "\\|")


def _paragraph(text: str) -> str:
    if text.startswith(">>>"):
        return f"```pycon\n{text}\n```"
    lines = text.splitlines()
    return "\n".join(line if line.startswith("    ") else _escaped(line) for line in lines)


def _escaped(line: str) -> str:
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(
        part if number % 2 else re.sub(r"([*_\[\]<>#])", r"\\\1", part)
        for number, part in enumerate(parts)
    )


def printed(*arguments: str) -> str:
    """What `quickstudy ARGUMENTS` prints; "" where it ends with an error, as it does without data
    sets.
    """
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            main(list(arguments))
        except SystemExit as ending:
            if ending.code:
                return ""
    return out.getvalue().rstrip()
