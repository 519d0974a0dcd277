"""`quickstudy compare`: learners two by two, paired by task and seed, and over all tasks
together.
"""

from __future__ import annotations

import pathlib
import textwrap
from collections.abc import Sequence

import typer

from quickstudy.base.errors import UsageError
from quickstudy.base.text import visible
from quickstudy.cli.output import (
    INCLUDE,
    JSON,
    check_target,
    command_line,
    include_files,
    print_lines,
    say,
    say_left_out,
)

_WIDTH = 100
"""Letters of a line: a comparison of two long names has more than a terminal shows on one."""
WORSE = 3
"""The exit status for one that is worse than the first, where that was asked for."""


def compare(
    first: str = typer.Argument(..., help="A learner, as typed or as the report names it."),
    second: str = typer.Argument(..., help="The learner to compare it with."),
    more: list[str] | None = typer.Argument(
        None, help="More learners, then results folders (default: --out)."
    ),
    out: pathlib.Path = typer.Option(
        pathlib.Path("results"), "--out", "-o", help="A results folder, or a folder of them."
    ),
    score: str | None = typer.Option(
        None, "--score", help="The score to compare; default: the headline score of the family."
    ),
    fail_if_worse: bool = typer.Option(
        False,
        "--fail-if-worse",
        help="Exit with status 3 if a learner is worse than the first in a family, for CI.",
    ),
    page: pathlib.Path | None = typer.Option(
        None, "--page", help="Also write an HTML page with charts: compare.html."
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Compare learners, paired by task and seed: the difference on each task, a test per family
    with Holm's correction, and ranks.
    """
    from quickstudy.pages.profile.index import one_ruleset
    from quickstudy.report.compare import folders_in, table_of
    from quickstudy.report.page import check_ours
    from quickstudy.report.ranking import comparison_page, overall
    from quickstudy.runs.folder import write_output
    from quickstudy.runs.merge import read_results

    include_files(include)
    check_target(page)
    learners, folders = _sorted_out(more or [])
    names, places = list(dict.fromkeys([first, second, *learners])), folders or [out]
    try:
        if len(names) == 1:
            raise UsageError(f"{first} is compared with itself; name another learner")
        one_ruleset((inside for one in places for inside in folders_in(one)), "compare within one")
        found = overall(table_of(places), names, score)
    except UsageError:  # a damaged line may be why
        for place in (inside for one in places for inside in folders_in(one)):
            say_left_out(len(read_results(place).damage), place)
        raise
    rows = found.rows
    tests = list(dict.fromkeys(row.family for row in rows if row.family is not None))
    say_left_out(rows[0].left_out, places[0])
    if json:
        print_lines(
            [
                *(row.as_facts() for row in rows),
                *([{"overall": found.facts()}] if len(names) > 2 else []),
            ]
        )
    else:
        for line in (
            dict.fromkeys(line for row in rows for line in row.compared())
            if len(names) == 2
            else ()
        ):
            say(line)
        for row in rows:
            task, title, *numbers, remark = row.as_text()
            say(
                f"{task}  {title}"
                + (f"  {row.first} against {row.second}" if len(names) > 2 else "")
            )
            for line in textwrap.wrap(", ".join(map(visible, filter(None, numbers))), _WIDTH - 2):
                say(f"  {line}")
            if remark:
                say(f"  {remark}")
        for test in tests:
            say(
                (f"{test.first} against {test.second}, " if len(names) > 2 else "") + test.as_text()
            )
        for line in found.lines() if len(found.tasks) > 1 or len(names) > 2 else ():
            say(line)
    if page is not None:
        from quickstudy.render.html import as_html

        check_ours(page)
        text = as_html(comparison_page(found, command_line())).encode(errors="backslashreplace")
        write_output(page, lambda file: file.write(text))
        if not json:
            say(f"Page: {page}")
    of_first = {row.family for row in rows if row.named[0] == first}
    worse = [test for test in tests if test.worse and test in of_first]
    if fail_if_worse and worse:
        for test in worse:
            say(
                f"{test.second} is worse than {test.first} in {test.family} ({test.convention})",
                err=True,
            )
        raise typer.Exit(WORSE)


def _sorted_out(more: Sequence[str]) -> tuple[list[str], list[pathlib.Path]]:
    """Split further arguments into learners and folders: an existing folder is a folder, and
    learners precede it.
    """
    for place, name in enumerate(more):
        if pathlib.Path(name).is_dir():
            return list(more[:place]), [pathlib.Path(one) for one in more[place:]]
    return list(more), []
