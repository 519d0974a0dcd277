"""The n-gram learner: its probabilities by hand, the end of its contexts, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.spaces import Tokens
from quickstudy.learners.ngram import Ngram, NgramHost

INPUTS, TARGETS = np.array([0, 1, 0]), np.array([1, 0, 2])


def taught(order=1):
    host = NgramHost(order, 3)
    host.learn(INPUTS, TARGETS)
    return host


def test_probabilities_are_witten_and_bells():
    """Of three answers, 0, 1 and 2 were right once each; after a 0 it was 1 and 2, after a 1 it was
    0.
    """
    usual = np.full(3, 1 / 3) * 3 / 6 + np.array([1, 1, 1]) / 6
    after_0 = usual * 2 / 4 + np.array([0, 1, 1]) / 4
    after_1 = usual * 1 / 2 + np.array([1, 0, 0]) / 2
    np.testing.assert_allclose(taught().predict(np.array([0, 1, 2])), [after_0, after_1, usual])


def test_before_anything_is_shown_all_answers_are_alike():
    np.testing.assert_allclose(NgramHost(3, 4).predict(np.array([1, 2])), np.full((2, 4), 0.25))


@pytest.mark.parametrize("order", [0, 2])
def test_contexts_end_at_the_order(order):
    """Two sequences that differ only before the context are answered alike, and those within it are
    not.
    """
    host = NgramHost(order, 3)
    for first in (1, 2):
        for _ in range(5):
            host.learn(np.array([0, first, 0]), np.array([-1, -1, first]))
    rows = [host.predict(np.array([first, 0]))[-1] for first in (1, 2)]
    assert np.allclose(*rows) == (order == 0)
    ends = [host.predict(np.array([first, 1, 0]))[-1] for first in (0, 2)]
    np.testing.assert_allclose(*ends)


def test_it_goes_on_from_a_snapshot():
    host, other = taught(2), NgramHost(2, 3)
    other.learn(np.array([2, 2]), np.array([2, 2]))
    kept = host.snapshot()
    other.restore(Snapshot(kept.arrays))
    for one in (host, other):
        one.learn(np.array([1, 1, 0]), np.array([0, 0, 1]))
    np.testing.assert_array_equal(host.predict(INPUTS), other.predict(INPUTS))
    assert host.parameters == other.parameters > 0


def test_it_reads_symbols_only():
    assert Ngram.reads == Ngram.gives == (Tokens,)
    assert Ngram().begin(Brief(Tokens(3), Tokens(3), "cross-entropy", 4, 4), [_Stream()]).lanes == 1


class _Stream:
    def integer(self, purpose):
        return 0
