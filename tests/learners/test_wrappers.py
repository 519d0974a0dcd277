"""Learners that hold another: one that begins anew, and one that is tested on false answers."""

from __future__ import annotations

import numpy as np
import pytest

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.examples import Examples
from quickstudy.base.exchange import Exam, Lesson
from quickstudy.base.learner import Brief, Pace
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Tokens
from quickstudy.cores.core import ABSENT
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.wrappers import tampered
from quickstudy.testing import check_learner
from quickstudy.testing.fixtures import CheckMaterial as Material
from quickstudy.testing.small_tasks import Partners

INNER = "recall:order=2"


def trained(name, material, start, stop):
    pupil = (
        choose_learner(name, "corrected")
        .make(None)
        .begin(material.brief, [material.streams.for_learner()])
    )
    pupil.learn(material.lesson, start, stop)
    return pupil


@pytest.fixture(scope="module")
def material():
    return Material.of(Partners(), 1, 60, 0)


def test_it_knows_only_what_came_since_it_began_anew(material):
    again = trained(f"relearning:learner={INNER},every=20", material, 0, 50)
    since = trained(INNER, material, 40, 50)
    assert np.array_equal(again.answer(material.exam), since.answer(material.exam))
    assert again.scale == since.scale
    # Until it is shown more, it still has what it learned.
    full = trained(f"relearning:learner={INNER},every=20", material, 0, 40)
    assert np.array_equal(
        full.answer(material.exam), trained(INNER, material, 20, 40).answer(material.exam)
    )


def test_the_cost_is_that_of_all_beginnings(material):
    (again,), (once,) = (
        trained(name, material, 0, 50).cost()
        for name in (f"relearning:learner={INNER},every=20", INNER)
    )
    assert again == once


def test_it_keeps_its_promises():
    findings = check_learner(f"relearning:learner={INNER},every=70")
    assert [str(finding) for finding in findings if not finding.ok] == []


@pytest.mark.parametrize("other", ["majority", "relearning"])
def test_only_cores_can_begin_anew(other):
    with pytest.raises(
        UsageError, match="learner must be a core with its training, such as esn, got"
    ):
        choose_learner(f"relearning:learner={other}", "corrected")


def test_passes_batch_and_training_are_the_others():
    learner = choose_learner("relearning:learner=lstm:batch=4", "corrected").make(None)
    assert (learner.pace, learner.other.training.rate) == (Pace(passes=10, batch=4), 0.001)
    assert choose_learner("relearning:learner=esn", "published").make(None).pace.peeks


YES, NO = 3, 4
ASKED = Examples.from_sequences([[0, 1, YES], [1, 2, 0, NO], [2, YES]], [[2], [3], [1]])


def last(examples: Examples) -> list[int]:
    return [examples.sequence(number)[0][-1] for number in range(examples.count)]


def test_two_answers_change_places_and_nothing_else_changes() -> None:
    changed = tampered(ASKED, "exchange")
    assert last(changed) == [NO, YES, NO]
    assert changed.inputs is ASKED.inputs
    assert changed.asked is ASKED.asked
    assert last(ASKED) == [YES, NO, YES]


def test_of_several_answers_each_gives_way_to_the_next() -> None:
    examples = Examples.from_sequences([[0, 5], [0, 2], [0, 9], [0, 2]], [[1]] * 4)
    assert last(tampered(examples, "exchange")) == [9, 5, 2, 5]


def test_answers_are_taken_away() -> None:
    assert last(tampered(ASKED, "blank")) == [ABSENT] * 3


def test_answers_that_are_inputs_to_later_questions_are_left_alone() -> None:
    examples = Examples.from_sequences(
        [[0, YES, NO], [0, YES, 1, 2], [0, 1, YES]], [[1, 2], [1], [2]]
    )
    changed = tampered(examples, "exchange")
    # The first of two answers, and a last token that nobody asks for, stay as they are.
    assert [changed.sequence(number)[0] for number in range(3)] == [
        [0, YES, YES],
        [0, YES, 1, 2],
        [0, 1, NO],
    ]


def test_a_learner_that_does_not_exist_is_said_at_once() -> None:
    with pytest.raises(UsageError, match="must be a core with its training"):
        choose_learner("tampered:learner=majority", "corrected")
    with pytest.raises(UsageError, match='no learner "transfromer"'):
        choose_learner("tampered:learner=transfromer", "corrected")


@pytest.mark.parametrize(("causal", "notices"), [("true", False), ("false", True)])
def test_only_a_learner_that_looks_ahead_notices(causal: str, notices: bool) -> None:
    brief = Brief(Tokens(5), Tokens(5), "cross-entropy", ASKED.steps, 8)
    lesson, exam = Lesson([ASKED], np.array([[0, 1, 2, 0, 1, 2, 0, 1]])), Exam([ASKED])
    answers = []
    plain = f"transformer:causal={causal}"
    for name in (plain, f"tampered:learner={plain},how=exchange"):
        choice = choose_learner(name, "corrected")
        pupil = choice.make(None).begin(brief, [Streams(0, "tampered", 0)])
        pupil.learn(lesson, 0, 8)
        answers.append(pupil.answer(exam))
    assert np.array_equal(*answers) != notices


def test_it_trains_as_the_other_one() -> None:
    made = choose_learner("tampered:learner=lstm,how=blank", "published").make(None)
    assert (made.pace, made.other.training.total) == (Pace(passes=10, batch=8), "sum")


def test_the_learner_within_is_part_of_what_it_is(monkeypatch):
    """A new version of a core makes a new learner of whatever is put around it: old results are not
    mixed with new.
    """
    name = "tampered:learner=transformer:causal=true"
    before = choose_learner(name, "published").what
    assert before["within"] == choose_learner("transformer:causal=true", "published").what
    monkeypatch.setattr(registries.core.get("transformer"), "version", 99)
    assert choose_learner(name, "published").what != before
