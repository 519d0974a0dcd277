"""`quickstudy sample`: look at a task's data."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import typer

from quickstudy.cli.output import CONVENTION, DATA, INCLUDE, JSON, include_files, name_data, print_lines

if TYPE_CHECKING:
    from quickstudy.base.examples import Examples


def add(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("sample")(sample)


def sample(
    task: str = typer.Argument(..., help="A task, with parameters after a colon if need be."),
    count: int = typer.Option(3, "--count", "-n", help="How many independent draws."),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    convention: str = CONVENTION,
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Look at the data: independent draws, before de-duplication. Supervised tokens are in [brackets]."""
    from quickstudy.base import catalogue
    from quickstudy.base.errors import UsageError
    from quickstudy.base.parameters import configure, parse_assignments
    from quickstudy.base.task import ExampleTask

    name_data(data)
    include_files(include)
    if count < 1:
        raise UsageError(f"count must be at least 1, got {count}")
    name, _, assignments = task.partition(":")
    made = configure(name, catalogue.task.get(name), parse_assignments(assignments), convention)
    if not isinstance(made, ExampleTask):
        raise UsageError(f"{name} does not sample examples")
    examples = _drawn(name, made, seed, count)
    name_of, answers = _naming(made), getattr(made, "answers", ())
    rows = []
    for index in range(examples.count):
        ids, supervised = examples.sequence(index)
        tokens = name_of(ids)
        # Answers may be out of another vocabulary than what is read.
        for place in supervised if answers else ():
            tokens[place] = answers[ids[place]]
        rows.append({"tokens": tokens, "supervised": supervised, "ids": ids})
    if json:
        print_lines(rows)
        return
    for row in rows:
        asked = set(row["supervised"])
        typer.echo(" ".join(f"[{token}]" if at in asked else str(token) for at, token in enumerate(row["tokens"])))


def _drawn(name: str, task: Any, seed: int, count: int) -> Examples:
    """What the task draws. Raises UsageError, with the place, if its `sample` raises or draws what is no word."""
    from quickstudy.base.errors import QuickstudyError, UsageError
    from quickstudy.base.origin import described
    from quickstudy.base.seeds import Streams
    from quickstudy.testing.finding import Broken
    from quickstudy.testing.tasks import check_drawn

    try:
        drawn: Examples = task.sample(Streams(seed, task.id, 0).numpy("data"), count)
        check_drawn(drawn, task)
    except Broken as fault:
        raise UsageError(f"{name}: {fault}") from fault
    except QuickstudyError:
        raise
    except Exception as error:  # a user's code, or parameters that it was not made for
        raise UsageError(f"{name}: sample raised {described(error)}") from error
    return drawn


def _naming(task: Any) -> Callable[[list[int]], list[Any]]:
    """From numbers of symbols to words, where the task has words for them."""
    if hasattr(task, "words"):
        return task.words  # type: ignore[no-any-return]
    words = getattr(task, "vocabulary", None)
    return (lambda ids: [words[id] for id in ids]) if words else list
