"""Properties of a memory, independent of its use: its states are recorded while it reads noise,
without questions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.learner import Brief, Pupil, Showing, face, finite, pace_of
from quickstudy.base.offers import Signalling, offers
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import PupilFacts, stated
from quickstudy.base.task import spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.measures.memory import Harvest, significance
from quickstudy.measures.memory_terms import memory_to_end, processing_capacity, too_few
from quickstudy.protocols.examination import Examination
from quickstudy.protocols.session import Clock
from quickstudy.tasks.dynamics.memory import BASES, narrow_noise

LEAST_STEPS, STEPS_PER_STATE = 5000, 20
"""Steps that are measured, of each half: at least so many, and so many for every state."""
PATHS, TAIL, NUDGE = 8, 1000, 0.01
"""Paths with different pasts, the steps that they then have in common, and by how much the last
input before these is changed for the copies of them that show whether differences grow.
"""
MOST_ROUNDING = 1000
"""Differences between two answers to the same inputs of more than so many times the rounding are
noise.
"""
UNTRAINED = (
    "Measured at initialisation, before any training; set after=TASK to measure trained learners."
)
RECORDED = (
    "Measured on a recording: kernel and generalisation rank, echo index and Lyapunov exponent are"
    " not given, as they need inputs that no drive has; the ranks of the stream are."
)
STATES_TOGETHER = 1 << 26
"""Bytes of states that one call may give where only the last of them are looked at."""


@protocol("properties", version=2)
@dataclass(frozen=True)
class PropertiesProtocol:
    """Drive a reservoir with noise and measure its states: memory, processing capacity, ranks,
    stability.

    Nothing is learned, unless `after` names a task that is learned first, as the protocol
    `dynamics` teaches it. One harvest serves memory and processing capacity. Too few steps for the
    number of states are refused. Ranks are computed by two algorithms: from the last states after
    `streams` streams of `length` steps from one state after a washout, without and with the last
    `shared` steps in common; and from all states of one stream, over the whole input range and, for
    generalisation, within +-`near` around `centre` (published, as in the code of CHARC: 0.05 around
    0.5). Paths with different pasts and the same future show whether states converge.

    Parameters
    ----------
    steps:
        Steps to fit, and as many to test; none: 20 per state, at least 5,000.
    delays:
        Largest delay; none: twice the number of states, and on to the end of the memory or of the
        washout.
    degrees:
        Largest degree of a term of the processing capacity.
    budget:
        Most terms.
    streams:
        Streams of the ranks; none: twice the number of states.
    length:
        Steps of a stream.
    shared:
        Steps at the end that the streams have in common, for generalisation rank.
    near:
        Half-width of the input range for generalisation.
    centre:
        Centre of that range.
    after:
        Task that is learned before the measurement.
    """

    steps: int | None = parameter(None, at_least=1)
    delays: int | None = parameter(None, at_least=1)
    degrees: int = parameter(7, at_least=1)
    budget: int = parameter(3000, at_least=1)
    streams: int | None = parameter(None, at_least=1)
    length: int = parameter(50, at_least=1)
    shared: int = parameter(25, at_least=1)
    near: float = parameter(0.1, above=0)
    centre: float = parameter(0.0)
    after: str = ""

    measures: ClassVar[tuple[str, ...]] = (
        "memory-capacity",
        "processing-capacity",
        "state-ranks",
        "stability",
    )
    question: ClassVar[str] = "What does its memory hold?"
    programs: ClassVar[int] = 3  # every number of streams and steps is one; it learns nothing
    headline: ClassVar[str] = "memory-capacity"
    columns: ClassVar[tuple[str, ...]] = (
        "memory-capacity",
        "capacity-over-size",
        "processing-capacity",
        "kernel-rank",
        "generalisation-rank",
        "effective-rank",
        "lyapunov-exponent",
    )
    replay_apart: ClassVar[bool] = False
    asks: ClassVar[str] = "reals"
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "published": {"near": 0.05, "centre": 0.5}
    }

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `properties`: memory by delay, capacity by term, singular
        values, distances.
        """
        if not offers(task, Signalling):
            raise NotApplicable(f"{task.id} has no signal(rng, shape) to look at states with")
        clock = Clock()
        with clock.timing("answer"):
            begun = begun_after(self.after, task, learner, streams, unfinished)
            shown = _Shown(begun.pupil)
            recorded = stated(begun.pupil, PupilFacts).recorded
            looked = (self._of_recording if recorded else self._look)(task, shown, streams)
        costs = [trace.cost for trace in begun.traces] or clock.charge(begun.pupil.cost())
        traces = [
            Trace(
                "properties",
                arrays,
                {**facts, "passes": pace_of(learner).passes if self.after else 0},
                cost,
            )
            for (arrays, facts), cost in zip(looked, costs, strict=True)
        ]
        return Examination(traces, begun.pupil, begun.brief)

    def _look(
        self, task: Any, shown: _Shown, streams: Sequence[Streams]
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        size = 0
        if self.steps is None or self.delays is None:
            # By a shape that is read below as well: another one would be a program more.
            size = shown.all(np.zeros((len(streams), task.washout + self.length, 1))).shape[-1]
        steps = max(LEAST_STEPS, STEPS_PER_STATE * size) if self.steps is None else self.steps
        delays = 2 * size if self.delays is None else self.delays
        washout = max(task.washout, delays)
        drives = np.stack(
            [task.signal(stream.numpy("drive"), (washout + 2 * steps, 1)) for stream in streams]
        )
        states = shown.all(drives)[:, washout:, 0]
        size = states.shape[-1]
        count = 2 * size if self.streams is None else self.streams
        if any((lane == lane[0]).all() for lane in states):
            raise NotApplicable("its states never change: there is no memory to measure")
        narrow = np.stack(
            [
                self.centre
                + self.near * task.signal(stream.numpy("generalisation"), (task.washout + count, 1))
                for stream in streams
            ]
        )
        # As long as the drive, where it is shorter: a shape more would be a program more.
        as_long = np.pad(narrow, [(0, 0), (0, max(0, drives.shape[1] - narrow.shape[1])), (0, 0)])
        near = shown.all(as_long)[:, task.washout : task.washout + count, 0]
        stretches = np.stack(
            [self._stretches(task, stream.numpy("streams"), count) for stream in streams]
        )
        ends = shown.last(stretches, size)
        found = []
        for lane in range(len(streams)):
            arrays, facts = _capacities(
                self, Harvest(states[lane]), drives[lane, :, 0], steps, delays, task
            )
            matrices = {
                "kernel": ends[lane, :count],
                "generalisation": ends[lane, count:],
                "kernel_stream": states[lane, :count],
                "generalisation_stream": near[lane],
            }
            arrays |= {
                f"{name}_values": np.linalg.svd(rows, compute_uv=False)
                for name, rows in matrices.items()
            }
            found.append((arrays, {**facts, "size": size, "streams": count, "washout": washout}))
        for (arrays, facts), (more, said) in zip(found, _paths(task, shown, streams), strict=True):
            arrays.update(more)
            facts.update(said)
            if remarks := [*([] if self.after else [UNTRAINED]), *_remarks(arrays, facts)]:
                facts["remarks"] = remarks
        return found

    def _of_recording(
        self, task: Any, shown: _Shown, streams: Sequence[Streams]
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        """What states show that were recorded under the noise of `quickstudy drive`."""
        found = []
        for stream in streams:
            drive, narrow = task.drive(stream.numpy("data")).inputs, narrow_noise(task, stream)
            states, near = (shown.all(part[None])[0, :, 0] for part in (drive, narrow))
            size = states.shape[-1]
            delays = min(self.delays or 2 * size, task.washout)
            if delays < 1:
                raise NotApplicable(
                    "no input comes before the first state that is measured: give the task a"
                    " washout"
                )
            rows = states[task.washout :]
            arrays, facts = _capacities(
                self, Harvest(rows), drive[:, 0], task.training, delays, task
            )
            for name, part in (("kernel", rows), ("generalisation", near[task.washout :])):
                arrays[f"{name}_stream_values"] = np.linalg.svd(part[: 2 * size], compute_uv=False)
            facts |= {"size": size, "washout": task.washout}
            facts["remarks"] = [RECORDED, *_remarks(arrays, facts)]
            found.append((arrays, facts))
        return found

    def _stretches(self, task: Any, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        """(time, stream): a washout in common, then streams without a common end, and as many with
        one.
        """
        before, own = (
            task.signal(rng, (task.washout, 1)),
            task.signal(rng, (self.length, 2 * count)),
        )
        own[self.length - min(self.shared, self.length) :, count:] = own[
            self.length - min(self.shared, self.length) :, :1
        ]
        return np.concatenate([np.repeat(before, 2 * count, axis=1), own])


def _remarks(arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> list[str]:
    """What a reader of the scores must know: a memory curve that was cut, and noise."""
    found = []
    curve = arrays["memory"]
    if curve[-1] >= significance(1, facts["tested_steps"]):
        found.append(
            f"Memory was measured up to delay {len(curve)}, which is still held: the memory"
            " capacity is higher; give the task a longer washout, or the protocol more delays."
        )
    if "noise" in facts:
        found.append(
            "Echo index and Lyapunov exponent are not given: it answers differently to the same"
            f" input (deviation {facts['noise']:.2g} of its states). Ranks count this noise where"
            " it is above their threshold."
        )
    return found


def begun_after(
    after: str,
    task: Any,
    learner: Any,
    streams: Sequence[Streams],
    unfinished: Unfinished | None = None,
) -> Examination:
    """The untrained learner, or the learner after another task, by the protocol `dynamics`, on
    the data that a run of that task would show.
    """
    if not after:
        brief = Brief(*spaces_of(task), "squared", task.washout + task.training, 1)
        return Examination(
            [], learner.begin(brief, [stream.for_learner() for stream in streams]), brief
        )
    from quickstudy.protocols.dynamics import DynamicsProtocol

    before = registries.typed_task(after)
    if spaces_of(before)[0] != spaces_of(task)[0]:
        raise UsageError(
            f"after={after}: what is learned before must be read as {task.id} is, one number a step"
        )
    own = [dataclasses.replace(stream, task=before.id) for stream in streams]
    return DynamicsProtocol().examine(before, learner, own, unfinished)


class _Shown:
    """The states of a pupil, in double precision as it gives them, finite or its fault."""

    def __init__(self, pupil: Pupil) -> None:
        self._pupil = face(pupil, Showing)

    def noise(self, inputs: NDArray[np.float64], states: NDArray[Any]) -> float:
        """The deviation of the noise in states (time, example, state), from those that it gives to
        the same inputs once more; 0 for compiled learners, which are not asked again.
        """
        if stated(self._pupil, PupilFacts).host is None:
            return 0.0
        again = self.all(inputs[:, :, :1])[0]
        return float(np.sqrt(np.square(again[:, 0] - states[:, 0].astype(np.float64)).mean() / 2))

    def all(self, inputs: NDArray[np.float64]) -> NDArray[Any]:
        """(lane, time, example, state) of inputs (lane, time, example)."""
        given = inputs[..., None]
        found = (
            self._pupil.states(given, apart=True)
            if len(given) > 1
            else self._pupil.states(given[0])
        )
        states = np.asarray(found)
        if states.ndim != 4 or states.shape[:3] != inputs.shape:
            raise LearnerFault(
                f"states must have the shape {(*inputs.shape, 'state')}, got {states.shape}"
            )
        return finite("the learner's states", states)

    def last(self, inputs: NDArray[np.float64], size: int) -> NDArray[np.float64]:
        """(lane, example, state) after all of inputs (lane, time, example), some examples at a
        time, of such a size.
        """
        lanes, steps, examples = inputs.shape
        together = max(1, STATES_TOGETHER // (4 * lanes * steps * size))
        groups = np.array_split(np.arange(examples), -(-examples // together))
        largest = max(map(len, groups))
        # All groups have one shape: they share a compiled program.
        filled = [np.resize(group, largest) for group in groups]
        parts = [
            self.all(inputs[:, :, chosen])[:, -1, : len(group)]
            for group, chosen in zip(groups, filled, strict=True)
        ]
        return np.concatenate(parts, axis=1).astype(np.float64)


def _capacities(
    asked: PropertiesProtocol,
    harvest: Harvest,
    drive: NDArray[np.float64],
    steps: int,
    delays: int,
    task: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Memory and processing capacity of one lane, and what they were measured on."""
    threshold = harvest.threshold()
    if reason := too_few(harvest, threshold):
        raise NotApplicable(f"{reason}; set steps to half of that or more")
    tested = harvest.steps - steps
    memory = memory_to_end(
        harvest, drive, 1, delays, steps, significance(1, tested), grow=asked.delays is None
    )
    terms = processing_capacity(
        harvest, drive, threshold, None, BASES[task.distribution], asked.degrees, asked.budget
    )
    arrays = {
        "memory": memory,
        "memory_in_sample": harvest.memory(drive, range(1, len(memory) + 1)),
        "degree": terms.degree,
        "delay": terms.delay,
        "window": terms.window,
        "capacity": terms.capacity,
        "singular_values": harvest.singular_values,
    }
    facts = {
        "steps": harvest.steps,
        "tested_steps": tested,
        "rank": harvest.rank,
        "constant": harvest.constant,
        "threshold": threshold,
        "complete": terms.complete,
    }
    return arrays, facts


def _paths(
    task: Any, shown: _Shown, streams: Sequence[Streams]
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Per lane: `gaps` (path, path) between paths at the end, `apart` (step, path) from the first
    path, `distance` (step, path) from its nudged copy.
    """
    drives = []
    for rng in (stream.numpy("paths") for stream in streams):
        pasts, tail = task.signal(rng, (task.washout + 1, PATHS)), task.signal(rng, (TAIL, 1))
        nudged = pasts.copy()
        nudged[-1] += NUDGE
        whole = np.concatenate([pasts, nudged], axis=1)
        drives.append(np.concatenate([whole, np.repeat(tail, 2 * PATHS, axis=1)]))
    found = []
    for drive, states in zip(drives, shown.all(np.stack(drives)), strict=True):
        rounding = float(np.finfo(states.dtype).eps) if states.dtype.kind == "f" else 0.0
        late = states[task.washout :].astype(np.float64)
        spread = float(np.sqrt(late[:, :PATHS].var(axis=0).sum(axis=-1).mean()))
        scale = float(np.sqrt(np.square(late).sum(axis=-1).mean()))
        ends = late[-1, :PATHS]
        gaps = np.linalg.norm(ends[:, None] - ends[None], axis=-1)
        distance = np.linalg.norm(late[:, PATHS:] - late[:, :PATHS], axis=-1)
        apart = np.linalg.norm(late[:, 1:PATHS] - late[:, :1], axis=-1)
        found.append(
            (
                {"gaps": gaps, "apart": apart, "distance": distance},
                {"spread": spread, "rounding": rounding * scale},
            )
        )
        if (noise := shown.noise(drive[None], states)) > MOST_ROUNDING * rounding * scale:
            found[-1][1]["noise"] = noise
    return found
