"""Continual streams: the table of the study, and a picture of every learner's way through every stream."""

from __future__ import annotations

import re

from quickstudy.report.curves import NARROW, WIDE
from quickstudy.report.reproduce import runs_of
from quickstudy.report.stream_picture import stream_picture
from quickstudy.report.study.order import Order
from quickstudy.report.study.page import Page, Picture
from quickstudy.report.study.table import page as table_page
from quickstudy.report.study.table import stages
from quickstudy.runs.traces import load_trace

__all__ = ["page", "stages"]


def page(order: Order) -> Page:
    """The numbers first, then the pictures, stream by stream."""
    table = table_page(order)
    runs = runs_of(order.study, order.folder, order.convention, order.protocol, order.root)
    pictures = []
    for row in order.study.rows:
        for column, records in runs[row.label].items():
            traces = [load_trace(order.folder, record) for record in records]
            drawn = [stream_picture(traces, column, row.label, form) for form in (WIDE, NARROW)]
            if drawn[0]:
                name = re.sub(r"\W+", "-", f"{order.study.id}-{order.convention}-{row.label}-{column}".lower())
                caption = (
                    f"{row.label}, {column}: mean accuracy of {len(traces)} runs on every segment, bold while learned"
                )
                pictures.append(Picture(name, caption, *drawn))
    return Page(table.title, table.source, [*table.parts, *pictures], table.facts)
