"""Spec sheets: the docstring of a component in parts, for `quickstudy show` and the documentation.

The docstring begins with a summary of one sentence. Then follow the fields that apply, each on a
line of its own, then free paragraphs, then the parameters in NumPy's style:

    Follow the NARMA system of order 10 (Atiya and Parlos 2000).

    Sees: one real number per step, uniform in 0 to `high`.
    Answers: the state of the system at the next step.
    Scored: NRMSE over the test steps.
    Chance: 1, by answering the mean.
    Ceiling: 0, by computing the recurrence.
    Source: Wringe, Trefzer and Stepney 2024, section 4.1.

Parameters
----------
    washout:
        Steps before training that are not scored.

A class inherits the descriptions of its base classes' parameters.

"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quickstudy.base.registry import split_sheet

FIELDS = (
    "Sees",
    "Answers",
    "Scored",
    "Chance",
    "Ceiling",
    "Equation",
    "Marks",
    "Departures",
    "Source",
    "Example",
)
"""The fields of a sheet, in the order in which they should be written."""

_HEADING = re.compile(r"^Parameters\n-{3,}\n", re.MULTILINE)
_FIELD = re.compile(rf"^({'|'.join(FIELDS)}): *(.*)$")
_NAMES = re.compile(r"^(\w+(?:, \w+)*):$")


@dataclass(frozen=True)
class Sheet:
    """A docstring in parts.

    Parameters
    ----------
    summary:
        The first sentence.
    fields:
        Text of each field, in one line.
    paragraphs:
        The paragraphs that are neither summary nor field nor parameter, with their line breaks.
    parameters:
        Description of each parameter, in one line.

    """

    summary: str
    fields: Mapping[str, str]
    paragraphs: tuple[str, ...]
    parameters: Mapping[str, str]


def parse_sheet(text: str) -> Sheet:
    r"""The parts of a docstring.

    >>> sheet = parse_sheet("Add.\n\nSees: bits.\n\nParameters\n---\nsize:\n    Bits.")
    >>> sheet.summary, sheet.fields, sheet.parameters
    ('Add.', {'Sees': 'bits.'}, {'size': 'Bits.'})
    """
    head, *tail = _HEADING.split(inspect.cleandoc(text), maxsplit=1)
    parameters, after = _parameters(tail[0]) if tail else ({}, "")
    summary, rest = split_sheet(head)
    fields: dict[str, str] = {}
    paragraphs = []
    for paragraph in f"{rest}\n\n{after}".split("\n\n"):
        own, free = _fields(paragraph.strip("\n"))
        fields |= own
        if free.strip():
            paragraphs.append(free)
    return Sheet(summary, fields, tuple(paragraphs), parameters)


def sheet_of(component: Any) -> Sheet:
    """The sheet of a class or function. A class has the parameters of its base classes too."""
    own = parse_sheet(component.__doc__ or "")
    bases = reversed(component.__mro__[1:]) if isinstance(component, type) else ()
    inherited: dict[str, str] = {}
    for base in bases:
        inherited |= parse_sheet(vars(base).get("__doc__") or "").parameters
    return Sheet(own.summary, own.fields, own.paragraphs, {**inherited, **own.parameters})


def _fields(paragraph: str) -> tuple[dict[str, str], str]:
    """The fields of a paragraph, and its text before the first of them."""
    fields: dict[str, list[str]] = {}
    free: list[str] = []
    lines = free
    for line in paragraph.splitlines():
        if found := _FIELD.match(line):
            lines = fields.setdefault(found[1], [])
            line = found[2]
        lines.append(line)
    return {name: " ".join(map(str.strip, text)) for name, text in fields.items()}, "\n".join(free)


def _parameters(text: str) -> tuple[dict[str, str], str]:
    """Descriptions by name, and what comes after the last of them."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if match := _NAMES.match(line):
            names = match[1].split(", ")
            found |= {name: [] for name in names}
        elif line.startswith("    "):
            for name in names:
                found[name].append(line.strip())
        elif line:
            return _joined(found), "\n".join(lines[number:])
    return _joined(found), ""


def _joined(found: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: " ".join(lines) for name, lines in found.items()}
