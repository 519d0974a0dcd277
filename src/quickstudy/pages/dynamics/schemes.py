"""What a reservoir is, and how it is taught and tested, as graphs."""

from __future__ import annotations

import numpy as np

from quickstudy.base.blocks import Block, Edge, Graph, Node
from quickstudy.base.catalogue import block
from quickstudy.base.errors import UsageError
from quickstudy.base.seeds import Streams
from quickstudy.pages.dynamics.systems import Drawn
from quickstudy.pages.request import Request

INPUTS, UNITS, OUTPUTS = 3, 7, 2
"""Of the network that is drawn."""
JOINED = 0.18
"""The share of pairs of units that are joined."""


@block("scheme", version=1)
class Scheme(Drawn):
    """A graph that explains. Settings: `scheme`: `network`, `imitation` or `prediction`."""

    def blocks(self, request: Request) -> list[Block]:
        """The graphs of the scheme."""
        made = {"network": _network, "imitation": _imitation, "prediction": _prediction}
        scheme = str(request.study.settings.get("scheme", ""))
        if scheme not in made:
            raise UsageError(f'{request.study.id}: settings: scheme must be {", ".join(made)}, got "{scheme}"')
        return list(made[scheme](request))


def _network(request: Request) -> list[Graph]:
    """An echo-state network of seven units whose weights are drawn, and what all such networks have in common."""
    rng = Streams(request.root, request.study.id, 0).numpy("core")
    names = {
        "input": [f"u{place + 1}" for place in range(INPUTS)],
        "": [f"x{place + 1}" for place in range(UNITS)],
        "output": [f"v{place + 1}" for place in range(OUTPUTS)],
    }
    nodes = [Node(name, name, kind) for kind, own in names.items() for name in own]
    edges = [
        Edge(source, target, weight=abs(float(rng.uniform(-1, 1))))
        for before, after in (("input", ""), ("", "output"))
        for source in names[before]
        for target in names[after]
    ]
    inside = np.argwhere(rng.random((UNITS, UNITS)) < JOINED)
    edges += [
        Edge(names[""][source], names[""][target], kind="back", weight=abs(float(rng.uniform(-1, 1))))
        for source, target in inside
    ]
    example = Graph(
        name=f"{request.name}-example",
        caption=f"(a) An echo-state network of {UNITS} units: {INPUTS} inputs u reach the state x by the weights W_u, "
        f"which are random; so are those inside, W (dashed). {OUTPUTS} outputs v are read off by W_v, which alone are "
        "trained. The bolder, the stronger.",
        label="An example of an echo-state network.",
        nodes=nodes,
        edges=edges,
    )
    return [
        example,
        Graph(
            name=f"{request.name}-abstract",
            caption="(b) The parts of every reservoir computer.",
            label="Input, state and output of a reservoir computer, with the weights between them.",
            nodes=[Node("u", "input u", "input"), Node("x", "state x"), Node("v", "output v", "output")],
            edges=[Edge("u", "x", "W_u, fixed"), Edge("x", "x", "W, fixed"), Edge("x", "v", "W_v, trained")],
        ),
    ]


SYSTEM, RESERVOIR = Node("DS", "dynamical system"), Node("RC", "reservoir, W_v")
WANTED, GIVEN = Node("wanted", "target v̂", "output"), Node("given", "output v", "output")
ERROR = Node("error", "NRMSE of v and v̂")


def _staged(request: Request, name: str, caption: str, nodes: list[Node], edges: list[Edge]) -> Graph:
    return Graph(f"{request.name}-{name}", caption, caption.partition(".")[0], nodes, edges)


def _imitation(request: Request) -> list[Graph]:
    nodes = [Node("u", "input u", "input"), SYSTEM, RESERVOIR, WANTED, GIVEN, ERROR]
    edges = [
        Edge("u", "DS"), Edge("u", "RC"), Edge("DS", "wanted"), Edge("RC", "given"), Edge("wanted", "error"),
        Edge("given", "error"),
    ]  # fmt: skip
    trained = [*edges, Edge("error", "RC", "W_v is fitted", "back")]
    return [
        _staged(request, "training", "Training. Both read one input; W_v is fitted to the target.", nodes, trained),
        _staged(request, "testing", "Testing. W_v stays as it is; the error is the score.", nodes, edges),
    ]


def _prediction(request: Request) -> list[Graph]:
    nodes = [SYSTEM, RESERVOIR, WANTED, GIVEN, ERROR]
    driven = [
        Edge("DS", "wanted"), Edge("DS", "RC", "v̂(t-1)"), Edge("RC", "given"), Edge("wanted", "error"),
        Edge("given", "error"),
    ]  # fmt: skip
    trained = [*driven, Edge("error", "RC", "W_v is fitted", "back")]
    free = [edge for edge in driven if edge.label == ""] + [Edge("given", "RC", "v(t-1)", "back")]
    return [
        _staged(request, "training", "Training. The reservoir reads the system's last value.", nodes, trained),
        _staged(request, "driven", "Tested driven. It still does: one step is foretold at a time.", nodes, driven),
        _staged(request, "free", "Tested free-running. It reads its own last output.", nodes, free),
    ]
