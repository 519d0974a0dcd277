"""Graphs: nodes in layers from left to right, edges between them, around a node, and back below
all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quickstudy.base.blocks import Edge, Graph, Node
from quickstudy.base.text import shortened
from quickstudy.render.axes import Drawing, breadth, points, text
from quickstudy.render.markup import Markup, tag

_HIGH, _BETWEEN, _ACROSS, _MARGIN = 30.0, 24.0, 70.0, 28.0
"""Pixels: height of a node, between two in a layer, between two layers at least, around all."""
_LOOP, _BACK = 30.0, 24.0
"""Pixels above all for edges from a node to itself, and below all for each that leads back."""
_LETTERS = 22
_SWEEPS = 8


@dataclass(frozen=True)
class Box:
    """Where a node is drawn and by what words: its middle and width in pixels, and half the width
    of its layer.
    """

    label: str
    x: float
    y: float
    width: float
    half: float


@dataclass(frozen=True)
class Layout:
    """boxes: by node. ways: by the number of an edge that leads forward, the points between its two
    nodes at which it passes other layers. backs: the numbers of the edges that lead back or stay in
    a layer.
    """

    boxes: Mapping[str, Box]
    ways: Mapping[int, Sequence[tuple[float, float]]]
    backs: Sequence[int]
    width: float
    height: float


def graph_drawing(graph: Graph) -> Drawing:
    """The picture; the same graph gives the same one."""
    layout = lay_out(graph)
    below = {number: layout.height - 4 + _BACK * place for place, number in enumerate(layout.backs)}
    parts = [
        _edge(edge, layout, layout.ways.get(number, ()), below.get(number))
        for number, edge in enumerate(graph.edges)
    ]
    parts += [_node(node, layout.boxes[node.id]) for node in graph.nodes]
    bottom = layout.height + _BACK * len(layout.backs)
    return Drawing(graph.label, layout.width, bottom, [tag("g", *parts, class_="graph")])


def lay_out(graph: Graph) -> Layout:
    """Nodes in layers, each after all that lead to it; in a layer, each as near as can be to those
    it is joined to.

    An edge that passes a layer has a place in it like a node, so that it runs between nodes and not
    through them.
    """
    ranks = _ranks(graph)
    shown = shortened([node.label or node.id for node in graph.nodes], _LETTERS)
    labels = {node.id: label for node, label in zip(graph.nodes, shown, strict=True)}
    chains: dict[int, list[str]] = {}
    for number, edge in enumerate(graph.edges):
        if ranks[edge.source] < ranks[edge.target]:
            between = range(ranks[edge.source] + 1, ranks[edge.target])
            chains[number] = [edge.source, *(f"\0{number}/{rank}" for rank in between), edge.target]
            ranks |= dict(zip(chains[number][1:-1], between, strict=True))
    layers = _ordered(ranks, chains)
    loops = any(edge.source == edge.target for edge in graph.edges)
    top = _MARGIN + (_LOOP if loops else 0.0)
    tallest = max(sum(_height(id) + _BETWEEN for id in layer) for layer in layers)
    boxes, left = {}, _MARGIN
    for number, layer in enumerate(layers):
        wide = max((_width(labels.get(id, "")) for id in layer), default=0.0)
        y = top + (tallest - sum(_height(id) + _BETWEEN for id in layer)) / 2
        for id in layer:
            label = labels.get(id, "")
            boxes[id] = Box(label, left + wide / 2, y + _height(id) / 2, _width(label), wide / 2)
            y += _height(id) + _BETWEEN
        words = [breadth(edge.label) for edge in graph.edges if ranks[edge.source] == number]
        left += wide + max(_ACROSS, max(words, default=0.0) + 24)
    ways = {
        number: [(boxes[id].x, boxes[id].y) for id in chain[1:-1]]
        for number, chain in chains.items()
    }
    backs = [
        number
        for number, edge in enumerate(graph.edges)
        if number not in chains and edge.source != edge.target
    ]
    width = max((box.x + box.width / 2 for box in boxes.values()), default=0.0) + _MARGIN
    return Layout(
        {node.id: boxes[node.id] for node in graph.nodes},
        ways,
        backs,
        width,
        top + tallest - _BETWEEN + _MARGIN,
    )


def _height(id: str) -> float:
    return 0.0 if id.startswith("\0") else _HIGH


def _width(label: str) -> float:
    return breadth(label) + 22 if label else 0.0


def _ranks(graph: Graph) -> dict[str, int]:
    """The layer of every node: one after the last of those that lead to it. A circle is cut where
    it is entered.
    """
    before: dict[str, set[str]] = {node.id: set() for node in graph.nodes}
    for edge in graph.edges:
        if edge.kind != "back" and edge.source != edge.target:
            before[edge.target].add(edge.source)
    ranks: dict[str, int] = {}
    rest = list(before)
    while rest:
        id = min(
            rest, key=lambda id: (not before[id] <= ranks.keys(), before[id].isdisjoint(ranks))
        )
        ranks[id] = 1 + max((ranks[source] for source in before[id] if source in ranks), default=-1)
        rest.remove(id)
    return ranks


def _ordered(ranks: Mapping[str, int], chains: Mapping[int, Sequence[str]]) -> list[list[str]]:
    """The layers, each sorted by the mean place of the neighbours in the layer before it, then in
    the one after it.
    """
    layers: list[list[str]] = [[] for _ in range(max(ranks.values(), default=0) + 1)]
    near: dict[str, list[str]] = {id: [] for id in ranks}
    for id, rank in ranks.items():
        layers[rank].append(id)
    for chain in chains.values():
        for before, later in pairwise(chain):
            near[before].append(later)
            near[later].append(before)
    place = {id: index - len(layer) / 2 for layer in layers for index, id in enumerate(layer)}
    for sweep in range(_SWEEPS):
        step = 1 if sweep % 2 == 0 else -1
        for number in range(len(layers))[::step]:
            means = {}
            for id in layers[number]:
                known = [place[other] for other in near[id] if ranks[other] == number - step]
                means[id] = sum(known) / len(known) if known else place[id]
            layers[number].sort(key=means.__getitem__)
            place |= {
                id: index - len(layers[number]) / 2 for index, id in enumerate(layers[number])
            }
    return layers


def _edge(
    edge: Edge, layout: Layout, way: Sequence[tuple[float, float]], below: float | None
) -> Markup:
    start, end = layout.boxes[edge.source], layout.boxes[edge.target]
    (x, y), (x2, y2) = (start.x + start.width / 2, start.y), (end.x - end.width / 2, end.y)
    head = [(x2, y2), (x2 - 9, y2 - 4), (x2 - 9, y2 + 4)]
    if edge.source == edge.target:
        x, y = start.x, start.y - _HIGH / 2
        path: list[str | tuple[float, float]] = [
            "M",
            (x - 12, y),
            "C",
            (x - 26, y - 30),
            (x + 26, y - 30),
            (x + 12, y),
        ]
        head, words = [(x + 12, y), (x + 12.5, y - 9), (x + 20, y - 5)], (x, y - 26)
    elif below is not None:
        # Down and up between layers, where no node is.
        out, into = start.x + start.half + 16, end.x - end.half - 24
        path = [
            "M",
            (x, y),
            "Q",
            (out, y),
            (out, y + 14),
            "L",
            (out, below - 14),
            "Q",
            (out, below),
            (out - 14, below),
        ]
        path += [
            "L",
            (into + 14, below),
            "Q",
            (into, below),
            (into, below - 14),
            "L",
            (into, y2 + 14),
        ]
        path += ["Q", (into, y2), (x2, y2)]
        words = ((out + into) / 2, below - 4)
    else:
        stops = [(x, y), *way, (x2, y2)]
        path = ["M", (x, y)]
        for one, other in pairwise(stops):
            middle = (one[0] + other[0]) / 2
            path += ["C", (middle, one[1]), (middle, other[1]), other]
        words = ((x + stops[1][0]) / 2, (y + stops[1][1]) / 2 - 4)
    line = tag(
        "path",
        d=" ".join(one if isinstance(one, str) else points([one]) for one in path),
        class_=f"edge {edge.kind}".strip(),
        stroke_width=0.8 + 2.4 * min(max(edge.weight, 0.0), 1.0),
    )
    arrow = tag("polygon", class_="arrowhead", points=points(head))
    label = text(edge.label, *words, class_="tick halo", text_anchor="middle") if edge.label else ""
    told = tag("title", f"{edge.source} to {edge.target}{': ' + edge.label if edge.label else ''}")
    return tag("g", told, line, arrow, label)


def _node(node: Node, box: Box) -> Markup:
    place = {
        "x": box.x - box.width / 2,
        "y": box.y - _HIGH / 2,
        "width": box.width,
        "height": _HIGH,
    }
    shape = tag("rect", rx=15 if node.kind == "start" else 5, **place)
    words = text(box.label, box.x, box.y + 4, class_="label", text_anchor="middle")
    return tag(
        "g", tag("title", node.label or node.id), shape, words, class_=f"node {node.kind}".strip()
    )
