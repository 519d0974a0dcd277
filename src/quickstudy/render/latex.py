r"""The tables of a page for a paper: LaTeX with the booktabs package, no wider than the text of an `article`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from quickstudy.base import blocks
from quickstudy.base.visible import shortened, visible
from quickstudy.render.markup import anchor
from quickstudy.render.numbers import bounds, half_width, noted, spoken, written

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "–": "--", "…": r"\dots{}",
}  # fmt: skip
_SIGNS = {
    "−": "-", "±": r"\pm", "×": r"\times", "÷": r"\div", "∞": r"\infty", "·": r"\cdot", "≥": r"\ge", "≤": r"\le",
    "≠": r"\neq", "α": r"\alpha", "↑": r"\uparrow", "↓": r"\downarrow", "▲": r"\blacktriangle",
}  # fmt: skip
_KNOWN = 0x17F
"""The last letter that the T1 encoding knows without another package."""
_TEXT_WIDTH = 345.0
"""Points, of `article` at its usual size."""
_SIZES = (("", 1.0, 6.0), (r"\small", 0.93, 4.0), (r"\footnotesize", 0.86, 3.0))
"""A size of letters, its share of the usual one, and the space on either side of a column in points."""
_SMALL = 0.93
"""Width of small print as a share of that of the smallest size, in which it is 7 of 8 points."""
_NAME = 110.0
"""Points that the first column has at most; longer names are broken."""
_LETTERS = 60
"""Letters of a name at most; longer ones are cut in their middle."""
_REPLAY = r"\textsuperscript{\dag}"
_NARROW, _BROAD = set("ijlt.,:;'|!()[] "), set("mwMW@%")


def as_latex(page: blocks.Page) -> str:
    r"""One `table` for each that belongs into a paper, with a \label. The preamble needs \usepackage{booktabs} and
    \usepackage[T1]{fontenc}. Letters that T1 does not have are written as their numbers.
    """
    tables = (block for block in blocks.every(page.blocks) if isinstance(block, blocks.Table) and block.paper)
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
    names = shortened([visible(" ".join(_plain(line.cells[0]).split())) for line in table.lines], _LETTERS)
    widest = max(map(_points, (*names, table.columns[0].title)))
    size, parts = _parts(table, min(_NAME, widest))
    labels = [_label(name, line.role) for name, line in zip(names, table.lines, strict=True)]
    tabulars = [_tabular(table, columns, labels) for columns in parts]
    again = any(line.role == blocks.REPLAY for line in table.lines)
    return "\n".join(
        [
            r"\begin{table}",
            rf"\centering{size}",
            rf"\caption{{{escape(table.caption)}}}",
            rf"\label{{tab:{anchor(table.name)}}}",
            "\n\\par\\medskip\n".join(tabulars),
            *([rf"\par\smallskip{{\footnotesize {_REPLAY} with replay: ranked apart}}"] if again else []),
            r"\end{table}",
            "",
        ]
    )


def _parts(table: blocks.Table, name: float) -> tuple[str, list[list[int]]]:
    """The largest size at which all columns stand side by side; else the smallest, and the columns below each other."""
    widths = [_column_width(table, index) for index in range(1, len(table.columns))]
    for size, share, space in _SIZES:
        if share * (name + sum(widths)) + 2 * space * len(widths) <= _TEXT_WIDTH:
            return _sized(size, space), [list(range(1, len(table.columns)))]
    parts: list[list[int]] = [[]]
    used = share * name
    for index, width in enumerate(widths, start=1):
        if parts[-1] and used + share * width + 2 * space > _TEXT_WIDTH:
            parts.append([])
            used = share * name
        parts[-1].append(index)
        used += share * width + 2 * space
    return _sized(size, space), parts


def _sized(size: str, space: float) -> str:
    return rf"{size}\setlength{{\tabcolsep}}{{{space:g}pt}}" if size else ""


def _column_width(table: blocks.Table, index: int) -> float:
    column = table.columns[index]
    head = max(map(_points, _broken(column)), default=0.0) + (12.0 if column.better else 0.0)
    cells = [_cell_width(line.cells[index], table.intervals) for line in table.lines]
    return max(head, *cells) if cells else head


def _cell_width(cell: blocks.Cell, intervals: str) -> float:
    if isinstance(cell, blocks.Several):
        return sum(_cell_width(one, intervals) + _points(cell.between) for one in cell.cells)
    if isinstance(cell, blocks.Number):
        return _points(written(cell)) + _SMALL * _points(f" {_interval(cell, intervals)}{_note(cell)}")
    return _points(cell.text + noted(cell.note) if isinstance(cell, blocks.Name) else cell)


def _points(text: str) -> float:
    """The width of a text in points at the usual size, on the safe side."""
    return sum(3.9 if one in _NARROW else 8.4 if one in _BROAD else 7.6 if one.isupper() else 5.6 for one in text)


def _tabular(table: blocks.Table, columns: Sequence[int], labels: Sequence[str]) -> str:
    heads = [_head(table.columns[index]) for index in (0, *columns)]
    kinds = "".join("r" if table.columns[index].numeric else "l" for index in columns)
    first = iter(labels)
    lines = [
        [
            " & ".join([next(first), *(_cell(line.cells[index], table.intervals) for index in columns)]) + " \\\\\n"
            for line in group.lines
        ]
        for group in table.groups
    ]
    body = "\\midrule\n".join("".join(group) for group in lines if group)
    top = " & ".join(heads) + r" \\"
    rules = (rf"\begin{{tabular}}{{@{{}}l{kinds}@{{}}}}", r"\toprule", top, r"\midrule", body + r"\bottomrule")
    return "\n".join((*rules, r"\end{tabular}"))


def _broken(column: blocks.Column) -> list[str]:
    """The title of a column in lines of one or two words."""
    lines: list[str] = []
    for word in column.title.split():
        if lines and len(lines[-1]) + len(word) < 12:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _head(column: blocks.Column) -> str:
    arrow = {"higher": " ↑", "lower": " ↓"}.get(column.better, "")
    lines = [escape(line) for line in (*_broken(column)[:-1], "".join(_broken(column)[-1:]) + arrow)]
    side = "r" if column.numeric else "l"
    stack = r"\\".join(lines)
    return stack if len(lines) == 1 else rf"\shortstack[{side}]{{{stack}}}"


def _plain(cell: blocks.Cell) -> str:
    return cell.text if isinstance(cell, blocks.Name) else cell if isinstance(cell, str) else spoken(cell)


def _label(name: str, role: str) -> str:
    """The name of a row; one that is too wide is broken after a separator, or anywhere in a very long word."""
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
        return escape(cell.text + noted(cell.note) if isinstance(cell, blocks.Name) else cell)
    number = re.sub(r"e(-?\d+)$", r"\\ensuremath{\\cdot 10^{\1}}", escape(written(cell)))
    small = escape((f" {_interval(cell, intervals)}" if cell.interval else "") + _note(cell))
    small = re.sub(r"(\d)e(-?\d+)", r"\1\\ensuremath{\\cdot 10^{\2}}", small)
    text = number + (rf" {{\scriptsize {small.strip()}}}" if small.strip() else "")
    return rf"\textbf{{{text}}}" if cell.strong else text


def _interval(cell: blocks.Number, intervals: str) -> str:
    return half_width(cell) if intervals == blocks.HALF else bounds(cell)


def _note(cell: blocks.Number) -> str:
    return "" if cell.value is None and not cell.word else noted(cell.note)
