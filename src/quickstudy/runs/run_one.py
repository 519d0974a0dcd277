"""From a setting and a repetition to a record: the only place where task, learner, protocol and
measures meet.
"""

from __future__ import annotations

import contextlib
import gc
import inspect
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from quickstudy.base.canonical import digest
from quickstudy.base.code_identity import Origin, is_ours, origin_of
from quickstudy.base.energy import forget_peak_memory, peak_memory
from quickstudy.base.errors import (
    LearnerFault,
    MissingExtra,
    NotApplicable,
    TooManyLanes,
    Unavailable,
    UsageError,
)
from quickstudy.base.learner import Brief, Learner, Pupil, Snapshot
from quickstudy.base.parameters import recorded_id
from quickstudy.base.record import FAILED, NOT_APPLICABLE, OK, Record
from quickstudy.base.score_metadata import Legend
from quickstudy.base.seeds import Streams
from quickstudy.base.text import described, whole_traceback, words_of
from quickstudy.base.trace import Trace
from quickstudy.learners.lookahead_check import Watched
from quickstudy.learners.resolved_learner import fewer_lanes
from quickstudy.runs import provenance
from quickstudy.runs.checkpoints import UnfinishedCall
from quickstudy.runs.run_spec import Parts, Setting, built_in, identity, labels
from quickstudy.runs.scoring import find_measures, score_trace

if TYPE_CHECKING:
    from quickstudy.runs.journal import Journal


@dataclass(frozen=True)
class Outcome:
    """A finished repetition: its record without the trace, the trace, and the trained learner if it
    was asked for.

    unfinished: with the last repetition of a call, its checkpoint; to be deleted when all records
    are written.
    """

    record: Record
    trace: Trace | None = None
    snapshot: Snapshot | None = None
    unfinished: UnfinishedCall | None = None


def examine(
    setting: Setting,
    repetitions: Sequence[int],
    keep_learners: bool = False,
    wanted: int | None = None,
    journal: Journal | None = None,
    keep_answers: bool = False,
    beside: Sequence[Setting] = (),
    measure_cost: bool = False,
) -> Iterator[Outcome]:
    """Run the repetitions, as many side by side as there are lanes, and give each outcome when its
    call ends.

    wanted: how many repetitions of the setting there are in all, by which lanes are chosen;
    default: these. A call that does not fit the memory of the device is made again with fewer
    lanes. journal: whose folder keeps the checkpoints of protocols; default: none are kept.
    keep_answers: traces have every answer of the last test. beside: the setting of each repetition,
    where they are several that may run side by side. measure_cost: what the trained learner costs
    to run is measured too (`quickstudy.learners.footprint`). A learner that raises or breaks the
    protocol gives failed records with the reason and the traceback, one that is not made for what
    is asked gives not-applicable ones; neither stops the run.
    """
    resolved = {id(one): one.resolve() for one in (setting, *beside)}
    lanes = resolved[id(setting)].learner.lanes(wanted or len(repetitions))
    left = [
        _Seat(one, resolved[id(one)], repetition)
        for one, repetition in zip(beside or [setting] * len(repetitions), repetitions, strict=True)
    ]
    while left:
        try:
            yield from _call(
                left[:lanes], lanes, keep_learners, journal, keep_answers, measure_cost
            )
            left = left[lanes:]
        except TooManyLanes as error:
            lanes = fewer_lanes(lanes, error.fit)
            # Frames of the error may still hold what is on the device; nothing of it may stay in
            # the way.
            error.__cause__ = error.__traceback__ = None
            gc.collect()


@dataclass(frozen=True)
class _Seat:
    """What runs in a lane."""

    setting: Setting
    parts: Parts
    repetition: int


def _call(
    seats: Sequence[_Seat],
    lanes: int,
    keep_learners: bool,
    journal: Journal | None,
    keep_answers: bool,
    measure_cost: bool,
) -> Iterator[Outcome]:
    started = time.time()
    from_now = measure_cost and forget_peak_memory()
    setting, parts = seats[0].setting, seats[0].parts
    # A short call is filled up with lanes whose results are dropped: the program, and so the
    # numbers, stay the same.
    filled = [*seats, *[seats[-1]] * (lanes - len(seats))]
    streams = [Streams(setting.root, recorded_id(parts.task), seat.repetition) for seat in filled]
    whats = [identity(seat.setting, seat.parts, seat.repetition) for seat in seats]
    origins = _origins(parts)
    place = {
        "versions": provenance.versions(origins),
        "device": parts.learner.device(),
        "lanes": lanes,
    }
    unfinished = (
        None
        if journal is None
        else UnfinishedCall(journal, [digest(what) for what in whats], place)
    )
    learner: _Remembering | None = None
    compiled_before = provenance.cache_counts()
    status, reason, look_ahead, remark, traceback, passing = OK, "", "", "", "", False
    traces: list[Trace] = []
    kept: list[Snapshot] = []
    snapshots: list[Snapshot] = []
    measured: dict[str, float] = {}
    unmeasured: dict[str, str] = {}
    try:
        made = parts.learner.make_beside([seat.parts.learner for seat in filled], parts.task)
        learner = _Remembering(made, parts.brought and parts.learner.role == "learner")
        # A protocol without checkpoints stores none.
        known = "unfinished" in inspect.signature(parts.protocol.examine).parameters
        offered = {"unfinished": unfinished} if known else {}
        examination = parts.protocol.examine(parts.task, learner, streams, **offered)
        if keep_learners:
            shots = zip(
                filled, examination.snapshots(), strict=False
            )  # of some learners there are none
            kept = [_named(snapshot, seat.parts, seat.setting) for seat, snapshot in shots]
        look_ahead, remark = learner.look_ahead(), learner.remark()
        traces, snapshots = list(examination.traces), kept
        if keep_answers and examination.last is not None:
            traces = [examination.last.kept_in(trace, lane) for lane, trace in enumerate(traces)]
        if measure_cost:
            measured, unmeasured = _measured(examination, from_now)
    except NotApplicable as error:
        status, reason = NOT_APPLICABLE, words_of(error)
    except TooManyLanes:
        raise
    except (LearnerFault, UsageError) as error:
        status, reason, traceback = FAILED, words_of(error), whole_traceback(error)
        passing = isinstance(error, Unavailable | MissingExtra)
    except Exception as error:  # whichever exception a learner raises, the run goes on
        if lanes > 1 and _no_memory(error):
            raise TooManyLanes(described(error)) from error
        status, reason, traceback = FAILED, described(error), whole_traceback(error)
    finally:
        if learner is not None:
            learner.close()
    measures = find_measures(parts.protocol.measures) if traces else []
    legend = Legend.of(parts.protocol, measures).as_facts() if traces else {}
    # Libraries that were loaded during the run are known now.
    place = {**place, "versions": provenance.versions(origins), **provenance.code(origins, journal)}
    place["fingerprints"] = provenance.fingerprints(built_in(parts), measures)
    place |= provenance.compiled_since(compiled_before)
    noted: dict[str, Any] = {"look_ahead": look_ahead, "remark": remark, "passing": passing}
    if unmeasured:
        noted["unmeasured"] = unmeasured
    noted = {name: value for name, value in noted.items() if value}
    for lane, (seat, what) in enumerate(zip(seats, whats, strict=True)):
        trace = traces[lane] if traces else None
        record = Record(
            what=what,
            status=status,
            reason=reason,
            where={**_where(place, started, unfinished), **noted},
            cost={**trace.cost.as_facts(), **measured} if trace else {},
            scores=score_trace(trace, measures, setting.convention) if trace else {},
            labels=labels(seat.setting, seat.parts),
            legend=legend,
            traceback=traceback,
        )
        last = unfinished if lane == len(whats) - 1 else None
        yield Outcome(record, trace, snapshots[lane] if snapshots else None, last)


def _measured(examination: Any, from_now: bool) -> tuple[dict[str, float], dict[str, str]]:
    """What the trained learner costs to run, and why some of it is not known."""
    from quickstudy.learners.footprint import footprint, test_sequences

    # Before anything else is computed: what the measurement itself takes does not count.
    peak = peak_memory() if from_now else None
    last = examination.last
    sequences = test_sequences(last.exam) if last is not None else []
    found = footprint(examination.pupil, examination.brief, sequences)
    if peak is not None:
        return {**found.known, "peak_bytes": peak}, dict(found.unknown)
    reason = "this system cannot tell the peak of one run"
    return dict(found.known), {**found.unknown, "peak_bytes": reason}


def _no_memory(error: Exception) -> bool:
    """Whether a device, or this machine, had no memory left. XLA has no class of its own for it."""
    text = str(error)
    return isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in text or "OUT_OF_MEMORY" in text


class _Remembering:
    """A learner that remembers the pupils it begins, so that what they opened is always closed, and
    so that user code (watched) can be checked for looking ahead; built-in learners are checked by
    tests.
    """

    def __init__(self, learner: Learner, watched: bool) -> None:
        self._learner = learner
        self._watched = watched
        self._pupils: list[Any] = []

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> Pupil:
        pupil: Any = self._learner.begin(brief, streams)
        self._pupils.append(
            Watched(pupil, brief, streams[0].numpy("look-ahead")) if self._watched else pupil
        )
        return self._pupils[-1]  # type: ignore[no-any-return]

    def look_ahead(self) -> str:
        """The result of the look-ahead check of user code. Raises LearnerFault if one looks
        ahead.
        """
        found = {pupil.look_ahead() for pupil in self._pupils} if self._watched else set[str]()
        return min(found - {""}, default="")  # "cannot be told" comes before "nothing found"

    def remark(self) -> str:
        """The last learner's remarks on its run, such as that it was hardly trained."""
        return str(getattr(self._pupils[-1], "remark", lambda: "")()) if self._pupils else ""

    def close(self) -> None:
        for pupil in self._pupils:
            with contextlib.suppress(
                Exception
            ):  # the outcome is valid even if closing the learner fails
                getattr(pupil, "close", lambda: None)()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._learner, name)


def _named(snapshot: Snapshot, parts: Parts, setting: Setting) -> Snapshot:
    """The snapshot with all that is needed to bring the learner back."""
    facts = {"learner": dict(parts.learner.what), "convention": setting.convention}
    return Snapshot(snapshot.arrays, {**snapshot.facts, **facts})


def _origins(parts: Parts) -> list[Origin]:
    """Where the code of users' own components comes from."""
    kinds = [type(parts.task), type(parts.protocol)]
    return [*parts.learner.origins, *(origin_of(kind) for kind in kinds if not is_ours(kind))]


def _where(
    place: Mapping[str, Any], started: float, unfinished: UnfinishedCall | None
) -> dict[str, Any]:
    where = {
        **place,
        "machine": provenance.machine(),
        "started": round(started, 3),
        "seconds": round(time.time() - started, 6),
    }
    if unfinished is not None and unfinished.found is not None:
        where["seconds"] = round(unfinished.seconds + time.time() - started, 6)
        where["resumed"] = unfinished.resumed
    return where
