"""An order for a study: what is to be run, where its results are, and which kind of page is made of them."""

from __future__ import annotations

import importlib
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.measure import Score
from quickstudy.base.study import Study, StudyRow
from quickstudy.report.study.found import Cells, Found, Shelf
from quickstudy.report.study.page import Page
from quickstudy.runs.job import Setting

KINDS = ("atlas", "audit", "curves", "grid", "illustration", "streams", "table")


@dataclass(frozen=True)
class Order:
    """A study as the user wants it. seeds: repetitions of every setting. controls: also the rules that never learn."""

    study: Study
    folder: pathlib.Path
    convention: str
    seeds: int
    root: int = 0
    protocol: Mapping[str, Any] = field(default_factory=dict)
    controls: bool = False

    @cached_property
    def shelf(self) -> Shelf:
        """The results folder, read once as long as it stays the same."""
        return Shelf(self.folder)

    def widened(self, whole: Study) -> Order:
        """The order with all rows of the whole study of which the folder has runs, and its own.

        A page of a few rows would otherwise take the place of one that showed more.
        """
        own = {row.label for row in self.study.rows}
        if len(own) == len(whole.rows):
            return self
        found = self.shelf.found()
        rows = tuple(row for row in whole.rows if row.label in own or self._has(row, found))
        wider = replace(self, study=replace(self.study, rows=rows))
        vars(wider)["shelf"] = self.shelf  # the same folder: what has been read need not be read again
        return wider

    def _has(self, row: StudyRow, found: Found) -> bool:
        """Whether there are runs on a row's task. Any of its learners finds them: there may be hundreds."""
        known = (learner for column in row.learners if (learner := row.learner(column, self.convention)))
        learner = next(known, None)
        return bool(learner) and found.has(Setting(row.task, str(learner), self.convention, self.root, self.protocol))

    def score(self, name: str) -> Score:
        """How a score is read."""
        return self.shelf.found().score(name)

    def cells(self) -> Cells:
        """The finished runs of the study under the convention of the order."""
        return self.shelf.found().cells(self.study, self.convention, self.protocol, self.root)


class Stage(NamedTuple):
    """Runs that can be done side by side: each setting with repetitions 0 .. seeds-1."""

    settings: Sequence[Setting]
    seeds: int


class Kind(Protocol):
    """A module of this package."""

    def stages(self, order: Order) -> Iterator[Stage]:
        """The runs, in one list or in several that follow from one another."""

    def page(self, order: Order) -> Page:
        """What the folder holds of the study."""


def kind_of(study: Study) -> Kind:
    """The module that serves a study. Raises UsageError for a kind that does not exist."""
    if study.kind not in KINDS:
        raise UsageError(f'{study.id}: no kind of study "{study.kind}"; {nearest(study.kind, KINDS)}')
    return cast(Kind, importlib.import_module(f"quickstudy.report.study.{study.kind}"))
