"""Ridge regression in pieces is ridge regression: against a few lines of NumPy, to the last
digits.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import LearnerFault, UsageError
from quickstudy.base.examples import Examples, Series
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.cores.reca import ReservoirAutomaton
from quickstudy.learners import ridge
from quickstudy.learners.chunked_features import CHUNK, blocks
from quickstudy.learners.core_with_training import Trained
from quickstudy.learners.ridge import STRENGTHS, WITHOUT_VALIDATION, Ridge, stretch_of

ESN = EchoState(units=12, radius=0.9)
EXACT = ReservoirAutomaton(redundancy=2, block=8)
"""Its features are zeros and ones, the same to the last bit however they are computed."""


def plain_ridge(features, targets, strength):
    """(F+1, V): the textbook, the bias not held back."""
    z = np.hstack([features, np.ones((len(features), 1))])
    held_back = np.diag([strength] * features.shape[1] + [0.0])
    return np.linalg.solve(z.T @ z + held_back, z.T @ targets)


def applied(weights, features):
    return features @ weights[:-1] + weights[-1]


def begun(core, brief, streams, **parameters):
    return Trained(core, Ridge(**parameters)).begin(brief, streams)


def rows_of(pupil, examples, lane=0):
    """Features and targets of the questions of one lane, in float64."""
    found = [
        np.asarray(block.rows)[lane, : len(block.numbers[lane])]
        for block in blocks(pupil._cores, [examples] * pupil.lanes, stretch_of([examples]))
    ]
    return np.concatenate(found).astype(float), Exam([examples]).targets[0]


def driven(steps, seed=0, washout=10, validation=0, test=0):
    """A series that asks for its last input and for the one before, with a little noise."""
    rng = np.random.default_rng(seed)
    drive = rng.uniform(-1.0, 1.0, (steps, 1))
    targets = np.hstack([drive, np.roll(drive, 1, axis=0)]) + 0.05 * rng.normal(size=(steps, 2))
    return Series(drive, targets, washout, steps - washout - validation - test, validation, test)


def of_reals(examples):
    return Brief(Reals(1), Reals(2), "squared", examples.steps, examples.count)


@pytest.mark.parametrize("strength", [1e-3, 1.0, 50.0])
def test_it_is_ridge_regression_on_symbols(world, strength):
    """More rows than are added up at once, each lane with its own examples."""
    lanes = [world.examples(500, seed=seed) for seed in (0, 1)]
    assert all(lane.questions > 2 * ridge.ROWS_TOGETHER for lane in lanes)
    pupil = begun(EXACT, world.brief(lanes[0]), world.streams(2), strength=strength)
    pupil.learn(world.lesson(*lanes), 0, 500)
    exam = Exam([world.examples(30, seed=5), world.examples(20, seed=6)])
    answers = pupil.answer(exam)
    for lane, examples in enumerate(lanes):
        features, targets = rows_of(pupil, examples, lane)
        weights = plain_ridge(features, np.eye(world.symbols)[targets], strength)
        expected = applied(weights, rows_of(pupil, exam.examples[lane], lane)[0])
        np.testing.assert_allclose(answers[lane][exam.counted[lane]], expected, atol=1e-10)
    assert pupil.scale == "order"
    assert [cost.updates for cost in pupil.cost()] == [lane.questions for lane in lanes]
    assert pupil.cost()[0].trained_parameters == 33 * world.symbols


def test_it_is_ridge_regression_on_real_numbers(world):
    series = driven(400, test=100)
    training, exam = series.part("training"), Exam([series.part("test")])
    pupil = begun(ESN, of_reals(training), world.streams(), strength=0.1)
    pupil.learn(Lesson([training], np.array([[0]])), 0, 1)
    features, targets = rows_of(pupil, training)
    assert len(features) == 290
    expected = applied(plain_ridge(features, targets, 0.1), rows_of(pupil, exam.examples[0])[0])
    np.testing.assert_allclose(pupil.answer(exam)[0], expected, atol=1e-10)
    np.testing.assert_allclose(
        features, np.asarray(pupil.states(training.inputs))[0, 10:, 0], atol=1e-5
    )
    assert pupil.scale == "values"
    assert (
        np.square(pupil.answer(exam)[0] - exam.targets[0]).mean()
        < 0.01
        < np.var(exam.targets[0]) / 10
    )


@settings(max_examples=12, deadline=None)
@given(cuts=st.lists(st.integers(0, 90), max_size=4))
def test_where_a_lesson_is_cut_changes_no_bit(world, cuts):
    examples, exam = world.examples(90), Exam([world.examples(20, seed=5)])
    lesson = world.lesson(examples)
    whole, pieces = (begun(ESN, of_symbols(world, examples), world.streams()) for _ in range(2))
    whole.learn(lesson, 0, 90)
    points = [0, *sorted(cuts), 90]
    for start, stop in pairwise(points):
        pieces.learn(lesson, start, stop)
        if stop == points[1]:
            pieces.answer(exam)  # to be asked on the way teaches nothing
    assert np.array_equal(whole.answer(exam), pieces.answer(exam))


def of_symbols(world, examples):
    return Brief(
        Tokens(world.symbols),
        Tokens(world.symbols),
        "cross-entropy",
        examples.steps,
        examples.count,
    )


def test_a_series_longer_than_what_is_held_at_once_is_read_piece_by_piece(world, monkeypatch):
    series = driven(1000, test=300)
    training, exam = series.part("training"), Exam([series.part("test")])
    answers = {}
    for steps in (2048, 64):
        monkeypatch.setattr(ridge, "STEPS_TOGETHER", steps)
        pupil = begun(ESN, of_reals(training), world.streams(), strength=0.1)
        pupil.learn(Lesson([training], np.array([[0]])), 0, 1)
        answers[steps] = pupil.answer(exam)
        assert stretch_of([training]).steps <= steps
    np.testing.assert_allclose(answers[64], answers[2048], atol=1e-5)
    assert answers[64].std() > 0.1


def test_the_strength_is_chosen_on_the_validation_part_and_that_is_not_learned_from(world):
    """Few rows and much noise ask for a strong prior; so the choice is neither the weakest nor that
    without it.
    """
    rng = np.random.default_rng(0)
    series = driven(60, validation=20)
    noisy = Series(series.inputs, series.targets + rng.normal(size=(60, 2)), 10, 30, 20, 0)
    training, validation = noisy.part("training"), noisy.part("validation")
    pupil = begun(ESN, of_reals(training), world.streams())
    pupil.learn(Lesson([training], np.array([[0]]), validation=[validation]), 0, 1)
    features, targets = rows_of(pupil, training)
    fits = [plain_ridge(features, targets, strength) for strength in STRENGTHS]
    held_out, truth = rows_of(pupil, validation)
    errors = [np.square(applied(fit, held_out) - truth).sum() for fit in fits]
    best = int(np.argmin(errors))
    assert STRENGTHS[best] > 100 * WITHOUT_VALIDATION
    np.testing.assert_allclose(
        pupil.answer(Exam([validation]))[0], applied(fits[best], held_out), atol=1e-8
    )
    without = begun(ESN, of_reals(training), world.streams())
    without.learn(Lesson([training], np.array([[0]])), 0, 1)
    given = begun(ESN, of_reals(training), world.streams(), strength=WITHOUT_VALIDATION)
    given.learn(Lesson([training], np.array([[0]]), validation=[validation]), 0, 1)
    exam = Exam([validation])
    assert np.array_equal(without.answer(exam), given.answer(exam))
    assert not np.allclose(without.answer(exam), pupil.answer(exam))


def test_each_lane_chooses_for_itself(world):
    clean, noisy = driven(60, validation=20), driven(60, seed=1, validation=20)
    noisy = Series(noisy.inputs, np.random.default_rng(2).normal(size=(60, 2)), 10, 30, 20, 0)
    training, validation = (
        [lane.part(name) for lane in (clean, noisy)] for name in ("training", "validation")
    )
    pupil = begun(ESN, of_reals(training[0]), world.streams(2))
    pupil.learn(Lesson(training, np.array([[0], [0]]), validation=validation), 0, 1)
    sizes = np.abs(pupil.snapshot().arrays["weights"][:, :-1]).max(axis=(1, 2))
    assert sizes[1] < 0.1 * sizes[0]


def test_a_snapshot_holds_the_chosen_readout(world):
    series = driven(200, validation=50)
    training, validation = series.part("training"), series.part("validation")
    lesson = Lesson([training], np.array([[0, 0]]), validation=[validation])
    pupil, fresh = (begun(ESN, of_reals(training), world.streams()) for _ in range(2))
    pupil.learn(lesson, 0, 1)
    fresh.restore(pupil.snapshot())
    exam = Exam([validation])
    assert np.array_equal(fresh.answer(exam), pupil.answer(exam))
    for one in (pupil, fresh):
        one.learn(lesson, 1, 2)
    assert np.array_equal(fresh.answer(exam), pupil.answer(exam))
    assert fresh.cost() == pupil.cost()


def test_before_anything_is_learned_it_answers_nothing(world):
    examples = world.examples(6)
    exam = Exam([examples])
    assert (
        not begun(ESN, of_reals(driven(50).part("training")), world.streams())
        .answer(Exam([driven(50).part("training")]))
        .any()
    )
    pupil = begun(ESN, world.brief(examples), world.streams())
    pupil.learn(Lesson([Examples.from_sequences([[1, 2, 3]], [[2]])], np.array([[0]])), 0, 1)
    assert (pupil.answer(exam).argmax(axis=-1) == 3).all()


def test_what_it_cannot_do_is_said(world):
    lesson = world.lesson(world.examples(6), item="question")
    with pytest.raises(
        UsageError, match="ridge learns from whole examples, not from single questions"
    ):
        begun(ESN, world.brief(lesson.examples[0]), world.streams()).learn(lesson, 0, 1)
    series = driven(60)
    inputs = series.inputs.copy()
    inputs[3] = np.nan
    broken = Series(inputs, series.targets, 10, 50, 0, 0).part("training")
    pupil = begun(ESN, of_reals(broken), world.streams())
    pupil.learn(Lesson([broken], np.array([[0]])), 0, 1)
    with pytest.raises(LearnerFault, match="features are not finite"):
        pupil.answer(Exam([broken]))


@pytest.mark.parametrize("steps", [128, 192, 2048])
def test_a_series_that_goes_on_is_answered_as_if_it_were_read_from_its_start(
    world, monkeypatch, steps
):
    """What was read in learning is not read again: the answers are the same to the last bit."""
    monkeypatch.setattr(ridge, "STEPS_TOGETHER", steps)
    series = driven(400, validation=60, test=80)
    lesson = Lesson(
        [series.part("training")],
        np.zeros((1, 1), dtype=np.int64),
        validation=[series.part("validation")],
    )
    exam = Exam([series.part("test")])
    brief = Brief(Reals(1), Reals(2), "squared", 400, 1)
    going_on, anew = (begun(ESN, brief, world.streams(1)) for _ in range(2))
    going_on.learn(lesson, 0, 1)
    anew.learn(lesson, 0, 1)
    anew._passed = ridge.Passed()
    read = going_on._passed.covers(exam.examples)
    assert series.washout + series.training - CHUNK < read <= series.washout + series.training
    np.testing.assert_array_equal(going_on.answer(exam), anew.answer(exam))
    other = driven(400, seed=1, validation=60, test=80)
    assert going_on._passed.covers([other.part("test")]) == 0


@pytest.mark.parametrize("steps", [128, 2048])
def test_lanes_whose_series_end_at_different_places_are_each_read_to_their_end(
    world, monkeypatch, steps
):
    monkeypatch.setattr(ridge, "STEPS_TOGETHER", steps)
    both = [driven(200, test=80), driven(430, seed=1, test=80)]
    brief, streams = Brief(Reals(1), Reals(2), "squared", 600, 1), world.streams(2)
    found = []
    for lanes in ([0, 1], [0], [1]):
        pupil = begun(ESN, brief, [streams[lane] for lane in lanes])
        pupil.learn(
            Lesson(
                [both[n].part("training") for n in lanes], np.zeros((len(lanes), 1), dtype=np.int64)
            ),
            0,
            1,
        )
        found.append(pupil.answer(Exam([both[n].part("test") for n in lanes])))
    np.testing.assert_allclose(found[0], np.concatenate(found[1:]), rtol=1e-4, atol=1e-4)
