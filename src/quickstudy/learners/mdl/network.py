"""A network as people have it: units, edges and weights as fractions; its bits, its outputs,
its picture.
"""

from __future__ import annotations

import importlib
import json
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from quickstudy.base.blocks import Edge, Graph, Node
from quickstudy.base.errors import UsageError
from quickstudy.data.tables import read_json
from quickstudy.learners.mdl.code_length import Desk, code_data
from quickstudy.learners.mdl.evaluation import Room, Tree, connect
from quickstudy.learners.mdl.genes import (
    ACTIVATION,
    BIAS,
    BIAS_UNDER,
    COSTS,
    EDGES,
    KIND,
    MOST_EDGES,
    MOST_UNITS,
    NAMES,
    SOURCE,
    TARGET,
    TYPE,
    UNITS,
    WEIGHT,
    WEIGHT_UNDER,
    WIDTH,
    Numbers,
    Parts,
    Rows,
)
from quickstudy.learners.mdl.json_format import (
    KINDS,
    TYPES,
    Edges,
    Weight,
    cycle_in,
    parts_of,
    weights_of,
)

if TYPE_CHECKING:
    from quickstudy.learners.mdl.symbolic_states import Certificate

_NETWORKS = pathlib.Path(__file__).with_name("networks")
"""The networks released with the paper (`bliss-`), those built by hand, and the shortest right ones
(`exact-`).
"""


def shipped(name: str | pathlib.Path) -> pathlib.Path | None:
    """The file of a network that comes with the package; None for any other name or path."""
    return next((path for path in _NETWORKS.glob("*.json") if path.stem == str(name)), None)


@dataclass(frozen=True)
class Network:
    """symbols: inputs, and as many outputs. activations, products: of every unit. biases: by unit.
    edges: by kind ("forward" or "recurrent"), source and target, in any order. language: the task
    it was found on, if that is known. single: it has one output.
    """

    symbols: int
    activations: tuple[str, ...]
    products: tuple[bool, ...]
    biases: Mapping[int, Weight]
    edges: Edges
    language: str = field(default="", compare=False)
    single: bool = False

    @classmethod
    def from_facts(cls, facts: Any, named: str = "the network") -> Network:
        """Of the neutral form. Raises UsageError with what is wrong, the value, and where."""
        return cls(**parts_of(facts, named))

    @classmethod
    def read(cls, path: str | pathlib.Path) -> Network:
        """From a JSON file, or one of those that come with the package, by its name:
        `bliss-an-bn`.
        """
        try:
            facts = read_json(shipped(path) or path)
        except UsageError as error:
            raise UsageError(
                f"{error}; a network is a JSON file, or one of the package, such as bliss-an-bn"
            ) from None
        return cls.from_facts(facts, str(path))

    @classmethod
    def of_row(cls, row: Rows, symbols: int) -> Network:
        """Of a row of genes."""
        units, edges = int(row[UNITS]), int(row[EDGES])
        return cls(
            symbols,
            tuple(NAMES[row[ACTIVATION + unit]] for unit in range(units)),
            tuple(bool(row[TYPE + unit]) for unit in range(units)),
            {
                unit: (int(row[BIAS + unit]), int(row[BIAS_UNDER + unit]))
                for unit in range(units)
                if row[BIAS + unit]
            },
            {
                (KINDS[row[KIND + edge]], int(row[SOURCE + edge]), int(row[TARGET + edge])): (
                    int(row[WEIGHT + edge]),
                    int(row[WEIGHT_UNDER + edge]),
                )
                for edge in range(edges)
            },
        )

    @property
    def units(self) -> int:
        """How many there are."""
        return len(self.activations)

    @property
    def answers(self) -> int:
        """How many it tells apart."""
        return 2 if self.single else self.symbols

    @property
    def sizes(self) -> str:
        """What it reads and tells apart, in words."""
        return f"over {self.symbols} symbols" + (
            " with a single output, for two answers" if self.single else ""
        )

    def spread(self) -> Network:
        """An equivalent network with as many outputs as inputs: of a single output x, the first two
        are 1 - x and x, the shares of which are the chances, and the others are silent. Itself,
        where it has them already.
        """
        if not self.single:
            return self
        extra, own = (
            self.symbols,
            2 * self.symbols,
        )  # outputs that are put in; where its own is then

        def moved(unit: int) -> int:
            return unit if unit < self.symbols else unit + extra

        def between(units: tuple[Any, ...], filled: Any) -> tuple[Any, ...]:
            return (*units[: self.symbols], *[filled] * extra, *units[self.symbols :])

        edges = {
            (kind, moved(source), moved(target)): weight
            for (kind, source, target), weight in self.edges.items()
        }
        return Network(
            self.symbols,
            between(self.activations, "linear"),
            between(self.products, False),
            {**{moved(unit): weight for unit, weight in self.biases.items()}, extra: (1, 1)},
            {**edges, ("forward", own, extra): (-1, 1), ("forward", own, extra + 1): (1, 1)},
        )

    def as_row(self) -> Rows:
        """As a row of genes. Raises UsageError for a network that is too large to be one."""
        if self.units > MOST_UNITS or len(self.edges) > MOST_EDGES:
            most = f"{MOST_UNITS} units and {MOST_EDGES} edges"
            raise UsageError(
                f"a search has room for {most}, got {self.units} and {len(self.edges)}"
            )
        row = np.zeros(WIDTH, np.int32)
        row[UNITS], row[EDGES] = self.units, len(self.edges)
        for unit in range(self.units):
            row[ACTIVATION + unit] = NAMES.index(self.activations[unit])
            row[TYPE + unit] = self.products[unit]
            row[BIAS + unit], row[BIAS_UNDER + unit] = self.biases.get(unit, (0, 1))
        for edge, ((kind, source, target), (above, below)) in enumerate(self.edges.items()):
            row[SOURCE + edge], row[TARGET + edge], row[KIND + edge] = (
                source,
                target,
                KINDS.index(kind),
            )
            row[WEIGHT + edge], row[WEIGHT_UNDER + edge] = above, below
        return row

    def as_facts(self) -> dict[str, Any]:
        """In the neutral form."""
        return {
            "n_inputs": self.symbols,
            "n_outputs": 1 if self.single else self.symbols,
            "n_units": self.units,
            "activations": list(self.activations),
            "unit_types": [TYPES[product] for product in self.products],
            "biases": weights_of(((unit,), weight) for unit, weight in self.biases.items()),
            **{
                kind: weights_of(
                    (ends, weight) for (own, *ends), weight in self.edges.items() if own == kind
                )
                for kind in KINDS
            },
        }

    def bits(self, activations: Sequence[str]) -> int:
        """|H|, where these activations are allowed."""
        return len(self.code(activations))

    def code(self, activations: Sequence[str]) -> str:
        """What |H| counts, written out in the characters 0 and 1, where these activations are
        allowed.
        """
        choice, wide = (len(activations) - 1).bit_length(), (self.units - 1).bit_length()

        def number(whole: int) -> str:
            return f"{'1' * whole.bit_length()}0{whole:b}" if whole else "0"

        def written(weight: Weight) -> str:
            return f"{int(weight[0] > 0)}{number(abs(weight[0]))}{number(weight[1])}"

        outgoing: list[list[tuple[tuple[str, int, int], Weight]]] = [[] for _ in range(self.units)]
        for key, weight in sorted(self.edges.items()):
            outgoing[key[1]].append((key, weight))
        parts = [number(self.units)]
        for unit, edges in enumerate(outgoing):
            parts.append(number(len(edges)))
            parts += [
                f"{KINDS.index(kind)}{target:0{wide}b}{written(weight)}"
                for (kind, _, target), weight in edges
            ]
            own = NAMES.index(self.activations[unit])
            parts.append(
                f"{int(self.products[unit])}{own:0{max(choice, 1)}b}{'1' * int(COSTS[own])}"
            )
            parts.append(f"1{written(self.biases[unit])}" if unit in self.biases else "000")
        return "".join(parts)

    def all_bits(
        self, tree: Tree, activations: Sequence[str], softmax: bool = False
    ) -> tuple[int, float]:
        """|H| and |D:H| of the strings of a tree, the latter infinite where one is held for
        impossible.
        """
        bits: Numbers = np.zeros(3)
        room, count = self.spread().laid_out()
        parts = Parts(self.symbols, np.arange(len(activations), dtype=np.int32), True, softmax)
        code_data(count, parts, 0.0, tree, Desk.of(len(tree.read), room), bits, np.inf)
        return self.bits(activations), float(bits[2])

    def laid_out(self, precision: str = "float64") -> tuple[Room, int]:
        """For computing, and how many of the units are computed. Every weight is the number nearest
        to its fraction, or the largest there is.
        """
        room = Room.of(self.units, max(len(self.edges), 1), precision)
        room.activation[:] = [NAMES.index(one) for one in self.activations]
        room.product[:] = self.products
        largest = float(np.finfo(precision).max)
        for unit, weight in self.biases.items():
            room.bias[unit] = _nearest(weight, largest)
        ends = [(KINDS.index(kind), source, target) for kind, source, target in self.edges]
        kinds, sources, targets = np.array(ends, np.int32).reshape(-1, 3).T.copy()
        weights = np.array(
            [_nearest(weight, largest) for weight in self.edges.values()], np.float64
        )
        return room, int(connect(self.units, self.symbols, kinds, sources, targets, weights, room))

    def into(self, unit: int, kind: str) -> list[tuple[int, Fraction]]:
        """(source, weight) of the edges of a kind into a unit."""
        return [
            (source, Fraction(*weight))
            for (own, source, target), weight in self.edges.items()
            if own == kind and target == unit
        ]

    def order(self) -> list[int]:
        """The units that reach an output or the next step, each after all that it needs."""
        room, count = self.laid_out()
        return [int(unit) for unit in room.order[:count]]

    def wired(self) -> list[tuple[int, list[tuple[int, Fraction]], list[tuple[int, Fraction]]]]:
        """Those units in that order, with (source, weight) of the forward and of the recurrent
        edges into each.
        """
        return [
            (unit, self.into(unit, "forward"), self.into(unit, "recurrent"))
            for unit in self.order()
        ]

    @property
    def sending(self) -> list[int]:
        """The units whose values the next step needs."""
        return sorted({source for kind, source, _ in self.edges if kind == "recurrent"})

    def cycle(self) -> list[int]:
        """Units that need one another within a step, the first again at the end; nothing where
        there are none.
        """
        return cycle_in(self.edges)

    def certificate(self, language: str = "", tried: int = 60) -> Certificate:
        """Whether it is right for every string, by proof (`quickstudy.learners.mdl.certificate`).

        language: `an-bn` or another task of the family, or the text of a counter language
        (`a^n b^2n [n 0.3]`); nothing: its own, or else each over as many symbols, the first that it
        masters. tried: strings that are read one by one before, the
        shortest first. Raises UsageError where there is no such language, or no proof for it.
        """
        from quickstudy.learners.mdl.certificate import certified

        return certified(self, language or self.language, tried)

    def write(self, path: str | pathlib.Path) -> None:
        """Into a JSON file, one part a line."""
        lines = (
            f"  {json.dumps(name)}: {json.dumps(part)}" for name, part in self.as_facts().items()
        )
        pathlib.Path(path).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

    def draw(self, path: str | pathlib.Path, symbols: Sequence[str] = "") -> None:
        """Into an SVG file. symbols: their names; nothing: those of its language, or numbers."""
        # By name: what draws stands above all learners, and is needed only here.
        svg = importlib.import_module("quickstudy.render.svg")
        if not symbols and self.language:
            from quickstudy.base import registries

            symbols = registries.task.get(self.language)().vocabulary
        graph = self.graph(
            symbols or [str(number) for number in range(self.symbols)], pathlib.Path(path).stem
        )
        pathlib.Path(path).write_text(svg.svg_file(graph), encoding="utf-8")

    def graph(self, symbols: Sequence[str], name: str = "network") -> Graph:
        """Its picture: inputs, outputs under the names of their symbols, hidden units; recurrent
        edges dashed.
        """
        inputs, outputs = self.symbols, self.symbols + (1 if self.single else self.symbols)

        def label(unit: int) -> str:
            title = (
                symbols[unit % inputs]
                if unit < outputs and not (self.single and unit >= inputs)
                else ""
            )
            sort = self.activations[unit] + (" ×" if self.products[unit] else "")
            bias = f" {Fraction(*self.biases[unit])}" if unit in self.biases else ""
            return f"{title} {sort if unit >= inputs or sort != 'linear' else ''}{bias}".strip()

        used = {unit for _, *ends in self.edges for unit in ends} | set(range(inputs, self.units))
        kinds = (
            ["input"] * inputs
            + ["output"] * (outputs - inputs)
            + ["hidden"] * (self.units - outputs)
        )
        nodes = [Node(str(unit), label(unit), kinds[unit]) for unit in sorted(used)]
        edges = [
            Edge(
                str(source),
                str(target),
                str(Fraction(*weight)),
                "back" if kind == "recurrent" else "",
            )
            for (kind, source, target), weight in sorted(self.edges.items())
        ]
        caption = f"{self.units} units, {len(self.edges)} edges; dashed: from the step before."
        return Graph(name, caption, f"A network of {self.units} units.", nodes, edges)


def _nearest(weight: Weight, largest: float) -> float:
    above, below = weight
    try:
        return min(max(above / below, -largest), largest)
    except (
        OverflowError
    ):  # no infinity: times a source that is 0 it would be no number, where the product is 0
        return largest if above > 0 else -largest
