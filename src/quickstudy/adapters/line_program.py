"""A program that answers lines by lines, and is given a limited time for each of them."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from quickstudy.base.errors import LearnerFault, UsageError

LONGEST_LINE = 1 << 26
"""Bytes of an answer that are read."""


class LineProgram:
    """A program with its pipes.

    command: its words. seconds: that it may take for an answer. named: what messages call it.
    """

    def __init__(self, command: Sequence[str], seconds: float, named: str = "learner") -> None:
        self.seconds, self._named, self._rest = seconds, named, b""
        self._process = started(command, pipes=True)
        pipes: Any = self._process.stdin, self._process.stdout
        self._in, self._out = (pipe.fileno() for pipe in pipes)
        os.set_blocking(self._in, False)
        self._reading, self._writing = selectors.DefaultSelector(), selectors.DefaultSelector()
        self._reading.register(self._out, selectors.EVENT_READ)
        self._writing.register(self._in, selectors.EVENT_WRITE)

    def write(self, line: bytes) -> None:
        """Raises LearnerFault if it does not read any more, or not in time."""
        until, rest = time.monotonic() + self.seconds, memoryview(line)
        try:
            while rest:
                self._wait(self._writing, until, "read")
                rest = rest[os.write(self._in, rest) :]
        except OSError as error:
            raise LearnerFault(
                f"the {self._named} does not read any more: {error.strerror}"
            ) from error

    def answer(self, when: str = "when it had to reply") -> bytes:
        """The next line, without its end. Raises LearnerFault if none comes in time."""
        until = time.monotonic() + self.seconds
        pieces = [self._rest]
        size = len(self._rest)
        while b"\n" not in pieces[-1]:
            self._wait(self._reading, until, "reply")
            piece = os.read(self._out, 1 << 16)
            size += len(piece)
            if not piece or size > LONGEST_LINE:
                raise LearnerFault(self._ending(when, size))
            pieces.append(piece)
        line, _, self._rest = b"".join(pieces).partition(b"\n")
        return line

    def _wait(self, selector: selectors.BaseSelector, until: float, what: str) -> None:
        left = until - time.monotonic()
        # One that writes without a newline is always ready: the time counts, too.
        if left <= 0 or not selector.select(left):
            raise LearnerFault(
                f"the {self._named} took more than {self.seconds:g} seconds to {what}"
            )

    def _ending(self, when: str, size: int) -> str:
        if size > LONGEST_LINE:
            return f"the {self._named} wrote {size:,} bytes without the end of a line"
        try:
            return f"the {self._named} ended with status {self._process.wait(1)} {when}"
        except subprocess.TimeoutExpired:
            return f"the {self._named} closed its output {when}"

    def close(self) -> None:
        """Close its input, and wait for it a moment."""
        self._reading.close()
        self._writing.close()
        ended(self._process)


def started(command: Sequence[str], pipes: bool = False) -> subprocess.Popen[bytes]:
    """A program that runs. Raises UsageError if it cannot be started."""
    ways: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE} if pipes else {}
    try:
        return subprocess.Popen(command, **ways)
    except (OSError, IndexError) as error:
        reason = getattr(error, "strerror", None) or "it has no words"
        raise UsageError(f"cannot start {' '.join(command)}: {reason}") from error


def ended(process: subprocess.Popen[Any] | None) -> None:
    """Wait for a program that has nothing more to do; one that does not end by itself is killed."""
    if process is None:
        return
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
