"""Telling sequences apart: features, splits, scores."""

from __future__ import annotations

import os

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam
from quickstudy.base.learner import Brief
from quickstudy.base.parameters import configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals
from quickstudy.base.trace import Trace
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.measures.classes import confusion
from quickstudy.protocols.classification import ClassificationProtocol, _means
from quickstudy.tasks.dynamics.speech import log_mel

needs_data = pytest.mark.skipif(
    not os.environ.get("QUICKSTUDY_DATA"), reason="QUICKSTUDY_DATA names no folder"
)


def make(id, **given):
    return configure(f"dynamics/{id}", registries.task.get(f"dynamics/{id}"), given)


def test_scores_by_hand():
    """Of the first class two are right, one is taken for the second; the third is taken for the
    first.
    """
    score = np.array([[3.0, 1, 0], [2, 1, 0], [1, 2, 0], [0, 5, 0], [4, 0, 1]])
    trace = Trace("classes", {"score": score, "label": np.array([0, 0, 0, 1, 2])})
    assert confusion(trace).tolist() == [[2, 1, 0], [0, 1, 0], [1, 0, 0]]
    found = registries.measure.get("classification")(trace)
    assert found["error-rate"] == pytest.approx(0.4)
    assert found["false-negatives-0"] == pytest.approx(1 / 3)
    assert found["false-positives-1"] == pytest.approx(1 / 4)
    # Class 0: of six pairs (0 before another) its scores 3, 2, 1 against 0 and 4 win three; classes
    # 1 and 2 win all.
    assert found["auc"] == pytest.approx((0.5 + 1 + 1) / 3)


def test_equal_scores_have_no_order():
    trace = Trace("classes", {"score": np.ones((4, 2)), "label": np.array([0, 1, 0, 1])})
    assert registries.measure.get("classification")(trace)["auc"] == 0.5


def test_answers_are_averaged_over_a_sequence():
    lengths = np.array([2, 1])
    asked = np.arange(2)[:, None] < lengths
    examples = Examples(np.zeros((2, 2, 1)), np.zeros((2, 2, 2)), asked, lengths)
    scores = np.array([[[1.0, 0], [3, 0], [0, 7]]])
    assert _means(scores, Exam([examples])).tolist() == [[[2, 0], [0, 7]]]


def test_mel_bands_find_a_tone():
    """A tone of 1,000 Hz in silence is strongest, when it sounds, in the band around 1,000 Hz."""
    time = np.arange(8000) / 8000
    sound = np.where(
        time > 0.5, np.sin(2 * np.pi * 1000 * time), 0.0
    ) + 1e-4 * np.random.default_rng(0).normal(size=8000)
    energies = log_mel(sound)
    assert energies.shape == (1 + (8000 - 200) // 80, 40)
    assert energies.mean(axis=0) == pytest.approx(np.zeros(40), abs=1e-12)
    mel = 2595 * np.log10(1 + 1000 / 700) / (2595 * np.log10(1 + 4000 / 700)) * 41 - 1
    assert abs(energies[-5:].mean(axis=0).argmax() - mel) <= 1


@needs_data
def test_official_parts():
    train, test = make("japanese-vowels").parts()
    assert (train.count, test.count, train.lengths.min(), test.lengths.max()) == (270, 370, 7, 29)
    assert test.targets[0].sum(axis=0).tolist() == [31, 35, 88, 44, 29, 24, 40, 50, 29]
    spoken = make("spoken-digits").parts()
    assert (spoken.train.count, spoken.test.count) == (900, 300)
    assert make("spoken-digits", left_out=3).parts().test.count == 200
    rows, points = make("digits").parts().test, make("digits", reading="pixels").parts().test
    assert rows.inputs[:, 5].ravel().tolist() == points.inputs[:, 5, 0].tolist()
    mixed = make("digits", reading="permuted").parts().test.inputs[:, 5, 0]
    assert sorted(mixed) == sorted(points.inputs[:, 5, 0])
    assert mixed.tolist() != points.inputs[:, 5, 0].tolist()


@needs_data
def test_a_linear_rule_on_frames():
    """About 83 % of the utterances, as is said of it elsewhere."""
    task = make("japanese-vowels")
    learner = choose_learner("linear", "corrected", task, "reals").make(task)
    trace = (
        ClassificationProtocol(share=0.0).examine(task, learner, [Streams(0, task.id, 0)]).traces[0]
    )
    assert registries.measure.get("classification")(trace)["accuracy"] == pytest.approx(
        0.84, abs=0.03
    )


def test_a_linear_rule_on_whole_sequences_by_hand():
    """Which of two halves is louder: every frame has mean 0 over its sequence, so that no rule on
    frames can tell.
    """
    rng = np.random.default_rng(0)
    brief = Brief(Reals(1), Reals(2), "squared", 9, 40)
    found = {}
    for name in ("linear", "linear-whole"):
        rule = registries.control.get(name)(type("T", (), {"taps": 1}), brief, 0)
        right = []
        for number in range(80):
            length, label = int(rng.integers(4, 10)), number % 2
            half = np.arange(length) < length / 2
            sound = np.where(half == label, -1.0, 1.0) + 0.3 * rng.normal(size=length)
            inputs, targets = (
                (sound - sound.mean())[:, None],
                np.tile(np.eye(2)[label], (length, 1)),
            )
            if number < 40:
                rule.learn(inputs, targets)
            else:
                given = rule.predict(inputs)
                assert given.shape == (length, 2)
                assert rule.predict(inputs[:3]) == pytest.approx(
                    given[:3]
                )  # nothing is known of what follows
                right.append(given.mean(axis=0).argmax() == label)
        found[name] = np.mean(right)
    assert found == {"linear": pytest.approx(0.5, abs=0.2), "linear-whole": 1.0}


def test_the_ridge_of_whole_sequences_is_the_one_that_foretells_each_from_the_others():
    """By leaving out one after another, which the rule works out at once."""
    from quickstudy.tasks.dynamics.whole import foretelling

    rng = np.random.default_rng(1)
    rows, answers = rng.normal(size=(12, 20)), rng.normal(size=(12, 2))
    strengths = np.array([0.1, 1.0, 30.0])
    wanted = []
    for strength in strengths:
        wrong = 0.0
        for out in range(12):
            kept = np.arange(12) != out
            shown, mean = rows[kept] - rows[kept].mean(axis=0), answers[kept].mean(axis=0)
            weights = np.linalg.solve(
                shown.T @ shown + strength * np.eye(20), shown.T @ (answers[kept] - mean)
            )
            wrong += np.square(
                (rows[out] - rows[kept].mean(axis=0)) @ weights + mean - answers[out]
            ).sum()
        wanted.append(wrong)
    assert foretelling(rows, answers, strengths)[1] == pytest.approx(wanted, rel=1e-9)


@needs_data
@pytest.mark.parametrize(
    ("id", "frames", "whole"), [("spoken-digits", 0.9, 0.15), ("digits", 0.54, 0.09)]
)
def test_what_a_rule_on_frames_cannot_see(id, frames, whole):
    """Every band of a spoken digit has mean 0: the mean of any linear answer to frames is the same
    for all of them.
    """
    task, found = make(id), {}
    for name in ("linear", "linear-whole"):
        learner = choose_learner(name, "corrected", task, "reals").make(task)
        trace = ClassificationProtocol().examine(task, learner, [Streams(0, task.id, 0)]).traces[0]
        found[name] = registries.measure.get("classification")(trace)["error-rate"]
    assert found == {
        "linear": pytest.approx(frames, abs=0.03),
        "linear-whole": pytest.approx(whole, abs=0.05),
    }


def test_images_are_made_smaller_by_their_areas():
    """Three points become two: the middle one is shared."""
    from quickstudy.tasks.dynamics.recordings import smaller

    image = np.array([[[3.0, 0, 0], [0, 6, 0], [0, 0, 9]]])
    # The corners: the whole first point, half of two, a quarter of the middle, over an area of 9/4.
    assert smaller(image, 2)[0] == pytest.approx(np.array([[4.5, 1.5], [1.5, 10.5]]) / 2.25)
    assert smaller(image, 3)[0] == pytest.approx(image[0])
    assert smaller(np.ones((2, 28, 28)), 15) == pytest.approx(np.ones((2, 15, 15)))


@needs_data
def test_small_columns_of_images():
    task = make("mnist-columns-small")
    train = task.parts().train
    assert (task.inputs.width, train.steps, train.inputs.shape[2]) == (15, 15, 15)
    whole = make("mnist-rows", reading="columns").parts().train
    assert train.inputs.mean() == pytest.approx(whole.inputs.mean(), rel=1e-9)
