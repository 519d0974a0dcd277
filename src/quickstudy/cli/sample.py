"""`quickstudy sample`: look at a task's data, whatever kind they are of."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.cli.output import (
    CONVENTION,
    DATA,
    INCLUDE,
    JSON,
    include_files,
    name_data,
    print_lines,
    print_table,
    say,
)

if TYPE_CHECKING:
    from quickstudy.base.examples import Examples, Series
    from quickstudy.base.seeds import Streams

DRAWS, ROWS, WIDEST = 3, 20, 8
"""Draws and rows that are shown unless more are asked for, and the most numbers of one step."""

_CUT = ("...", "", "", "", "")


def sample(
    task: str = typer.Argument(..., help="A task, with parameters after a colon if need be."),
    count: int | None = typer.Option(
        None,
        "--count",
        "-n",
        help="How many: independent draws (3), or rows of a series or of a world (20).",
    ),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    convention: str = CONVENTION,
    text: bool = typer.Option(
        False,
        "--text",
        help="Strings as the task writes them, one per line; with --json, in the field `text`.",
    ),
    inputs: pathlib.Path | None = typer.Option(
        None,
        "--inputs",
        help="Drive a system with these inputs instead: CSV or NPY, a row per step.",
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Look at the data: independent draws, before de-duplication. Supervised tokens are in
    [brackets].
    """
    from quickstudy.base import catalogue
    from quickstudy.base.seeds import Streams
    from quickstudy.base.task import ExampleTask, PureWorldTask, SeriesTask, WorldTask

    name_data(data)
    include_files(include)
    if count is not None and count < 1:
        raise UsageError(f"count must be at least 1, got {count}")
    made = catalogue.typed_task(task, convention)
    name = made.id
    if text and (inputs is not None or not isinstance(made, ExampleTask)):
        raise UsageError(f"{name} writes no strings; leave --text out")
    streams = Streams(seed, made.id, 0)
    if inputs is None and not text and hasattr(made, "recordings"):
        _show_recordings(name, made, streams, count, json)
    elif inputs is not None:
        _show_response(name, made, inputs, ROWS if count is None else count, json)
    elif isinstance(made, ExampleTask):
        released = getattr(made, "released", None) if convention == "published" else None
        wanted = DRAWS if count is None else count
        draw = (
            (lambda: released(seed, wanted))
            if released
            else (lambda: made.sample(streams.numpy("data"), wanted))
        )
        _show_examples(
            _drawn(name, made, "released" if released else "sample", draw), name, made, text, json
        )
    elif isinstance(made, SeriesTask):
        _show_series(name, made, streams, count, json)
    elif isinstance(made, WorldTask | PureWorldTask):
        _show_world(name, made, streams, ROWS if count is None else count, json)
    else:
        raise UsageError(f"{name} does not sample examples")


def _show_recordings(name: str, task: Any, streams: Streams, count: int | None, json: bool) -> None:
    """Of a task that writes down its episodes: as JSON a line for each, which `replay` reads; for
    people a table.
    """
    if json:
        print_lines(
            _guarded(
                name,
                "recordings",
                lambda: task.recordings(streams, DRAWS if count is None else count),
            )
        )
        return
    for number, table in enumerate(
        _guarded(name, "tables", lambda: task.tables(streams, count or 1))
    ):
        if number:
            say("")
        print_table(table)


def _show_examples(examples: Examples, name: str, task: Any, text: bool, json: bool) -> None:
    read, answered = _naming(task), _naming(task, answers=True)
    if examples.sequential:
        rows = [
            _sequence(*examples.sequence(index), read, answered, task)
            for index in range(examples.count)
        ]
    elif text:
        raise UsageError(
            f"{name}: what is asked is not the next token, and in no string; leave --text out"
        )
    else:
        rows = [_answers(examples.take([index]), read, answered) for index in range(examples.count)]
    if json:
        print_lines(
            {key: row[key] for key in row if key != "line" and (text or key != "text")}
            for row in rows
        )
    else:
        for row in rows:
            say(row["text" if text else "line"])


def _sequence(
    ids: list[int], supervised: list[int], read: Any, answered: Any, task: Any
) -> dict[str, Any]:
    """An example whose answers are the next tokens: one string of tokens, those that are asked for
    in brackets.
    """
    tokens, asked, judged = read(ids), set(supervised), getattr(task, "answers", ())
    if judged:  # answers may be out of another vocabulary than what is read
        for place in supervised:
            tokens[place] = answered([ids[place]])[0]
    line = " ".join(
        f"[{token}]" if place in asked else str(token) for place, token in enumerate(tokens)
    )
    own = getattr(task, "text", None)
    if callable(own) and judged:
        kept = [place for place in range(len(ids)) if place not in asked]
        text = (
            f"{own([ids[place] for place in kept])}"
            f" {' '.join(tokens[place] for place in supervised)}"
        )
    else:
        text = own(ids) if callable(own) else " ".join(map(str, tokens))
    return {"tokens": tokens, "supervised": supervised, "ids": ids, "text": text, "line": line}


def _answers(example: Examples, read: Any, answered: Any) -> dict[str, Any]:
    """An example whose answers are something else: after an input that a question follows, an arrow
    and the answer.
    """
    shown = read(example.inputs[:, 0].tolist())
    asked = example.asked[:, 0].nonzero()[0].tolist()
    targets = answered(example.targets[asked, 0].tolist())
    said = dict(zip(asked, targets, strict=True))
    line = " ".join(
        _one(step) + (f" -> [{_cell(said[at])}]" if at in said else "")
        for at, step in enumerate(shown)
    )
    return {"inputs": shown, "asked": asked, "targets": targets, "line": line}


def _show_series(name: str, task: Any, streams: Streams, count: int | None, json: bool) -> None:
    """For people one series, a few rows of every part; as JSON whole series, one per repetition."""
    import dataclasses

    def draw(repetition: int) -> Series:
        own = dataclasses.replace(streams, repetition=repetition)
        return _drawn(name, task, "drive", lambda: task.drive(own.numpy("data")))  # type: ignore[no-any-return]

    parts = ("washout", "training", "validation", "test")
    if json:
        for series in map(draw, range(count or 1)):
            lengths = {part: getattr(series, part) for part in parts}
            print_lines(
                [{**_steps(series.inputs, series.targets), **lengths, "facts": dict(series.facts)}]
            )
        return
    series = draw(0)
    lengths = {part: getattr(series, part) for part in parts if getattr(series, part)}
    whole, rest = divmod(ROWS if count is None else count, max(1, len(lengths)))
    rows, start = [("step", "part", "inputs", "", "targets")], 0
    for place, (part, length) in enumerate(lengths.items()):
        shown = min(length, whole + (place < rest))
        rows += [_row(start + step, part, series.inputs, series.targets) for step in range(shown)]
        if shown < length and rows[-1] != _CUT:
            rows.append(_CUT)
        start += length
    print_table(rows)


def _show_response(name: str, task: Any, path: pathlib.Path, count: int, json: bool) -> None:
    """What a driven system answers to given inputs."""
    import numpy as np

    from quickstudy.base.task import spaces_of
    from quickstudy.data.tables import read_table

    if not hasattr(task, "response"):
        raise UsageError(
            f"{name} is not driven from outside: it has no response(inputs); leave --inputs out"
        )
    inputs = read_table(path)
    width = spaces_of(task)[0].width
    if inputs.shape[1] != width:
        raise UsageError(f"{path} has {inputs.shape[1]} columns, and {name} is driven by {width}")
    targets = np.asarray(_guarded(name, "response", lambda: task.response(inputs)))
    if len(targets) != len(inputs):
        raise UsageError(
            f"{name}: response must answer each of {len(inputs)} steps, got {len(targets)} answers"
        )
    if json:
        print_lines([_steps(inputs, targets)])
        return
    rows = [_row(step, "", inputs, targets) for step in range(min(count, len(inputs)))]
    print_table([("step", "", "inputs", "", "targets"), *rows, *[_CUT] * (count < len(inputs))])


def _show_world(name: str, task: Any, streams: Streams, count: int, json: bool) -> None:
    from quickstudy.tasks.worlds import transcript

    rows = _guarded(name, "the world", lambda: transcript(task, streams, count))
    if json:
        print_lines(row._asdict() for row in rows)
    else:
        table = [
            tuple(map(_cell, (row[0], row[1], row[2], row[3], "done" if row[4] else "", row[5])))
            for row in rows
        ]
        print_table([("step", "observation", "action", "reward", "", ""), *table])


def _drawn(name: str, task: Any, method: str, draw: Callable[[], Any]) -> Any:
    """What the task draws. Raises UsageError, with the place, if it raises or draws what its spaces
    do not have.
    """
    from quickstudy.base.task import spaces_of
    from quickstudy.tasks.sampling import check_drawn

    drawn = _guarded(name, method, draw)
    try:
        check_drawn(drawn, *spaces_of(task))
    except UsageError as fault:
        raise UsageError(f"{name}: {fault}") from fault
    return drawn


def _guarded(name: str, method: str, call: Callable[[], Any]) -> Any:
    from quickstudy.base.wording import described

    try:
        return call()
    except QuickstudyError:
        raise
    except Exception as error:  # a user's code, or parameters that it was not made for
        raise UsageError(f"{name}: {method} raised {described(error)}") from error


def _naming(task: Any, answers: bool = False) -> Callable[[list[Any]], list[Any]]:
    """From numbers of symbols to words, where the task has words for what is read, or for what is
    answered.
    """
    from quickstudy.base.spaces import Tokens
    from quickstudy.base.task import spaces_of

    if answers and not isinstance(spaces_of(task)[1], Tokens):
        return list
    own = getattr(task, "answers", ()) if answers else ()
    if not own and callable(getattr(task, "words", None)):
        return task.words  # type: ignore[no-any-return]
    words = own or getattr(task, "vocabulary", None)
    return (lambda ids: [words[id] for id in ids]) if words else list


def _steps(inputs: Any, targets: Any) -> dict[str, Any]:
    """Both by step: a number where there is one at a time, a list where there are several."""
    return {
        name: values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        for name, values in (("inputs", inputs), ("targets", targets))
    }


def _row(step: int, part: str, inputs: Any, targets: Any) -> tuple[str, str, str, str, str]:
    return str(step), part, _cell(inputs[step].tolist()), "->", _cell(targets[step].tolist())


def _one(value: Any) -> str:
    """A value that others stand beside: in parentheses if it is several numbers."""
    return f"({_cell(value)})" if isinstance(value, list) and len(value) > 1 else _cell(value)


def _cell(value: Any) -> str:
    """A value for people: numbers to four digits, long rows cut."""
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_cell(part)}" for name, part in value.items())
    if isinstance(value, Iterable) and not isinstance(value, str):
        parts = [_cell(part) for part in value]
        return " ".join([*parts[:WIDEST], *(["..."] if len(parts) > WIDEST else [])])
    return f"{value:.4g}" if isinstance(value, float) else str(value)
