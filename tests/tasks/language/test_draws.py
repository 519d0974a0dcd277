from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quickstudy.base import catalogue
from quickstudy.tasks.language import draws

LANGUAGE = [id for id in catalogue.task.names() if id.startswith(("language/", "continual/"))]


def test_doctests():
    result = doctest.testmod(draws)
    assert result.attempted >= 2
    assert result.failed == 0


@given(st.integers(1, 10**6), st.integers(-5, 5))
def test_between_never_leaves_its_range(width, low):
    largest = np.nextafter(1.0, 0.0)
    assert draws.between(np.array([0.0, largest]), low, low + width - 1).tolist() == [low, low + width - 1]


def test_bounds_may_differ_by_row():
    assert draws.between(np.full(3, 0.99), np.array([0, 1, 2]), np.array([0, 3, 9])).tolist() == [0, 3, 9]


@pytest.mark.parametrize("id", LANGUAGE)
@pytest.mark.parametrize("convention", ["published", "written", "corrected"])
def test_draws_do_not_depend_on_grouping(make_task, id, convention):
    task = make_task(id, convention)
    whole = task.sample(np.random.default_rng(3), 9)
    rng = np.random.default_rng(3)
    parts = [task.sample(rng, count) for count in (2, 0, 1, 6)]
    grouped = [part.sequence(i) for part in parts for i in range(part.count)]
    assert grouped == [whole.sequence(i) for i in range(9)]
