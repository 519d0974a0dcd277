"""A ridge readout on states that exist already: of a recording, a device, or another program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Series
from quickstudy.learners.ridge import STRENGTHS, WITHOUT_VALIDATION, Sums

Floats = NDArray[np.float64]


class StateReadout(NamedTuple):
    """A ridge readout on states (step, state) in any units: they are standardised first.

    mean, spread: of the states that it was fitted to. weights: (state + 1, output), the bias last.
    """

    mean: Floats
    spread: Floats
    weights: Floats

    def __call__(self, states: NDArray[Any]) -> Floats:
        """(step, output)."""
        rows = (states - self.mean) / self.spread
        return np.asarray(rows @ self.weights[:-1] + self.weights[-1])


def fitted_readout(
    states: NDArray[Any],
    targets: Floats,
    held_back: tuple[NDArray[Any], Floats] | None = None,
) -> StateReadout:
    """A readout of states (step, state) that gives targets (step, output).

    held_back: states and targets by which its strength is chosen; without any it is 1e-6. Raises
    UsageError where every strength is lost in rounding.
    """
    spread = states.std(axis=0)
    scale = states.mean(axis=0), np.where(spread > 0, spread, 1.0)
    sums = Sums(states.shape[1], targets.shape[1])
    sums.add((states - scale[0]) / scale[1], targets)
    fits = sums.weights(STRENGTHS if held_back else (WITHOUT_VALIDATION,))
    lost = np.isnan(fits[:, -1, 0])
    if lost.all():
        raise UsageError(
            "the states are too much alike for a readout: every strength of the ridge is lost in"
            " rounding"
        )
    readouts = [StateReadout(*scale, fit) for fit in fits]
    if held_back is None:
        return readouts[0]
    wrong = [np.square(one(held_back[0]) - held_back[1]).sum() for one in readouts]
    return readouts[int(np.where(lost, np.inf, wrong).argmin())]


def read_out(features: NDArray[Any], series: Series) -> Floats:
    """(step, output): the answers to the test part of a series of a readout on features (step,
    feature) that are there already, standardised on the training part; its strength is chosen on
    the validation part, where there is one.
    """
    bounds = np.cumsum([series.washout, series.training, series.validation])
    train, held_back, test = (
        slice(*pair) for pair in zip(bounds, [*bounds[1:], len(features)], strict=True)
    )
    chosen = (features[held_back], series.targets[held_back]) if series.validation else None
    return fitted_readout(features[train], series.targets[train], chosen)(features[test])


class StandardisedReadout:
    """Collects states and targets, and fits a readout when it is first needed.

    Every sequence is (time, state) with targets (time, output), nan where nothing is asked.
    """

    def __init__(self) -> None:
        self._shown: list[tuple[Floats, Floats]] = []
        self._held_back: tuple[Floats, Floats] | None = None
        self._fitted: StateReadout | None = None

    @property
    def weights(self) -> int:
        """How many it has; 0 before anything was learned."""
        if not self._shown:
            return 0
        states, targets = self._shown[0]
        return int((states.shape[1] + 1) * targets.shape[1])

    def hold_back(self, items: Sequence[tuple[Floats, Floats]]) -> None:
        """Sequences by which the strength is chosen."""
        parts = [asked_rows(*item) for item in items]
        both = [np.concatenate(rows) for rows in zip(*parts, strict=True)]
        self._held_back, self._fitted = (both[0], both[1]), None

    def learn(self, states: Floats, targets: Floats) -> None:
        """One sequence more to fit to."""
        self._shown.append(asked_rows(states, targets))
        self._fitted = None

    def __call__(self, states: Floats) -> Floats:
        """(time, output)."""
        if self._fitted is None:
            rows = [np.concatenate(part) for part in zip(*self._shown, strict=True)]
            self._fitted = fitted_readout(rows[0], rows[1], self._held_back)
        return self._fitted(states)


def asked_rows(states: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """The rows that are asked about."""
    asked = ~np.isnan(targets).any(axis=1)
    return states[asked], targets[asked]
