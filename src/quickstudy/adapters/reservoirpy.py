"""`reservoirpy:Reservoir`: a node of reservoirpy as a memory, with a readout by ridge regression.

    quickstudy run dynamics/narma-10 --learner reservoirpy:Reservoir:units=100,sr=0.9,lr=0.3

The node reads each sequence from its state at rest, and gives a vector after every step. The
readout is solved for on the rows of all sequences, as by the built-in `ridge`; the node itself is
never trained.
"""

from __future__ import annotations

import importlib.metadata
import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, MissingExtra, UsageError, nearest
from quickstudy.base.learner import Brief
from quickstudy.base.registries import learner
from quickstudy.base.spaces import Bits, Reals, Tokens
from quickstudy.learners.ridge import Sums


@learner("reservoirpy", version=1)
class ReservoirNode:
    """A node of reservoirpy that is not trained, and a ridge readout.

    node: its class in `reservoirpy.nodes`, as in `reservoirpy:Reservoir`. strength: of the
    regularisation. Every other parameter is one of the class's constructor, such as units, sr, lr
    and input_scaling; its seed is that of the run.
    """

    first: ClassVar[str] = "node"
    reads: ClassVar[tuple[type, ...]] = (Tokens, Reals, Bits)
    gives: ClassVar[tuple[type, ...]] = (Tokens, Reals)

    def __init__(
        self, brief: Brief, seed: int = 0, node: str = "", strength: float = 1e-6, **of: Any
    ) -> None:
        if strength <= 0:
            raise UsageError(f"reservoirpy: strength must be above 0, got {strength}")
        kind = node_class(node)
        known = inspect.signature(kind.__init__).parameters
        given = {"seed": seed, **of} if "seed" in known else of
        try:
            self._node = kind(**given)
        except TypeError as error:
            raise UsageError(f"reservoirpy: {node} cannot be made: {error}") from error
        self._brief, self._strength = brief, strength
        self.scale = "order" if isinstance(brief.outputs, Tokens) else "values"
        # Its matrices are drawn when it first sees an input.
        self._node.run(np.zeros((1, brief.inputs.width)))
        self._rest = {name: np.zeros_like(part) for name, part in self._node.state.items()}
        self._sums = Sums(int(self._node.output_dim), brief.outputs.width)
        self._fit: NDArray[np.float64] | None = None
        self.updates = 0

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return "imports reservoirpy"

    @staticmethod
    def imported_code(parameters: Mapping[str, Any]) -> dict[str, str]:
        """The version of the library."""
        node_class(str(parameters.get("node") or ""))
        return {"node": f"reservoirpy {importlib.metadata.version('reservoirpy')}"}

    @property
    def parameters(self) -> int:
        """Weights of the readout."""
        return int(self._sums.arrays["products"].size)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Add the rows of one sequence that are asked about."""
        tokens = isinstance(self._brief.outputs, Tokens)
        asked = targets >= 0 if tokens else ~np.isnan(targets).any(axis=-1)
        wanted = np.eye(self._brief.outputs.width)[targets[asked]] if tokens else targets[asked]
        self._sums.add(self.states(inputs)[asked], wanted)
        self._fit, self.updates = None, self.updates + int(asked.sum())

    def predict(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        """What the readout gives after every row."""
        return self._read_out(self.states(inputs))

    def states(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        """(time, unit) on the way through one sequence, from rest."""
        self._node.state = dict(self._rest)
        found = np.asarray(self._node.run(self._vectors(inputs)), np.float64)
        if not np.isfinite(found).all():
            raise LearnerFault("the states of the node are not finite")
        return found

    def start(self, rows: int, capacity: int) -> tuple[Any, ...]:
        """All rows at rest."""
        return (self._rest,) * rows

    def step(
        self, state: tuple[Any, ...], inputs: NDArray[Any]
    ) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """One step of every row."""
        after, rows = [], []
        for before, x in zip(state, self._vectors(inputs), strict=True):
            self._node.state = dict(before)
            rows.append(np.asarray(self._node.step(x), np.float64))
            after.append(self._node.state)
        return tuple(after), self._read_out(np.stack(rows))

    def rows(self, state: tuple[Any, ...], numbers: NDArray[Any]) -> tuple[Any, ...]:
        """The states of these rows."""
        return tuple(state[number] for number in numbers)

    def _read_out(self, states: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._fit is None:
            self._fit = self._sums.weights([self._strength])[0]
            if np.isnan(self._fit).any():
                raise LearnerFault(
                    f"strength {self._strength:g} is lost in rounding; give a larger one"
                )
        return np.asarray(states @ self._fit[:-1] + self._fit[-1])

    def _vectors(self, inputs: NDArray[Any]) -> NDArray[np.float64]:
        space = self._brief.inputs
        return (
            np.eye(space.size)[inputs] if isinstance(space, Tokens) else np.asarray(inputs, float)
        )


def node_class(name: str) -> Any:
    """A node by the name of its class. Raises UsageError if there is none that is not trained."""
    try:
        from reservoirpy import nodes
        from reservoirpy.node import Node, TrainableNode
    except ModuleNotFoundError as error:
        raise MissingExtra(error.name or "reservoirpy", "reservoirpy") from error
    known = [
        key
        for key, one in vars(nodes).items()
        if isinstance(one, type) and issubclass(one, Node) and not issubclass(one, TrainableNode)
    ]
    if not name:
        raise UsageError("reservoirpy: which node? type reservoirpy:Reservoir:units=100")
    if name not in known:
        raise UsageError(f'reservoirpy: no node "{name}" without training; {nearest(name, known)}')
    return getattr(nodes, name)
