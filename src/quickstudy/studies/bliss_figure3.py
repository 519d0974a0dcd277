"""The largest n up to which all strings are right, against strings shown."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from quickstudy.base.blocks import LOG, POINTS, Axis, Made, Mark, Panel, Plot, Plotted, Text
from quickstudy.base.registries import block
from quickstudy.base.trace import Trace
from quickstudy.figures.string_outcomes import Profile, profile_data
from quickstudy.measures.grammar import largest_right, wrong_column
from quickstudy.pages.study_request import Request
from quickstudy.studies.bliss_figure1 import Profiles, plain_profile


@block("reach-by-size", version=1)
class ReachBySize(Profiles):
    """The largest n up to which all strings are right, against strings shown."""

    def blocks(self, request: Request) -> Made:
        """The picture."""
        traced = self.traces(request)
        profiles = {column: _largest_right(traces) for column, traces in traced.items()}
        if not profiles:
            return Made([Text("Nothing has been run yet.", "note")])
        seen: dict[int, int] = {}
        for trace in itertools.chain(*traced.values()):
            count, largest = (
                int(next(iter(trace.facts[name].values()))) for name in ("shown", "largest_shown")
            )
            seen[count] = max(seen.get(count, 0), largest)
        shown = sorted(seen)
        maxima = Plotted(
            "largest shown",
            Mark("control"),
            shown,
            [float(seen[one]) for one in shown],
            kind=POINTS,
        )
        plot = Plot(
            f"{request.name}-reach",
            "The largest n up to which every string is right, against strings shown: median of the"
            " runs, and the worst and the best. Points: the largest n that was shown.",
            f"The largest n right against strings shown, of {', '.join(profiles)}.",
            Axis("strings shown (logarithmic)", LOG, ticks=[(one, f"{one:,}") for one in shown]),
            Axis("largest n right (logarithmic)", LOG),
            [Panel([maxima, *self.plotted(request, profiles)])],
            list(profile_data("largest n right", profiles)),
            live=True,
        )
        facts = {name: plain_profile(profile) for name, profile in profiles.items()}
        return Made(
            [plot], {"reach": facts, "largest_shown": {str(one): seen[one] for one in shown}}
        )


def _largest_right(traces: Sequence[Trace]) -> Profile:
    """By number of strings shown, the largest size up to which all are right."""
    found: dict[int, list[float]] = {}
    for trace in traces:
        (shown,) = trace.facts["shown"].values()
        largest = largest_right(trace.arrays["size"], trace.arrays[wrong_column(trace)])
        found.setdefault(int(shown), []).append(largest)
    return found
