"""How often intervals hold the truth on scores that were measured: `python
benchmarks/stored_coverage.py`.

Every cell of published/wade-table4 with 20 runs or more is taken as a population; experiments of 3,
6 and 10 runs are drawn from it with replacement. Prints the table of docs/explanation/intervals.md.
Takes some seconds on one core.
"""

import pathlib
import tempfile

import numpy as np

from quickstudy.api.study import take_over
from quickstudy.report.build import build_report
from quickstudy.runs.results import read_folders
from quickstudy.stats.intervals import mean_band, median_interval

STORED = pathlib.Path(__file__).resolve().parent.parent / "published" / "wade-table4"
SCORES = {
    "log-area": "log-area",
    "wade": "WADE",
    "final-accuracy": "final accuracy",
    "maximum-accuracy": "maximum accuracy",
    "wade-above-chance": "WADE above chance",
}
LEAST, TRIES = 20, 4000


def cells() -> dict[str, list[np.ndarray]]:
    """By score, the runs of every cell that has enough of them."""
    with tempfile.TemporaryDirectory() as folder:
        take_over(STORED, pathlib.Path(folder))
        merged = read_folders([pathlib.Path(folder)])
        tables = build_report(merged).tables
    runs = {
        name: [[*row.values(name).values()] for table in tables for row in table.rows]
        for name in SCORES
    }
    return {
        name: [np.array(one) for one in found if len(one) >= LEAST and np.ptp(one) > 0]
        for name, found in runs.items()
    }


def table() -> list[str]:
    """The lines of the table."""
    rng = np.random.default_rng(1)
    rows = [("score", "cells", "n = 3", "n = 6", "n = 10", "lowest at 6", "median, n = 6")]
    for name, populations in cells().items():
        held = {
            n: [_means(rng.choice(one, (n, TRIES)), one.mean()) for one in populations]
            for n in (3, 6, 10)
        }
        medians = [
            _medians(rng.choice(one, (6, TRIES // 4)), float(np.median(one))) for one in populations
        ]
        shares = [np.mean(found) for found in held.values()]
        numbers = [f"{share:.3f}" for share in (*shares, min(held[6]), np.mean(medians))]
        rows.append((SCORES[name], str(len(populations)), *numbers))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "   ".join(
            (str.rjust if place else str.ljust)(text, width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def main() -> None:
    """Print the table, as it is in the page."""
    for line in table():
        print(f"    {line}")


def _means(runs: np.ndarray, truth: float) -> float:
    low, high = mean_band(runs)
    return float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


def _medians(runs: np.ndarray, truth: float) -> float:
    found = [median_interval(one) for one in runs.T]
    return float(np.mean([one.low <= truth <= one.high for one in found]))


if __name__ == "__main__":
    main()
