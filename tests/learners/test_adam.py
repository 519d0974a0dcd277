"""Backpropagation with Adam against the same thing done one sequence at a time, without padding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import parameters_of
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.esn import EchoState
from quickstudy.cores.recurrent import LSTM
from quickstudy.cores.transformer import Transformer
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.adam import Adam
from quickstudy.learners.stepping import Head, Model

CORE = LSTM(units=4)
RATE = 0.01


@pytest.fixture(scope="module")
def setup(world):
    train, test = world.examples(20), world.examples(10, seed=1)
    return world.lesson(train, passes=2), Exam([test]), world.brief(train), world.streams()


def trained(setup, training, *cuts):
    lesson, exam, brief, streams = setup
    pupil = training.begin(CORE, brief, streams)
    for start, stop in zip((0, *cuts), (*cuts, lesson.items), strict=True):
        pupil.learn(lesson, start, stop)
    return pupil, pupil.answer(exam)


def drawn_model(streams, symbols):
    """Core, then head, from one stream: as the pupil draws them."""
    rng = streams.numpy("core")
    core = CORE.build(Tokens(symbols), rng)
    weights, bias = rng.uniform(-0.5, 0.5, (4, symbols)), rng.uniform(-0.5, 0.5, symbols)
    return Model(core, Head(jnp.asarray(weights, jnp.float32), jnp.asarray(bias, jnp.float32)))


def sequence_loss(model, inputs, targets, asked):
    """Mean cross-entropy over the questions of one sequence, which is as long as it is."""
    logits = model.head(model.core.unroll(model.core.start(1, len(inputs)), inputs[:, None])[1])[
        :, 0
    ]
    chances = jax.nn.log_softmax(logits)[jnp.arange(len(targets)), targets]
    return -(chances * asked).sum() / asked.sum()


def alone(examples, index):
    """One sequence without its padding."""
    length = int(examples.lengths[index])
    return tuple(
        jnp.asarray(part[:length, index])
        for part in (examples.inputs, examples.targets, examples.asked)
    )


def reference(setup, total, updates, batch=8, l1=0.0, l2=0.0):
    """Adam as its paper writes it, with the gradients of a batch added up or averaged, and those of
    the penalties.
    """
    lesson, exam, _, streams = setup
    model = drawn_model(streams[0], 5)
    gradient = eqx.filter_jit(eqx.filter_grad(sequence_loss))
    weights, structure = jax.tree.flatten(model)
    weights = [np.asarray(leaf, float) for leaf in weights]
    first, second = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    for number in range(updates):
        chosen = lesson.order[0, number * batch : (number + 1) * batch]
        model = jax.tree.unflatten(structure, [jnp.asarray(w, jnp.float32) for w in weights])
        each = [
            jax.tree.leaves(gradient(model, *alone(lesson.examples[0], index))) for index in chosen
        ]
        for place, parts in enumerate(zip(*each, strict=True)):
            slope = sum(np.asarray(part, float) for part in parts) / (
                batch if total == "mean" else 1
            )
            slope = slope + l1 * np.sign(weights[place]) + 2 * l2 * weights[place]
            first[place] = 0.9 * first[place] + 0.1 * slope
            second[place] = 0.999 * second[place] + 0.001 * slope**2
            mean, square = (
                first[place] / (1 - 0.9 ** (number + 1)),
                second[place] / (1 - 0.999 ** (number + 1)),
            )
            weights[place] = weights[place] - RATE * mean / (np.sqrt(square) + 1e-8)
    model = jax.tree.unflatten(structure, [jnp.asarray(w, jnp.float32) for w in weights])
    test = exam.examples[0]
    features = model.core.unroll(model.core.start(test.count, test.steps), test.inputs)[1]
    where = exam.positions[0]
    return np.asarray(model.head(features))[where[:, 0], where[:, 1]]


@pytest.mark.parametrize("total", ["mean", "sum"])
def test_updates_are_those_of_unpadded_sequences(setup, total):
    lesson, exam, brief, streams = setup
    pupil = Adam(rate=RATE, total=total, batch=8, among="all").begin(CORE, brief, streams)
    pupil.learn(lesson, 0, 16)
    np.testing.assert_allclose(pupil.answer(exam)[0], reference(setup, total, 2), atol=2e-4)
    assert pupil.cost()[0].updates == 2


@pytest.mark.parametrize(
    ("l1", "l2", "total"), [(0.02, 0.0, "mean"), (0.0, 0.05, "sum"), (0.01, 0.03, "mean")]
)
def test_penalties_are_part_of_the_loss(setup, l1, l2, total):
    lesson, exam, brief, streams = setup
    pupil = Adam(rate=RATE, total=total, batch=8, among="all", l1=l1, l2=l2).begin(
        CORE, brief, streams
    )
    pupil.learn(lesson, 0, 16)
    wanted = reference(setup, total, 2, l1=l1, l2=l2)
    np.testing.assert_allclose(pupil.answer(exam)[0], wanted, atol=2e-4)
    assert np.abs(wanted - reference(setup, total, 2)).max() > 1e-3


def test_what_was_never_an_answer_is_never_given(setup):
    """As by the readouts: among the answers of the batches that were learned from, wherever a
    lesson is cut.
    """
    lesson, exam, brief, streams = setup
    examples, order = lesson.examples[0], lesson.order[0]
    pupil = Adam(rate=RATE, batch=2).begin(CORE, brief, streams)
    assert (pupil.answer(exam) == np.float32(-1e30)).all()
    for stop in (1, 3, 7, 16):
        pupil.learn(lesson, pupil.cost()[0].examples, stop)
        learned = order[: stop // 2 * 2]
        answers = set(examples.targets[:, learned][examples.asked[:, learned]].tolist())
        allowed = np.isin(np.arange(brief.outputs.width), list(answers))
        assert ((pupil.answer(exam)[0] > -1e29) == allowed).all()
    state = pupil.start(1, 4)
    _, scores = pupil.step(state, np.zeros((pupil.lanes, 1), np.int32))
    assert ((scores[0, 0] > -1e29) == allowed).all()
    again = Adam(rate=RATE, batch=2).begin(CORE, brief, streams)
    again.restore(pupil.snapshot())
    assert (again.answer(exam) == pupil.answer(exam)).all()


def test_what_an_identity_rests_on():
    usual = {
        "rate": 0.001,
        "batch": 1,
        "passes": 10,
        "total": "mean",
        "among": "seen",
        "l1": 0.0,
        "l2": 0.0,
    }
    assert parameters_of(Adam()) == usual
    assert parameters_of(Adam(l2=0.1))["l2"] == 0.1


@pytest.mark.parametrize("core", [CORE, EchoState(units=6)])
@pytest.mark.parametrize("total", ["mean", "sum"])
def test_the_whole_lesson_is_one_batch(setup, world, total, core):
    """As a batch of that size; of examples that come twice, too, which are read once and count
    twice.
    """
    _, exam, brief, streams = setup
    twice = world.examples(14).take([*range(14), 3, 3, 5, 7, 9, 11])
    lesson = world.lesson(twice, passes=3)
    answers = []
    for batch in (0, 20):
        pupil = Adam(rate=RATE, total=total, batch=batch, among="all").begin(core, brief, streams)
        pupil.learn(lesson, 0, 19)
        assert pupil.cost()[0].updates == 0
        pupil.learn(lesson, 19, 60)
        assert (pupil.cost()[0].examples, pupil.cost()[0].updates) == (60, 3)
        answers.append(pupil.answer(exam))
    np.testing.assert_allclose(*answers, atol=2e-5)


def test_lanes_have_whole_lessons_of_their_own_sizes(world):
    lanes = [world.examples(9, seed=4), world.examples(13, seed=5)]
    exam, streams = world.examples(10, seed=6), world.streams(2)
    brief = world.brief(lanes[1])
    lesson = world.lesson(*lanes, passes=2)
    pupil = Adam(rate=RATE, batch=0, among="all").begin(CORE, brief, streams)
    pupil.learn(lesson, 0, lesson.items)
    assert [cost.updates for cost in pupil.cost()] == [2, 2]
    answers = pupil.answer(Exam([exam, exam]))
    for lane in range(2):
        alone = Adam(rate=RATE, batch=0, among="all").begin(CORE, brief, streams[lane : lane + 1])
        own = Lesson(lanes[lane : lane + 1], lesson.order[lane : lane + 1, : lesson.lengths[lane]])
        alone.learn(own, 0, own.items)
        np.testing.assert_allclose(alone.answer(Exam([exam]))[0], answers[lane], atol=2e-5)


def test_a_pass_that_leaves_examples_out_is_no_whole_lesson(setup, world):
    _, _, brief, streams = setup
    lesson = Lesson([world.examples(3)], np.array([[0, 1, 1]]))
    with pytest.raises(UsageError, match="every pass must show every example once"):
        Adam(batch=0).begin(CORE, brief, streams).learn(lesson, 0, 3)


def test_split_calls_equal_one_call_bit_for_bit(setup):
    whole, answers = trained(setup, Adam(rate=RATE, batch=8))
    for cuts in ((1,), (8,), (3, 9, 11, 30)):
        pieces, again = trained(setup, Adam(rate=RATE, batch=8), *cuts)
        assert np.array_equal(again, answers)
        assert pieces.cost() == whole.cost()


def test_an_update_is_made_when_its_batch_is_full(setup):
    lesson, exam, brief, streams = setup
    pupil = Adam(rate=RATE, batch=8).begin(CORE, brief, streams)
    before = pupil.answer(exam)
    pupil.learn(lesson, 0, 7)
    assert np.array_equal(pupil.answer(exam), before)
    assert (pupil.cost()[0].examples, pupil.cost()[0].updates) == (7, 0)
    pupil.learn(lesson, 7, 8)
    after = pupil.answer(exam)
    assert not np.array_equal(after, before)
    assert pupil.cost()[0].updates == 1
    # 40 items are five batches; the last items of an incomplete batch change nothing.
    pupil.learn(lesson, 8, 39)
    assert pupil.cost()[0].updates == 4
    four = pupil.answer(exam)
    pupil.learn(lesson, 39, 40)
    assert pupil.cost()[0].updates == 5
    assert not np.array_equal(pupil.answer(exam), four)


def test_parameters_are_counted(setup):
    pupil, _ = trained(setup, Adam(batch=8))
    assert pupil.cost()[0].trained_parameters == 4 * (4 * 5 + 4 * 4 + 2 * 4) + 4 * 5 + 5
    assert pupil.cost()[0].fixed_parameters == 0


def test_only_the_head_of_a_reservoir_is_trained(setup):
    lesson, _, brief, streams = setup
    pupil = Adam(rate=RATE, batch=8).begin(EchoState(units=6), brief, streams)
    inputs = lesson.examples[0].inputs
    before = np.asarray(pupil.states(inputs))
    start = pupil.snapshot().arrays
    pupil.learn(lesson, 0, 16)
    assert np.array_equal(np.asarray(pupil.states(inputs)), before)
    changed = [
        name
        for name, array in pupil.snapshot().arrays.items()
        if not np.array_equal(array, start[name])
    ]
    assert any(".head.weights" in name for name in changed)
    assert not any(".core" in name for name in changed)
    assert pupil.cost()[0].trained_parameters == 6 * 5 + 5


def test_single_questions_are_refused(setup, world):
    _, _, brief, streams = setup
    with pytest.raises(UsageError, match="whole examples, not from single questions"):
        Adam().begin(CORE, brief, streams).learn(
            world.lesson(world.examples(3), item="question"), 0, 1
        )


def test_real_outputs_are_learned_by_squared_error():
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(12, 8, 1)).astype(np.float32)
    examples = Examples(inputs, 0.3 * inputs, np.ones((12, 8), bool), np.full(8, 12))
    lesson, exam = Lesson([examples], np.tile(np.arange(8), 30)[None]), Exam([examples])
    brief = Brief(Reals(1), Reals(1), "squared", 12, 240)
    pupil = Adam(rate=0.03).begin(LSTM(units=6), brief, [Streams(0, "testing/reals", 0)])

    def error():
        return float(np.mean((pupil.answer(exam) - exam.targets) ** 2))

    before = error()
    pupil.learn(lesson, 0, 240)
    assert error() < 0.2 * before
    assert pupil.answer(exam).shape == (1, 96, 1)
    assert pupil.scale == "values"


NOISY = Transformer(embedding=8, heads=2, hidden=6, dropout=0.5)


@pytest.fixture(scope="module")
def noisy_setup(world):
    train, test = world.examples(24), world.examples(10, seed=1)
    return world.lesson(train), Exam([test]), world.brief(train)


class Elsewhere(Streams):
    """Streams that differ in the noise only."""

    def words(self, purpose, count=8):
        return super().words("other noise" if purpose == "noise" else purpose, count)


def taught(noisy_setup, core, streams, *cuts):
    lesson, exam, brief = noisy_setup
    pupil = Adam(rate=0.01).begin(core, brief, [streams])
    for start, stop in zip((0, *cuts), (*cuts, lesson.items), strict=True):
        pupil.learn(lesson, start, stop)
    return pupil, pupil.answer(exam)


def test_the_stream_of_noise_makes_the_noise(noisy_setup):
    pupil, answers = taught(noisy_setup, NOISY, Streams(0, "noise", 0))
    assert np.array_equal(taught(noisy_setup, NOISY, Streams(0, "noise", 0))[1], answers)
    _, others = taught(noisy_setup, NOISY, Elsewhere(0, "noise", 0))
    assert not np.allclose(others, answers)
    # Answers are without noise: asked twice, they are the same.
    assert np.array_equal(pupil.answer(noisy_setup[1]), answers)


def test_every_update_has_noise_of_its_own_wherever_the_lesson_is_cut(noisy_setup):
    answers = taught(noisy_setup, NOISY, Streams(0, "noise", 0))[1]
    assert np.array_equal(taught(noisy_setup, NOISY, Streams(0, "noise", 0), 8, 13)[1], answers)


def test_a_restored_learner_goes_on_with_the_noise_it_had(noisy_setup):
    lesson, exam, brief = noisy_setup
    pupil, answers = taught(noisy_setup, NOISY, Streams(0, "noise", 0), 8)
    first = Adam(rate=0.01).begin(NOISY, brief, [Streams(0, "noise", 0)])
    first.learn(lesson, 0, 8)
    second = Adam(rate=0.01).begin(NOISY, brief, [Elsewhere(0, "noise", 7)])
    second.restore(first.snapshot())
    second.learn(lesson, 8, lesson.items)
    assert np.array_equal(second.answer(exam), answers)
    assert second.cost() == pupil.cost()


@pytest.mark.parametrize("causal", [True, False])
def test_noise_does_not_depend_on_the_lanes_beside(world, causal):
    core = replace(NOISY, causal=causal)
    short, long = world.examples(24, longest=7), world.examples(24, seed=1, longest=30)
    exams, streams = [world.examples(10, seed=seed, longest=7) for seed in (2, 3)], world.streams(2)
    lesson = world.lesson(short, long)
    both = Adam(rate=0.01, batch=8).begin(core, world.brief(long), streams)
    both.learn(lesson, 0, lesson.items)
    alone = Adam(rate=0.01, batch=8).begin(core, world.brief(long), streams[:1])
    alone.learn(Lesson([short], lesson.order[:1]), 0, lesson.items)
    answers = alone.answer(Exam(exams[:1]))
    np.testing.assert_allclose(both.answer(Exam(exams))[:1, : answers.shape[1]], answers, atol=1e-5)


def test_a_core_without_noise_has_no_key(noisy_setup):
    _, _, brief = noisy_setup
    quiet, noisy = (
        Adam().begin(core, brief, [Streams(0, "noise", 0)]).snapshot().arrays
        for core in (LSTM(units=3), NOISY)
    )
    keys = [array for array in noisy.values() if array.dtype == np.uint32]
    assert [array.shape for array in keys] == [(1, 2)]
    assert not any(array.dtype == np.uint32 for array in quiet.values())
