"""Lanes, padding and rounding: what runs side by side gives the numbers that it gives alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.spaces import Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.cores.recurrent import LSTM
from quickstudy.jax_gateway import double, jax, jnp
from quickstudy.learners.adam import Adam
from quickstudy.learners.lanes import named_arrays, rounded, stack_lanes, with_arrays
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.online_readouts import OnlineLogistic, OnlineSoftmax, RecursiveLeastSquares
from quickstudy.protocols.examination import Examination

ESN = EchoState(units=8, terms=4)
WAYS = {
    "sgd": (OnlineSoftmax(rate=0.05), ESN, "example"),
    "logistic": (OnlineLogistic(rate=0.05, peek=True), ESN, "question"),
    "peek": (OnlineLogistic(rate=0.05, peek=True), ESN, "example"),
    "rls": (RecursiveLeastSquares(), ESN, "example"),
    "adam": (Adam(rate=0.01, batch=4), LSTM(units=4), "example"),
}


@pytest.fixture(scope="module")
def lanes(world):
    """Two lanes of different sizes, one of them longer than a chunk of the readouts."""
    train = world.examples(70), world.examples(40, seed=2, longest=12)
    test = world.examples(30, seed=3), world.examples(67, seed=4)
    return train, test, world


@pytest.fixture(scope="module", params=WAYS)
def both(request, lanes):
    """Answers and snapshots of two lanes in one call, and of two pupils of one lane each."""
    training, core, item = WAYS[request.param]
    train, test, world = lanes
    brief, streams = world.brief(train[1]), world.streams(2)
    lesson = world.lesson(*train, item=item)
    together = training.begin(core, brief, streams)
    exam = Exam(list(test))
    for start, stop in ((0, 20), (20, lesson.items)):
        together.learn(lesson, start, stop)
    singles = []
    for lane in range(2):
        alone = training.begin(core, brief, streams[lane : lane + 1])
        own = Lesson(
            lesson.examples[lane : lane + 1],
            lesson.order[lane : lane + 1, : lesson.lengths[lane]],
            item,
        )
        alone.learn(own, 0, own.items)
        singles.append(alone)
    return together, exam, singles, brief, (training, core, streams)


def test_arrays_come_back_as_they_were():
    with double():
        tree = {
            "fine": jnp.asarray([1 / 3], jnp.float64),
            "plain": jnp.asarray([1 / 3], jnp.float32),
        }
    back = with_arrays(tree, named_arrays(tree))
    assert {name: (array.dtype, float(array[0])) for name, array in back.items()} == {
        "fine": (np.float64, 1 / 3),
        "plain": (np.float32, float(np.float32(1 / 3))),
    }


def test_two_lanes_give_what_two_pupils_give(both, lanes):
    together, exam, singles, _, _ = both
    answers = together.answer(exam)
    assert answers.shape == (2, exam.counted.shape[1], 5)
    for lane, (alone, test) in enumerate(zip(singles, lanes[1], strict=True)):
        wanted = alone.answer(Exam([test]))[0]
        found = answers[lane, exam.counted[lane]]
        np.testing.assert_allclose(
            found, wanted, atol=1e-5 * max(1, np.abs(wanted[wanted > -1e29]).max())
        )
        assert np.array_equal(found.argmax(axis=-1), wanted.argmax(axis=-1))


def test_a_lane_can_be_kept_and_go_on_alone(both, lanes):
    together, exam, _, brief, (training, core, streams) = both
    kept = list(Examination([], together, brief).snapshots())
    assert len(kept) == 2
    for lane, snapshot in enumerate(kept):
        revived = training.begin(core, brief, streams[:1])
        revived.restore(snapshot)
        wanted = together.answer(exam)[lane, exam.counted[lane]]
        found = revived.answer(Exam([lanes[1][lane]]))[0]
        np.testing.assert_allclose(
            found, wanted, atol=1e-5 * max(1, np.abs(wanted[wanted > -1e29]).max())
        )


def test_padding_changes_no_answer(both, lanes):
    """An exam with more time steps, or beside a longer lane, is the same exam."""
    _, _, singles, _, _ = both
    test = lanes[1][0]
    plain = singles[0].answer(Exam([test]))
    np.testing.assert_allclose(
        singles[0].answer(Exam([test.padded(test.steps + 9)])), plain, atol=1e-5
    )
    few = singles[0].answer(Exam([test.take([4, 7])]))
    positions = Exam([test]).positions[0]
    chosen = np.concatenate([np.flatnonzero(positions[:, 1] == index) for index in (4, 7)])
    np.testing.assert_allclose(few[0], plain[0, chosen], atol=1e-5)


def test_a_snapshot_of_another_learner_is_refused(lanes):
    train, _, world = lanes
    brief, streams = world.brief(train[0]), world.streams()
    kept = OnlineSoftmax().begin(EchoState(units=8), brief, streams).snapshot()
    with pytest.raises(UsageError, match=r"a snapshot of another learner: .* should be \(1, .*9"):
        OnlineSoftmax().begin(EchoState(units=9), brief, streams).restore(kept)
    with pytest.raises(UsageError, match="found nothing"):
        Adam().begin(LSTM(units=4), brief, streams).restore(kept)


def test_reservoirs_of_many_seeds_fit_side_by_side():
    """Their random numbers of entries must not show in the shapes."""
    cores = [
        EchoState(units=70).build(Tokens(2), np.random.default_rng(seed)) for seed in range(60)
    ]
    assert stack_lanes(cores).bias.shape == (60, 70)


@given(st.integers(1, 10**6), st.integers(0, 5))
def test_rounding_up_is_by_little(count, fineness):
    up = rounded(count, fineness)
    assert count <= up <= count * (1 + 2.0**-fineness)
    assert rounded(up, fineness) == up
    assert rounded(count + 1, fineness) >= up


def test_arrays_by_name_and_back():
    tree = {"a": np.arange(3, dtype=np.float32), "b": (np.zeros((2, 2), np.float32), "text")}
    named = named_arrays(tree)
    assert set(named) == {"['a']", "['b'][0]"}
    again = with_arrays(tree, {name: array + 1 for name, array in named.items()})
    assert np.asarray(again["a"]).tolist() == [1.0, 2.0, 3.0]
    assert again["b"][1] == "text"


@pytest.fixture
def compiled():
    """The events of compiling, as they come."""
    events = []

    def listener(event, seconds, **_):
        if event.startswith("/jax/core/compile/"):
            events.append(event)

    jax.monitoring.register_event_duration_secs_listener(listener)
    yield events
    jax.monitoring.unregister_event_duration_listener(listener)


def fresh(count, world):
    """Episodes of one length with a question at the end, drawn anew."""
    tokens = np.random.default_rng(count).integers(world.symbols, size=(count, 12))
    return Lesson([Examples.from_sequences(tokens, [[11]] * count)], np.arange(count)[None])


@pytest.mark.parametrize(
    "name",
    ["lstm:units=5", "transformer:embedding=8,hidden=8", "esn:units=20", "lstm:units=5,batch=0"],
)
def test_lessons_of_different_sizes_share_a_program(name, world, compiled):
    pupil = (
        choose_learner(name, "corrected")
        .make(None)
        .begin(world.brief(world.examples(9)), world.streams())
    )
    lesson = fresh(96, world)
    pupil.learn(lesson, 0, lesson.items)
    before = pupil.snapshot().arrays
    assert compiled
    compiled.clear()
    for count in (90, 93, 91):
        lesson = fresh(count, world)
        pupil.learn(lesson, 0, lesson.items)
    assert compiled == []
    changed = [
        name
        for name, array in pupil.snapshot().arrays.items()
        if not np.array_equal(array, before[name])
    ]
    assert changed
