"""The online readouts against plain NumPy loops in float64."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.core_with_training import Trained
from quickstudy.learners.online_readouts import (
    OnlineLogistic,
    OnlineSoftmax,
    RecursiveLeastSquares,
    Statistics,
)

CORE = EchoState(units=8, terms=4)


class Setup:
    """A lesson longer than one chunk, an exam, and the features that both have by themselves."""

    def __init__(self, world, item="example", count=100):
        self.train, self.test = world.examples(count), world.examples(20, seed=1)
        self.lesson = world.lesson(self.train, item=item)
        self.exam = Exam([self.test])
        self.streams = world.streams()
        self.brief = world.brief(self.train)
        self.symbols = world.symbols
        self.features = world.features(CORE, self.train, self.streams[0])
        where = self.exam.positions[0]
        self.test_rows = world.features(CORE, self.test, self.streams[0])[where[:, 0], where[:, 1]]
        positions = Exam([self.train]).positions[0]
        if item == "example":
            order = [
                position
                for index in self.lesson.order[0]
                for position in positions[positions[:, 1] == index]
            ]
        else:
            order = positions[self.lesson.order[0]]
        self.rows = [
            (self.features[time, index], self.train.targets[time, index]) for time, index in order
        ]
        self.all_rows = self.features[positions[:, 0], positions[:, 1]]
        self.all_targets = self.train.targets[positions[:, 0], positions[:, 1]]

    def answers(self, training):
        pupil = training.begin(CORE, self.brief, self.streams)
        pupil.learn(self.lesson, 0, self.lesson.items)
        assert pupil.cost()[0].updates == len(self.rows)
        assert pupil.cost()[0].examples == self.lesson.items
        return pupil.answer(self.exam)[0]


@pytest.fixture(scope="module")
def by_example(world):
    return Setup(world)


@pytest.fixture(scope="module")
def by_question(world):
    return Setup(world, "question")


class Running:
    """Mean and deviation of all rows so far; 1 where nothing has varied."""

    def __init__(self, width):
        self.rows = np.zeros((0, width))

    def see(self, row):
        self.rows = np.vstack([self.rows, row])

    def __call__(self, rows):
        deviation = self.rows.std(axis=0)
        return (rows - self.rows.mean(axis=0)) / np.where(deviation**2 <= 1e-12, 1.0, deviation)


def softmax_reference(setup, rate, decay):
    weights, bias = np.zeros((setup.symbols, 8)), np.zeros(setup.symbols)
    seen, scale = np.zeros(setup.symbols, bool), Running(8)
    for row, target in setup.rows:
        scale.see(row)
        seen[target] = True
        z = scale(row)
        exponents = np.where(seen, np.exp(weights @ z + bias), 0.0)
        wrong = np.eye(setup.symbols)[target] - exponents / exponents.sum()
        weights = (1 - rate * decay) * weights + rate * np.outer(wrong, z)
        bias = bias + rate * wrong
    return np.where(seen, scale(setup.test_rows) @ weights.T + bias, -1e30)


def logistic_reference(setup, rate, decay, peek):
    """For class c with y = 1 or -1: w <- (1 - rate decay) w - rate d/dw log(1 + exp(-y (w z +
    b))).
    """
    weights, bias = np.zeros((setup.symbols, 8)), np.zeros(setup.symbols)
    scale = Running(8)
    if peek:
        scale.rows = setup.all_rows
        seen = np.isin(np.arange(setup.symbols), setup.all_targets)
    else:
        seen = np.zeros(setup.symbols, bool)
    for row, target in setup.rows:
        if not peek:
            scale.see(row)
        seen[target] = True
        z = scale(row)
        for c in range(setup.symbols):
            y = 1.0 if c == target else -1.0
            slope = -y / (1 + np.exp(y * (weights[c] @ z + bias[c])))
            weights[c] = (1 - rate * decay) * weights[c] - rate * slope * z
            bias[c] -= rate * slope
    return np.where(seen, scale(setup.test_rows) @ weights.T + bias, -1e30)


def assert_near(found, expected):
    finite = expected > -1e29
    assert (found[~finite] < -1e29).all()
    np.testing.assert_allclose(
        found[finite], expected[finite], atol=2e-4 * np.abs(expected[finite]).max()
    )


@pytest.mark.parametrize("item", ["by_example", "by_question"])
def test_softmax(item, request):
    setup = request.getfixturevalue(item)
    found = setup.answers(OnlineSoftmax(rate=0.05, decay=0.1))
    assert_near(found, softmax_reference(setup, 0.05, 0.1))


def test_softmax_as_printed(by_example):
    """Features as they are, and every symbol a possible answer: the update written out."""
    setup, rate, decay = by_example, 0.05, 0.1
    weights, bias = np.zeros((setup.symbols, setup.rows[0][0].size)), np.zeros(setup.symbols)
    for row, target in setup.rows:
        logits = weights @ row + bias
        wrong = np.eye(setup.symbols)[target] - np.exp(logits) / np.exp(logits).sum()
        weights = (1 - rate * decay) * weights + rate * wrong[:, None] * row
        bias = bias + rate * wrong
    found = setup.answers(OnlineSoftmax(rate=rate, decay=decay, plain=True))
    assert_near(found, setup.test_rows @ weights.T + bias)


@pytest.mark.parametrize("item", ["by_example", "by_question"])
@pytest.mark.parametrize("peek", [False, True])
def test_one_versus_rest(item, peek, request):
    """With `peek`, all the lesson is looked at first, however it is cut into pieces."""
    setup = request.getfixturevalue(item)
    found = setup.answers(OnlineLogistic(rate=0.05, decay=0.1, peek=peek))
    assert_near(found, logistic_reference(setup, 0.05, 0.1, peek))


def test_two_classes_are_one_binary_regression(world):
    """The published readout is a single regression then; two mirror images decide alike."""
    train, test = world.examples(30, symbols=2), world.examples(10, seed=1, symbols=2)
    pupil = OnlineLogistic(rate=0.05).begin(CORE, world.brief(train, 2), world.streams())
    pupil.learn(world.lesson(train), 0, train.count)
    scores = pupil.answer(Exam([test]))[0]
    np.testing.assert_allclose(scores[:, 0], -scores[:, 1], atol=1e-5)


def test_a_symbol_that_was_never_an_answer_is_never_given(world):
    tokens = [[0, 1, 2], [3, 2, 1], [4, 0, 2]]
    train = Examples.from_sequences(tokens, [[2], [2], [2]])
    exam = Exam([world.examples(20)])
    for training in (
        OnlineSoftmax(),
        OnlineLogistic(),
        OnlineLogistic(peek=True),
        RecursiveLeastSquares(),
    ):
        pupil = training.begin(CORE, world.brief(train), world.streams())
        lesson = Lesson([train], np.array([[0, 2, 1]]))
        pupil.learn(lesson, 0, 2)
        first = set(pupil.answer(exam)[0].argmax(axis=-1).tolist())
        assert first <= ({2, 1} if getattr(training, "peek", False) else {2})
        pupil.learn(lesson, 2, 3)
        assert set(pupil.answer(exam)[0].argmax(axis=-1).tolist()) <= {1, 2}


def ridge_reference(rows, targets, test_rows, ridge, forgetting=1.0):
    """The closed form: weights of past rows fade by `forgetting`, and so does the prior."""
    z = np.hstack([rows, np.ones((len(rows), 1))])
    fading = forgetting ** np.arange(len(rows) - 1, -1, -1)
    prior = ridge * forgetting ** len(rows) * np.eye(z.shape[1])
    weights = np.linalg.solve(
        (z * fading[:, None]).T @ z + prior, (z * fading[:, None]).T @ targets
    )
    return np.hstack([test_rows, np.ones((len(test_rows), 1))]) @ weights


@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_recursive_least_squares_is_ridge_regression_after_every_row(by_question, forgetting):
    setup = by_question
    training = RecursiveLeastSquares(ridge=0.5, forgetting=forgetting)
    pupil = training.begin(CORE, setup.brief, setup.streams)
    for shown in range(1, 41):
        pupil.learn(setup.lesson, shown - 1, shown)
        rows, targets = zip(*setup.rows[:shown], strict=True)
        expected = ridge_reference(
            np.array(rows), np.eye(setup.symbols)[list(targets)], setup.test_rows, 0.5, forgetting
        )
        found, seen = pupil.answer(setup.exam)[0], sorted(set(map(int, targets)))
        np.testing.assert_allclose(found[:, seen], expected[:, seen], atol=1e-3)


def test_recursive_least_squares_on_real_numbers():
    rng = np.random.default_rng(0)
    drive = rng.normal(size=(60, 1, 1)).astype(np.float32)
    targets = np.concatenate([drive, np.roll(drive, 1, axis=0)], axis=2)
    asked = (np.arange(60) >= 10)[:, None]
    series = Examples(drive, targets, asked, np.array([60]))
    streams = [Streams(0, "testing/reals", 0)]
    brief = Brief(Reals(1), Reals(2), "squared", 60, 1)
    pupil = RecursiveLeastSquares(ridge=0.1).begin(CORE, brief, streams)
    pupil.learn(Lesson([series], np.array([[0]])), 0, 1)
    states = np.asarray(pupil.states(drive), float)[0, :, 0]
    expected = ridge_reference(states[10:], targets[10:, 0], states[10:], 0.1)
    np.testing.assert_allclose(pupil.answer(Exam([series]))[0], expected, atol=1e-3)
    assert pupil.cost()[0].trained_parameters == 2 * 9
    assert pupil.scale == "values"


def test_readouts_of_symbols_refuse_real_numbers(world):
    brief = Brief(Tokens(3), Reals(1), "squared", 5, 5)
    with pytest.raises(NotApplicable, match=r"^sgd gives symbols, not real numbers$"):
        Trained(CORE, OnlineSoftmax()).begin(brief, world.streams())


def test_cost_counts_what_is_there(by_example):
    pupil = OnlineSoftmax().begin(CORE, by_example.brief, by_example.streams)
    (cost,) = pupil.cost()
    assert cost.trained_parameters == 5 * 8 + 5
    core = CORE.build(Tokens(5), by_example.streams[0].numpy("core"))
    recurrent = sum(np.count_nonzero(np.asarray(group)) for group in core.strengths)
    assert cost.fixed_parameters == recurrent + 5 * 8 + 8 + 1  # inputs, bias, leak


def test_states_are_those_of_the_core(by_example):
    pupil = OnlineSoftmax().begin(CORE, by_example.brief, by_example.streams)
    states = np.asarray(pupil.states(by_example.train.inputs))[0]
    np.testing.assert_allclose(states, by_example.features, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 7, 18, 30, 51])
def test_classes_that_are_level_stay_level(classes):
    """After one question all classes but its answer have equal weights; rounding must not make one
    of them win.
    """
    rng = np.random.default_rng(classes)
    rows, row = (
        rng.normal(size=(50, 180)).astype(np.float32),
        rng.normal(size=180).astype(np.float32),
    )
    weights, bias = np.tile(0.001 * row, (classes, 1)), np.full(classes, -0.0005, np.float32)
    statistics = Statistics.whole(jnp.asarray(rows), jnp.ones(50, bool))
    found = np.asarray(jax.jit(Statistics.linear)(statistics, weights, bias, rows))
    assert (found == found[:, :1]).all()
