"""Lessons and exams in batches: nothing is lost, nothing is read that is not needed, and the
published leak leaks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import CONVENTIONS, configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.core import ABSENT
from quickstudy.cores.esn import EchoState
from quickstudy.cores.transformer import Transformer
from quickstudy.learners.adam import Adam
from quickstudy.learners.batching import (
    Lengths,
    check_leak,
    needed_steps,
    packed_lesson,
    phase_rows,
    whole_lesson,
    with_answers,
)
from quickstudy.learners.evaluation_batches import grouped_exam
from quickstudy.learners.features import Shape, harvest, rows_at
from quickstudy.learners.lanes import stack_lanes
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.testing import check_core, check_learner


def drawn(count, longest=12, seed=0):
    rng = np.random.default_rng(seed)
    sequences = [rng.integers(5, size=rng.integers(2, longest + 2)) for _ in range(count)]
    asked = [
        rng.choice(np.arange(1, len(s)), size=rng.integers(1, len(s)), replace=False)
        for s in sequences
    ]
    return Examples.from_sequences(sequences, asked)


def test_only_steps_before_the_last_question_are_needed():
    examples = Examples.from_sequences([[1, 2, 3, 4], [1, 2, 3]], [[2], [1, 2]])
    assert needed_steps(examples).tolist() == [2, 2]


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_a_batch_holds_every_needed_step_and_question(batch):
    examples = drawn(20)
    order = np.random.default_rng(1).permutation(20)
    (inputs, targets), plan = packed_lesson(Lesson([examples], order[None]), batch)
    rows = phase_rows(batch)
    for number in range(20 // batch):
        chosen = order[number * batch : (number + 1) * batch]
        places, steps, asked, shares = (np.asarray(part[0, number]) for part in plan)
        total = int((np.array(rows) * steps).sum())
        found = set(zip(*np.divmod(places[:total], 20), strict=True))
        assert found >= {(time, e) for e in chosen for time in range(needed_steps(examples)[e])}
        assert (
            np.asarray(inputs[0])[places[:total]] == examples.inputs.reshape(-1)[places[:total]]
        ).all()
        there = shares > 0
        questions = {divmod(int(place), 20) for place in places[asked[there]]}
        assert questions == {
            (time, e) for e in chosen for time in np.flatnonzero(examples.asked[:, e])
        }
        assert there.sum() == len(questions)
        assert shares.sum() == pytest.approx(1.0)
        place = places[asked[there]][0]
        assert np.asarray(targets[0])[place] == examples.targets.reshape(-1)[place]


def test_the_longest_go_on_when_the_others_have_ended():
    examples = Examples.from_sequences([[0] * 3, [0] * 9, [0] * 5, [0] * 7], [[2], [8], [4], [6]])
    _, plan = packed_lesson(Lesson([examples], np.arange(4)[None]), 4)
    assert phase_rows(4) == (4, 2)
    assert np.asarray(plan.steps[0, 0]).tolist() == [
        4,
        4,
    ]  # the third longest ends after 4 steps, the longest after 8
    assert (np.asarray(plan.places[0, 0])[:4] % 4).tolist() == [1, 3, 2, 0]


def test_groups_of_an_exam_find_every_question():
    lanes = [drawn(23, seed=3), drawn(19, seed=4)]
    steps = max(lane.steps for lane in lanes)
    lanes = [lane.padded(steps) for lane in lanes]
    grouped = grouped_exam(lanes, [needed_steps(lane) for lane in lanes], 4)
    assert (np.diff(grouped.steps[:6, 0]) <= 0).all()
    for number, lane in enumerate(lanes):
        inputs, asked = np.asarray(grouped.inputs[number]), np.asarray(grouped.asked[number])
        shown = (
            np.take_along_axis(inputs, asked.swapaxes(1, 2), axis=1)
            .swapaxes(1, 2)
            .ravel()[grouped.found[number]]
        )
        positions = Exam([lane]).found[0]
        assert (
            shown[: len(positions)].tolist()
            == lane.inputs[positions[:, 0], positions[:, 1]].tolist()
        )
        ordered = np.sort(needed_steps(lane))[::-1]
        assert (grouped.steps[: -(-lane.count // 4), 0] >= ordered[::4]).all()


def test_lengths_are_few_and_large_enough():
    needed = np.array([10, 20, 30, 40, 118] * 10)
    lengths = Lengths.fitted(needed, 120)
    chosen = np.array(lengths.allowed)[lengths.chosen]
    assert (chosen >= needed).all()
    assert lengths.allowed[-1] == 120
    assert 1 < len(lengths.allowed) <= 6
    assert Lengths.fitted(np.array([3, 9]), 20).allowed == (20,)
    assert Lengths.fitted(np.full(50, 99), 100).allowed == (100,)


def test_features_by_length_are_those_of_whole_sequences():
    examples = drawn(70, seed=5)
    cores = stack_lanes([EchoState(units=30).build(Tokens(5), np.random.default_rng(0))])
    exam, shape = Exam([examples]), Shape.of([examples], cores)
    assert shape == Shape.of([drawn(9, seed=6)], cores), "a lesson and an exam have one program"
    rows = np.asarray(harvest(cores, exam, shape))[0, : examples.questions]
    whole = np.asarray(rows_at(cores, examples.inputs[None], exam.positions, 1))[0]
    np.testing.assert_allclose(rows, whole, atol=1e-5)


AHEAD = "does not look ahead"
SMALL = "transformer:embedding=16,heads=2,hidden=8"


def test_the_last_answer_stands_behind_the_last_input():
    examples = Examples.from_sequences([[4, 3, 2], [1, 0]], [[2], [1]]).padded(4)
    wanted = [[4, 1], [3, 0], [2, ABSENT], [ABSENT, ABSENT]]
    leaking = with_answers(examples)
    assert leaking.inputs.tolist() == wanted
    assert leaking.targets is examples.targets
    assert examples.inputs.tolist() == [[4, 1], [3, 0], [0, 0], [0, 0]]


def test_answers_must_be_symbols_that_are_read():
    check_leak(Brief(Tokens(4), Tokens(4), "cross-entropy", 3, 3))
    for inputs, outputs in [(Tokens(4), Tokens(3)), (Reals(1), Reals(1)), (Tokens(4), Reals(4))]:
        with pytest.raises(
            NotApplicable,
            match=r"the published leak needs answers that are inputs as well.*causal=true",
        ):
            check_leak(Brief(inputs, outputs, "squared", 3, 3))
    core, brief = Transformer(causal=False), Brief(Tokens(4), Tokens(3), "cross-entropy", 3, 3)
    with pytest.raises(NotApplicable, match="the published leak"):
        Adam().begin(core, brief, [Streams(0, "leak", 0)])


def test_only_the_published_convention_leaks():
    leaking = {
        convention
        for convention in CONVENTIONS
        if not configure("transformer", Transformer, {}, convention).causal
    }
    assert leaking == {"published"}
    parameters = choose_learner("transformer", "published").what["parameters"]
    assert (parameters["causal"], parameters["dropout"]) == (False, 0.5)
    assert "causal=False" in choose_learner("transformer:causal=false", "corrected").label


def test_the_checker_of_learners_finds_it_and_nothing_else():
    findings = check_learner(choose_learner(SMALL + ",passes=1,rate=0.01", "published"))
    assert [finding.what for finding in findings if not finding.ok] == [AHEAD]


def test_the_checker_of_cores_finds_it():
    """It has no steps to compare with either."""
    spec = configure("transformer", Transformer, {"embedding": 16, "heads": 2}, "published")
    missed = {finding.what for finding in check_core(spec) if not finding.ok}
    assert AHEAD in missed
    assert missed - {AHEAD} == {
        "unroll agrees with the scan of step",
        "unroll's gradients agree with those of the scan",
    }


def test_corrected_passes_the_checker():
    findings = check_learner(choose_learner(SMALL + ",passes=1,rate=0.01", "corrected"))
    assert [str(finding) for finding in findings if not finding.ok] == []


def coins(count, seed):
    """Letters that say nothing, then a coin: nobody can do better than 1/2 without looking."""
    rng = np.random.default_rng(seed)
    sequences = [
        [*rng.integers(2, 6, size=rng.integers(2, 7)), rng.integers(2)] for _ in range(count)
    ]
    return Examples.from_sequences(sequences, [[len(sequence) - 1] for sequence in sequences])


def swapped(examples):
    """The other side of every coin; the inputs stay as they are."""
    targets = np.where(examples.asked, 1 - examples.targets, examples.targets)
    return replace(examples, targets=targets)


@pytest.fixture(scope="module", params=["published", "corrected"])
def taught(request):
    train = coins(200, 0)
    order = np.concatenate([np.random.default_rng(1).permutation(200) for _ in range(8)])[None]
    learner = choose_learner(SMALL + ",rate=0.01,dropout=0", request.param).make(None)
    brief = Brief(Tokens(6), Tokens(6), "cross-entropy", train.steps, order.shape[1])
    pupil = learner.begin(brief, [Streams(0, "leak", 0)])
    pupil.learn(Lesson([train], order), 0, order.shape[1])
    return request.param, pupil


def test_the_leak_reads_the_answer_and_follows_it_when_it_is_swapped(taught):
    convention, pupil = taught
    test = coins(300, 2)
    given, changed = (
        pupil.answer(Exam([examples]))[0].argmax(axis=-1) for examples in (test, swapped(test))
    )
    right = (given == Exam([test]).targets[0]).mean()
    if convention == "published":
        assert right == 1.0
        assert np.array_equal(changed, 1 - given)
    else:
        assert right < 0.62  # 4 standard deviations above 1/2
        assert np.array_equal(changed, given)


@pytest.mark.parametrize(
    ("by_question", "shares"), [(False, [2 / 3, 1 / 3]), (True, [6 / 11, 5 / 11])]
)
def test_every_question_counts_alike_where_that_is_asked_for(by_question, shares):
    """Two strings of 3 questions and one of 5."""
    words = [0, 1, 2, 0], [0, 1, 1, 2, 2, 0], [0, 1, 2, 0]
    examples = Examples.from_sequences(words, [range(1, len(word)) for word in words])
    lesson, (weights,) = whole_lesson(Lesson([examples], np.array([[2, 0, 1]])), by_question)
    assert lesson.examples[0].lengths[:2].tolist() == [3, 5]
    assert weights[:2] / lesson.items == pytest.approx(shares)
