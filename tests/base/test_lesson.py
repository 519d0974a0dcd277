from __future__ import annotations

import numpy as np

from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson

ONE = Examples.from_sequences([[1, 2, 3, 4], [5, 6]], [[1, 3], [1]])
OTHER = Examples.from_sequences([[7, 8, 9]], [[2]])


def test_questions_are_numbered_by_example_then_time():
    exam = Exam([ONE])
    assert exam.positions[0].tolist() == [[0, 0], [2, 0], [0, 1]]
    assert exam.targets.tolist() == [[2, 4, 6]]
    assert exam.counted.all()


def test_lanes_are_padded_to_the_most_questions():
    exam = Exam([ONE, OTHER])
    assert exam.counted.tolist() == [[True, True, True], [True, False, False]]
    assert exam.targets[exam.counted].tolist() == [2, 4, 6, 9]
    assert exam.positions.shape == (2, 3, 2)
    assert exam.positions[1, 0].tolist() == [1, 0]
    assert [len(found) for found in exam.found] == [3, 1]


def test_real_targets_keep_their_width():
    reals = Examples(
        np.zeros((2, 1, 1)),
        np.arange(4.0).reshape(2, 1, 2),
        np.array([[False], [True]]),
        np.array([2]),
    )
    assert Exam([reals]).targets.tolist() == [[[2.0, 3.0]]]


def test_a_lesson_knows_how_long_each_lane_is():
    lesson = Lesson([ONE, OTHER], np.array([[1, 0, 1], [0, -1, -1]]))
    assert lesson.items == 3
    assert lesson.lengths.tolist() == [3, 1]
    assert lesson.item == "example"
