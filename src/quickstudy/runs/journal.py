"""What a process writes down while it runs: one new file of JSON lines, which no other process ever
opens to write.

A line is written by a single call, so that only the last line of a file can be torn, and only by
the death of the process or of the machine. A file that is open is locked (where the system can), so
that a repair leaves it alone.

A line is on the disk at most SYNC_SECONDS after it was written: at once if the previous sync is
older than that (true of all runs that take as long), else with the others of that time. Runs that
were made side by side, in a call that has taken as long, are all there when the last of them is. A
power cut loses no other run that has ended.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import pathlib
import secrets
import threading
import time
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

from quickstudy.base.errors import QuickstudyError
from quickstudy.base.record import FAILED, STATUSES, Record
from quickstudy.runs.array_files import inline_trace, snapshot_arrays, write_arrays
from quickstudy.runs.folder import (
    LEARNERS,
    RUNS,
    TRACES,
    host_name,
    make_folder,
    open_ordinary,
    refuse_links,
    sync_folder,
    write_aside,
    writing_fault,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from quickstudy.runs.run_one import Outcome

SYNC_SECONDS = 0.5
"""A line is on the disk after that. A sync takes some 5 ms, so this costs a hundredth of the
time.
"""
_TRIES = 50


class Journal:
    """One process's file `runs/HOST-PID-ID.jsonl`, made when the first line is written.

    busy: held while something is being written; who wants to end the process takes it first.
    """

    def __init__(self, folder: str | pathlib.Path) -> None:
        self.folder = pathlib.Path(folder)
        self.writer = f"{host_name()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.path = self.folder / RUNS / f"{self.writer}.jsonl"
        self.busy = threading.RLock()
        self._file: io.FileIO | None = None
        self._synced = 0.0
        self._later: threading.Timer | None = None
        self._fault: OSError | None = None

    def write(self, record: Record) -> None:
        """Add one line. Raises QuickstudyError, and leaves the file unchanged, if it cannot be
        written, or if what was written earlier has not reached the disk or is no longer there.
        """
        line = (record.to_line() + "\n").encode()
        with self.busy:
            try:
                if self._fault is not None:
                    raise self._fault
                file = self._open()
                if os.fstat(file.fileno()).st_nlink == 0:
                    raise QuickstudyError(
                        f"{self.path} was removed while it was being written; run again what it"
                        " held"
                    )
                start = file.tell()
                try:
                    _write_whole(file, line)
                except OSError:
                    file.truncate(file.seek(start))
                    raise
                left = self._synced + SYNC_SECONDS - time.monotonic()
                if left <= 0:
                    self._sync(file)
                elif self._later is None:
                    self._later = threading.Timer(left, self._sync_later)
                    self._later.daemon = True
                    self._later.start()
            except OSError as error:
                self._drop_if_empty()
                raise writing_fault(error, self.path) from error

    def save(self, outcome: Outcome) -> Record:
        """Write an outcome down: trace and trained learner first, then the line that names them.
        Gives the record.

        An outcome that cannot be written (an unknown status, values other than plain numbers or
        words) becomes a failed record with the reason.
        """
        with self.busy:
            try:
                # Locked before the first file is written aside: a repair sees by it that another
                # process is at work.
                self._open()
                record = self._with_files(outcome)
                if record.status not in STATUSES:
                    raise ValueError(f'unknown status "{record.status}"')
                self.write(record)
            except (TypeError, ValueError) as error:
                original = outcome.record
                reason = f"the outcome cannot be written down: {error}"
                record = Record(
                    original.what, FAILED, reason, where=original.where, labels=original.labels
                )
                self.write(record)
            except OSError as error:
                raise writing_fault(error, self.path) from error
            except QuickstudyError:
                self._drop_if_empty()
                raise
            if outcome.unfinished is not None:  # the last of its call
                if self._later is not None and record.where.get("seconds", 0.0) >= SYNC_SECONDS:
                    self._sync_later()
                if self._fault is None:
                    outcome.unfinished.drop()
            return record

    def close(self) -> None:
        """Sync and close; a journal that was never written to leaves no file."""
        with self.busy:
            if self._later is not None:
                self._later.cancel()
                self._later = None
            if self._file is not None:
                try:
                    self._sync(self._file)
                    if self._fault is not None:
                        raise self._fault
                except OSError as error:
                    raise writing_fault(error, self.path) from error
                finally:
                    self._drop_if_empty()
                    if self._file is not None:
                        self._file.close()
                        self._file = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
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
                name, files = self._keep(TRACES, record.key, outcome.trace.arrays)
                trace = {"kind": outcome.trace.kind, "facts": outcome.trace.facts, "file": name}
                record = replace(record, files={**record.files, **files})
            record = replace(record, trace=trace)
        if outcome.snapshot is not None:
            name, files = self._keep(LEARNERS, record.key, snapshot_arrays(outcome.snapshot))
            record = replace(record, saved=name, files={**record.files, **files})
        return record

    def _keep(
        self, room: str, key: str, arrays: Mapping[str, NDArray[Any]]
    ) -> tuple[str, dict[str, str]]:
        """Write arrays into a room of the folder. Gives the file's name, and its checksum by that
        name.
        """
        made = io.BytesIO()
        write_arrays(made, arrays)
        content = made.getbuffer()
        found = hashlib.sha256(content).hexdigest()
        name = f"{room}/{key}.npz"
        # Another run of the same key, on another machine perhaps, has a record of what is in
        # its file.
        if (self.folder / name).exists() and checksum_of(self.folder / name) != found:
            name = f"{room}/{key}.{found[:12]}.npz"
        write_aside(self.folder / name, self.writer, lambda file: file.write(content))
        return name, {name: found}

    def _open(self) -> io.FileIO:
        if self._file is None:
            refuse_links(self.folder)
            make_folder(self.path.parent)
            self._file = open(self.path, "xb", buffering=0)  # noqa: SIM115  (open as long as the process writes)
            for _ in range(_TRIES):  # a repair that has just asked holds it for a moment
                if lock(self._file):
                    break
                time.sleep(0.01)
            sync_folder(self.path.parent)
        return self._file

    def _sync(self, file: io.FileIO) -> None:
        os.fsync(file.fileno())
        self._synced = time.monotonic()

    def _sync_later(self) -> None:
        with self.busy:
            self._later = None
            if self._file is not None:
                try:
                    self._sync(self._file)
                except OSError as error:  # reported by the next line, or by the end
                    self._fault = error

    def _drop_if_empty(self) -> None:
        with contextlib.suppress(OSError):
            if self._file is not None and os.fstat(self._file.fileno()).st_size == 0:
                self._file.close()
                self._file = None
                self.path.unlink()


def lock(file: io.FileIO) -> bool:
    """Try to be the only one who holds the file. True as well where the system knows no such
    locks.
    """
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):  # no locks on this system, or on this disk
        return True
    return True


def checksum_of(path: pathlib.Path) -> str:
    """SHA-256 of a file; nothing where it cannot be read."""
    try:
        with open_ordinary(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _write_whole(file: io.FileIO, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[file.write(rest) :]
