"""`quickstudy profile`: learners in all five families, a report card of each."""

from __future__ import annotations

import pathlib
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from quickstudy.api.options import RunOptions
from quickstudy.base.errors import UsageError
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

if TYPE_CHECKING:
    from quickstudy.pages.study_request import Request


@takes_run_options("profile")
def profile(
    *,
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
        help="For language models: 32 worked examples per item, 8 questions per level.",
    ),
    options: RunOptions,
    dry_run: bool = typer.Option(
        False, "--dry-run", help="Print what would be done, and do nothing."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Examine learners in all five families and write a report card for each. The same command
    resumes.
    """
    from quickstudy.base.hardware import pin_threads

    pin_threads()
    from quickstudy.api.profile import profile as make
    from quickstudy.api.profile import request_profile, screen_page
    from quickstudy.cli.reproduce import by_stage
    from quickstudy.runs.progress import choose_progress

    name_data(data)
    include_files(include)
    flags = {"quick": quick, "standard": standard, "full": full, "context": context}
    chosen = [name for name, wanted in flags.items() if wanted]
    if len(chosen) > 1:
        raise UsageError(f"one budget at a time, got --{' and --'.join(chosen)}")
    options = replace(
        options,
        budget=chosen[0] if chosen else "quick",
        command=command_line(),
        progress=by_stage(lambda: choose_progress(quiet=quiet or json, stream=sys.stderr)),
    )
    requests = [request_profile(learner, options) for learner in learners]
    if dry_run:
        for request in requests:
            _preview(request, options, json)
        return
    status = 0
    for learner in learners:
        card = make(learner, options)
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


def _preview(request: Request, options: RunOptions, json: bool) -> None:
    from quickstudy.api.study import plan_stage
    from quickstudy.cli.run import preview
    from quickstudy.pages.study_request import stages_of

    # What comes after the tuning follows from its results.
    plan = plan_stage(request, next(stages_of(request)))
    if not json:
        tuning = "; first the tuning" if request.study.settings["ruleset"] == "tuned" else ""
        say(
            f"{request.study.id} version {request.study.version},"
            f" {request.study.settings['ruleset']}{tuning}"
        )
    preview(plan, options, json)
