"""Charts of accuracy in games against the number of episodes."""

from __future__ import annotations

from collections.abc import Sequence

from quickstudy.base.blocks import LOG, Axis, Block, Mark, Panel, Plot, Plotted, Traced
from quickstudy.base.registries import figure
from quickstudy.base.trace import Trace
from quickstudy.report.curves import SHARE, Curve, mean_curve
from quickstudy.report.words import span

UNIT = "observations"


@figure("games", version=1)
def over_observations(task: str, rows: Sequence[Traced]) -> list[Block]:
    """The mean accuracy of all learners of a task in the query phase, by test; rules are tested
    once, and flat.
    """
    found = [(row, curve) for row in rows if (curve := games_curve(row.traces))]
    if not any(len(curve.steps) > 1 for _, curve in found):
        return []
    last = max(curve.steps[-1] for _, curve in found)
    ends = ", ".join(f"{row.learner} ends at {curve.mean[-1]:.2f}" for row, curve in found)
    runs = span([curve.runs for _, curve in found])
    return [
        Plot(
            name="",
            caption=(
                f"Decisions of the query phase that are right, against training {UNIT}; mean of"
                f" {runs} runs, shading: 95 % interval of the mean. Rules never learn: they have"
                " one value throughout."
            ),
            label=f"Accuracy on {task} against {UNIT}: {ends}.",
            x=Axis(f"training {UNIT} (logarithmic)", LOG),
            y=Axis("zero-shot accuracy", range=SHARE),
            panels=[
                Panel([curve_line(row.learner, row.mark, curve, last) for row, curve in found])
            ],
            live=True,
        )
    ]


def games_curve(traces: Sequence[Trace]) -> Curve | None:
    """The mean accuracy of runs in the query phase of every test."""
    games = [trace for trace in traces if trace.kind == "games"]
    curves = [
        (trace.arrays["observations"], trace.arrays["correct"] / trace.arrays["asked"])
        for trace in games
    ]
    return mean_curve(curves, "accuracy", UNIT)


def curve_line(label: str, mark: Mark, curve: Curve, last: float) -> Plotted:
    """The line of a learner; a rule, tested once, is flat up to the last observation."""
    parts = [list(part) for part in (curve.steps, curve.mean, curve.low, curve.high)]
    if len(curve.steps) == 1:  # a rule: from an eighth of the axis to its end
        parts = [[last / 8, last], *([part[0]] * 2 for part in parts[1:])]
    x, y, low, high = parts
    return Plotted(label, mark, x, y) if curve.runs == 1 else Plotted(label, mark, x, y, low, high)
