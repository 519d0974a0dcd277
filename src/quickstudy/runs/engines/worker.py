"""A worker: one bundle's work, in whichever process it is done, and the process that takes bundles
from standard input.

The driver decides when to stop, so interrupts are ignored here; and when the driver is gone, so is
the worker, once what it is writing is written. A learner's own output goes to standard error.
"""

from __future__ import annotations

import errno
import importlib
import os
import pathlib
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO, NamedTuple, NoReturn

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.registry import include
from quickstudy.base.text import described, whole_traceback
from quickstudy.base.user_code import user_code
from quickstudy.runs.engines.messages import (
    Begun,
    Broken,
    Bundle,
    Done,
    Finished,
    Message,
    Ready,
    message_line,
)
from quickstudy.runs.journal import Journal
from quickstudy.runs.plan import failed_record


class TooLong(BaseException):
    """A call has passed its limit. Not an Exception, so that no learner's own handler swallows
    it.
    """


class Fault(NamedTuple):
    """The reason why there is no outcome, and the traceback; both empty if there is one."""

    reason: str
    traceback: str = ""


_NONE = Fault("")


def work(
    bundle: Bundle,
    journal: Journal,
    stopping: Callable[[], bool],
    around: Callable[[float | None], AbstractContextManager[Any]] = nullcontext,
) -> Iterator[Message]:
    """Run a bundle's repetitions and write each one down when its call ends, giving messages on the
    way.

    stopping: asked before every call; True ends the bundle there. around: makes, from the limit, a
    context for each wait for an outcome; it may raise TooLong. What goes wrong in a call makes its
    repetitions failed; the next call goes on. Only the journal's own errors come out of here, and
    an interrupt that the user has sent.
    """
    module, _, function = bundle.examiner.partition(":")
    examine = getattr(importlib.import_module(module), function)
    with user_code():
        lanes = bundle.setting.resolve().learner.lanes(bundle.wanted)
    outcomes: Iterator[Any] | None = None
    done = 0
    while done < len(bundle.keys) and not stopping():
        if outcomes is None:
            left = bundle.repetitions[done:]
            more: dict[str, Any] = {"beside": bundle.beside[done:]} if bundle.beside else {}
            if bundle.measure_cost:
                more["measure_cost"] = True
            given = (
                bundle.setting,
                left,
                bundle.keep_learners,
                bundle.wanted,
                journal,
                bundle.keep_answers,
            )
            outcomes = iter(examine(*given, **more))
        yield Begun(bundle.keys[done : done + lanes])
        first, fault = done, _NONE
        while done < min(first + lanes, len(bundle.keys)):
            repetition, key = bundle.repetitions[done], bundle.keys[done]
            began, clock = time.time(), time.monotonic()
            if not fault.reason:
                outcome, fault = _next_outcome(
                    outcomes, key, around, bundle.limit_seconds, stopping
                )
            if fault.reason:
                seconds = time.monotonic() - clock
                setting = bundle.setting_of(done)
                record = failed_record(
                    setting, repetition, fault.reason, began, seconds, fault.traceback
                )
                journal.write(record)
            else:
                record = journal.save(outcome)
                # Fewer, where the device had too little memory: then the next call begins that much
                # sooner.
                lanes = min(lanes, record.where["lanes"])
            done += 1
            yield Done(key, record.status, _short(record.reason), time.monotonic() - clock)
        if (
            fault.reason
        ):  # an iterator that has raised gives nothing more: the next call begins a new one
            outcomes = None


def _next_outcome(
    outcomes: Iterator[Any],
    key: str,
    around: Callable[[float | None], AbstractContextManager[Any]],
    limit: float | None,
    stopping: Callable[[], bool],
) -> tuple[Any, Fault]:
    try:
        with user_code(), around(limit):
            outcome = next(outcomes)
    except StopIteration:
        return None, Fault("the examination ended before this repetition")
    except TooLong:
        return None, Fault(too_long(limit))
    except (
        BaseException
    ) as error:  # a measure at fault, or a learner that wants to leave, or to interrupt us
        if isinstance(error, KeyboardInterrupt) and stopping():
            raise
        return None, Fault(described(error), whole_traceback(error))
    if outcome.record.key != key:
        reason = (
            "another run was examined than was planned; do all workers have the same version of the"
            " code?"
        )
        return None, Fault(reason)
    return outcome, _NONE


def too_long(limit: float | None) -> str:
    """Why a repetition was stopped."""
    return f"took longer than {limit or 0:g} s"


def _short(reason: str) -> str:
    return reason.strip().partition("\n")[0][:300]


FINISH = "finish"
"""The command to stop after the call in progress."""

QUIT = "quit"
"""The command to leave when idle."""


class Desk:
    """What the worker and the thread that listens to the driver share."""

    def __init__(self) -> None:
        self.bundles: queue.SimpleQueue[tuple[tuple[str, ...], bytes] | None] = queue.SimpleQueue()
        self.finishing = threading.Event()
        self.journal: Journal | None = None

    def listen(self, commands: BinaryIO) -> None:
        """Take commands until the driver closes the line or dies."""
        while True:
            try:
                command = pickle.load(commands)
            except (EOFError, OSError, pickle.UnpicklingError):
                self.leave_now()
            if command == FINISH:
                self.finishing.set()
            elif command == QUIT:
                self.bundles.put(None)
                return  # what follows is the end of the line, and must not hurry the worker
            else:
                self.bundles.put(command)

    def leave_now(self) -> NoReturn:
        """End the process, but not in the middle of a line."""
        if self.journal is not None:
            self.journal.busy.acquire()
        os._exit(0)


def main() -> None:
    """Work until told to leave. Ends the process: a learner's leftover threads must not keep it."""
    _ignore_interrupts()
    commands, send = _take_streams()
    desk = Desk()
    threading.Thread(target=desk.listen, args=(commands,), daemon=True).start()
    try:
        send(Ready())
        while (assignment := desk.bundles.get()) is not None:
            _do(desk, assignment, send)
        if desk.journal is not None:
            desk.journal.close()
    except QuickstudyError as error:
        if getattr(error.__cause__, "errno", None) == errno.EFBIG:
            os._exit(1)  # a learner has limited the size of files, in this process only
        send(Broken(str(error), isinstance(error, UsageError)))
        os._exit(0)
    except BrokenPipeError:
        desk.leave_now()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    sys.stderr.flush()
    os._exit(0)


def _do(
    desk: Desk, assignment: tuple[tuple[str, ...], bytes], send: Callable[[Message], None]
) -> None:
    includes, packed = assignment
    for path in includes:  # first, since the bundle may hold things that the included files define
        include(path)
    bundle: Bundle = pickle.loads(packed)
    if desk.journal is None or desk.journal.folder != pathlib.Path(bundle.folder):
        if desk.journal is not None:
            desk.journal.close()
        desk.journal = Journal(bundle.folder)
    for message in work(bundle, desk.journal, desk.finishing.is_set):
        send(message)
    send(Finished())


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # the driver has held interrupts back until here
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _take_streams() -> tuple[BinaryIO, Callable[[Message], None]]:
    """Keep standard input and output for the driver; other code reads nothing and writes to
    standard error.
    """
    commands = os.fdopen(os.dup(0), "rb")
    line = os.fdopen(os.dup(1), "wb", buffering=0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)

    def send(message: Message) -> None:
        rest = memoryview(message_line(message))
        while rest:
            rest = rest[line.write(rest) :]

    return commands, send
