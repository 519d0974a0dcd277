"""What a process writes down while it runs: one new file of JSON lines, which no other process ever opens to write.

A line is written by a single call, so that only the last line of a file can be torn, and only by the death of the
process or of the machine. A file that is open is locked (where the system can), so that a repair leaves it alone.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import platform
import re
import secrets
import threading
import time
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK, Record
from quickstudy.runs.arrays import write_arrays
from quickstudy.runs.folder import LEARNERS, RUNS, TRACES, write_aside, writing_fault
from quickstudy.runs.traces import inline_trace, snapshot_arrays

if TYPE_CHECKING:
    from quickstudy.runs.job import Outcome

SYNC_SECONDS = 2.0


class Journal:
    """One process's file `runs/HOST-PID-ID.jsonl`, made when the first line is written.

    busy: held while something is being written; who wants to end the process takes it first.
    """

    def __init__(self, folder: str | pathlib.Path) -> None:
        self.folder = pathlib.Path(folder)
        host = re.sub(r"[^A-Za-z0-9.-]", "_", platform.node()) or "unknown"
        self.writer = f"{host}-{os.getpid()}-{secrets.token_hex(4)}"
        self.path = self.folder / RUNS / f"{self.writer}.jsonl"
        self.busy = threading.RLock()
        self._file: io.FileIO | None = None
        self._synced = 0.0

    def write(self, record: Record) -> None:
        """Add one line. Raises QuickstudyError, with the file as it was before, if it cannot be written."""
        line = (record.to_line() + "\n").encode()
        with self.busy:
            try:
                file = self._open()
                start = file.tell()
                try:
                    _write_whole(file, line)
                except OSError:
                    file.truncate(file.seek(start))
                    raise
                if time.monotonic() - self._synced >= SYNC_SECONDS:
                    self._sync(file)
            except OSError as error:
                self._drop_if_empty()
                raise writing_fault(error, self.path) from error

    def save(self, outcome: Outcome) -> Record:
        """Write an outcome down: trace and trained learner first, then the line that names them. Gives the record.

        An outcome that cannot be written (an unknown status, values that are no plain numbers or words) becomes a
        failed record that says so.
        """
        with self.busy:
            try:
                record = self._with_files(outcome)
                if record.status not in (OK, FAILED, NOT_APPLICABLE):
                    raise ValueError(f'unknown status "{record.status}"')
                self.write(record)
            except (TypeError, ValueError) as error:
                original = outcome.record
                reason = f"the outcome cannot be written down: {error}"
                record = Record(original.what, FAILED, reason, where=original.where, labels=original.labels)
                self.write(record)
            if outcome.unfinished is not None:
                outcome.unfinished.drop()
            return record

    def close(self) -> None:
        """Sync and close; a journal that was never written to leaves no file."""
        with self.busy:
            if self._file is not None:
                try:
                    self._sync(self._file)
                except OSError as error:
                    raise writing_fault(error, self.path) from error
                finally:
                    self._file.close()
                    self._file = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self.close()
        else:
            with contextlib.suppress(QuickstudyError):
                self.close()

    def _with_files(self, outcome: Outcome) -> Record:
        record = outcome.record
        if outcome.trace is not None:
            trace = inline_trace(outcome.trace)
            if trace is None:
                arrays, name = outcome.trace.arrays, f"{TRACES}/{record.key}.npz"
                write_aside(self.folder / name, self.writer, lambda file: write_arrays(file, arrays))
                trace = {"kind": outcome.trace.kind, "facts": outcome.trace.facts, "file": name}
            record = replace(record, trace=trace)
        if outcome.snapshot is not None:
            kept, name = snapshot_arrays(outcome.snapshot), f"{LEARNERS}/{record.key}.npz"
            write_aside(self.folder / name, self.writer, lambda file: write_arrays(file, kept))
            record = replace(record, saved=name)
        return record

    def _open(self) -> io.FileIO:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(self.path, "xb", buffering=0)  # noqa: SIM115  (open as long as the process writes)
            lock(self._file)
        return self._file

    def _sync(self, file: io.FileIO) -> None:
        os.fsync(file.fileno())
        self._synced = time.monotonic()

    def _drop_if_empty(self) -> None:
        with contextlib.suppress(OSError):
            if self._file is not None and os.fstat(self._file.fileno()).st_size == 0:
                self._file.close()
                self._file = None
                self.path.unlink()


def lock(file: io.FileIO) -> bool:
    """Try to be the only one who holds the file. True as well where the system knows no such locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # no locks on this system, or on this disk
        return True
    return True


def _write_whole(file: io.FileIO, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[file.write(rest) :]
