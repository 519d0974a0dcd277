"""Run learners on tasks, and look at what is in a results folder."""

from __future__ import annotations

import fnmatch
import importlib.util
import pathlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quickstudy.api.options import DEFAULT_SEEDS, RunOptions, gather_options, takes_options
from quickstudy.base import registries
from quickstudy.base.code_identity import look_again
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.learner import Pupil
from quickstudy.base.parameters import alternatives
from quickstudy.base.record import OK, Record
from quickstudy.base.registry import included_files
from quickstudy.base.trace import Answered, answered
from quickstudy.learners.learner_spec import bring_all, revive
from quickstudy.report.curves import is_curve
from quickstudy.runs.array_files import load_snapshot, load_trace
from quickstudy.runs.execute import Execution, execute
from quickstudy.runs.journal_lines import expect_results
from quickstudy.runs.merge import Damage, Reading, uncollected
from quickstudy.runs.plan import Plan, make_plan
from quickstudy.runs.results import ResultsFolder, ResultsTable
from quickstudy.runs.run_spec import Setting, task_controls
from quickstudy.runs.scoring import Scoring, find_measures, score_again

if TYPE_CHECKING:
    from quickstudy.report.report_data import ReportData


@dataclass(frozen=True, repr=False)
class Results:
    """A results folder and, if it has just been worked on, how that went.

    plan: of what a call of `run` has asked for, with the controls; `records`, `show` and `as_json`
    then leave out what else the folder holds. `Results(folder)` is the whole folder.
    """

    folder: pathlib.Path
    execution: Execution | None = None
    plan: Plan | None = None

    @cached_property
    def asked(self) -> frozenset[str] | None:
        """The keys of the runs that were asked for; None where all of the folder is meant."""
        return frozenset(cell.key for cell in self.plan.cells) if self.plan else None

    @cached_property
    def scoring(self) -> Scoring | None:
        """What the further measures of a call of `run` gave, and left out."""
        return None

    @cached_property
    def shelf(self) -> ResultsFolder:
        """The folder, read once as long as it stays the same."""
        return ResultsFolder(pathlib.Path(self.folder))

    @property
    def records(self) -> list[Record]:
        """The records, merged: those that were asked for, or all. Raises UsageError if the folder
        holds no results.
        """
        expect_results(self.shelf.folder)
        return list(self._looked_at(self.asked).records.values())

    @property
    def damage(self) -> tuple[Damage, ...]:
        """Damage in the folder: `records` and all tables leave it out. `quickstudy doctor` repairs
        it.
        """
        return self.shelf.reading().damage

    def show(self, *, keys: Collection[str] | None = None) -> None:
        """Tables on the screen, and how many other runs the folder holds. keys: of these runs only.

        Without keys a damaged folder is named on standard error; who has chosen runs knows what
        there is.
        """
        from rich.console import Console

        from quickstudy.render.terminal import show
        from quickstudy.report.page import screen_page

        if keys is None and self.damage:
            warning = f"{len(self.damage)} damaged lines of {self.folder} were left out"
            Console(stderr=True).out(
                f"{warning}; type: quickstudy doctor {self.folder}", highlight=False
            )
        console, chosen = Console(), self.asked if keys is None else keys
        show(screen_page(self._data(chosen)), console)
        if others := len(self.shelf.reading().records) - len(self._looked_at(chosen).records):
            console.print(
                f"{others} other run{'s' if others > 1 else ''} of the folder: in its report",
                style="dim",
            )

    def as_json(self) -> dict[str, Any]:
        """What `show` shows, and the data it is made from, as plain types."""
        from quickstudy.report.export import as_json

        return as_json(self._data(self.asked))

    def frame(self) -> Any:
        """A row for every run, a column for every score and cost: a pandas DataFrame, or an Arrow
        table where pandas is not installed. Raises UsageError where neither is.
        """
        from quickstudy.report.export import run_rows

        heading, *rows = run_rows(self._data(self.asked))
        return _framed({name: [row[place] for row in rows] for place, name in enumerate(heading)})

    def curves(self) -> Any:
        """A row for every point of every learning curve: task, convention, learner, root, seed,
        step and accuracy, as a frame like that of `frame`. step: examples shown, in the unit of the
        last column. Runs without a learning curve are left out.
        """
        rows: list[tuple[Any, ...]] = []
        for record in self.records:
            trace = (
                load_trace(self.folder, record) if record.status == OK and record.trace else None
            )
            if trace is not None and is_curve(trace):
                named = record.labels["task"], record.what["convention"], record.labels["learner"]
                seed, unit = (
                    (record.what["root"], record.what["repetition"]),
                    str(trace.facts.get("unit", "steps")),
                )
                points = zip(
                    trace.arrays["step"].tolist(), trace.arrays["accuracy"].tolist(), strict=True
                )
                rows += [(*named, *seed, step, accuracy, unit) for step, accuracy in points]
        names = ("task", "convention", "learner", "root", "seed", "step", "accuracy", "unit")
        return _framed({name: [row[place] for row in rows] for place, name in enumerate(names)})

    def __repr__(self) -> str:
        """The folder and how many runs there are, by status."""
        counts = Counter(record.status for record in self._looked_at(self.asked).records.values())
        runs = ", ".join(f"{count} {status}" for status, count in counts.items()) or "no runs"
        return f"Results({str(self.folder)!r}: {runs})"

    def _repr_html_(self) -> str:
        """What a notebook shows: figures, verdicts and tables of scores."""
        from quickstudy.render.html import blocks_html
        from quickstudy.report.page import screen_page

        return str(blocks_html(screen_page(self._data(self.asked), pictures=True).blocks))

    def learner(self, key: str, file: str | pathlib.Path | None = None, trust: str = "") -> Pupil:
        """The trained learner of the run whose key begins so, ready to answer; it must have been
        kept.

        file: where its class is, if it is one of a file, `my_model.py:Class`, that was not used
        here yet. No file is imported because a folder names it. Raises UsageError if the file has
        changed since.

        trust: the name of a learner that may start a program, open a connection or read a file,
        such as "lines"; any other one of this kind is refused.
        """
        return revive(load_snapshot(self.folder, self._one(key)), file, trust)

    def answers(self, key: str) -> list[Answered]:
        """Every answer of the last test of the run whose key begins so; they must have been
        kept.
        """
        return answered(load_trace(self.folder, self._one(key)).arrays)

    def _one(self, key: str) -> Record:
        expect_results(self.shelf.folder)
        found = [
            record for name, record in self.shelf.reading().records.items() if name.startswith(key)
        ]
        if len(found) != 1:
            raise UsageError(
                f'{len(found)} runs in {self.folder} have a key that begins with "{key}"; give one'
            )
        return found[0]

    def score(
        self, measures: str | Sequence[str] = (), *, keys: Collection[str] | None = None
    ) -> Scoring:
        """Apply measures, or all that there are, to the stored traces that they can read and have
        not read yet.

        keys: of these runs only.
        """
        return score_again(self.folder, measures, keys=keys, reading=self.shelf.reading())

    def report(self, command: str | None = None) -> pathlib.Path:
        """Write the offline page of the whole folder into it and give its path."""
        from quickstudy.report.page import write_report

        with uncollected():
            data = replace(self._data(None), command=command)
            return write_report(data, self.shelf.folder / "report.html", replaces=False)

    def _data(self, keys: Collection[str] | None) -> ReportData:
        """The data of the report of these runs, or of all, made once as long as the folder stays
        the same.
        """
        from quickstudy.report.build import gather

        table = self._looked_at(keys)
        return self.shelf.made(
            frozenset(table.records), lambda: gather(table if table.records else [self.folder])
        )

    def _looked_at(self, keys: Collection[str] | None) -> ResultsTable:
        """What the folder holds, or of that these runs."""
        table = self.shelf.table()
        return table if keys is None else table.only(keys)


def _framed(columns: Mapping[str, list[Any]]) -> Any:
    """Columns as a frame of pandas, or of Arrow where pandas is not installed. Raises UsageError
    where neither is.
    """
    for package, made in (("pandas", "DataFrame"), ("pyarrow", "table")):
        if importlib.util.find_spec(package):
            return getattr(importlib.import_module(package), made)(dict(columns))
    raise UsageError("a frame needs pandas or pyarrow; type: pip install pandas")


@takes_options("run")
def run(
    tasks: str | Sequence[str],
    learners: Any,
    options: RunOptions | None = None,
    **named: Any,
) -> Results:
    """Run learners on tasks, or what is still missing of that, and give the results folder.

    The records of what comes back are those asked for here; `Results(folder)` has the whole folder.
    Two learners that are not the same but have one name are refused: give parameters by
    `functools.partial(Class, width=64)`. Raises UsageError for a name or value that cannot be,
    before anything is run. A learner that fails stops nothing: its record has the status `failed`,
    the reason and the traceback.

    tasks:
        Ids, with parameters after a colon if need be (`language/periodic:longest=5`); patterns
        (`language/*`).
    learners:
        Names (`esn:units=200`, `esn:units=100|200` for both, `my_model.py:Class`), host classes or
        learner objects. A class defined in the running script or notebook runs in this process.
    """
    options = gather_options("run", options, named)
    several = expand_learners(learners if isinstance(learners, list | tuple) else [learners])
    look_again()
    names = bring_all(several)
    if any(not isinstance(learner, str) for learner in several) or defined_here():
        options = options.in_this_process()
    shelf = ResultsFolder(pathlib.Path(options.out or "results"))
    plan = plan_runs(tasks, names, options, reading=shelf.reading())
    find_measures(options.measures)  # one that does not exist is reported before anything is run
    execution = execute(plan, shelf.folder, options, reading=shelf.reading())
    results = Results(shelf.folder, execution, plan)
    vars(results)["shelf"] = shelf  # where nothing was run it need not be read again
    if options.measures and not execution.interrupted:
        vars(results)["scoring"] = results.score(options.measures, keys=results.asked)
    return results


def plan_runs(
    tasks: str | Sequence[str],
    learners: Sequence[str],
    options: RunOptions,
    *,
    reading: Reading,
) -> Plan:
    """What `run` would do, without doing it. reading: what the results folder holds."""
    names = expand_tasks(list(tasks) if isinstance(tasks, list | tuple) else [tasks])
    by_family = _by_family(names, options.protocol)
    convention = options.convention or "corrected"
    settings = [
        Setting(task, learner, convention, options.root, by_family[task.partition("/")[0]])
        for task in names
        for learner in [*learners, *([] if options.controls is False else task_controls(task))]
    ]
    if not settings:
        raise UsageError("nothing to run: name at least one learner")
    try:
        return make_plan(
            settings,
            options.seeds or DEFAULT_SEEDS,
            reading=reading,
            includes=included_files(),
            rules=options.control_seeds,
        )
    except UsageError as error:
        _, is_parameter, parameter = str(error).partition(': no parameter "')
        name = parameter.partition('"')[0]
        if is_parameter and name in options.protocol and len(by_family) > 1:
            raise UsageError(f"{error}; FAMILY.{name} sets it in one family only") from error
        raise


def _by_family(tasks: Sequence[str], protocol: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The parameters of each family's protocol: `sequences` of all, `language.sequences` of that
    family alone.
    """
    found: dict[str, dict[str, Any]] = {task.partition("/")[0]: {} for task in tasks}
    for name, value in protocol.items():
        family, dot, own = name.rpartition(".")
        if dot and family not in found:
            raise UsageError(
                f'no task of the family "{family}" is run, which {name} names;'
                f" {nearest(family, found)}"
            )
        for parameters in [found[family]] if dot else found.values():
            parameters[own] = value
    return found


def expand_tasks(names: Sequence[Any]) -> list[str]:
    """Task names with each pattern replaced by the names it matches. Raises UsageError for a
    pattern that fits nothing.
    """
    expanded: list[str] = []
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"a task is named by its id, such as language/qa, got {name!r}")
        if any(mark in name.partition(":")[0] for mark in "*?["):
            found = fnmatch.filter(registries.task.names(), name)
            if not found:
                raise UsageError(f'no task fits "{name}"; {nearest(name, registries.task.names())}')
            expanded += found
        else:
            expanded.append(name)
    return list(dict.fromkeys(expanded))


def expand_learners(learners: Sequence[Any]) -> list[Any]:
    """Learners; a name with several values for a parameter is replaced by one learner per value."""
    return [
        one
        for given in learners
        for one in (alternatives(given) if isinstance(given, str) else [given])
    ]


def defined_here() -> bool:
    """Whether something was registered by the running script or notebook, which workers do not
    have.
    """
    kinds = (
        registries.task,
        registries.core,
        registries.training,
        registries.learner,
        registries.control,
    )
    return any(entry.module == "__main__" for registry in kinds for entry in registry.entries())
