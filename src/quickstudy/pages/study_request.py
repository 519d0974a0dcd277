"""A request for the page of a study: the runs that its blocks need, in stages, and the page that
they make of them.

A block is a class under `@block(name, version=)`. `stages(request)` gives the runs it needs, as
(settings, seeds), the next when those before have been run; a block that needs none of its own
leaves it out. `blocks(request)` makes blocks of what the folder holds, as a list or, where `--json`
should have its numbers too, as `Made`. `whole = True`: the page shows so much that the general
report of the folder would add nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from quickstudy.base import registries
from quickstudy.base.blocks import CONTROL
from quickstudy.base.errors import QuickstudyError, UsageError, nearest
from quickstudy.base.measure import Score
from quickstudy.base.parameters import configure, parse_assignments
from quickstudy.base.study import Study, StudyRow
from quickstudy.base.trace import Trace
from quickstudy.runs.results import ResultsFolder, ResultsTable, Runs, Values
from quickstudy.runs.run_spec import Setting, protocol_of, task_controls

QUANTITIES = "quantities"
"""The kind that needs no runs: everything is computed from the tasks."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "table": ("published", "claims"),
    "streams": ("published", "claims", "segments"),
    "audit": ("audited", "leak", "first", "rules", "material", "time", "claims:apart=true"),
    "atlas": ("candidates", "map", "chosen-rules", "symmetry"),
}
"""Kinds of study that are several blocks. Every block is a kind by itself too, and `a + b` is one
after the other.
"""
CONVENTIONS = ("published", "corrected")
"""Those that a page shows side by side."""


class Stage(NamedTuple):
    """Runs that can be done side by side: each setting with repetitions 0 .. seeds-1."""

    settings: Sequence[Setting]
    seeds: int


@dataclass(frozen=True)
class Request:
    """A study as the user wants it, and what its results folder holds.

    seeds: repetitions of every setting. controls: also the rules that never learn. whole: the study
    with all its rows, where only some are asked for. changed: parameters of the protocol that are
    not those of the study.
    """

    study: Study
    folder: pathlib.Path
    convention: str
    seeds: int
    root: int = 0
    controls: bool = False
    whole: Study | None = None
    changed: Mapping[str, Any] = field(default_factory=dict)
    shelf: ResultsFolder = field(default=None, compare=False, repr=False)  # type: ignore[assignment]  # made of the folder

    def __post_init__(self) -> None:
        if self.shelf is None or self.shelf.folder != self.folder:
            object.__setattr__(self, "shelf", ResultsFolder(self.folder))

    @property
    def results(self) -> ResultsTable:
        """The runs that the folder holds now."""
        return self.shelf.table(self.study.measures)

    def under(self, convention: str) -> Request:
        """The same under another convention."""
        return dataclasses.replace(self, convention=convention)

    @property
    def name(self) -> str:
        """What the names of its files begin with."""
        return f"{self.study.id}-{self.convention}"

    @property
    def rows(self) -> Sequence[StudyRow]:
        """The tasks."""
        return self.study.rows

    @cached_property
    def columns(self) -> list[str]:
        """The models: columns that have a learner."""
        return [
            column
            for column in self.study.columns
            if any(column in row.learners for row in self.rows)
        ]

    @property
    def wanted(self) -> tuple[str, ...]:
        """The conventions of an audit: under `corrected` everything is run, under another only
        that.
        """
        return CONVENTIONS if self.convention == "corrected" else (self.convention,)

    def setting(self, row: StudyRow, learner: str) -> Setting:
        """A learner on the task of a row, by its protocol."""
        return Setting(row.task, learner, self.convention, self.root, row.protocol)

    def learners(self, row: StudyRow) -> dict[str, str]:
        """The learner of each column on a row; a column may have no learner under the
        convention.
        """
        found = {column: row.learner(column, self.convention) for column in row.learners}
        return {column: learner for column, learner in found.items() if learner}

    def models(self) -> list[Setting]:
        """All learners of the study on all its tasks."""
        return [
            self.setting(row, learner)
            for row in self.rows
            for learner in self.learners(row).values()
        ]

    def rules(self) -> list[Setting]:
        """The controls and oracles of all its tasks."""
        return [self.setting(row, name) for row in self.rows for name in task_controls(row.task)]

    def score(self, name: str) -> Score:
        """How a score is read."""
        return self.results.score(name)

    def cells(self) -> dict[str, dict[str, Runs]]:
        """The finished runs of the study, by row label and column: of all who learn, empty if
        nothing was run.
        """
        return {
            row.label: {
                column: self.runs(row, learner) for column, learner in self.learners(row).items()
            }
            for row in self.rows
        }

    def runs(self, row: StudyRow, learner: str | None) -> Runs:
        """The finished runs of a learner on the task of a row."""
        return {} if learner is None else self.results.runs(self.setting(row, learner))

    def values(self, row: StudyRow, learner: str | None, score: str) -> Values:
        """One score of these runs."""
        return self.results.values(self.runs(row, learner), score)

    def traces(
        self, row: StudyRow, learner: str | None, damaged: list[str] | None = None
    ) -> dict[tuple[int, int], Trace]:
        """Their traces; those that cannot be read are left out, as `quickstudy doctor` will say.
        damaged: gains why.
        """
        found = {}
        for place, record in self.runs(row, learner).items():
            try:
                found[place] = self.results.trace(record)
            except QuickstudyError as error:
                if damaged is not None:
                    damaged.append(str(error))
        return found

    def controls_of(self, row: StudyRow, score: str) -> dict[str, Values]:
        """The values of every control of a task that was run; the oracle is none."""
        runs = {name: self.runs(row, name) for name in task_controls(row.task)}
        return {
            name: values
            for name, own in runs.items()
            if all(record.labels["role"] == CONTROL for record in own.values())
            and (values := self.results.values(own, score))
        }

    def widened(self) -> Request:
        """The request with all rows of the whole study of which the folder has runs, and its own.

        A page of a few rows would otherwise take the place of one that showed more.
        """
        whole, own = self.whole or self.study, {row.label for row in self.rows}
        if self.study.rows == whole.rows:
            return self

        def has(
            row: StudyRow,
        ) -> bool:  # any of its learners finds runs on its task: there may be hundreds
            return any(
                self.results.has(self.setting(row, learner))
                for learner in [*self.learners(row).values()][:1]
            )

        rows = tuple(row for row in whole.rows if row.label in own or has(row))
        return dataclasses.replace(self, study=dataclasses.replace(self.study, rows=rows))


def blocks_of(study: Study) -> list[Any]:
    """The blocks of a study's page. Raises UsageError for a kind that does not exist, or is for
    other studies.
    """
    names = [
        name for kind in study.kind.split("+") for name in KINDS.get(kind.strip(), (kind.strip(),))
    ]
    made = []
    for id, _, given in (name.partition(":") for name in names):
        if id not in registries.block:
            hint = nearest(id, [*KINDS, *registries.block.names()])
            raise UsageError(f'{study.id}: no kind of study "{id}"; {hint}')
        found = registries.block.get(id)
        made.append(
            configure(id, found, parse_assignments(given), study.convention) if given else found()
        )
    if bool(study.quantities) != (QUANTITIES in names):
        raise UsageError(
            f'{study.id}: a study of [quantities], and no other, is of the kind "{QUANTITIES}", got'
            f' "{study.kind}"'
        )
    return made


def stages_of(request: Request) -> Iterator[Stage]:
    """The runs that the blocks of a request need: first what each of them needs first, together,
    and so on.
    """
    needs = [
        block.stages(request) for block in blocks_of(request.study) if hasattr(block, "stages")
    ]
    nothing = True
    for stages in itertools.zip_longest(*needs):
        together: dict[int, dict[str, Setting]] = {}
        for settings, seeds in filter(None, stages):  # two blocks may need the same
            together.setdefault(seeds, {}).update({repr(setting): setting for setting in settings})
        for seeds, some in together.items():
            if some:
                nothing = False
                yield Stage(list(some.values()), seeds)
    if nothing:
        yield Stage([], 0)


def by_protocol(
    study: Study, convention: str, given: Mapping[str, Any], exact: bool = False
) -> Study:
    """The study with all parameters of the protocol in its rows.

    In this order, the later over the earlier: the protocol's `usual` values for studies, those of
    the study and the row, with `exact` the protocol's exact values, and the user's values. A row
    whose protocol knows nothing of a parameter that was given stays without it. Raises UsageError
    for one that a row's protocol does not have, or that was given and no row's has.
    """
    rows, known = [], set()
    for row in study.rows:
        if not row.learners:  # nothing is examined
            rows.append(row)
            continue
        name = protocol_of(registries.task.get(row.task.partition(":")[0]))
        protocol = registries.protocol.get(name)
        fields = {field.name for field in dataclasses.fields(protocol)}
        known |= fields
        chosen = {
            **protocol.usual,
            **row.protocol,
            **(protocol.exact if exact else {}),
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
                f'{study.id}: no protocol of it has a parameter "{parameter}";'
                f" {nearest(parameter, known)}"
            )
    return dataclasses.replace(study, rows=tuple(rows))


def changed_protocol(
    study: Study, convention: str, given: Mapping[str, Any], exact: bool = False
) -> dict[str, Any]:
    """Those of the given parameters of the protocol that a row of the study has not anyway."""
    own, other = (by_protocol(study, convention, some, exact) for some in ({}, given))
    changed: dict[str, Any] = {}
    for before, after in zip(own.rows, other.rows, strict=True):
        if before.learners:
            name = protocol_of(registries.task.get(before.task.partition(":")[0]))
            protocol = registries.protocol.get(name)
            was, now = (
                configure(name, protocol, row.protocol, convention) for row in (before, after)
            )
            changed |= {
                part: getattr(now, part)
                for part in given
                if getattr(now, part, None) != getattr(was, part, None)
            }
    return changed
