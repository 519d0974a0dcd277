"""What is offered and stated is found by declared names only."""

from __future__ import annotations

import pytest

from quickstudy.base.offers import Comparing, Unrolling, offers
from quickstudy.base.stated import PupilFacts, TaskFacts, stated


class Reader:
    learns = False
    unroll = None

    def same(self, state, other):
        return state == other

    @property
    def can_hold(self):
        raise AttributeError("no act")

    @property
    def bits(self):
        raise NotImplementedError("costly, and not asked for")


def test_a_method_is_offered_if_it_can_be_called():
    assert offers(Reader(), Comparing)
    assert not offers(Reader(), Unrolling)  # the name is there, and nothing to call


def test_facts_are_what_is_stated_and_else_the_usual():
    facts = stated(Reader(), PupilFacts)
    assert (facts.learns, facts.can_hold, facts.reads_streams) == (False, True, False)
    assert stated(object(), TaskFacts).criterion == "squared"


def test_a_name_that_is_not_declared_is_an_error():
    with pytest.raises(AttributeError, match="PupilFacts declares no bits"):
        stated(Reader(), PupilFacts).bits  # noqa: B018
