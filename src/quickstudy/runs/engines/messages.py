"""What travels between the driver and its workers: bundles of work on the way out, messages on the
way back. Both have a form as JSON, so that no engine has to send pickled objects over a network.

Results never travel this way: workers write them into the results folder themselves.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from quickstudy.runs.plan import EXAMINER
from quickstudy.runs.run_spec import Setting


@dataclass(frozen=True)
class Bundle:
    """Repetitions of one setting, or of several that may run side by side, and their keys. Complete
    in itself: any machine could run it.

    folder: where results are written, absolute. wanted: how many repetitions of the setting the
    plan has, in all its bundles and found ones included. limit_seconds: how long one call may take.
    room: the modules from outside this package that it needs; a process that has imported them runs
    nothing else, so that what they do to it changes no other number. apart: it must not run in the
    driver's own process. beside: the setting of each repetition, where they are several; they then
    differ only in what changes no program. seconds: how long all of it is estimated to take.
    """

    setting: Setting
    repetitions: tuple[int, ...]
    keys: tuple[str, ...]
    folder: str
    wanted: int = 1
    includes: tuple[str, ...] = ()
    examiner: str = EXAMINER
    keep_learners: bool = False
    limit_seconds: float | None = None
    room: tuple[str, ...] = ()
    apart: bool = False
    keep_answers: bool = False
    beside: tuple[Setting, ...] = ()
    seconds: float = 0.0
    measure_cost: bool = False

    def without(self, keys: Collection[str]) -> Bundle:
        """The same bundle, less some repetitions."""
        left = [place for place, key in enumerate(self.keys) if key not in keys]
        return replace(
            self,
            repetitions=tuple(self.repetitions[place] for place in left),
            keys=tuple(self.keys[place] for place in left),
            beside=tuple(self.beside[place] for place in left if self.beside),
            seconds=self.seconds * len(left) / max(1, len(self.keys)),
        )

    def setting_of(self, place: int) -> Setting:
        """Of one of its repetitions."""
        return self.beside[place] if self.beside else self.setting

    def as_json(self) -> str:
        """The bundle as one line of JSON. Raises TypeError for a setting with an examiner of its
        own, which only an engine on this machine can run.
        """
        if any(type(one) is not Setting for one in (self.setting, *self.beside)):
            raise TypeError(f"{type(self.setting).__name__} has no form as JSON")
        facts = {one.name: getattr(self, one.name) for one in fields(self)}
        facts["setting"] = self.setting.__getstate__()
        facts["beside"] = [one.__getstate__() for one in self.beside]
        return json.dumps(facts, default=dict)

    @classmethod
    def from_json(cls, text: str) -> Bundle:
        """The inverse of `as_json`."""
        facts: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in json.loads(text).items()
        }
        facts["setting"] = Setting(**facts["setting"])
        facts["beside"] = tuple(Setting(**one) for one in facts["beside"])
        return cls(**facts)


@dataclass(frozen=True)
class Ready:
    """A worker has started and can be given work."""


@dataclass(frozen=True)
class Begun:
    """A call has begun; keys: its repetitions, which run side by side."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """A repetition is in the journal. seconds: how long we waited for it (a call's first one
    carries the call).
    """

    key: str
    status: str
    reason: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Lost:
    """The repetitions of a call died with their worker: the driver writes them down as failed."""

    keys: tuple[str, ...]
    reason: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Finished:
    """A worker has nothing more to do for its bundle."""


@dataclass(frozen=True)
class Broken:
    """Nothing more can be done (full disk, folder gone): the run ends with this line. usage: the
    user's mistake.
    """

    reason: str
    usage: bool = False


@dataclass(frozen=True)
class Tick:
    """Some time has passed. workers: how many there are now, if that can change."""

    workers: int | None = None


@dataclass(frozen=True)
class Note:
    """A line for the user: the address of a dashboard, a worker that has left."""

    text: str


Message = Ready | Begun | Done | Lost | Finished | Broken | Tick | Note


LONGEST_MESSAGE = 1 << 20
"""Bytes of a message from a worker: a call has at most a hundred keys."""
_KINDS = {kind.__name__: kind for kind in (Ready, Begun, Done, Finished, Broken)}
"""What a worker may send."""
RELAYED: dict[str, Any] = {**_KINDS, "Lost": Lost}
"""What a machine may send that watches over a worker of its own."""
_READ_AS = {"str": str, "bool": bool, "float": float, "tuple[str, ...]": list}
"""Types of its fields as JSON has them."""


def message_line(message: Message) -> bytes:
    """A message as a line of JSON. A learner can write into the pipe too: JSON runs no code."""
    return json.dumps([type(message).__name__, vars(message)]).encode() + b"\n"


def read_message(line: bytes | str, kinds: Mapping[str, Any] = _KINDS) -> Message:
    """The inverse of `message_line`. Raises ValueError for anything but a message of these
    kinds.
    """
    try:
        name, facts = json.loads(line)
        kind = kinds[name]
        if any(not isinstance(facts[one.name], _READ_AS[str(one.type)]) for one in fields(kind)):
            raise TypeError(name)
        message: Message = kind(**facts)
        if isinstance(message, Begun | Lost):
            return replace(message, keys=tuple(map(str, message.keys)))
        return message
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError("not a message") from error
