"""Settings of a device as a population for CHARC: which memories can be made of one device.

class Bench(Device):
searched = {"gain": (0.1, 2.0), "leak": (0.0, 1.0)}

def __init__(self, brief, seed, gain=1.0, leak=0.5): ...
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.learners.host import Hosted
from quickstudy.learners.reservoir_population import Genome, Probe


class DevicePopulation(Probe):
    """Devices of one class; a genome is one setting of each searched parameter, uniform in its
    range. One lane, as every host has.
    """

    def __init__(
        self,
        learner: Hosted,
        task: Any,
        streams: Sequence[Streams],
        rank: str,
        steps: int | None,
        as_coded: bool,
    ) -> None:
        self._learner = learner
        self._ranges = checked_ranges(learner)
        self._brief = Brief(*spaces_of(task), "squared", 1, 1)
        self._seed = streams[0].for_learner().integer("host")
        size = self._states({}, np.zeros((1, 1))).shape[1]
        super().__init__(size, task, streams, rank, steps, as_coded)

    def draw(self, rng: np.random.Generator) -> Genome:
        """One setting of each parameter."""
        return [np.array([rng.uniform(*bounds) for bounds in self._ranges.values()])]

    def behave(self, genomes: Sequence[Sequence[Genome]]) -> list[NDArray[np.float64]]:
        """Per lane (genome, 3): kernel rank, generalisation rank and memory capacity."""
        found = []
        for lane, own in enumerate(genomes):
            wide, narrow = (drive[:, :, 0] for drive in self.drives[lane])
            rows = []
            for genome in own:
                settings = dict(zip(self._ranges, genome[0].tolist(), strict=True))
                shown, close = (self._states(settings, drive)[None] for drive in (wide, narrow))
                rows.append(self.behaviours(shown, close, wide[None, :, 0])[0])
            found.append(np.array(rows))
        return found

    def errors(self, genomes: Sequence[Genome], name: str, streams: Streams) -> NDArray[np.float64]:
        """Tasks are placed by reservoirs that are simulated here."""
        raise UsageError(f"tasks={name}: tasks are placed by cores, not by a device; leave it out")

    def _states(self, settings: Mapping[str, float], inputs: NDArray[Any]) -> NDArray[np.float64]:
        """(time, state) of a device with such settings, which is closed afterwards."""
        device: Any = self._learner.make(self._brief, self._seed, **settings)
        with contextlib.closing(_Closing(device)):
            states = np.asarray(device.states(inputs), dtype=np.float64)
        if states.ndim != 2 or len(states) != len(inputs):
            raise LearnerFault(
                f"states must give a row for each of {len(inputs)} inputs, got {states.shape}"
            )
        return states


class _Closing:
    def __init__(self, device: Any) -> None:
        self.close = getattr(device, "close", lambda: None)


def checked_ranges(learner: Any) -> dict[str, tuple[float, float]]:
    """What a class names under `searched`: parameters with their least and greatest value; nothing
    where it names none.
    """
    ranges = getattr(getattr(learner, "declared", None), "searched", None) or {}
    for name, bounds in ranges.items():
        if len(bounds) != 2 or not bounds[0] < bounds[1]:
            raise UsageError(
                f"searched: {name} needs its least and its greatest value, got {bounds}"
            )
    return {name: (float(low), float(high)) for name, (low, high) in ranges.items()}
