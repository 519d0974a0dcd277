"""`quickstudy reproduce`: a published table or figure, or a study of ours, published beside measured."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from quickstudy.cli.output import DATA, INCLUDE, JSON, command_line, name_data, print_json, say

if TYPE_CHECKING:
    from quickstudy.runs.job import Setting

DEFAULT_SEEDS = 6


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("reproduce")(reproduce)


def reproduce(
    study: str = typer.Argument(..., help="A study, such as wade-table4, or a file.toml of yours."),
    seeds: int | None = typer.Option(
        None, "--seeds", "-s", help="Repetitions; default 6. The publication's own number is in `show`."
    ),
    out: pathlib.Path | None = typer.Option(
        None, "--out", "-o", help="Results folder; default results/STUDY, or that of the study whose runs it shares."
    ),
    convention: str | None = typer.Option(
        None, "--convention", help="published (default, unless the study names another), corrected or written."
    ),
    root: int = typer.Option(0, "--root", help="Root seed of all random streams."),
    only: list[str] = typer.Option([], "--only", help="Only these rows of the study: patterns of tasks or labels."),
    set_: list[str] = typer.Option([], "--set", help="A parameter of the protocol, over the study's own."),
    exact: bool = typer.Option(False, "--exact", help="Test as often as the publication did; a few times slower."),
    controls: bool = typer.Option(False, help="Also run each task's controls and oracle."),
    workers: int | None = typer.Option(
        None, "--workers", "-j", help="Processes; 0 for none. Default: one per core, three on a GPU."
    ),
    limit: float | None = typer.Option(None, "--limit", help="Seconds, not samples: a run that takes longer fails."),
    data: pathlib.Path | None = DATA,
    retry_failed: bool = typer.Option(False, "--retry-failed", help="Run again what has failed before."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be done, and do nothing."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Run a published table or figure, or what is missing of it, and print published beside measured."""
    from quickstudy.runs.threads import pin_threads

    pin_threads()
    from quickstudy.api import check_seeds, default_workers
    from quickstudy.base.parameters import check_convention, parse_assignments
    from quickstudy.base.registry import include as include_file
    from quickstudy.base.study import find_study
    from quickstudy.cli.running import preview
    from quickstudy.report.page import write_report
    from quickstudy.report.reproduce_text import correction
    from quickstudy.report.study.order import Order, by_protocol, kind_of
    from quickstudy.report.study.render import as_lines, write_page
    from quickstudy.runs.engines import choose_engine
    from quickstudy.runs.execute import Execution, execute
    from quickstudy.runs.plan import Summary, make_plan
    from quickstudy.runs.progress import choose_progress
    from quickstudy.runs.scores import check_scores

    name_data(data)
    wanted = DEFAULT_SEEDS if seeds is None else seeds
    check_seeds(wanted)
    for file in include:
        include_file(file)
    found = find_study(study)
    convention = convention or found.convention
    check_convention(convention)
    kind = kind_of(found)
    whole = by_protocol(found, convention, parse_assignments(",".join(set_)), exact)
    declared = whole.only(only)
    check_scores(declared)
    folder = out or pathlib.Path("results", declared.runs)
    order = Order(declared, folder, convention, wanted, root, controls)
    number = default_workers() if workers is None else workers
    execution = Execution()
    ran: set[int] = set()
    for stage in kind.stages(order):
        ran |= {stage.seeds} if stage.settings else set()
        if dry_run and (files := _code_of(stage.settings)):
            runs = len(stage.settings) * stage.seeds
            if json:
                nothing = Summary(cells=runs, found=0, to_do=runs, programs=0, seconds=0.0, measured=0)
                print_json({**dataclasses.asdict(nothing), "not_imported": files})
            else:
                say(f"{runs} runs at most; the study names code, which --dry-run does not import: {', '.join(files)}")
            return
        reading = order.shelf.reading()
        plan = make_plan(stage.settings, stage.seeds, reading=reading, includes=include)
        if dry_run:
            # What comes after the first stage follows from its results.
            preview(plan, retry_failed, number, json)
            return
        done = execute(
            plan,
            folder,
            choose_engine(number),
            retry_failed=retry_failed,
            limit_seconds=limit,
            reading=reading,
            report=choose_progress(quiet=quiet or json, stream=sys.stderr),
        )
        execution = done.after(execution)
        if execution.interrupted:
            break
    if seeds is not None and seeds not in ran and not execution.interrupted:
        number_of_runs = f"runs {max(ran)} of each" if ran else "runs nothing"
        say(f"{declared.id} {number_of_runs} whatever --seeds says, got {seeds}", err=True)
    # All rows of which there are runs: a few must not take the place of a page that showed more.
    wider = order.widened(whole)
    page = kind.page(wider)
    path = write_page(page, folder, f"{declared.id}-{convention}")
    if not page.whole:
        readings = {folder: order.shelf.reading()}
        write_report([folder], folder / "report.html", command=command_line(), readings=readings)
    if json:
        print_json({**page.facts, "report": str(path)})
    else:
        if not quiet:
            for line in as_lines(page):
                say(line)
            if convention == "published":
                changed = correction(wider.study, wider.shelf.found(), root)
                say(f"{changed}: {command_line()} --convention corrected")
        say(f"Report: {path}" if page.whole else f"All runs: {folder / 'report.html'}\nReport: {path}")
    raise typer.Exit(execution.exit_status)


def _code_of(settings: Iterable[Setting]) -> list[str]:
    """The files that learners of a study come from: to import one is to run it."""
    found = (file for setting in settings for file in re.findall(r"[^:=,]+\.py(?=:|$)", setting.learner))
    return sorted(set(found))
