"""A worker process: takes blocks from its standard input, writes its own journal, tells the driver what happens.

The driver decides when to stop, so interrupts are ignored here; and when the driver is gone, so is the worker, once
what it is writing is written. Whatever a learner prints goes to standard error.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import BinaryIO, NoReturn

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.registry import include
from quickstudy.runs.blocks import Block
from quickstudy.runs.journal import Journal
from quickstudy.runs.messages import Broken, Finished, Message, Ready
from quickstudy.runs.work import work

FINISH = "finish"
"""The command to stop after the call in progress."""

QUIT = "quit"
"""The command to leave when idle."""


class Desk:
    """What the worker and the thread that listens to the driver share."""

    def __init__(self) -> None:
        self.blocks: queue.SimpleQueue[tuple[tuple[str, ...], bytes] | None] = queue.SimpleQueue()
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
                self.blocks.put(None)
                return  # what follows is the end of the line, and must not hurry the worker
            else:
                self.blocks.put(command)

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
        while (assignment := desk.blocks.get()) is not None:
            _do(desk, assignment, send)
        if desk.journal is not None:
            desk.journal.close()
    except QuickstudyError as error:
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


def _do(desk: Desk, assignment: tuple[tuple[str, ...], bytes], send: Callable[[Message], None]) -> None:
    includes, packed = assignment
    for path in includes:  # first, since the block may hold things that the included files define
        include(path)
    block: Block = pickle.loads(packed)
    if desk.journal is None:
        desk.journal = Journal(block.folder)
    for message in work(block, desk.journal, desk.finishing.is_set):
        send(message)
    send(Finished())


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):  # the driver has held interrupts back until here
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _take_streams() -> tuple[BinaryIO, Callable[[Message], None]]:
    """Keep standard input and output for the driver's line, and give everybody else nothing and standard error."""
    commands = os.fdopen(os.dup(0), "rb")
    line = os.fdopen(os.dup(1), "wb", buffering=0)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)

    def send(message: Message) -> None:
        rest = memoryview(pickle.dumps(message))
        while rest:
            rest = rest[line.write(rest) :]

    return commands, send
