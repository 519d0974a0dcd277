"""Learners of whole rows: the bag of words that is never written out, and networks with pooled
features.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable, UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.pooled import distinct, in_order, rows_of
from quickstudy.learners.pooled_sequences import BatchNorm

SYMBOLS = 20
NETS = (
    "rnn+pooled:units=6,vectors=4,dropped=0.3,normed=true",
    "transformer+pooled:embedding=8,heads=2,hidden=6,pool=mean",
)


def draw(seed, count=24, questions=1):
    """Sequences of different lengths; the answer says whether symbol 3 has been read."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(questions + 1, 31, count)
    inputs = np.zeros((30, count), dtype=np.uint16)
    asked = np.zeros((30, count), dtype=bool)
    for index, length in enumerate(lengths):
        inputs[:length, index] = rng.integers(SYMBOLS, size=length)
        asked[
            np.append(rng.choice(length - 1, questions - 1, replace=False), length - 1), index
        ] = True
    targets = np.logical_or.accumulate(inputs == 3, axis=0).astype(np.int32)
    return Examples(inputs, targets, asked, lengths.astype(np.int64))


def lesson_of(lanes, passes=3):
    rng = np.random.default_rng(9)
    order = np.concatenate([rng.permutation(lanes[0].count) for _ in range(passes)])
    return Lesson(lanes, np.stack([order] * len(lanes)))


def begin(name, lesson, lanes=1, convention="corrected"):
    brief = Brief(Tokens(SYMBOLS), Tokens(2), "cross-entropy", 40, lesson.items)
    streams = [Streams(0, "made-up", lane) for lane in range(lanes)]
    return choose_learner(name, convention).make(None).begin(brief, streams)


def trained_answers(name, lanes, exams, cuts=(0, 72), convention="corrected"):
    lesson = lesson_of(lanes)
    pupil = begin(name, lesson, len(lanes), convention)
    for start, stop in itertools.pairwise(cuts):
        pupil.learn(lesson, start, stop)
    return pupil.answer(Exam(exams))


def reference(train, test, order, head, rate=0.001, batch=8):
    """The linear model by the book: dense features, gradients by hand, Adam by hand. In float64."""

    def features(examples):
        rows = np.zeros((examples.count, SYMBOLS))
        for index, length in enumerate(examples.lengths):
            rows[index, np.unique(examples.inputs[:length, index])] = 1
        return rows / rows.sum(axis=1, keepdims=True)

    def answers(examples):
        return examples.targets[examples.lengths - 1, np.arange(examples.count)]

    weights = np.vstack([head["weights"], head["bias"]]).astype(np.float64)
    shown = np.hstack([features(train), np.ones((train.count, 1))])
    wanted = np.eye(2)[answers(train)]
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for number in range(len(order) // batch):
        chosen = order[number * batch : (number + 1) * batch]
        logits = shown[chosen] @ weights
        chances = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        gradient = shown[chosen].T @ (chances - wanted[chosen]) / batch
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        steps = number + 1
        weights -= rate * (first / (1 - 0.9**steps)) / (np.sqrt(second / (1 - 0.999**steps)) + 1e-8)
    return np.hstack([features(test), np.ones((test.count, 1))]) @ weights


def test_rows_by_hand():
    inputs = np.array([[5, 1], [5, 2], [4, 1]], dtype=np.uint16)
    asked = np.array([[False, False], [True, True], [True, False]])
    examples = Examples(inputs, np.array([[0, 0], [1, 1], [0, 0]]), asked, np.array([3, 2]))
    ordered, bags = rows_of(examples, in_order), rows_of(examples, distinct)
    assert ordered.symbols.tolist() == [[5, 5, 0], [5, 5, 4], [1, 2, 0]]
    assert ordered.sizes.tolist() == [2, 3, 2]
    assert bags.symbols.tolist() == [[5, 0], [4, 5], [1, 2]]
    assert bags.sizes.tolist() == [1, 2, 2]
    assert ordered.targets.tolist() == [1, 0, 1]
    assert ordered.of_example.tolist() == [[0, 1], [2, 0]]
    assert ordered.shares.tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_linear_model_is_that_of_the_book():
    train, test = draw(0), draw(1)
    lesson = lesson_of([train])
    pupil = begin("bag+sparse", lesson)
    arrays = pupil.snapshot().arrays
    head = {
        name: next(
            array[0] for path, array in arrays.items() if path.startswith("[0][0]") and name in path
        )
        for name in ("weights", "bias")
    }
    assert np.abs(head["weights"]).max() <= 0.01 / np.sqrt(SYMBOLS)
    pupil.learn(lesson, 0, lesson.items)
    found = pupil.answer(Exam([test]))[0]
    np.testing.assert_allclose(
        found, reference(train, test, lesson.order[0], head), rtol=0, atol=2e-6
    )


@pytest.mark.parametrize("questions", [1, 3])
def test_sparse_is_the_bag_with_adam(questions):
    train, test = draw(0, questions=questions), draw(1, questions=questions)
    sparse, dense = (
        trained_answers(name, [train], [test]) for name in ("bag+sparse", "bag+adam:batch=8")
    )
    np.testing.assert_allclose(sparse, dense, rtol=0, atol=2e-6)


@pytest.mark.parametrize("name", ["bag+sparse", *NETS])
class TestPupils:
    def test_cuts_make_no_difference(self, name):
        whole = trained_answers(name, [draw(0)], [draw(1)])
        cut = trained_answers(name, [draw(0)], [draw(1)], cuts=(0, 5, 8, 31, 72))
        np.testing.assert_array_equal(whole, cut)

    def test_same_streams_same_answers(self, name):
        first, second = (trained_answers(name, [draw(0)], [draw(1)]) for _ in range(2))
        np.testing.assert_array_equal(first, second)

    def test_comes_back_from_a_snapshot(self, name):
        lesson, exam = lesson_of([draw(0)]), Exam([draw(1)])
        pupil = begin(name, lesson)
        pupil.learn(lesson, 0, 40)
        kept = pupil.snapshot()
        pupil.learn(lesson, 40, 72)
        wanted = pupil.answer(exam)
        other = begin(name, lesson)
        other.restore(kept)
        other.learn(lesson, 40, 72)
        np.testing.assert_array_equal(other.answer(exam), wanted)
        assert other.cost()[0].examples == 72
        assert other.cost()[0].updates == 9

    def test_longer_padding_makes_no_difference(self, name):
        test = draw(1)
        kept = trained_answers(name, [draw(0)], [test])
        np.testing.assert_allclose(
            trained_answers(name, [draw(0)], [test.padded(60)]), kept, rtol=0, atol=1e-5
        )


@pytest.mark.parametrize("name", ["bag+sparse", NETS[0]])
def test_lanes_with_the_same_material_and_with_their_own(name):
    train, test = draw(0), draw(1)
    shared = trained_answers(name, [train, train], [test, test])
    own = trained_answers(name, [train, draw(0)], [test, draw(1)])
    np.testing.assert_allclose(shared, own, rtol=0, atol=1e-5)
    np.testing.assert_allclose(
        shared[:1], trained_answers(name, [train], [test]), rtol=0, atol=1e-4
    )
    assert not np.allclose(shared[0], shared[1], atol=1e-4)


@pytest.mark.parametrize(("convention", "same"), [("corrected", True), ("published", False)])
def test_published_padding_counts(convention, same):
    """An answer of the published transformer depends on the longest row of its batch, of the mended
    one it does not.
    """
    name = "transformer+pooled:embedding=8,heads=2,hidden=6,causal=false,pool=mean"
    test = draw(1)
    shorter, longer = np.argsort(test.lengths)[[3, -1]]
    pupil = begin(name, lesson_of([test]), convention=convention)
    both, twice = (
        pupil.answer(Exam([test.take(those)]))[0]
        for those in ([shorter, longer], [shorter, shorter])
    )
    assert np.allclose(both[0], twice[0], rtol=0, atol=1e-5) == same
    np.testing.assert_allclose(
        pupil.answer(Exam([test.take([longer, shorter])]))[0], both[::-1], rtol=0, atol=1e-5
    )


def test_symbol_0_has_no_vector_as_published():
    name = "lstm+pooled:units=4,vectors=3"
    inputs = np.array([[0], [5]], dtype=np.uint16)
    row = Examples(inputs, np.zeros((2, 1), int), np.array([[False], [True]]), np.array([2]))
    lesson = lesson_of([draw(0)])
    for convention, moved in (("published", False), ("corrected", True)):
        pupil = begin(name, lesson, convention=convention)
        before = pupil.answer(Exam([row]))
        arrays = dict(pupil.snapshot().arrays)
        path = next(path for path in arrays if path.endswith("vectors"))
        arrays[path] = arrays[path].copy()
        arrays[path][0, 0] += 5.0
        pupil.restore(type(pupil.snapshot())(arrays))
        assert bool(np.abs(pupil.answer(Exam([row])) - before).max() > 1e-4) == moved


def test_batch_normalisation_by_hand():
    norm = BatchNorm.fresh(1)
    rows, shares = np.array([[1.0], [3.0], [50.0]]), np.array([0.5, 0.5, 0.0])
    found, noted = norm(rows, shares, norm.notes(), learning=True)
    np.testing.assert_allclose(np.asarray(found)[:2, 0], [-1.0, 1.0], atol=1e-4)
    np.testing.assert_allclose(
        [noted.mean[0], noted.variance[0]], [0.2, 0.9 + 0.1 * 2.0], rtol=1e-6
    )
    found, same = norm(rows, shares, noted, learning=False)
    np.testing.assert_allclose(
        np.asarray(found)[0, 0], (1.0 - 0.2) / np.sqrt(1.1 + 1e-5), rtol=1e-6
    )
    assert same is noted


def test_sizes_of_the_published_networks():
    """Vectors, weights, two biases, norm and head. At 30,000 symbols: 3.94, 4.24, 4.14, 3.97 and
    0.06 million.
    """
    symbols, vectors = 50, 50 * 128
    brief = Brief(Tokens(symbols), Tokens(2), "cross-entropy", 10, 8)
    net, rest = "units=256,vectors=128,dropped=0.6,normed=true", 2 * 256 + 256 * 2 + 2
    layer = 128 * 256 + 256 * 256 + 2 * 256
    encoder = 4 * (128 * 128 + 128) + 2 * 128 * 256 + 256 + 128 + 4 * 128 + 128 * 2 + 2
    names = {
        f"rnn+pooled:{net}": vectors + layer + rest,
        f"lstm+pooled:{net}": vectors + 4 * layer + rest,
        f"gru+pooled:{net}": vectors + 3 * layer + rest,
        "transformer+pooled:embedding=128,heads=8,hidden=256,pool=mean": vectors + encoder,
        "bag+sparse": 2 * symbols + 2,
    }
    millions = [
        round((size + 29_950 * (2 if "bag" in name else 128)) / 1e6, 2)
        for name, size in names.items()
    ]
    assert millions == [3.94, 4.24, 4.14, 3.97, 0.06]
    for name, size in names.items():
        pupil = (
            choose_learner(name, "corrected").make(None).begin(brief, [Streams(0, "made-up", 0)])
        )
        assert pupil.cost()[0].trained_parameters == size, name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("esn+sparse", "sparse is for the core bag, not esn; use esn+adam"),
        ("esn+pooled", "pooled trains the whole network, and esn is a reservoir; use esn\\+adam"),
        (
            "lstm+pooled:dropped=0.5",
            "dropped is about vectors, and there are none, got 0.5; give vectors=128",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(name, message):
    with pytest.raises(UsageError, match=message.replace("esn+adam", "esn\\+adam")):
        choose_learner(name, "corrected")


@pytest.mark.parametrize("name", ["bag+sparse", "lstm+pooled:units=4"])
def test_refuses_what_it_cannot_read(name):
    brief = Brief(Reals(2), Tokens(2), "cross-entropy", 10, 8)
    with pytest.raises(NotApplicable, match=r"^(sparse|pooled) reads symbols, not real numbers"):
        choose_learner(name, "corrected").make(None).begin(brief, [Streams(0, "made-up", 0)])
    questions = Lesson([draw(0)], np.arange(24)[None], "question")
    with pytest.raises(UsageError, match="learns from whole examples"):
        begin(name, questions).learn(questions, 0, 8)
