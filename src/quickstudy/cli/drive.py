"""`quickstudy drive`: write the inputs that a device or a simulator is driven with."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import TYPE_CHECKING

import typer

from quickstudy.base.errors import UsageError
from quickstudy.base.text import counted
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
)

if TYPE_CHECKING:
    from quickstudy.api.drive import Questions


def drive(
    tasks: list[str] = typer.Argument(
        ..., help="Tasks, optionally with parameters: NAME:parameter=value."
    ),
    out: pathlib.Path = typer.Option(..., "--out", "-o", help="The file to write."),
    seed: int = typer.Option(0, "--seed", "-s", help="Root seed."),
    repetitions: int = typer.Option(
        1, "--repetitions", "-r", help="Number of series per task, each with its own washout."
    ),
    rate: float | None = typer.Option(
        None, "--rate", help="Samples per second: adds a column of times."
    ),
    volts: str = typer.Option(
        "", "--volts", help="LOW:HIGH, the voltages of the smallest and the largest input."
    ),
    rest: int = typer.Option(
        100, "--rest", help="Samples of zeros before every sequence of a classification task."
    ),
    again: int = typer.Option(
        0, "--again", help="Give every series so many times more, to see whether states come again."
    ),
    questions: bool = typer.Option(
        False,
        "--questions",
        help="Write the training data and questions of runs instead, for recorded:file=...",
    ),
    learner: str = typer.Option(
        "", "--learner", "-l", help="With --questions: also write the answers of this learner."
    ),
    set_: list[str] = typer.Option(
        [], "--set", help="With --questions: a parameter of the protocol, sequences=600."
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
    from quickstudy.api.drive import drive as make
    from quickstudy.api.drive import write_questions
    from quickstudy.base.parameters import parse_assignments

    name_data(data)
    include_files(include)
    check_target(out)
    if questions:
        done = write_questions(
            tasks,
            out,
            seed=seed,
            repetitions=repetitions,
            protocol=parse_assignments(",".join(set_)),
            learner=learner,
            convention=convention,
        )
        if json:
            print_json({"file": str(out), **dataclasses.asdict(done)})
        else:
            _say_questions(done, tasks[0], out, repetitions)
        return
    if learner or set_:
        raise UsageError("--learner and --set are for --questions")
    given = {"seed": seed, "repetitions": repetitions, "rate": rate, "convention": convention}
    header = make(tasks, out, volts=_range(volts), rest=rest, again=again, **given)  # type: ignore[arg-type]
    if json:
        print_json({"file": str(out), **header})
        return
    channels = "one channel" if header["channels"] == 1 else f"{header['channels']} channels"
    washouts = ", ".join(sorted({str(segment["washout"]) for segment in header["segments"]}))
    say(
        f"wrote {out}: {header['samples']:,} samples, {channels}, washout {washouts}; "
        "keep the sample clock, record every node once per sample"
    )


def _say_questions(done: Questions, first: str, out: pathlib.Path, repetitions: int) -> None:
    from quickstudy.base.study import find_study, study_names

    waiting = f"{done.without_answers:,} of them wait for answers"
    say(f"wrote {out}: {counted(done.runs, 'run')}, {counted(done.lines, 'line')}, {waiting}")
    for reason in done.left_out:
        say(f"left out: {reason}")
    then = f"run TASK --learner recorded:file={out}"
    if first in study_names() and find_study(first).kind == "profile":
        then = f"profile recorded:file={out} --{first.rpartition('-')[2]} --seeds {repetitions}"
    say(f"When they are filled in: quickstudy {then}")


def _range(volts: str) -> tuple[float, float] | None:
    if not volts:
        return None
    try:
        low, high = map(float, volts.split(":"))
    except ValueError:
        low, high = 1.0, 0.0
    if not low < high:
        raise UsageError(f"--volts must be two numbers, the lower one first, as -1:1; got {volts}")
    return low, high
