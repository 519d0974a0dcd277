"""What is seen while a run goes on: nothing, plain lines, or bars. Each is a function of the events of `execute`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

from quickstudy.base.record import FAILED
from quickstudy.runs.execute import Event, Execution, Report, Started, Stopping
from quickstudy.runs.messages import Done
from quickstudy.runs.plan import Cell
from quickstudy.runs.remaining import Remaining, duration

LINE_SECONDS = 5.0
STOPPING = "stopping after the runs in progress; Ctrl-C again stops now"


def choose_progress(*, quiet: bool = False, stream: TextIO | None = None) -> Report:
    """Only what goes wrong, bars on a terminal, or plain lines into a file or a pipe. On standard error unless said
    otherwise.
    """
    stream = stream or sys.stderr
    if quiet:
        return FaultsOnly(stream)
    return RichProgress(stream) if stream.isatty() else PlainProgress(stream)


def silent(event: Event) -> None:
    """Show nothing."""


class Tally:
    """The counts that every kind of progress shows, and the first reason of each learner's failures on each task."""

    def __init__(self) -> None:
        self.cells: dict[str, Cell] = {}
        self.remaining = Remaining(1)
        self.done = self.failed = 0
        self._told: set[tuple[str, str]] = set()

    def start(self, event: Started) -> None:
        """A run begins."""
        self.cells = {cell.key: cell for cell in event.cells}
        self.remaining = Remaining.of(event.cells, event.workers)

    def count(self, event: Done) -> str:
        """One more is done. Gives a line about a failure, the first time for its task and learner."""
        self.remaining.done(event.key, event.seconds)
        self.done += 1
        self.failed += event.status == FAILED
        cell = self.cells.get(event.key)
        if event.status != FAILED or cell is None or (cell.task, cell.learner) in self._told:
            return ""
        self._told.add((cell.task, cell.learner))
        return f"failed: {cell.task} {cell.learner} repetition {cell.repetition}: {event.reason}"

    def left(self) -> str:
        """How much longer, for people."""
        return f"about {duration(self.remaining.seconds())} left"


class FaultsOnly:
    """A line about the first failure of each learner on each task, and the counts at the end if anything failed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._tally = Tally()

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        lines: list[str] = []
        if isinstance(event, Started):
            self._tally.start(event)
        elif isinstance(event, Done):
            lines = [self._tally.count(event)]
        elif isinstance(event, Execution):
            lines = [end_line(event) if event.failed else "", failed_before(event)]
        self._stream.writelines(f"{line}\n" for line in lines if line)
        self._stream.flush()


class PlainProgress:
    """A line every few seconds, and one at the end. clock: seconds that only grow."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._tally = Tally()
        self._last = clock()
        self._said = ""

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        tally = self._tally
        if isinstance(event, Started):
            tally.start(event)
            self._line(found_line(event))
            self._last = self._clock()
        elif isinstance(event, Stopping):
            self._line(STOPPING)
        elif isinstance(event, Execution):
            if event.ok + event.failed + event.not_applicable:
                self._line(end_line(event))
            self._line(failed_before(event))
            return
        elif isinstance(event, Done):
            self._line(tally.count(event))
        if tally.cells and self._clock() - self._last >= LINE_SECONDS:
            failed = f", {tally.failed} failed" if tally.failed else ""
            line = f"{tally.done} of {len(tally.cells)} runs{failed}, {tally.left()}"
            if line != self._said:  # a log is no place for the same words again and again
                self._line(line)
            self._said, self._last = line, self._clock()

    def _line(self, text: str) -> None:
        if text:
            self._stream.write(text + "\n")
            self._stream.flush()


class RichProgress:
    """One bar per family, with what is done, the time it has taken and, below, what is left."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
        )
        self._progress = Progress(*columns, console=Console(file=stream))
        self._bars: dict[str, Any] = {}
        self._tally = Tally()

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        if isinstance(event, Started):
            self._tally.start(event)
            self._print(found_line(event))
            self._open_bars(event.cells)
        elif isinstance(event, Stopping):
            self._print(STOPPING)
        elif isinstance(event, Done):
            self._advance(event)
        elif isinstance(event, Execution):
            self._progress.stop()
            if event.ok + event.failed + event.not_applicable:
                self._print(end_line(event))
            self._print(failed_before(event))

    def _open_bars(self, cells: tuple[Cell, ...]) -> None:
        for cell in cells:
            if cell.family not in self._bars:
                total = sum(other.family == cell.family for other in cells)
                self._bars[cell.family] = self._progress.add_task(cell.family, total=total, note="", start=False)
        if cells:
            self._progress.start()

    def _advance(self, event: Done) -> None:
        self._print(self._tally.count(event))
        cell = self._tally.cells.get(event.key)
        if cell is None:
            return
        bar = self._bars[cell.family]
        self._progress.start_task(bar)
        self._progress.advance(bar)
        for other in self._bars.values():
            self._progress.update(other, note=self._tally.left() if other == bar else "")

    def _print(self, text: str) -> None:
        if text:
            self._progress.console.print(text, highlight=False, markup=False)


def failed_before(event: Execution) -> str:
    """That runs which were found have failed, if any have."""
    count = event.found.get(FAILED)
    return f"{count} of the runs found have failed before; --retry-failed runs them again" if count else ""


def found_line(event: Started) -> str:
    """`37 of 60 runs found, 23 to do`."""
    to_do, workers = len(event.cells), f"{event.workers} worker{'s' if event.workers != 1 else ''}"
    if not to_do and not event.found:
        return "nothing has to be run for this"
    if not to_do:
        return f"all {event.found} runs found, nothing to do"
    return f"{event.found} of {event.found + to_do} runs found, {to_do} to do, {workers}"


def end_line(event: Execution) -> str:
    """What was run now, and how it went."""
    counts = {"ok": event.ok, "failed": event.failed, "not applicable": event.not_applicable}
    words = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"{words} in {duration(event.seconds)}{'; stopped, everything is saved' if event.interrupted else ''}"
