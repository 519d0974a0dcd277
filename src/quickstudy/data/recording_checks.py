"""What looks wrong with recorded states: columns that are not nodes, clipping, drift, dead
nodes.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError

Floats = NDArray[np.float64]

SAME = 0.9999
"""Squared correlation from which a column is the drive, scaled and moved."""
FEW_LEVELS = 16
"""Different values of a column, up to which its resolution is doubted."""
CLIPPED = 0.01
"""Share of the samples at the least or the greatest value of a column from which it is clipped."""
BLOCKS = 20
"""Parts of a stretch of noise whose means and deviations must not go one way."""
CHANCE = 1e-4
"""How rarely one recording without a fault may be warned of a drift, and of a dead node."""
MOST_ALIKE = 0.3
"""Correlation of a node with itself a washout before, from which the washout is too short."""
LONGEST = 20
"""Delays at which the input is searched for in a node."""


def check_clock(path: str | pathlib.Path, states: Floats, names: Sequence[str]) -> None:
    """Raise UsageError for a column that goes on by the same amount at every row."""
    if len(states) < 3:
        return
    gaps = np.diff(states, axis=0)
    mean = gaps.mean(axis=0)
    even = np.abs(gaps - mean).max(axis=0) <= 1e-3 * np.abs(mean)
    for column in np.flatnonzero(even & (mean != 0)).tolist():
        raise UsageError(
            f"{path}: column {names[column]} goes on by {mean[column]:.4g} at every row: it is a"
            " clock and no state; call it time or step, or leave it out"
        )


def copies(
    path: str | pathlib.Path, states: Floats, names: Sequence[str], inputs: Floats
) -> list[str]:
    """Warnings for columns that are an input, perhaps scaled and moved.

    Raises UsageError for one that has the name of an input as well.
    """
    warnings = []
    alike = np.square(_correlations(states, inputs)).max(axis=1) >= SAME
    for column in np.flatnonzero(alike).tolist():
        name = names[column]
        if "input" in name.lower():
            raise UsageError(f"{path}: column {name} is the drive and no state; leave it out")
        warnings.append(
            f"column {name} follows the drive at every sample; leave it out unless a node does that"
        )
    return warnings


def odd_columns(states: Floats, names: Sequence[str]) -> list[str]:
    """Warnings for duplicate columns, columns that, have few values, or are clipped. Constant ones
    are skipped.
    """
    warnings, twice, coarse, clipped = [], [], [], []
    seen: dict[bytes, str] = {}
    for name, column in zip(names, states.T, strict=True):
        values, counts = np.unique(column, return_counts=True)
        if len(values) == 1:
            continue
        first = seen.setdefault(column.tobytes(), name)
        if first != name:
            twice.append(f"{name} ({first})")
        elif len(values) <= FEW_LEVELS:
            coarse.append(name)
        elif max(counts[0], counts[-1]) > CLIPPED * len(column):
            clipped.append(name)
    if twice:
        warnings.append(f"columns that equal another one: {_listed(twice)}")
    if coarse:
        warnings.append(
            f"columns with at most {FEW_LEVELS} different values: {_listed(coarse)}; is the"
            " resolution too low?"
        )
    if clipped:
        warnings.append(
            f"columns with over {CLIPPED:.0%} of their samples at one end: {_listed(clipped)}; are"
            " they clipped?"
        )
    return warnings


def odd_under_noise(
    states: Floats, inputs: Floats, washout: int, names: Sequence[str]
) -> list[str]:
    """Warnings for states (time, state) under white noise (time,): drift, a short washout, dead
    nodes.
    """
    rows, warnings = states[washout:], []
    if len(rows) < 10 * BLOCKS:
        return []
    parts = np.array_split(rows, BLOCKS)
    freedom, order = BLOCKS - 2, np.arange(BLOCKS)[:, None]
    bound = _bound(freedom, CHANCE / (2 * rows.shape[1]))
    for values, words in (
        ([part.mean(axis=0) for part in parts], "mean"),
        ([part.std(axis=0) for part in parts], "deviation"),
    ):
        found = np.abs(_correlations(np.array(values), order))[:, 0] > bound
        if found.any():
            named = _listed([names[column] for column in np.flatnonzero(found).tolist()])
            warnings.append(
                f"the {words} goes one way with time in {named}: does the device drift?"
            )
        stepped, at = _steps_in(np.array(values), CHANCE)
        for column in np.flatnonzero(stepped & ~found).tolist():
            sample = washout + sum(len(part) for part in parts[: at[column]])
            warnings.append(
                f"the {words} of {names[column]} changes at once, near sample {sample} of the"
                " noise: did a gain or a contact change?"
            )
    if 0 < washout <= len(rows) // 4:
        centred = rows - rows.mean(axis=0)
        alike = (centred[washout:] * centred[:-washout]).mean(axis=0) / rows.var(axis=0)
        if (alike > MOST_ALIKE).any():
            named = _listed(
                [names[column] for column in np.flatnonzero(alike > MOST_ALIKE).tolist()]
            )
            warnings.append(
                f"states are like those of {washout} samples before (correlation {alike.max():.2f})"
                f" in {named}: the washout is shorter than the memory, or the device drifts"
            )
    if washout < LONGEST:
        return warnings
    delays = range(LONGEST + 1)
    before = np.stack([inputs[washout - delay : len(inputs) - delay] for delay in delays], axis=1)
    terms = np.concatenate([before, np.square(before)], axis=1)
    bound = _bound(len(rows) - 2, CHANCE / (terms.shape[1] * rows.shape[1]))
    dead = np.abs(_correlations(rows, terms)).max(axis=1) < bound
    if dead.any():
        named = _listed([names[column] for column in np.flatnonzero(dead).tolist()])
        warnings.append(
            f"neither the input of the last {LONGEST} samples nor its square shows in {named}: are"
            " they connected?"
        )
    return warnings


def _steps_in(values: Floats, chance: float) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Of block values (block, column): whether those of before and after one place differ by more
    than chance allows, over all places and columns; and the number of blocks before it.
    """
    from scipy.special import stdtrit

    count, columns = values.shape
    places = range(3, count - 2)
    bound = float(stdtrit(count - 2, 1 - chance / (4 * columns * len(places))))
    found = []
    for place in places:
        before, after = values[:place], values[place:]
        inside = np.square(before - before.mean(axis=0)).sum(axis=0)
        inside += np.square(after - after.mean(axis=0)).sum(axis=0)
        scale = np.sqrt(inside / (count - 2) * (1 / place + 1 / (count - place)))
        gap = np.abs(before.mean(axis=0) - after.mean(axis=0))
        found.append(gap / np.where(scale > 0, scale, np.inf))
    most = np.array(found)
    return most.max(axis=0) > bound, most.argmax(axis=0) + places[0]


def odd_times(times: Floats, rate: float | None) -> list[str]:
    """Warnings for times next to steps that do not go on evenly, or not as the drive does."""
    gaps = np.diff(times)
    usual = float(np.median(gaps)) if len(gaps) else 0.0
    jumps = np.flatnonzero(np.abs(gaps - usual) > 0.5 * abs(usual))
    warnings = []
    if len(jumps):
        row = int(jumps[0]) + 2
        warnings.append(
            f"row {row}: the time jumps from {times[row - 2]:g} to {times[row - 1]:g}, and the step"
            " does not"
        )
    if rate and not 0.9 < usual * rate < 1.1:
        warnings.append(other_unit(usual, rate))
    return warnings


def other_unit(gap: float, rate: float) -> str:
    """The error if times are not in the unit of the drive."""
    return (
        f"the time goes on by {gap:g} a sample, and the drive by {1 / rate:g} s: "
        f"{'is it in milliseconds?' if 900 < gap * rate < 1100 else 'is it in seconds?'}"
    )


def _correlations(columns: Any, others: Any) -> Floats:
    """(column, other): of tables (row, column) and (row, other); 0 for what is constant."""

    def standard(table: Any) -> Floats:
        centred = table - table.mean(axis=0)
        length = np.sqrt(np.square(centred).sum(axis=0))
        return np.asarray(centred / np.where(length > 0, length, 1.0))

    return np.asarray(standard(columns).T @ standard(others))


def _bound(freedom: int, chance: float) -> float:
    """The correlation that independent normal numbers pass this rarely, up or down."""
    from scipy.special import stdtrit

    t = float(stdtrit(freedom, 1 - chance / 2))
    return t / float(np.sqrt(freedom + t * t))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more
