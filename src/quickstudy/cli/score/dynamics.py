"""`quickstudy score dynamics`: every score and property of states that a device gave to a drive."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import DATA, INCLUDE, JSON, include_files, name_data, print_json, say

DEGREES = {"1": "linear", "2": "quadratic", "3": "cubic"}
"""What the first of them are called."""


def dynamics(
    file: pathlib.Path = typer.Argument(
        ..., help="States: CSV, NPY or Parquet, a row per sample of the drive."
    ),
    drive: pathlib.Path = typer.Option(
        ..., "--drive", help="What the device was driven with, by `quickstudy drive`."
    ),
    configuration: str = typer.Option(
        "", "--configuration", help="How the device is set up, for the checklist."
    ),
    encoding: str = typer.Option(
        "", "--encoding", help="How inputs reach it and states are read off."
    ),
    noise: str = typer.Option("", "--noise", help="Where there is noise, and how much."),
    precision: str = typer.Option("", "--precision", help="Of the sampling, as 12 bits."),
    missing_samples: str = typer.Option(
        "refuse",
        "--missing",
        help="Samples that were dropped: refuse, or hold the state before them.",
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
    data: pathlib.Path | None = DATA,
) -> None:
    """Score recorded states on every task of a drive: a ridge readout for each, and what the memory
    holds.

    The readout is fitted to the training part of a task's series, its strength is chosen on the
    validation part, and its errors are those of the test part. Beside it: the mean, the last value,
    and a linear filter of the inputs with as many taps as there are states.
    """
    from quickstudy.data.recording_checks import odd_under_noise
    from quickstudy.data.recordings import read_drive, read_recording
    from quickstudy.measures.checklist import missing, one_sided, verdict

    name_data(data)
    include_files(include)
    if missing_samples not in ("refuse", "hold"):
        raise UsageError(f'--missing must be refuse or hold, got "{missing_samples}"')
    header, driven = read_drive(drive)
    recorded = read_recording(
        file, header["samples"], header["rate"], driven, hold=missing_samples == "hold"
    )
    changes = (recorded.states != recorded.states[0]).any(axis=0)
    changing = recorded.states[:, changes]
    names = [name for name, kept in zip(recorded.names, changes, strict=True) if kept]
    if not changing.shape[1]:
        raise UsageError(
            f"{file}: all {recorded.states.shape[1]} states are constant: there is nothing to score"
        )
    found: dict[str, Any] = {
        "samples": header["samples"],
        "repeated": recorded.repeated,
        "held": recorded.held,
        "warnings": list(recorded.warnings),
        "states": recorded.states.shape[1],
        "constant": recorded.states.shape[1] - changing.shape[1],
        "tasks": {},
        "properties": [],
    }
    kinds: list[str] = []
    begins = 0
    for segment in header["segments"]:
        task, series, inputs = _again(segment, header["seed"], drive)
        if segment["start"] != begins:
            raise UsageError(
                f"{drive}: {segment['task']} begins at {begins}, got {segment['start']}"
            )
        begins += len(inputs)
        rows = changing[segment["start"] :][: len(inputs)]
        kinds += [dict(getattr(task, "taxonomy", {})).get("type", "unknown")]
        if hasattr(task, "signal"):
            _add_properties(found["properties"], segment, rows, inputs[:, 0], task)
            if segment["role"] != "generalisation":
                found["warnings"] += _shifted(rows, inputs[:, 0], segment)
                found["warnings"] += odd_under_noise(rows, inputs[:, 0], segment["washout"], names)
        else:
            runs = found["tasks"].setdefault(segment["task"], [])
            runs.append(_scores(task, series, rows, segment))
    stated = {
        **dict.fromkeys(
            ("source", "variant", "distribution", "scaling", "washout", "training", "test"),
            "in the drive",
        ),
        **dict.fromkeys(("regularisation", "metric", "controls"), "as here"),
        "varies": "slices of one recording",
        "seed": header["seed"],
        "size": found["states"],
        "runs": len(header["segments"]),
    }
    given = {
        "configuration": configuration,
        "encoding": encoding,
        "noise": noise,
        "precision": precision,
    }
    stated |= given
    found["checklist"] = {
        "stated": stated,
        "missing": missing(stated),
        "comparable": not missing(stated),
    }
    if json:
        print_json(found)
        return
    _show(found)
    say(verdict(stated, given))
    if one_sided(kinds):
        say(one_sided(kinds))


def _again(segment: Mapping[str, Any], seed: int, drive: pathlib.Path) -> tuple[Any, Any, Any]:
    """The task, the series and the inputs of a part of a drive, drawn again. Raises UsageError if
    they are others.
    """
    from quickstudy.cli.drive import digest_of, drawn_series, narrow_noise

    series, task = drawn_series(segment["task"], segment["convention"], seed, segment["repetition"])
    narrow = segment["role"] == "generalisation"
    inputs = narrow_noise(task, seed, segment["repetition"]) if narrow else series.inputs
    if digest_of(inputs) != segment["sha256"]:
        raise UsageError(
            f"{drive}: {segment['task']} now draws other inputs than those that were written; "
            f"it was at version {segment['version']}, and is at {task.version}: write a new drive"
        )
    return task, series, inputs


def _scores(task: Any, series: Any, states: Any, segment: Mapping[str, Any]) -> dict[str, Any]:
    """What is scored of one series: the readout of the states, and the rules beside it."""
    import numpy as np

    from quickstudy.base import catalogue
    from quickstudy.base.trace import Trace
    from quickstudy.learners.ridge import read_out
    from quickstudy.tasks.dynamics.rules import is_forecast

    taps = states.shape[1]
    padded = np.concatenate([np.zeros((taps - 1, series.inputs.shape[1])), series.inputs])
    windows = np.lib.stride_tricks.sliding_window_view(padded, taps, axis=0).reshape(
        len(series.inputs), -1
    )
    first = len(series.inputs) - series.test
    shown = series.targets[series.washout :][: series.training]
    itself = is_forecast(task, series.inputs.shape[1], series.targets.shape[1])
    before = series.inputs if itself else np.concatenate([shown[:1], series.targets[:-1]])
    answers = {
        "readout": read_out(states, series),
        "linear": read_out(windows, series),
        "persistence": before[first:],
        "mean": np.broadcast_to(shown.mean(axis=0), (series.test, shown.shape[1])),
    }
    found: dict[str, Any] = {"repetition": segment["repetition"], "taps": taps}
    for name, answer in answers.items():
        trace = Trace(
            "predictions", {"answer": answer, "target": series.targets[first:]}, dict(series.facts)
        )
        values: dict[str, float] = {}
        for id in ("errors", "symbol-errors"):
            values |= catalogue.measure.get(id)(trace, segment["convention"])
        found[name] = values
    return found


def _add_properties(
    found: list[dict[str, Any]], segment: Mapping[str, Any], states: Any, inputs: Any, task: Any
) -> None:
    """Properties of one stretch of noise; a narrow one adds its rank to those of the whole range
    before it.
    """
    import numpy as np

    from quickstudy.measures.memory import Harvest, ranks
    from quickstudy.measures.memory_terms import describe
    from quickstudy.tasks.dynamics.memory import BASES

    rows = states[segment["washout"] :]
    count = 2 * states.shape[1]
    if segment["role"] == "generalisation":
        found[-1]["generalisation_rank"] = ranks(np.linalg.svd(rows[:count], compute_uv=False))
        return
    described = describe(Harvest(rows), inputs, None, segment["training"], BASES[task.distribution])
    kernel = ranks(np.linalg.svd(rows[:count], compute_uv=False))
    found.append({"repetition": segment["repetition"], **described, "kernel_rank": kernel})


def _shifted(states: Any, inputs: Any, segment: Mapping[str, Any]) -> list[str]:
    """Warnings where states hold an input that was not read yet, or nothing of the one just
    read.
    """
    from quickstudy.measures.memory import Harvest

    harvest = Harvest(states[segment["washout"] + 1 : -1])
    ahead, now, before = (
        harvest.memory(inputs[: len(inputs) + shift], [0])[0] for shift in (0, -1, -2)
    )
    counts = harvest.threshold()
    if ahead >= counts:
        return [
            f"the states hold the input of the next sample (capacity {ahead:.2f}): rows are a"
            " sample early, and every score is too good; shift the recording"
        ]
    if before >= counts > now:
        return [
            "the states hold nothing of the input just read, and something of the one before: rows"
            " are a sample late, or the device has a dead time"
        ]
    return []


def _show(found: Mapping[str, Any]) -> None:
    from quickstudy.cli.score.capacity import noise_floor

    for warning in found["warnings"]:
        say(f"warning: {warning}", err=True)
    words = (("constant", "constant"), ("repeated", "repeated"))
    notes = [f"{found[name]} {word}" for name, word in words if found[name]]
    dropped = f", {', '.join(notes)} (dropped, recorded)" if notes else ""
    measured = found["samples"] - found["held"]
    kept = f", {found['held']} missing (held)" if found["held"] else ""
    nodes = "1 node" if found["states"] == 1 else f"{found['states']} nodes"
    say(f"{measured:,} of {found['samples']:,} samples{kept}, {nodes}{dropped}")
    for one in found["properties"]:
        held = {degree: part["total"] for degree, part in one["ipc"].items() if part["total"]}
        parts = [
            f"{DEGREES.get(degree, f'degree {degree}')} {total:.1f}"
            for degree, total in held.items()
        ]
        capacities = []
        if one["memory_capacity"] is not None:
            sign = "" if one["memory_complete"] else "at least "
            capacities.append(
                f"memory capacity {sign}{one['memory_capacity']:.1f} (of {one['states']})"
            )
        if one["ipc_total"] is not None:
            capacities.append(
                ": ".join(filter(None, (f"IPC {one['ipc_total']:.1f}", ", ".join(parts))))
            )
        say("   ".join(filter(None, (one["reason"], *capacities))))
        ranks_ = {
            name: one.get(f"{name}_rank", {}).get("0.01") for name in ("kernel", "generalisation")
        }
        said = ", ".join(
            f"{rank} with {words}"
            for rank, words in (
                (ranks_["kernel"], "noise of the whole range"),
                (ranks_["generalisation"], "noise of a tenth of it"),
            )
            if rank is not None
        )
        say(f"stream rank above 0.01: {said}; {noise_floor(one['singular_values'])}")
    for task, runs in found["tasks"].items():
        score = "symbol-error-rate" if "symbol-error-rate" in runs[0]["readout"] else "nrmse"
        title = {"nrmse": "NRMSE", "symbol-error-rate": "SER"}[score]
        others = "   ".join(
            f"{words} {_spread([run[name][score] for run in runs])}"
            for name, words in (
                ("persistence", "persistence"),
                ("linear", f"linear ({runs[0]['taps']} tap{'s' * (runs[0]['taps'] != 1)})"),
            )
        )
        say(f"{task} {title} {_spread([run['readout'][score] for run in runs])}   {others}")


def _spread(values: Sequence[float]) -> str:
    """The mean, and the deviation where there are several."""
    import statistics

    more = f" ±{statistics.stdev(values):.2g}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.4g}{more}"
