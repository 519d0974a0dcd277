"""Progress while a run goes on: nothing, plain lines, or bars. Each is a function of the events
of `execute`.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from quickstudy.base.record import FAILED, NOT_APPLICABLE
from quickstudy.base.text import counted, visible
from quickstudy.runs.asking import asked_of
from quickstudy.runs.engines import Begun, Done, Note, Tick
from quickstudy.runs.eta import SHORT_SECONDS, Remaining, duration
from quickstudy.runs.execute import Event, Execution, Report, Started, Stopping
from quickstudy.runs.plan import Cell

LINE_SECONDS = 5.0
NOTE_SECONDS = 0.5
STOPPING = "stopping after the runs in progress; Ctrl-C again stops now"


def choose_progress(*, quiet: bool = False, stream: TextIO | None = None) -> Report:
    """Only what goes wrong, bars on a terminal, or plain lines into a file or a pipe. On standard
    error by default.
    """
    stream = stream or sys.stderr
    if quiet:
        return FaultsOnly(stream)
    return RichProgress(stream) if stream.isatty() else PlainProgress(stream)


def follow(progress: bool | Report | None) -> Report:
    """What Python shows: plain lines on standard error (True), nothing (False), or what a function
    makes of the events. None: lines at a terminal or in a notebook.
    """
    if callable(progress):
        return progress
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    return PlainProgress(sys.stderr) if progress else silent


def silent(event: Event) -> None:
    """Show nothing."""


class Tally:
    """The counts that every kind of progress shows, what is running, and the first reason of each
    learner's failures on each task. clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._calls: list[tuple[str, ...]] = []
        self._compiled: set[tuple[str, str]] = set()
        self.cells: dict[str, Cell] = {}
        self.remaining = Remaining(1)
        self.done = self.failed = 0
        self._told: set[tuple[str, str]] = set()

    def start(self, event: Started) -> None:
        """A run begins."""
        self.cells = {cell.key: cell for cell in event.cells}
        self.remaining = Remaining.of(event.cells, event.workers)

    def employ(self, event: Tick) -> None:
        """Workers may have come or gone."""
        if event.workers is not None:
            self.remaining.workers = max(1, event.workers)

    def begin(self, event: Begun) -> None:
        """A call begins."""
        # One that was lost with its worker may begin a second time.
        self._calls = [keys for keys in self._calls if keys != event.keys] + [event.keys]
        self.remaining.begun(event.keys, self._clock())

    def count(self, event: Done) -> str:
        """One more is done. Gives a line about a failure, or about a learner that does not fit the
        task, the first time for its task and learner.
        """
        self.remaining.done(event.key, event.seconds)
        self.done += 1
        self.failed += event.status == FAILED
        self._calls = [
            call for keys in self._calls if (call := tuple(key for key in keys if key != event.key))
        ]
        cell = self.cells.get(event.key)
        if cell is not None:
            self._compiled.add((cell.task, cell.learner))
        if (
            event.status not in (FAILED, NOT_APPLICABLE)
            or cell is None
            or (cell.task, cell.learner) in self._told
        ):
            return ""
        self._told.add((cell.task, cell.learner))
        if event.status == NOT_APPLICABLE:
            return f"not applicable: {cell.task} {cell.learner}: {event.reason}"
        return f"failed: {cell.task} {cell.learner} repetition {cell.repetition}: {event.reason}"

    def left(self) -> str:
        """The remaining time, for people; empty if it is unknown."""
        seconds = self.remaining.seconds(self._clock())
        if seconds is None or self.done >= len(self.cells):
            return ""
        if seconds < SHORT_SECONDS:
            return f"less than {duration(SHORT_SECONDS)} left"
        return f"about {duration(seconds)} left"

    def running(self) -> str:
        """What runs now: `language/qa lstm 0 (compiles first)`. Of a setting of which nothing is
        done yet, the programs are compiled first, or fetched from the cache.
        """
        if not self._calls and not self.done:
            return "workers that start"
        return "; ".join(visible(self._call(keys)) for keys in self._calls if keys[0] in self.cells)

    def _call(self, keys: tuple[str, ...]) -> str:
        cell, last = self.cells[keys[0]], self.cells[keys[-1]]
        repetitions = (
            f"{cell.repetition}" if cell is last else f"{cell.repetition} to {last.repetition}"
        )
        compiles = cell.programs and (cell.task, cell.learner) not in self._compiled
        return f"{cell.task} {cell.learner} {repetitions}{' (compiles first)' if compiles else ''}"


class _Progress:
    """Receives the events and reports them; subclasses differ in how, and what else they show."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock, self._tally = stream, clock, Tally(clock)
        self._began = self._last = clock()

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        if isinstance(event, Started):
            self._tally.start(event)
            self._say(found_line(event))
            if (asked := asked_of(event.cells)).runs:
                self._say(str(asked))
        elif isinstance(event, Stopping):
            self._say(STOPPING)
        elif isinstance(event, Note):
            self._say(event.text)
        elif isinstance(event, Tick):
            self._tally.employ(event)
        elif isinstance(event, Begun):
            self._tally.begin(event)
        elif isinstance(event, Done):
            self._say(self._tally.count(event))
        self._look(event)
        if isinstance(event, Execution):
            self._say(end_line(event, self._clock() - self._began))
            self._say(failed_before(event))

    def _say(self, text: str) -> None:
        if text:
            self._stream.write(visible(text) + "\n")
            self._stream.flush()

    def _look(self, event: Event) -> None:
        """Show what changes all the time."""


class FaultsOnly(_Progress):
    """A line about the first failure or misfit of each learner on each task, and the counts at the
    end if anything failed.
    """

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        if isinstance(event, Started):
            self._tally.start(event)
        elif isinstance(event, Done):
            self._say(self._tally.count(event))
        elif isinstance(event, Execution):
            since = self._clock() - self._began
            self._say(end_line(event, since) if event.failed or event.interrupted else "")
            self._say(failed_before(event))


class PlainProgress(_Progress):
    """A line every few seconds, and one at the end. clock: seconds that only grow."""

    _said = ""

    def _look(self, event: Event) -> None:
        tally, now = self._tally, self._clock()
        if isinstance(event, Started):
            self._last = now
        # The first that begins is reported at once: it may compile for long, and without workers
        # nothing is heard by then.
        due = now - self._last >= LINE_SECONDS or (isinstance(event, Begun) and not self._said)
        if tally.cells and due and not isinstance(event, Execution):
            failed = f"{tally.failed} failed" if tally.failed else ""
            running = f"now {tally.running()}" if tally.running() else ""
            counts = f"{tally.done} of {counted(len(tally.cells), 'run')}"
            line = ", ".join(filter(None, (counts, failed, tally.left(), running)))
            if line != self._said:  # a log should not repeat the same words
                self._say(f"{duration(now - self._began)}: {line}")
            self._said, self._last = line, now


class RichProgress(_Progress):
    """One bar per family, with what is done and the time since the start; below, what is left and
    what runs now.
    """

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )
        from rich.text import Text

        class Bars(Progress):
            note = ""

            def get_renderables(self) -> Iterable[Any]:
                yield self.make_tasks_table(self.tasks)
                if self.note:
                    yield Text(self.note, style="dim", no_wrap=True, overflow="ellipsis")

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        self._progress = Bars(*columns, console=Console(file=stream))
        super().__init__(stream, self._progress.get_time)
        self._bars: dict[str, Any] = {}

    def _look(self, event: Event) -> None:
        if isinstance(event, Execution):
            self._progress.note = ""
            self._progress.stop()
            return
        if isinstance(event, Started):
            self._open_bars(event.cells)
        elif isinstance(event, Done) and event.key in self._tally.cells:
            self._progress.advance(self._bars[self._tally.cells[event.key].family])
        # Compute what is left and what runs here, and not when the bars are drawn, which another
        # thread does.
        now = self._clock()
        if isinstance(event, Begun) or now - self._last >= NOTE_SECONDS:
            self._last = now
            self._progress.note = "; ".join(
                filter(None, (self._tally.left(), self._tally.running()))
            )

    def _open_bars(self, cells: tuple[Cell, ...]) -> None:
        totals = Counter(cell.family for cell in cells)
        self._bars = {
            family: self._progress.add_task(visible(family), total=total)
            for family, total in totals.items()
        }
        for bar in self._progress.tasks:
            bar.start_time = self._began
        if cells:
            self._progress.start()

    def _say(self, text: str) -> None:
        if text:
            self._progress.console.print(visible(text), highlight=False, markup=False)


def failed_before(event: Execution) -> str:
    """That runs which were found have failed, if any have."""
    count = event.found.get(FAILED)
    return (
        f"{count} of the runs found have failed before; --retry-failed runs them again"
        if count
        else ""
    )


def found_line(event: Started) -> str:
    """`37 of 60 runs found, 23 to do`."""
    to_do, workers = len(event.cells), counted(event.workers, "worker")
    if not to_do and not event.found:
        return "nothing has to be run for this"
    if not to_do:
        return f"all {counted(event.found, 'run')} found, nothing to do"
    return (
        f"{event.found:,} of {counted(event.found + to_do, 'run')} found, {to_do:,} to do,"
        f" {workers}"
    )


def end_line(event: Execution, seconds: float) -> str:
    """Summary of the runs just made, their status, and the total time; empty if nothing was run."""
    counts = {"ok": event.ok, "failed": event.failed, "not applicable": event.not_applicable}
    words = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    if not words and not event.interrupted:
        return ""
    stopped = "; stopped, everything is saved" if event.interrupted else ""
    return f"{words or 'nothing was done'} in {duration(max(seconds, event.seconds))}{stopped}"
