"""What workers tell the driver: small plain messages. Results never travel; workers write them down themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ready:
    """A worker has started and can be given work."""


@dataclass(frozen=True)
class Begun:
    """A call has begun; keys: its repetitions, which run side by side."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class Done:
    """A repetition is in the journal. seconds: how long we waited for it (a call's first one carries the call)."""

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
    """A worker has nothing more to do for its block."""


@dataclass(frozen=True)
class Broken:
    """Nothing more can be done (full disk, folder gone): the run ends with this line. usage: the user's mistake."""

    reason: str
    usage: bool = False


@dataclass(frozen=True)
class Tick:
    """Some time has passed."""


Message = Ready | Begun | Done | Lost | Finished | Broken | Tick
