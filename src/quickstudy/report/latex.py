"""The tables of a report for a paper: LaTeX with the booktabs package."""

from __future__ import annotations

import math
import re

from quickstudy.base.measure import PLAIN, Score
from quickstudy.base.visible import visible
from quickstudy.report.model import LEARNING, ROLES, ReportData, Row, TaskTable
from quickstudy.report.numbers import interval_of, shown, written
from quickstudy.report.verdict import clear_winner
from quickstudy.report.words import span

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}
_ARROWS = {"higher": r" $\uparrow$", "lower": r" $\downarrow$"}


def as_latex(data: ReportData) -> str:
    r"""One `table` per task and convention. The preamble needs \usepackage{booktabs} and \usepackage[T1]{fontenc}."""
    return "\n".join(map(_table, data.tables))


def escape(text: str) -> str:
    r"""Text in which every character that LaTeX would read as a command is made harmless.

    >>> print(escape("a_b & 5%"))
    a\_b \& 5\%
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in visible(" ".join(text.split())))


def _table(table: TaskTable) -> str:
    columns = table.columns
    heads = [escape(column.title) + _ARROWS.get(column.better, "") for column in columns]
    heads[1:1] = ["scaled"] if columns else []
    bold = [clear_winner(table, role) for role in LEARNING]
    groups = [table.of_role(role) for role in ROLES]
    lines = ["".join(_lines(row, columns, row in bold) for row in group) for group in groups if group]
    runs = [len(row.finished) for row in table.rows]
    count = f"{span(runs)} {'run' if max(runs) == 1 else 'runs'}"
    caption = f"{escape(table.task)}, convention {escape(table.convention)}; {count}, 95\\,\\% intervals."
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
            r"\toprule",
            " & ".join(["learner", *heads]) + r" \\",
            r"\midrule",
            "\\midrule\n".join(lines) + r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _lines(row: Row, columns: tuple[Score, ...], bold: bool) -> str:
    cells = []
    for index, column in enumerate(columns):
        found = row.scores.get(column.name)
        cell = _number(shown(column, found), column)
        if interval := interval_of(column, found):
            cell += rf" {{\small[{_number(interval.low, column)}, {_number(interval.high, column)}]}}"
        cells.append(rf"\textbf{{{cell}}}" if bold and index == 0 else cell)
        if index == 0:
            cells.append(_number(row.scaled.value))
    return " & ".join([escape(row.learner), *cells]) + " \\\\\n"


def _number(value: float | None, column: Score = PLAIN) -> str:
    if value is None or math.isnan(value):
        return "--"
    if word := column.word(value):
        return escape(word)
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    text = re.sub(r"e(-?\d+)", r"$\\cdot 10^{\1}$", written(column, value))
    return text.replace("−", "$-$")
