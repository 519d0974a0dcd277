"""Every score and property of states that a device gave to a drive."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from quickstudy.api.drive import digest_of, drawn_series, rested
from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import recorded_id
from quickstudy.base.seeds import Streams
from quickstudy.base.trace import Trace
from quickstudy.data.recording_checks import odd_under_noise
from quickstudy.data.recordings import AGAIN, SEQUENCES, read_drive, read_recording
from quickstudy.learners.state_readout import read_out
from quickstudy.measures.checklist import missing as lacking
from quickstudy.measures.checklist import one_sided, verdict
from quickstudy.measures.memory import Harvest, ranks
from quickstudy.measures.memory_terms import describe
from quickstudy.tasks.dynamics.memory import BASES, narrow_noise
from quickstudy.tasks.dynamics.narma import Driven
from quickstudy.tasks.dynamics.rules import is_forecast

NOISE = (0.001, 0.01, 0.1)
"""Deviations of noise that is added to states before the readout is fitted, of each node's own."""


def dynamics(
    file: pathlib.Path,
    *,
    drive: pathlib.Path,
    configuration: str = "",
    encoding: str = "",
    noise: str = "",
    precision: str = "",
    missing: str = "refuse",
) -> dict[str, Any]:
    """Score recorded states on every task of a drive: a ridge readout for each, next to the mean,
    the last value and a linear filter; and what the memory holds. `verdict` is the checklist's
    result in words.

    drive: what the device was driven with (`quickstudy.drive`). configuration, encoding, noise,
    precision: statements for the checklist. missing: what happens to samples that were dropped:
    refuse, or hold the state before them.
    """
    if missing not in ("refuse", "hold"):
        raise UsageError(f'--missing must be refuse or hold, got "{missing}"')
    header, driven = read_drive(drive)
    recorded = read_recording(
        file, header["samples"], header["rate"], driven, hold=missing == "hold"
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
        "repeats": [],
    }
    first_time: dict[tuple[str, int], Any] = {}
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
        which = segment["task"], segment["repetition"]
        if segment["role"] == AGAIN:
            found["repeats"].append(_repeated(task, series, first_time[which], rows, segment))
            continue
        first_time.setdefault(which, rows)
        kinds += [dict(getattr(task, "taxonomy", {})).get("type", "unknown")]
        if _is_white(task) and segment["role"] != "generalisation":
            found["warnings"] += _shifted(rows, inputs[:, 0], segment)
            found["warnings"] += odd_under_noise(rows, inputs[:, 0], segment["washout"], names)
        if segment["role"] == SEQUENCES:
            found["tasks"][segment["task"]] = [
                _told_apart(file, drive, missing, segment, header["seed"])
            ]
        elif hasattr(task, "signal"):
            _add_properties(found["properties"], segment, rows, inputs[:, 0], task)
        else:
            runs = found["tasks"].setdefault(segment["task"], [])
            runs.append(_scores(task, series, rows, segment))
    if not found["repeats"]:
        del found["repeats"]
    found["warnings"] = list(dict.fromkeys(found["warnings"]))
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
        "missing": lacking(stated),
        "comparable": not lacking(stated),
    }
    found["verdict"] = [verdict(stated, given), *filter(None, [one_sided(kinds)])]
    return found


def _again(segment: Mapping[str, Any], seed: int, drive: pathlib.Path) -> tuple[Any, Any, Any]:
    """The task, the series and the inputs of a part of a drive, resampled from the same seed.
    Raises UsageError if they are others.
    """
    name, convention, repetition = (segment[key] for key in ("task", "convention", "repetition"))
    if segment["role"] == SEQUENCES:
        series, task = None, registries.typed_task(name, convention)
        inputs = rested(task, segment["washout"])
    else:
        series, task = drawn_series(name, convention, seed, repetition)
        narrow = segment["role"] == "generalisation"
        streams = Streams(seed, recorded_id(task), repetition)
        inputs = narrow_noise(task, streams) if narrow else series.inputs
    if digest_of(inputs) != segment["sha256"]:
        raise UsageError(
            f"{drive}: {segment['task']} now draws other inputs than those that were written; "
            f"it was at version {segment['version']}, and is at {task.version}: write a new drive"
        )
    return task, series, inputs


def _told_apart(
    file: pathlib.Path, drive: pathlib.Path, missing: str, segment: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Scores of a readout that tells sequences apart, and of a linear classifier of the inputs, as
    a run of `recorded-states` has them.
    """
    from quickstudy.learners.learner_spec import choose_learner
    from quickstudy.learners.recorded_states import RecordedStates
    from quickstudy.protocols.classification import ClassificationProtocol

    task = registries.typed_task(segment["task"], segment["convention"])
    streams = [Streams(seed, recorded_id(task), segment["repetition"])]
    learners = {
        "readout": RecordedStates(str(file), str(drive), missing),
        "linear": choose_learner("linear-whole", segment["convention"], task, "reals").make(task),
    }
    found: dict[str, Any] = {"repetition": segment["repetition"]}
    for name, one in learners.items():
        trace = ClassificationProtocol().examine(task, one, streams).traces[0]
        found[name] = registries.measure.get("classification")(trace, segment["convention"])
    return found


def _scores(task: Any, series: Any, states: Any, segment: Mapping[str, Any]) -> dict[str, Any]:
    """The scores of one series: those of the readout of the states, and those of the baselines."""
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
        found[name] = _errors(answer, series, segment)
    # The same noise whenever it is scored, drawn from the digest of the inputs.
    rng = np.random.default_rng(int(segment["sha256"], 16))
    shaken = rng.normal(size=states.shape) * states[series.washout :].std(axis=0)
    found["with_noise"] = {
        f"{level:g}": _errors(read_out(states + level * shaken, series), series, segment)
        for level in NOISE
    }
    return found


def _errors(answer: Any, series: Any, segment: Mapping[str, Any]) -> dict[str, float]:
    """The errors of an answer to the test part."""
    target = series.targets[len(series.inputs) - series.test :]
    trace = Trace("predictions", {"answer": answer, "target": target}, dict(series.facts))
    values: dict[str, float] = {}
    for id in ("errors", "symbol-errors"):
        values |= registries.measure.get(id)(trace, segment["convention"])
    return values


def _repeated(
    task: Any, series: Any, once: Any, again: Any, segment: Mapping[str, Any]
) -> dict[str, Any]:
    """How alike states are that the same inputs gave twice, and what the readout of the first time
    makes of those of the second.

    correlation: of each node with itself, mean and least. noise: deviation of a node from itself,
    over the root of 2 and its own deviation; mean over nodes.
    """
    both = [rows[series.washout :] for rows in (once, again)]
    spread = np.sqrt((both[0].var(axis=0) + both[1].var(axis=0)) / 2)
    moves = spread > 0
    centred = [rows[:, moves] - rows[:, moves].mean(axis=0) for rows in both]
    length = np.sqrt(np.prod([np.square(rows).sum(axis=0) for rows in centred], axis=0))
    alike = (centred[0] * centred[1]).sum(axis=0) / np.where(length > 0, length, 1.0)
    noise = (both[0] - both[1])[:, moves].std(axis=0) / np.sqrt(2) / spread[moves]
    found: dict[str, Any] = {
        "task": segment["task"],
        "repetition": segment["repetition"],
        "correlation": float(alike.mean()),
        "least_correlation": float(alike.min()),
        "noise": float(noise.mean()),
    }
    if not hasattr(task, "signal"):
        first = len(series.inputs) - series.test
        rows = np.concatenate([once[:first], again[first:]])
        found["readout"] = _errors(read_out(rows, series), series, segment)
    return found


def _add_properties(
    found: list[dict[str, Any]], segment: Mapping[str, Any], states: Any, inputs: Any, task: Any
) -> None:
    """Properties of one segment of noise; a narrow one adds its rank to those of the whole range
    before it.
    """
    rows = states[segment["washout"] :]
    count = 2 * states.shape[1]
    if segment["role"] == "generalisation":
        found[-1]["generalisation_rank"] = ranks(np.linalg.svd(rows[:count], compute_uv=False))
        return
    basis = BASES[task.distribution]
    properties = describe(Harvest(rows), inputs, None, segment["training"], basis)
    kernel = ranks(np.linalg.svd(rows[:count], compute_uv=False))
    found.append({"repetition": segment["repetition"], **properties, "kernel_rank": kernel})


def _is_white(task: Any) -> bool:
    """Whether each input is independent of those before it: those of the memory tasks, and the
    uniform ones that drive a system such as NARMA.
    """
    return hasattr(task, "signal") or (isinstance(task, Driven) and task.drawn == "uniform")


def _shifted(states: Any, inputs: Any, segment: Mapping[str, Any]) -> list[str]:
    """Warnings where states hold an input that was not read yet, or nothing of the one just
    read.
    """
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
