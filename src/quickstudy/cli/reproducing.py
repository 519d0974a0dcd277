"""`quickstudy reproduce`: a published table or figure, published beside measured."""

from __future__ import annotations

import pathlib
import sys

import typer

from quickstudy.cli.output import CONVENTION, JSON, command_line, print_json, print_table


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("reproduce")(reproduce)


def reproduce(
    study: str = typer.Argument(..., help="A study, such as wade-table4, or a file.toml of yours."),
    seeds: int = typer.Option(6, "--seeds", "-s", help="Repetitions; the publication's own number is in `show`."),
    out: pathlib.Path | None = typer.Option(None, "--out", "-o", help="Results folder; default results/STUDY."),
    convention: str = CONVENTION,
    root: int = typer.Option(0, "--root", help="Root seed of all random streams."),
    only: list[str] = typer.Option([], "--only", help="Only these tasks (patterns) of the study."),
    exact: bool = typer.Option(False, "--exact", help="Test as often as the publication did; a few times slower."),
    controls: bool = typer.Option(False, help="Also run each task's controls and oracle."),
    workers: int | None = typer.Option(None, "--workers", "-j", help="Processes; 0 for none. Default: one per core."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be done, and do nothing."),
    json: bool = JSON,
) -> None:
    """Run a published table or figure, or what is missing of it, and print published beside measured."""
    from quickstudy.runs.threads import pin_threads

    pin_threads()
    from quickstudy.api import Results, default_workers, task_controls
    from quickstudy.base.study import find_study
    from quickstudy.cli.running import preview
    from quickstudy.report.reproduce import reproduce as compare
    from quickstudy.report.reproduce import settings_of, summary
    from quickstudy.report.reproduce_text import reproduction_rows
    from quickstudy.runs.engines import choose_engine
    from quickstudy.runs.execute import execute
    from quickstudy.runs.job import Setting
    from quickstudy.runs.plan import make_plan
    from quickstudy.runs.progress import choose_progress
    from quickstudy.runs.reader import read_results

    declared = find_study(study).only(only)
    folder = out or pathlib.Path("results", declared.id)
    protocol = {"schedule": "every" if exact else "thinned"}
    settings = settings_of(declared, convention, root, protocol)
    if controls:
        settings += [
            Setting(r.task, name, convention, root, protocol) for r in declared.rows for name in task_controls(r.task)
        ]
    plan = make_plan(settings, seeds, reading=read_results(folder))
    number = default_workers() if workers is None else workers
    if dry_run:
        preview(plan, False, number, json)
        return
    progress = choose_progress(quiet=json, stream=sys.stderr)
    execution = execute(plan, folder, choose_engine(number), report=progress)
    found = compare(declared, folder, convention, protocol)
    others = [compare(declared, folder, other, protocol) for other in ("published", "corrected") if other != convention]
    page = Results(folder, execution).report(command_line())
    if json:
        print_json({**found.as_facts(), "report": str(page)})
    else:
        typer.echo(f"{declared.title}. {declared.source}. {seeds} seeds, convention {convention}.\n")
        print_table(reproduction_rows(found))
        typer.echo("published | measured ± half the 95 % interval; = within the published spread, ≠ outside\n")
        for line in summary(found, others[0] if others else None):
            typer.echo(line)
        typer.echo(f"Report: {page}")
    raise typer.Exit(execution.exit_status)
