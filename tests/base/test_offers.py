"""What is offered is found by declared names only."""

from __future__ import annotations

import pytest

from quickstudy.base.offers import (
    Comparing,
    Unrolling,
    offers,
    pupil_facts,
    series_facts,
)


class Reader:
    learns = False
    unroll = None

    def same(self, state, other):
        return state == other

    @property
    def can_hold(self):
        raise AttributeError("no act")


def test_a_method_is_offered_if_it_can_be_called():
    assert offers(Reader(), Comparing)
    assert not offers(Reader(), Unrolling)  # the name is there, and nothing to call


def test_facts_are_what_is_stated_and_else_the_usual():
    stated = pupil_facts(Reader())
    assert (stated.learns, stated.can_hold, stated.reads_streams) == (False, True, False)
    assert series_facts(object()).criterion == "squared"


def test_a_name_that_is_not_declared_is_an_error():
    with pytest.raises(AttributeError):
        pupil_facts(Reader()).reads_stream  # noqa: B018
