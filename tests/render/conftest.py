"""One page with every kind of block in it, and with names that want to break out of it."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from quickstudy.base import blocks
from quickstudy.base.blocks import Column, Group, Line, Mark, Name, Number, Panel, Plotted

EVIL = '<img src=x onerror="alert(1)">\x1b[31m\u202eevil & $x_1$ 100%'
LONG = "esn+rls:" + ",".join(f"setting{index}=0.{index}" for index in range(14)) + "x" * 300


def curve(name: str, mark: Mark, value: Callable[[float], float], count: int = 40) -> Plotted:
    """A curve over three factors of ten, with a band."""
    x = [10 ** (index * 3 / 40) for index in range(count + 1)]
    y = list(map(value, x))
    return Plotted(name, mark, x, y, [one - 0.05 for one in y], [one + 0.05 for one in y])


def row(name: str, mark: Mark, place: int, role: str) -> Line:
    """A row of the table of scores."""
    return Line(
        [
            Name(name, mark, strong=place == 0),
            Number(6, form=blocks.COUNT, note="1 missing" if place == 2 else ""),
            Number(0.123456789 + place / 10, (place / 10, 0.2 + place / 10), strong=place == 0),
            Number(None, note="no control"),
            Number(math.inf, word="never", form=blocks.STEPS)
            if place
            else Number(120.0, form=blocks.STEPS),
            Number(2e-9 * 10**place, (1e-9 * 10**place, 4e-9 * 10**place), form=blocks.MAGNITUDE),
            blocks.Several([Number(0.5), Number(0.25, (0.2, 0.3), note="=")]),
            "words",
        ],
        role,
        first=role == blocks.ORACLE,
    )


@pytest.fixture
def scores() -> blocks.Table:
    learners = ["lstm", "esn:units=200,leak=0.3", "rnn", EVIL, LONG + "1", LONG + "2"]
    columns = [
        Column("learner", numeric=False),
        Column("runs"),
        Column("WADE above chance", "higher"),
        Column("scaled", "higher"),
        Column("steps to 0.9", "lower", note="median"),
        Column("error", "lower"),
        Column("published"),
        Column("kind", numeric=False),
    ]
    groups = [
        Group(
            [
                row(name, Mark(number=place), place, blocks.LEARNER)
                for place, name in enumerate(learners)
            ],
            "Learners",
        ),
        Group([row("lstm", Mark(blocks.REPLAY, 6), 1, blocks.REPLAY)], "Learners with replay"),
        Group([row("polarity", Mark(blocks.CONTROL), 0, blocks.CONTROL)], "Controls"),
        Group([row("oracle", Mark(blocks.ORACLE), 9, blocks.ORACLE)], "Oracle"),
    ]
    return blocks.Table("scores-0", "Scores on language/qa", columns, groups, paper=True)


@pytest.fixture
def plots() -> list[blocks.Plot]:
    steps = blocks.Axis("training sequences", blocks.LOG)
    series = [
        curve("lstm", Mark(number=0), lambda x: 1 - 0.5 / x),
        curve(LONG + "1", Mark(number=7), lambda x: 0.93),
        curve(LONG + "2", Mark(number=8), lambda x: 0.92),
        curve(EVIL, Mark(blocks.CONTROL, 3), lambda x: 0.5, 20),
        Plotted("none", Mark(number=3), [], []),
        Plotted(
            "gap", Mark(number=4), [0, 1, 10, 100], [0.1, 0.2, math.nan, 0.4], kind=blocks.STEP
        ),
    ]
    level = blocks.Guide(y=0.99, label="T = ∞")
    guides = [
        level,
        blocks.Guide(x=10, y=0.95, label="T(0.95) = 10", strong=True),
        blocks.Guide(x=500, label="end"),
    ]
    live = blocks.Plot(
        "curves-0",
        "Curves.",
        "Curves",
        steps,
        blocks.Axis("accuracy", range=(0, 1)),
        [Panel(series, "", guides)],
        live=True,
    )
    bars = [
        Plotted(
            name,
            Mark(number=number),
            [0, 1, 2],
            [0.3, -0.2, 0.5],
            [0.2, -0.3, 0.4],
            [0.4, -0.1, 0.6],
            kind,
        )
        for number, (name, kind) in enumerate(
            [("a", blocks.BARS), (EVIL, blocks.BARS), (LONG, blocks.POINTS)]
        )
    ]
    rules = blocks.Axis("rule", ticks=[(0, "first"), (1, "second"), (2, "third")])
    panels = [Panel(bars, EVIL), Panel([], LONG), Panel(bars[2:], "points")]
    return [
        live,
        blocks.Plot("bars", "Bars.", "Bars", rules, blocks.Axis("score"), panels, direct=False),
        small_multiples(),
        named_points(),
    ]


def small_multiples() -> blocks.Plot:
    """Eight panels with axes of their own."""
    line = Plotted(
        "", Mark(), [1.0, 4.0, 16.0], [1.0, 0.5, 0.0], [0.9, 0.4, -0.1], [1.0, 0.6, 0.1], dots=True
    )
    ticks = [(1.0, "1"), (4.0, "4"), (16.0, "16")]
    axis = blocks.Axis("size", blocks.LOG, (1.0, 16.0), ticks)
    panels = [
        Panel([line], f"{'long name ' * number}{number}", [blocks.Guide(x=8.0)], axis)
        for number in range(8)
    ]
    y = blocks.Axis("", range=(-0.1, 1.05), ticks=[(0.0, "0"), (1.0, "1")])
    return blocks.Plot("small", "Small.", "Small", axis, y, panels, direct=False, across=4)


def named_points() -> blocks.Plot:
    """Points that are close together."""
    names = [EVIL, LONG, *(f"learner {number}" for number in range(30))]
    close = [2.0 + 0.001 * (number % 20) for number in range(len(names))]
    cloud = Plotted(
        "", Mark(blocks.CONTROL), close, [0.3] * len(names), kind=blocks.POINTS, names=names
    )
    far = Plotted("", Mark(), [9.0], [0.9], kind=blocks.POINTS, names=["alone"])
    return blocks.Plot(
        "points", "P.", "P", blocks.Axis("x"), blocks.Axis("y"), [Panel([far, cloud])], direct=False
    )


@pytest.fixture
def heat() -> list[blocks.HeatMap]:
    wide = [
        [[(row * column + part) % 17 / 16 for part in range(4)] for column in range(88)]
        for row in range(3)
    ]
    marks = [(0, 10, 3, "▲ 110"), (0, 11, 0, "△ 30"), (2, 87, 1, "▲ 7")]
    tasks, rules = ["one", EVIL, LONG], [str(number) for number in range(88)]
    small = blocks.HeatMap(
        "cells", "Cells.", "Cells", ["a", "b"], ["c", "d"], [[0.0, 1.0], [None, 0.5]]
    )
    return [
        blocks.HeatMap("atlas", "Rules.", "Rules", tasks, rules, wide, scaled="row", marks=marks),
        small,
    ]


@pytest.fixture
def graph() -> blocks.Graph:
    nodes = [
        blocks.Node("s", "start", "start"),
        blocks.Node("a", EVIL),
        blocks.Node("b", LONG),
        blocks.Node("c"),
    ]
    edges = [
        blocks.Edge("s", "a", "x"),
        blocks.Edge("a", "b"),
        blocks.Edge("s", "b", EVIL, weight=1),
        blocks.Edge("b", "b", "again"),
        blocks.Edge("b", "s", "back", "back"),
    ]
    return blocks.Graph("machine", "A machine.", "A machine", nodes, edges)


@pytest.fixture
def strips() -> blocks.Strips:
    names = [EVIL, LONG, *(f"learner-{number}" for number in range(24))]
    ticks = [(float(number * number % 31), name) for number, name in enumerate(names)]
    rows = [
        blocks.Strip(
            "symbols copied",
            32,
            9.2,
            (8.1, 10.4),
            False,
            ticks,
            [(32, "oracle"), (2.1, "rote")],
            (2.3, "by-position"),
            "language",
            "more than 11 of 26",
            "copy",
        ),
        blocks.Strip(
            LONG,
            16,
            16.0,
            (16, 16),
            True,
            ticks[:3],
            [],
            None,
            "language",
            "as guessing does",
            "lookup",
        ),
        blocks.Strip(
            "bits of parity followed",
            256,
            None,
            None,
            False,
            ticks,
            [],
            (6.1, EVIL),
            "grammar",
            EVIL,
            "par",
        ),
        blocks.Strip(
            "steps ahead", 512, 199.3, (21.0, 310.0), False, [], [], None, "grammar", LONG, "ahead"
        ),
    ]
    headings = {
        "language": ("Language", "How much from few examples?", "share 0.52 [0.50, 0.53]"),
        "grammar": ("Grammar", EVIL, LONG),
    }
    return blocks.Strips("chart", "Spans.", "Spans", EVIL, rows, headings)


@pytest.fixture
def page(
    scores: blocks.Table,
    plots: list[blocks.Plot],
    heat: list[blocks.HeatMap],
    graph: blocks.Graph,
    strips: blocks.Strips,
) -> blocks.Page:
    cost = blocks.Table(
        "cost-0",
        "Cost",
        [Column("learner", numeric=False), Column("s")],
        [Group([Line(["a", Number(1)])])],
    )
    verdict = blocks.Text("lstm is above the best control.", "verdict")
    task = [
        verdict,
        plots[0],
        scores,
        blocks.Text("A remark.", "remark"),
        blocks.Details("Cost", [cost], True),
    ]
    short = blocks.Terms(
        [("language/qa", "Above.", "task-0"), (EVIL, EVIL, ""), ("a file", "beside", "other.html")]
    )
    stored = blocks.Details(EVIL, [blocks.Stored({"a": [EVIL, math.inf]}, LONG)])
    sections = [
        blocks.Section("In short", [short], "short", listed=False),
        blocks.Section(
            "language",
            [blocks.Section("language/qa", task, "task-0", "note")],
            "family 0",
            "corrected",
        ),
        blocks.Section(
            "More",
            [*plots[1:], *heat, graph, strips, blocks.Terms([("term", "meaning", "")])],
            "more",
        ),
        blocks.Section(
            "The record", [blocks.Text(f"run {EVIL}\nagain", "command"), stored], "record"
        ),
    ]
    facts = {"tasks": [0.5, "</script><b>", math.inf]}
    return blocks.Page(
        EVIL, [blocks.Text(EVIL, "note"), *sections], [EVIL, LONG], "quickstudy report", facts
    )


@pytest.fixture
def evil() -> str:
    return EVIL
