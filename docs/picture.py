"""Draw the learning curves of a results folder as one SVG picture, as the report draws them.

    python docs/picture.py results/first-look docs/images/first-look.svg

The picture follows the reader's light or dark setting and stands on a ground of its own.
"""

from __future__ import annotations

import pathlib
import sys
import textwrap

from quickstudy.report.build import gather
from quickstudy.report.markup import tag
from quickstudy.report.model import ReportData
from quickstudy.report.pictures import Format, learning_curves, styles
from quickstudy.report.study.render import as_svg
from quickstudy.report.svg import text
from quickstudy.report.verdict import verdict

PANEL = Format("panel", 1040, 300, 26)
EDGE, TITLE, LINE, LETTERS = 28, 30, 21, 140
STYLE = ".task, .verdict { fill: var(--ink); font: 14px var(--body); } .task { font-size: 17px; font-weight: 650; }"


def draw(data: ReportData) -> str:
    """One panel per task: its name, its verdict, its curves."""
    style = styles(data)
    parts: list[str] = []
    top = float(EDGE)
    for number, table in enumerate(data.tables):
        curves = learning_curves(table, style, PANEL, str(number))
        if not curves:
            continue
        parts.append(text(f"{table.task}  ({table.convention})", EDGE, top + 16, class_="task"))
        top += TITLE
        for line in textwrap.wrap(verdict(table), LETTERS):
            parts.append(text(line, EDGE, top + 12, class_="verdict"))
            top += LINE
        top += 8
        # The same drawing as a group at its place: inner pictures are laid out differently by different browsers.
        inner = curves.removeprefix("<svg").removesuffix("</svg>")
        parts.append(f'<g transform="translate({EDGE} {top:g})"{inner}</g>')
        top += PANEL.height + EDGE
    style_sheet = tag("style", STYLE)
    return as_svg(tag("svg", style_sheet, *parts, viewBox=f"0 0 {PANEL.width + 2 * EDGE} {top:g}", role="img"))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("type: python docs/picture.py RESULTS-FOLDER FILE.svg")
    pathlib.Path(sys.argv[2]).write_text(draw(gather([sys.argv[1]])) + "\n", encoding="utf-8")
