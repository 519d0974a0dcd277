"""A network that speaks, step by step, many strings at once: compiled."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.learners.mdl.evaluation import Room, speak, think
from quickstudy.learners.mdl.genes import Numbers, Rows
from quickstudy.learners.mdl.network import Network
from quickstudy.numba_gateway import njit

Bools = NDArray[np.bool_]


@njit
def _read(
    count: int,
    symbols: int,
    softmax: bool,
    outputs: int,
    read: Rows,
    began: bool,
    values: Numbers,
    said: Numbers,
    likeliest: NDArray[np.int16],
    room: Room,
) -> None:
    """Many steps (time, row) of read: values (row, unit) become those after them, said (time, row,
    symbol) the predictions after each, as far as there is room for it, and likeliest (time, row)
    the likeliest of it, the first among equals. count: of the units that are computed.
    """
    after, chances = room.values, np.zeros(symbols)
    activation, product, bias = room.activation, room.product, room.bias
    order, first, source, weight = room.order, room.first, room.source, room.weight
    for time in range(len(read)):
        for number in range(len(values)):
            symbol, fresh = read[time, number], began and time == 0
            think(
                activation,
                product,
                bias,
                order,
                first,
                source,
                weight,
                symbols,
                count,
                symbol,
                values,
                number,
                fresh,
                after,
            )
            speak(after, symbols, softmax, chances)
            for other in range(said.shape[2]):
                said[time, number, other] = chances[other]
            best = 0
            for other in range(1, outputs):
                if chances[other] > chances[best]:
                    best = other
            likeliest[time, number] = best


class State(NamedTuple):
    """Nothing read yet, or values (row, unit)."""

    began: bool
    values: Numbers


class NetworkHost:
    """Speaks for a network, step by step. outputs: of its symbols, those that are asked for.
    softmax: as in `Parts`.
    """

    scale = "probabilities"

    def __init__(
        self, network: Network, outputs: int, precision: str = "float64", softmax: bool = False
    ) -> None:
        self._symbols, self._outputs, self._precision, self._softmax = (
            network.symbols,
            outputs,
            precision,
            softmax,
        )
        self.network = network

    @property
    def network(self) -> Network:
        """Which it speaks for; another may take its place."""
        return self._network

    @network.setter
    def network(self, network: Network) -> None:
        self._network, self._sending = network, network.sending
        self._room, self._count = network.laid_out(self._precision)

    @property
    def parameters(self) -> int:
        """Weights and biases."""
        return len(self.network.edges) + len(self.network.biases)

    def start(self, rows: int, capacity: int) -> State:
        """Nothing read."""
        return State(True, np.zeros((rows, self.network.units), self._precision))

    def step(self, state: State, inputs: NDArray[Any]) -> tuple[State, Numbers]:
        """Read one symbol a row."""
        state, said = self.unroll(state, np.asarray(inputs)[None])
        return state, said[0]

    def unroll(self, state: State, inputs: NDArray[Any]) -> tuple[State, Numbers]:
        """Read many symbols (time, row)."""
        state, said, _ = self._through(state, inputs, self._outputs)
        return state, said

    def judged(
        self, state: State, inputs: Any, targets: Any, counts: Bools
    ) -> tuple[State, Any, Any]:
        """Read many symbols (time, row): the state, the likeliest symbols, and by row how many that
        count are wrong.
        """
        state, _, said = self._through(state, inputs, 0)
        return state, said, ((said != targets) & counts).sum(axis=0)

    def _through(
        self, state: State, inputs: Any, kept: int
    ) -> tuple[State, Numbers, NDArray[np.int16]]:
        """The state after many symbols (time, row); the predictions after each, over so many
        symbols; the likeliest.
        """
        read, values = np.asarray(inputs, np.int32), state.values.copy()
        said, likeliest = np.zeros((*read.shape, kept)), np.zeros(read.shape, np.int16)
        own = self._count, self._symbols, self._softmax, self._outputs
        _read(*own, read, state.began, values, said, likeliest, self._room)
        return State(state.began and not len(read), values), said, likeliest

    def same(self, state: State, other: State) -> bool:
        """Whether two states are the same, bit for bit."""
        return state.began == other.began and state.values.tobytes() == other.values.tobytes()

    def fingerprint(self, state: State) -> bytes:
        """What tells a state of one row from others: those values alone that reach over a step."""
        return bytes([state.began]) + state.values[0, self._sending].tobytes()

    def rows(self, state: State, numbers: NDArray[Any]) -> State:
        """Some rows of a state."""
        return State(state.began, state.values[numbers])

    def predict(self, inputs: NDArray[Any]) -> Numbers:
        """What comes next after every symbol of one string."""
        _, said = self.unroll(self.start(1, len(inputs)), np.asarray(inputs)[:, None])
        return said[:, 0]
