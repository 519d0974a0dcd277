"""Engines: who does the work. In this process, or in worker processes on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from quickstudy.base.errors import UsageError
from quickstudy.runs.blocks import Block
from quickstudy.runs.messages import Message


class Engine(Protocol):
    """Runs blocks. Workers write the results down themselves; the driver only hears what happened."""

    workers: int

    def submit(self, block: Block) -> None:
        """Take a block; it is run once `results` is asked for."""

    def results(self) -> Iterator[Message]:
        """Messages as they come, until all that was submitted is done (or `finish` was called)."""

    def finish(self) -> None:
        """Let calls in progress end and start no others. Safe in a signal handler."""

    def shutdown(self, now: bool = False) -> None:
        """Let the workers go: when they are idle, or now, whatever they do."""


def choose_engine(workers: int) -> Engine:
    """0: in this process, which can hold objects that have no name in others; else that many worker processes."""
    if workers < 0:
        raise UsageError(f"workers must be at least 0, got {workers}")
    if workers == 0:
        from quickstudy.runs.engines.serial import SerialEngine

        return SerialEngine()
    from quickstudy.runs.engines.process import ProcessEngine

    return ProcessEngine(workers)
