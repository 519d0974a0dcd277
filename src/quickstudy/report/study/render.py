"""The page of a study in its forms: text for a terminal, an HTML file, a CSV file per grid, an SVG file per picture."""

from __future__ import annotations

import csv
import io
import os
import pathlib

from quickstudy.report.columns import aligned
from quickstudy.report.document import asset, document
from quickstudy.report.html_table import Head, cell, table
from quickstudy.report.markup import escape, tag
from quickstudy.report.study.page import Grid, Page, Paragraph, Part, Picture
from quickstudy.runs.folder import write_aside


def as_lines(page: Page) -> list[str]:
    """For a terminal. Pictures are left out."""
    lines = [f"{page.title}. {page.source}."]
    for part in page.parts:
        match part:
            case Paragraph(text, heading):
                lines += [*(["", heading.upper()] if heading else []), text]
            case Grid(_, caption, rows):
                lines += ["", *aligned(rows), caption, ""]
    return lines


def as_html(page: Page) -> str:
    """One file that needs nothing else."""
    header = tag(
        "header",
        tag("p", "quickstudy study", class_="eyebrow"),
        tag("h1", escape(page.title)),
        tag("p", escape(page.source), class_="facts-line"),
    )
    return document(page.title, tag("main", header, *map(_markup, page.parts)))


def write_page(page: Page, folder: pathlib.Path, name: str) -> pathlib.Path:
    """Write NAME.html, and each grid and picture as a file of its own, into the folder; gives the page's path."""
    files = {f"{name}.html": as_html(page)}
    for part in page.parts:
        if isinstance(part, Grid):
            files[f"{part.name}.csv"] = _csv(part)
        elif isinstance(part, Picture):
            files[f"{part.name}.svg"] = as_svg(part.svg)
    for file, text in files.items():
        write_aside(folder / file, str(os.getpid()), lambda target, text=text: target.write(text.encode()))  # type: ignore[misc]
    return folder / f"{name}.html"


def as_svg(picture: str) -> str:
    """A picture as a file of its own: with the style sheet inside, on a ground of its own."""
    ground = tag("rect", class_="ground", width="100%", height="100%")
    head, _, rest = picture.partition(">")
    style = tag("style", asset("page.css"), ".ground{fill:var(--ground,#fff)}")
    return head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1) + ">" + style + ground + rest


def _markup(part: Part) -> str:
    match part:
        case Paragraph(text, heading):
            title = tag("h2", escape(heading)) if heading else ""
            return title + tag("p", escape(text))
        case Grid(name, caption, rows):
            heads = [Head(escape(title), index > 0) for index, title in enumerate(rows[0])]
            body = [
                tag("tr", tag("th", escape(row[0]), scope="row"), *(cell(escape(one)) for one in row[1:]))
                for row in rows[1:]
            ]
            return table(name, caption, heads, [("", body)])
        case Picture(_, caption, svg, narrow):
            return tag("figure", svg, narrow, tag("figcaption", escape(caption)))


def _csv(grid: Grid) -> str:
    target = io.StringIO()
    csv.writer(target, lineterminator="\n").writerows(grid.rows)
    return target.getvalue()
