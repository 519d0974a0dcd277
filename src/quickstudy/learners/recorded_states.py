"""States that a device gave to a drive, as a learner: a readout is trained on them as on those of
any other reservoir.

    quickstudy drive dynamics/memory dynamics/narma-10 --out drive.csv --repetitions 6
    # The device runs, and its states are recorded, a row per sample. Then:
    quickstudy run dynamics/memory dynamics/narma-10 --seeds 6
        --learner recorded-states:file=recorded.csv,drive=drive.csv --learner esn
"""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.learner import Brief, Pace
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals
from quickstudy.data.recordings import read_drive, read_recording, stretches
from quickstudy.data.tables import read_content
from quickstudy.learners.host import Hosted, HostPupil
from quickstudy.learners.state_readout import StandardisedReadout

Floats = NDArray[np.float64]
NEAR = 1e-9
"""How far inputs may be from those of the drive, of their range: a scale and an offset round."""


@dataclass(frozen=True)
class DrivenStates:
    """A recording with its drive.

    states: (sample, state), without those that never change. pieces: (first sample, inputs as the
    task has them) of every sequence. made_for: tasks and repetitions, for messages. warnings: what
    looks wrong with the recording.
    """

    states: Floats
    pieces: Sequence[tuple[int, Floats]]
    firsts: Floats
    made_for: str
    warnings: tuple[str, ...]

    def of(self, inputs: Floats) -> Floats:
        """(time, state) after each of inputs (time, width), which begin a sequence of the drive.

        Raises NotApplicable for any others.
        """
        if len(inputs) and inputs.shape[1] == self.firsts.shape[1]:
            near = NEAR * max(1.0, float(np.abs(self.firsts).max()))
            alike = np.flatnonzero((np.abs(self.firsts - inputs[0]) <= near).all(axis=1))
            for number in alike.tolist():
                start, driven = self.pieces[number]
                if len(inputs) <= len(driven) and np.allclose(
                    driven[: len(inputs)], inputs, rtol=0.0, atol=near
                ):
                    return self.states[start : start + len(inputs)]
        raise NotApplicable(
            f"the recording has no states for these inputs; its drive has {self.made_for}: take"
            " these tasks, this root seed, and as many --seeds as there are repetitions"
        )


@learner("recorded-states", version=1)
@dataclass(frozen=True)
class RecordedStates:
    """States that a device gave to a drive, with a ridge readout.

    States are standardised; the strength of the ridge is the one of 1e-9, 1e-8 ... 1000 with the
    least error on the validation part (without one, 1e-6). A run is identified by the contents of
    both files, wherever they are. A run whose inputs are not in the drive is not applicable.

    Parameters
    ----------
    file:
        The recording: CSV, NPY or Parquet, a row per sample of the drive.
    drive:
        What the device was driven with, by `quickstudy drive`.
    missing:
        Samples that were dropped: refuse, or hold the state before them.
    content:
        Digest of the files, computed when they are read.
    """

    file: str = parameter("", place=True)
    drive: str = parameter("", place=True)
    missing: str = parameter("refuse", choices=("refuse", "hold"))
    content: str = parameter("", derived=True)

    def __post_init__(self) -> None:
        if not self.file or not self.drive:
            return
        found = "-".join(digest(path) for path in (self.file, self.drive))
        if self.content not in ("", found):
            raise ValueError(
                f"{self.file} or {self.drive} has changed: the content is {found}, not"
                f" {self.content}"
            )
        object.__setattr__(self, "content", found)

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"reads {given.get('file')} and {given.get('drive')}"

    @property
    def pace(self) -> Pace:
        """The readout is solved for at once."""
        return Pace()

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """A readout that has learned nothing yet."""
        if not self.file or not self.drive:
            raise UsageError(
                "recorded-states: which recording? type"
                " recorded-states:file=recorded.csv,drive=drive.csv"
            )
        driven = driven_states(self.file, self.drive, self.missing)
        return Hosted(lambda brief, seed: _Played(driven), _Played).begin(brief, streams)


class _Played:
    """A host that looks its states up."""

    reads = gives = (Reals,)
    recorded = True

    def __init__(self, driven: DrivenStates) -> None:
        self.states = driven.of
        self._driven, self._readout = driven, StandardisedReadout()

    def hold_back(self, items: Sequence[tuple[Floats, Floats]]) -> None:
        """Sequences by which the strength of the readout is chosen."""
        self._readout.hold_back([(self.states(inputs), targets) for inputs, targets in items])

    def learn(self, inputs: Floats, targets: Floats) -> None:
        """Add the steps that are asked about to what the readout is fitted to."""
        self._readout.learn(self.states(inputs), targets)

    def predict(self, inputs: Floats) -> Floats:
        """What the readout makes of the recorded states."""
        return self._readout(self.states(inputs))

    @property
    def parameters(self) -> int:
        """Weights of the readout."""
        return self._readout.weights

    def remark(self) -> str:
        """What looks wrong with the recording."""
        return "; ".join(self._driven.warnings)


def digest(path: str) -> str:
    """Of the content of a file, 12 digits."""
    return hashlib.sha256(read_content(pathlib.Path(path).expanduser())).hexdigest()[:12]


def driven_states(file: str, drive: str, missing: str) -> DrivenStates:
    """A recording and its drive, read once as long as neither changes."""
    paths = [pathlib.Path(path).expanduser() for path in (file, drive)]
    stamps = [(path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
    return _read(str(paths[0]), str(paths[1]), missing == "hold", *stamps)


@lru_cache(maxsize=4)
def _read(file: str, drive: str, hold: bool, *stamps: Any) -> DrivenStates:
    header, driven = read_drive(drive)
    recorded = read_recording(file, header["samples"], header["rate"], driven, hold=hold)
    changes = (recorded.states != recorded.states[0]).any(axis=0)
    if not changes.any():
        raise UsageError(f"{file}: all {len(changes)} states are constant")
    pieces = [
        (first, (driven[first : first + length] - segment["offset"]) / segment["scale"])
        for segment, first, length in stretches(header)
    ]
    by_task: dict[str, set[int]] = {}
    for segment in header["segments"]:
        by_task.setdefault(segment["task"], set()).add(segment["repetition"])
    made_for = "; ".join(
        f"{task}, {len(numbers)} repetition{'s' * (len(numbers) != 1)}"
        for task, numbers in by_task.items()
    )
    return DrivenStates(
        recorded.states[:, changes],
        pieces,
        np.stack([inputs[0] for _, inputs in pieces]),
        f"{made_for}, root seed {header['seed']}",
        recorded.warnings,
    )
