"""The small types: spaces, briefs, costs, records, errors, faces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import quickstudy
from quickstudy.base.canonical import digest
from quickstudy.base.errors import (
    LearnerFault,
    MissingExtra,
    NotApplicable,
    QuickstudyError,
    UsageError,
    nearest,
)
from quickstudy.base.learner import Acting, Answering, Brief, Cost, Keeping, face
from quickstudy.base.record import FAILED, OK, Record
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens, space_facts, space_from_facts
from quickstudy.base.task import spaces_of

simple = (
    st.builds(Tokens, st.integers(1, 9))
    | st.builds(Reals, st.integers(1, 9))
    | st.builds(Bits, st.integers(1, 9))
)
spaces = st.recursive(
    simple, lambda inner: st.builds(Fields, st.dictionaries(st.text(max_size=4), inner, max_size=3))
)


def test_widths():
    assert (Tokens(5).width, Reals(3).width, Bits(2).width) == (5, 3, 2)
    whole = Fields({"word": Tokens(5), "pair": Fields({"a": Reals(2), "b": Bits(1)})})
    assert whole.width == 8
    assert Tokens(5) != Reals(5)
    assert hash(whole) == hash(
        Fields({"word": Tokens(5), "pair": Fields({"a": Reals(2), "b": Bits(1)})})
    )


@given(spaces, spaces)
def test_spaces_and_briefs_survive_json(inputs, outputs):
    assert space_from_facts(json.loads(json.dumps(space_facts(inputs)))) == inputs
    brief = Brief(inputs, outputs, "squared", 10, 20)
    assert Brief.from_facts(json.loads(json.dumps(brief.as_facts()))) == brief


def test_a_task_says_what_goes_in_and_out():
    class Words:
        vocabulary = ("a", "b", "c")

    class Numbers:
        inputs, outputs = Reals(1), Reals(2)

    assert spaces_of(Words()) == (Tokens(3), Tokens(3))
    assert spaces_of(Numbers()) == (Reals(1), Reals(2))
    with pytest.raises(UsageError, match="object: a task needs `vocabulary`"):
        spaces_of(object())


facts = st.dictionaries(
    st.text(max_size=5),
    st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    max_size=4,
)


@given(facts, facts, st.sampled_from([OK, FAILED]), st.text())
def test_records_survive_their_line(what, scores, status, reason):
    record = Record(what=what, status=status, reason=reason, scores=scores, saved=None)
    line = record.to_line()
    assert "\n" not in line
    again = Record.from_facts(json.loads(line))
    assert again.key == record.key == json.loads(line)["key"] == digest(what)
    assert again.to_line() == line


def test_a_key_depends_on_what_was_run_and_nothing_else():
    one = Record(what={"task": "a", "repetition": 0}, status=OK, cost={"updates": 3})
    two = Record(what={"repetition": 0, "task": "a"}, status=FAILED, reason="slow")
    assert one.key == two.key
    assert one.key != Record(what={"task": "a", "repetition": 1}, status=OK).key


def test_scores_that_are_not_finite_can_be_written():
    line = Record(what={}, status=OK, scores={"wade": {"values": {"x": float("nan")}}}).to_line()
    assert json.loads(line)["scores"]["wade"]["values"]["x"] == "nan"


def test_costs_are_plain_facts():
    assert Cost(examples=3, bits=1.5).as_facts() == {
        "examples": 3,
        "updates": 0,
        "trained_parameters": 0,
        "fixed_parameters": 0,
        "bits": 1.5,
        "learn_seconds": 0.0,
        "answer_seconds": 0.0,
        "compile_seconds": 0.0,
    }


def test_exit_statuses_and_messages():
    assert (QuickstudyError.exit_status, UsageError.exit_status, LearnerFault.exit_status) == (
        1,
        2,
        1,
    )
    assert issubclass(NotApplicable, QuickstudyError)
    install = "jax is not installed; type: pip install -e '.[learners]' in the repository"
    assert str(MissingExtra("jax", "learners")) == install
    assert nearest("esm", ["esn", "lstm"]) == 'did you mean "esn"?'
    assert nearest("transformer", ["esn", "lstm"]) == "known: esn, lstm"


def test_faces_that_are_missing_are_named():
    class Reader:
        def learn(self, lesson, start, stop): ...

        def answer(self, exam): ...

    pupil = Reader()
    assert face(pupil, Answering) is pupil
    with pytest.raises(NotApplicable, match=r"^Reader does not act: it has no act$"):
        face(pupil, Acting)
    with pytest.raises(
        NotApplicable, match=r"^Reader cannot be kept: it has no snapshot and no restore$"
    ):
        face(pupil, Keeping)


def test_every_public_name_can_be_fetched():
    for name in quickstudy.__all__:
        assert getattr(quickstudy, name) is not None
    assert set(quickstudy.__all__) <= set(dir(quickstudy))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = quickstudy.nonsense
