"""Memory, processing capacity and ranks of states that were recorded elsewhere."""

from __future__ import annotations

import math
import pathlib
from collections.abc import Sequence
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.data.recordings import read_states
from quickstudy.data.tables import read_table
from quickstudy.measures.memory import Harvest
from quickstudy.measures.memory_terms import describe


def capacity(
    file: pathlib.Path,
    *,
    inputs: pathlib.Path,
    washout: int = 200,
    delays: str | Sequence[int] = "",
    train: int | None = None,
    basis: str = "legendre",
    p: float = 1e-4,
    factor: float = 2.0,
) -> dict[str, Any]:
    """Memory, processing capacity and ranks of recorded states; delay 0 is the input just read.

    inputs: what the system was driven with, one column. washout: rows at the start that are not
    measured. delays: the largest delay for degree 1, 2, ...; by default as far as anything is
    found. train: rows after the washout that the memory is fitted to, by default half. basis:
    legendre, hermite, walsh, trigonometric or moments. p, factor: of the threshold.
    """
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
    longest = largest_delays(delays) if isinstance(delays, str) else list(delays)
    return describe(harvest, drive[:, 0], longest, train, basis, p, factor)


def largest_delays(text: str) -> list[int] | None:
    """`40,14,8,5` as numbers. Raises UsageError for anything but a list of delays."""
    if not text:
        return None
    parts = text.split(",")
    if not all(part.strip().isdigit() for part in parts):
        raise UsageError(
            f"--delays must be whole numbers from 0, one per degree, as 40,14,8,5; got {text}"
        )
    return [int(part) for part in parts]
