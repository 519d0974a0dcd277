"""Look at the data of a task, of any kind."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quickstudy.base import registries
from quickstudy.base.canonical import plain
from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.parameters import recorded_id
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import ExampleTask, PureWorldTask, SeriesTask, WorldTask, spaces_of
from quickstudy.base.text import described
from quickstudy.tasks.sampling import check_drawn

if TYPE_CHECKING:
    from quickstudy.base.examples import Examples, Series

DRAWS, ROWS, WIDEST = 3, 20, 8
"""Draws and rows that are shown unless more are asked for, and the most numbers of one step."""

_CUT = ("...", "", "", "", "")

Part = str | list[tuple[str, ...]]
"""What people read: a line, or a table whose columns are aligned."""


@dataclass(frozen=True)
class Sample:
    """Data of a task, sampled when they are asked for."""

    _facts: Callable[[], Iterable[Mapping[str, Any]]]
    _parts: Callable[[], Iterable[Part]]

    def as_json(self) -> list[Any]:
        """The data at full precision, in plain JSON types: one mapping for each example, series,
        recording, or step of a world.
        """
        return [plain(one) for one in self._facts()]

    def parts(self) -> list[Part]:
        """The same as lines and tables for people, long ones cut."""
        return list(self._parts())

    def __str__(self) -> str:
        """The parts as text."""
        parts = self.parts()
        return "\n".join(
            one if isinstance(one, str) else "\n".join("  ".join(row).rstrip() for row in one)
            for one in parts
        )


def sample(
    task: str,
    *,
    count: int | None = None,
    seed: int = 0,
    convention: str = "corrected",
    text: bool = False,
    inputs: str | pathlib.Path | None = None,
) -> Sample:
    """The data of a task: independent draws, before de-duplication. In lines, supervised tokens are
    in [brackets].

    Parameters
    ----------
    task:
        A task, with parameters after a colon if need be.
    count:
        How many: independent draws (default 3), or rows of a series or of a world (default 20).
    seed:
        The root seed.
    convention:
        corrected, published or written.
    text:
        Strings as the task writes them.
    inputs:
        Drive a system with the inputs of this file instead: CSV or NPY, a row per step.

    Raises UsageError for a task, a count or a file that cannot be.

    """
    if count is not None and count < 1:
        raise UsageError(f"count must be at least 1, got {count}")
    made = registries.typed_task(task, convention)
    name = made.id
    if text and (inputs is not None or not isinstance(made, ExampleTask)):
        raise UsageError(f"{name} writes no strings; leave --text out")
    streams = Streams(seed, recorded_id(made), 0)
    if inputs is None and not text and hasattr(made, "recordings"):
        return _recordings(name, made, streams, count)
    if inputs is not None:
        return _response(name, made, pathlib.Path(inputs), ROWS if count is None else count)
    if isinstance(made, ExampleTask):
        released = getattr(made, "released", None) if convention == "published" else None
        wanted = DRAWS if count is None else count
        draw = (
            (lambda: released(seed, wanted))
            if released
            else (lambda: made.sample(streams.numpy("data"), wanted))
        )
        drawn = _drawn(name, made, "released" if released else "sample", draw)
        return _examples(drawn, name, made, text)
    if isinstance(made, SeriesTask):
        return _series(name, made, streams, count)
    if isinstance(made, WorldTask | PureWorldTask):
        return _world(name, made, streams, ROWS if count is None else count)
    raise UsageError(f"{name} does not sample examples")


def _recordings(name: str, task: Any, streams: Streams, count: int | None) -> Sample:
    """Of a task that writes down its episodes: as JSON a line for each, which `replay` reads; for
    people a table.
    """

    def facts() -> Any:
        wanted = DRAWS if count is None else count
        return _guarded(name, "recordings", lambda: task.recordings(streams, wanted))

    def parts() -> Iterable[Part]:
        tables = _guarded(name, "tables", lambda: task.tables(streams, count or 1))
        for number, table in enumerate(tables):
            yield from ["", table] if number else [table]

    return Sample(facts, parts)


def _examples(examples: Examples, name: str, task: Any, text: bool) -> Sample:
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
    kept = [
        {key: row[key] for key in row if key != "line" and (text or key != "text")} for row in rows
    ]
    return Sample(lambda: kept, lambda: [row["text" if text else "line"] for row in rows])


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


def _series(name: str, task: Any, streams: Streams, count: int | None) -> Sample:
    """For people one series, a few rows of every part; as JSON whole series, one per repetition."""

    def draw(repetition: int) -> Series:
        own = dataclasses.replace(streams, repetition=repetition)
        return _drawn(name, task, "drive", lambda: task.drive(own.numpy("data")))  # type: ignore[no-any-return]

    parts = ("washout", "training", "validation", "test")

    def facts() -> Iterable[Mapping[str, Any]]:
        for series in map(draw, range(count or 1)):
            lengths = {part: getattr(series, part) for part in parts}
            steps = _steps(series.inputs, series.targets)
            yield {**steps, **lengths, "facts": dict(series.facts)}

    def table() -> list[Part]:
        series = draw(0)
        lengths = {part: getattr(series, part) for part in parts if getattr(series, part)}
        whole, rest = divmod(ROWS if count is None else count, max(1, len(lengths)))
        rows, start = [("step", "part", "inputs", "", "targets")], 0
        for place, (part, length) in enumerate(lengths.items()):
            shown = min(length, whole + (place < rest))
            rows += [
                _row(start + step, part, series.inputs, series.targets) for step in range(shown)
            ]
            if shown < length and rows[-1] != _CUT:
                rows.append(_CUT)
            start += length
        return [list(rows)]

    return Sample(facts, table)


def _response(name: str, task: Any, path: pathlib.Path, count: int) -> Sample:
    """What a driven system answers to given inputs."""
    import numpy as np

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
    rows = [_row(step, "", inputs, targets) for step in range(min(count, len(inputs)))]
    table = [("step", "", "inputs", "", "targets"), *rows, *[_CUT] * (count < len(inputs))]
    return Sample(lambda: [_steps(inputs, targets)], lambda: [list(table)])


def _world(name: str, task: Any, streams: Streams, count: int) -> Sample:
    from quickstudy.tasks.worlds import transcript

    rows = _guarded(name, "the world", lambda: transcript(task, streams, count))
    table = [
        tuple(map(_cell, (row[0], row[1], row[2], row[3], "done" if row[4] else "", row[5])))
        for row in rows
    ]
    heading = ("step", "observation", "action", "reward", "", "")
    return Sample(lambda: [row._asdict() for row in rows], lambda: [[heading, *table]])


def _drawn(name: str, task: Any, method: str, draw: Callable[[], Any]) -> Any:
    """What the task draws. Raises UsageError, with the place, if it raises or draws what its spaces
    do not have.
    """
    drawn = _guarded(name, method, draw)
    try:
        check_drawn(drawn, *spaces_of(task))
    except UsageError as fault:
        raise UsageError(f"{name}: {fault}") from fault
    return drawn


def _guarded(name: str, method: str, call: Callable[[], Any]) -> Any:
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
    """A value in a row with others: in parentheses if it is several numbers."""
    return f"({_cell(value)})" if isinstance(value, list) and len(value) > 1 else _cell(value)


def _cell(value: Any) -> str:
    """A value for people: numbers to four digits, long rows cut."""
    if isinstance(value, Mapping):
        return " ".join(f"{name}={_cell(part)}" for name, part in value.items())
    if isinstance(value, Iterable) and not isinstance(value, str):
        parts = [_cell(part) for part in value]
        return " ".join([*parts[:WIDEST], *(["..."] if len(parts) > WIDEST else [])])
    return f"{value:.4g}" if isinstance(value, float) else str(value)
