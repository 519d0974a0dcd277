"""`sieve`: what it reads is what stands there, it does not look ahead, and it learns what its sheet
says.
"""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.parameters import configure
from quickstudy.base.spaces import Tokens
from quickstudy.learners.sieve.codes import LAGS, code, layout
from quickstudy.learners.sieve.learner import Sieve, SieveHost
from quickstudy.learners.sieve.pattern_reading import read


def host(size=20):
    return SieveHost(Sieve(), Brief(Tokens(size), Tokens(size), "cross-entropy", 100, 1000), 0)


def taught(name, count):
    task = configure(name, registries.task.get(name), {})
    learner, examples = (
        host(len(task.vocabulary)),
        task.sample(np.random.default_rng(11), count + 60),
    )
    for index in range(count):
        length = int(examples.lengths[index])
        targets = np.where(examples.asked[:length, index], examples.targets[:length, index], -1)
        learner.learn(examples.inputs[:length, index], targets)
    right = total = 0
    for index in range(count, count + 60):
        places = np.flatnonzero(examples.asked[:, index])
        said = learner.predict_at(examples.inputs[: places[-1] + 1, index], places).argmax(axis=1)
        right += int((said == examples.targets[places, index]).sum())
        total += len(places)
    return right / total


def test_what_is_kept_of_a_sequence_by_hand():
    before, behind, counts, pairs, stretches, matches, enclosed, guesses = read(
        np.array([1, 2, 1, 2, 1], np.int32), 3
    )
    assert before[4].tolist() == [-1, 2, 3]
    assert behind[1].tolist() == [5, 2, 1]
    assert counts[5].tolist() == [0, 3, 2]
    assert pairs.tolist() == [-1, -1, -1, 1, 2]
    assert stretches[4, :4].tolist() == [2, 2, 2, -1]
    assert matches[4, :3].tolist() == [2, 1, 1]
    assert guesses[4] == 2
    assert enclosed[4, 1] == 1  # "2 1" stood before with a 1 before it


@pytest.mark.parametrize("now", [0, 3, 17, 39])
def test_codes_do_not_depend_on_what_comes_after(now):
    rng = np.random.default_rng(2)
    sequence = rng.integers(6, size=40).astype(np.int32)
    book, fitting = layout(6), rng.integers(2, size=(LAGS, 7, 6)).astype(np.int8)
    whole, cut = (np.full(book.symbols + book.numbers, -9, np.int32) for _ in range(2))
    code(sequence, read(sequence, 6), now, 6, fitting, whole)
    part = sequence[: now + 1].copy()
    code(part, read(part, 6), now, 6, fitting, cut)
    assert whole.tolist() == cut.tolist()
    assert whole.min() >= 0
    assert whole[: book.symbols].max() <= 6


@pytest.mark.parametrize(
    ("name", "count", "least"),
    [
        ("language/extra-lookup", 30, 0.95),
        ("language/extra-reverse", 10, 0.95),
        ("language/extra-parity", 60, 0.95),
        ("language/extra-two-hops", 30, 0.95),
        ("language/qa", 60, 0.95),
    ],
)
def test_it_learns_from_few_examples(name, count, least):
    assert taught(name, count) >= least


def test_chances_sum_to_one_and_are_the_same_after_a_snapshot():
    learner = host(5)
    learner.learn(np.array([0, 1, 2]), np.array([-1, -1, 3]))
    rows = learner.predict(np.array([0, 1, 2, 4]))
    assert rows.sum(axis=1) == pytest.approx(np.ones(4))
    assert rows[2].argmax() == 3
    other = host(5)
    other.restore(Snapshot(learner.snapshot().arrays))
    assert np.array_equal(other.predict(np.array([0, 1, 2, 4])), rows)


def test_too_many_symbols_are_refused():
    with pytest.raises(NotApplicable, match="sieve has room for 400 symbols, and there are 500"):
        host(500)
