"""Strings right in a row against strings shown, with the frontier of the index B."""

from __future__ import annotations

from collections.abc import Mapping

from quickstudy.base.blocks import Made, Mark, Plotted, Text
from quickstudy.base.registries import block
from quickstudy.base.trace import Trace
from quickstudy.figures.string_outcomes import Profile, frontier_plot, median_line, right_by_shown
from quickstudy.pages.published_table import Beside
from quickstudy.pages.study_request import Request


class Profiles(Beside):
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
        return [
            median_line(name, Mark(number=columns.index(name)), profile)
            for name, profile in profiles.items()
        ]


@block("frontier", version=1)
class Frontier(Profiles):
    """Strings right in a row against strings shown, with the frontier 10^2N / x on which B is read
    off.
    """

    def blocks(self, request: Request) -> Made:
        """The picture."""
        profiles = {
            column: right_by_shown(traces) for column, traces in self.traces(request).items()
        }
        if not profiles:
            return Made([Text("Nothing has been run yet.", "note")])
        order = max(int(row.protocol.get("order", 3)) for row in request.rows)
        label = f"Strings right in a row against strings shown, of {', '.join(profiles)}."
        plot = frontier_plot(
            f"{request.name}-frontier", label, profiles, self.plotted(request, profiles), order
        )
        return Made(
            [plot],
            {"frontier": {name: plain_profile(profile) for name, profile in profiles.items()}},
        )


def plain_profile(profile: Profile) -> dict[str, list[float]]:
    """A profile in plain JSON types."""
    return {str(shown): list(profile[shown]) for shown in sorted(profile)}
