"""Everything in this process: for objects that exist nowhere else, and for debugging."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.runs.blocks import Block
from quickstudy.runs.journal import Journal
from quickstudy.runs.messages import Broken, Finished, Message
from quickstudy.runs.work import TooLong, work


class SerialEngine:
    """Runs blocks one after the other, here. A learner that kills its process kills the driver as well.

    The time limit is an alarm, which only the main thread of a POSIX system has, and which waits for compiled code.
    """

    workers = 1

    def __init__(self) -> None:
        self._waiting: deque[Block] = deque()
        self._finishing = False
        self._journal: Journal | None = None

    def submit(self, block: Block) -> None:
        """Take a block."""
        self._waiting.append(block)

    def results(self) -> Iterator[Message]:
        """Run what was submitted."""
        try:
            while self._waiting and not self._finishing:
                block = self._waiting.popleft()
                self._journal = self._journal or Journal(block.folder)
                yield from work(block, self._journal, lambda: self._finishing, _around)
                yield Finished()
        except QuickstudyError as error:
            yield Broken(str(error), isinstance(error, UsageError))

    def finish(self) -> None:
        """Stop after the call in progress."""
        self._finishing = True

    def shutdown(self, now: bool = False) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None


@contextlib.contextmanager
def _around(limit: float | None) -> Iterator[None]:
    # What a learner prints must not get into the output of a command.
    with contextlib.redirect_stdout(sys.stderr), _alarm(limit):
        yield


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    possible = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if seconds is None or not possible:
        yield
        return

    def ring(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
