"""`quickstudy compare`: two learners, paired by task and seed."""

from __future__ import annotations

import pathlib
import textwrap

import typer

from quickstudy.base.errors import UsageError
from quickstudy.base.wording import visible
from quickstudy.cli.output import INCLUDE, JSON, include_files, print_lines, say, say_left_out

_WIDTH = 100
"""Letters of a line: a comparison of two long names has more than a terminal shows on one."""


def compare(
    first: str = typer.Argument(..., help="A learner, as it was typed or as the report names it."),
    second: str = typer.Argument(..., help="Another."),
    folders: list[pathlib.Path] | None = typer.Argument(None, help="Results folders; default: the one of --out."),
    out: pathlib.Path = typer.Option(pathlib.Path("results"), "--out", "-o", help="Results folder."),
    score: str | None = typer.Option(None, "--score", help="Which number; default: the family's headline."),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Compare two learners, paired by task and seed: difference, interval, permutation test, effect size, Holm."""
    from quickstudy.report.compare import compare as compare_learners
    from quickstudy.runs.reader import read_results

    include_files(include)
    places = folders or [out]
    try:
        rows = compare_learners(places, first, second, score=score)
    except UsageError:  # a damaged line may be why
        for place in places:
            say_left_out(len(read_results(place).damage), place)
        raise
    say_left_out(rows[0].left_out, places[0])
    if json:
        print_lines([row.as_facts() for row in rows])
        return
    for line in dict.fromkeys(line for row in rows for line in row.compared()):
        say(line)
    for task, title, *numbers, verdict in [row.as_text() for row in rows]:
        say(f"{task}  {title}")
        for line in textwrap.wrap(", ".join(map(visible, numbers)), _WIDTH - 2):
            say(f"  {line}")
        say(f"  {verdict}")
