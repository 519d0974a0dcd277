"""`[each]` of a study: names for several values, so that one text of the file is many.

    [each]
    rule = 256              # 0 .. 255
    units = [100, 200]

A learner's column whose name holds `{units}` occurs once for every value, and so does a row whose
label does; of several names all combinations, the last one in the file changing fastest. A name
belongs to columns or to rows, not to both.
"""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.base.errors import UsageError

MOST_CELLS = 100_000
"""Rows times columns of a study. The largest in the package has 2,560; ten million would fill the
memory before any is run.
"""
LONGEST = 1_000
"""Letters of a name after it has been filled in."""
_WIDEST = 100
"""A `{name:>3000000000}` would make three gigabytes of one name."""

_HOLE = re.compile(r"\{(?P<name>[^{}:!]+)(?:![rs])?(?::[^{}]*)?\}")


@dataclass(frozen=True)
class Each:
    """study: its id, for messages. values: by name; a count n means 0 .. n-1."""

    study: str
    values: Mapping[str, Sequence[Any]]

    @classmethod
    def read(cls, study: str, given: Mapping[str, Any]) -> Each:
        """From the table of the file. Raises UsageError for a value that is neither a count nor a
        list of values.
        """
        values: dict[str, Sequence[Any]] = {}
        for name, one in given.items():
            if isinstance(one, list):
                if not one or not all(isinstance(value, int | float | str) for value in one):
                    raise UsageError(
                        f"{study}: each: {name} must have at least one number or text, got"
                        f" {shown(one)}"
                    )
                spoken = list(map(_spelled, one))
                if len(set(spoken)) < len(spoken):
                    raise UsageError(f"{study}: each: {name} has a value twice, got {shown(one)}")
                values[name] = spoken
            elif is_count(one):
                values[name] = range(one)
            else:
                raise UsageError(
                    f"{study}: each: {name} must be a whole number from 1 on or a list of values,"
                    f" got {shown(one)}"
                )
        return cls(study, values)

    def names(self, text: str) -> list[str]:
        """Those of its names that a text holds, in their order."""
        held = {found["name"] for found in _HOLE.finditer(text)}
        return [name for name in self.values if name in held]

    def count(self, text: str) -> int:
        """How many texts a text expands to."""
        return math.prod(len(self.values[name]) for name in self.names(text))

    def choices(self, text: str) -> list[Mapping[str, Any]]:
        """The values of the names in a text, one choice after another; a single empty one where it
        holds none.
        """
        names = self.names(text)
        return [
            dict(zip(names, chosen, strict=True))
            for chosen in itertools.product(*(self.values[name] for name in names))
        ]

    def check(self, columns: Iterable[str], labels: Iterable[str], others: int = 0) -> None:
        """Raise UsageError for a name that multiplies nothing, or both, and for more cells than a
        study may have.

        others: further columns.
        """
        across, down, each = list(columns), list(labels), f"{self.study}: each"
        for name in self.values:
            of_columns, of_rows = (
                any(name in self.names(text) for text in texts) for texts in (across, down)
            )
            if of_columns and of_rows:
                raise UsageError(
                    f"{each}: {{{name}}} is in a column's name and in a row's label; use two names"
                )
            if not of_columns and not of_rows:
                raise UsageError(f"{each}: {{{name}}} is in no column's name and no row's label")
        width, height = (sum(map(self.count, texts)) for texts in (across, down))
        cells = (width + others) * height
        if cells > MOST_CELLS:
            raise UsageError(
                f"{self.study}: {height:,} rows of {width + others:,} columns are {cells:,} cells; "
                f"a study has at most {MOST_CELLS:,}"
            )


def put_in(text: str, choice: Mapping[str, Any]) -> str:
    """A label, a task or a word with the values of `[each]` in it; other braces stay. Raises
    ValueError.
    """
    return _HOLE.sub(
        lambda found: fill(found[0], choice) if found["name"] in choice else found[0], text
    )


def fields(text: str) -> set[str]:
    """The entries that a learner's name asks for. Raises ValueError if it cannot be read, or might
    have no bound.
    """
    found = set()
    for _, field, form, _ in string.Formatter().parse(text):
        if field is None:
            continue
        # Three digits at most, so that no number has to be read that is too long for one.
        widths = re.findall(r"\d+", form or "")
        if "{" in (form or "") or any(len(width) > 3 or int(width) > _WIDEST for width in widths):
            raise ValueError(f"a width in it is above {_WIDEST}")
        if field:
            found.add(field)
    return found


def fill(text: str, entries: Mapping[str, Any]) -> str:
    """A learner's name with the entries of its row in it. Raises KeyError for one that is missing,
    else ValueError.
    """
    fields(text)
    filled = text.format_map(entries)
    if len(filled) > LONGEST:
        raise ValueError(f"{len(filled):,} letters, at most {LONGEST:,}")
    return filled


def is_count(value: Any) -> bool:
    """Whether it is a whole number from 1 on."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def shown(value: Any) -> str:
    """A value for a message: as it would be typed, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _spelled(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
