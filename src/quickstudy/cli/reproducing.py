"""`quickstudy reproduce`: a published table or figure, or a study of ours, published beside measured."""

from __future__ import annotations

import pathlib
import sys

import typer

from quickstudy.cli.output import CONVENTION, DATA, JSON, command_line, name_data, print_json

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
    convention: str = CONVENTION,
    root: int = typer.Option(0, "--root", help="Root seed of all random streams."),
    only: list[str] = typer.Option([], "--only", help="Only these rows of the study: patterns of tasks or labels."),
    exact: bool = typer.Option(False, "--exact", help="Test as often as the publication did; a few times slower."),
    controls: bool = typer.Option(False, help="Also run each task's controls and oracle."),
    workers: int | None = typer.Option(
        None, "--workers", "-j", help="Processes; 0 for none. Default: one per core, three on a GPU."
    ),
    data: pathlib.Path | None = DATA,
    retry_failed: bool = typer.Option(False, "--retry-failed", help="Run again what has failed before."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be done, and do nothing."),
    json: bool = JSON,
) -> None:
    """Run a published table or figure, or what is missing of it, and print published beside measured."""
    from quickstudy.runs.threads import pin_threads

    pin_threads()
    from quickstudy.api import check_seeds, default_workers
    from quickstudy.base.parameters import check_convention
    from quickstudy.base.study import find_study
    from quickstudy.cli.running import preview
    from quickstudy.report.study.order import Order, kind_of
    from quickstudy.report.study.render import as_lines, write_page
    from quickstudy.report.write import write_report
    from quickstudy.runs.engines import choose_engine
    from quickstudy.runs.execute import Execution, execute
    from quickstudy.runs.plan import make_plan
    from quickstudy.runs.progress import choose_progress
    from quickstudy.runs.scores import check_scores

    name_data(data)
    wanted = DEFAULT_SEEDS if seeds is None else seeds
    check_seeds(wanted)
    check_convention(convention)
    declared = find_study(study).only(only)
    folder = out or pathlib.Path("results", declared.runs)
    protocol = {"schedule": "every" if exact else "thinned"}
    order = Order(declared, folder, convention, wanted, root, protocol, controls)
    kind = kind_of(declared)
    check_scores(declared)
    number = default_workers() if workers is None else workers
    execution = Execution()
    ran: set[int] = set()
    for stage in kind.stages(order):
        ran |= {stage.seeds} if stage.settings else set()
        reading = order.shelf.reading()
        plan = make_plan(stage.settings, stage.seeds, reading=reading)
        if dry_run:
            # What comes after the first stage follows from its results.
            preview(plan, retry_failed, number, json)
            return
        progress = choose_progress(quiet=json, stream=sys.stderr)
        engine = choose_engine(number)
        done = execute(plan, folder, engine, retry_failed=retry_failed, reading=reading, report=progress)
        execution = done.after(execution)
        if execution.interrupted:
            break
    if seeds is not None and seeds not in ran and not execution.interrupted:
        number_of_runs = f"runs {max(ran)} of each" if ran else "runs nothing"
        typer.echo(f"{declared.id} {number_of_runs} whatever --seeds says, got {seeds}", err=True)
    # All rows of which there are runs: a few must not take the place of a page that showed more.
    page = kind.page(order.widened(find_study(study)))
    path = write_page(page, folder, f"{declared.id}-{convention}")
    if not page.whole:
        readings = {folder: order.shelf.reading()}
        write_report([folder], folder / "report.html", command=command_line(), readings=readings)
    if json:
        print_json({**page.facts, "report": str(path)})
    else:
        for line in as_lines(page):
            typer.echo(line)
        typer.echo(f"Report: {path}" if page.whole else f"All runs: {folder / 'report.html'}\nReport: {path}")
    raise typer.Exit(execution.exit_status)
