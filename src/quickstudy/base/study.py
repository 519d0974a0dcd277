"""A study: a declared grid of runs, with the published numbers where there are any. It is data; nothing in it computes.

A file `NAME.toml` has
- `version`, `title`, `source`, `notes`; `seeds` of the publication; `convention`: under which it is made unless another
  is asked for (`published`, if it says nothing);
- `kind`: what is made of the runs (`table`, `curves`, ...; see `pages`);
- `score`: a score's name, or `maximum-of-mean-curve`; a list where there are several, the first being the main one;
- `measures`: measures besides those of the protocol, whose scores may be asked for;
- `learners`: column = learner, or column = a learner for each convention; `{name}` stands for an entry of the row;
- `together`: model = the columns (or patterns of them) that are one model, of which the best run is shown;
- `quantities`: column = a number that is computed from the task alone; then there are no learners;
- `beside`: columns that have published numbers and no learner; `human` needs no mention;
- `each`: names that stand for several values, in the names of columns or in the labels of rows (see `each.py`);
- `protocol`: parameters of the protocol, for all rows;
- `rows`: each with a `task`, a `label`, its entries, `protocol` of its own, and `published`: column = [value, spread],
  a single value, or words; with `columns`, only these of the learners run on it; `also.SCORE` has published numbers of
  another score;
- `settings`: numbers and words that the kind asks for.
`like = "OTHER"` takes learners, rows and settings from another study, its runs, and its published numbers where the
main score is the same; rows that are given have published numbers of their own.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import importlib.resources
import math
import pathlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from quickstudy.base.errors import UsageError, nearest

ROUNDED = 0.005
"""Published spreads are rounded to two decimals: one that is printed as 0.00 is up to this."""
NEVER = "never"
_BOUND = re.compile(r"(?P<sign><=|>=|[<>≤≥])\s*(?P<number>[-+]?\d[\d,]*(\.\d+)?([eE][-+]?\d+)?)")


class Published(NamedTuple):
    """A published number and its spread (a standard deviation over runs), None where none was given.

    Where words were printed, value is these words. A bound (`<1`, `≥100`) and `never` (infinite) can be compared with a
    number; others (`chance`) are shown, and compared with nothing.
    """

    value: float | str
    spread: float | None = None

    def agrees(self, measured: float) -> bool | None:
        """Whether a number is within the spread, or where the words say it is; None where that cannot be told.

        >>> Published(0.5, 0.1).agrees(0.55), Published("<1").agrees(1.0), Published("chance").agrees(0.5)
        (True, False, None)
        """
        if math.isnan(measured):
            return None
        if isinstance(self.value, str):
            return _fits(self.value, measured)
        return None if self.spread is None else abs(measured - self.value) <= max(self.spread, ROUNDED)


def _fits(words: str, measured: float) -> bool | None:
    if words == NEVER:
        return math.isinf(measured)
    bound = _BOUND.fullmatch(words)
    if bound is None:
        return None
    number = float(bound["number"].replace(",", ""))
    return {
        "<": measured < number,
        ">": measured > number,
        "≤": measured <= number,
        "≥": measured >= number,
    }[bound["sign"].replace("<=", "≤").replace(">=", "≥")]


@dataclass(frozen=True)
class StudyRow:
    """One task of a study: its learners by column (by convention, where they differ), the published numbers of the
    main score, and those of other scores; parameters of its protocol.
    """

    task: str
    label: str
    learners: Mapping[str, str | Mapping[str, str]]
    published: Mapping[str, Published]
    also: Mapping[str, Mapping[str, Published]] = dataclasses.field(default_factory=dict)
    protocol: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def learner(self, column: str, convention: str) -> str | None:
        """The learner of a column under a convention; None where the column has none."""
        found = self.learners.get(column)
        return found if found is None or isinstance(found, str) else found.get(convention)


@dataclass(frozen=True)
class Study:
    """A published table or figure. seeds: runs behind each published number. runs: whose results folder it reads and
    extends, its own or that of the study it is like. convention: the one it is made under unless another is asked for.
    together: the columns of every model that has several. measures: those applied besides the protocol's. quantities:
    what is computed from the tasks alone, by column.
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
    convention: str = "published"
    together: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    measures: tuple[str, ...] = ()
    quantities: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def score(self) -> str:
        """The main score."""
        return self.scores[0]

    @property
    def models(self) -> tuple[str, ...]:
        """The columns of a table: a model in the place of the first of its columns, every other column as it is."""
        owners: dict[str, list[str]] = {}
        for model, columns in self.together.items():
            for column in columns:
                owners.setdefault(column, []).append(model)
        return tuple(dict.fromkeys(name for column in self.columns for name in owners.get(column, [column])))

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
