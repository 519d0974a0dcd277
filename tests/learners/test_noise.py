"""Noise while a core learns: from the stream `noise`, the same wherever a lesson is cut, and none when it answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.seeds import Streams
from quickstudy.cores.recurrent import LSTM
from quickstudy.cores.transformer import Transformer
from quickstudy.learners.adam import Adam

NOISY = Transformer(embedding=8, heads=2, hidden=6, dropout=0.5)


@pytest.fixture(scope="module")
def setup(world):
    train, test = world.examples(24), world.examples(10, seed=1)
    return world.lesson(train), Exam([test]), world.brief(train)


class Elsewhere(Streams):
    """Streams that differ in the noise only."""

    def words(self, purpose, count=8):
        return super().words("other noise" if purpose == "noise" else purpose, count)


def taught(setup, core, streams, *cuts):
    lesson, exam, brief = setup
    pupil = Adam(rate=0.01).begin(core, brief, [streams])
    for start, stop in zip((0, *cuts), (*cuts, lesson.items), strict=True):
        pupil.learn(lesson, start, stop)
    return pupil, pupil.answer(exam)


def test_the_stream_of_noise_makes_the_noise(setup):
    pupil, answers = taught(setup, NOISY, Streams(0, "noise", 0))
    assert np.array_equal(taught(setup, NOISY, Streams(0, "noise", 0))[1], answers)
    _, others = taught(setup, NOISY, Elsewhere(0, "noise", 0))
    assert not np.allclose(others, answers)
    # Answers are without noise: asked twice, they are the same.
    assert np.array_equal(pupil.answer(setup[1]), answers)


def test_every_update_has_noise_of_its_own_wherever_the_lesson_is_cut(setup):
    answers = taught(setup, NOISY, Streams(0, "noise", 0))[1]
    assert np.array_equal(taught(setup, NOISY, Streams(0, "noise", 0), 8, 13)[1], answers)


def test_a_restored_learner_goes_on_with_the_noise_it_had(setup):
    lesson, exam, brief = setup
    pupil, answers = taught(setup, NOISY, Streams(0, "noise", 0), 8)
    first = Adam(rate=0.01).begin(NOISY, brief, [Streams(0, "noise", 0)])
    first.learn(lesson, 0, 8)
    second = Adam(rate=0.01).begin(NOISY, brief, [Elsewhere(0, "noise", 7)])
    second.restore(first.snapshot())
    second.learn(lesson, 8, lesson.items)
    assert np.array_equal(second.answer(exam), answers)
    assert second.cost() == pupil.cost()


@pytest.mark.parametrize("causal", [True, False])
def test_noise_does_not_depend_on_the_lanes_beside(world, causal):
    core = replace(NOISY, causal=causal)
    short, long = world.examples(24, longest=7), world.examples(24, seed=1, longest=30)
    exams, streams = [world.examples(10, seed=seed, longest=7) for seed in (2, 3)], world.streams(2)
    lesson = world.lesson(short, long)
    both = Adam(rate=0.01).begin(core, world.brief(long), streams)
    both.learn(lesson, 0, lesson.items)
    alone = Adam(rate=0.01).begin(core, world.brief(long), streams[:1])
    alone.learn(Lesson([short], lesson.order[:1]), 0, lesson.items)
    answers = alone.answer(Exam(exams[:1]))
    np.testing.assert_allclose(both.answer(Exam(exams))[:1, : answers.shape[1]], answers, atol=1e-5)


def test_a_core_without_noise_has_no_key(setup):
    _, _, brief = setup
    quiet, noisy = (
        Adam().begin(core, brief, [Streams(0, "noise", 0)]).snapshot().arrays for core in (LSTM(units=3), NOISY)
    )
    keys = [array for array in noisy.values() if array.dtype == np.uint32]
    assert [array.shape for array in keys] == [(1, 2)]
    assert not any(array.dtype == np.uint32 for array in quiet.values())
