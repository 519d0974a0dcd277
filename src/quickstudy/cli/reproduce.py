"""`quickstudy reproduce`: a published table or figure, or a study of ours, published beside
measured.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

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

if TYPE_CHECKING:
    from quickstudy.pages.request import Request, Stage
    from quickstudy.runs.execute import Event, Report

DEFAULT_SEEDS = 6


def reproduce(
    study: str = typer.Argument(..., help="A study, such as wade-table4, or a file.toml of yours."),
    seeds: int | None = typer.Option(
        None,
        "--seeds",
        "-s",
        help="Repetitions; default 6. The publication's own number is in `show`.",
    ),
    out: pathlib.Path | None = typer.Option(
        None,
        "--out",
        "-o",
        help="Results folder; default results/STUDY, or that of the study whose runs it shares.",
    ),
    convention: str | None = typer.Option(
        None,
        "--convention",
        help="published (default, unless the study names another), corrected or written.",
    ),
    root: int = typer.Option(0, "--root", help="Root seed of all random streams."),
    only: list[str] = typer.Option(
        [],
        "--only",
        help="Only these rows or columns of the study: patterns of tasks, labels or models.",
    ),
    set_: list[str] = typer.Option(
        [], "--set", help="A parameter of the protocol, over the study's own."
    ),
    exact: bool = typer.Option(
        False, "--exact", help="Test as often as the publication did; a few times slower."
    ),
    controls: bool = typer.Option(False, help="Also run each task's controls and oracle."),
    workers: int | None = typer.Option(
        None,
        "--workers",
        "-j",
        help="Processes; 0 for none. Default: one per core, three on a GPU.",
    ),
    limit: float | None = typer.Option(
        None, "--limit", help="Seconds, not samples: a run that takes longer fails."
    ),
    data: pathlib.Path | None = DATA,
    retry_failed: bool = typer.Option(
        False, "--retry-failed", help="Run again what has failed before."
    ),
    trust: bool = typer.Option(
        False,
        "--trust",
        help="Allow a study that runs code, starts programs, opens connections or reads files.",
    ),
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Say what would be done, and do nothing."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables."),
    stored: pathlib.Path | None = typer.Option(
        None,
        "--stored",
        help="A folder with runs that are there already, as published/STUDY: they are taken over.",
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Run a published table or figure, or what is missing of it, and print published beside
    measured.
    """
    from quickstudy.base.machine import pin_threads

    pin_threads()
    from quickstudy.api import default_workers
    from quickstudy.base.parameters import parse_assignments
    from quickstudy.learners.outside import reached_by_study
    from quickstudy.pages.page import screen_page
    from quickstudy.pages.request import stages_of
    from quickstudy.reproducing import reproduce as make
    from quickstudy.reproducing import request_study
    from quickstudy.runs.progress import choose_progress

    name_data(data)
    include_files(include)
    asked: dict[str, Any] = {
        "seeds": DEFAULT_SEEDS if seeds is None else seeds,
        "out": out,
        "convention": convention,
        "root": root,
        "only": only,
        "protocol": parse_assignments(",".join(set_)),
        "exact": exact,
        "controls": controls,
    }
    if stored is not None and not dry_run:
        from quickstudy.reproducing import take_over

        taken = take_over(stored, request_study(study, **asked).folder)
        if not quiet and not json:
            say(
                f"{taken} files of {stored} taken over"
                if taken
                else f"all of {stored} was there already",
                err=True,
            )
    if dry_run:
        request = request_study(study, **asked)
        if found := reached_by_study(request.study):
            _name_reached(request, found, json)
            return
        # What comes after the first stage follows from its results.
        number = default_workers() if workers is None else workers
        _preview(next(stages_of(request)), request, retry_failed, number, json)
        return
    made = make(
        study,
        **asked,
        workers=workers,
        retry_failed=retry_failed,
        limit_seconds=limit,
        progress=by_stage(lambda: choose_progress(quiet=quiet or json, stream=sys.stderr)),
        command=command_line(),
        trust=trust,
    )
    request, page = made.request, made.page
    if seeds is not None and seeds not in made.repetitions and not made.execution.interrupted:
        number_of_runs = (
            f"runs {max(made.repetitions)} of each" if made.repetitions else "runs nothing"
        )
        say(f"{request.study.id} {number_of_runs} whatever --seeds says, got {seeds}", err=True)
    if json:
        print_json({**made.facts, "report": str(made.path)})
    else:
        if not quiet:
            print_page(screen_page(page))
            if request.convention == "published":
                typed = command_line().replace(" --convention published", "")
                say(f"What the corrections change is seen by: {typed} --convention corrected")
        say(
            f"Report: {made.path}"
            if page.whole
            else f"All runs: {request.folder / 'report.html'}\nReport: {made.path}"
        )
    raise typer.Exit(made.execution.exit_status)


def by_stage(choose: Callable[[], Report]) -> Report:
    """Progress that begins anew with every stage."""
    from quickstudy.runs.execute import Started

    shown = choose()

    def report(event: Event) -> None:
        nonlocal shown
        shown = choose() if isinstance(event, Started) else shown
        shown(event)

    return report


def _preview(stage: Stage, request: Request, retry_failed: bool, workers: int, json: bool) -> None:
    """What a stage would run."""
    from quickstudy.base.registry import included_files
    from quickstudy.cli.run import preview
    from quickstudy.runs.plan import make_plan

    reading = request.shelf.reading()
    plan = make_plan(stage.settings, stage.seeds, reading=reading, includes=included_files())
    preview(plan, retry_failed, workers, json)


def _name_reached(request: Request, found: Sequence[str], json: bool) -> None:
    """What a study reaches outside this package; to plan its runs would reach it already."""
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
