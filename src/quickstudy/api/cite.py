"""BibTeX of quickstudy and of the papers whose tasks and learners are in a results folder."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Iterable, Iterator

from quickstudy import __version__
from quickstudy.api.papers import FAMILIES, PAPERS, Paper
from quickstudy.api.run import Results
from quickstudy.base import registries
from quickstudy.base.record import Record
from quickstudy.base.sheet import sheet_of

_NAMED = re.compile(
    r"([A-ZÀ-Ý][\w\-]+)(?:(?:, [A-ZÀ-Ý][\w\-]+)*,? and [A-ZÀ-Ý][\w\-]+| et al\.)? (\d{4})"
)
"""The first author and the year in `Cisneros, Sivic and Mikolov 2022` or `Yilmaz 2014`."""
_TOOL = f"""@software{{quickstudy,
  title = {{quickstudy: an instrument that measures how a learner learns}},
  author = {{{{The quickstudy authors}}}},
  version = {{{__version__}}}
}}"""


def cite(folder: str | os.PathLike[str] | None = None) -> str:
    """BibTeX entries to cite.

    Parameters
    ----------
    folder:
        A results folder: quickstudy, and the papers of its tasks, learners, protocols and measures.
        Without one: quickstudy and the papers of all five families.

    Sources without an entry are listed as comments at the end. Raises UsageError if the folder
    has no results.

    """
    if folder is None:
        return "\n\n".join([_TOOL, *(_entry(key, PAPERS[key]) for key in FAMILIES.values())]) + "\n"
    named = dict.fromkeys(_sources(Results(pathlib.Path(folder)).records))
    known = [key for key in named if key in PAPERS]
    rest = [f"% {name.title()} {year}" for name, year in named if (name, year) not in PAPERS]
    missing = ["% Named on spec sheets, without an entry here:\n" + "\n".join(rest)] if rest else []
    return "\n\n".join([_TOOL, *(_entry(key, PAPERS[key]) for key in known), *missing]) + "\n"


def _sources(records: Iterable[Record]) -> Iterator[tuple[str, int]]:
    """First author and year of each paper, those of the families first."""
    records = list(records)
    for family in dict.fromkeys(record.labels.get("family", "") for record in records):
        if family in FAMILIES:
            yield FAMILIES[family]
    for text in dict.fromkeys(text for record in records for text in _texts(record)):
        for name, year in _NAMED.findall(text):
            yield name.lower().replace("denamganai", "denamganaï"), int(year)


def _texts(record: Record) -> Iterator[str]:
    """The sources on the sheets of everything that a run names."""
    ids = [record.what["task"]["id"], record.what["protocol"]["id"], *record.scores]
    ids += record.what["learner"]["id"].split("+")
    for id in ids:
        for registry in registries.ALL:
            if id in registry:
                yield sheet_of(registry.get(id)).fields.get("Source", "")


def _entry(key: tuple[str, int], paper: Paper) -> str:
    """An entry in BibTeX."""
    name, year = key
    place = {"article": "journal", "misc": "howpublished", "techreport": "institution"}
    fields = {
        "title": f"{{{paper.title}}}",
        "author": paper.authors,
        place.get(paper.kind, "booktitle"): paper.venue,
        "year": str(year),
    }
    lines = ",\n".join(f"  {field} = {{{value}}}" for field, value in fields.items())
    return f"@{paper.kind}{{{name}{year},\n{lines}\n}}"
