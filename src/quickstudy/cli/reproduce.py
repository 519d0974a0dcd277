"""`quickstudy reproduce`: a published table or figure, or another study: published next to measured
numbers.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import typer

from quickstudy.api.options import RunOptions
from quickstudy.cli.options import takes_run_options
from quickstudy.cli.output import (
    DATA,
    INCLUDE,
    JSON,
    command_line,
    include_files,
    name_data,
    print_json,
    print_page,
    say,
)
from quickstudy.cli.run import preview

if TYPE_CHECKING:
    from quickstudy.pages.study_request import Request
    from quickstudy.runs.execute import Event, Report


@takes_run_options("reproduce")
def reproduce(
    *,
    study: str = typer.Argument(..., help="A study, such as wade-table4, or a file.toml of yours."),
    options: RunOptions,
    stored: pathlib.Path | None = typer.Option(
        None,
        "--stored",
        help="Copy the runs of this folder first, such as published/STUDY.",
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Print what would be done, and do nothing."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Run a published table or figure, or what is missing of it, and print published and measured
    numbers next to each other.
    """
    from quickstudy.base.hardware import pin_threads
    from quickstudy.base.text import counted

    pin_threads()
    from quickstudy.api.study import plan_stage, request_study
    from quickstudy.api.study import reproduce as make
    from quickstudy.learners.outside import reached_by_study
    from quickstudy.pages.page import screen_page
    from quickstudy.pages.study_request import stages_of
    from quickstudy.runs.progress import choose_progress

    name_data(data)
    include_files(include)
    if stored is not None and not dry_run:
        from quickstudy.api.study import take_over

        taken = take_over(stored, request_study(study, options).folder)
        if not quiet and not json:
            say(
                f"copied {taken} files of {stored}"
                if taken
                else f"every file of {stored} is already in the folder",
                err=True,
            )
    if dry_run:
        request = request_study(study, options)
        if found := reached_by_study(request.study):
            _name_reached(request, found, json)
            return
        stage = next(stages_of(request))
        if not stage.settings and not json:
            say(f"{request.study.id} runs nothing: its numbers are computed from the tasks")
            return
        # What comes after the first stage follows from its results.
        preview(plan_stage(request, stage, stored), options, json)
        return
    progress = by_stage(lambda: choose_progress(quiet=quiet or json, stream=sys.stderr))
    made = make(study, dataclasses.replace(options, progress=progress, command=command_line()))
    request, page = made.request, made.page
    seeds = options.seeds
    if seeds is not None and seeds not in made.repetitions and not made.execution.interrupted:
        number_of_runs = (
            f"has {counted(max(made.repetitions), 'repetition')} of each run"
            if made.repetitions
            else "runs nothing"
        )
        say(f"{request.study.id} {number_of_runs}; --seeds {seeds} has no effect", err=True)
    if json:
        print_json({**made.facts, "report": str(made.path)})
    else:
        if not quiet:
            print_page(screen_page(page))
            if request.convention == "published":
                typed = command_line().replace(" --convention published", "")
                say(f"To see what the corrections change: {typed} --convention corrected")
        say(
            f"Report: {made.path}"
            if page.whole
            else f"All runs: {request.folder / 'report.html'}\nReport: {made.path}"
        )
    raise typer.Exit(made.execution.exit_status)


def by_stage(choose: Callable[[], Report]) -> Report:
    """Progress that restarts with every stage."""
    from quickstudy.runs.execute import Started

    shown = choose()

    def report(event: Event) -> None:
        nonlocal shown
        shown = choose() if isinstance(event, Started) else shown
        shown(event)

    return report


def _name_reached(request: Request, found: Sequence[str], json: bool) -> None:
    """List what a study reaches outside this package; planning its runs would already reach it."""
    from quickstudy.runs.plan import Preview as Summary

    runs = len(request.models()) * request.seeds
    if json:
        nothing = Summary(cells=runs, found=0, to_do=runs, programs=0, seconds=0.0, measured=0)
        print_json({**dataclasses.asdict(nothing), "not_imported": found})
    else:
        say(
            f"{runs} runs at most; the study reaches outside this package, which --dry-run does "
            f"not do, and needs --trust: {', '.join(found)}"
        )
