"""The page of a study in its forms: text for a terminal, an HTML file, a CSV file per grid, an SVG file per picture."""

from __future__ import annotations

import math
import os
import pathlib
import re
from collections.abc import Sequence

from quickstudy.render.files import csv_text
from quickstudy.report.columns import aligned
from quickstudy.report.document import asset, document
from quickstudy.report.html_table import Head, cell, table
from quickstudy.report.markup import escape, tag
from quickstudy.report.numbers import NOTHING
from quickstudy.report.study.numeric import numeric
from quickstudy.report.study.page import Grid, Page, Paragraph, Part, Picture
from quickstudy.runs.folder import write_aside

_LONG = 40
"""Names of rows, and words in cells, with more letters than this may be broken."""


def as_lines(page: Page) -> list[str]:
    """For a terminal. Pictures are left out."""
    lines = [f"{page.title}. {page.source}."]
    for part in page.parts:
        match part:
            case Paragraph(text, heading):
                lines += [*(["", heading.upper()] if heading else []), text]
            case Grid(caption=caption, rows=rows):
                lines += ["", *aligned(rows), caption, ""]
    return lines


def as_html(page: Page) -> str:
    """One file that needs nothing else."""
    header = tag(
        "header",
        tag("p", "quickstudy study", class_="eyebrow"),
        tag("h1", escape(page.title)),
        tag("p", escape(page.source), class_="facts-line"),
        tag("p", escape(" ".join(page.notes.split())), class_="remark") if page.notes else "",
    )
    return document(page.title, tag("main", header, *map(_markup, page.parts)))


def write_page(page: Page, folder: pathlib.Path, name: str) -> pathlib.Path:
    """Write NAME.html, and each grid and picture as a file of its own, into the folder; gives the page's path."""
    files = {f"{name}.html": as_html(page)}
    for part in page.parts:
        if isinstance(part, Grid):
            files[f"{part.name}.csv"] = csv_text(part.data or numeric(part.rows))
        elif isinstance(part, Picture):
            files[f"{part.name}.svg"] = as_svg(part.svg)
            if part.data:
                files[f"{part.name}.csv"] = csv_text(part.data)
    for file, text in files.items():
        write_aside(folder / file, str(os.getpid()), lambda target, text=text: target.write(text.encode()))  # type: ignore[misc]
    return folder / f"{name}.html"


def as_svg(picture: str) -> str:
    """A picture as a file of its own: with the style sheet inside, on a ground of its own, in its natural size."""
    head, _, rest = picture.removesuffix("</svg>").partition(">")
    width, height = re.findall(r'viewBox="0 0 (\S+) (\S+)"', head)[0]
    # The classes go to a group inside: those of a page hide a picture by the width of the window, and in an <img> the
    # window is the picture itself.
    classes = set("".join(re.findall(' class="([^"]*)"', head)).split()) - {"wide", "narrow"}
    named = re.sub(' class="[^"]*"', "", head).removeprefix("<svg")
    style = tag("style", asset("page.css"), ":root{background:var(--paper);max-width:100%;height:auto}")
    ground = tag("rect", width=width, height=height, style="fill:var(--paper)")
    size = f'xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    return f"<svg {size}{named}>{style}{ground}{tag('g', rest, class_=' '.join(sorted(classes)))}</svg>"


def _markup(part: Part) -> str:
    match part:
        case Paragraph(text, heading):
            title = tag("h2", escape(heading)) if heading else ""
            return title + tag("p", escape(text))
        case Grid(name=name, caption=caption, rows=rows):
            words = [index == 0 or _words([row[index] for row in rows[1:]]) for index in range(len(rows[0]))]
            heads = [Head(escape(title), not text) for title, text in zip(rows[0], words, strict=True)]
            body = [
                tag(
                    "tr",
                    tag("th", escape(row[0]), scope="row", class_="long" if len(row[0]) > _LONG else None),
                    *(
                        tag("td", escape(one), class_=None if len(one) > _LONG else "short")
                        if text
                        else cell(escape(one), _value(one))
                        for one, text in zip(row[1:], words[1:], strict=True)
                    ),
                )
                for row in rows[1:]
            ]
            return table(name, caption, heads, [("", body)])
        case Picture(name, caption, svg, narrow, data):
            files = f" Files: {name}.svg, {name}.csv." if data else f" File: {name}.svg."
            return tag("figure", svg, narrow, tag("figcaption", escape(caption + files)))


def _words(cells: Sequence[str]) -> bool:
    """Whether a column holds words: every cell that is not empty begins with a letter."""
    filled = [one for one in cells if one and one != NOTHING]
    return bool(filled) and all(one[0].isalpha() for one in filled)


def _value(one: str) -> float | None:
    """The number by which a cell is sorted: the first in it."""
    found = re.match(r"[+-]?\d[\d,]*(\.\d+)?(e-?\d+)?", one.replace("−", "-"))
    return float(found[0].replace(",", "")) if found else math.inf if one.startswith("∞") else None
