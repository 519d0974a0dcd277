"""The page of a study: parts that are shown in a terminal, in HTML and as files, written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quickstudy.base.study import Study


@dataclass(frozen=True)
class Paragraph:
    """Sentences. heading: a title above them, where a new part of the page begins."""

    text: str
    heading: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of text, the heading first; the first column names the row. name: of its CSV file.

    data: the numbers behind it, the heading first, for that file; without them it has those of the rows.
    """

    name: str
    caption: str
    rows: Sequence[Sequence[str]]
    data: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Picture:
    """An SVG element in the classes of the style sheet. name: of its file. narrow: another for a narrow window.

    data: the numbers behind it as rows of text, the heading first, for a CSV file of the same name.
    """

    name: str
    caption: str
    svg: str
    narrow: str = ""
    data: Sequence[Sequence[str]] = ()


Part = Paragraph | Grid | Picture


@dataclass(frozen=True)
class Page:
    """parts in their order. facts: everything in plain JSON types. whole: nothing would be added by the general report
    of the folder, so none is written. notes: what a reader has to know.
    """

    title: str
    source: str
    parts: Sequence[Part]
    facts: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    notes: str = ""

    @classmethod
    def of(
        cls, study: Study, parts: Sequence[Part], facts: Mapping[str, Any] | None = None, whole: bool = False
    ) -> Page:
        """The page of a study, under its title."""
        return cls(study.title, study.source, parts, facts or {}, whole, study.notes)


def half_words(rows: Sequence[Sequence[str]]) -> str:
    """What stands behind the means of a table, for its caption: nothing is promised that no cell has."""
    return (
        " ± half the 95 % interval" if any("±" in cell for row in rows for cell in row) else " (no interval: one run)"
    )
