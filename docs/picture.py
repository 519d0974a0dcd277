"""Draw the learning curves of a results folder as one SVG picture, as the report draws them.

    python docs/picture.py results/first-look docs/images/first-look.svg

The picture follows the reader's light or dark setting and stands on a ground of its own.
"""

from __future__ import annotations

import pathlib
import sys
from dataclasses import replace

from quickstudy.base.blocks import Plot, every
from quickstudy.render.svg import svg_file
from quickstudy.report.build import gather
from quickstudy.report.model import ReportData
from quickstudy.report.page import report_page


def draw(data: ReportData) -> str:
    """One panel per task, under its name: the first picture of each."""
    plots = {one.name: one for one in every(report_page(data).blocks) if isinstance(one, Plot)}
    shown = [plots[name] for name in (f"figure-{number}" for number in range(len(data.tables))) if name in plots]
    titles = [f"{table.task}  ({table.convention})" for table in data.tables]
    panels = [replace(plot.panels[0], title=title) for plot, title in zip(shown, titles, strict=True)]
    return svg_file(replace(shown[0], label=" ".join(plot.label for plot in shown), panels=panels, live=False))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("type: python docs/picture.py RESULTS-FOLDER FILE.svg")
    pathlib.Path(sys.argv[2]).write_text(draw(gather([sys.argv[1]])) + "\n", encoding="utf-8")
