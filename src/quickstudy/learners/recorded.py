"""Answers that were recorded elsewhere, as a learner: it gets the input of a run, and returns the
recorded answers.

    # What runs tell and ask:
    quickstudy drive language/qa --questions --repetitions 3 --out qa.jsonl
    # When the answers are in it:
    quickstudy run language/qa --learner recorded:file=qa.jsonl --seeds 3

A recording is a file of JSON objects, one a line. `run` identifies the run of the lines after it,
and `seed` is the learner's seed there: by it a run finds its lines, and no other run does. Then, in
their order:

- `learn`: inputs, with `targets`: what should be answered after each, -1 or null where nothing is
  asked;
- `predict`: inputs, with `answers`: after each a symbol, a score for each possible symbol, or
  values;
- `states`: inputs, with `answers`: after each the numbers of the state;
- `act`: an observation, with `reward`, `first` and `answers`: what was done.

What a run tells is compared with the recording, call by call and to the last bit: a run of another
version, other parameters or another length fails with the line at which they part.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.learner import Brief, Pace
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.data.tables import read_content
from quickstudy.learners.host import Hosted, HostPupil

CALLS = ("learn", "predict", "states", "act")
"""The calls of a learner, by the names of the methods of a host."""


class RecordedLine(NamedTuple):
    """One line of a recording, and its number."""

    number: int
    said: Mapping[str, Any]


@dataclass(frozen=True)
class Recording:
    """A file that was read. content: its digest. pace: of the learner that was recorded. runs:
    by seed, the entry of the run, and its lines.
    """

    content: str
    pace: Pace
    runs: Mapping[int, tuple[Mapping[str, Any], tuple[RecordedLine, ...]]]

    def made_for(self) -> str:
        """The runs, for people."""
        by_task: dict[str, list[str]] = {}
        for run, _ in self.runs.values():
            by_task.setdefault(
                f"{run['task']} version {run['version']}, root {run['root']}", []
            ).append(str(run["repetition"]))
        return "; ".join(f"{task}, repetitions {' '.join(many)}" for task, many in by_task.items())


@learner("recorded", version=1)
@dataclass(frozen=True)
class Recorded:
    """Answers that were recorded elsewhere, played back.

    A run is identified by the content of the recording, wherever the file is. A run that it has no
    lines for is not applicable.

    Parameters
    ----------
    file:
        The recording.
    content:
        Digest of the file, computed when it is read.
    """

    file: str = parameter("", place=True)
    content: str = parameter("", derived=True)

    def __post_init__(self) -> None:
        if not self.file:
            return
        found = read_recording(self.file).content
        if self.content not in ("", found):
            raise ValueError(f"{self.file} has changed: its content is {found}, not {self.content}")
        object.__setattr__(self, "content", found)

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"reads {given.get('file')}"

    @property
    def pace(self) -> Pace:
        """Of the learner that was recorded."""
        return read_recording(self.file).pace if self.file else Pace()

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """At the first line of its run. Raises NotApplicable where the recording has none."""
        if not self.file:
            raise UsageError("recorded: which recording? type recorded:file=answers.jsonl")
        recording = read_recording(self.file)

        def make(brief: Brief, seed: int) -> Any:
            if seed not in recording.runs:
                raise NotApplicable(
                    f"{self.file} has no answers to this run; it has {recording.made_for()}"
                )
            return _Played(self.file, *recording.runs[seed])

        return Hosted(make, self).begin(brief, streams)


class _Played:
    """A host that goes from line to line. It has the methods of which there are lines, and `learn`
    and `predict`.
    """

    def __init__(self, file: str, run: Mapping[str, Any], lines: Sequence[RecordedLine]) -> None:
        self._file, self._run, self._lines, self._place = file, run, lines, 0
        there = {name for line in lines for name in CALLS if name in line.said}
        for name in ("scale", "learns", "parameters"):
            if name in run:
                setattr(self, name, run[name])
        if "states" in there:
            self.states = lambda inputs: self._next("states", inputs)
        if "act" in there:
            self.act = self._act

    def learn(self, inputs: Any, targets: Any) -> None:
        """The line must be of the same."""
        self._next("learn", inputs, {"targets": targets})

    def predict(self, inputs: Any) -> Any:
        """The recorded answers."""
        return self._next("predict", inputs)

    def _act(self, observation: Any, reward: float, first: bool, learning: bool = True) -> Any:
        return self._next("act", observation, {"reward": reward, "first": first})

    def _next(self, call: str, given: Any, beside: Mapping[str, Any] | None = None) -> Any:
        if self._place == len(self._lines):
            raise LearnerFault(
                f"{self._file} ends where the run goes on: {self._asked(call, given)}"
            )
        line, self._place = self._lines[self._place], self._place + 1
        where = f"{self._file}, line {line.number}"
        told = {call: given, **(beside or {})}
        if not all(
            name in line.said and as_json(value) == line.said[name] for name, value in told.items()
        ):
            recorded = next(
                (self._asked(name, line.said[name]) for name in CALLS if name in line.said),
                "nothing",
            )
            raise LearnerFault(
                f"{where} is not what the run tells: recorded is {recorded}, told"
                f" {self._asked(call, given)}; it was recorded for {self._run['task']} version"
                f" {self._run['version']}, {self._run['protocol'] or 'usual'}"
            )
        if call == "learn":
            return None
        if line.said.get("answers") is None:
            raise LearnerFault(f"{where}: no answers yet")
        return _array(line.said["answers"])

    def _asked(self, call: str, given: Any) -> str:
        shape = np.shape(given)
        size = f"{shape[0]} steps" if shape else str(given)
        return f"{call} of {size}" + (f" ({_shortened(given)})" if shape else "")


def read_recording(file: str) -> Recording:
    """A recording. Raises ValueError for a file that is none, with the line."""
    path = pathlib.Path(file).expanduser()
    try:
        stamp = path.stat()
        return _read(str(path), stamp.st_mtime_ns, stamp.st_size)
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from error


@lru_cache(maxsize=4)
def _read(path: str, *stamp: int) -> Recording:
    whole = read_content(path)
    runs: dict[int, tuple[dict[str, Any], list[RecordedLine]]] = {}
    lines: list[RecordedLine] | None = None
    for number, text in enumerate(whole.splitlines(), 1):
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            raise ValueError(
                f"{path}, line {number}: no JSON object, got {text[:40].decode(errors='replace')!r}"
            )
        if "run" in said:
            lines = []
            try:
                pace = Pace(**said["run"]["pace"])
                hash(pace)
                runs[int(said["seed"])] = {**said["run"], "pace": pace}, lines
                _ = [
                    said["run"][name]
                    for name in ("task", "version", "root", "repetition", "protocol")
                ]
            except (KeyError, TypeError, ValueError, UsageError) as error:
                raise ValueError(
                    f"{path}, line {number}: a run must be as `quickstudy drive` wrote it"
                ) from error
        elif lines is None or not any(name in said for name in CALLS):
            raise ValueError(
                f"{path}, line {number}: no recording; quickstudy drive TASK --questions --out FILE"
                " writes one"
            )
        else:
            lines.append(RecordedLine(number, said))
    paces = {run["pace"] for run, _ in runs.values()}
    if len(paces) != 1:
        raise ValueError(
            f"{path}: " + ("runs of several paces" if paces else "there is no run in it")
        )
    content = hashlib.sha256(whole).hexdigest()[:16]
    return Recording(
        content, paces.pop(), {seed: (run, tuple(lines)) for seed, (run, lines) in runs.items()}
    )


def as_json(values: Any) -> Any:
    """As JSON has it, every number to the last bit; null for one that is none."""
    if isinstance(values, Mapping):
        return {name: as_json(value) for name, value in values.items()}
    array = np.asarray(values)
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return array.tolist()
    listed = array.astype(object)
    listed[~np.isfinite(array)] = None
    return listed.tolist()


def _array(recorded: Any) -> Any:
    if isinstance(recorded, dict):
        return {name: _array(value) for name, value in recorded.items()}
    if not isinstance(recorded, list):
        return recorded
    try:
        return np.array(recorded, dtype=np.float64 if _has_none(recorded) else None)
    except (ValueError, TypeError) as error:
        raise LearnerFault(
            f"recorded answers must be numbers, as many for every step: {error}"
        ) from error


def _has_none(values: Any) -> bool:
    return values is None or (isinstance(values, list) and any(map(_has_none, values)))


def _shortened(values: Any) -> str:
    flat = np.ravel(np.asarray(values, dtype=object))
    return " ".join(map(str, flat[:4].tolist())) + (" ..." if len(flat) > 4 else "")
