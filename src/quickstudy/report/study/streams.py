"""Continual streams: the table of the study, and a picture of every learner's way through every stream."""

from __future__ import annotations

import re

from quickstudy.report.pictures import NARROW, WIDE
from quickstudy.report.stream_picture import stream_picture
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Page, Picture
from quickstudy.report.study.table import page as table_page
from quickstudy.report.study.table import stages

__all__ = ["page", "stages"]


def page(order: Order) -> Page:
    """The numbers first, then the pictures, stream by stream."""
    table = table_page(order)
    found, cells = order.shelf.found(), order.cells()
    pictures = []
    for row in order.study.rows:
        for column, runs in cells[row.label].items():
            traces = [found.trace(record) for record in runs.values()]
            drawn = [stream_picture(traces, column, row.label, form) for form in (WIDE, NARROW)]
            if drawn[0]:
                name = re.sub(r"\W+", "-", f"{order.study.id}-{order.convention}-{row.label}-{column}".lower())
                caption = f"{row.label}, {column}: {_mean(len(traces))} on every segment, bold while learned."
                pictures.append(Picture(name, caption, *drawn))
    return Page.of(order.study, [*table.parts, *pictures], table.facts)


def _mean(runs: int) -> str:
    return "accuracy of one run" if runs == 1 else f"mean accuracy of {runs} runs"
