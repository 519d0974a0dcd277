"""A core with a way of training it: the learner behind every core's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

from quickstudy.base.learner import Brief, Cost, Pupil
from quickstudy.base.seeds import Streams
from quickstudy.cores.core import CoreSpec


class Training(Protocol):
    """Frozen parameters of a way of training.

    programs: programs compiled for one task. passes: how often the material is shown. batch: examples per update. One
    that learns from whole examples only, even where nothing but a readout is trained, says `by_question = False`.
    """

    programs: int
    passes: int
    batch: int

    def check_core(self, core: CoreSpec) -> None:
        """Raise UsageError if this way of training makes no sense for the core."""

    def begin(self, core: CoreSpec, brief: Brief, streams: Sequence[Streams]) -> Pupil:
        """A fresh pupil."""


@dataclass(frozen=True)
class Trained:
    """A core and its training, as one learner."""

    core: Any
    training: Any

    @property
    def passes(self) -> int:
        """How often the material is shown."""
        return int(self.training.passes)

    @property
    def batch(self) -> int:
        """Examples per update: between two updates nothing changes, so nothing is examined. 1 where an update takes the
        whole lesson (0), which is not known here.
        """
        return int(self.training.batch) or 1

    @property
    def reads_out(self) -> bool:
        """Whether only a readout is trained, question by question."""
        return bool(self.core.frozen) and bool(getattr(self.training, "by_question", True))

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Pupil:
        """A fresh pupil with one lane per stream."""
        if getattr(self.core, "precision", "float32") == "float64":
            return DoublePupil(lambda: self.training.begin(self.core, brief, streams))
        return self.training.begin(self.core, brief, streams)  # type: ignore[no-any-return]


class DoublePupil:
    """A pupil that lives where float64 is float64: from its beginning, and in every call."""

    lanes: int

    def __init__(self, begin: Callable[[], Any]) -> None:
        from quickstudy.gateway import double

        self._double = double
        with double():
            self._pupil = begin()

    def cost(self) -> Sequence[Cost]:
        """As the pupil."""
        return self._pupil.cost()  # type: ignore[no-any-return]

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._pupil, name)
        if not callable(found):
            return found

        @wraps(found)
        def called(*given: Any) -> Any:
            with self._double():
                return found(*given)

        return called
