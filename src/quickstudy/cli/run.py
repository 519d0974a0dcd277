"""`quickstudy run`: run, resume and extend. The same command runs only what is missing."""

from __future__ import annotations

import pathlib
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from quickstudy.api.options import RunOptions
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.text import counted
from quickstudy.cli.options import takes_run_options
from quickstudy.cli.output import (
    DATA,
    INCLUDE,
    JSON,
    TRACEBACK,
    command_line,
    include_files,
    name_data,
    print_json,
    print_tracebacks,
    say,
)

if TYPE_CHECKING:
    from quickstudy.api.run import Results
    from quickstudy.runs.plan import Plan


@takes_run_options("run")
def run(
    *,
    tasks: list[str] = typer.Argument(
        ..., help="Tasks: language/qa, language/periodic:longest=5 or 'language/*'."
    ),
    learner: list[str] = typer.Option(
        ...,
        "--learner",
        "-l",
        help="A learner: esn, esn+rls:units=200, file.py:Class; may be repeated.",
    ),
    options: RunOptions,
    traceback: bool = TRACEBACK,
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Print what would be done, and do nothing."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Run learners on tasks. The same command resumes; more seeds, tasks or learners extend the
    results.
    """
    from dataclasses import replace

    from quickstudy.base.hardware import pin_threads

    # before NumPy is imported, so that runs in this process give the bits of runs in workers
    pin_threads()
    from quickstudy.api.run import expand_learners, plan_runs
    from quickstudy.api.run import run as make
    from quickstudy.runs.merge import read_results
    from quickstudy.runs.progress import choose_progress
    from quickstudy.runs.scoring import find_measures

    name_data(data)
    include_files(include)
    find_measures(options.measures)  # one that does not exist is reported before anything is run
    out = pathlib.Path(options.out or "results")
    if dry_run:
        planned = plan_runs(tasks, expand_learners(learner), options, reading=read_results(out))
        preview(replace(planned, found={}) if options.rerun else planned, options, json)
        return
    progress = choose_progress(quiet=quiet or json, stream=sys.stderr)
    results = make(tasks, learner, replace(options, progress=progress))
    execution, plan = results.execution, results.plan
    assert execution is not None  # it was run
    assert plan is not None
    asked = {cell.key for cell in plan.cells}
    for left_out in results.scoring.left_out if results.scoring else ():
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
        for what in ["learner"] * options.keep_learners + ["answers"] * options.keep_answers:
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
    """Write the report. None if there are no runs, or, with a message, if it cannot be written."""
    if not results.records:
        return None
    try:
        return results.report(command_line())
    except QuickstudyError as error:  # the results are stored nevertheless
        say(f"all results are stored, but the report could not be written: {error}", err=True)
        return None


def preview(plan: Plan, options: RunOptions, json: bool) -> None:
    """Print what a plan would do."""
    import dataclasses
    from collections import Counter

    from quickstudy.base.hardware import cores
    from quickstudy.runs.asking import asked_of
    from quickstudy.runs.eta import duration
    from quickstudy.runs.plan import check_data

    retry_failed = options.retry_failed
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
    engine = options.chosen_engine
    workers, here = engine.planned_workers(), engine.here
    say(
        f"{counted(summary.cells, 'run')}: {summary.found:,} found,"
        f" {summary.to_do:,} to do,"
        f" {'in this process' if here else f'on {workers} workers'}"
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
    most = cores() if engine.id == "process" else workers
    side_by_side = max(1, min(workers, summary.to_do, most))
    rest = summary.to_do - summary.measured
    about = duration(summary.seconds / min(side_by_side, summary.measured))
    some = (
        f" for {summary.measured} of them; unknown for {rest}, which have not been run here before"
        if rest
        else ""
    )
    say(f"about {about}, by the time that runs have taken here{some}")
