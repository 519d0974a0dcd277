"""A network that speaks, step by step, many strings at once: compiled, and nothing twice where a state comes back.

What a network says next depends on those of its values alone that reach over a step. A counter goes down through the
numbers that it went up through: strings of any length then share few states, and are read by looking up. Where states
do not come back, that is noticed, and they are computed as they are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.compiled import njit
from quickstudy.learners.mdl.evaluation import Room, speak, think, wire
from quickstudy.learners.mdl.genes import EDGES, KIND, MOST_UNITS, SOURCE, Numbers, Rows
from quickstudy.learners.mdl.network import Network

Bools = NDArray[np.bool_]
ROOM, ENOUGH = 1 << 15, 0.25
"""States before it is asked whether they come back, and the share of steps into new ones above which they do not."""
MOST_STATES = 200_000


@njit
def _read(row: Rows, symbols: int, read: Rows, began: bool, values: Numbers, said: Numbers, room: Room) -> None:
    """Many steps (time, row) of read: values (row, unit) become those after them, said (time, row, symbol) what comes
    next after each.
    """
    count, after, chances = wire(row, symbols, room), room.values[0], np.zeros(symbols)
    order, first, source, weight = room.order, room.first, room.source, room.weight
    for time in range(len(read)):
        for number in range(len(values)):
            symbol, fresh = read[time, number], began and time == 0
            think(row, symbols, count, order, first, source, weight, symbol, values, number, fresh, after)
            speak(after, symbols, chances)
            for other in range(symbols):
                said[time, number, other] = chances[other]


@njit
def _likeliest(chances: Numbers, outputs: int) -> int:
    best = 0
    for symbol in range(1, outputs):
        if chances[symbol] > chances[best]:
            best = symbol
    return best


@njit
def _judge(
    row: Rows, symbols: int, outputs: int, read: Rows, began: bool, values: Numbers, said: Any, room: Room
) -> None:
    """As `_read`, with the likeliest symbol alone: said (time, row)."""
    count, after, chances = wire(row, symbols, room), room.values[0], np.zeros(symbols)
    order, first, source, weight = room.order, room.first, room.source, room.weight
    for time in range(len(read)):
        for number in range(len(values)):
            symbol, fresh = read[time, number], began and time == 0
            think(row, symbols, count, order, first, source, weight, symbol, values, number, fresh, after)
            speak(after, symbols, chances)
            said[time, number] = _likeliest(chances, outputs)


@njit
def _look_up(after: Rows, answers: Any, read: Rows, numbers: Rows, said: Any, time: int) -> int:
    """From a step on, as far as all that is read is known. Gives the step that it has come to."""
    while time < len(read):
        for row in range(len(numbers)):
            if after[numbers[row], read[time, row]] < 0:
                return time
        for row in range(len(numbers)):
            number, symbol = numbers[row], read[time, row]
            said[time, row] = answers[number, symbol]
            numbers[row] = after[number, symbol]
        time += 1
    return time


class State(NamedTuple):
    """Nothing read yet, or values (row, unit); with numbers (row,) of known states where these are gone through."""

    began: bool
    values: Numbers
    numbers: Any = None


class _Known:
    """States by what reaches over a step. after, answers (state, symbol): -1 where it has not been tried. Number 0 is
    the beginning.
    """

    def __init__(self, row: Rows, symbols: int, outputs: int, room: Room) -> None:
        self._row, self._symbols, self._outputs, self._room = row, symbols, outputs, room
        edges = range(row[EDGES])
        self._sending = sorted({int(row[SOURCE + edge]) for edge in edges if row[KIND + edge] == 1})
        self._numbers: dict[bytes, int] = {}
        self.values = np.zeros((1, MOST_UNITS), room.values.dtype)
        self.after = np.full((1, symbols), -1, np.int32)
        self.answers = np.zeros((1, symbols), np.int8)
        self.count, self._looked = 1, 0

    @property
    def pays(self) -> bool:
        """Whether states come back."""
        return self.count < ROOM or (self.count < MOST_STATES and self.count < ENOUGH * self._looked)

    def through(self, read: Rows, numbers: Rows, said: Any) -> int:
        """Read as far as it pays."""
        time = 0
        while (time := _look_up(self.after, self.answers, read, numbers, said, time)) < len(read) and self.pays:
            untried = self.after[numbers, read[time]] < 0
            for number, symbol in np.unique(np.stack([numbers, read[time]])[:, untried], axis=1).T.tolist():
                self._try(number, symbol)
            self._looked += len(numbers)
        self._looked += time * len(numbers)
        return time

    def _try(self, number: int, symbol: int) -> None:
        said: Numbers = np.zeros((1, 1, self._symbols))
        values = self.values[number : number + 1].copy()
        _read(self._row, self._symbols, np.array([[symbol]], np.int32), number == 0, values, said, self._room)
        then = self.number_of(values[0])
        self.after[number, symbol], self.answers[number, symbol] = then, _likeliest(said[0, 0], self._outputs)

    def number_of(self, values: Numbers) -> int:
        """Of a state by its values (unit,), which is known from now on."""
        then = self._numbers.setdefault(values[self._sending].tobytes(), self.count)
        if then == self.count:
            if then == len(self.values):
                self.values, self.after, self.answers = (
                    np.concatenate([part, np.full_like(part, -1)]) for part in (self.values, self.after, self.answers)
                )
            self.values[then], self.count = values, self.count + 1
        return then


class NetworkHost:
    """Speaks for a network, step by step. outputs: of its symbols, those that are asked for."""

    scale = "probabilities"

    def __init__(self, symbols: int, row: Rows, outputs: int, precision: str = "float64") -> None:
        self.row, self._symbols, self._outputs = row, symbols, outputs
        self._room = Room.of(1, precision)
        self._known: tuple[bytes, _Known] = b"", None  # type: ignore[assignment]

    @property
    def parameters(self) -> int:
        """Weights and biases."""
        network = Network.of_row(self.row, self._symbols)
        return len(network.edges) + len(network.biases)

    def start(self, rows: int, capacity: int) -> State:
        """Nothing read."""
        return State(True, np.zeros((rows, MOST_UNITS), self._room.values.dtype), np.zeros(rows, np.int32))

    def step(self, state: State, inputs: NDArray[Any]) -> tuple[State, Numbers]:
        """Read one symbol a row."""
        state, said = self.unroll(state, np.asarray(inputs)[None])
        return state, said[0]

    def unroll(self, state: State, inputs: NDArray[Any]) -> tuple[State, Numbers]:
        """Read many symbols (time, row)."""
        values, said = self._values(state).copy(), np.zeros((*np.shape(inputs), self._symbols))
        _read(self.row, self._symbols, np.asarray(inputs, np.int32), state.began, values, said, self._room)
        # What many strings begin with is read in one row: from there they must find the states that are known.
        known = self._states.pays and len(values) == 1 and len(said) > 0
        numbers = np.array([self._states.number_of(values[0])], np.int32) if known else None
        return State(False, values, numbers), said[..., : self._outputs]

    def judged(self, state: State, inputs: Any, targets: Any, counts: Bools) -> tuple[State, Any, Any]:
        """Read many symbols (time, row): the state, the likeliest symbols, and by row how many that count are wrong."""
        said: Any = np.zeros(inputs.shape, np.int8)
        read, known, place = np.asarray(inputs, np.int32), self._states, 0
        if state.numbers is not None and known.pays:
            numbers = state.numbers.copy()
            place = known.through(read, numbers, said)
            state = State(state.began and not place, state.values, numbers)
        if place < len(read):
            values = self._values(state).copy()
            _judge(self.row, self._symbols, self._outputs, read[place:], state.began, values, said[place:], self._room)
            state = State(False, values)
        return state, said, ((said != targets) & counts).sum(axis=0)

    def same(self, state: State, other: State) -> bool:
        """Whether two states are the same, bit for bit."""
        return state.began == other.began and self._values(state).tobytes() == self._values(other).tobytes()

    def rows(self, state: State, numbers: NDArray[Any]) -> State:
        """Some rows of a state."""
        return State(state.began, state.values[numbers], None if state.numbers is None else state.numbers[numbers])

    def predict(self, inputs: NDArray[Any]) -> Numbers:
        """What comes next after every symbol of one string."""
        _, said = self.unroll(self.start(1, len(inputs)), np.asarray(inputs)[:, None])
        return said[:, 0]

    def _values(self, state: State) -> Numbers:
        return state.values if state.numbers is None else self._states.values[state.numbers]

    @property
    def _states(self) -> _Known:
        """Of the network as it is now."""
        own = self.row.tobytes()
        if self._known[0] != own:
            self._known = own, _Known(self.row, self._symbols, self._outputs, self._room)
        return self._known[1]
