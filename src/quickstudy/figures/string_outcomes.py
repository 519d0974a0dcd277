"""The picture of a language: up to which size strings are right; and profiles of learners over the
size of what they were shown, against the frontier of the index B.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from quickstudy.base.blocks import LOG, Axis, Block, Guide, Mark, Panel, Plot, Plotted, Traced
from quickstudy.base.registries import figure
from quickstudy.base.trace import Trace
from quickstudy.learners.mdl.network import Network
from quickstudy.measures.grammar import right_in_a_row, wrong_column
from quickstudy.runs.run_spec import make_task

BINS = 60
"""Classes of sizes in a picture, in equal ratios."""
Profile = Mapping[int, Sequence[float]]
"""By number of strings shown, what each run has reached."""


@figure("string-outcomes", version=1)
def string_outcomes(task: str, rows: Sequence[Traced]) -> list[Plot]:
    """Which share of strings is right, by their size, of learners that were shown the fewest; and
    how many are right in a row, against how many were shown, with the frontier of the index B.
    """
    found = [(row, _right_by_size(row.traces)) for row in rows]
    longest = [
        max(map(float, trace.facts["largest_shown"].values()))
        for row in rows
        for trace in row.traces
    ]
    ends = ", ".join(f"{row.learner} asked up to {sizes[-1]:,.0f}" for row, (sizes, _) in found)
    margin = rows[0].traces[0].facts["metric"] == "cat"
    return [
        Plot(
            name="",
            caption=(
                "Share of strings with no step wrong, by their size, of learners that were shown"
                f" the fewest strings{', at the largest margin' if margin else ''}. The upright"
                " line is the largest size shown. A learner is asked no further than to where its"
                " index is decided: its line ends there."
            ),
            label=f"Strings right by size on {task}: {ends}.",
            x=Axis("size of the string (logarithmic)", LOG),
            y=Axis("strings right", range=(0.0, 1.0)),
            panels=[
                Panel(
                    [
                        Plotted(row.learner, row.mark, sizes, shares)
                        for row, (sizes, shares) in found
                    ],
                    guides=[Guide(x=float(np.median(longest)), label="shown")],
                )
            ],
            live=True,
        ),
        _on_the_frontier(task, rows),
    ]


def _on_the_frontier(task: str, rows: Sequence[Traced]) -> Plot:
    profiles = {row.learner: right_by_shown(row.traces) for row in rows}
    lines = [median_line(row.learner, row.mark, profiles[row.learner]) for row in rows]
    order = max(int(trace.facts["order"]) for row in rows for trace in row.traces)
    return frontier_plot(
        "frontier",
        f"Strings right in a row against strings shown on {task}.",
        profiles,
        lines,
        order,
    )


def right_by_shown(traces: Sequence[Trace]) -> Profile:
    """By number of strings shown, how many are right in a row from the first of the tests on; of
    every factor.
    """
    found: dict[int, list[float]] = {}
    for trace in traces:
        wrong, tested = trace.arrays[wrong_column(trace)], trace.arrays["tested"]
        for factor in np.unique(trace.arrays["factor"]):
            own = wrong[tested & (trace.arrays["factor"] == factor)]
            found.setdefault(int(trace.facts["shown"][f"{factor:g}"]), []).append(
                float(right_in_a_row(own))
            )
    return found


def median_line(label: str, mark: Mark, profile: Profile) -> Plotted:
    """Medians, with the worst and the best run as a band; no point is at 1, since the axis is
    logarithmic.
    """
    shown = sorted(profile)
    middle, low, high = (
        [max(1.0, float(end(profile[one]))) for one in shown] for end in (np.median, np.min, np.max)
    )
    return Plotted(label, mark, shown, middle, low, high, dots=True)


def frontier_plot(
    name: str, label: str, profiles: Mapping[str, Profile], lines: Sequence[Plotted], order: int
) -> Plot:
    """Lines of learners, and the frontier 10^2N / x on which B is read off."""
    shown = sorted({one for profile in profiles.values() for one in profile})
    bound = [10.0 ** (2 * order) / one for one in shown]
    frontier = Plotted("frontier", Mark("oracle"), shown, bound, dots=True)
    return Plot(
        name,
        "Consecutive strings right, longer than the longest shown, against strings shown: median"
        " of the runs, and the worst and the best. No more are asked about than the frontier has."
        " A model whose line meets the frontier has at least the index b that is written there.",
        label,
        Axis(
            "strings shown (logarithmic)",
            LOG,
            ticks=[(one, f"{one:,} (b = {10.0**order / one:g})") for one in shown],
        ),
        Axis("strings right in a row (logarithmic)", LOG),
        [Panel([frontier, *lines])],
        list(profile_data("strings right in a row", profiles)),
        live=True,
    )


def profile_data(unit: str, profiles: Mapping[str, Profile]) -> Iterator[Sequence[str]]:
    """Every run."""
    yield "model", "strings shown", unit
    for column, profile in profiles.items():
        for shown, values in sorted(profile.items()):
            yield from ((column, str(shown), f"{value:g}") for value in values)


def _right_by_size(traces: Sequence[Trace]) -> tuple[list[float], list[float]]:
    """Sizes and shares, over all runs together. Strings of size 0 are drawn at 0.5: the axis is
    logarithmic.
    """
    sizes, right = [], []
    for trace in traces:
        first = trace.arrays["factor"] == trace.arrays["factor"].max()
        sizes.append(np.maximum(trace.arrays["size"][first], 0.5))
        right.append(trace.arrays[wrong_column(trace)][first] == 0)
    size, good = np.concatenate(sizes), np.concatenate(right)
    edges = np.unique(np.round(np.geomspace(size.min(), size.max() + 1, BINS)))
    classes = np.searchsorted(edges, size, side="right")
    held = np.unique(classes)
    means = [
        (float(np.median(size[classes == one])), float(good[classes == one].mean())) for one in held
    ]
    return [mean[0] for mean in means], [mean[1] for mean in means]


def learned(trace: Trace) -> list[dict[str, Any]]:
    """The symmetries that a learner reports to have found, by the factors of a run, the largest
    first.
    """
    found = trace.facts.get("learned", {})
    return [found[factor] for factor in sorted(found, key=float, reverse=True)]


@figure("string-outcomes/run", version=1)
def found_networks(what: Mapping[str, Any], trace: Trace) -> list[Block]:
    """The networks that a run has found, by the factors of its index, the largest first."""
    task = make_task(what["task"]["id"], what["convention"])
    found = (Network.from_facts(own["network"]) for own in learned(trace) if "network" in own)
    return [
        network.graph(task.vocabulary, f"network-{number}")
        for number, network in enumerate(found, start=1)
    ]
