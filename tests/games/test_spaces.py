"""Spaces by hand: which meanings are held out, where stimuli lie, which targets are picked."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jax")

from quickstudy.jax_gateway import jax, jnp
from quickstudy.tasks.games.spaces import chosen_by, draw_stimuli, grid, split, stimulus_shape


@pytest.mark.parametrize(
    ("values", "support", "query"),
    [
        ((2, 2, 2), 4, 4),
        ((3, 3, 3), 20, 7),
        ((3, 4, 5), 38, 22),
        ((4, 4, 4), 32, 32),
        ((5, 5, 5), 81, 44),
    ],
)
def test_pools_are_as_large_as_in_the_paper(values, support, query):
    pools = split(jnp.array(values), grid(3, 5))
    assert [int(pool.sum()) for pool in pools] == [support, query]


def test_the_smallest_space_by_hand():
    support, query = split(jnp.array([2, 2, 2]), grid(3, 5))
    held_out = {tuple(row) for row in grid(3, 5)[np.asarray(query)].tolist()}
    assert held_out == {(0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1)}
    assert {tuple(row) for row in grid(3, 5)[np.asarray(support)].tolist()} == {
        (0, 0, 0),
        (0, 0, 1),
        (0, 1, 0),
        (1, 0, 0),
    }


@given(st.lists(st.integers(2, 5), min_size=3, max_size=3))
def test_pools_share_nothing_and_the_support_has_every_value(values):
    support, query = (np.asarray(pool) for pool in split(jnp.array(values), grid(3, 5)))
    assert not (support & query).any()
    assert support.sum() + query.sum() == np.prod(values)
    for pool in (support, query):
        for dimension, value in ((i, v) for i in range(3) for v in range(values[i])):
            assert (grid(3, 5)[pool][:, dimension] == value).any()


SPACES = 200


@pytest.fixture(scope="module")
def stimuli():
    """stimuli(values, unequal, warp): (space, dimension, value, sample) of many spaces, by one
    program.
    """
    uniform = np.random.default_rng(1).random((SPACES, *stimulus_shape(3, 5, 4)), np.float32)
    program = jax.jit(jax.vmap(draw_stimuli, (0, None, None, None)))
    return lambda values, unequal, warp: np.asarray(
        program(uniform, np.array(values), unequal, warp)
    )


def test_stimuli_lie_in_their_sections(stimuli):
    """(x - start of the section) / width has mean 0.5 and deviation 0.151, whatever the number of
    values.
    """
    drawn = stimuli([2, 5, 4], 0.0, 0.0)
    for dimension, count in enumerate([2, 5, 4]):
        starts = -1 + 2 / count * np.arange(count)
        within = (drawn[:, dimension, :count] - starts[:, None]) / (2 / count)
        assert abs(within.mean() - 0.5) < 0.02
        assert abs(within.std() - 0.151) < 0.01
        assert ((within < 0) | (within > 1)).mean() < 0.004
        spread = within.std(axis=-1, ddof=1)  # sigma/w is uniform in 1/12 .. 1/6
        assert (
            abs(np.sqrt((spread**2).mean()) - np.sqrt((1 / 12**2 + 1 / 72 + 1 / 6**2) / 3)) < 0.01
        )


def test_sections_that_are_unequal_or_bent_keep_their_order(stimuli):
    plain = stimuli([5, 5, 5], 0.0, 0.0)
    for unequal, warp in ((0.9, 0.0), (0.0, 1.0)):
        drawn = stimuli([5, 5, 5], unequal, warp)
        assert (np.diff(drawn.mean(axis=-1), axis=2) > 0).all()
        assert not np.allclose(drawn, plain)


def test_a_meaning_is_drawn_by_its_weight():
    weights = np.array([0, 1, 0, 3, 0, 0, 4, 0, 0], np.float32)
    found = [
        int(chosen_by(jnp.float32(at), jnp.asarray(weights), 3))
        for at in (0.0, 0.12, 0.13, 0.49, 0.51, 0.9999)
    ]
    assert found == [1, 1, 3, 3, 6, 6]


def test_every_value_is_named_often_enough(drawn):
    """The support phase names all values; published, so does the query phase."""
    for convention in ("published", "corrected"):
        episodes = drawn(convention)
        for number in range(100):
            values, support, count = (
                episodes.values[number],
                episodes.support[number],
                episodes.count[number],
            )
            for phase in (slice(0, support), slice(support, count)):
                targets = episodes.target[number, phase]
                odd = (targets % 2).sum(axis=1)
                assert ((odd >= 2) == bool(phase.start)).all()
                assert (targets < values).all()
                for dimension in range(3):
                    assert set(targets[:, dimension]) == set(range(values[dimension]))


def test_corrected_plays_every_query_meaning_once(drawn):
    episodes = drawn("corrected")
    for number in range(100):
        played = episodes.target[number, episodes.support[number] : episodes.count[number]]
        values = [range(count) for count in episodes.values[number]]
        wanted = [
            meaning
            for meaning in itertools.product(*values)
            if sum(value % 2 for value in meaning) >= 2
        ]
        assert sorted(map(tuple, played.tolist())) == wanted
        assert played.tolist() != sorted(played.tolist()) or len(wanted) < 9


def test_phases_are_as_long_as_in_the_original(drawn):
    """Measured there, S = 1, O = 4: 10.8 support games (3 to 36), 14.2 query games (3 to 49), 74
    steps.
    """
    episodes = drawn("published")
    query = episodes.count - episodes.support
    assert abs(episodes.support.mean() - 10.8) < 0.8
    assert abs(query.mean() - 14.2) < 1.2
    assert episodes.support.min() >= 3
    assert query.min() >= 3
    assert abs((3 * episodes.count - 1).mean() - 74) < 5
