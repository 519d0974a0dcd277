"""What a learner does whose answers decide what it reads next: it goes on with a series, or is put in control."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import LearnerFault, NotApplicable
from quickstudy.base.examples import Series
from quickstudy.base.learner import Stepping, face
from quickstudy.base.seeds import Streams

READ_TOGETHER = 250
"""Steps that are read in one call before a free run."""


def run_free(task: Any, pupil: Any, series: Sequence[Series]) -> list[dict[str, NDArray[Any]]]:
    """Of every lane what was reached and what should have been in its free runs, by the kind of these; nothing where
    there are none, and where a learner does not read step by step and is not scored by them.
    """
    wanted = [task.free_run(lane) for lane in series] if hasattr(task, "free_run") else []
    if not wanted or wanted[0] is None:
        return [{} for _ in series]
    try:
        stepping = face(pupil, Stepping)
    except NotApplicable:
        if getattr(task, "running", "driven") == "free":
            raise
        return [{} for _ in series]
    moving = getattr(wanted[0], "moving", None)
    if moving is not None and hasattr(pupil, "act_on"):
        warm = np.stack([run.warm for run in wanted])
        plants = _stacked([run.begin() for run in wanted])
        free = pupil.act_on(warm, plants, moving, wanted[0].target.shape[1])
    else:
        free = np.swapaxes(_step_by_step(stepping, wanted), 1, 2)
    if not np.isfinite(free).all():
        raise LearnerFault("the learner's answers are not finite when it runs free: it has diverged")
    return [{f"{run.kind}_answer": free[lane], f"{run.kind}_target": run.target} for lane, run in enumerate(wanted)]


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
            state, answers = stepping.step(state, np.stack([following for _, following, _ in moved]))
    return reached


def run_on(
    task: Any, pupil: Any, series: Sequence[Series], streams: Sequence[Streams]
) -> list[dict[str, NDArray[Any]]]:
    """Of every lane a long run on its own answers, with its Lyapunov exponents, and as long a true series; nothing
    where the task asks for none, and of learners that are not one compiled program, through which nobody can
    differentiate.
    """
    steps = int(getattr(task, "climate", 0))
    if not steps or not hasattr(pupil, "exponents"):
        return [{} for _ in series]
    warm = np.stack(
        [lane.inputs[len(lane.inputs) - lane.test - 1000 : len(lane.inputs) - lane.test] for lane in series]
    )
    found, answers = pupil.exponents(warm, len(task.exponents), steps)
    if not (np.isfinite(found).all() and np.isfinite(answers).all()):
        raise LearnerFault("the learner's answers are not finite when it runs free: it has diverged")
    truths = [task.values(stream.numpy("climate"), answers.shape[1])[0] for stream in streams]
    return [
        {"climate_exponents": rates, "climate_answer": given, "climate_target": truth}
        for rates, given, truth in zip(found / task.interval, answers, truths, strict=True)
    ]
