"""What a page is made of: blocks with numbers in them, each written once and rendered in every
form.

Nothing here knows HTML, LaTeX or a terminal, and no renderer reads a number back out of text. A
page is a list of blocks; `render` has one renderer per form. All text is plain: a renderer escapes
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from quickstudy.base.trace import Trace

FORMS = ("score", "fine", "magnitude", "factor", "steps", "count", "seconds", "exact", "span")
SCORE, FINE, MAGNITUDE, FACTOR, STEPS, COUNT, SECONDS, EXACT, SPAN = FORMS
"""How a number is written. score: three decimals. fine: four for a small one. magnitude: three
figures, powers of ten for the smallest and the largest. factor: ten to the power of the value,
after a ×. steps: whole where it is large. count: a whole number, thousands apart. seconds: two or
three figures. exact: all digits.
span: one decimal, none from 100 on.
"""
BOUNDS, HALF = "bounds", "half"
"""How an interval is written: `[low, high]`, or as half of its width, ±."""
LINEAR, LOG = "linear", "log"
LINE, STEP, POINTS, BARS = "line", "step", "points", "bars"
ROLES = LEARNER, REPLAY, PERSON, CONTROL, ORACLE = (
    "learner",
    "replay",
    "person",
    "control",
    "oracle",
)
"""The role of a row or a curve: learners that see material once, or several times; people; controls
(baselines that do not learn); oracles.
"""


@dataclass(frozen=True)
class Mark:
    """How one learner, rule or series is drawn, the same in all tables and pictures of a page.

    role: decides colour, grey or thin. number: which colour or dash, from 0; a renderer repeats
    what it has.
    """

    role: str = LEARNER
    number: int = 0


@dataclass(frozen=True)
class Number:
    """A number in a cell or a sentence. value: None if it is missing, and note then gives the
    reason; infinity is a value.

    interval: (low, high) of the value. form: one of FORMS. word: what is written instead of the
    digits ("<1", "unknown"). strong: stands out. note: small print next to it. signed: a plus is
    written too.
    """

    value: float | None
    interval: tuple[float, float] | None = None
    form: str = SCORE
    word: str = ""
    strong: bool = False
    note: str = ""
    signed: bool = False


@dataclass(frozen=True)
class Name:
    """Words in a cell that name something. mark: the line it is drawn by. target: an anchor of the
    page, or the name of a file in the same folder. note: small print.
    """

    text: str
    mark: Mark | None = None
    target: str = ""
    strong: bool = False
    note: str = ""


@dataclass(frozen=True)
class Several:
    """Several cells in one, `published | measured`."""

    cells: Sequence[Cell]
    between: str = " | "


Cell = Number | Name | Several | str
"""A plain string is words that name nothing; an empty one is an empty cell."""


@dataclass(frozen=True)
class Column:
    """The heading of a column. better: "higher", "lower" or nothing, shown as an arrow. numeric:
    aligned and sorted as numbers. note: small print under the title ("median").
    """

    title: str
    better: str = ""
    numeric: bool = True
    note: str = ""


@dataclass(frozen=True)
class Line:
    """One row of a table, as many cells as columns; the first names it. role: one of ROLES or
    nothing. first: stays where a terminal has no room for all rows.
    """

    cells: Sequence[Cell]
    role: str = ""
    first: bool = False


@dataclass(frozen=True)
class Group:
    """Rows under a title, or under none; sorting keeps groups apart."""

    lines: Sequence[Line]
    title: str = ""


@dataclass(frozen=True)
class Table:
    """name: its anchor, and of its CSV file. columns: where not all fit, the first
    ones stay.

    intervals: BOUNDS or HALF. data: its numbers at full precision, the heading first, for
    the CSV file; without them the file has the cells themselves. paper: belongs into a paper
    (LaTeX).
    """

    name: str
    caption: str
    columns: Sequence[Column]
    groups: Sequence[Group]
    intervals: str = BOUNDS
    data: Sequence[Sequence[Any]] = ()
    paper: bool = False

    @property
    def lines(self) -> list[Line]:
        """All rows, of any group."""
        return [line for group in self.groups for line in group.lines]


def table(
    name: str,
    caption: str,
    heading: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    data: Sequence[Sequence[Any]] = (),
    better: Mapping[str, str] = {},
) -> Table:
    """A table of a study. A column in which a number stands is one of numbers; an interval is
    written as its half. better: by title, which way is better.
    """
    numeric = [any(_has_number(row[place]) for row in rows) for place in range(len(heading))]
    columns = [
        Column(title, better.get(title, ""), one)
        for title, one in zip(heading, numeric, strict=True)
    ]
    return Table(
        name, caption, columns, [Group([Line(row) for row in rows])], HALF, data, paper=True
    )


def _has_number(cell: Cell) -> bool:
    return (
        any(map(_has_number, cell.cells)) if isinstance(cell, Several) else isinstance(cell, Number)
    )


@dataclass(frozen=True)
class Axis:
    """title: with its unit. scale: LINEAR or LOG. range: what the data say where it is None. ticks:
    (place, words) in the place of round numbers.
    """

    title: str
    scale: str = LINEAR
    range: tuple[float, float] | None = None
    ticks: Sequence[tuple[float, str]] = ()


@dataclass(frozen=True)
class Plotted:
    """One curve, cloud or set of bars, in data coordinates. low, high: the edges of its band, or
    whiskers of points.

    label: at its end, or in a legend. kind: LINE, STEP, POINTS or BARS. bold: (from, to) on
    the x axis where the line is bold. dots: its points are shown too. tells: at each point, what a
    pointer shows. names: what is written next to each point.
    """

    label: str
    mark: Mark
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    kind: str = LINE
    bold: tuple[float, float] | None = None
    dots: bool = False
    tells: Sequence[str] = ()
    names: Sequence[str] = ()


@dataclass(frozen=True)
class Guide:
    """A straight line that marks a value: vertical at x, horizontal at y, or from an axis to a
    point where both are given. label: words at its end. strong: the one that the caption speaks of.
    """

    x: float | None = None
    y: float | None = None
    label: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Panel:
    """One set of axes with what is drawn in it. x: an axis of its own, where the panels have no
    common one.
    """

    series: Sequence[Plotted]
    title: str = ""
    guides: Sequence[Guide] = ()
    x: Axis | None = None


@dataclass(frozen=True)
class Picture:
    """What all pictures have. name: its anchor, and of its SVG and CSV files. label: what it shows,
    in words, for those who cannot see it. Where it has `data`, the heading first, they are in the
    CSV file in the place of what is drawn.
    """

    name: str
    caption: str
    label: str


@dataclass(frozen=True)
class Plot(Picture):
    """Panels share axes, and are side by side where they fit. direct: labels are at the
    ends of lines; else in a legend. live: a pointer reads values off it. across: panels in a row of
    a wide window.
    """

    x: Axis
    y: Axis
    panels: Sequence[Panel]
    data: Sequence[Sequence[Any]] = ()
    direct: bool = True
    live: bool = False
    across: int = 2


@dataclass(frozen=True)
class Strip:
    """One row of a chart of strips: a value on an axis of its own, with reference values on it.

    label: what it shows; short: the same in a word, for narrow places.
    end: the last value of its axis, which begins at 0.
    value: None where there is none, and note then has the reason.
    interval: of the value.
    over: the value is at the end of the axis, or beyond.
    ticks: (value, name) of the reference learners.
    marks: (value, name) of what does not learn from the task, all drawn.
    baseline: (value, name) of the best of the non-learning baselines.
    group: rows of one group share a heading.
    note: small print next to the value.
    """

    label: str
    end: float
    value: float | None
    interval: tuple[float, float] | None = None
    over: bool = False
    ticks: Sequence[tuple[float, str]] = ()
    marks: Sequence[tuple[float, str]] = ()
    baseline: tuple[float, str] | None = None
    group: str = ""
    note: str = ""
    short: str = ""


@dataclass(frozen=True)
class Strips(Picture):
    """Rows of strips on logarithmic axes, ln(1 + value): one learner on many items, with its
    references.

    learner: whose values they are.
    headings: by group, its title, a remark on it and what is written at its right end.
    data: for the CSV file, in the place of what is drawn.
    """

    learner: str
    rows: Sequence[Strip]
    headings: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    data: Sequence[Sequence[Any]] = ()


@dataclass(frozen=True)
class HeatMap(Picture):
    """A field of values, one row of cells after another. values[row][column]: a number, None where
    there is none, or several that share the cell (two or four, drawn as its parts).

    low, high: words for the ends of the colours. scaled: "row" where every row has its own colours,
    else "all". marks: (row, column, part, words) of cells that are framed. fine: a field of many
    small cells, of which some rows and columns have a name and none is framed. texts[row][column]:
    what is written in a cell, for its number.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | Sequence[float | None] | None]]
    low: str = "lowest"
    high: str = "highest"
    scaled: str = "all"
    marks: Sequence[tuple[int, int, int, str]] = ()
    data: Sequence[Sequence[Any]] = ()
    fine: bool = False
    texts: Sequence[Sequence[str]] = ()


@dataclass(frozen=True)
class Cloud:
    """One kind of things in a space of three axes: POINTS, or a path (LINE), each (x, y, z) in the
    axes' units.
    """

    label: str
    mark: Mark
    points: Sequence[Sequence[float]]
    kind: str = POINTS


@dataclass(frozen=True)
class Volume(Picture):
    """A space of three axes, by their titles. panels: (title, what lies in it), all in the same
    cube. A page lets one turn it.
    """

    axes: Sequence[str]
    panels: Sequence[tuple[str, Sequence[Cloud]]]


@dataclass(frozen=True)
class Node:
    """id: what edges name. kind: one of a few classes that a renderer draws alike ("input",
    "output", "start" ...).
    """

    id: str
    label: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Edge:
    """From one node to another, or to itself. weight: 0 to 1, how bold. kind: "" or "back" (drawn
    dashed).
    """

    source: str
    target: str
    label: str = ""
    kind: str = ""
    weight: float = 0.5


@dataclass(frozen=True)
class Graph(Picture):
    """Nodes and edges: a network, a machine, a curriculum. A renderer finds their places, from left
    to right.
    """

    nodes: Sequence[Node]
    edges: Sequence[Edge]


@dataclass(frozen=True)
class Text:
    """A paragraph. kind: "" or "verdict", "remark" (small), "note" (what a reader must know
    first), "question", "command" and "example" (letter by letter, as typed or drawn).
    """

    text: str
    kind: str = ""


@dataclass(frozen=True)
class Terms:
    """Words and what they mean, or tasks and what was found: a definition list. Each (term,
    meaning, target).
    """

    items: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class Stored:
    """A record, or other nested plain data, shown whole as stored."""

    data: Any
    title: str = ""


@dataclass(frozen=True)
class Details:
    """Blocks that may be folded away. open: they are not, at first. A terminal leaves closed ones
    out.
    """

    summary: str
    blocks: Sequence[Block]
    open: bool = False


@dataclass(frozen=True)
class Steps:
    """What happened, step by step: a page shows one at a time, and lets one go to and fro. steps:
    (title, blocks).
    """

    caption: str
    steps: Sequence[tuple[str, Sequence[Block]]]


@dataclass(frozen=True)
class Section:
    """Blocks under a heading. name: its anchor. note: next to the heading, in small letters.
    listed: in the contents.
    """

    title: str
    blocks: Sequence[Block]
    name: str = ""
    note: str = ""
    listed: bool = True


Block = Text | Terms | Table | Picture | Details | Steps | Stored | Section


def every(blocks: Sequence[Block]) -> Iterator[Block]:
    """All blocks in their order, those inside sections, details and steps after what holds them."""
    for block in blocks:
        yield block
        if isinstance(block, Section | Details):
            yield from every(block.blocks)
        elif isinstance(block, Steps):
            yield from every([one for _, inside in block.steps for one in inside])


@dataclass(frozen=True)
class Page:
    """title, and lines under it. eyebrow: what kind of page it is. facts: everything in plain JSON
    types, for `--json`.

    whole: the general report of the folder would add nothing to it.
    """

    title: str
    blocks: Sequence[Block]
    under: Sequence[str] = ()
    eyebrow: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False


class Made(NamedTuple):
    """What a block of a study makes: blocks for people, and everything in them in plain JSON types,
    for `--json`.
    """

    blocks: Sequence[Block]
    facts: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Traced:
    """What a figure is made of: one learner on one task, with the traces of its finished runs."""

    learner: str
    role: str
    mark: Mark
    traces: Sequence[Trace]
