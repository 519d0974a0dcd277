"""Batches packed without padding, exams in groups, and a few lengths instead of one."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.examples import Examples
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.spaces import Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.learners.batching import Lengths, grouped_exam, needed_steps, packed_lesson, phase_rows
from quickstudy.learners.features import Shape, harvest, rows_at
from quickstudy.learners.lanes import stack_lanes


def drawn(count, longest=12, seed=0):
    rng = np.random.default_rng(seed)
    sequences = [rng.integers(5, size=rng.integers(2, longest + 2)) for _ in range(count)]
    asked = [rng.choice(np.arange(1, len(s)), size=rng.integers(1, len(s)), replace=False) for s in sequences]
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
        assert (np.asarray(inputs[0])[places[:total]] == examples.inputs.reshape(-1)[places[:total]]).all()
        there = shares > 0
        questions = {divmod(int(place), 20) for place in places[asked[there]]}
        assert questions == {(time, e) for e in chosen for time in np.flatnonzero(examples.asked[:, e])}
        assert there.sum() == len(questions)
        assert shares.sum() == pytest.approx(1.0)
        place = places[asked[there]][0]
        assert np.asarray(targets[0])[place] == examples.targets.reshape(-1)[place]


def test_the_longest_go_on_when_the_others_have_ended():
    examples = Examples.from_sequences([[0] * 3, [0] * 9, [0] * 5, [0] * 7], [[2], [8], [4], [6]])
    _, plan = packed_lesson(Lesson([examples], np.arange(4)[None]), 4)
    assert phase_rows(4) == (4, 2)
    assert np.asarray(plan.steps[0, 0]).tolist() == [4, 4]  # the third longest ends after 4 steps, the longest after 8
    assert (np.asarray(plan.places[0, 0])[:4] % 4).tolist() == [1, 3, 2, 0]


def test_groups_of_an_exam_find_every_question():
    lanes = [drawn(23, seed=3), drawn(19, seed=4)]
    steps = max(lane.steps for lane in lanes)
    lanes = [lane.padded(steps) for lane in lanes]
    grouped = grouped_exam(lanes, [needed_steps(lane) for lane in lanes], 4)
    assert (np.diff(grouped.steps[:6, 0]) <= 0).all()
    for number, lane in enumerate(lanes):
        inputs, asked = np.asarray(grouped.inputs[number]), np.asarray(grouped.asked[number])
        shown = np.take_along_axis(inputs, asked.swapaxes(1, 2), axis=1).swapaxes(1, 2).ravel()[grouped.found[number]]
        positions = Exam([lane]).found[0]
        assert shown[: len(positions)].tolist() == lane.inputs[positions[:, 0], positions[:, 1]].tolist()
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
    exam, shape = Exam([examples]), Shape.of([examples])
    cores = stack_lanes([EchoState(units=30).build(Tokens(5), np.random.default_rng(0))])
    rows = np.asarray(harvest(cores, exam, shape))[0, : examples.questions]
    whole = np.asarray(rows_at(cores, examples.inputs[None], exam.positions, 1))[0]
    np.testing.assert_allclose(rows, whole, atol=1e-5)
