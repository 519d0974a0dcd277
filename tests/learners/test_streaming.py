"""Lessons in a stream: the same updates and answers as otherwise; schedules, cut gradients;
learning from payoffs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.transformer import Transformer
from quickstudy.jax_gateway import jax, jnp
from quickstudy.learners.adam import Adam
from quickstudy.learners.auxiliary_losses import AuxiliaryLosses
from quickstudy.learners.bandit import Bandit, Drawn, won_or_lost
from quickstudy.learners.core_with_training import Trained
from quickstudy.learners.online_batches import Batches
from quickstudy.learners.optimiser import clipped, share_of_rate
from quickstudy.learners.updates import of_tokens

CORE = Transformer(
    embedding=8, hidden=8, heads=2, layers=2, waves=2, waved=1, positions=False, alike=True
)
BRIEF = Brief(Reals(2), Tokens(3), "cross-entropy", 70, 24)


def drawn(seed: int, count: int, longest: int = 70) -> Examples:
    """Sequences of two numbers a step; at every second step it is asked whether the first was low,
    middle or high.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(4, longest, size=count)
    inputs = rng.uniform(-1, 1, (longest, count, 2)).astype(np.float32)
    times = np.arange(longest)[:, None]
    targets = np.digitize(inputs[..., 0], [-0.3, 0.3]).astype(np.int32)
    return Examples(inputs, targets, (times % 2 == 0) & (times < lengths), lengths.astype(np.int64))


def lessons(stream: bool, lanes: int = 2) -> Lesson:
    order = np.stack([np.random.default_rng(lane).permutation(24) for lane in range(lanes)])
    return Lesson([drawn(lane, 24) for lane in range(lanes)], order, stream=stream)


def streams(lanes: int) -> list[Streams]:
    return [Streams(1, "stream", lane) for lane in range(lanes)]


@pytest.mark.parametrize("total", ["mean", "sum"])
def test_a_stream_gives_the_same_updates_and_answers(total: str) -> None:
    training = Adam(rate=0.01, batch=8, passes=1, schedule="cosine", clip=1.0, total=total)
    pupils = [training.begin(CORE, BRIEF, streams(2)) for _ in range(2)]
    pupils[0].learn(lessons(True), 0, 8)
    pupils[0].learn(lessons(True), 8, 24)
    pupils[1].learn(lessons(False), 0, 24)
    one, other = (pupil.snapshot().arrays for pupil in pupils)
    for name, array in one.items():
        if (
            "mix.bias" in name or ".nu" in name
        ):  # what is added to all keys changes nothing: its gradient is rounding
            continue
        np.testing.assert_allclose(array, other[name], rtol=2e-3, atol=2e-5, err_msg=name)
    exam = Exam([drawn(10, 5), drawn(11, 9)])
    scores = [pupil.answer(exam) for pupil in pupils]
    for lane, counted in enumerate(exam.counted):
        np.testing.assert_allclose(
            scores[0][lane, counted], scores[1][lane, counted], rtol=2e-3, atol=2e-4
        )
    assert [cost.updates for cost in pupils[0].cost()] == [3, 3]


def test_batches_hold_every_question_once() -> None:
    examples = [drawn(3, 12), drawn(4, 12)]
    order = np.stack([np.random.default_rng(lane).permutation(12) for lane in range(2)])
    batches = Batches.of_lesson(Lesson(examples, order, stream=True), 4)
    lengths, asked = set(), np.zeros(2)
    for batch in batches.cuts(0, 3):
        lengths.add(batch.inputs.shape[1])
        asked += (batch.shares > 0).sum(axis=(1, 2))
        np.testing.assert_allclose(batch.shares.sum(axis=(1, 2)), 1.0, rtol=1e-6)
        where = np.take_along_axis(
            np.asarray(batch.inputs)[..., 0].swapaxes(1, 2), batch.places, axis=2
        )
        there = batch.shares > 0
        np.testing.assert_array_equal(np.digitize(where[there], [-0.3, 0.3]), batch.targets[there])
    assert lengths <= {64, 128}
    assert asked.tolist() == [lane.questions for lane in examples]


def test_a_rate_rises_and_falls() -> None:
    found = [
        float(share_of_rate(jnp.float32(count), jnp.float32(100)))
        for count in (0, 1, 2, 50, 100, 200)
    ]
    np.testing.assert_allclose(
        found,
        [1 / 3, 2 / 3 * 0.5 * (1 + np.cos(np.pi / 100)), 0.5 * (1 + np.cos(np.pi / 50)), 0.5, 0, 0],
        atol=1e-6,
    )
    assert float(share_of_rate(jnp.float32(7), jnp.float32(0))) == 1.0
    late = [
        float(share_of_rate(jnp.float32(count), jnp.float32(100), 0.75))
        for count in (2, 50, 75, 87.5, 100)
    ]
    np.testing.assert_allclose(late, [1, 1, 1, 0.5, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("length", "wanted"), [(1.0, [0.6, 0.8]), (10.0, [3.0, 4.0]), (0.0, [3.0, 4.0])]
)
def test_a_gradient_is_cut(length: float, wanted: list[float]) -> None:
    found = clipped({"a": jnp.array([3.0]), "b": jnp.array([4.0])}, jnp.float32(length))
    np.testing.assert_allclose(np.concatenate([found["a"], found["b"]]), wanted, rtol=1e-6)
    assert float(clipped(jnp.zeros(2), jnp.float32(1.0)).sum()) == 0.0


def payoffs(examples: Examples) -> Examples:
    right = np.arange(3) == examples.targets[..., None]
    return replace(examples, targets=np.where(right, 1.0, -1.0).astype(np.float32))


def test_payoffs_are_learned_from() -> None:
    brief = replace(BRIEF, loss="payoff", budget=640)
    pupil: Any = Trained(CORE, Bandit(rate=0.02, batch=16)).begin(brief, streams(1))
    exam = Exam([drawn(99, 40, 16)])
    before = (pupil.answer(exam)[0].argmax(-1) == exam.targets[0]).mean()
    for number in range(5):
        examples = payoffs(drawn(100 + number, 128, 16))
        pupil.learn(Lesson([examples], np.arange(128)[None], stream=True), 0, 128)
    after = (pupil.answer(exam)[0].argmax(-1) == exam.targets[0]).mean()
    assert before < 0.6
    assert after > 0.85
    assert pupil.answer(exam).shape[-1] == 3


def test_only_the_payoff_of_the_drawn_decision_is_read() -> None:
    rng = np.random.default_rng(0)
    outputs, given = (
        rng.normal(size=(50, 4)).astype(np.float32),
        rng.normal(size=(50, 3)).astype(np.float32),
    )
    key = jax.random.key(3)
    chosen = np.asarray(jax.random.categorical(key, jax.nn.log_softmax(outputs[:, :-1])))
    other = np.where(np.arange(3) == chosen[:, None], given, 77.0).astype(np.float32)
    loss = Drawn(0.1, 0.5)
    np.testing.assert_array_equal(
        loss(outputs, jnp.asarray(given), key), loss(outputs, jnp.asarray(other), key)
    )
    assert len(set(chosen.tolist())) == 3


def test_won_or_lost_by_hand() -> None:
    chances = np.array([[0.2, 0.3, 0.5]] * 60, np.float32)
    wins = np.tile([-2.0, 1.0, -2.0], (60, 1)).astype(np.float32)  # the second wins
    key = jax.random.key(1)
    drawn = np.asarray(jax.random.categorical(key, jnp.log(chances)))
    assert set(drawn.tolist()) == {0, 1, 2}
    found = won_or_lost(jnp.log(chances), jnp.asarray(wins), key)
    # To win by the second was held likely by 0.3; to lose by the first, that another wins, by 0.8.
    np.testing.assert_allclose(found, -np.log(np.array([0.8, 0.3, 0.5])[drawn]), rtol=1e-5)
    other = np.where(np.arange(3) == drawn[:, None], wins, 77.0).astype(np.float32)
    np.testing.assert_array_equal(found, won_or_lost(jnp.log(chances), jnp.asarray(other), key))


def test_of_two_decisions_a_reward_teaches_what_a_teacher_does() -> None:
    rng = np.random.default_rng(0)
    outputs, right = rng.normal(size=(40, 2)).astype(np.float32), rng.integers(2, size=40)
    payoffs_of_two = np.where(np.arange(2) == right[:, None], 1.0, 0.0).astype(np.float32)
    slopes = [
        jax.grad(lambda rows, loss=loss: loss(rows).sum())(outputs)
        for loss in (
            lambda rows: won_or_lost(rows, jnp.asarray(payoffs_of_two), jax.random.key(5)),
            lambda rows: of_tokens(rows, right, None),
        )
    ]
    np.testing.assert_allclose(*slopes, atol=1e-6)


def test_auxiliary_losses_by_hand() -> None:
    auxiliary = AuxiliaryLosses.of(2.0, 3.0, 1, 0, BRIEF)
    assert auxiliary is not None
    assert auxiliary.width == 2
    read = {0: jnp.array([[0.5, 9.0], [0.0, 9.0]]), 1: jnp.array([[1.0, 9.0], [0.0, 0.0]])}
    outputs = jnp.array([[0.0, 0.0], [1.0, 5.0]])
    found = auxiliary(outputs, lambda later: read[later])
    # 2 * 0.5^2 + 3 * 1^2; after the end there is nothing to predict: 2 * 1^2.
    assert found.tolist() == [3.5, 2.0]
    assert AuxiliaryLosses.of(0.0, 0.0, 0, 0, BRIEF) is None
    with pytest.raises(NotApplicable, match="at most the 2"):
        AuxiliaryLosses.of(1.0, 0.0, 3, 0, BRIEF)
    with pytest.raises(NotApplicable, match="real numbers"):
        AuxiliaryLosses.of(1.0, 0.0, 0, 0, replace(BRIEF, inputs=Tokens(3)))


def test_zeros_and_ones_are_given_back_by_cross_entropy() -> None:
    auxiliary = AuxiliaryLosses.of(2.0, 3.0, 1, 2, replace(BRIEF, inputs=Reals(4)))
    assert auxiliary is not None
    assert auxiliary.width == 4
    read = {0: jnp.array([[0.5, 1.0, 0.0, 9.0]]), 1: jnp.array([[1.0, 0.0, 0.0, 9.0]])}
    likely = np.array([0.75, 0.125])  # of a one, at the two places
    logits = np.log(likely / (1 - likely))
    found = auxiliary(jnp.array([[1.5, *logits, 4.0]], jnp.float32), lambda later: read[later])
    # 2 * (1^2 - (log 3/4 + log 7/8) / 2) + 3 * 3^2: the number, the two places, the number to come.
    np.testing.assert_allclose(found, [2 * (1 - np.log(0.75 * 0.875) / 2) + 27], rtol=1e-6)
    assert auxiliary.rebuilt(np.arange(4.0)).tolist() == [0.0]
    with pytest.raises(
        NotApplicable, match=r"numbers \+ bits \(4 \+ 1\) must be at most the 4 of an input, got 5"
    ):
        AuxiliaryLosses.of(1.0, 0.0, 0, 1, replace(BRIEF, inputs=Reals(4)))


def test_what_is_read_is_given_back() -> None:
    training = Adam(rate=0.02, batch=16, passes=1, among="all", rebuild=1.0, foretell=0.5)
    pupil: Any = Trained(CORE, training).begin(replace(BRIEF, budget=640), streams(1))
    exam = Exam([drawn(99, 20, 16)])
    read = np.swapaxes(exam.examples[0].inputs, 0, 1)[exam.examples[0].asked.T]
    pupil.learn(Lesson([drawn(5, 16, 16)], np.arange(16)[None], stream=True), 0, 16)
    before = np.abs(pupil.rebuilt(exam)[0] - read).mean()
    for number in range(5):
        pupil.learn(
            Lesson([drawn(100 + number, 128, 16)], np.arange(128)[None], stream=True), 0, 128
        )
    assert pupil.rebuilt(exam).shape == (1, len(read), 2)
    assert pupil.answer(exam).shape == (1, len(read), 3)
    assert np.abs(pupil.rebuilt(exam)[0] - read).mean() < 0.6 * before
    with pytest.raises(NotApplicable, match="without end"):
        pupil.learn(Lesson([drawn(5, 16, 16)], np.arange(16)[None]), 0, 16)
    plain: Any = Trained(CORE, Adam()).begin(BRIEF, streams(1))
    assert plain.rebuilt(exam) is None


def test_payoffs_are_not_for_everybody() -> None:
    with pytest.raises(NotApplicable, match="none are shown"):
        Trained(CORE, Adam()).begin(replace(BRIEF, loss="payoff"), streams(1))
    with pytest.raises(NotApplicable):
        Trained(CORE, Bandit()).begin(BRIEF, streams(1))


def test_a_restored_learner_answers_by_the_same_program() -> None:
    """Bit for bit: the programs for streams and for single lessons differ in the last bits."""
    training = Adam(rate=0.01, batch=8, passes=1)
    pupil, fresh = (training.begin(CORE, BRIEF, streams(2)) for _ in range(2))
    pupil.learn(lessons(True), 0, 24)
    fresh.restore(pupil.snapshot())
    exam = Exam([drawn(10, 5), drawn(11, 9)])
    np.testing.assert_array_equal(fresh.answer(exam), pupil.answer(exam))
