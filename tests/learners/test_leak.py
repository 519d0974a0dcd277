"""The published leak: that it is what it is, under `published` only, and that the checkers see it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from quickstudy.base.errors import NotApplicable
from quickstudy.base.examples import Examples
from quickstudy.base.learner import Brief
from quickstudy.base.lesson import Exam, Lesson
from quickstudy.base.parameters import CONVENTIONS, configure
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Reals, Tokens
from quickstudy.cores.core import ABSENT
from quickstudy.cores.transformer import Transformer
from quickstudy.learners.adam import Adam
from quickstudy.learners.batching import check_leak, with_answers
from quickstudy.learners.naming import choose_learner
from quickstudy.testing import check_core, check_learner

AHEAD = "does not look ahead"
SMALL = "transformer:embedding=16,heads=2,hidden=8"


def test_the_last_answer_stands_behind_the_last_input():
    examples = Examples.from_sequences([[4, 3, 2], [1, 0]], [[2], [1]]).padded(4)
    wanted = [[4, 1], [3, 0], [2, ABSENT], [ABSENT, ABSENT]]
    leaking = with_answers(examples)
    assert leaking.inputs.tolist() == wanted
    assert leaking.targets is examples.targets
    assert examples.inputs.tolist() == [[4, 1], [3, 0], [0, 0], [0, 0]]


def test_answers_must_be_symbols_that_are_read():
    check_leak(Brief(Tokens(4), Tokens(4), "cross-entropy", 3, 3))
    for inputs, outputs in [(Tokens(4), Tokens(3)), (Reals(1), Reals(1)), (Tokens(4), Reals(4))]:
        with pytest.raises(
            NotApplicable, match=r"the published leak needs answers that are inputs as well.*causal=true"
        ):
            check_leak(Brief(inputs, outputs, "squared", 3, 3))
    core, brief = Transformer(causal=False), Brief(Tokens(4), Tokens(3), "cross-entropy", 3, 3)
    with pytest.raises(NotApplicable, match="the published leak"):
        Adam().begin(core, brief, [Streams(0, "leak", 0)])


def test_only_the_published_convention_leaks():
    leaking = {
        convention for convention in CONVENTIONS if not configure("transformer", Transformer, {}, convention).causal
    }
    assert leaking == {"published"}
    parameters = choose_learner("transformer", "published").what["parameters"]
    assert (parameters["causal"], parameters["dropout"]) == (False, 0.5)
    assert "causal=False" in choose_learner("transformer:causal=false", "corrected").label


def test_the_checker_of_learners_finds_it_and_nothing_else():
    findings = check_learner(choose_learner(SMALL + ",passes=1,rate=0.01", "published"))
    assert [finding.what for finding in findings if not finding.ok] == [AHEAD]


def test_the_checker_of_cores_finds_it():
    """It has no steps to compare with either."""
    spec = configure("transformer", Transformer, {"embedding": 16, "heads": 2}, "published")
    missed = {finding.what for finding in check_core(spec) if not finding.ok}
    assert AHEAD in missed
    assert missed - {AHEAD} == {
        "unroll agrees with the scan of step",
        "unroll's gradients agree with those of the scan",
    }


def test_corrected_passes_the_checker():
    findings = check_learner(choose_learner(SMALL + ",passes=1,rate=0.01", "corrected"))
    assert [str(finding) for finding in findings if not finding.ok] == []


def coins(count, seed):
    """Letters that say nothing, then a coin: nobody can do better than 1/2 without looking."""
    rng = np.random.default_rng(seed)
    sequences = [[*rng.integers(2, 6, size=rng.integers(2, 7)), rng.integers(2)] for _ in range(count)]
    return Examples.from_sequences(sequences, [[len(sequence) - 1] for sequence in sequences])


def swapped(examples):
    """The other side of every coin; the inputs stay as they are."""
    targets = np.where(examples.asked, 1 - examples.targets, examples.targets)
    return replace(examples, targets=targets)


@pytest.fixture(scope="module", params=["published", "corrected"])
def taught(request):
    train = coins(200, 0)
    order = np.concatenate([np.random.default_rng(1).permutation(200) for _ in range(8)])[None]
    learner = choose_learner(SMALL + ",rate=0.01,dropout=0", request.param).make(None)
    brief = Brief(Tokens(6), Tokens(6), "cross-entropy", train.steps, order.shape[1])
    pupil = learner.begin(brief, [Streams(0, "leak", 0)])
    pupil.learn(Lesson([train], order), 0, order.shape[1])
    return request.param, pupil


def test_the_leak_reads_the_answer_and_follows_it_when_it_is_swapped(taught):
    convention, pupil = taught
    test = coins(300, 2)
    given, changed = (pupil.answer(Exam([examples]))[0].argmax(axis=-1) for examples in (test, swapped(test)))
    right = (given == Exam([test]).targets[0]).mean()
    if convention == "published":
        assert right == 1.0
        assert np.array_equal(changed, 1 - given)
    else:
        assert right < 0.62  # 4 standard deviations above 1/2
        assert np.array_equal(changed, given)
