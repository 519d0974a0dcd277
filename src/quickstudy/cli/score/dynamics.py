"""`quickstudy score dynamics`: every score and property of states that a device gave to a drive."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import typer

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
    from quickstudy.api.score.dynamics import dynamics as score

    name_data(data)
    include_files(include)
    found = score(
        file,
        drive=drive,
        configuration=configuration,
        encoding=encoding,
        noise=noise,
        precision=precision,
        missing=missing_samples,
    )
    words = found.pop("verdict")
    if json:
        print_json(found)
        return
    _show(found)
    for line in words:
        say(line)


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
        if "error-rate" in runs[0]["readout"]:
            wrong, linear = (runs[0][name]["error-rate"] for name in ("readout", "linear"))
            say(f"{task} wrong {wrong:.1%}   linear, of the whole input {linear:.1%}")
            continue
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
        shaken = "   ".join(
            f"{float(level):g}: {_spread([run['with_noise'][level][score] for run in runs])}"
            for level in runs[0]["with_noise"]
        )
        say(f"  with noise added to the states, of each node's deviation   {shaken}")
    for one in found.get("repeats", ()):
        line = (
            f"{one['task']} given again: nodes correlate {one['correlation']:.4f} with themselves"
            f" (least {one['least_correlation']:.4f}), noise {one['noise']:.2g} of a node's"
            " deviation"
        )
        if "readout" in one:
            score = "symbol-error-rate" if "symbol-error-rate" in one["readout"] else "nrmse"
            title = {"nrmse": "NRMSE", "symbol-error-rate": "SER"}[score]
            line += f", {title} {one['readout'][score]:.4g} by the readout of the first time"
        say(line)


def _spread(values: Sequence[float]) -> str:
    """The mean, and the deviation where there are several."""
    import statistics

    more = f" ±{statistics.stdev(values):.2g}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.4g}{more}"
