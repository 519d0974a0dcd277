"""`quickstudy score capacity`: memory, processing capacity and ranks of states that were recorded
elsewhere.
"""

from __future__ import annotations

import pathlib
from typing import Any

import typer

from quickstudy.cli.output import JSON, print_json, print_table, say


def capacity(
    file: pathlib.Path = typer.Argument(
        ..., help="States: CSV, NPY or Parquet, one row per input step."
    ),
    inputs: pathlib.Path = typer.Option(
        ..., "--inputs", help="The inputs that drove the system: one column."
    ),
    washout: int = typer.Option(200, "--washout", help="Number of rows at the start to leave out."),
    delays: str = typer.Option(
        "",
        "--delays",
        help=(
            "Largest delay for degree 1, 2 ...: 40,14,8,5. Default: as far as any capacity is"
            " found."
        ),
    ),
    train: int | None = typer.Option(
        None,
        "--train",
        help="Number of rows after the washout to fit the memory to; default: half of them.",
    ),
    basis: str = typer.Option(
        "legendre", "--basis", help="legendre, hermite, walsh, trigonometric or moments."
    ),
    p: float = typer.Option(
        1e-4, "--p", help="Probability that a capacity of 0 passes the threshold."
    ),
    factor: float = typer.Option(2.0, "--factor", help="Factor that multiplies the threshold."),
    json: bool = JSON,
) -> None:
    """Memory, processing capacity and ranks of recorded states.

    Delay 0 is the input just read. Capacities are in-sample, of centred states; `memory_split` is
    fitted to the first rows and tested on the others. Singular values are those of the states
    without centring. A constant state is left out of everything, and counted (`constant`).
    """
    from quickstudy.api.score.capacity import capacity as score

    found = score(
        file,
        inputs=inputs,
        washout=washout,
        delays=delays,
        train=train,
        basis=basis,
        p=p,
        factor=factor,
    )
    if json:
        print_json(found)
    else:
        _show(found)


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
    """The caveat of a rank: noise above the threshold counts as rank."""
    share = float(singular_values[-1] / singular_values[0])
    return (
        f"smallest singular value {share:.2g} of the largest (noise above a threshold counts as"
        " rank)"
    )
