"""`quickstudy profile`: learners in all five families, a report card of each."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import typer

from quickstudy.base.errors import UsageError
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


def profile(
    learners: list[str] = typer.Argument(
        ..., help="Learners: esn, lstm:units=64,rate=0.003, file.py or file.py:Class."
    ),
    quick: bool = typer.Option(
        False, "--quick", help="Ten items, one amount of data; the default."
    ),
    standard: bool = typer.Option(False, "--standard", help="All items, three amounts of data."),
    full: bool = typer.Option(
        False, "--full", help="All items, up to 6,000 sequences; for a GPU or a cluster."
    ),
    context: bool = typer.Option(
        False,
        "--context",
        help="For language models: 32 worked examples an item, 8 questions a bin.",
    ),
    tuned: bool = typer.Option(
        False, "--tuned", help="Choose settings first, on tasks and seeds that are not reported."
    ),
    families: str = typer.Option("", "--families", help="Only these: language,grammar."),
    seeds: int | None = typer.Option(
        None, "--seeds", "-s", help="Repetitions; default: those of the budget."
    ),
    out: pathlib.Path | None = typer.Option(
        None, "--out", "-o", help="Results folder; default results/profile-BUDGET"
    ),
    root: int = typer.Option(0, "--root", help="Root seed of all random streams."),
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
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Say what would be done, and do nothing."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Examine learners in all five families and write a report card of each. The same command again
    resumes.
    """
    from quickstudy.base.machine import pin_threads

    pin_threads()
    from quickstudy.cli.reproduce import by_stage
    from quickstudy.profiling import profile as make
    from quickstudy.profiling import request_profile, screen_page
    from quickstudy.runs.progress import choose_progress

    name_data(data)
    include_files(include)
    chosen = [
        name
        for name, wanted in (
            ("quick", quick),
            ("standard", standard),
            ("full", full),
            ("context", context),
        )
        if wanted
    ]
    if len(chosen) > 1:
        raise UsageError(f"one budget at a time, got --{' and --'.join(chosen)}")
    asked: dict[str, Any] = {
        "budget": chosen[0] if chosen else "quick",
        "seeds": seeds,
        "out": out,
        "tuned": tuned,
        "families": [name.strip() for name in families.split(",") if name.strip()],
        "root": root,
    }
    requests = [request_profile(learner, **asked) for learner in learners]
    if dry_run:
        for request in requests:
            _preview(request, retry_failed, workers, json)
        return
    status = 0
    for learner in learners:
        card = make(
            learner,
            **asked,
            workers=workers,
            retry_failed=retry_failed,
            limit_seconds=limit,
            command=command_line(),
            progress=by_stage(lambda: choose_progress(quiet=quiet or json, stream=sys.stderr)),
        )
        status = max(status, card.execution.exit_status)
        if json:
            print_json({**card.facts, "report": str(card.path)})
            continue
        if not quiet:
            print_page(screen_page(card.page), 80)
        say(f"Card: {card.path}       All runs: {card.request.folder / 'report.html'}")
        if card.execution.interrupted:
            break
    if not json and not quiet:
        say("Again, or with more seeds: the same command. Nothing is run twice.")
    raise typer.Exit(status)


def _preview(request: Any, retry_failed: bool, workers: int | None, json: bool) -> None:
    from quickstudy.api import default_workers
    from quickstudy.base.registry import included_files
    from quickstudy.cli.run import preview
    from quickstudy.pages.request import stages_of
    from quickstudy.runs.plan import make_plan

    stage = next(stages_of(request))  # what comes after the tuning follows from its results
    plan = make_plan(
        stage.settings, stage.seeds, reading=request.shelf.reading(), includes=included_files()
    )
    if not json:
        tuning = "; first the tuning" if request.study.settings["ruleset"] == "tuned" else ""
        say(
            f"{request.study.id} version {request.study.version},"
            f" {request.study.settings['ruleset']}{tuning}"
        )
    preview(plan, retry_failed, default_workers() if workers is None else workers, json)
