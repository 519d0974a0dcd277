"""A study: a declared grid of runs, with the published numbers where there are any. It is data;
nothing in it computes.

Every key that a file `NAME.toml` may have is in docs/reference/studies.md; `base/studyfile.py`
reads and checks them, and `base/study_grid.py` makes many rows or columns of one.
"""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
import importlib.resources
import math
import pathlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from quickstudy.base.errors import UsageError, nearest

ROUNDED = 0.005
"""Published spreads are rounded to two decimals: one that is printed as 0.00 is up to this."""
NEVER = "never"
_MOST_LETTERS = 40
"""Of words in the place of a published number: they are in a cell."""
_DEEPEST = 20
"""Tables within tables. No kind of study asks for more than three."""
_LARGEST = 2**63
"""Beyond it a whole number is a slip, and one of thousands of digits cannot even be printed."""

_BOUND = re.compile(r"(?P<sign><=|>=|[<>≤≥])\s*(?P<number>[-+]?\d[\d,]*(\.\d+)?([eE][-+]?\d+)?)")


class Published(NamedTuple):
    """A published number and its spread (a standard deviation over runs), None where none was
    given.

    Where words were printed, value is these words. A bound (`<1`, `≥100`) and `never` (infinite)
    can be compared with a number; others (`chance`) are shown, and compared with nothing.
    """

    value: float | str
    spread: float | None = None

    @classmethod
    def read(cls, number: Any) -> Published:
        """From the content of a file: a number, [number, spread], or words. Raises ValueError for
        anything else.
        """
        value, *spread = number if isinstance(number, list) and number else [number]
        if not (_is_finite(value) or _are_words(number)):
            raise ValueError(number)
        if len(spread) > 1 or not all(_is_finite(one) and one >= 0 for one in spread):
            raise ValueError(number)
        return cls(value.strip() if isinstance(value, str) else float(value), *map(float, spread))

    def agrees(self, measured: float) -> bool | None:
        """Whether a number is within the spread, or where the published words put it; None if it
        cannot be decided.

        >>> Published(0.5, 0.1).agrees(0.55), Published("<1").agrees(1.0)
        (True, False)
        >>> print(Published("chance").agrees(0.5))
        None
        """
        if math.isnan(measured):
            return None
        if isinstance(self.value, str):
            return _fits(self.value, measured)
        return (
            None if self.spread is None else abs(measured - self.value) <= max(self.spread, ROUNDED)
        )


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _are_words(value: Any) -> bool:
    """Whether it is what a publication has in the place of a number; a number in quotes is a
    slip.
    """
    if not isinstance(value, str) or not 0 < len(value.strip()) <= _MOST_LETTERS:
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


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
    """One task of a study: its learners by column (by convention, where they differ), the published
    numbers of the main score, and those of other scores; parameters of its protocol.
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
    """A published table or figure. seeds: runs of each published number. runs: whose results
    folder it reads and extends, its own or that of the study it is like. convention: the one it is
    made under unless another is asked for. together: the columns of every model that has several.
    measures: those applied besides the protocol's. quantities: what is computed from the tasks
    alone, by column.
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
        """The columns of a table: a model in the place of the first of its columns, every other
        column unchanged.
        """
        owners: dict[str, list[str]] = {}
        for model, columns in self.together.items():
            for column in columns:
                owners.setdefault(column, []).append(model)
        return tuple(
            dict.fromkeys(name for column in self.columns for name in owners.get(column, [column]))
        )

    def only(self, patterns: Sequence[str]) -> Study:
        """The study with only the rows whose task, with or without its family, or label fits one of
        the patterns, and of these only the learners whose column, or model, fits one; all rows, or
        all learners, where no pattern fits any.
        """

        def fits(names: Iterable[str], patterns: Sequence[str]) -> bool:
            return any(fnmatch.fnmatch(name, pattern) for name in names for pattern in patterns)

        def names_of(row: StudyRow) -> tuple[str, ...]:
            return row.task, row.task.partition("/")[2], row.label

        named = {
            column: [column, *(m for m, own in self.together.items() if column in own)]
            for column in self.columns
        }
        of_rows = [one for one in patterns if any(fits(names_of(row), [one]) for row in self.rows)]
        of_columns = [
            one for one in patterns if any(fits(names, [one]) for names in named.values())
        ]
        if lost := [one for one in patterns if one not in (*of_rows, *of_columns)]:
            known = ", ".join(f"{row.task} ({row.label})" for row in self.rows)
            raise UsageError(f"no task of {self.id} fits {' or '.join(lost)}; it has {known}")
        rows = [row for row in self.rows if not of_rows or fits(names_of(row), of_rows)]
        if of_columns:
            kept = {column for column, names in named.items() if fits(names, of_columns)}
            rows = [
                dataclasses.replace(
                    row, learners={one: own for one, own in row.learners.items() if one in kept}
                )
                for row in rows
            ]
        return dataclasses.replace(self, rows=tuple(rows))


def study_names() -> list[str]:
    """The studies that come with the package."""
    files = importlib.resources.files("quickstudy.studies").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def find_study(name: str, asking: tuple[str, ...] = ()) -> Study:
    """A study by name, or from a file of the user's. asking: the studies that are like this one,
    and wait for it.

    Raises UsageError with the nearest name or what is wrong with the file.
    """
    from quickstudy.base.studyfile import StudyFile

    if name in asking:
        raise UsageError(f"{name}: the study is like itself ({' -> '.join((*asking, name))})")
    text = study_text(name)
    id = pathlib.PurePath(name).stem if name.endswith(".toml") else name
    if not id.strip("."):
        raise UsageError(
            f"{name} has no name before .toml, and its results would have none; rename the file"
        )
    file = StudyFile(id, _parsed(id, text))
    file.check()
    like = file.facts.get("like")
    return file.study(None if like is None else find_study(like, (*asking, name)))


def study_text(name: str) -> str:
    """The content of a study file. Raises UsageError if it does not exist, or if it is not text."""
    if not name.endswith(".toml"):
        if name not in study_names():
            raise UsageError(f'no study "{name}"; {nearest(name, study_names())}')
        return (
            importlib.resources.files("quickstudy.studies")
            .joinpath(f"{name}.toml")
            .read_text("utf-8")
        )
    try:
        return pathlib.Path(name).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"no file {name}") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name} is not UTF-8 text (byte {error.start + 1}); save it as UTF-8"
        ) from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}") from None


def _parsed(id: str, text: str) -> dict[str, Any]:
    """The content of a file. Raises UsageError if it is not TOML, or holds what nothing here could
    be done with.
    """
    try:
        facts = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{id}: not TOML: {error}") from error
    except ValueError as error:
        raise UsageError(f"{id}: a number in it has too many digits") from error
    except RecursionError:
        raise UsageError(f"{id}: it is nested more than {_DEEPEST} deep") from None
    level: list[Any] = [facts]
    for _ in range(_DEEPEST):
        parts = [
            part
            for value in level
            for part in (value.values() if isinstance(value, dict) else value)
        ]
        for part in parts:
            if isinstance(part, int) and abs(part) >= _LARGEST:
                raise UsageError(f"{id}: a number in it has too many digits")
            if isinstance(part, datetime.date | datetime.time):
                raise UsageError(
                    f'{id}: a study has no dates, got {part}; write it as a text: "{part}"'
                )
        level = [part for part in parts if isinstance(part, dict | list)]
    if level:
        raise UsageError(f"{id}: it is nested more than {_DEEPEST} deep")
    return facts
