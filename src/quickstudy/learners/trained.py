"""A core with a way of training it: the learner behind every core's name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from quickstudy.base.learner import Brief, Pupil
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
        return self.training.begin(self.core, brief, streams)  # type: ignore[no-any-return]
