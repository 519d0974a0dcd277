"""`quickstudy run`: run, resume and extend. The same command again does only what is missing."""

from __future__ import annotations

import pathlib
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.wording import counted
from quickstudy.cli.output import (
    CONVENTION,
    DATA,
    INCLUDE,
    JSON,
    MEASURE,
    TRACEBACK,
    command_line,
    include_files,
    name_data,
    print_json,
    print_tracebacks,
    say,
)

if TYPE_CHECKING:
    from quickstudy.api import Results
    from quickstudy.runs.plan import Plan


def run(
    tasks: list[str] = typer.Argument(
        ..., help="Tasks: language/qa, language/periodic:longest=5 or 'language/*'."
    ),
    learner: list[str] = typer.Option(
        ..., "--learner", "-l", help="A learner: esn, esn+rls:units=200, file.py:Class."
    ),
    seeds: int = typer.Option(6, "--seeds", "-s", help="Repetitions 0 .. N-1."),
    out: pathlib.Path = typer.Option(
        pathlib.Path("results"), "--out", "-o", help="Results folder."
    ),
    convention: str = CONVENTION,
    root: int = typer.Option(0, "--root", help="Root seed of all random streams."),
    set_: list[str] = typer.Option(
        [],
        "--set",
        help=(
            "A parameter of the protocol: --set sequences=600, or of one family's: --set"
            " language.sequences=600."
        ),
    ),
    controls: bool = typer.Option(True, help="Also run each task's controls and oracle."),
    control_seeds: int | None = typer.Option(
        None, "--control-seeds", help="Repetitions of controls and oracle; default: as --seeds."
    ),
    measure: list[str] = MEASURE,
    workers: int | None = typer.Option(
        None,
        "--workers",
        "-j",
        help="Processes; 0 for none. Default: one per core, three on a GPU.",
    ),
    limit: float | None = typer.Option(
        None, "--limit", help="Seconds, not samples: a run that takes longer fails."
    ),
    retry_failed: bool = typer.Option(
        False, "--retry-failed", help="Run again what has failed before."
    ),
    rerun: bool = typer.Option(
        False, "--rerun", help="Run again what is there already; the old is put aside."
    ),
    keep_learners: bool = typer.Option(
        False, "--keep-learners", help="Save every trained learner."
    ),
    keep_answers: bool = typer.Option(
        False, "--keep-answers", help="Keep every answer of the last test of a run."
    ),
    traceback: bool = TRACEBACK,
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Say what would be done, and do nothing."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Run learners on tasks. The same command again resumes; more seeds, tasks or learners
    extend.
    """
    from dataclasses import replace

    from quickstudy.base.machine import pin_threads

    # before NumPy is imported, so that runs in this process give the bits of runs in workers
    pin_threads()
    from quickstudy.api import default_workers, expand_learners, plan_runs
    from quickstudy.api import run as make
    from quickstudy.base.parameters import parse_assignments
    from quickstudy.runs.progress import choose_progress
    from quickstudy.runs.reader import read_results
    from quickstudy.runs.scoring import find_measures

    name_data(data)
    include_files(include)
    find_measures(measure)  # one that does not exist is said before anything is run
    meant: dict[str, Any] = {
        "seeds": seeds,
        "convention": convention,
        "root": root,
        "controls": controls,
        "control_seeds": control_seeds,
        "protocol": parse_assignments(",".join(set_)),
    }
    if dry_run:
        planned = plan_runs(tasks, expand_learners(learner), reading=read_results(out), **meant)
        number = default_workers() if workers is None else workers
        preview(replace(planned, found={}) if rerun else planned, retry_failed, number, json)
        return
    results = make(
        tasks,
        learner,
        **meant,
        out=out,
        workers=workers,
        retry_failed=retry_failed,
        rerun=rerun,
        keep_learners=keep_learners,
        keep_answers=keep_answers,
        limit_seconds=limit,
        progress=choose_progress(quiet=quiet or json, stream=sys.stderr),
    )
    execution, plan = results.execution, results.plan
    assert execution is not None  # it was run
    assert plan is not None
    asked = {cell.key for cell in plan.cells}
    if measure and not execution.interrupted:
        for left_out in results.score(measure, keys=asked).left_out:
            say(f"not scored: {left_out}", err=True)
    page = _page(results)
    if json:
        facts = {
            name: getattr(execution, name)
            for name in ("found", "ok", "failed", "not_applicable", "seconds")
        }
        print_json(
            {
                **facts,
                "interrupted": execution.interrupted,
                "folder": str(out),
                "report": str(page or ""),
            }
        )
    else:
        if not quiet and asked & results.shelf.reading().records.keys():
            results.show(keys=asked)
        for damage in execution.damage:
            say(f"{damage}; type: quickstudy doctor {out}", err=True)
        for what in ["learner"] * keep_learners + ["answers"] * keep_answers:
            for line in _lacking(results, plan, what):
                say(line, err=True)
        if page:
            say(f"Report: {page}")
    if traceback:
        print_tracebacks(
            one for key, one in results.shelf.reading().records.items() if key in asked
        )
    raise typer.Exit(execution.exit_status)


def _lacking(results: Results, plan: Plan, what: str) -> Iterator[str]:
    """Of which learners of a plan no `learner`, or no `answers`, were kept though they were asked
    for, and why.
    """
    from quickstudy.base.record import OK
    from quickstudy.base.trace import ANSWERS

    reading = results.shelf.reading()
    why = {
        "learner": "it has no snapshot and restore",
        "answers": "its protocol hands out no last test",
    }[what]
    for label in dict.fromkeys(cell.learner for cell in plan.cells if cell.role == "learner"):
        keys = [cell.key for cell in plan.cells if cell.learner == label]
        done = {key: reading.records[key] for key in keys if reading.statuses().get(key) == OK}
        kept = {
            key
            for key, one in done.items()
            if (one.saved if what == "learner" else ANSWERS in one.trace["facts"])
        }
        found = {key for key in done if plan.found.get(key) == OK}
        if count := len(found - kept):
            yield (
                f"no {what} kept of {label} ({count} of {len(keys)} runs): run before without; give"
                " another folder"
            )
        if count := len(done.keys() - found - kept):
            yield f"no {what} kept of {label} ({count} of {len(keys)} runs): {why}"


def _page(results: Results) -> pathlib.Path | None:
    """The report, written; None if there is nothing to report on, or where it cannot be written,
    which is said.
    """
    if not results.records:
        return None
    try:
        return results.report(command_line())
    except QuickstudyError as error:  # the results are there all the same
        say(f"all results are there, but not their page: {error}", err=True)
        return None


def preview(plan: Plan, retry_failed: bool, workers: int, json: bool) -> None:
    """Print what a plan would do."""
    import dataclasses
    from collections import Counter

    from quickstudy.base.machine import cores
    from quickstudy.runs.asking import asked_of
    from quickstudy.runs.plan import check_data
    from quickstudy.runs.timing import duration

    missing = plan.missing(retry_failed=retry_failed)
    check_data(missing)
    summary, asked = plan.summary(retry_failed=retry_failed), asked_of(missing)
    if json:
        print_json(
            {
                **dataclasses.asdict(summary),
                "questions": asked.questions,
                "tokens": asked.tokens,
                "prompt": asked.prompt,
            }
        )
        return
    say(
        f"{counted(summary.cells, 'run')}: {summary.found} found, {summary.to_do} to do, on"
        f" {workers} workers"
    )
    if not summary.to_do:
        return
    if asked.runs:
        say(f"{asked}; the first prompt:")
        say(textwrap.indent(asked.prompt, "    "))
    unfit = Counter(cell.unfit for cell in missing if cell.unfit)
    for reason, count in unfit.items():
        say(f"{count} of them are not applicable: {reason}")
    say(f"{counted(summary.programs, 'program')} to compile (fewer where the cache has them)")
    if not summary.measured:
        say("time unknown: nothing of this has been run here before")
        return
    # A run is on one core: more workers than runs or cores do not make it faster.
    side_by_side = max(1, min(workers, summary.to_do, cores()))
    rest = summary.to_do - summary.measured
    about = duration(summary.seconds / min(side_by_side, summary.measured))
    some = (
        f" for {summary.measured} of them; unknown for {rest}, which have not been run here before"
        if rest
        else ""
    )
    say(f"about {about}, by the time that runs have taken here{some}")
