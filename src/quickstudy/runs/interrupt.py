"""Ctrl-C once: finish what is running, save, stop. Twice: stop now."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """While this context is open, the first interrupt calls `finish` and is noted; the next is a KeyboardInterrupt.

    Outside the main thread, where Python takes no signals, it does nothing.
    """

    def __init__(self, finish: Callable[[], None]) -> None:
        self._finish = finish
        self._before: Any = None
        self.came = False

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if self.came:
            raise KeyboardInterrupt
        self.came = True
        self._finish()
