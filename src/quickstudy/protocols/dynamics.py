"""How the dynamics family examines: learn from one part of a series, answer another, and run
free.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.examples import Examples, Series
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Pace, Stepping, face, finite, pace_of
from quickstudy.base.offers import (
    Differentiating,
    FreeRunning,
    Moving,
    Remarking,
    offers,
)
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import protocol
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.base.stated import PupilFacts, RunFacts, TaskFacts, stated
from quickstudy.base.task import SeriesTask, spaces_of
from quickstudy.base.trace import Trace, Unfinished
from quickstudy.protocols.examination import Examination, sit
from quickstudy.protocols.session import Clock
from quickstudy.tasks.dynamics.series import FreeRun


@protocol("dynamics", version=1)
@dataclass(frozen=True)
class DynamicsProtocol:
    """Train on the first part of a series, choose settings on the validation part, answer the test
    part.

    The state is carried through all parts. Driven tests read the true series at every step. Where
    the task asks for free runs, the learner reads up to 1,000 true steps and then its own answers,
    limited to +-1,000. Where no correct answer can be shown, the task's criterion is the loss and
    is shown instead.

    Source: Wringe, Trefzer and Stepney 2024, section 9.

    Parameters
    ----------
    lengths:
        Number of training lengths that are tested: the whole part, half of it, a quarter and so on.
    window:
        Steps per example of a learner trained by gradient, after as many that are only read.
    """

    lengths: int = parameter(1, at_least=1, at_most=12)
    window: int = parameter(50, at_least=1)

    measures: ClassVar[tuple[str, ...]] = (
        "errors",
        "symbol-errors",
        "free-running",
        "in-situ",
        "balance",
        "reaching",
        "climate",
        "training-length",
    )
    question: ClassVar[str] = "What can its memory compute?"
    programs: ClassVar[int] = 2  # to warm up, and to read its own answers
    headline: ClassVar[str] = "nrmse"
    columns: ClassVar[tuple[str, ...]] = (
        "nrmse",
        "symbol-error-rate",
        "free-nrmse",
        "nrmse-84",
        "valid-time",
        "in-situ-nrmse",
        "held",
    )
    replay_apart: ClassVar[bool] = False
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    @staticmethod
    def unfit(task: Any) -> str:
        """Why a task cannot be examined this way; nothing if it can."""
        if not isinstance(task, SeriesTask) or isinstance(spaces_of(task)[1], Tokens):
            return (
                f"dynamics asks for real numbers along a series, and {task.id} does not; give it"
                " another protocol"
            )
        return ""

    def examine(
        self,
        task: Any,
        learner: Any,
        streams: Sequence[Streams],
        unfinished: Unfinished | None = None,
    ) -> Examination:
        """One trace per lane, of kind `predictions`: answer and target (time, width), driven or
        free, by the task; free_answer and free_target (start, step, width), situ_answer and
        situ_target, or balance_answer and balance_target, where the answers act on a system;
        climate_answer and climate_target (step, width) and climate_exponents where a task asks for
        its climate; lengths and answers (length, time, width) with driven_target.
        """
        if fault := self.unfit(task):
            raise NotApplicable(fault)
        series = [drawn(task, stream) for stream in streams]
        pace = pace_of(learner)
        lesson, taught = self._lesson(pace, [_told(task, lane) for lane in series], streams)
        if stated(task, TaskFacts).validates_free:
            lesson = dataclasses.replace(
                lesson, free=[task.validation_run(lane) for lane in series]
            )
        exam = Exam([lane.part("test") for lane in series])
        brief = Brief(
            *spaces_of(task),
            stated(task, TaskFacts).criterion,
            lesson.examples[0].steps,
            lesson.items,
        )
        points = np.linspace(0, lesson.items, len(taught) + 1)[1:].astype(np.int64)
        sitting = sit(
            learner, brief, streams, lesson, points.tolist(), exam, np.asarray, unfinished
        )
        finite("the learner's answers", sitting.marks)
        clock = Clock()
        with clock.timing("answer"):
            runs = run_free(task, sitting.pupil, series)
            climates = run_on(task, sitting.pupil, series, streams)
        more = clock.seconds["answer"] / len(streams)
        traces = []
        for lane, cost in enumerate(sitting.costs):
            driven = {"answer": sitting.marks[-1, lane], "target": exam.targets[lane]}
            arrays = {**driven, **runs[lane], **climates[lane]}
            if stated(task, TaskFacts).running == "free":
                arrays |= {
                    "answer": runs[lane]["free_answer"][0],
                    "target": runs[lane]["free_target"][0],
                }
            if len(taught) > 1:
                arrays |= {
                    "lengths": np.asarray(taught),
                    "answers": sitting.marks[:, lane],
                    "driven_target": driven["target"],
                }
            facts = {"passes": pace.passes, **_facts(task, series[lane])}
            if offers(sitting.pupil, Remarking) and (remarks := sitting.pupil.remarks(lane)):
                facts["remarks"] = remarks
            whole = dataclasses.replace(cost, answer_seconds=cost.answer_seconds + more)
            traces.append(Trace("predictions", arrays, facts, whole))
        return Examination(traces, sitting.pupil, brief, sitting.last)

    def _lesson(
        self, pace: Pace, series: Sequence[Series], streams: Sequence[Streams]
    ) -> tuple[Lesson, list[int]]:
        """The training data, and the training lengths that are tested, the full length last."""
        training = series[0].training
        held_back = [lane.part("validation") for lane in series] if series[0].validation else None
        if pace.stride == 1:
            ends = sorted({max(1, training >> halvings) for halvings in range(self.lengths)})
            pieces = [_pieces(lane, ends) for lane in series]
            order = np.tile(np.arange(len(ends)), (len(series), 1))
            if len(ends) > 1 and pace.passes > 1:
                raise UsageError(
                    "several training lengths cannot be shown in several passes; leave one of"
                    " them out"
                )
            return Lesson(pieces, np.tile(order, (1, pace.passes)), validation=held_back), ends
        asked = min(self.window, training)
        windows = [lane.windows("training", asked, min(asked, lane.washout)) for lane in series]
        orders = [
            stream.order(lane.count, pace.passes)
            for lane, stream in zip(windows, streams, strict=True)
        ]
        return Lesson(windows, np.stack(orders), validation=held_back), [training]


@lru_cache(maxsize=32)
def drawn(task: Any, streams: Streams) -> Series:
    """The series of a repetition. Kept, since the next learner gets the same."""
    return task.drive(streams.numpy("data"))  # type: ignore[no-any-return]


def _told(task: Any, series: Series) -> Series:
    """The description of a series for a learner: for blind equalisation the modulus of every
    answer, and no answer.
    """
    if stated(task, TaskFacts).criterion == "squared":
        return series
    return dataclasses.replace(series, targets=np.abs(series.targets))


def _pieces(series: Series, ends: Sequence[int]) -> Examples:
    """The training part up to its last end, as one example for each end: it runs from the start of
    the series, and asks between the end before and its own.
    """
    whole = series.part("training")
    stops = series.washout + np.asarray(ends)
    time = np.arange(whole.steps)[:, None]
    asked = (time >= np.concatenate([[series.washout], stops[:-1]])) & (time < stops)
    many = np.zeros(len(ends), dtype=np.int64)
    return Examples(whole.inputs[:, many], whole.targets[:, many], asked, stops)


def _facts(task: Any, series: Series) -> dict[str, Any]:
    """What a reader must know to compare the run with another."""
    parts = {
        f"{part}_steps": getattr(series, part)
        for part in ("washout", "training", "validation", "test")
    }
    names = [
        "interval",
        "lyapunov",
        "running",
        "criterion",
        *(["exponents"] if stated(task, TaskFacts).climate else []),
    ]
    known = {name: getattr(task, name) for name in names if hasattr(task, name)}
    return {**parts, **known, **dict(stated(task, TaskFacts).taxonomy), **dict(series.facts)}


MANY_STEPS = 1_000_000
"""Steps of free runs by prefixes after which progress is reported."""
READ_TOGETHER = 250
"""Steps that are read in one call before a free run."""


def run_free(task: Any, pupil: Any, series: Sequence[Series]) -> list[dict[str, NDArray[Any]]]:
    """Of every lane what was reached and what should have been in its free runs, by the kind of
    these; nothing where there are none, and where a learner does not read step by step and is not
    scored by them.
    """
    wanted = [task.free_run(lane) for lane in series] if offers(task, FreeRunning) else []
    if not wanted or wanted[0] is None:
        return [{} for _ in series]
    try:
        stepping = face(pupil, Stepping)
    except NotApplicable:
        if stated(task, TaskFacts).running == "free":
            raise
        return [{} for _ in series]
    _announce(task, pupil, wanted)
    moving = stated(wanted[0], RunFacts).moving
    if moving is not None and offers(pupil, Moving):
        warm = np.stack([run.warm for run in wanted])
        plants = _stacked([run.begin() for run in wanted])
        free = pupil.act_on(warm, plants, moving, wanted[0].target.shape[1])
    elif stated(pupil, PupilFacts).one_at_a_time and type(wanted[0]) is FreeRun:
        alone = [run.row(number) for run in wanted for number in range(len(run.target))]
        parts = [_step_by_step(stepping, [run])[0, :, 0] for run in alone]
        free = np.array(parts).reshape(len(wanted), -1, *parts[0].shape)
    else:
        free = np.swapaxes(_step_by_step(stepping, wanted), 1, 2)
    finite("the learner's answers", free, " when it runs free")
    return [
        {f"{run.kind}_answer": free[lane], f"{run.kind}_target": run.target}
        for lane, run in enumerate(wanted)
    ]


def _announce(task: Any, pupil: Any, wanted: Sequence[Any]) -> None:
    """Say on standard error, before they begin, that free runs take long: a host without `step`
    predicts prefixes.
    """
    of_pupil = stated(pupil, PupilFacts)
    if not of_pupil.by_prediction or of_pupil.is_rule:
        return
    read, steps = len(wanted[0].warm), wanted[0].target.shape[1]
    total = sum(run.target.shape[0] * sum(range(read, read + steps)) for run in wanted)
    if total >= MANY_STEPS:
        sys.stderr.write(
            f"{task.id}: free runs of {pupil.called} read {total:,} steps, since it has no step of"
            " its own and predicts every prefix; give it start, step and rows (a device:"
            f" SteppedDevice), or take {task.id}:free=0\n"
        )


def _stacked(plants: Sequence[Any]) -> Any:
    """With a lane axis; a state is an array, or several."""
    if isinstance(plants[0], tuple):
        return tuple(np.stack(parts) for parts in zip(*plants, strict=True))
    return np.stack(plants)


def _step_by_step(stepping: Any, wanted: Sequence[Any]) -> NDArray[np.float64]:
    """(lane, step, row, width): what is reached, on the host."""
    from quickstudy.learners.stepping import unrolled

    warm = np.stack([run.warm for run in wanted])  # (lane, time, row, width)
    steps = wanted[0].target.shape[1]
    state = stepping.start(warm.shape[2], warm.shape[1] + steps)
    for first in range(0, warm.shape[1], READ_TOGETHER):
        state, scores = unrolled(stepping, state, warm[:, first : first + READ_TOGETHER])
    reached = np.empty((len(wanted), steps, warm.shape[2], wanted[0].target.shape[2]))
    answers = scores[:, -1]
    plants = [run.begin() for run in wanted]
    for step in range(steps):
        given = np.asarray(answers, np.float64)
        moved = [run.advance(plants[lane], given[lane], step) for lane, run in enumerate(wanted)]
        plants = [plant for plant, _, _ in moved]
        reached[:, step] = [there for _, _, there in moved]
        if step + 1 < steps:
            state, answers = stepping.step(
                state, np.stack([following for _, following, _ in moved])
            )
    return reached


WARM_UP = 1000
"""Steps before the test that are read before a learner runs free; all of them where there are
fewer.
"""


def run_on(
    task: Any, pupil: Any, series: Sequence[Series], streams: Sequence[Streams]
) -> list[dict[str, NDArray[Any]]]:
    """Of every lane a long run on its own answers, with its Lyapunov exponents, and as long a true
    series; empty where the task asks for none, and for learners that are not one compiled program,
    which cannot be differentiated.
    """
    steps = int(stated(task, TaskFacts).climate)
    if not steps or not offers(pupil, Differentiating):
        return [{} for _ in series]
    ends = [len(lane.inputs) - lane.test for lane in series]
    warm = np.stack(
        [lane.inputs[max(0, end - WARM_UP) : end] for lane, end in zip(series, ends, strict=True)]
    )
    found, answers = pupil.exponents(warm, len(task.exponents), steps)
    for part in (found, answers):
        finite("the learner's answers", part, " when it runs free")
    truths = [task.values(stream.numpy("climate"), answers.shape[1])[0] for stream in streams]
    return [
        {"climate_exponents": rates, "climate_answer": given, "climate_target": truth}
        for rates, given, truth in zip(found / task.interval, answers, truths, strict=True)
    ]
