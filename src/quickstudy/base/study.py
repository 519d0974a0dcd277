"""A study: a declared grid of runs, with the published numbers where there are any. It is data; nothing in it computes.

A file `NAME.toml` has `version`, `title`, `source`, `kind` (`table` or `curves`), `score` (a score's name, or
`maximum-of-mean-curve`), `seeds` (of the publication), the table `learners` (column = learner, in which `{name}` is
replaced by an entry of the row) and `rows`: each with a `task`, a `label`, its entries, and `published`: column =
[value, spread], or a single value.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import importlib.resources
import pathlib
import tomllib
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
    """One task of a study: its learners by column, the published numbers by column."""

    task: str
    label: str
    learners: Mapping[str, str]
    published: Mapping[str, Published]


@dataclass(frozen=True)
class Study:
    """A published table or figure. seeds: runs behind each published number."""

    id: str
    version: int
    title: str
    source: str
    kind: str
    score: str
    seeds: int
    columns: tuple[str, ...]
    rows: tuple[StudyRow, ...]
    notes: str = ""

    def only(self, patterns: Sequence[str]) -> Study:
        """The study with only the tasks that fit one of the patterns; all of them when there is none."""
        if not patterns:
            return self
        rows = tuple(row for row in self.rows if any(fnmatch.fnmatch(row.task, pattern) for pattern in patterns))
        if not rows:
            tasks = ", ".join(row.task for row in self.rows)
            raise UsageError(f"no task of {self.id} fits {' or '.join(patterns)}; it has {tasks}")
        return dataclasses.replace(self, rows=rows)


def study_names() -> list[str]:
    """The studies that come with the package."""
    files = importlib.resources.files("quickstudy.studies").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def find_study(name: str) -> Study:
    """A study by name, or from a file of the user's. Raises UsageError with the nearest name or what the file lacks."""
    if name.endswith(".toml"):
        path = pathlib.Path(name)
        if not path.is_file():
            raise UsageError(f"no file {name}")
        return _read(path.stem, path.read_text(encoding="utf-8"))
    if name not in study_names():
        raise UsageError(f'no study "{name}"; {nearest(name, study_names())}')
    return _read(name, importlib.resources.files("quickstudy.studies").joinpath(f"{name}.toml").read_text("utf-8"))


def _read(name: str, text: str) -> Study:
    try:
        facts = tomllib.loads(text)
        learners: Mapping[str, str] = facts["learners"]
        rows = tuple(_row(row, learners) for row in facts["rows"])
        published = {column: None for row in rows for column in row.published}
        return Study(
            id=name,
            version=facts["version"],
            title=facts["title"],
            source=facts["source"],
            kind=facts["kind"],
            score=facts["score"],
            seeds=facts["seeds"],
            columns=tuple(dict.fromkeys([*learners, *published])),
            rows=rows,
            notes=facts.get("notes", "").strip(),
        )
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: not TOML: {error}") from error
    except KeyError as error:
        raise UsageError(f"{name}: the study says nothing of {error}") from error


def _row(facts: Mapping[str, Any], learners: Mapping[str, str]) -> StudyRow:
    published = {
        column: Published(*number) if isinstance(number, list) else Published(float(number))
        for column, number in facts.get("published", {}).items()
    }
    return StudyRow(
        task=facts["task"],
        label=facts["label"],
        learners={column: learner.format_map(facts) for column, learner in learners.items()},
        published=published,
    )
