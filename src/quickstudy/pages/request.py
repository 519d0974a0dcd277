"""A request for the page of a study: the runs that its blocks need, in stages, and the page that they make of them.

A block is a class under `@block(name, version=)`. `stages(request)` gives the runs it needs, as (settings, seeds), the
next when those before have been run; a block that needs none of its own leaves it out. `blocks(request)` makes blocks
of what the folder holds, as a list or, where `--json` should have its numbers too, as `Made`. `whole = True`: the page
shows so much that the general report of the folder would add nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from quickstudy.base import catalogue
from quickstudy.base.blocks import CONTROL
from quickstudy.base.errors import QuickstudyError, UsageError, nearest
from quickstudy.base.measure import Score
from quickstudy.base.parameters import configure, parse_assignments
from quickstudy.base.study import Study, StudyRow
from quickstudy.base.trace import Trace
from quickstudy.report.results import Cells, Found, Runs, Shelf, scores_of
from quickstudy.report.statistics import Values
from quickstudy.runs.setting import Setting, protocol_of, task_controls

QUANTITIES = "quantities"
"""The kind that needs no runs: everything is computed from the tasks."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "table": ("published", "claims"),
    "streams": ("published", "claims", "segments"),
    "audit": ("audited", "leak", "first", "rules", "material", "time", "claims:apart=true"),
    "atlas": ("candidates", "map", "chosen-rules", "symmetry"),
}
"""Kinds of study that are several blocks. Every block is a kind by itself too, and `a + b` is one after the other."""
CONVENTIONS = ("published", "corrected")
"""Those that a page shows side by side."""


class Stage(NamedTuple):
    """Runs that can be done side by side: each setting with repetitions 0 .. seeds-1."""

    settings: Sequence[Setting]
    seeds: int


@dataclass(frozen=True)
class Request:
    """A study as the user wants it, and what its results folder holds.

    seeds: repetitions of every setting. controls: also the rules that never learn. whole: the study with all its rows,
    where only some are asked for.
    """

    study: Study
    folder: pathlib.Path
    convention: str
    seeds: int
    root: int = 0
    controls: bool = False
    whole: Study | None = None
    shelf: Shelf = field(default=None, compare=False, repr=False)  # type: ignore[assignment]  # made of the folder

    def __post_init__(self) -> None:
        if self.shelf is None or self.shelf.folder != self.folder:
            object.__setattr__(self, "shelf", Shelf(self.folder, self.study.measures))

    @property
    def found(self) -> Found:
        """The finished runs that the folder holds now."""
        return self.shelf.found()

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
        return [column for column in self.study.columns if any(column in row.learners for row in self.rows)]

    @property
    def wanted(self) -> tuple[str, ...]:
        """The conventions of an audit: under `corrected` everything is run, under another only that."""
        return CONVENTIONS if self.convention == "corrected" else (self.convention,)

    def setting(self, row: StudyRow, learner: str, convention: str = "") -> Setting:
        """A learner on the task of a row, by its protocol; under the convention of the request, or another."""
        return Setting(row.task, learner, convention or self.convention, self.root, row.protocol)

    def models(self, convention: str = "") -> list[Setting]:
        """All learners of the study on all its tasks."""
        convention = convention or self.convention
        learners = ((row, row.learner(column, convention)) for row in self.rows for column in row.learners)
        return [self.setting(row, learner, convention) for row, learner in learners if learner]

    def rules(self, convention: str = "") -> list[Setting]:
        """The controls and oracles of all its tasks."""
        return [self.setting(row, name, convention) for row in self.rows for name in task_controls(row.task)]

    def score(self, name: str) -> Score:
        """How a score is read."""
        return self.found.score(name)

    def cells(self, convention: str = "") -> Cells:
        """The finished runs of the study, by row and column."""
        return self.found.cells(self.study, convention or self.convention, self.root)

    def runs(self, row: StudyRow, learner: str | None, convention: str = "") -> Runs:
        """The finished runs of a learner on the task of a row."""
        return {} if learner is None else self.found.of(self.setting(row, learner, convention))

    def values(self, row: StudyRow, learner: str | None, score: str, convention: str = "") -> Values:
        """One score of these runs."""
        return scores_of(self.runs(row, learner, convention), score)

    def traces(
        self, row: StudyRow, learner: str | None, convention: str = "", damaged: list[str] | None = None
    ) -> dict[tuple[int, int], Trace]:
        """Their traces; those that cannot be read are left out, as `quickstudy doctor` will say. damaged: gains why."""
        found = {}
        for place, record in self.runs(row, learner, convention).items():
            try:
                found[place] = self.found.trace(record)
            except QuickstudyError as error:
                if damaged is not None:
                    damaged.append(str(error))
        return found

    def controls_of(self, row: StudyRow, score: str, convention: str = "") -> dict[str, Values]:
        """The values of every control of a task that was run; the oracle is none."""
        runs = {name: self.runs(row, name, convention) for name in task_controls(row.task)}
        return {
            name: values
            for name, own in runs.items()
            if all(record.labels["role"] == CONTROL for record in own.values()) and (values := scores_of(own, score))
        }

    def widened(self) -> Request:
        """The request with all rows of the whole study of which the folder has runs, and its own.

        A page of a few rows would otherwise take the place of one that showed more.
        """
        whole, own = self.whole or self.study, {row.label for row in self.rows}
        if self.study.rows == whole.rows:
            return self

        def has(row: StudyRow) -> bool:  # any of its learners finds runs on its task: there may be hundreds
            learners = (row.learner(column, self.convention) for column in row.learners)
            learner = next(filter(None, learners), None)
            return learner is not None and self.found.has(self.setting(row, learner))

        rows = tuple(row for row in whole.rows if row.label in own or has(row))
        return dataclasses.replace(self, study=dataclasses.replace(self.study, rows=rows))


def blocks_of(study: Study) -> list[Any]:
    """The blocks of a study's page. Raises UsageError for a kind that does not exist, or is for other studies."""
    names = [name for kind in study.kind.split("+") for name in KINDS.get(kind.strip(), (kind.strip(),))]
    made = []
    for id, _, given in (name.partition(":") for name in names):
        if id not in catalogue.block:
            hint = nearest(id, [*KINDS, *catalogue.block.names()])
            raise UsageError(f'{study.id}: no kind of study "{id}"; {hint}')
        found = catalogue.block.get(id)
        made.append(configure(id, found, parse_assignments(given), study.convention) if given else found())
    if bool(study.quantities) != (QUANTITIES in names):
        raise UsageError(
            f'{study.id}: a study of [quantities], and no other, is of the kind "{QUANTITIES}", got "{study.kind}"'
        )
    return made


def stages_of(request: Request) -> Iterator[Stage]:
    """The runs that the blocks of a request need: first what each of them needs first, together, and so on."""
    needs = [block.stages(request) for block in blocks_of(request.study) if hasattr(block, "stages")]
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
                f'{study.id}: no protocol of it has a parameter "{parameter}"; {nearest(parameter, known)}'
            )
    return dataclasses.replace(study, rows=tuple(rows))
