"""Draw the learning curves of a results folder as one SVG picture, as the report draws them.

    python docs/picture.py results/first-look docs/images/first-look.svg

The picture follows the reader's light or dark setting and stands on a ground of its own.
"""

from __future__ import annotations

import pathlib
import sys
import textwrap

from quickstudy.base.blocks import Plot, every
from quickstudy.render.drawing import Drawing, text
from quickstudy.render.markup import tag
from quickstudy.render.plot import plot_drawings
from quickstudy.report.build import gather
from quickstudy.report.model import ReportData
from quickstudy.report.page import report_page

EDGE, TITLE, LINE, LETTERS = 28, 30, 21, 140


def draw(data: ReportData) -> str:
    """One picture per task: its name, its verdict, its curves."""
    plots = {one.name: one for one in every(report_page(data).blocks) if isinstance(one, Plot)}
    parts: list[str] = []
    labels, top, width = [], float(EDGE), 0.0
    for number, table in enumerate(data.tables):
        if f"figure-{number}" not in plots:
            continue
        plot = plots[f"figure-{number}"]
        drawn = plot_drawings(plot)[0]
        parts.append(text(f"{table.task}  ({table.convention})", EDGE, top + 16, class_="label strong"))
        top += TITLE
        for line in textwrap.wrap(table.verdict.text, LETTERS):
            parts.append(text(line, EDGE, top + 12, class_="label"))
            top += LINE
        parts.append(tag("g", *drawn.parts, transform=f"translate({EDGE} {top:g})"))
        top, width = top + drawn.height + EDGE, max(width, drawn.width)
        labels.append(plot.label)
    return Drawing(" ".join(labels), width + 2 * EDGE, top, parts).file()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("type: python docs/picture.py RESULTS-FOLDER FILE.svg")
    pathlib.Path(sys.argv[2]).write_text(draw(gather([sys.argv[1]])) + "\n", encoding="utf-8")
