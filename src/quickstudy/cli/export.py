"""`quickstudy export`: results, answers and data in forms that others read."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import (
    CONVENTION,
    DATA,
    INCLUDE,
    check_target,
    include_files,
    name_data,
    say,
)

export = typer.Typer(rich_markup_mode=None, subcommand_metavar="KIND")
_TARGET = typer.Option(None, "--out", "-o", help="File to write; default: print it.")


@export.callback()
def options() -> None:
    """Write results, answers of people, or examples of a task in forms that others read."""


@export.command("eval-results")
def eval_results(
    folders: list[pathlib.Path] = typer.Argument(..., help="Results folders; several are merged."),
    learner: str = typer.Option(
        ..., "--learner", "-l", help="The learner, as the report prints it."
    ),
    data_set: str = typer.Option(
        ..., "--dataset", help="The benchmark on the Hugging Face Hub, OWNER/NAME."
    ),
    source: str = typer.Option("", "--source", help="Address of the runs, or of a report."),
    date: str = typer.Option("", "--date", help="Of the results; default: today."),
    out: pathlib.Path | None = _TARGET,
    include: list[str] = INCLUDE,
) -> None:
    """The results of a learner as an .eval_results file, for its page on the Hugging Face Hub."""
    from quickstudy.report.build import gather
    from quickstudy.report.eval_results import as_yaml
    from quickstudy.report.eval_results import eval_results as entries

    include_files(include)
    _write(out, as_yaml(entries(gather(folders), learner, data_set, source, date)))


@export.command("answers")
def answers(
    folder: pathlib.Path = typer.Argument(..., help="A results folder that people played into."),
    out: pathlib.Path | None = _TARGET,
) -> None:
    """Every answer of people as CSV: whose, when, how many seconds it took, and whether it was
    right.
    """
    from quickstudy.render.write_page import csv_text
    from quickstudy.report.answers import answer_rows

    _write(out, csv_text(answer_rows(folder)))


@export.command("croissant")
def croissant(
    task: str = typer.Argument(..., help="A task, with parameters after a colon if need be."),
    out: pathlib.Path = typer.Option(..., "--out", "-o", help="Folder to make."),
    creator: str = typer.Option(..., "--creator", help="The publisher of the data set."),
    license: str = typer.Option(
        ..., "--license", help="Address of a licence: https://spdx.org/licenses/CC0-1.0.html."
    ),
    url: str = typer.Option(..., "--url", help="Address of the data set's page."),
    count: int = typer.Option(1000, "--count", "-n", min=1, help="How many examples."),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    date: str = typer.Option("", "--date", help="Of publication; default: today."),
    convention: str = CONVENTION,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Examples of a task as JSON lines, with their description in Croissant. Of a task on a
    measured CSV file, the description alone.
    """
    from quickstudy.api.croissant import Publication, write_croissant

    name_data(data)
    include_files(include)
    publication = Publication(creator, license, url, date)
    path = write_croissant(task, out, publication, count=count, seed=seed, convention=convention)
    say(str(path))


def _write(out: pathlib.Path | None, text: str) -> None:
    from quickstudy.cli.output import print_exactly, write_text

    check_target(out)
    if out is None:
        print_exactly(text)
        return
    write_text(out, text)
    say(str(out))
