"""A live device as a learner: anything that turns inputs into states, with a readout trained on
them.

    class Bench(Device):
        def respond(self, inputs): ...  # (time, width) inputs, from its rest state -> (time, state)

    class Bench(SteppedDevice):
        def reset(self): ...  # go to the rest state
        def feed(self, inputs): ...  # (width,) inputs of one step -> (state,)

    class Bench(LineDevice):
        command = ["./bench", "--port", "3"]  # answers every line of inputs by a line of states

Run it by its file: `quickstudy run dynamics/narma-10 --learner bench.py:Bench`. A program or a
device is not part of the identity of a run: raise a number in the class when you change it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.line_program import LineProgram
from quickstudy.base.errors import LearnerFault
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals
from quickstudy.learners.ridge import WITHOUT_VALIDATION, Sums
from quickstudy.learners.state_readout import StandardisedReadout

Floats = NDArray[np.float64]


class Device:
    """A system that is driven and looked at.

    strength: of the ridge readout on its states. None: states are standardised and the strength is
    chosen on the validation part, as for a recording.
    """

    reads = gives = (Reals,)
    strength: float | None = WITHOUT_VALIDATION

    def __init__(self, brief: Brief, seed: int) -> None:
        self.seed = seed
        self._outputs = brief.outputs.width
        self._sums: Sums | None = None
        self._weights: Floats | None = None
        self._readout = StandardisedReadout()

    @abstractmethod
    def respond(self, inputs: Floats) -> Any:
        """(time, state): the states after each of the inputs (time, width), from the same rest
        state every time.
        """

    def states(self, inputs: Floats) -> Floats:
        """The same, looked over. Raises LearnerFault for states that are missing or not finite."""
        if getattr(type(self), "respond", None) is Device.respond:
            raise LearnerFault(
                f"the device {type(self).__name__} needs respond(inputs), which gives (time, state)"
            )
        states = np.asarray(self.respond(inputs), dtype=np.float64)
        if states.ndim != 2 or len(states) != len(inputs):
            raise LearnerFault(
                f"the device must give a row of states for each of {len(inputs)} inputs, got"
                f" {states.shape}"
            )
        if not np.isfinite(states).all():
            raise LearnerFault("the states of the device are not finite")
        return states

    def hold_back(self, items: Sequence[tuple[Floats, Floats]]) -> None:
        """Sequences by which the strength is chosen, where it is None."""
        if self.strength is None:
            self._readout.hold_back([(self.states(inputs), targets) for inputs, targets in items])

    def learn(self, inputs: Floats, targets: Floats) -> None:
        """Add the asked steps to what the readout is fitted to."""
        states, asked = self.states(inputs), ~np.isnan(targets).any(axis=1)
        if len(states) > 1 and (states == states[0]).all():
            raise LearnerFault(
                f"all {states.shape[1]} states of the device are constant over {len(states)}"
                " inputs: is it connected?"
            )
        if self.strength is None:
            self._readout.learn(states, targets)
            return
        if self._sums is None:
            self._sums = Sums(states.shape[1], self._outputs)
        self._sums.add(states[asked], targets[asked])
        self._weights = None

    def predict(self, inputs: Floats) -> Floats:
        """What the readout makes of the states; 0 before anything was learned."""
        if not self.parameters:
            return np.zeros((len(inputs), self._outputs))
        return self.read_out(self.states(inputs))

    def read_out(self, states: Floats) -> Floats:
        """(time, output) of states (time, state)."""
        if self.strength is None:
            return self._readout(states)
        if self._weights is None:
            assert self._sums is not None
            self._weights = self._sums.weights((self.strength,))[0]
            if np.isnan(self._weights).any():
                raise LearnerFault(
                    f"strength {self.strength:g} is lost in rounding; give the class a larger one"
                )
        return np.asarray(states @ self._weights[:-1] + self._weights[-1])

    @property
    def parameters(self) -> int:
        """Of the readout."""
        if self.strength is None:
            return self._readout.weights
        return 0 if self._sums is None else int(self._sums.arrays["products"].size)


class _Moment(NamedTuple):
    """A point in what a device has read: the inputs of its last step, and the moment before."""

    before: _Moment | None
    inputs: Floats


class SteppedDevice(Device):
    """A device that is read after every step, so that a task may go on with its answers.

    There is one device: going on from another moment than the last one resets it, and repeats what
    it had read by then. A free run therefore goes along one sequence at a time.
    """

    one_at_a_time = True
    _at: _Moment | str | None = "unknown"

    @abstractmethod
    def reset(self) -> None:
        """Go to the rest state."""

    @abstractmethod
    def feed(self, inputs: Floats) -> Any:
        """(state,) after one more step with inputs (width,)."""

    def respond(self, inputs: Floats) -> Any:
        """Reset it, and feed it step by step."""
        self._at = "unknown"
        self.reset()
        rows = [self.feed(values) for values in inputs]
        if len({np.size(row) for row in rows}) > 1:
            raise LearnerFault("the device has answered with different numbers of states")
        return rows

    def start(self, rows: int, capacity: int) -> tuple[_Moment | None, ...]:
        """Nothing read."""
        return (None,) * rows

    def step(
        self, state: tuple[_Moment | None, ...], inputs: Floats
    ) -> tuple[tuple[_Moment, ...], Floats]:
        """One step of every row."""
        after = tuple(_Moment(*both) for both in zip(state, inputs, strict=True))
        states = np.array([self._reached(moment) for moment in after], dtype=np.float64)
        if not np.isfinite(states).all():
            raise LearnerFault("the states of the device are not finite")
        if not self.parameters:
            return after, np.zeros((len(after), self._outputs))
        return after, self.read_out(states)

    def rows(
        self, state: tuple[_Moment | None, ...], numbers: NDArray[Any]
    ) -> tuple[_Moment | None, ...]:
        """The moments of these rows."""
        return tuple(state[number] for number in numbers)

    def _reached(self, moment: _Moment) -> Any:
        """The states of the device at a moment; replayed from rest if it is at another one."""
        path = [moment]
        if self._at is not moment.before or moment.before is None:
            while path[-1].before is not None:
                path.append(path[-1].before)
            self.reset()
        for one in reversed(path):
            states = self.feed(one.inputs)
        self._at = moment
        return states


class LineDevice(SteppedDevice):
    """A device driven by a process. The process gets the line `reset`, which it does not
    answer, and then one line per step with the inputs, separated by spaces; it answers each with a
    line of states.
    """

    command: Sequence[str] = ()
    seconds: float = 60.0
    """That it may take for an answer."""

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self._step = 0
        self._program = LineProgram(self.command, self.seconds, "device")

    def reset(self) -> None:
        """Send it the line `reset`."""
        self._program.write(b"reset\n")
        self._step = 0

    def feed(self, inputs: Floats) -> Any:
        """A line of inputs, which it answers by a line of states."""
        self._program.write(f"{' '.join(map(repr, inputs.tolist()))}\n".encode())
        line = self._program.answer(f"at step {self._step}").decode(errors="replace")
        try:
            states = [float(cell) for cell in line.split()]
        except ValueError:
            raise LearnerFault(
                f"step {self._step}: the device must answer numbers, got {line.strip()[:60]!r}"
            ) from None
        self._step += 1
        return states

    def close(self) -> None:
        """Called when the run is over, however it ended."""
        self._program.close()
