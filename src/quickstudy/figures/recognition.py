"""The pictures of recognition: accuracy by the length of strings, and by distance to the
language.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quickstudy.base.blocks import Axis, Guide, Panel, Plot, Plotted, Traced
from quickstudy.base.registries import figure
from quickstudy.base.trace import Trace

BINS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048)
"""Upper ends of the bins, of lengths and of distances."""


@figure("recognition", version=1)
def recognition(task: str, rows: Sequence[Traced]) -> list[Plot]:
    """Shares of right judgements, mean over runs."""
    traces = [trace for row in rows for trace in row.traces]
    longest = max(float(trace.facts["longest_shown"]) for trace in traces)
    exact = all(trace.facts["exact_distances"] for trace in traces)
    far = "edit distance to the language" if exact else "letters changed"
    found = []
    for name, array, unit, guides in (
        ("", "length", "length of the string", [Guide(x=longest, label="shown")]),
        ("by distance", "distance", far, []),
    ):
        found.append(
            Plot(
                name=name,
                caption=(
                    "Share of strings that are judged rightly, mean over runs"
                    + (
                        ": half of them are of the language. The upright line is the longest length"
                        " in training."
                        if array == "length"
                        else f", by {far}: strings that are not of the language."
                    )
                ),
                label=f"Judgements by {unit} on {task}.",
                x=Axis(unit, "log"),
                y=Axis("judged rightly", range=(0.0, 1.0)),
                panels=[
                    Panel(
                        [
                            Plotted(row.learner, row.mark, *_shares(row.traces, array))
                            for row in rows
                        ],
                        guides=guides,
                    )
                ],
                live=True,
            )
        )
    return found


def _shares(traces: Sequence[Trace], array: str) -> tuple[list[float], list[float]]:
    """Upper ends of the bins that have strings, and the mean over runs of the right share."""
    shares: dict[int, list[float]] = {}
    for trace in traces:
        values = trace.arrays[array]
        bins = np.searchsorted(BINS, values)
        for number in np.unique(bins[values > 0]).tolist():
            own = (bins == number) & (values > 0)
            shares.setdefault(number, []).append(float(trace.arrays["right"][own].mean()))
    numbers = sorted(shares)
    return [float(BINS[number]) for number in numbers], [
        float(np.mean(shares[number])) for number in numbers
    ]
