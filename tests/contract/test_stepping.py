"""Stepping gives what `answer` gives, for every training; rows branch and are dropped on the
way.
"""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Stepping, face
from quickstudy.base.seeds import Streams
from quickstudy.jax_gateway import jax
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.stepping import unrolled
from quickstudy.testing.fixtures import CheckMaterial
from quickstudy.testing.small_tasks import Partners

MATERIAL = CheckMaterial.of(Partners(), 1, 24, 0)
SMALL = {"recall": "lags=3,hops=2,order=2", "attention": "embedding=8,heads=2,hidden=8"}


def cases():
    """Every training with the first core that takes it, and special ones. That cores with their
    usual training step so is shown by `check_learner` in test_components.
    """
    for training in registries.training.names():
        if "cross-entropy" not in getattr(
            registries.training.get(training), "losses", ("cross-entropy",)
        ):
            continue  # it learns from reward, and has no questions to be asked
        for core in registries.core.names():
            try:
                choose_learner(f"{core}+{training}", "corrected")
            except UsageError:
                continue
            yield f"{core}+{training}:{SMALL.get(core, '')}"
            break
    yield from ("esn:units=10", "lstm:units=6", "lru:units=6")
    yield "lstm+pooled:units=6,vectors=4,pool=mean,normed=true"
    yield "transformer:dropout=0.5,layers=2"
    yield "encoded-lstm:units=6,hidden=6,features=4,upper=5"


def pupil_of(name, lanes=1):
    """Taught a little, so that no two rows are answered alike."""
    learner = choose_learner(name, "corrected").make(None)
    pupil = learner.begin(
        MATERIAL.brief, [Streams(0, "testing/steps", lane) for lane in range(lanes)]
    )
    lesson = Lesson(
        list(MATERIAL.lesson.examples) * lanes, np.tile(MATERIAL.lesson.order, (lanes, 1))
    )
    pupil.learn(lesson, 0, lesson.items)
    return pupil


def asked_everywhere(tokens):
    return Examples(
        tokens, tokens, np.ones(tokens.shape, bool), np.full(tokens.shape[1], len(tokens))
    )


def answered(pupil, tokens):
    """(lane, time, row, width), by `answer`."""
    scores = pupil.answer(Exam([asked_everywhere(tokens)] * pupil.lanes))
    return scores.reshape(pupil.lanes, *tokens.T.shape, -1).swapaxes(1, 2)


def stepped(pupil, state, tokens):
    """The same for further steps, by `step`."""
    scores = []
    for inputs in tokens:
        state, given = pupil.step(state, np.tile(inputs, (pupil.lanes, 1)))
        scores.append(given)
    return state, np.stack(scores, axis=1)


def check(pupil):
    """Five rows of four steps become six of seven; each is answered as if it had been read
    alone.
    """
    reader, numbers = face(pupil, Stepping), np.array([4, 0, 4, 4, 2, 1])
    rng = np.random.default_rng(1)
    trunk, branches = (
        rng.integers(MATERIAL.brief.inputs.size, size=shape) for shape in ((4, 5), (3, 6))
    )
    whole = np.concatenate([trunk[:, numbers], branches])
    wanted = answered(pupil, whole)
    assert np.ptp(wanted[:, -1], axis=1).max() > 1e-4
    state, scores = stepped(reader, reader.start(5, 7), trunk)
    near = {"rtol": 1e-5, "atol": 2e-5}
    np.testing.assert_allclose(scores[:, :, numbers], wanted[:, :4], **near)
    state = reader.rows(state, numbers)
    _, scores = stepped(reader, state, branches)
    np.testing.assert_allclose(scores, wanted[:, 4:], **near)
    assert np.array_equal(answered(pupil, whole), wanted)
    return state, branches, wanted[:, 4:]


@pytest.mark.parametrize("name", list(cases()))
def test_steps_are_answered_like_questions(name):
    check(pupil_of(name))


@pytest.mark.parametrize("name", ["esn+sgd:units=10", "lstm:units=6"])
def test_lanes_step_side_by_side_and_many_steps_at_once(name):
    pupil = pupil_of(name, lanes=2)
    state, inputs, wanted = check(pupil)
    kept = np.array([4, 2, 0])  # from the same state once more, with fewer rows
    _, scores = unrolled(pupil, pupil.rows(state, kept), np.tile(inputs[:, kept], (2, 1, 1)))
    np.testing.assert_allclose(scores, wanted[:, :, kept], rtol=1e-5, atol=2e-5)


def test_one_program_for_every_step():
    pupil = pupil_of("esn:units=10")
    state = pupil.start(5, 40)
    state, _ = pupil.step(state, np.zeros((1, 5), int))
    compiled = []
    listener = lambda event, seconds, **_: compiled.append(event)  # noqa: E731
    jax.monitoring.register_event_duration_secs_listener(listener)
    try:
        for rows in (5, 6):  # both are read as six
            state = pupil.start(rows, 40)
            for token in range(4):
                state, _ = pupil.step(state, np.full((1, rows), token))
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)
    assert compiled == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("transformer:causal=false", "whole sequences"),
        ("lstm+pooled:pool=mean,padding=zeros", "padding"),
    ],
)
def test_what_cannot_go_step_by_step_says_why(name, reason):
    with pytest.raises(NotApplicable, match=reason):
        pupil_of(name).start(2, 5)


def test_rows_that_are_not_there_are_refused():
    pupil = pupil_of("esn:units=10")
    state = pupil.start(3, 5)
    with pytest.raises(UsageError, match=r"numbers 0\.\.2"):
        pupil.rows(state, [3])
    with pytest.raises(UsageError, match="3 rows on axis 1"):
        pupil.step(state, np.zeros((1, 4), int))
