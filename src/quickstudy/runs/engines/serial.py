"""Work in this process: for objects that exist nowhere else, and for debugging."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from quickstudy.base.errors import QuickstudyError, UsageError
from quickstudy.base.hardware import has_gpu, is_crowded
from quickstudy.base.registries import engine
from quickstudy.runs.engines.messages import Broken, Bundle, Finished, Message
from quickstudy.runs.engines.process import ProcessEngine
from quickstudy.runs.engines.worker import TooLong, work
from quickstudy.runs.journal import Journal


@engine("serial", version=1)
@dataclass(frozen=True)
class Serial:
    """In this process, one run after the other: for objects that exist nowhere else, and for
    debugging.
    """

    here: ClassVar[bool] = True

    def planned_workers(self) -> int:
        """One: the driver itself."""
        return 1

    def open(self) -> SerialEngine:
        """The engine."""
        return SerialEngine()


class SerialEngine:
    """Runs bundles one after the other, here. A learner that kills its process kills the driver as
    well.

    Bundles that must be apart, because this process has imported a user's file that is not theirs,
    come first and are run by one worker process at a time. The time limit is an alarm, which only
    the main thread of a POSIX system has, and which waits for compiled code.
    """

    workers = 1

    def __init__(self) -> None:
        self.on_gpu = has_gpu()
        self._waiting: deque[Bundle] = deque()
        self._apart = ProcessEngine(1)
        self._finishing = False
        self._journal: Journal | None = None

    def submit(self, bundle: Bundle) -> None:
        """Take a bundle."""
        if bundle.apart:
            self._apart.submit(bundle)
        else:
            self._waiting.append(bundle)

    def results(self) -> Iterator[Message]:
        """Run what was submitted."""
        yield from self._apart.results()
        self._apart.shutdown()  # it may hold the memory of a GPU
        try:
            while self._waiting and not self._finishing:
                bundle = self._waiting.popleft()
                if is_crowded(os.getpid()) and "jax" in sys.modules:
                    sys.modules["jax"].clear_caches()
                self._journal = self._journal or Journal(bundle.folder)
                yield from work(bundle, self._journal, lambda: self._finishing, _alarm)
                yield Finished()
        except QuickstudyError as error:
            yield Broken(str(error), isinstance(error, UsageError))

    def finish(self) -> None:
        """Stop after the call in progress."""
        self._finishing = True
        self._apart.finish()

    def shutdown(self, now: bool = False) -> None:
        """Close the journal, and let the worker go."""
        self._apart.shutdown(now)
        if self._journal is not None:
            self._journal.close()
            self._journal = None


@contextlib.contextmanager
def _alarm(seconds: float | None) -> Iterator[None]:
    possible = (
        hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    )
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
