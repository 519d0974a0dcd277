"""A figure from a file outside the package: found by the kind of trace, drawn in the report, with
files of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from quickstudy.base import registries
from quickstudy.base.blocks import Plot, Text, every
from quickstudy.base.registry import include
from quickstudy.base.trace import Trace
from quickstudy.render.write_page import page_files
from quickstudy.report.build import build_report
from quickstudy.report.page import report_page
from quickstudy.runs.results import ResultsTable

FIGURE = '''
import quickstudy as qs
from quickstudy import blocks


@qs.figure("coin-falls", version=1)
def falls(task, rows):
    """How often a coin fell on one side."""
    series = [
        blocks.Plotted(row.learner, row.mark, [1, 2], row.traces[0].arrays["share"].tolist())
        for row in rows
    ]
    x, y = blocks.Axis("toss"), blocks.Axis("share")
    return [blocks.Plot("falls", f"The coin of {task}", "Shares", x, y, [blocks.Panel(series)])]
'''


def test_a_figure_of_ones_own_is_found_by_the_kind_of_trace(
    make_record: Callable[..., Any], tmp_path: Path
) -> None:
    trace = Trace("coin-falls", {"share": np.array([0.25, 0.75])}, {})
    record = dataclasses.replace(make_record("esn", "coin/toss"), trace={"kind": "coin-falls"})
    without = report_page(build_report(ResultsTable.of([record], lambda _: trace)))
    said = [one.text for one in every(without.blocks) if isinstance(one, Text)]
    assert 'There is no figure for traces of the kind "coin-falls".' in said
    (tmp_path / "figures.py").write_text(FIGURE)
    try:
        include(tmp_path / "figures.py")
        page = report_page(build_report(ResultsTable.of([record], lambda _: trace)))
    finally:
        registries.figure._entries.pop(("coin-falls", 1), None)
    (plot,) = (one for one in every(page.blocks) if isinstance(one, Plot))
    assert (plot.name, plot.caption) == ("figure-0-falls", "The coin of coin/toss")
    files = page_files(page, "report")
    assert files["figure-0-falls.csv"].splitlines()[1] == ",esn,1,0.25,,"
    assert ">esn</text>" in files["figure-0-falls.svg"]
