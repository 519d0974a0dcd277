"""A live device as a learner: anything that turns inputs into states, with a readout trained on
them.

    class Bench(Device):
        def respond(self, inputs): ...  # (time, width) inputs, from its rest state -> (time, state)

    class Bench(LineDevice):
        command = ["./bench", "--port", "3"]  # answers every line of inputs by a line of states

Run it by its file: `quickstudy run dynamics/narma-10 --learner bench.py:Bench`. A program or a
device is not part of the identity of a run: raise a number in the class when you change it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.adapters.line_program import LineProgram
from quickstudy.base.errors import LearnerFault
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals
from quickstudy.learners.ridge import WITHOUT_VALIDATION, Sums

Floats = NDArray[np.float64]


class Device:
    """A system that is driven and looked at. strength: of the ridge readout on its states."""

    reads = gives = (Reals,)
    strength = WITHOUT_VALIDATION

    def __init__(self, brief: Brief, seed: int) -> None:
        self.seed = seed
        self._outputs = brief.outputs.width
        self._sums: Sums | None = None
        self._weights: Floats | None = None

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

    def learn(self, inputs: Floats, targets: Floats) -> None:
        """Add the asked steps to what the readout is fitted to."""
        states, asked = self.states(inputs), ~np.isnan(targets).any(axis=1)
        if len(states) > 1 and (states == states[0]).all():
            raise LearnerFault(
                f"all {states.shape[1]} states of the device are constant over {len(states)}"
                " inputs: is it connected?"
            )
        if self._sums is None:
            self._sums = Sums(states.shape[1], self._outputs)
        self._sums.add(states[asked], targets[asked])
        self._weights = None

    def predict(self, inputs: Floats) -> Floats:
        """What the readout makes of the states; 0 before anything was learned."""
        if self._sums is None:
            return np.zeros((len(inputs), self._outputs))
        if self._weights is None:
            self._weights = self._sums.weights((self.strength,))[0]
            if np.isnan(self._weights).any():
                raise LearnerFault(
                    f"strength {self.strength:g} is lost in rounding; give the class a larger one"
                )
        return np.asarray(self.states(inputs) @ self._weights[:-1] + self._weights[-1])

    @property
    def parameters(self) -> int:
        """Of the readout."""
        return 0 if self._sums is None else int(self._sums.arrays["products"].size)


class LineDevice(Device):
    """A device driven by a process. The process gets the line `reset`, which it does not
    answer, and then one line per step with the inputs, separated by spaces; it answers each with a
    line of states.
    """

    command: Sequence[str] = ()
    seconds: float = 60.0
    """That it may take for an answer."""

    def __init__(self, brief: Brief, seed: int) -> None:
        super().__init__(brief, seed)
        self._program = LineProgram(self.command, self.seconds, "device")

    def respond(self, inputs: Floats) -> Any:
        """One line a step."""
        self._program.write(b"reset\n")
        rows = []
        for step, values in enumerate(inputs.tolist()):
            self._program.write(f"{' '.join(map(repr, values))}\n".encode())
            line = self._program.answer(f"at step {step}").decode(errors="replace")
            try:
                rows.append([float(cell) for cell in line.split()])
            except ValueError:
                raise LearnerFault(
                    f"step {step}: the device must answer numbers, got {line.strip()[:60]!r}"
                ) from None
        if len({len(row) for row in rows}) > 1:
            raise LearnerFault("the device has answered with different numbers of states")
        return rows

    def close(self) -> None:
        """Called when the run is over, however it ended."""
        self._program.close()
