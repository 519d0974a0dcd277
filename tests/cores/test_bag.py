from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from faulty import FaultyCore
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.cores.bag import BagOfWords
from quickstudy.learners.adam import Adam
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.testing import check_core


def features(space, inputs, batch, steps):
    core = BagOfWords().build(space, np.random.default_rng(0))
    return np.asarray(core.unroll(core.start(batch, steps), inputs)[1])


def test_different_symbols_so_far_over_their_number():
    """Read 2, 0, 2, 3 beside 1, 1, 1, 1."""
    found = features(Tokens(4), np.array([[2, 1], [0, 1], [2, 1], [3, 1]]), 2, 4)
    third = 1 / 3
    assert found[:, 0].tolist() == [
        [0, 0, 1, 0],
        [0.5, 0, 0.5, 0],
        [0.5, 0, 0.5, 0],
        pytest.approx([third, 0] + [third] * 2),
    ]
    assert (found[:, 1] == [0, 1, 0, 0]).all()


def test_bits_that_have_been_on():
    bits = np.array([[[0, 0, 0]], [[1, 0, 0]], [[0, 0, 1]]], np.float32)
    assert features(Bits(3), bits, 1, 3)[:, 0].tolist() == [[0, 0, 0], [1, 0, 0], [0.5, 0, 0.5]]


def test_fields_share_one_bag():
    inputs = {"word": np.array([[1]]), "flags": np.array([[[1, 0]]], np.float32)}
    assert features(Fields({"word": Tokens(2), "flags": Bits(2)}), inputs, 1, 1).tolist() == [
        [[0, 0.5, 0.5, 0]]
    ]


def test_of_real_numbers_the_parts_that_they_lie_in_are_kept():
    # Levels -0.5, 0 and 0.5 make four parts of each number.
    core = BagOfWords(levels=3).build(Reals(2), np.random.default_rng(0))
    state, first = core.step(core.start(1, 2), np.array([[-0.7, 0.2]]))
    _, second = core.step(state, np.array([[0.9, 0.3]]))
    assert np.asarray(first)[0].tolist() == [0.5, 0, 0, 0, 0, 0, 0.5, 0]
    assert np.allclose(np.asarray(second)[0], np.array([1, 0, 0, 1, 0, 0, 1, 0]) / 3)


def test_a_linear_model_of_it_starts_next_to_zero():
    brief = Brief(Tokens(25), Tokens(25), "cross-entropy", 5, 5)
    pupil = Adam().begin(BagOfWords(), brief, [Streams(0, "bag", 0)])
    arrays = pupil.snapshot().arrays
    (weights,) = (array for name, array in arrays.items() if name.endswith("[0].head.weights"))
    assert weights.shape == (1, 25, 25)
    assert 0.0015 < np.abs(weights).max() <= 0.002
    assert (pupil.cost()[0].trained_parameters, pupil.cost()[0].fixed_parameters) == (
        25 * 25 + 25,
        0,
    )


@dataclass(frozen=True)
class Pretender(FaultyCore):
    """Says that it draws nothing, and draws."""

    draws: ClassVar[bool] = False


@dataclass(frozen=True)
class Picky(FaultyCore):
    """Refuses some inputs."""

    refused: str = "Tokens"

    def build(self, inputs, rng):
        if type(inputs).__name__ == self.refused:
            raise NotApplicable("not for me")
        return super().build(inputs, rng)


def broken(spec):
    return {finding.what: finding.detail for finding in check_core(spec) if not finding.ok}


def test_the_checker_does_not_take_it_on_trust_that_nothing_is_drawn():
    assert broken(Pretender()) == {
        "same stream, same weights": "draws is False, but cores from different streams differ"
    }


def test_the_checker_lets_a_core_refuse_anything_but_symbols():
    assert broken(Picky(refused="Reals")) == {}
    reading = "reads tokens, reals, bits and fields, or gives a reason why not"
    assert broken(Picky(refused="Tokens"))[reading] == "not for me"


@pytest.mark.parametrize("convention", ["corrected", "published"])
def test_adam_gets_whole_examples_of_it_under_every_convention(convention):
    assert choose_learner("bag+adam", convention).make(None).pace.by_question is False
    assert choose_learner("bag", convention).make(None).pace.by_question is True
