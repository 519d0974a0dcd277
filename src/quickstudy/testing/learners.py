"""What every learner promises: for each of the ways in which it can be asked, on small material
made for it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from quickstudy.base import registries
from quickstudy.base.parameters import write_assignments
from quickstudy.base.task import ExampleTask, PureWorldTask, SeriesTask, WorldTask
from quickstudy.testing.acting import ActingChecks, RehearsingChecks
from quickstudy.testing.answering import LEARNS_NOTHING, AnsweringChecks
from quickstudy.testing.capability_checks import FaceChecks, faces_of
from quickstudy.testing.check_result import (
    Finding,
    describe,
    examine,
    examine_all,
    report_touched,
    under,
    undisturbed,
)
from quickstudy.testing.fixtures import CheckMaterial, Examinee
from quickstudy.testing.small_tasks import Echo, Levers, Partners, PureLevers

__all__ = ["LEARNS_NOTHING", "check_learner"]


def check_learner(
    learner: Any, task: Any = None, sequences: int = 200, seed: int = 0
) -> list[Finding]:
    """One finding per promise of a learner.

    learner: a name as on the command line, a `Choice`, a learner with `begin`, or a host class made
    by make(brief, seed). task: what it is checked on; unless given, small ones of our own, one for
    each way of being asked (symbols, real numbers, a world, episodes of a pure world), on which
    everything that learns should learn something. A task that a learner does not support is not a
    fault, and is reported. sequences: how many examples it is shown. Rules that never learn break
    the last promise, rightly. A registered learner, by its name alone, is taken in the form that
    its class names for this: `small`, parameters by which it takes seconds, and `checked_on`, a
    task, where it is bound to an alphabet.
    """
    learner, task = _small_form(learner, task)
    rooms = [_Room(*row) for row in (_ROOMS if task is None else _rooms_of(task))]
    with undisturbed() as watch:
        for room in rooms:
            room.visit(learner, sequences, seed)
        opened = [room for room in rooms if room.opened]
        if not opened:  # it can do nothing: what it was asked first is what it should have done
            begun = [room for room in rooms if room.findings]
            return begun[0].findings if begun else [Finding(False, "can be made", rooms[0].refusal)]
        findings = [finding for room in opened for finding in room.findings]
        findings.append(Finding(True, "its faces", _described(rooms)))
        findings.append(
            examine("touches no global randomness", lambda: report_touched(watch.touched))
        )
    return [*findings, *(finding for room in opened for finding in room.last)]


def _small_form(learner: Any, task: Any) -> tuple[Any, Any]:
    own = (
        registries.learner.get(learner)
        if isinstance(learner, str) and learner in registries.learner
        else None
    )
    if small := getattr(own, "small", {}):
        learner = f"{learner}:{write_assignments(small)}"
    if task is None and (bound := getattr(own, "checked_on", "")):
        task = registries.typed_task(bound)
    return learner, task


_ROOMS: Sequence[tuple[str, Any, str]] = (
    ("", Partners(), "answers"),
    ("real numbers", Echo(), "answers"),
    ("a world", Levers(), "acts"),
    ("episodes", PureLevers(), "rehearses"),
)
"""Title of the findings, what is asked about, and the face that it takes."""


def _rooms_of(task: Any) -> list[tuple[str, Any, str]]:
    """The ways in which a given task asks; anything but a task is found out when its questions
    are read.
    """
    answers = isinstance(task, ExampleTask | SeriesTask)
    acts, rehearses = isinstance(task, WorldTask), isinstance(task, PureWorldTask)
    faces = [
        name
        for name, there in (("answers", answers), ("acts", acts), ("rehearses", rehearses))
        if there
    ]
    return [(name if len(faces) > 1 else "", task, name) for name in faces or ["answers"]]


@dataclass
class _Room:
    """One way of being asked, and what was found of a learner there.

    refusal: why it could not even begin, or why it is not for being asked so. last: whether it
    learned.
    """

    title: str
    task: Any
    face: str
    findings: list[Finding] = field(default_factory=list)
    last: list[Finding] = field(default_factory=list)
    faces: list[str] = field(default_factory=list)
    refusal: str = ""

    @property
    def opened(self) -> bool:
        """Whether its promises were looked at, kept or not."""
        return bool(self.findings) and not self.refusal

    def visit(self, learner: Any, sequences: int, seed: int) -> None:
        """Check all promises there."""
        with contextlib.ExitStack() as opened:
            try:
                examinee = Examinee.of(learner, self.task)
                opened.callback(examinee.close)
                checks: Any = self._checks(examinee, sequences, seed)
            except Exception as error:  # a user's code, a user's task
                self.refusal = describe(error)
                return
            self._look(checks)

    def _look(self, checks: Any) -> None:
        self.findings = self._under(examine_all(checks.promises(), checks.doors))
        if not self.findings[0].ok:
            # A class that answers with one of symbols and real numbers need not know of the other:
            # it is seen when it is asked. What raises is then not meant so; of symbols, a wrong
            # shape or a nan is a fault.
            meant = not self.title and not checks.raised if self.face == "answers" else True
            self.refusal = "" if meant else self.findings[0].detail
            return
        further = ("steps", "shows", "keeps") if self.face == "answers" else ("keeps",)
        self.faces = [self.face, *(name for name in faces_of(checks.pupil) if name in further)]
        if isinstance(checks, AnsweringChecks):
            # What it does otherwise is compared with what it answers, which must be worth it.
            for table in (
                FaceChecks(checks).tables() if all(finding.ok for finding in self.findings) else ()
            ):
                self.findings += self._under(examine_all(table))
            self.last = self._under([checks.learns()])

    def _checks(self, examinee: Examinee, sequences: int, seed: int) -> Any:
        if self.face == "acts":
            return ActingChecks(examinee, self.task, seed)
        if self.face == "rehearses":
            return RehearsingChecks(examinee, self.task, seed)
        # A learner that is shown its material 200 times learns enough from little of it.
        few = max(8, min(sequences, 10 * sequences // examinee.passes))
        return AnsweringChecks(examinee, CheckMaterial.of(self.task, examinee.passes, few, seed))

    def _under(self, findings: list[Finding]) -> list[Finding]:
        return under(self.title, findings) if self.title else findings


def _described(rooms: Sequence[_Room]) -> str:
    """The findings, and the skipped checks, with the reason."""
    opened = [room for room in rooms if room.opened]
    found = dict.fromkeys(face for room in opened for face in room.faces)
    further = ("steps", "shows", "keeps") if "answers" in found else ("keeps",)
    missing = [face for face in further if face not in found]
    for room in rooms:
        if not room.opened:
            asked = (
                f"{room.face} with {room.title or 'symbols'}"
                if room.face == "answers" and len(rooms) > 1
                else room.face
            )
            missing.append(f"{asked} ({room.refusal})")
    return (", ".join(found) or "none that holds") + (
        f"; not found: {', '.join(missing)}" if missing else ""
    )
