"""`quickstudy score capacity`: memory, processing capacity and ranks of states that were recorded
elsewhere.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import JSON, print_json, print_table, say


def capacity(
    file: pathlib.Path = typer.Argument(
        ..., help="States: CSV, NPY or Parquet, a row after each input."
    ),
    inputs: pathlib.Path = typer.Option(
        ..., "--inputs", help="What the system was driven with: one column."
    ),
    washout: int = typer.Option(200, "--washout", help="Rows at the start that are not measured."),
    delays: str = typer.Option(
        "",
        "--delays",
        help=(
            "Largest delay for degree 1, 2 ...: 40,14,8,5. As far as anything is found, if left"
            " out."
        ),
    ),
    train: int | None = typer.Option(
        None,
        "--train",
        help="Rows after the washout that the memory is fitted to; half of them, if left out.",
    ),
    basis: str = typer.Option(
        "legendre", "--basis", help="legendre, hermite, walsh, trigonometric or moments."
    ),
    p: float = typer.Option(
        1e-4, "--p", help="How rarely a capacity without memory may pass the threshold."
    ),
    factor: float = typer.Option(2.0, "--factor", help="The factor on top of it."),
    json: bool = JSON,
) -> None:
    """Memory, processing capacity and ranks of recorded states.

    Delay 0 is the input just read. Capacities are in-sample, of centred states; `memory_split` is
    fitted to the first rows and tested on the others. Singular values are those of the states as
    they are, not centred. A constant state is left out of everything, and counted (`constant`).
    """
    from quickstudy.data.recordings import read_states
    from quickstudy.data.tables import read_table
    from quickstudy.measures.memory import Harvest
    from quickstudy.measures.memory_terms import describe

    drive = read_table(inputs)
    if drive.shape[1] != 1:
        raise UsageError(
            f"{inputs} has {drive.shape[1]} columns; capacities are of a system with one input"
        )
    states = read_states(file)
    if len(states) != len(drive):
        raise UsageError(
            f"{file} has {len(states)} rows, but {inputs} has {len(drive)}; give one row per input"
        )
    if not 0 <= washout < len(states):
        raise UsageError(
            f"--washout must be from 0 to below the {len(states)} rows of the series, got {washout}"
        )
    if not 0 < p < 1 or not 0 < factor < math.inf:
        raise UsageError(
            f"--p must lie between 0 and 1, and --factor above 0, got {p:g} and {factor:g}"
        )
    harvest = Harvest(states[washout:])
    found = describe(harvest, drive[:, 0], largest_delays(delays), train, basis, p, factor)
    if json:
        print_json(found)
    else:
        _show(found)


def largest_delays(text: str) -> list[int] | None:
    """`40,14,8,5` as numbers. Raises UsageError for anything that is no list of delays."""
    if not text:
        return None
    parts = text.split(",")
    if not all(part.strip().isdigit() for part in parts):
        raise UsageError(
            f"--delays must be whole numbers from 0, one per degree, as 40,14,8,5; got {text}"
        )
    return [int(part) for part in parts]


def _show(found: dict[str, Any]) -> None:
    constant = f", {found['constant']} more are constant and left out" if found["constant"] else ""
    say(f"{found['steps']} steps, {found['states']} states of rank {found['dimensions']}{constant}")
    if found["reason"]:
        say(found["reason"])
    if found["memory_capacity"] is not None:
        held, inside = found["memory_capacity"], found["memory_in_sample"][1:]
        longest = len(found["memory_split"]) - 1
        open_end = (
            ""
            if found["memory_complete"]
            else "; longer delays are held too: give a longer washout or --delays"
        )
        say(
            f"memory capacity {held:.3f} on other steps,"
            f" {inside[inside >= found['threshold']].sum():.3f} in-sample (delays 1 to {longest}"
            f" that reach {found['memory_threshold']:.4f} and {found['threshold']:.4f}{open_end})"
        )
    if found["ipc_total"] is not None:
        rows = [
            (degree, str(part["terms"]), f"{part['total']:.4f}")
            for degree, part in found["ipc"].items()
        ]
        print_table([("degree", "terms", "capacity"), *rows])
        more = (
            "" if found["ipc_complete"] else "; not all that is above the threshold was looked at"
        )
        most = found["dimensions"]
        say(
            f"total {found['ipc_total']:.4f} of at most {most}, threshold"
            f" {found['threshold']:.6f}{more}"
        )
    by_threshold = ", ".join(f"{rank} ({name})" for name, rank in found["rank"].items())
    say(f"rank of all rows {by_threshold}; {noise_floor(found['singular_values'])}")
    say(f"effective rank {found['effective_rank']:.3f}")


def noise_floor(singular_values: Any) -> str:
    """What a reader of a rank must know: noise counts as rank where it is above the threshold."""
    share = float(singular_values[-1] / singular_values[0])
    return (
        f"smallest singular value {share:.2g} of the largest (noise above a threshold counts as"
        " rank)"
    )
