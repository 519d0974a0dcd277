"""`quickstudy ls` and `show`: what there is, and the spec sheet of one component."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import (
    INCLUDE,
    JSON,
    check_target,
    include_files,
    print_json,
    print_lines,
    print_page,
    print_table,
    say,
    write_text,
)
from quickstudy.cli.sheet import sheet_lines

if TYPE_CHECKING:
    from quickstudy.base.study import Study


def ls(
    kind: str = typer.Argument(
        ...,
        help=(
            "tasks, learners, cores, trainings, controls, oracles, measures, protocols, quantities,"
            " blocks, figures, engines or studies."
        ),
    ),
    where: list[str] = typer.Option(
        [],
        "--where",
        help=(
            "Only tasks of such a place in a taxonomy, as type=prediction; may be given several"
            " times."
        ),
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """List all components of a kind, with versions."""
    from quickstudy.api.show import ls as make

    include_files(include)
    found = make(kind, where)
    if json:
        print_lines(found)
    else:
        print_table(
            [(one["id"], f"v{one['version']}", one["kind"], one["summary"]) for one in found]
        )


def show(
    name: str = typer.Argument(
        ...,
        help=(
            "The id of a task, core, training, learner, control, measure, protocol, quantity,"
            " block, figure or study, or its file."
        ),
    ),
    convention: str | None = typer.Option(
        None, "--convention", help="corrected (default; a study has its own), published or written."
    ),
    machine: bool = typer.Option(
        False,
        "--machine",
        help="For a finite task: print its minimal transducer and its complexity.",
    ),
    svg: pathlib.Path | None = typer.Option(
        None, "--svg", help="With --machine: draw the transducer into this SVG file."
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Print a spec sheet: what a learner sees, answers and is scored by; parameters, controls,
    source.
    """
    from quickstudy.api.show import FACTS
    from quickstudy.api.show import show as make
    from quickstudy.base.study import find_study

    include_files(include)
    if svg is not None and not machine:
        raise UsageError("--svg draws a machine: give --machine too")
    if machine:
        check_target(svg)
        _show_machine(name, convention or "corrected", svg, json)
        return
    facts = make(name, convention)
    if json:
        print_json(facts)
        return
    kind = facts["kind"]
    if kind == "study":
        study = find_study(name)
        _show_study(study, convention or study.convention)
        return
    for line in sheet_lines(facts, convention or "corrected", FACTS):
        say(line)
    if kind == "measure":
        from quickstudy.base import registries
        from quickstudy.report.words import described

        say(f"Scores: {'; '.join(map(described, registries.measure.get(name).scores))}")


def _show_machine(name: str, convention: str, svg: pathlib.Path | None, json: bool) -> None:
    from quickstudy.base.blocks import Graph
    from quickstudy.base.errors import NotApplicable
    from quickstudy.figures.machines import machine_page
    from quickstudy.machines.finite import machine_of
    from quickstudy.render.svg import svg_file
    from quickstudy.runs.run_spec import make_task

    task = make_task(name, convention)
    try:
        page = machine_page(name, machine_of(task), getattr(task, "cut_down", ""))
    except NotApplicable as error:
        raise UsageError(str(error)) from error
    if svg is not None:
        picture = next((block for block in page.blocks if isinstance(block, Graph)), None)
        if picture is None:
            raise UsageError(
                f"{name}: {page.facts['states']:,} states are too many to draw; reduce the task"
            )
        write_text(svg, svg_file(picture))
    if json:
        print_json(page.facts)
    else:
        print_page(page)


_MOST_NAMED = 12


def _show_study(study: Study, convention: str) -> None:
    notes = "\n".join(
        str(one).strip() for one in (study.notes, study.settings.get("limits")) if one
    )
    say(
        f"{study.id}  version {study.version}  (study)\n\n{study.title}. {study.source}.\n{notes}\n"
    )
    published = any(row.published or row.also for row in study.rows)
    if study.quantities:
        computed = ", ".join(
            f"{column} ({quantity})" for column, quantity in study.quantities.items()
        )
        say(f"Computed from the tasks alone: {computed}")
    elif study.scores:
        per_number = (
            f"{study.seeds} runs per published number" if published else "no numbers were published"
        )
        say(f"Score: {', '.join(study.scores)}; {per_number}")
    seconds = study.settings.get("limit_seconds")
    limit = f"; time limit of a run: {seconds:,} s" if seconds else ""
    say(f"Default seeds: {study.seeds}{limit}")
    say(f"Convention unless another is asked for: {study.convention}")
    rows = [
        (row.label, row.task, _listed([row.learner(one, convention) for one in row.learners]))
        for row in study.rows
    ]
    print_table(rows, indent="  ")


def _listed(learners: Sequence[str | None]) -> str:
    """Name learners; of more than that many, the first ones and the last."""
    names = list(dict.fromkeys(filter(None, learners)))
    return (
        ", ".join(names)
        if len(names) <= _MOST_NAMED
        else f"{names[0]} ... {names[-1]} ({len(names)})"
    )
