"""The picture of a transduction: how many answers are right, by the length of the string."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from quickstudy.base.blocks import Axis, Guide, Panel, Plot, Plotted, Traced
from quickstudy.base.registries import figure
from quickstudy.base.trace import Trace


@figure("length-outcomes", version=1)
def length_outcomes(task: str, rows: Sequence[Traced]) -> list[Plot]:
    """The share of answers that are right, by the length of the string: the mean over runs. The
    upright line is the longest length shown.
    """
    longest = max(float(trace.facts["longest_shown"]) for row in rows for trace in row.traces)
    return [
        Plot(
            name="",
            caption=(
                "Share of right answers by the length of the string, mean over runs. The upright"
                " line is the longest length in training: what is right of it is generalisation."
            ),
            label=f"Accuracy by length on {task}, shown up to length {longest:,.0f}.",
            x=Axis("length of the string"),
            y=Axis("answers right", range=(0.0, 1.0)),
            panels=[
                Panel(
                    [Plotted(row.learner, row.mark, *_by_length(row.traces)) for row in rows],
                    guides=[Guide(x=longest, label="shown")],
                )
            ],
            live=True,
        )
    ]


def _by_length(traces: Sequence[Trace]) -> tuple[list[float], list[float]]:
    """Lengths, and the mean over runs of the share of right answers at each."""
    found: dict[int, list[float]] = {}
    for trace in traces:
        shares = trace.arrays["right"] / trace.arrays["asked"]
        for length, share in zip(trace.arrays["length"].tolist(), shares.tolist(), strict=True):
            found.setdefault(length, []).append(share)
    return [float(length) for length in sorted(found)], [
        float(np.mean(found[length])) for length in sorted(found)
    ]
