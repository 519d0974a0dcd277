"""Write down what a device or a simulator is to be driven with, and what runs ask a learner."""

from __future__ import annotations

import hashlib
import json
import math
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import recorded_id
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals
from quickstudy.base.study import find_study, study_names
from quickstudy.base.task import SeriesTask, spaces_of
from quickstudy.data.recordings import AGAIN, FORMAT, MARK, SEQUENCES, drive_text
from quickstudy.runs.folder import write_output
from quickstudy.runs.record_run import recorded_lines
from quickstudy.tasks.dynamics.memory import NARROW_STEPS, narrow_noise


def drive(
    tasks: str | Sequence[str],
    out: str | pathlib.Path,
    *,
    seed: int = 0,
    repetitions: int = 1,
    rate: float | None = None,
    volts: tuple[float, float] | None = None,
    convention: str = "corrected",
    rest: int = 100,
    again: int = 0,
) -> dict[str, Any]:
    """Write the inputs of tasks, one after another, for a device to read. `quickstudy score
    dynamics` scores what it gives.

    Parameters
    ----------
    tasks:
        Tasks of one series each, or of sequences that are to be told apart, with parameters after a
        colon if need be.
    out:
        The file to write. Another drive in its place is not overwritten.
    seed:
        The root seed.
    repetitions:
        Series of every task, each with its own washout.
    rate:
        Samples per second; adds a column of times.
    volts:
        What the least and the greatest input become.
    convention:
        corrected, published or written.
    rest:
        Samples of zeros before every sequence of a task that has many, so that a device forgets the
        one before.
    again:
        How often every series is given once more, to see how well the device repeats itself.

    Gives the header of the file: its segments with their tasks, scales and digests. Raises
    UsageError for what cannot drive a device.

    """
    out = pathlib.Path(out)
    if rest < 0 or again < 0:
        raise UsageError(f"--rest and --again must be at least 0, got {rest} and {again}")
    if repetitions < 1 or (rate is not None and not 0 < rate < math.inf):
        raise UsageError(
            f"--repetitions must be at least 1 and --rate above 0, got {repetitions} and {rate}"
        )
    if volts is not None and not volts[0] < volts[1]:
        raise UsageError(
            f"volts must be two numbers, the lower one first, got {volts[0]:g} and {volts[1]:g}"
        )
    low, high = volts or (0.0, 0.0)
    parts, segments, start = [], list[dict[str, Any]](), 0
    for task in [tasks] if isinstance(tasks, str) else tasks:
        for repetition in range(repetitions):
            for segment, inputs in _segments(task, convention, seed, repetition, rest, again):
                least, most = segment.pop("range")
                scale = (high - low) / (most - least) if volts else 1.0
                offset = low - scale * least if volts else 0.0
                parts.append(inputs * scale + offset)
                digest = digest_of(inputs)
                segments.append(
                    {**segment, "start": start, "scale": scale, "offset": offset, "sha256": digest}
                )
                start += len(inputs)
    widths = {segment["task"]: part.shape[1] for segment, part in zip(segments, parts, strict=True)}
    if len(set(widths.values())) > 1:
        counts = ", ".join(f"{task} has {width}" for task, width in widths.items())
        raise UsageError(
            f"one drive has one number of channels, and {counts}; write one drive for each number"
        )
    header: dict[str, Any] = {
        "format": FORMAT,
        "seed": seed,
        "samples": start,
        "channels": parts[0].shape[1],
        "rate": rate,
        "volts": [low, high] if volts else None,
        "segments": segments,
    }
    _check_replaced(out, header)
    text = drive_text(header, np.concatenate(parts), rate)
    write_output(out, lambda file: file.write(text.encode()))
    return header


@dataclass(frozen=True)
class Questions:
    """The result of writing a drive. runs: how many; lines: of the file; without_answers: lines
    that wait for answers; left_out: tasks of a study that cannot be written down so, with the
    reason.
    """

    runs: int
    lines: int
    without_answers: int
    left_out: tuple[str, ...] = ()


def write_questions(
    tasks: str | Sequence[str],
    out: str | pathlib.Path,
    *,
    seed: int = 0,
    repetitions: int = 1,
    protocol: Mapping[str, Any] | None = None,
    learner: str = "",
    convention: str = "corrected",
) -> Questions:
    """Write what runs of tasks, or of the tasks of a study, tell a learner and ask it, for answers
    from elsewhere (`recorded:file=...`).

    Parameters
    ----------
    tasks:
        Tasks, or studies such as profile-quick.
    out:
        The file to write: a line of JSON for each lesson and question.
    seed:
        The root seed.
    repetitions:
        Runs of every task.
    protocol:
        Parameters of the protocol; those of a study are its own.
    learner:
        A learner whose answers are written too; by default they are left open.
    convention:
        corrected, published or written.

    Raises UsageError if nothing can be written.

    """
    asked: list[tuple[str, dict[str, Any], bool]] = []
    for task in [tasks] if isinstance(tasks, str) else tasks:
        if task in study_names():
            asked += [(row.task, dict(row.protocol), True) for row in find_study(task).rows]
        else:
            asked.append((task, dict(protocol or {}), False))
    lines: list[dict[str, Any]] = []
    runs, left_out = 0, []
    for task, given, of_study in asked:
        try:
            for repetition in range(repetitions):
                lines += recorded_lines(task, convention, seed, repetition, given, learner)
                runs += 1
        except UsageError as error:
            if not of_study:
                raise
            left_out.append(str(error))
    if not lines:
        raise UsageError(f"there is nothing to write: {'; '.join(left_out)}")
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    write_output(pathlib.Path(out), lambda file: file.write(text.encode()))
    empty = sum("answers" in line and line["answers"] is None for line in lines)
    return Questions(runs, len(lines), empty, tuple(left_out))


def _check_replaced(out: pathlib.Path, header: dict[str, Any]) -> None:
    """Raise UsageError where another drive would be lost, by which a recording may have been
    made.
    """
    if out.is_file():
        with open(out, encoding="utf-8", errors="replace") as file:
            first = file.readline().rstrip("\n")
        if first.startswith(MARK) and first != f"{MARK}{json.dumps(header)}":
            raise UsageError(
                f"{out} holds another drive, and recordings made with it could not be scored"
                " without it; choose another file or move it away"
            )


def _segments(
    task: str, convention: str, seed: int, repetition: int, rest: int, again: int
) -> list[tuple[dict[str, Any], Any]]:
    """The series of a task; after noise that memory is measured with, noise of a narrow range."""
    typed = registries.typed_task(task, convention)
    if callable(getattr(typed, "parts", None)) and isinstance(spaces_of(typed)[0], Reals):
        return [] if repetition else [_sequences(task, typed, convention, rest)]
    series, made = drawn_series(task, convention, seed, repetition)
    streams = Streams(seed, recorded_id(made), repetition)
    lengths = {
        part: getattr(series, part) for part in ("washout", "training", "validation", "test")
    }
    said = {
        "task": task,
        "version": made.version,
        "convention": convention,
        "repetition": repetition,
        **lengths,
    }
    bounds = [float(series.inputs.min()), float(series.inputs.max())]
    if bounds[0] == bounds[1]:
        raise UsageError(
            f"{task} is driven by nothing that changes: it runs by itself, and needs no device to"
            " be driven"
        )
    found = [({**said, "role": "series", "range": bounds}, series.inputs)]
    found += [({**said, "role": AGAIN, "range": bounds}, series.inputs) for _ in range(again)]
    if hasattr(made, "signal"):
        narrow = narrow_noise(made, streams)
        lengths = {"washout": made.washout, "training": 0, "validation": 0, "test": NARROW_STEPS}
        found.append(({**said, **lengths, "role": "generalisation", "range": bounds}, narrow))
    return found


def _sequences(task: str, made: Any, convention: str, rest: int) -> tuple[dict[str, Any], Any]:
    """All sequences of an official split, each after a rest, in which the input is 0."""
    parts = made.parts()
    said = {
        "task": task,
        "version": made.version,
        "convention": convention,
        "repetition": 0,
        "washout": rest,
        "training": parts.train.count,
        "validation": 0,
        "test": parts.test.count,
        "role": SEQUENCES,
        "lengths": [int(length) for part in parts for length in part.lengths],
    }
    inputs = rested(made, rest)
    return {**said, "range": [float(inputs.min()), float(inputs.max())]}, inputs


def rested(task: Any, rest: int) -> Any:
    """(sample, width): the sequences of a task one after another, zeros before each."""
    rows = [
        piece
        for part in task.parts()
        for index, length in enumerate(part.lengths)
        for piece in (np.zeros((rest, part.inputs.shape[2])), part.inputs[:length, index])
    ]
    return np.concatenate(rows)


def drawn_series(task: str, convention: str, seed: int, repetition: int) -> tuple[Any, Any]:
    """The series of a task's repetition, as a run draws it, and the task. Raises UsageError if it
    is not a series.
    """
    made = registries.typed_task(task, convention)
    streams = Streams(seed, recorded_id(made), repetition)
    if not isinstance(made, SeriesTask):
        raise UsageError(
            f"{task.partition(':')[0]} is neither a series nor sequences of numbers and cannot"
            " drive a device; write what it asks with --questions"
        )
    return made.drive(streams.numpy("data")), made


def digest_of(inputs: Any) -> str:
    """A checksum: resampled inputs must be equal to the last bit."""
    return hashlib.sha256(inputs.tobytes()).hexdigest()[:16]
