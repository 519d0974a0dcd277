from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples, Series

sequences = st.lists(st.integers(0, 50), min_size=2, max_size=12)


@st.composite
def asked_sequences(draw):
    tokens = draw(sequences)
    places = st.sets(st.integers(1, len(tokens) - 1))
    return tokens, sorted(draw(places))


@given(st.lists(asked_sequences(), min_size=1, max_size=6))
def test_sequences_come_back_as_they_went_in(given):
    tokens, supervised = zip(*given, strict=True)
    examples = Examples.from_sequences(tokens, supervised)
    assert [examples.sequence(index) for index in range(examples.count)] == [
        (t, s) for t, s in given
    ]
    assert examples.questions == sum(map(len, supervised))
    assert examples.steps == max(map(len, tokens)) - 1


@given(st.lists(asked_sequences(), min_size=1, max_size=6), st.data())
def test_taking_and_padding_change_no_sequence(given, data):
    examples = Examples.from_sequences(*zip(*given, strict=True))
    chosen = data.draw(st.lists(st.integers(0, examples.count - 1), max_size=8))
    taken = examples.take(chosen)
    assert [taken.sequence(place) for place in range(taken.count)] == [
        examples.sequence(index) for index in chosen
    ]
    assert taken.steps == max((int(examples.lengths[index]) for index in chosen), default=1)
    padded = examples.padded(examples.steps + 3)
    assert padded.steps == examples.steps + 3
    assert [padded.sequence(index) for index in range(padded.count)] == [(t, s) for t, s in given]
    assert not padded.asked[examples.steps :].any()


def test_a_worked_example():
    examples = Examples.from_sequences([[5, 6, 7], [8, 9]], [[2], [1]])
    assert examples.inputs.tolist() == [[5, 8], [6, 0]]
    assert examples.targets.tolist() == [[6, 9], [7, 0]]
    assert examples.asked.tolist() == [[False, True], [True, False]]
    assert examples.lengths.tolist() == [2, 1]
    assert (examples.count, examples.steps, examples.questions) == (2, 2, 2)


def test_pairs_ask_for_every_token_of_the_answer():
    examples = Examples.from_pairs([([1, 2], [3]), ([4], [5, 6])])
    assert [examples.sequence(index) for index in range(2)] == [
        ([1, 2, 3], [2]),
        ([4, 5, 6], [1, 2]),
    ]


def delayed(*words):
    """After each token the one before it: no answer but the last could be read as the next
    token.
    """
    inputs = np.array(words).T
    return Examples(
        inputs,
        np.roll(inputs, 1, axis=0),
        np.ones(inputs.shape, bool),
        np.full(len(words), len(inputs)),
    )


def test_what_is_not_the_next_token_is_no_sequence():
    examples = delayed([1, 2, 3], [4, 4, 4])
    assert not examples.sequential
    with pytest.raises(
        UsageError,
        match="example 0 is not a sequence: one of its answers differs from the next token",
    ):
        examples.sequence(0)
    assert examples.sequence(1) == ([4, 4, 4, 4], [1, 2, 3])
    assert not Examples(
        examples.inputs * 1.0, examples.inputs * 1.0, examples.asked, examples.lengths
    ).sequential


def test_an_answer_after_the_last_input_or_one_that_is_not_asked_makes_it_no_less_a_sequence():
    padded = Examples.from_sequences([[1, 2], [1, 2, 3]], [[1], [2]])
    assert padded.sequential
    assert Examples(
        padded.inputs, padded.targets + ~padded.asked, padded.asked, padded.lengths
    ).sequential


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=6), st.data()
)
def test_what_was_taken_apart_is_joined_without_loss(words, data):
    """Whatever the answers are, and however the examples were grouped."""
    lengths = np.array([len(word) for word in words])
    shape = (int(lengths.max()), len(words))
    inside = np.arange(shape[0])[:, None] < lengths
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    inputs, targets = (np.where(inside, rng.integers(10, size=shape), 0) for _ in range(2))
    whole = Examples(inputs, targets, inside & (rng.random(shape) < 0.5), lengths)
    cut = data.draw(st.integers(0, len(words)))
    parts = [
        whole.take(range(cut)),
        *(whole.take([index]).padded(9) for index in range(cut, len(words))),
    ]
    again = Examples.joined(parts)
    for name in ("inputs", "targets", "asked", "lengths"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole, name))


def test_joining_keeps_width_and_type():
    reals = Examples(
        np.ones((2, 1, 3), np.float32), np.ones((2, 1, 1)), np.ones((2, 1), bool), np.array([2])
    )
    again = Examples.joined([reals, reals.take([])])
    assert (again.inputs.dtype, again.inputs.shape, again.targets.shape) == (
        np.float32,
        (2, 1, 3),
        (2, 1, 1),
    )
    assert Examples.joined([]).count == 0


def test_no_examples_at_all():
    empty = Examples.from_sequences([], [])
    assert (empty.count, empty.questions) == (0, 0)
    assert empty.take([]).count == 0


@pytest.mark.parametrize(
    ("tokens", "supervised", "message"),
    [
        ([[1, 2], [3]], [[1], []], "a sequence needs at least two tokens"),
        ([[1, 2]], [[1], [1]], "1 sequences but 2 lists"),
        ([[1, 2]], [[2]], r"sequence 0: supervised indices must lie in 1\.\.1, got \[2\]"),
        ([[1, 2], [1, 2, 3]], [[1], [0, 1]], r"sequence 1: supervised indices must lie in 1\.\.2"),
    ],
)
def test_wrong_sequences(tokens, supervised, message):
    with pytest.raises(UsageError, match=message):
        Examples.from_sequences(tokens, supervised)


def test_wrong_shapes():
    zeros = np.zeros((3, 2), int)
    with pytest.raises(UsageError, match="must agree in their first two axes"):
        Examples(zeros, np.zeros((3, 1), int), zeros > 0, np.array([3, 3]))
    with pytest.raises(UsageError, match="one entry per example"):
        Examples(zeros, zeros, zeros > 0, np.array([3]))
    with pytest.raises(UsageError, match="cannot pad 3 steps to 2"):
        Examples(zeros, zeros, zeros > 0, np.array([3, 3])).padded(2)


def test_real_numbers_keep_their_width():
    inputs = np.arange(12.0).reshape(3, 2, 2)
    examples = Examples(inputs, inputs[..., :1], np.ones((3, 2), bool), np.array([3, 2]))
    assert examples.take([1]).inputs.shape == (2, 1, 2)
    assert examples.padded(5).inputs.shape == (5, 2, 2)
    assert examples.padded(5).targets.shape == (5, 2, 1)


def series(washout=2, training=3, validation=1, test=2):
    steps = washout + training + validation + test
    drive = np.arange(steps, dtype=float)[:, None]
    return Series(drive, 10 * drive, washout, training, validation, test)


def test_parts_of_a_series_run_from_its_start():
    whole = series()
    expected = {"training": (2, 5), "validation": (5, 6), "test": (6, 8)}
    for name, (start, stop) in expected.items():
        part = whole.part(name)
        assert part.inputs[:, 0, 0].tolist() == list(range(stop))
        assert np.flatnonzero(part.asked[:, 0]).tolist() == list(range(start, stop))
        assert part.targets[part.asked][:, 0].tolist() == [
            10.0 * step for step in range(start, stop)
        ]
        assert part.lengths.tolist() == [stop]


@given(st.tuples(*[st.integers(0, 6)] * 4))
def test_parts_ask_for_everything_but_the_washout_once(lengths):
    whole = series(*lengths)
    parts = ("training", "validation", "test")
    asked = [
        step for name in parts for step in np.flatnonzero(whole.part(name).asked[:, 0]).tolist()
    ]
    assert asked == list(range(lengths[0], sum(lengths)))


def test_windows_of_a_part():
    """Each asks about 2 steps after reading the 3 before them; the rest of one step is left out."""
    windows = series(washout=2, training=7, validation=0, test=0).windows(
        "training", asked=2, before=3
    )
    assert windows.inputs[:, :, 0].T.tolist() == [
        [1.0, 2.0, 3.0, 4.0, 5.0],
        [3.0, 4.0, 5.0, 6.0, 7.0],
    ]
    assert windows.asked.T.tolist() == [[False, False, False, True, True]] * 2
    assert windows.targets[windows.asked][:, 0].tolist() == [40.0, 60.0, 50.0, 70.0]
    assert windows.lengths.tolist() == [5, 5]
    with pytest.raises(UsageError, match=r"asked must lie in 1\.\.7, got 8"):
        series(washout=2, training=7, validation=0, test=0).windows("training", asked=8, before=0)


@given(st.integers(0, 5), st.integers(1, 20), st.integers(1, 5), st.integers(0, 6))
def test_windows_ask_about_each_step_once(washout, training, asked, before):
    whole = series(washout, training, 2, 3)
    if asked > training:
        return
    windows = whole.windows("training", asked, before)
    steps = windows.inputs[..., 0].T[windows.asked.T].astype(int).tolist()
    assert len(set(steps)) == len(steps)
    assert set(steps) <= set(range(washout, washout + training))
    if before <= washout:
        assert steps == list(range(washout, washout + training // asked * asked))


def test_wrong_series():
    with pytest.raises(
        UsageError, match=r"1 \+ 1 \+ 1 \+ 1 steps must be the whole series, which has 5 inputs"
    ):
        Series(np.zeros((5, 1)), np.zeros((5, 1)), 1, 1, 1, 1)
    with pytest.raises(
        UsageError, match='no part "tests" of a series; parts: training, validation, test'
    ):
        series().part("tests")
