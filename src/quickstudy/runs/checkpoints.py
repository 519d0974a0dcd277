"""Calls that are not finished: checkpoints of protocols, so that an interrupted call resumes.

One file per call, `unfinished/KEY.npz`: KEY is that of its run, or of the runs of its lanes
together. It is written aside, synced and renamed over the one before, and dropped when the call's
last record is in the journal. Readers do not look at it; a call takes up its own, and only where
runs, versions, kind of device and lanes are the same.
"""

from __future__ import annotations

import contextlib
import math
import os
import pathlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from quickstudy.base.canonical import digest, plain
from quickstudy.base.errors import QuickstudyError
from quickstudy.base.learner import Snapshot
from quickstudy.base.trace import SoFar, Unfinished
from quickstudy.runs.array_files import checksum, read_snapshot, snapshot_arrays, write_arrays
from quickstudy.runs.folder import UNFINISHED, write_aside

if TYPE_CHECKING:
    from quickstudy.runs.journal import Journal

HAND_IN_SECONDS = 30.0
"""The least time between two files: a call that takes less writes none."""
MOST_OF_THE_TIME = 0.05
"""The largest part of a call's time that may go into writing them: a hundred lanes of Adam are half
a gigabyte.
"""

_RUN, _PUPIL = "run/", "pupil/"


class UnfinishedCall(Unfinished):
    """What one call has so far, on disk.

    keys: of the call's runs. place: what else the numbers depend on: `versions`, `device`, `lanes`.
    resumed: how many interrupted calls this one goes on from; seconds: that they had taken at the
    last checkpoint.
    """

    keeps = True

    def __init__(self, journal: Journal, keys: Sequence[str], place: Mapping[str, Any]) -> None:
        self._journal = journal
        self._call = {"keys": list(keys), **plain(place)}
        self.path = (
            journal.folder / UNFINISHED / f"{keys[0] if len(keys) == 1 else digest(list(keys))}.npz"
        )
        self.resumed, self.seconds = 0, 0.0
        self.found = self._take_up()
        self._process = os.getpid()
        self._began = time.monotonic()
        self._due = self._began + HAND_IN_SECONDS

    def hand_in(self, so_far: Callable[[], SoFar]) -> None:
        """Write what there is so far, if it is time to. What cannot be kept or written is not: the
        call goes on.
        """
        if os.getpid() != self._process:  # the child of a learner that has forked goes no further
            os._exit(1)
        began = time.monotonic()
        if began < self._due:
            return
        try:
            self._write(so_far(), self.seconds + began - self._began)
        except Exception:
            self._due = math.inf
            return
        now = time.monotonic()
        self._due = now + max(HAND_IN_SECONDS, (now - began) / MOST_OF_THE_TIME)

    def drop(self) -> None:
        """Delete the checkpoint: the records are written."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)

    def _write(self, so_far: SoFar, seconds: float) -> None:
        arrays = {f"{_RUN}{name}": array for name, array in so_far.arrays.items()}
        arrays |= {f"{_PUPIL}{name}": array for name, array in so_far.pupil.arrays.items()}
        facts = {
            "call": self._call,
            "resumed": self.resumed,
            "seconds": seconds,
            "run": so_far.facts,
            "pupil": so_far.pupil.facts,
            "arrays": checksum(arrays),
        }
        content = snapshot_arrays(Snapshot(arrays, facts))
        with self._journal.busy:
            write_aside(
                self.path,
                self._journal.writer,
                lambda file: write_arrays(file, content, packed=False),
            )

    def _take_up(self) -> SoFar | None:
        if not self.path.exists():
            return None
        try:
            kept = _kept(self.path)
            call, run, pupil = (kept.facts[name] for name in ("call", "run", "pupil"))
            seconds, resumed = float(kept.facts["seconds"]), int(kept.facts["resumed"]) + 1
            other = _difference(call, self._call)
        except (QuickstudyError, KeyError, TypeError, ValueError, AttributeError):
            other = "cannot be read"
        if other:
            sys.stderr.write(f"{UNFINISHED}/{self.path.name} {other}: its run restarts\n")
            return None
        self.resumed, self.seconds = resumed, seconds
        return SoFar(_part(kept, _RUN), run, Snapshot(_part(kept, _PUPIL), pupil))


def keys_of(path: pathlib.Path) -> list[str]:
    """The runs that an unfinished call is of; none if the file cannot be read."""
    try:
        return [str(key) for key in _kept(path).facts["call"]["keys"]]
    except (QuickstudyError, KeyError, TypeError):
        return []


def _kept(path: pathlib.Path) -> Snapshot:
    """What a file holds. Raises QuickstudyError if it is damaged."""
    kept = read_snapshot(path)
    # A file of an earlier version has no checksum; each array's own, in the zip file, was looked
    # at all the same.
    if kept.facts.get("arrays", "") not in ("", checksum(kept.arrays)):
        raise QuickstudyError(
            f"cannot read {path}: its checksum is not the one that was written down"
        )
    return kept


def _part(kept: Snapshot, prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): array
        for name, array in kept.arrays.items()
        if name.startswith(prefix)
    }


def _difference(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> str:
    """In which way a file is not of this call; empty if it is."""
    for name in ("keys", "device", "lanes"):
        if theirs[name] != ours[name]:
            return f"is of other {name}"
    # A library that one of the two has not loaded has changed no number there.
    for name in sorted(theirs["versions"].keys() & ours["versions"].keys()):
        if theirs["versions"][name] != ours["versions"][name]:
            return f"is of {name} {theirs['versions'][name]}, not {ours['versions'][name]}"
    return ""
