"""An order for a study: what is to be run, where its results are, and which kind of page is made of them."""

from __future__ import annotations

import dataclasses
import importlib
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, cast

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.measure import Score
from quickstudy.base.parameters import configure
from quickstudy.base.study import Study, StudyRow
from quickstudy.report.results import Cells, Found, Shelf
from quickstudy.report.study.page import Page
from quickstudy.runs.job import Setting, protocol_of

QUANTITIES = "quantities"
"""The kind that needs no runs: everything is computed from the tasks."""
KINDS = ("atlas", "audit", "curves", "grid", "illustration", QUANTITIES, "streams", "table")


@dataclass(frozen=True)
class Order:
    """A study as the user wants it. seeds: repetitions of every setting. controls: also the rules that never learn."""

    study: Study
    folder: pathlib.Path
    convention: str
    seeds: int
    root: int = 0
    controls: bool = False

    @cached_property
    def shelf(self) -> Shelf:
        """The results folder, read once as long as it stays the same."""
        return Shelf(self.folder, self.study.measures)

    def setting(self, row: StudyRow, learner: str, convention: str | None = None) -> Setting:
        """A learner on the task of a row, by its protocol; under the convention of the order, or another."""
        return Setting(row.task, learner, convention or self.convention, self.root, row.protocol)

    def widened(self, whole: Study) -> Order:
        """The order with all rows of the whole study of which the folder has runs, and its own.

        A page of a few rows would otherwise take the place of one that showed more.
        """
        own = {row.label for row in self.study.rows}
        if len(own) == len(whole.rows):
            return self
        found = self.shelf.found()
        rows = tuple(row for row in whole.rows if row.label in own or self._has(row, found))
        wider = dataclasses.replace(self, study=dataclasses.replace(self.study, rows=rows))
        vars(wider)["shelf"] = self.shelf  # the same folder: what has been read need not be read again
        return wider

    def _has(self, row: StudyRow, found: Found) -> bool:
        """Whether there are runs on a row's task. Any of its learners finds them: there may be hundreds."""
        known = (learner for column in row.learners if (learner := row.learner(column, self.convention)))
        learner = next(known, None)
        return learner is not None and found.has(self.setting(row, learner))

    def score(self, name: str) -> Score:
        """How a score is read."""
        return self.shelf.found().score(name)

    def cells(self) -> Cells:
        """The finished runs of the study under the convention of the order."""
        return self.shelf.found().cells(self.study, self.convention, self.root)


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
    """The module that serves a study. Raises UsageError for a kind that does not exist, or is for other studies."""
    if study.kind not in KINDS:
        raise UsageError(f'{study.id}: no kind of study "{study.kind}"; {nearest(study.kind, KINDS)}')
    if bool(study.quantities) != (study.kind == QUANTITIES):
        raise UsageError(
            f'{study.id}: a study of [quantities], and no other, is of the kind "{QUANTITIES}", got "{study.kind}"'
        )
    return cast(Kind, importlib.import_module(f"quickstudy.report.study.{study.kind}"))


def by_protocol(study: Study, convention: str, given: Mapping[str, Any], exact: bool = False) -> Study:
    """The study with all parameters of the protocol in its rows.

    In this order, the later over the earlier: what the protocol says is `usual` in studies, what the study and the row
    say, with `exact` what the protocol says is that, and what was given. A row whose protocol knows nothing of a
    parameter that was given stays without it. Raises UsageError for one that a row's protocol does not have, or that
    was given and no row's has.
    """
    rows, known = [], set()
    for row in study.rows:
        if not row.learners:  # nothing is examined
            rows.append(row)
            continue
        name = protocol_of(catalogue.task.get(row.task.partition(":")[0]))
        protocol = catalogue.protocol.get(name)
        fields = {field.name for field in dataclasses.fields(protocol)}
        known |= fields
        chosen = {
            **getattr(protocol, "usual", {}),
            **row.protocol,
            **(getattr(protocol, "exact", {}) if exact else {}),
            **{parameter: value for parameter, value in given.items() if parameter in fields},
        }
        try:
            configure(name, protocol, chosen, convention)
        except UsageError as error:
            raise UsageError(f'{study.id}: row "{row.label}": {error}') from error
        rows.append(dataclasses.replace(row, protocol=chosen))
    for parameter in given:
        if parameter not in known:
            raise UsageError(
                f'{study.id}: no protocol of it has a parameter "{parameter}"; {nearest(parameter, known)}'
            )
    return dataclasses.replace(study, rows=tuple(rows))
