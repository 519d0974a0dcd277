"""The picture of a language: up to which size strings are right; and profiles of learners over the size of what they
were shown, against the frontier of the index B.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from quickstudy.base.blocks import LOG, POINTS, Axis, Guide, Made, Mark, Panel, Plot, Plotted, Text, Traced
from quickstudy.base.catalogue import block, figure
from quickstudy.base.trace import Trace
from quickstudy.measures.grammar import largest_right, right_in_a_row, wrong_column
from quickstudy.pages.beside import Beside
from quickstudy.pages.request import Request

BINS = 60
"""Classes of sizes in a picture, in equal ratios."""
Profile = Mapping[int, Sequence[float]]
"""By number of strings shown, what each run has reached."""


@figure("string-outcomes", version=1)
def string_outcomes(task: str, rows: Sequence[Traced]) -> list[Plot]:
    """Which share of strings is right, by their size, of learners that were shown the fewest; and how many are right in
    a row, against how many were shown, with the frontier of the index B.
    """
    found = [(row, _right_by_size(row.traces)) for row in rows]
    longest = [max(map(float, trace.facts["largest_shown"].values())) for row in rows for trace in row.traces]
    ends = ", ".join(f"{row.learner} asked up to {sizes[-1]:,.0f}" for row, (sizes, _) in found)
    margin = rows[0].traces[0].facts["metric"] == "cat"
    return [
        Plot(
            name="",
            caption=(
                "Share of strings with no step wrong, by their size, of learners that were shown the fewest strings"
                f"{', at the largest margin' if margin else ''}. The upright line is the largest size shown. A learner "
                "is asked no further than to where its index is decided: its line ends there."
            ),
            label=f"Strings right by size on {task}: {ends}.",
            x=Axis("size of the string (logarithmic)", LOG),
            y=Axis("strings right", range=(0.0, 1.0)),
            panels=[
                Panel(
                    [Plotted(row.learner, row.mark, sizes, shares) for row, (sizes, shares) in found],
                    guides=[Guide(x=float(np.median(longest)), label="shown")],
                )
            ],
            live=True,
        ),
        _on_the_frontier(task, rows),
    ]


def _on_the_frontier(task: str, rows: Sequence[Traced]) -> Plot:
    profiles = {row.learner: _by_shown(row.traces) for row in rows}
    lines = [_median(row.learner, row.mark, profiles[row.learner]) for row in rows]
    order = max(int(trace.facts["order"]) for row in rows for trace in row.traces)
    return _frontier("frontier", f"Strings right in a row against strings shown on {task}.", profiles, lines, order)


def _by_shown(traces: Sequence[Trace]) -> Profile:
    """By number of strings shown, how many are right in a row from the first of the tests on; of every factor."""
    found: dict[int, list[float]] = {}
    for trace in traces:
        wrong, tested = trace.arrays[wrong_column(trace)], trace.arrays["tested"]
        for factor in np.unique(trace.arrays["factor"]):
            own = wrong[tested & (trace.arrays["factor"] == factor)]
            found.setdefault(int(trace.facts["shown"][f"{factor:g}"]), []).append(float(right_in_a_row(own)))
    return found


def _median(label: str, mark: Mark, profile: Profile) -> Plotted:
    """Medians, with the worst and the best run as a band; nothing stands at 1, since the axis is logarithmic."""
    shown = sorted(profile)
    middle, low, high = ([max(1.0, float(end(profile[one]))) for one in shown] for end in (np.median, np.min, np.max))
    return Plotted(label, mark, shown, middle, low, high, dots=True)


def _frontier(name: str, label: str, profiles: Mapping[str, Profile], lines: Sequence[Plotted], order: int) -> Plot:
    """Lines of learners, and the frontier 10^2N / x on which B is read off."""
    shown = sorted({one for profile in profiles.values() for one in profile})
    bound = [10.0 ** (2 * order) / one for one in shown]
    frontier = Plotted("frontier", Mark("oracle"), shown, bound, dots=True)
    return Plot(
        name,
        "Strings right in a row, behind the longest shown, against strings shown: median of the runs, and the "
        "worst and the best. No more are asked about than the frontier has. A model whose line meets the "
        "frontier has at least the index b that is written there.",
        label,
        Axis(
            "strings shown (logarithmic)", LOG, ticks=[(one, f"{one:,} (b = {10.0**order / one:g})") for one in shown]
        ),
        Axis("strings right in a row (logarithmic)", LOG),
        [Panel([frontier, *lines])],
        list(_data("strings right in a row", profiles)),
        live=True,
    )


def _data(unit: str, profiles: Mapping[str, Profile]) -> Iterator[Sequence[str]]:
    """Every run."""
    yield "model", "strings shown", unit
    for column, profile in profiles.items():
        for shown, values in sorted(profile.items()):
            yield from ((column, str(shown), f"{value:g}") for value in values)


def _right_by_size(traces: Sequence[Trace]) -> tuple[list[float], list[float]]:
    """Sizes and shares, over all runs together. Strings of size 0 stand at a half: the axis is logarithmic."""
    sizes, right = [], []
    for trace in traces:
        first = trace.arrays["factor"] == trace.arrays["factor"].max()
        sizes.append(np.maximum(trace.arrays["size"][first], 0.5))
        right.append(trace.arrays[wrong_column(trace)][first] == 0)
    size, good = np.concatenate(sizes), np.concatenate(right)
    edges = np.unique(np.round(np.geomspace(size.min(), size.max() + 1, BINS)))
    classes = np.searchsorted(edges, size, side="right")
    held = np.unique(classes)
    means = [(float(np.median(size[classes == one])), float(good[classes == one].mean())) for one in held]
    return [mean[0] for mean in means], [mean[1] for mean in means]


def _largest_right(traces: Sequence[Trace]) -> Profile:
    """By number of strings shown, the largest size up to which all are right."""
    found: dict[int, list[float]] = {}
    for trace in traces:
        (shown,) = trace.facts["shown"].values()
        largest = largest_right(trace.arrays["size"], trace.arrays[wrong_column(trace)])
        found.setdefault(int(shown), []).append(largest)
    return found


class _Profiles(Beside):
    """One line for every model over all rows, which differ in how many strings are shown."""

    def traces(self, request: Request) -> dict[str, list[Trace]]:
        """Of every column that has runs."""
        found: dict[str, list[Trace]] = {}
        for row in request.rows:
            for column in request.columns:
                if traces := request.traces(row, row.learner(column, request.convention)):
                    found.setdefault(column, []).extend(traces.values())
        return found

    def plotted(self, request: Request, profiles: Mapping[str, Profile]) -> list[Plotted]:
        """A line for every column."""
        columns = request.study.columns
        return [_median(name, Mark(number=columns.index(name)), profile) for name, profile in profiles.items()]


@block("frontier", version=1)
class Frontier(_Profiles):
    """Strings right in a row against strings shown, with the frontier 10^2N / x on which B is read off."""

    def blocks(self, request: Request) -> Made:
        """The picture."""
        profiles = {column: _by_shown(traces) for column, traces in self.traces(request).items()}
        if not profiles:
            return Made([Text("Nothing has been run yet.", "note")])
        order = max(int(row.protocol.get("order", 3)) for row in request.rows)
        label = f"Strings right in a row against strings shown, of {', '.join(profiles)}."
        plot = _frontier(f"{request.name}-frontier", label, profiles, self.plotted(request, profiles), order)
        return Made([plot], {"frontier": {name: _plain(profile) for name, profile in profiles.items()}})


@block("reach-by-size", version=1)
class ReachBySize(_Profiles):
    """The largest n up to which all strings are right, against strings shown."""

    def blocks(self, request: Request) -> Made:
        """The picture."""
        traced = self.traces(request)
        profiles = {column: _largest_right(traces) for column, traces in traced.items()}
        if not profiles:
            return Made([Text("Nothing has been run yet.", "note")])
        seen: dict[int, int] = {}
        for trace in itertools.chain(*traced.values()):
            count, largest = (int(next(iter(trace.facts[name].values()))) for name in ("shown", "largest_shown"))
            seen[count] = max(seen.get(count, 0), largest)
        shown = sorted(seen)
        maxima = Plotted(
            "largest shown", Mark("control"), shown, [float(seen[one]) for one in shown], kind=POINTS
        )  # fmt: skip
        plot = Plot(
            f"{request.name}-reach",
            "The largest n up to which every string is right, against strings shown: median of the runs, and the worst "
            "and the best. Points: the largest n that was shown.",
            f"The largest n right against strings shown, of {', '.join(profiles)}.",
            Axis("strings shown (logarithmic)", LOG, ticks=[(one, f"{one:,}") for one in shown]),
            Axis("largest n right (logarithmic)", LOG),
            [Panel([maxima, *self.plotted(request, profiles)])],
            list(_data("largest n right", profiles)),
            live=True,
        )
        facts = {name: _plain(profile) for name, profile in profiles.items()}
        return Made([plot], {"reach": facts, "largest_shown": {str(one): seen[one] for one in shown}})


def _plain(profile: Profile) -> dict[str, list[float]]:
    return {str(shown): list(profile[shown]) for shown in sorted(profile)}
