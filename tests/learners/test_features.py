"""Exams and series that do not fit are read in blocks of time: the same answers, within bounded
memory.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from quickstudy.base.examples import Series
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.learners import chunked_features, evaluation_batches, features, readout
from quickstudy.learners.lanes import stack_lanes
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.online_readouts import RecursiveLeastSquares


@pytest.fixture
def cramped(monkeypatch):
    """Room for almost nothing, and blocks of a few steps."""
    for module in (evaluation_batches, readout, features):
        monkeypatch.setattr(module, "KEPT", 1 << 10)
    monkeypatch.setattr(chunked_features, "BLOCK", 3)
    monkeypatch.setattr(chunked_features, "FEW", 4)
    monkeypatch.setattr(chunked_features, "MANY", 4)


NAMES = ["esn:units=20", "lstm:units=5", "transformer:embedding=8,hidden=8"]


@pytest.mark.parametrize("name", NAMES)
def test_streamed_answers_are_those_of_the_exam_read_whole(world, name, request):
    train, exam = world.examples(20), Exam([world.examples(13, seed=1)])
    pupil = choose_learner(name, "corrected").make(None).begin(world.brief(train), world.streams())
    pupil.learn(world.lesson(train), 0, 16)
    whole = pupil.answer(exam)
    request.getfixturevalue("cramped")
    if hasattr(pupil, "_room"):
        pupil._room = 1
    again = Exam(exam.examples)  # another exam: nothing of the first is kept
    np.testing.assert_allclose(pupil.answer(again), whole, rtol=1e-5, atol=2e-5)
    assert pupil._exam[1] is None


def test_every_question_is_in_one_block_in_every_lane(world, cramped):
    lanes = [world.examples(9, seed=2), world.examples(14, seed=3)]
    cores = stack_lanes(
        [EchoState(units=6).build(Tokens(world.symbols), np.random.default_rng(n)) for n in (0, 1)]
    )
    found = [block.numbers for block in chunked_features.blocks(cores, lanes)]
    assert len(found) > 8
    for lane, examples in enumerate(lanes):
        assert sorted(np.concatenate([numbers[lane] for numbers in found])) == list(
            range(examples.questions)
        )


@pytest.fixture(scope="module")
def series():
    rng = np.random.default_rng(0)
    inputs = rng.uniform(-1, 1, (500, 1))
    return Series(inputs, np.roll(inputs, 2) * 0.7, 50, 300, 0, 150)


def taught(series, lanes, cuts):
    brief = Brief(Reals(1), Reals(1), "squared", 500, 2)
    streams = [Streams(0, "testing/series", lane) for lane in range(lanes)]
    pupil = RecursiveLeastSquares(ridge=0.01).begin(EchoState(units=30, radius=0.9), brief, streams)
    lesson = Lesson([series.part("training")] * lanes, np.zeros((lanes, 2), np.int64))
    for start, stop in cuts:
        pupil.learn(lesson, start, stop)
    return pupil, pupil.answer(Exam([series.part("test")] * lanes))


@pytest.mark.parametrize("lanes", [1, 2])
def test_a_series_is_learned_in_stretches_of_time(series, lanes, request):
    whole, wanted = taught(series, lanes, [(0, 2)])
    request.getfixturevalue("cramped")
    pupil, found = taught(series, lanes, [(0, 2)])
    assert pupil.cost() == whole.cost()
    np.testing.assert_allclose(found, wanted, atol=2e-4)
    assert np.abs(found - series.targets[350:][None]).mean() < 0.05
    assert np.array_equal(taught(series, lanes, [(0, 1), (1, 2)])[1], found)


LARGE = """
import resource, sys
import numpy as np
from quickstudy.base.examples import Examples
from quickstudy.base.learner import Brief
from quickstudy.base.exchange import Exam
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.learners.learner_spec import choose_learner

brief = Brief(Tokens(3), Tokens(3), "cross-entropy", 20, 10)
streams = [Streams(0, "testing/large", 0)]
pupil = choose_learner("esn:units=50", "corrected").make(None).begin(brief, streams)
lengths = np.linspace(2, 4000, 2000).astype(int)
asked = np.arange(4000)[:, None] < lengths
inputs = asked.astype(np.int32)
exam = Exam([Examples(inputs, inputs, asked, lengths)])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
assert pupil.answer(exam).shape == (1, lengths.sum(), 3)
print(peak() - before)
"""


def test_two_thousand_strings_of_up_to_four_thousand_steps_take_little_memory():
    """Their features would be 800 MB and were held several times over; the scores are 48 MB."""
    done = subprocess.run(
        [sys.executable, "-c", LARGE], capture_output=True, text=True, check=True, timeout=300
    )
    assert int(done.stdout) < 250
