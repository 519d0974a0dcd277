"""Spec sheets, which are docstrings, as Markdown; and what a command prints."""

from __future__ import annotations

import contextlib
import io
import re

from quickstudy.base.sheet import Sheet, parse_sheet, sheet_of
from quickstudy.cli.main import main


def anchor(id: str) -> str:
    """The anchor of a component's heading: `curriculum/micro-5.1` gives `curriculummicro-51`."""
    return re.sub(r"[^\w-]", "", id)


def sheet(target: object) -> str:
    """The docstring as Markdown: summary, a list of fields, text, a table of parameters."""
    if isinstance(target, type):
        return _markdown(sheet_of(target))
    return _markdown(parse_sheet(getattr(target, "__doc__", None) or ""))


def _markdown(made: Sheet) -> str:
    parts = [escaped(made.summary)]
    if made.fields:
        parts.append(
            "\n".join(f"- **{name}**: {escaped(text)}" for name, text in made.fields.items())
        )
    parts.extend(map(escaped, made.paragraphs))
    if made.parameters:
        rows = [f"| `{name}` | {cell(text)} |" for name, text in made.parameters.items()]
        parts.append("\n".join(["| parameter | what it does |", "|---|---|", *rows]))
    return "\n\n".join(parts)


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
