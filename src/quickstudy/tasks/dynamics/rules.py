"""The baselines of every score of the family: the mean, the last value, a linear filter, and the
system itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.learner import Brief
from quickstudy.base.registries import control
from quickstudy.base.spaces import Reals
from quickstudy.base.stated import TaskFacts, stated
from quickstudy.tasks.controls import FixedRule

Floats = NDArray[np.float64]


def is_forecast(task: Any, inputs: int, outputs: int) -> bool:
    """Whether the series that is asked for is itself read, so many numbers a step; else its last
    value must be shown.
    """
    own = stated(task, TaskFacts)
    return own.forecast is not None and own.levels is None and inputs == outputs


@control("mean", version=1, role="control")
class Mean:
    """The mean of all answers it was shown: an NRMSE of about 1."""

    gives = (Reals,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._sum, self._count = np.zeros(brief.outputs.width), 0

    def learn(self, inputs: Floats, targets: Floats) -> None:
        """Add them up."""
        shown = targets[~np.isnan(targets).any(axis=1)]
        self._sum, self._count = self._sum + shown.sum(axis=0), self._count + len(shown)

    def predict(self, inputs: Floats) -> Floats:
        """The same everywhere."""
        return np.tile(self._sum / max(self._count, 1), (len(inputs), 1))

    def start(self, rows: int, capacity: int) -> None:
        """Nothing is kept in mind."""

    def step(self, state: None, inputs: Floats) -> tuple[None, Floats]:
        """The same again."""
        return None, self.predict(inputs)

    def rows(self, state: None, numbers: NDArray[Any]) -> None:
        """Nothing is kept in mind."""


@control("persistence", version=1, role="control")
class Persistence(FixedRule):
    """The target of the step before; where the series itself is read, the value just read. 0
    before there is one.

    Source: Wringe, Trefzer and Stepney, Table 9.
    """

    gives = (Reals,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._before: Floats | None = None  # of what it was shown, if it must be
        if not is_forecast(task, brief.inputs.width, brief.outputs.width):
            self.told = self._told

    def _told(self, answers: Floats) -> None:
        self._before = np.nan_to_num(answers)

    def predict(self, inputs: Floats) -> Floats:
        """One answer per row."""
        return inputs if self._before is None else self._before[: len(inputs)]

    def start(self, rows: int, capacity: int) -> None:
        """Nothing is kept in mind."""

    def step(self, state: None, inputs: Floats) -> tuple[None, Floats]:
        """The value just read."""
        return None, inputs

    def rows(self, state: None, numbers: NDArray[Any]) -> None:
        """Nothing is kept in mind."""


@control("linear", version=1, role="control")
class Linear:
    """A linear filter of the last inputs with a constant, by least squares: FIR, or autoregression
    where the series itself is read. As many taps as the task declares: twice the order of a NARMA
    system, 2n for n oscillators, 11 for the channel, 10 elsewhere. Inputs from before the first are
    0.
    """

    reads = gives = (Reals,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._taps, self._width = int(stated(task, TaskFacts).taps), brief.inputs.width
        self._rows: list[Floats] = []
        self._answers: list[Floats] = []
        self._weights: Floats | None = np.zeros((self._taps * self._width + 1, brief.outputs.width))

    @property
    def parameters(self) -> int:
        """Of its filter."""
        return int(self._fitted().size)

    def learn(self, inputs: Floats, targets: Floats) -> None:
        """Keep what was read before every answer."""
        shown = ~np.isnan(targets).any(axis=1)
        self._rows.append(self._windows(inputs)[shown])
        self._answers.append(targets[shown])
        self._weights = None

    def predict(self, inputs: Floats) -> Floats:
        """One answer per row."""
        return self._windows(inputs) @ self._fitted()

    def start(self, rows: int, capacity: int) -> Floats:
        """The last inputs of every row, the latest first."""
        return np.zeros((rows, self._taps, self._width))

    def step(self, state: Floats, inputs: Floats) -> tuple[Floats, Floats]:
        """One more is read, one is forgotten."""
        state = np.concatenate([inputs[:, None], state[:, :-1]], axis=1)
        flat = state.reshape(len(state), -1)
        return state, flat @ self._fitted()[:-1] + self._fitted()[-1]

    def rows(self, state: Floats, numbers: NDArray[Any]) -> Floats:
        """These rows."""
        return np.asarray(state[numbers])

    def _windows(self, inputs: Floats) -> Floats:
        """(time, taps x width + 1): the last inputs, the latest first, and 1."""
        padded = np.concatenate([np.zeros((self._taps - 1, self._width)), inputs])
        places = np.arange(len(inputs))[:, None] + np.arange(self._taps)[::-1]
        return np.concatenate(
            [padded[places].reshape(len(inputs), -1), np.ones((len(inputs), 1))], axis=1
        )

    def _fitted(self) -> Floats:
        if self._weights is None:
            # Not by normal equations: squared, the condition of a few sines is beyond all digits.
            self._weights = np.linalg.lstsq(
                np.concatenate(self._rows), np.concatenate(self._answers), rcond=None
            )[0]
        return np.asarray(self._weights)


@control("exact-state", version=1, role="oracle")
class ExactState(FixedRule):
    """The system itself, from what it is driven by or, where that is read, from its state. Keeps
    nine decimals.
    """

    reads = gives = (Reals,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        exact = stated(task, TaskFacts).exact
        self._exact = exact or task.response
        if exact is not None:  # the state is what is read: nothing must be kept in mind
            self.start, self.rows = (lambda rows, capacity: None), (lambda state, numbers: None)
            self.step = lambda state, inputs: (None, self.predict(inputs))

    def predict(self, inputs: Floats) -> Floats:
        """One answer per row."""
        return np.asarray(self._exact(inputs)).round(9)


@control("filtered-state", version=1, role="oracle")
class FilteredState(ExactState):
    """The system itself, from its state as a filter estimates it from noisy values. Keeps nine
    decimals.
    """


@control("slicer", version=1, role="control")
class Slicer(FixedRule):
    """What the channel gave out `lag` steps ago, without memory of anything else; 0 before there is
    one.
    """

    reads = gives = (Reals,)

    def __init__(self, task: Any, brief: Brief, seed: int) -> None:
        self._lag, self._offset = task.lag, task.offset

    def predict(self, inputs: Floats) -> Floats:
        """One answer per row."""
        return np.concatenate([np.zeros((self._lag, 1)), inputs - self._offset])[: len(inputs)]
