"""A table of actions: what trial and error alone can do where the right action depends on the
observation.
"""

from __future__ import annotations

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.registries import learner
from quickstudy.base.spaces import Tokens


@learner("tabular", version=1)
class Tabular:
    """Tries the actions in turn for every observation, and keeps one for as long as it is
    rewarded.
    """

    checked_on = "span/mapping"

    def __init__(self, brief: Brief, seed: int) -> None:
        if not (isinstance(brief.inputs, Tokens) and isinstance(brief.outputs, Tokens)):
            raise NotApplicable("it reads symbols and gives symbols")
        self._count = brief.outputs.width
        self._table = [0] * brief.inputs.width
        self._last: int | None = None

    def act(self, observation: int, reward: float, first: bool, learning: bool = True) -> int:
        """The current action for the observation; one that was not rewarded is replaced by the
        next.
        """
        if learning and not first and self._last is not None and reward <= 0:
            self._table[self._last] = (self._table[self._last] + 1) % self._count
        self._last = observation if learning else None
        return self._table[observation]
