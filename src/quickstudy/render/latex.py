r"""The tables of a page for a paper: LaTeX with the booktabs package, no wider than the text of an
`article`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from quickstudy.base import blocks
from quickstudy.base.text import shortened, visible
from quickstudy.render.markup import anchor
from quickstudy.render.numbers import ARROWS, spoken, written

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
    "–": "--",
    "…": r"\dots{}",
}
_SIGNS = {
    "−": "-",
    "±": r"\pm",
    "×": r"\times",
    "÷": r"\div",
    "∞": r"\infty",
    "·": r"\cdot",
    "≥": r"\ge",
    "≤": r"\le",
    "≠": r"\neq",
    "α": r"\alpha",
    "↑": r"\uparrow",
    "↓": r"\downarrow",
    "▲": r"\blacktriangle",
}
_KNOWN = 0x17F
"""The last letter that the T1 encoding knows without another package."""
_TEXT_WIDTH = 345.0
"""Points, of `article` at its usual size."""
_SIZES = (("", 1.0, 6.0), (r"\small", 0.93, 4.0), (r"\footnotesize", 0.86, 3.0))
"""A size of letters, its share of the usual one, and the space on either side of a column in
points.
"""
_NAME = 110.0
"""Points that the first column has at most; longer names are broken."""
_LETTERS = 60
"""Letters of a name at most; longer ones are cut in their middle."""
_REPLAY = r"\textsuperscript{\dag}"


def as_latex(page: blocks.Page) -> str:
    r"""One `table` for each that belongs into a paper, with a \label. The preamble needs
    \usepackage{booktabs} and \usepackage[T1]{fontenc}. Letters that T1 does not have are written as
    their numbers.
    """
    tables = (
        block
        for block in blocks.every(page.blocks)
        if isinstance(block, blocks.Table) and block.paper
    )
    return "\n".join(map(_float, tables))


def escape(text: str) -> str:
    r"""Text in which every character that LaTeX would read as a command is made harmless.

    >>> print(escape("a_b & 5% ± 1"))
    a\_b \& 5\% \ensuremath{\pm} 1
    """
    return "".join(map(_letter, visible(" ".join(text.split()))))


def _letter(letter: str) -> str:
    if letter in _SIGNS:
        return rf"\ensuremath{{{_SIGNS[letter]}}}"
    return _SPECIAL.get(letter) or (letter if ord(letter) <= _KNOWN else f"U+{ord(letter):04X}")


def _float(table: blocks.Table) -> str:
    names = shortened(
        [visible(" ".join(spoken(line.cells[0]).split())) for line in table.lines], _LETTERS
    )
    widest = max(map(_points, (*names, table.columns[0].title)))
    size, parts = _parts(table, min(_NAME, widest))
    labels = [_label(name, line.role) for name, line in zip(names, table.lines, strict=True)]
    tabulars = [_tabular(table, columns, labels) for columns in parts]
    again = any(line.role == blocks.REPLAY for line in table.lines)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\centering{size}",
            r"\setlength{\belowcaptionskip}{6pt}",
            rf"\caption{{{escape(table.caption)}}}",
            rf"\label{{tab:{anchor(table.name)}}}",
            "\n\\par\\medskip\n".join(tabulars),
            *(
                [rf"\par\smallskip{{\footnotesize {_REPLAY} with replay: ranked apart}}"]
                if again
                else []
            ),
            r"\end{table}",
            "",
        ]
    )


def _parts(table: blocks.Table, name: float) -> tuple[str, list[list[int]]]:
    """The largest size at which all columns stand side by side; else the smallest, and the columns
    below each other.
    """
    widths = [
        max(
            map(
                _points,
                (
                    *_broken(column),
                    *(spoken(line.cells[index], table.intervals) for line in table.lines),
                ),
            )
        )
        for index, column in enumerate(table.columns)
    ][1:]
    fits = (
        one
        for one in _SIZES
        if one[1] * (name + sum(widths)) + 2 * one[2] * len(widths) <= _TEXT_WIDTH
    )
    size, share, space = next(fits, _SIZES[-1])
    needed, room = [share * width + 2 * space for width in widths], _TEXT_WIDTH - share * name
    parts: list[list[int]] = [[]]
    for index, width in enumerate(needed, start=1):
        if parts[-1] and sum(needed[one - 1] for one in parts[-1]) + width > room:
            parts.append([])
        parts[-1].append(index)
    return (rf"{size}\setlength{{\tabcolsep}}{{{space:g}pt}}" if size else ""), parts


def _points(text: str) -> float:
    """The width of a text in points at the usual size, on the safe side for what is mostly digits
    and small letters.
    """
    return 4.8 * len(text)


def _tabular(table: blocks.Table, columns: Sequence[int], labels: Sequence[str]) -> str:
    heads = [_head(table.columns[index]) for index in (0, *columns)]
    kinds = "".join("r" if table.columns[index].numeric else "l" for index in columns)
    first = iter(labels)
    lines = [
        [
            " & ".join(
                [next(first), *(_cell(line.cells[index], table.intervals) for index in columns)]
            )
            + " \\\\\n"
            for line in group.lines
        ]
        for group in table.groups
    ]
    body = "\\midrule\n".join("".join(group) for group in lines if group)
    top = " & ".join(heads) + r" \\"
    rules = (
        rf"\begin{{tabular}}{{@{{}}l{kinds}@{{}}}}",
        r"\toprule",
        top,
        r"\midrule",
        body + r"\bottomrule",
    )
    return "\n".join((*rules, r"\end{tabular}"))


def _broken(column: blocks.Column) -> list[str]:
    """The title of a column, which way is better, and its further notes, in lines of one or
    two words.
    """
    title = "\N{NO-BREAK SPACE}".join(filter(None, (column.title, ARROWS.get(column.better))))
    lines = textwrap.wrap(title, 13, break_long_words=False) or [""]
    return [*lines, f"({column.note})"] if column.note else lines


def _head(column: blocks.Column) -> str:
    lines = list(map(escape, _broken(column)))
    side, stack = "r" if column.numeric else "l", r"\\".join(lines)
    return stack if len(lines) == 1 else rf"\shortstack[{side}]{{\strut {stack}}}"


def _label(name: str, role: str) -> str:
    """The name of a row; one that is too wide is broken after a separator, or anywhere in a very
    long word.
    """
    sign = _REPLAY if role == blocks.REPLAY else ""
    if _points(name) <= _NAME:
        return escape(name) + sign
    pieces = re.findall(r"[^,:=/+ ]{1,14}[,:=/+]?|[,:=/+]| ", name)
    broken = r"\allowbreak{}".join(map(escape, pieces)).replace(r"\allowbreak{}\allowbreak{}", " ")
    return rf"\parbox[t]{{{_NAME:g}pt}}{{\raggedright {broken}{sign}\strut}}"


def _cell(cell: blocks.Cell, intervals: str) -> str:
    if isinstance(cell, blocks.Several):
        return escape(cell.between).join(_cell(one, intervals) for one in cell.cells)
    if not isinstance(cell, blocks.Number):
        return escape(spoken(cell))
    number = re.sub(r"e(-?\d+)$", r"\\ensuremath{\\cdot 10^{\1}}", escape(written(cell)))
    behind = spoken(cell, intervals).removeprefix(written(cell)).strip()
    small = re.sub(r"(\d)e(-?\d+)", r"\1\\ensuremath{\\cdot 10^{\2}}", escape(behind))
    text = number + (rf" {{\scriptsize {small}}}" if small else "")
    return rf"\textbf{{{text}}}" if cell.strong else text
