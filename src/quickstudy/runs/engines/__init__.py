"""Engines: who does the work. `--engine NAME`, or `--engine NAME://ADDRESS?parameter=value`.

An engine is one file with two classes. The first holds what the user typed: a frozen dataclass
whose fields are the parameters of the engine, with ranges as for any other component
(`quickstudy.base.parameters`). It is registered by its decorator and found by its name, here, in an
installed package (entry point group `quickstudy`) or in a file given by `--include`:

    @engine("mine", version=1)
    @dataclass(frozen=True)
    class Mine:
        # its docstring: what it does, as `quickstudy show mine` prints it

        address: str = parameter("")            # what stands between :// and ?, if anything may
        workers: int | None = parameter(None, at_least=1)     # what --workers gives
        here: ClassVar[bool] = False

        def planned_workers(self) -> int: ...   # for --dry-run; makes no connection and starts
        nothing def open(self) -> Engine: ...           # imports what it needs, and checks that it
        answers

`here` is True for an engine that runs everything in the driver's own process: only there can it run
objects that were defined in a script or notebook. `version` is 1 for ever: no number depends on an
engine.

`open` gives the second one, the engine itself (`Engine` below). `execute` opens it, submits bundles
of work (`quickstudy.runs.engines.messages.Bundle`), and reads messages from `results` until there
are no more. These rules make it safe:

- `open` raises UsageError within ten seconds if the engine cannot work: MissingExtra for a library
  that is not installed, else what is wrong, the value and what to do.
- A worker runs a bundle by `quickstudy.runs.engines.worker.work(bundle, journal, stopping)`, which
  writes every result into a journal of its own and yields the messages for the driver. It writes
  into `bundle.folder`, which must be the same folder on the worker's machine.
- An engine yields `Begun` and `Done` for every call and repetition, and `Lost` with the reason for
  repetitions whose worker is gone: the driver records those as failed. It may yield `Tick` at any
  time, with the number of workers if that can change, and `Note` with a line for the user. `Broken`
  ends the run.
- A process that has imported a user's file (`bundle.room`) runs no bundle with another room.
- A call that takes longer than `bundle.limit_seconds` is stopped, and its keys are `Lost`.
- Running a bundle twice is harmless: records are merged by key. `bundle.without(keys)` is what is
  left of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Protocol
from urllib.parse import parse_qsl

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure
from quickstudy.runs.engines.messages import (
    Begun,
    Broken,
    Bundle,
    Done,
    Finished,
    Lost,
    Message,
    Note,
    Ready,
    Tick,
)

__all__ = [
    "Begun",
    "Broken",
    "Bundle",
    "Done",
    "Engine",
    "EngineSpec",
    "Finished",
    "Lost",
    "Message",
    "Note",
    "Ready",
    "Tick",
    "choose_engine",
]


class Engine(Protocol):
    """Runs bundles. Workers write the results down themselves; the driver only hears what
    happened.

    workers: how many of them share the work. on_gpu: they compute on a GPU, so that settings which
    share a program are put into one bundle.
    """

    workers: int
    on_gpu: bool

    def submit(self, bundle: Bundle) -> None:
        """Take a bundle; it is run once `results` is asked for."""

    def results(self) -> Iterator[Message]:
        """Messages as they come, until all that was submitted is done (or `finish` was called)."""

    def finish(self) -> None:
        """Let calls in progress end and start no others. Safe in a signal handler."""

    def shutdown(self, now: bool = False) -> None:
        """Let the workers go: when they are idle, or at once."""


class EngineSpec(Protocol):
    """An engine as the user has typed it: a frozen dataclass of its parameters."""

    id: ClassVar[str]
    here: ClassVar[bool]

    def planned_workers(self) -> int:
        """How many workers it will have, or is expected to have, without starting it."""

    def open(self) -> Engine:
        """The engine itself. Raises UsageError if it cannot work."""


def choose_engine(workers: int | None = None, engine: str | EngineSpec | None = None) -> EngineSpec:
    """The engine that a user has named, with its parameters checked; nothing is started.

    Parameters
    ----------
    workers:
        The number of worker processes; 0 is the engine `serial`; None leaves it to the engine.
    engine:
        `process` (the default), `serial`, or any other registered engine, as
        `NAME://ADDRESS?parameter=value&parameter=value`.

    Raises UsageError for an engine that does not exist, with the nearest name, and for a parameter
    or number of workers that cannot be.

    """
    if workers is not None and (
        not isinstance(workers, int) or isinstance(workers, bool) or workers < 0
    ):
        raise UsageError(
            f"workers must be a whole number from 0, or None for one per core, got {workers!r}"
        )
    if engine is None:
        engine = "serial" if workers == 0 else "process"
    if not isinstance(engine, str):
        if workers is not None:
            raise UsageError(f"give the workers to the engine itself, not workers={workers}")
        return engine
    name, given = parse_engine(engine)
    kind = registries.engine.get(name)
    if workers is not None and not (kind.here and workers == 0):
        if kind.here:
            raise UsageError(f"the engine {name} has no workers; leave out workers={workers}")
        if "workers" in given:
            raise UsageError(f"{engine} and workers={workers}: give the number of workers once")
        given["workers"] = workers
    spec: EngineSpec = configure(f"engine {name}", kind, given)
    return spec


def parse_engine(text: str) -> tuple[str, dict[str, Any]]:
    """The name of an engine and its parameters.

    >>> parse_engine("dask://127.0.0.1:8786?workers=2")
    ('dask', {'address': '127.0.0.1:8786', 'workers': '2'})
    >>> parse_engine("process")
    ('process', {})
    """
    name, _, rest = text.partition("?")
    name, _, address = name.partition("://")
    try:
        pairs = parse_qsl(rest, keep_blank_values=True, strict_parsing=bool(rest))
    except ValueError as error:
        raise UsageError(
            f'engine "{text}": what follows ? must be parameter=value&parameter=value'
        ) from error
    given: dict[str, Any] = {"address": address} if address else {}
    for parameter, value in pairs:
        if parameter in given:
            raise UsageError(f'engine "{text}": {parameter} is given twice')
        given[parameter] = value
    return name, given
