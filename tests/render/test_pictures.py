"""Pictures: scales and ticks, labels that do not collide, graphs without overlaps, files that stand
alone.
"""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base import blocks
from quickstudy.base.blocks import (
    LINEAR,
    LOG,
    Axis,
    Edge,
    Graph,
    Guide,
    Mark,
    Node,
    Panel,
    Plot,
    Plotted,
)
from quickstudy.render.axes import Scale, reach, spread
from quickstudy.render.graph import lay_out
from quickstudy.render.svg import drawn, svg_file

ALL = "{http://www.w3.org/2000/svg}"
small = st.floats(-1e6, 1e6)


def one_plot(
    *series: Plotted, x: Axis, y: Axis, guides: tuple[Guide, ...] = ()
) -> ElementTree.Element:
    return ElementTree.fromstring(
        svg_file(Plot("p", "", "a plot", x, y, [Panel(series, guides=guides)]))
    )


def test_every_picture_is_whole_and_stands_alone(
    plots: list[blocks.Plot], heat: list[blocks.HeatMap], graph: blocks.Graph, strips: blocks.Strips
) -> None:
    for block in (*plots, *heat, graph, strips):
        source = svg_file(block)
        root = ElementTree.fromstring(source)
        assert root.tag == f"{ALL}svg"
        assert float(root.attrib["width"]) > 0
        assert ".plot .line" in "".join(root.find(f"{ALL}style").itertext())  # type: ignore[union-attr]
        assert "nan" not in re.sub(r"<(title|text|style).*?</\1>", "", source, flags=re.DOTALL)
        for inline in drawn(block):
            ElementTree.fromstring(inline)


def test_a_line_is_where_its_numbers_are() -> None:
    y = Axis("y", range=(0, 1))
    root = one_plot(Plotted("a", Mark(), [1, 10, 100], [0, 0.5, 1]), x=Axis("x", LOG), y=y)
    line = next(one for one in root.iter(f"{ALL}polyline") if one.attrib["class"] == "line")
    (x1, y1), (x2, y2), (x3, y3) = (
        map(float, pair.split(",")) for pair in line.attrib["points"].split()
    )
    assert x3 - x2 == pytest.approx(x2 - x1, abs=0.11)
    assert y1 - y2 == pytest.approx(y2 - y3, abs=0.11)
    assert y1 - y3 == pytest.approx(350, abs=0.1)


def test_a_line_breaks_where_there_is_no_number() -> None:
    series = Plotted("a", Mark(), [1, 2, 3, 4, 5], [0, 1, math.nan, 1, 0])
    root = one_plot(series, x=Axis("x"), y=Axis("y"))
    lines = [one for one in root.iter(f"{ALL}polyline") if one.attrib["class"] == "line"]
    assert [len(line.attrib["points"].split()) for line in lines] == [2, 2]


@pytest.mark.parametrize("kind", [blocks.LINE, blocks.STEP, blocks.POINTS, blocks.BARS])
def test_what_is_no_number_is_not_drawn(kind: str) -> None:
    y, low = [0.1, math.nan, 0.3], [0.0, math.nan, math.nan]
    series = Plotted("a", Mark(), [1, 2, 3], y, low, [0.2, 0.5, 0.4], kind=kind, dots=True)
    root = one_plot(series, x=Axis("x"), y=Axis("y", range=(0, 1)))
    drawn = [one for one in root.iter() if one.attrib.get("class") in ("dot", "dot bar")]
    assert len(drawn) == 2
    assert sum(one.attrib.get("class") == "whisker" for one in root.iter()) == (
        kind in (blocks.POINTS, blocks.BARS)
    )


def test_bars_stand_on_zero_side_by_side() -> None:
    series = [Plotted(name, Mark(), [0, 1], [0.5, -0.5], kind=blocks.BARS) for name in "ab"]
    root = one_plot(*series, x=Axis("x"), y=Axis("y"))
    bars = [one.attrib for one in root.iter(f"{ALL}rect") if one.attrib.get("class") == "dot bar"]
    assert len(bars) == 4
    edges = sorted((float(bar["x"]), float(bar["x"]) + float(bar["width"])) for bar in bars)
    assert all(before[1] < after[0] for before, after in itertools.pairwise(edges))
    ups = [bar for bar in bars if float(bar["y"]) == min(float(one["y"]) for one in bars)]
    grounds = {float(up["y"]) + float(up["height"]) for up in ups}
    assert grounds == {float(bar["y"]) for bar in bars if bar not in ups}


def test_guides_lead_to_their_point() -> None:
    guide = Guide(x=10, y=0.5, label="T = 10", strong=True)
    series = Plotted("a", Mark(), [1, 100], [0, 1])
    root = one_plot(
        series,
        x=Axis("x", LOG),
        y=Axis("y", range=(0, 1)),
        guides=(guide, Guide(y=0.9, label="T = ∞")),
    )
    across, down = (
        one.attrib for one in root.iter(f"{ALL}line") if one.attrib["class"] == "guide strong"
    )
    assert (across["x2"], across["y2"]) == (down["x1"], down["y1"])
    dot = next(one.attrib for one in root.iter(f"{ALL}circle") if one.attrib.get("r") == "4")
    assert (dot["cx"], dot["cy"]) == (across["x2"], across["y2"])
    assert {"T = 10", "T = ∞"} <= {one.text for one in root.iter(f"{ALL}text")}


def test_labels_at_the_ends_of_lines_do_not_collide(plots: list[blocks.Plot]) -> None:
    for source in drawn(plots[0]):
        labels = next(
            one
            for one in ElementTree.fromstring(source).iter("g")
            if one.attrib.get("class") == "labels"
        )
        texts = list(labels.iter("text"))
        assert len({one.text for one in texts}) == len(texts) == 6
        places = sorted(float(one.attrib["y"]) for one in texts)
        assert all(after - before >= 14.9 for before, after in itertools.pairwise(places))


@given(st.lists(st.floats(0, 100), max_size=12), st.floats(0.1, 12))
def test_spread_keeps_order_and_distance(wanted: list[float], gap: float) -> None:
    places = spread(wanted, gap, 0, 100)
    assert all(-1e-9 <= place <= 100 + 1e-9 for place in places)
    apart = min(gap, 100 / max(len(wanted) - 1, 1))
    ordered = sorted(places)
    assert all(after - before >= apart - 1e-6 for before, after in itertools.pairwise(ordered))
    by_want = sorted(range(len(wanted)), key=lambda index: (wanted[index], index))
    assert [places[index] for index in by_want] == ordered


@given(st.sampled_from([LINEAR, LOG]), st.lists(small, min_size=1, max_size=6), st.floats(60, 1000))
def test_ticks_are_few_round_and_inside(kind: str, values: list[float], length: float) -> None:
    values = [abs(value) + 1e-6 for value in values] if kind == LOG else values
    low, high = reach(Axis("x", kind), values)
    if high - low < 1e-6 * max(abs(low), abs(high)):
        return  # ticks of nine digits cannot tell them apart
    scale = Scale(low, high, kind, 0, length)
    ticks = scale.ticks()
    shown = [(value, words) for value, words in ticks if words]
    assert 1 <= len(shown) <= 40
    assert all(-0.01 * length <= scale.at(value) <= 1.01 * length for value, _ in ticks)
    assert [value for value, _ in ticks] == sorted(value for value, _ in ticks)


def test_a_heat_map_has_a_colour_per_value_and_frames_its_marks(heat: list[blocks.HeatMap]) -> None:
    (source,) = drawn(heat[0])
    kinds = [one.attrib["class"] for one in ElementTree.fromstring(source).iter("rect")]
    assert sum(kind.startswith("h") for kind in kinds) == 3 * 88 * 4 + 9
    assert [kind for kind in kinds if kind.startswith("frame")] == [
        "frame first",
        "frame second",
        "frame first",
    ]
    cells = [one.attrib["class"] for one in ElementTree.fromstring(drawn(heat[1])[0]).iter("rect")][
        :4
    ]
    assert cells == ["h0", "h8", "absent", "h4"]


def test_infinity_has_the_last_colour() -> None:
    field = blocks.HeatMap(
        "h", "", "", ["a"], ["b", "c", "d", "e"], [[0.0, 1.0, math.inf, -math.inf]]
    )
    cells = [one.attrib["class"] for one in ElementTree.fromstring(drawn(field)[0]).iter("rect")][
        :4
    ]
    assert cells == ["h0", "h8", "h8", "h0"]


def overlaps(graph: Graph) -> list[tuple[str, str]]:
    layout = lay_out(graph)
    boxes = list(layout.boxes.items())
    assert all(
        box.x - box.width / 2 >= 0 and box.x + box.width / 2 <= layout.width for _, box in boxes
    )
    assert all(15 <= box.y <= layout.height - 15 for _, box in boxes)
    return [
        (one, other)
        for index, (one, a) in enumerate(boxes)
        for other, b in boxes[index + 1 :]
        if abs(a.x - b.x) < (a.width + b.width) / 2 and abs(a.y - b.y) < 30
    ]


@settings(deadline=None)  # a busy machine may be slow
@given(st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), max_size=60))
def test_nodes_of_a_graph_never_overlap_and_edges_pass_between_them(
    pairs: list[tuple[int, int]],
) -> None:
    nodes = [Node(str(number), "state " * (number % 4 + 1)) for number in range(30)]
    graph = Graph("g", "", "", nodes, [Edge(str(a), str(b)) for a, b in pairs])
    assert overlaps(graph) == []
    layout = lay_out(graph)
    for number, way in layout.ways.items():
        edge = graph.edges[number]
        assert layout.boxes[edge.source].x < layout.boxes[edge.target].x
        for x, y in way:
            inside = [
                box
                for box in layout.boxes.values()
                if abs(box.x - x) < box.width / 2 and abs(box.y - y) < 15
            ]
            assert inside == []
    ElementTree.fromstring(svg_file(graph))


def test_a_chain_with_a_way_back_runs_from_left_to_right() -> None:
    ids = [str(number) for number in range(30)]
    edges = [Edge(a, b) for a, b in itertools.pairwise(ids)] + [Edge("29", "0")]
    layout = lay_out(Graph("g", "", "", [Node(id) for id in ids], edges))
    assert sorted(ids, key=lambda id: layout.boxes[id].x) == ids
    assert layout.backs == [29]


def test_pictures_of_nothing_are_still_pictures() -> None:
    for block in (
        Plot("p", "", "", Axis("x"), Axis("y"), []),
        Plot(
            "p", "", "", Axis("x", LOG), Axis("y", LOG), [Panel([Plotted("a", Mark(), [0], [0])])]
        ),
        blocks.HeatMap("h", "", "", [], [], []),
        Graph("g", "", "", [], []),
    ):
        ElementTree.fromstring(svg_file(block))
