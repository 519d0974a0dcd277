"""How `quickstudy show` prints a spec sheet, in lines of at most 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quickstudy.base.sheet import parse_sheet

WIDTH = 80
_TRY = {
    "task": ("sample {id} --count 2", "run {id} --learner lstm --seeds 3"),
    "core": ("run span/copy --learner {id}", "profile {id} --quick"),
    "learner": ("run span/copy --learner {id}",),
}
"""Commands that show what a component does, by its kind."""


def sheet_lines(facts: Mapping[str, Any], convention: str, names: Sequence[str]) -> Iterator[str]:
    """The lines of a sheet.

    Parameters
    ----------
    facts:
        What `quickstudy.show` returns.
    convention:
        The convention whose defaults are listed.
    names:
        Declared facts to print after the parameters, in this order.

    """
    sheet = parse_sheet(facts["sheet"])
    yield f"{facts['id']}  version {facts['version']}  ({facts['kind']})"
    yield ""
    yield from textwrap.wrap(sheet.summary, WIDTH)
    if sheet.fields:
        yield ""
        wide = max(map(len, sheet.fields)) + 3
        for field, text in sheet.fields.items():
            yield from _hanging(f"{field}:".ljust(wide), text)
    for paragraph in sheet.paragraphs:
        yield ""
        yield from _paragraph(paragraph)
    if facts["parameters"]:
        yield ""
        yield f"Parameters ({convention}):"
        yield from _parameters(facts["parameters"])
    declared = [name for name in names if name in facts]
    if declared:
        yield ""
    for name in declared:
        yield from _hanging(f"{name.capitalize()}: ", _plain(facts[name]))
    for number, command in enumerate(_TRY.get(facts["kind"], ())):
        yield f"{'Try:' if not number else '    '} quickstudy {command.format(id=facts['id'])}"


def _paragraph(text: str) -> list[str]:
    """A paragraph, refilled; examples and lists keep their lines."""
    lines = text.splitlines()
    if any(line.startswith((" ", ">>>", "- ")) for line in lines):
        return lines
    return textwrap.wrap(" ".join(lines), WIDTH)


def _parameters(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Name, default and range in columns, the description in the lines below."""
    name, value = (max(len(str(row[key])) for row in rows) for key in ("name", "value"))
    for row in rows:
        head = f"  {row['name']:{name}}  {_plain(row['value']):{min(value, 16)}}  {row['range']}"
        yield head.rstrip()
        yield from textwrap.wrap(
            row["about"], WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6
        )


def _hanging(head: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=head, subsequent_indent=" " * min(len(head), 12)
    )


def _plain(value: Any) -> str:
    """A value as text: a mapping as `name value, name value`."""
    if isinstance(value, Mapping):
        parts = (
            f"{name}: {_plain(one)}" if isinstance(one, Mapping) else f"{name} {_plain(one)}"
            for name, one in value.items()
        )
        nested = any(isinstance(one, Mapping) for one in value.values())
        return ("; " if nested else ", ").join(parts)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)
