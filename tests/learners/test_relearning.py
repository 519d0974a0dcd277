from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.learner import Pace
from quickstudy.learners.naming import choose_learner
from quickstudy.testing import check_learner
from quickstudy.testing.examinee import CheckMaterial
from quickstudy.testing.small_tasks import Partners

INNER = "recall:order=2"


def trained(name, material, start, stop):
    pupil = choose_learner(name, "corrected").make(None).begin(material.brief, [material.streams.for_learner()])
    pupil.learn(material.lesson, start, stop)
    return pupil


@pytest.fixture(scope="module")
def material():
    return CheckMaterial.of(Partners(), 1, 60, 0)


def test_it_knows_only_what_came_since_it_began_anew(material):
    again = trained(f"relearning:learner={INNER},every=20", material, 0, 50)
    since = trained(INNER, material, 40, 50)
    assert np.array_equal(again.answer(material.exam), since.answer(material.exam))
    assert again.scale == since.scale
    # Until it is shown more, it still has what it learned.
    full = trained(f"relearning:learner={INNER},every=20", material, 0, 40)
    assert np.array_equal(full.answer(material.exam), trained(INNER, material, 20, 40).answer(material.exam))


def test_the_cost_is_that_of_all_beginnings(material):
    (again,), (once,) = (
        trained(name, material, 0, 50).cost() for name in (f"relearning:learner={INNER},every=20", INNER)
    )
    assert again == once


def test_it_keeps_its_promises():
    findings = check_learner(f"relearning:learner={INNER},every=70")
    assert [str(finding) for finding in findings if not finding.ok] == []


@pytest.mark.parametrize("other", ["majority", "relearning"])
def test_only_cores_can_begin_anew(other):
    with pytest.raises(UsageError, match="learner must be a core with its training, such as esn, got"):
        choose_learner(f"relearning:learner={other}", "corrected")


def test_passes_batch_and_training_are_the_others():
    learner = choose_learner("relearning:learner=lstm:batch=4", "corrected").make(None)
    assert (learner.pace, learner.other.training.rate) == (Pace(passes=10, batch=4), 0.001)
    assert choose_learner("relearning:learner=esn", "published").make(None).pace.peeks
