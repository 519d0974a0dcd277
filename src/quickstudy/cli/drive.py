"""`quickstudy drive`: write down what a device, or a simulator of somebody else's, is to be driven
with.
"""

from __future__ import annotations

import hashlib
import math
import pathlib
from typing import Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import (
    CONVENTION,
    DATA,
    INCLUDE,
    JSON,
    check_target,
    include_files,
    name_data,
    print_json,
    say,
    write_text,
)

NARROW, NARROW_STEPS = 0.1, 1000
"""The range of the inputs that a generalisation rank is measured with, of the whole range, and how
many there are.
"""


def drive(
    tasks: list[str] = typer.Argument(..., help="Tasks, with parameters after a colon if need be."),
    out: pathlib.Path = typer.Option(..., "--out", "-o", help="The file to write."),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    repetitions: int = typer.Option(
        1, "--repetitions", "-r", help="Series of every task, each with its own washout."
    ),
    rate: float | None = typer.Option(
        None, "--rate", help="Samples per second: adds a column of times."
    ),
    volts: str = typer.Option(
        "", "--volts", help="LOW:HIGH, what the least and the greatest input become."
    ),
    questions: bool = typer.Option(
        False,
        "--questions",
        help="Of any task, what runs tell a learner and ask it: for recorded:file=...",
    ),
    learner: str = typer.Option(
        "", "--learner", "-l", help="With --questions: and what this one answers."
    ),
    set_: list[str] = typer.Option(
        [], "--set", help="With --questions, a parameter of the protocol: sequences=600."
    ),
    convention: str = CONVENTION,
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Write the inputs of tasks, one after another, for a device to read; score what it gives by
    `score dynamics`.

    With --questions, what runs of these tasks, or of a study's (profile-quick), tell a learner and
    ask it.
    """
    import numpy as np

    from quickstudy.data.recordings import FORMAT, drive_text

    name_data(data)
    include_files(include)
    check_target(out)
    if repetitions < 1 or (rate is not None and not 0 < rate < math.inf):
        raise UsageError(
            f"--repetitions must be at least 1 and --rate above 0, got {repetitions} and {rate}"
        )
    if questions:
        _write_questions(tasks, out, convention, seed, repetitions, set_, learner, json)
        return
    if learner or set_:
        raise UsageError("--learner and --set are for --questions")
    low, high = _range(volts)
    parts, segments, start = [], [], 0
    for task in tasks:
        for repetition in range(repetitions):
            for segment, inputs in _segments(task, convention, seed, repetition):
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
    }
    header |= {"rate": rate, "volts": [low, high] if volts else None, "segments": segments}
    _check_replaced(out, header)
    write_text(out, drive_text(header, np.concatenate(parts), rate))
    if json:
        print_json({"file": str(out), **header})
        return
    channels = "one channel" if header["channels"] == 1 else f"{header['channels']} channels"
    washouts = ", ".join(sorted({str(segment["washout"]) for segment in segments}))
    say(
        f"wrote {out}: {start:,} samples, {channels}, washout {washouts}; "
        "keep the sample clock, record every node once per sample"
    )


def _check_replaced(out: pathlib.Path, header: dict[str, Any]) -> None:
    """Raise UsageError where another drive would be lost, by which a recording may have been
    made.
    """
    from json import dumps

    from quickstudy.data.recordings import MARK

    if out.is_file():
        with open(out, encoding="utf-8", errors="replace") as file:
            first = file.readline().rstrip("\n")
        if first.startswith(MARK) and first != f"{MARK}{dumps(header)}":
            raise UsageError(
                f"{out} holds another drive, and recordings made with it could not be scored"
                " without it; choose another file or move it away"
            )


def _write_questions(
    tasks: list[str],
    out: pathlib.Path,
    convention: str,
    seed: int,
    repetitions: int,
    set_: list[str],
    learner: str,
    json: bool,
) -> None:
    """A recording, of which a study's tasks that cannot be written down so are left out with the
    reason.
    """
    from json import dumps

    from quickstudy.base.parameters import parse_assignments
    from quickstudy.base.study import find_study, study_names
    from quickstudy.runs.recording import recorded_lines

    asked: list[tuple[str, dict[str, Any], bool]] = []
    for task in tasks:
        if task in study_names():
            asked += [(row.task, dict(row.protocol), True) for row in find_study(task).rows]
        else:
            asked.append((task, parse_assignments(",".join(set_)), False))
    lines: list[dict[str, Any]] = []
    runs, left_out = 0, []
    for task, protocol, of_study in asked:
        try:
            for repetition in range(repetitions):
                lines += recorded_lines(task, convention, seed, repetition, protocol, learner)
                runs += 1
        except UsageError as error:
            if not of_study:
                raise
            left_out.append(str(error))
    if not lines:
        raise UsageError(f"there is nothing to write: {'; '.join(left_out)}")
    write_text(out, "".join(f"{dumps(line)}\n" for line in lines))
    empty = sum("answers" in line and line["answers"] is None for line in lines)
    if json:
        print_json(
            {
                "file": str(out),
                "runs": runs,
                "lines": len(lines),
                "without_answers": empty,
                "left_out": left_out,
            }
        )
        return
    say(f"wrote {out}: {runs} runs, {len(lines):,} lines, {empty:,} of them wait for answers")
    for reason in left_out:
        say(f"left out: {reason}")
    then = f"run TASK --learner recorded:file={out}"
    if tasks[0] in study_names() and find_study(tasks[0]).kind == "profile":
        then = f"profile recorded:file={out} --{tasks[0].rpartition('-')[2]} --seeds {repetitions}"
    say(f"When they are filled in: quickstudy {then}")


def _segments(
    task: str, convention: str, seed: int, repetition: int
) -> list[tuple[dict[str, Any], Any]]:
    """The series of a task; behind noise that memory is measured with, noise of a narrow range."""
    series, made = drawn_series(task, convention, seed, repetition)
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
    if hasattr(made, "signal"):
        narrow = narrow_noise(made, seed, repetition)
        lengths = {"washout": made.washout, "training": 0, "validation": 0, "test": NARROW_STEPS}
        found.append(({**said, **lengths, "role": "generalisation", "range": bounds}, narrow))
    return found


def drawn_series(task: str, convention: str, seed: int, repetition: int) -> tuple[Any, Any]:
    """The series of a task's repetition, as a run draws it, and the task. Raises UsageError where
    it is no series.
    """
    from quickstudy.base import catalogue
    from quickstudy.base.seeds import Streams
    from quickstudy.base.task import SeriesTask

    made = catalogue.typed_task(task, convention)
    streams = Streams(seed, made.id, repetition)
    if not isinstance(made, SeriesTask):
        raise UsageError(
            f"{task.partition(':')[0]} is not one series and cannot drive a device; write what it"
            " asks with --questions, or run it with a live Device"
        )
    return made.drive(streams.numpy("data")), made


def digest_of(inputs: Any) -> str:
    """By which inputs that are drawn again are known to be the same, to the last bit."""
    return hashlib.sha256(inputs.tobytes()).hexdigest()[:16]


def narrow_noise(task: Any, seed: int, repetition: int) -> Any:
    """(step, 1): the noise by which a generalisation rank is measured, its own washout first."""
    from quickstudy.base.seeds import Streams

    rng = Streams(seed, task.id, repetition).numpy("generalisation")
    return NARROW * task.signal(rng, (task.washout + NARROW_STEPS, 1))


def _range(volts: str) -> tuple[float, float]:
    if not volts:
        return 0.0, 0.0
    try:
        low, high = map(float, volts.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not low < high:
        raise UsageError(f"--volts must be two numbers, the lower one first, as -1:1; got {volts}")
    return low, high
