"""`quickstudy run`: run, resume and extend. The same command again does only what is missing."""

from __future__ import annotations

import pathlib
import sys
from typing import TYPE_CHECKING

import typer

from quickstudy.cli.output import CONVENTION, DATA, INCLUDE, JSON, command_line, name_data, print_json

if TYPE_CHECKING:
    from quickstudy.runs.plan import Plan


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("run")(run)


def run(
    tasks: list[str] = typer.Argument(..., help="Tasks, such as language/qa, language/qa:verbs=1 or 'language/*'."),
    learner: list[str] = typer.Option(..., "--learner", "-l", help="A learner: esn, esn+rls:units=200, file.py:Class."),
    seeds: int = typer.Option(6, "--seeds", "-s", help="Repetitions 0 .. N-1."),
    out: pathlib.Path = typer.Option(pathlib.Path("results"), "--out", "-o", help="Results folder."),
    convention: str = CONVENTION,
    root: int = typer.Option(0, "--root", help="Root seed of all random streams."),
    set_: list[str] = typer.Option([], "--set", help="A parameter of the protocol: --set sequences=600."),
    controls: bool = typer.Option(True, help="Also run each task's controls and oracle."),
    workers: int | None = typer.Option(
        None, "--workers", "-j", help="Processes; 0 for none. Default: one per core, three on a GPU."
    ),
    limit: float | None = typer.Option(None, "--limit", help="Seconds a run may take before it counts as failed."),
    retry_failed: bool = typer.Option(False, "--retry-failed", help="Run again what has failed before."),
    keep_learners: bool = typer.Option(False, "--keep-learners", help="Save every trained learner."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be done, and do nothing."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No progress, no tables."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Run learners on tasks. The same command again resumes; more seeds, tasks or learners extend."""
    from quickstudy.runs.threads import pin_threads

    pin_threads()  # before NumPy is imported, so that runs in this process give the bits of runs in workers
    from quickstudy.api import Results, default_workers, plan_runs
    from quickstudy.base.parameters import parse_assignments
    from quickstudy.runs.engines import choose_engine
    from quickstudy.runs.execute import execute
    from quickstudy.runs.progress import choose_progress

    name_data(data)
    plan = plan_runs(
        tasks,
        learner,
        seeds=seeds,
        out=out,
        convention=convention,
        root=root,
        controls=controls,
        protocol=parse_assignments(",".join(set_)),
        includes=include,
    )
    number = default_workers() if workers is None else workers
    if dry_run:
        preview(plan, retry_failed, number, json)
        return
    execution = execute(
        plan,
        out,
        choose_engine(number),
        retry_failed=retry_failed,
        keep_learners=keep_learners,
        limit_seconds=limit,
        report=choose_progress(quiet=quiet or json, stream=sys.stderr),
    )
    results = Results(out, execution)
    page = results.report(command_line()) if results.records else None
    if json:
        facts = {name: getattr(execution, name) for name in ("found", "ok", "failed", "not_applicable", "seconds")}
        print_json({**facts, "interrupted": execution.interrupted, "folder": str(out), "report": str(page or "")})
    else:
        if not quiet and page:
            results.show()
        for damage in execution.damage:
            typer.echo(f"{damage}; type: quickstudy doctor {out}", err=True)
        if page:
            typer.echo(f"Report: {page}")
    raise typer.Exit(execution.exit_status)


def preview(plan: Plan, retry_failed: bool, workers: int, json: bool) -> None:
    """Print what a plan would do."""
    import dataclasses

    from quickstudy.runs.remaining import duration

    summary = plan.summary(retry_failed=retry_failed)
    if json:
        print_json(dataclasses.asdict(summary))
        return
    typer.echo(f"{summary.cells} runs: {summary.found} found, {summary.to_do} to do, on {workers} workers")
    typer.echo(f"{summary.programs} programs to compile (fewer where the cache has them)")
    source = (
        "measured here" if summary.measured == summary.to_do else f"{summary.measured} of {summary.to_do} measured here"
    )
    typer.echo(f"about {duration(summary.seconds / max(workers, 1))} of work, without compilation ({source})")
