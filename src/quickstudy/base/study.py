"""A study: a declared grid of runs, with the published numbers where there are any. It is data; nothing in it computes.

A file `NAME.toml` has
- `version`, `title`, `source`, `notes`; `seeds` of the publication;
- `kind`: what is made of the runs (`table`, `curves`, ...; see `report/study`);
- `score`: a score's name, or `maximum-of-mean-curve`; a list where there are several, the first being the main one;
- `learners`: column = learner, or column = a learner for each convention; `{name}` stands for an entry of the row;
- `beside`: columns that have published numbers and no learner; `human` needs no mention;
- `each`: name = number of values; a column whose name holds `{name}` is there once for every value from 0 on;
- `rows`: each with a `task`, a `label`, its entries, and `published`: column = [value, spread], or a single value;
  with `columns`, only these of the learners run on it; `also.SCORE` has published numbers of another score;
- `settings`: numbers and words that the kind asks for.
`like = "OTHER"` takes learners, rows and settings from another study, its runs, and its published numbers where the
main score is the same; rows that are given have published numbers of their own.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import importlib.resources
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from quickstudy.base.errors import UsageError, nearest


class Published(NamedTuple):
    """A published number and its spread (a standard deviation over runs), None where none was given."""

    value: float
    spread: float | None = None


@dataclass(frozen=True)
class StudyRow:
    """One task of a study: its learners by column (by convention, where they differ), the published numbers of the
    main score, and those of other scores.
    """

    task: str
    label: str
    learners: Mapping[str, str | Mapping[str, str]]
    published: Mapping[str, Published]
    also: Mapping[str, Mapping[str, Published]] = dataclasses.field(default_factory=dict)

    def learner(self, column: str, convention: str) -> str | None:
        """The learner of a column under a convention; None where the column has none."""
        found = self.learners.get(column)
        return found if found is None or isinstance(found, str) else found.get(convention)


@dataclass(frozen=True)
class Study:
    """A published table or figure. seeds: runs behind each published number. runs: whose results folder it reads and
    extends, its own or that of the study it is like.
    """

    id: str
    version: int
    title: str
    source: str
    kind: str
    scores: tuple[str, ...]
    seeds: int
    columns: tuple[str, ...]
    rows: tuple[StudyRow, ...]
    notes: str = ""
    runs: str = ""
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def score(self) -> str:
        """The main score."""
        return self.scores[0]

    def only(self, patterns: Sequence[str]) -> Study:
        """The study with only the rows whose task or label fits one of the patterns; all when there is none."""
        if not patterns:
            return self
        rows = tuple(
            row
            for row in self.rows
            if any(fnmatch.fnmatch(name, pattern) for name in (row.task, row.label) for pattern in patterns)
        )
        if not rows:
            known = ", ".join(f"{row.task} ({row.label})" for row in self.rows)
            raise UsageError(f"no task of {self.id} fits {' or '.join(patterns)}; it has {known}")
        return dataclasses.replace(self, rows=rows)


def study_names() -> list[str]:
    """The studies that come with the package."""
    files = importlib.resources.files("quickstudy.studies").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def find_study(name: str) -> Study:
    """A study by name, or from a file of the user's. Raises UsageError with the nearest name or what the file lacks."""
    from quickstudy.base.studyfile import read_study

    return read_study(name)


def study_text(name: str) -> str:
    """What the file of a study says. Raises UsageError if there is none, or if it is no text."""
    if not name.endswith(".toml"):
        if name not in study_names():
            raise UsageError(f'no study "{name}"; {nearest(name, study_names())}')
        return importlib.resources.files("quickstudy.studies").joinpath(f"{name}.toml").read_text("utf-8")
    try:
        return pathlib.Path(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UsageError(f"no file {name}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 text (byte {error.start + 1}); save it as UTF-8") from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None
