from __future__ import annotations

import ctypes

import numpy as np
import pytest

from quickstudy.base.errors import LearnerFault, NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import (
    Acting,
    Brief,
    Keeping,
    Rehearsing,
    Showing,
    Snapshot,
    Stepping,
    face,
)
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.learners.host import MANY, Hosted, HostPupil
from quickstudy.learners.lookahead_check import Watched
from quickstudy.protocols.examination import Examination

BRIEF = Brief(Tokens(10), Tokens(10), "cross-entropy", 4, 3)
EXAMPLES = Examples.from_sequences([[1, 2, 3, 4], [5, 6], [7, 8, 9]], [[1, 3], [1], [1]])


class Recorder:
    """Writes down what it is shown and asked; answers with the last input."""

    def __init__(self, brief=None, seed=0):
        self.shown, self.asked, self.seed, self.brief = [], [], seed, brief

    def learn(self, inputs, targets):
        self.shown.append((inputs.tolist(), targets.tolist()))

    def predict(self, inputs):
        self.asked.append(inputs.tolist())
        return inputs.copy()


def pupil_with(predict):
    host = Recorder()
    host.predict = predict
    return HostPupil(host, BRIEF)


def test_what_a_host_learner_is_shown():
    """Nothing after the last question of a sequence, and -1 where nothing is asked."""
    pupil = HostPupil(Recorder(), BRIEF)
    pupil.learn(Lesson([EXAMPLES], np.array([[2, 0, 1]])), 0, 2)
    assert pupil.host.shown == [([7], [8]), ([1, 2, 3], [2, -1, 4])]
    assert pupil.cost()[0].examples == 2


def test_single_questions_come_one_by_one():
    pupil = HostPupil(Recorder(), BRIEF)
    pupil.learn(Lesson([EXAMPLES], np.array([[1, 3, 0, 1]]), "question"), 0, 4)
    assert pupil.host.shown == [
        ([1, 2, 3], [-1, -1, 4]),
        ([7], [8]),
        ([1], [2]),
        ([1, 2, 3], [-1, -1, 4]),
    ]


def test_a_rule_that_never_learns_is_asked_once():
    """For the exam that comes again, not for another; and nobody can change what is kept."""
    host = Recorder()
    host.learns = False
    pupil, exam = HostPupil(host, BRIEF), Exam([EXAMPLES])
    first = pupil.answer(exam)
    kept = first.copy()
    first[:] = 7
    assert (pupil.answer(exam) == kept).all()
    assert len(host.asked) == 3
    pupil.answer(Exam([EXAMPLES]))
    assert len(host.asked) == 6


def test_what_a_host_learner_is_asked():
    """One call a sequence, up to its last question and no further."""
    pupil = HostPupil(Recorder(), BRIEF)
    scores = pupil.answer(Exam([EXAMPLES]))
    assert pupil.host.asked == [[1, 2, 3], [5], [7]]
    assert scores.shape == (1, 4, 10)
    assert scores[0].argmax(axis=-1).tolist() == [1, 3, 5, 7]
    assert set(np.unique(scores)) == {0.0, 1.0}


def test_scores_are_passed_on():
    pupil = pupil_with(lambda inputs: np.tile(np.arange(10) / 10, (len(inputs), 1)))
    assert pupil.answer(Exam([EXAMPLES]))[0].tolist() == [[n / 10 for n in range(10)]] * 4


@pytest.mark.parametrize(
    ("predict", "message"),
    [
        (
            lambda inputs: inputs[-1:] if len(inputs) > 1 else inputs,
            r"one row per input row: \(3, 10\), got \(1,\)",
        ),
        (lambda inputs: np.zeros((len(inputs), 9)), r"\(3, 10\), got \(3, 9\)"),
        (
            lambda inputs: np.zeros(len(inputs)),
            r"predict must give tokens 0\.\.9, got 0\.0\.\.0\.0",
        ),
        (lambda inputs: np.full(len(inputs), 10), r"predict must give tokens 0\.\.9, got 10\.\.10"),
        (lambda inputs: np.full(len(inputs), -1), r"predict must give tokens 0\.\.9, got -1\.\.-1"),
        (lambda inputs: np.full((len(inputs), 10), np.nan), "not finite"),
        (lambda inputs: np.full((len(inputs), 10), np.inf), "not finite"),
        (lambda inputs: None, "predict returned None"),
        (lambda inputs: [[1.0], [2.0, 3.0], [4.0]], "predict must give an array"),
        (
            lambda inputs: np.zeros((len(inputs), 10), complex),
            "predict must give real numbers, got complex128",
        ),
        (lambda inputs: ["a"] * len(inputs), "predict must give real numbers, got <U1"),
        (
            lambda inputs: np.array([object()] * len(inputs)),
            "predict must give real numbers, got object",
        ),
    ],
)
def test_wrong_answers_are_faults(predict, message):
    with pytest.raises(LearnerFault, match=message):
        pupil_with(predict).answer(Exam([EXAMPLES]))


def scribble(array):
    """Whatever can be reached from an array: itself, what it is a view of, its memory."""
    while array is not None:
        array.flags.writeable = True
        ctypes.memset(array.ctypes.data, 0, array.nbytes)
        array = array.base


def test_what_is_handed_out_is_the_hosts_own():
    before = EXAMPLES.inputs.copy(), EXAMPLES.targets.copy()
    pupil_with(lambda inputs: scribble(inputs) or np.zeros((len(inputs), 10))).answer(
        Exam([EXAMPLES])
    )
    host = Recorder()
    host.learn = lambda *arrays: [scribble(array) for array in arrays]
    host.states = lambda inputs: scribble(inputs) or np.zeros((len(inputs), 1))
    host.start, host.rows = lambda rows, capacity: None, lambda state, numbers: state
    host.step = lambda state, inputs: (scribble(inputs), np.zeros((len(inputs), 10)))
    pupil = HostPupil(host, BRIEF)
    pupil.learn(Lesson([EXAMPLES], np.array([[0]])), 0, 1)
    pupil.states(EXAMPLES.inputs)
    pupil.step(pupil.start(1, 3), EXAMPLES.inputs[:1])
    assert (EXAMPLES.inputs.tolist(), EXAMPLES.targets.tolist()) == tuple(
        array.tolist() for array in before
    )


def test_real_numbers():
    """nan where nothing is asked; values as they are."""
    inputs = np.arange(6.0).reshape(3, 1, 2)
    examples = Examples(
        inputs, inputs[..., :1] + 1, np.array([[True], [False], [True]]), np.array([3])
    )
    host = Recorder()
    pupil = HostPupil(host, Brief(Reals(2), Reals(1), "squared", 3, 1))
    pupil.learn(Lesson([examples], np.array([[0]])), 0, 1)
    np.testing.assert_array_equal(host.shown[0][1], [[1.0], [np.nan], [5.0]])
    host.predict = lambda inputs: inputs[:, :1]
    assert pupil.answer(Exam([examples])).tolist() == [[[0.0], [4.0]]]
    host.predict = lambda inputs: inputs[:, 0]
    with pytest.raises(LearnerFault, match=r"\(3, 1\), got \(3,\)"):
        pupil.answer(Exam([examples]))


def test_a_host_learner_is_seeded_from_its_stream_and_has_one_lane():
    streams = Streams(0, "a", 3)
    pupil = Hosted(Recorder).begin(BRIEF, [streams])
    assert pupil.host.seed == streams.integer("host")
    assert pupil.host.brief is BRIEF
    with pytest.raises(UsageError, match="one lane, not 2"):
        Hosted(Recorder).begin(BRIEF, [streams, streams])


def test_what_a_host_learner_lacks_is_not_applicable():
    class Statue:
        """Can do nothing."""

    lesson, exam = Lesson([EXAMPLES], np.array([[0]])), Exam([EXAMPLES])
    pupil = HostPupil(Statue(), BRIEF)
    for call in (lambda: pupil.learn(lesson, 0, 1), lambda: pupil.answer(exam)):
        with pytest.raises(
            NotApplicable, match="Statue does not answer: it has no learn and no predict"
        ):
            call()
    for kind in (Keeping, Showing):
        with pytest.raises(NotApplicable):
            face(HostPupil(Recorder(), BRIEF), kind)


def test_a_host_that_counts_symbols_is_not_applicable_where_there_are_none():
    class Table:
        def __init__(self, brief, seed):
            self.counts = np.zeros((brief.inputs.size, brief.outputs.size))

    class Slip(Table):
        def __init__(self, brief, seed):
            self.counts = brief.inputs.count

    streams = [Streams(0, "", 0)]
    for spaces in ((Reals(2), Tokens(3)), (Tokens(3), Reals(2))):
        with pytest.raises(
            NotApplicable, match=r"Table is for symbols: it uses `size` .* are real numbers here"
        ):
            Hosted(Table).begin(Brief(*spaces, "squared", 9, 9), streams)
    with pytest.raises(AttributeError, match="count"):
        Hosted(Slip).begin(Brief(Tokens(3), Reals(2), "squared", 9, 9), streams)


def test_parameters_are_counted_where_they_are_told():
    host = Recorder()
    assert HostPupil(host, BRIEF).cost()[0].trained_parameters is None
    host.parameters, host.bits = 12, 3.5
    assert HostPupil(host, BRIEF).cost()[0].trained_parameters == 12
    assert HostPupil(host, BRIEF).cost()[0].bits == 3.5


def test_optional_faces():
    class Able(Recorder):
        table = np.arange(6.0).reshape(2, 3)

        def states(self, inputs):
            return np.stack([inputs, 2 * inputs], axis=1)

        def act(self, observation, reward, first, learning=True):
            return int(observation["level"] + reward + first - 3 * (not learning))

        def snapshot(self):
            return Snapshot({"table": self.table}, {"note": "x"})

        def restore(self, snapshot):
            self.table = snapshot.arrays["table"]

    pupil = HostPupil(Able(), BRIEF)
    states = face(pupil, Showing).states(EXAMPLES.inputs)[0]
    assert states.shape == (3, 3, 2)
    assert states[1, 0].tolist() == [2, 4]
    turn = {"level": np.array([5])}, np.array([2.0]), np.array([True])
    assert pupil.act(*turn).tolist() == [8]
    assert pupil.act(*turn, learning=False).tolist() == [5]
    assert pupil.cost()[0].examples == 1
    pupil.learn(Lesson([EXAMPLES], np.array([[0, 1]])), 0, 2)
    (kept,) = Examination([], pupil, BRIEF).snapshots()
    fresh = HostPupil(Able(), BRIEF)
    fresh.host.table = np.zeros((2, 3))
    fresh.restore(kept)
    assert fresh.host.table.tolist() == Able.table.tolist()
    assert fresh.cost()[0].examples == 3
    assert kept.facts["note"] == "x"


def test_a_learner_that_cannot_be_kept_is_no_fault():
    assert list(Examination([], HostPupil(Recorder(), BRIEF), BRIEF).snapshots()) == []


def test_what_a_host_cannot_do_is_said_of_the_host():
    pupil = HostPupil(Recorder(), BRIEF)
    for seen in (pupil, Watched(pupil, BRIEF, np.random.default_rng(0))):
        with pytest.raises(NotApplicable, match=r"^Recorder does not act: it has no act$"):
            face(seen, Acting)
        with pytest.raises(
            NotApplicable,
            match=r"^Recorder does not play whole episodes: it has no rehearse and no p",
        ):
            face(seen, Rehearsing)


def test_a_snapshot_may_be_the_arrays_alone_and_must_not_be_anything_else():
    class Kept(Recorder):
        kept = {"table": np.arange(3.0), "count": 4}

        def snapshot(self):
            return self.kept

        def restore(self, snapshot):
            self.restored = snapshot

    pupil = HostPupil(Kept(), BRIEF)
    (kept,) = Examination([], pupil, BRIEF).snapshots()
    assert {name: array.tolist() for name, array in kept.arrays.items()} == {
        "table": [[0.0, 1.0, 2.0]],
        "count": [4],
    }
    pupil.restore(kept)
    assert isinstance(pupil.host.restored, Snapshot)
    assert pupil.host.restored.arrays["table"].tolist() == [0.0, 1.0, 2.0]
    for wrong, said in (
        ([1, 2], "snapshot must give a Snapshot, or a mapping of arrays, got list"),
        ({"table": {}}, "snapshot must give arrays of numbers or text, 'table' is none"),
    ):
        pupil.host.kept = wrong
        with pytest.raises(LearnerFault, match=said):
            list(Examination([], pupil, BRIEF).snapshots())


class Summing:
    """Answers with the parity of what it has read, and can say so step by step."""

    def __init__(self, brief, seed): ...

    def learn(self, inputs, targets): ...

    def predict(self, inputs):
        return np.cumsum(inputs) % 2


class SummingByStep(Summing):
    def start(self, rows, capacity):
        return np.zeros(rows, int)

    def step(self, state, inputs):
        return state + inputs, (state + inputs) % 2

    def rows(self, state, numbers):
        return state[numbers]


@pytest.mark.parametrize("make", [Summing, SummingByStep])
def test_a_host_steps_by_itself_or_by_predicting_again(make):
    brief = Brief(Tokens(2), Tokens(2), "cross-entropy", 4, 4)
    pupil = face(Hosted(make).begin(brief, [Streams(0, "testing/host", 0)]), Stepping)
    state, scores = pupil.step(pupil.start(2, 3), np.array([[1, 0]]))
    assert scores.tolist() == [[[0.0, 1.0], [1.0, 0.0]]]
    branched = pupil.rows(state, np.array([1, 0, 0]))
    _, scores = pupil.step(branched, np.array([[1, 1, 0]]))
    assert scores.argmax(axis=-1).tolist() == [[1, 0, 1]]
    _, scores = pupil.step(state, np.array([[0, 0]]))  # the state is as it was
    assert scores.argmax(axis=-1).tolist() == [[1, 0]]


def test_a_host_that_only_acts_cannot_step():
    class Actor:
        def __init__(self, brief, seed): ...

        def act(self, observation, reward, first):
            return 0

    pupil = Hosted(Actor).begin(
        Brief(Tokens(2), Tokens(2), "reward", 4, 4), [Streams(0, "testing/host", 0)]
    )
    with pytest.raises(NotApplicable, match="has no start and no step and no rows"):
        face(pupil, Stepping)


class Batched(Recorder):
    """Is asked many sequences at once. spoiled: answers by what stands beside."""

    spoiled = False

    def predict_many(self, sequences):
        self.asked.append(len(sequences))
        rows = [inputs + self.spoiled * (len(sequences) > 1) for inputs in sequences]
        return [row % 10 for row in rows]


def test_many_sequences_are_asked_at_once():
    """In the order of the exam, with the answers of `predict`; alone only the first and the last,
    and only once.
    """
    pupil, exam = HostPupil(Batched(), BRIEF), Exam([EXAMPLES])
    assert (pupil.answer(exam) == HostPupil(Recorder(), BRIEF).answer(exam)).all()
    assert pupil.host.asked == [3, [1, 2, 3], [7]]
    pupil.answer(exam)
    assert pupil.host.asked[3:] == [3]


def test_a_large_exam_comes_in_parts():
    pupil = HostPupil(Batched(), BRIEF)
    sequences = [[token % 10, 1] for token in range(MANY + 5)]
    scores = pupil.answer(Exam([Examples.from_sequences(sequences, [[1]] * len(sequences))]))
    assert [count for count in pupil.host.asked if isinstance(count, int)] == [MANY, 5]
    assert scores[0].argmax(axis=-1).tolist() == [token % 10 for token in range(MANY + 5)]


def test_answers_that_depend_on_what_stands_beside_are_refused():
    host = Batched()
    host.spoiled = True
    with pytest.raises(LearnerFault, match="predict_many gives other answers"):
        HostPupil(host, BRIEF).answer(Exam([EXAMPLES]))
    host.predict_many = lambda sequences: [sequences[0]]
    with pytest.raises(LearnerFault, match="one answer per sequence: 3, got 1"):
        HostPupil(host, BRIEF).answer(Exam([EXAMPLES]))


def test_symbols_are_int32_and_real_numbers_float64():
    """What the reference says of the arrays that `learn` and `predict` are given."""
    kinds = []

    class Typed(Recorder):
        def learn(self, inputs, targets):
            kinds.append((inputs.dtype.name, targets.dtype.name))

        def predict(self, inputs):
            kinds.append((inputs.dtype.name,))
            return np.zeros((len(inputs), 10))

    def shown(examples):
        pupil = HostPupil(Typed(), BRIEF)
        pupil.learn(Lesson([examples], np.zeros((1, 1), int)), 0, 1)
        pupil.answer(Exam([examples.take([0])]))
        return [kinds.pop(0) for _ in range(len(kinds))]

    asked, lengths = np.ones((4, 2), dtype=bool), np.array([4, 4])
    assert shown(EXAMPLES) == [("int32", "int32"), ("int32",)]
    for made in (np.int8, np.int64, np.uint16):
        symbols = np.ones((4, 2), dtype=made)
        assert shown(Examples(symbols, symbols, asked, lengths)) == [("int32", "int32"), ("int32",)]
    for made in (np.float32, np.float64):
        reals = np.ones((4, 2, 3), dtype=made)
        assert shown(Examples(reals, reals, asked, lengths)) == [
            ("float64", "float64"),
            ("float64",),
        ]
