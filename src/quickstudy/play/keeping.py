"""The sessions of players, and how a session becomes a run of an ordinary results folder,
scored like any learner's.
"""

from __future__ import annotations

import pathlib
import re
import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from quickstudy.base import registries
from quickstudy.base.blocks import PERSON
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure, write_assignments
from quickstudy.base.record import OK, Record
from quickstudy.base.score_metadata import Legend
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.task import ExampleTask, WorldTask, spaces_of
from quickstudy.base.trace import Trace
from quickstudy.play.bytes import BytesSeat
from quickstudy.play.listener import ListenerSeat
from quickstudy.play.seat import Said, Seat, Shown
from quickstudy.play.spans import SpanSeat
from quickstudy.play.symbols import SymbolsSeat
from quickstudy.play.words import Game, WordsSeat
from quickstudy.runs import provenance
from quickstudy.runs.journal import Journal
from quickstudy.runs.merge import read_results
from quickstudy.runs.run_one import Outcome
from quickstudy.runs.run_spec import component, make_task, protocol_of, task_labels
from quickstudy.runs.scoring import find_measures, score_trace
from quickstudy.tasks.grammar.strings import StringTask
from quickstudy.tasks.span.item import Axis, SymbolItem

VERSION = 2
"""Of how people are examined; 2: an answer of words that cannot be one is not counted."""
PERSON_VERSION = 1
"""Of a person as a learner."""
_NAME = re.compile(r"[\w .-]{1,40}")


def is_name(name: str) -> bool:
    """Whether a person can be called so."""
    return bool(name.strip() and _NAME.fullmatch(name))


@dataclass(frozen=True)
class Invitation:
    """The task to play, as typed. amount: bytes, sequences, strings, episodes or rounds at
    most; None: as usual. ask: see `BytesSeat`. plain: words and symbols unchanged, no random
    letters. name: of the person.
    """

    task: str
    convention: str = "corrected"
    root: int = 0
    amount: int | None = None
    ask: str = ""
    plain: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if self.name and not is_name(self.name):
            raise UsageError(
                "--name must be 1 to 40 letters, digits, spaces, points or hyphens, got"
                f' "{self.name}"'
            )

    def seat(self, repetition: int = 0) -> Seat:
        """A fresh session. Raises UsageError for a task that cannot be played by a person."""
        task = make_task(self.task, self.convention)
        streams = Streams(self.root, task.id, repetition)
        if isinstance(task, StringTask):
            made: Any = SymbolsSeat
            given: dict[str, Any] = {"strings": self.amount, "plain": self.plain}
        elif getattr(task, "seat", "") == "listener":
            made, given = ListenerSeat, {"episodes": self.amount}
        elif isinstance(task, SymbolItem):
            made, given = SpanSeat, {"rounds": self.amount}
        elif isinstance(task, ExampleTask) and isinstance(spaces_of(task)[0], Tokens):
            made, given = (
                WordsSeat,
                {"game": configure("game", Game, {}, self.convention), "most": self.amount},
            )
            given["plain"] = self.plain
        elif isinstance(task, WorldTask) and not isinstance(task, Axis):
            made, given = BytesSeat, {"steps": self.amount, "ask": self.ask}
        else:
            raise UsageError(f"{task.id} {_why_not(task)}")
        if self.ask and made is not BytesSeat:
            raise UsageError(
                "--ask is for tasks of the curriculum; elsewhere, all that is hidden is asked for"
            )
        said = {name: value for name, value in given.items() if value is not None}
        return made(task, streams, **said)  # type: ignore[no-any-return]


def _why_not(task: Any) -> str:
    """Why a person cannot play a task, and what can be played."""
    if task.id.startswith("games/"):
        return "has no role of a listener with a given speaker; play games/listener"
    if isinstance(task, Axis):
        return (
            "is made of real numbers, or of thousands of rewards, and has no form for people; "
            "play an item of letters or words, as span/copy or span/lookup"
        )
    return (
        "is made of real numbers, step after step, and there is no seat for that; "
        "play a task of language, grammar or the curriculum, or games/listener"
    )


@dataclass
class Sitting:
    """A person in a seat, from the moment they sit down. folder: where the session is kept; None:
    nowhere. consent: what the person has agreed to, which their records repeat.

    Every session of a person on a task is a repetition of its own, or several, so that no person
    meets the same data twice. repetition: the first one. seconds: response times, from when a
    question was first shown to the answer that was accepted.
    """

    invitation: Invitation
    folder: pathlib.Path | None = None
    repetition: int = 0
    started: float = field(default_factory=time.time)
    seconds: list[float] = field(default_factory=list)
    consent: str = ""
    _since: float | None = None

    def __post_init__(self) -> None:
        self.seat = self.invitation.seat(self.repetition)

    def shown(self) -> Shown:
        """The present question. The response time runs from the first call."""
        if self._since is None:
            self._since = time.monotonic()
        return self.seat.shown()

    def answer(self, line: str) -> Said:
        """Take what was typed. Raises UsageError for what cannot be an answer; the response time
        then goes on.
        """
        now = time.monotonic()
        said = self.seat.answer(line)
        self.seconds.append(now - (now if self._since is None else self._since))
        self._since = None
        return said

    def traces(self) -> list[Trace]:
        """The session as traces, with the response time of every answer that was typed
        (`answer_seconds`).
        """
        found, seconds = [], np.round(self.seconds, 3)
        for own in self.seat.traces():
            count = int(own.facts.get("answers", len(seconds)))
            found.append(replace(own, arrays={**own.arrays, "answer_seconds": seconds[:count]}))
            seconds = seconds[count:]
        return found

    @classmethod
    def after_all(
        cls, invitation: Invitation, folder: pathlib.Path | None, taken: Collection[int] = ()
    ) -> Sitting:
        """The next session of that person: its first repetition is after all that are known. taken:
        repetitions that are being played.
        """
        known = set(taken)
        if folder is not None:
            own = learner_of(invitation.name)
            id = invitation.task.partition(":")[0]
            known |= {
                int(record.what["repetition"])
                for record in read_results(folder).records.values()
                if record.part("learner") == own and record.part("task").get("id") == id
                if record.what.get("root") == invitation.root
            }
        return cls(invitation, folder, max(known, default=-1) + 1)

    @property
    def repetitions(self) -> range:
        """Those that the session takes up."""
        return range(self.repetition, self.repetition + self.seat.runs)

    def keep(self) -> list[Record]:
        """Write the runs of the session down; none without a folder, or where nothing can be
        scored.
        """
        if self.folder is None or not self.seat.scored:
            return []
        with Journal(self.folder) as journal:
            return [journal.save(one) for one in self.outcomes()]

    def outcomes(self) -> list[Outcome]:
        """The runs of the session."""
        traces = self.traces()
        return [
            self._outcome(*one, len(traces)) for one in zip(traces, self.repetitions, strict=False)
        ]

    def _outcome(self, trace: Trace, repetition: int, runs: int) -> Outcome:
        seat, task, convention = self.seat, self.seat.task, self.invitation.convention
        measures = find_measures(seat.measures)
        label = write_assignments({"name": self.invitation.name}) if self.invitation.name else ""
        record = Record(
            what={
                "task": component(task),
                "learner": learner_of(self.invitation.name),
                "protocol": {"id": PERSON, "version": VERSION, "parameters": dict(seat.parameters)},
                "convention": convention,
                "root": self.invitation.root,
                "repetition": repetition,
            },
            status=OK,
            where={
                "versions": provenance.versions(),
                "machine": provenance.machine(),
                "device": PERSON,
                "lanes": 1,
                "started": round(self.started, 3),
                "seconds": round((time.time() - self.started) / runs, 3),
                **({"consent": self.consent} if self.consent else {}),
            },
            scores=score_trace(trace, measures, convention),
            labels={
                **task_labels(task, convention),
                "learner": f"{PERSON}:{label}" if label else PERSON,
                "role": PERSON,
            },
            legend=Legend.of(registries.protocol.get(protocol_of(task)), measures).as_facts(),
        )
        return Outcome(record, trace)


def learner_of(name: str) -> dict[str, Any]:
    """The identity of a person as a learner."""
    return {"id": PERSON, "version": PERSON_VERSION, "parameters": {"name": name} if name else {}}
