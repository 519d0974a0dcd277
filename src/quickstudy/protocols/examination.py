"""What every protocol gives back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief, Keeping, Pupil, Snapshot, face
from quickstudy.base.trace import Trace


@dataclass(frozen=True)
class Examination:
    """One trace per lane, the pupil as it stands at the end, and what it was told."""

    traces: Sequence[Trace]
    pupil: Pupil
    brief: Brief

    def snapshots(self) -> Iterator[Snapshot]:
        """The trained learner of every lane, as a pupil of one lane would give it; none if it cannot be kept."""
        try:
            whole = face(self.pupil, Keeping).snapshot()
        except NotApplicable:
            return
        facts = {**whole.facts, "brief": self.brief.as_facts()}
        for lane in range(self.pupil.lanes):
            yield Snapshot({name: array[lane : lane + 1] for name, array in whole.arrays.items()}, facts)
