"""Packed rings against a plain automaton, one cell at a time."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.cores.ring import evolved, packed, rule_masks, unpacked
from quickstudy.gateway import jax, jnp

step = jax.jit(evolved, static_argnums=2)


def plain(cells, rule):
    """The rule's definition: bit 4 left + 2 centre + right of its number."""
    count = len(cells)
    return [(rule >> (4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % count])) & 1 for i in range(count)]


def after(cells, rule, times=1):
    """The same with packed words, for rings (rings, cells)."""
    cells = np.asarray(cells)
    ring = jnp.asarray(packed(cells).T)
    for _ in range(times):
        ring = step(ring, jnp.asarray(rule_masks(rule)), cells.shape[1])
    return np.asarray(unpacked(ring.T, cells.shape[1])).astype(int)


@pytest.mark.parametrize("cells", [1, 2, 3, 31, 32, 33, 64, 70])
def test_all_rules_on_random_rings(cells):
    rings = np.random.default_rng(cells).integers(2, size=(4, cells))
    for rule in range(256):
        assert after(rings, rule).tolist() == [plain(ring, rule) for ring in rings.tolist()], rule


def test_all_rules_on_the_ring_of_the_paper():
    rings = np.random.default_rng(0).integers(2, size=(3, 900))
    for rule in range(256):
        neighbourhoods = 4 * np.roll(rings, 1, axis=1) + 2 * rings + np.roll(rings, -1, axis=1)
        assert np.array_equal(after(rings, rule, 2), _numpy((rule >> neighbourhoods) & 1, rule))


def _numpy(rings, rule):
    return (rule >> (4 * np.roll(rings, 1, axis=1) + 2 * rings + np.roll(rings, -1, axis=1))) & 1


def test_all_rules_share_one_program():
    run = jax.jit(lambda *given: evolved(*given, 5))
    ring = jnp.asarray(packed(np.eye(5, dtype=int)).T)
    for rule in range(256):
        run(ring, jnp.asarray(rule_masks(rule)))
    assert run._cache_size() == 1


def test_rule_90_draws_the_triangle_of_odd_binomials():
    """Row n has ones where the binomial coefficient of n is odd, two cells apart."""
    cells = np.zeros((1, 129), int)
    cells[0, 64] = 1
    row = [1]
    for time in range(64):
        wanted = np.zeros(129, int)
        wanted[64 - time : 64 + time + 1 : 2] = np.array(row) % 2
        assert after(cells, 90, time)[0].tolist() == wanted.tolist()
        row = [1, *[a + b for a, b in itertools.pairwise(row)], 1]


def test_rule_110_by_hand():
    """111 -> 0, 110 -> 1, 101 -> 1, 100 -> 0, 011 -> 1, 010 -> 1, 001 -> 1, 000 -> 0; it grows to the left."""
    rows = ["00000001", "00000011", "00000111", "00001101", "00011111", "00110001", "01110011", "11010111"]
    # In the last row the ring closes: cell 0 has a 1 to its left, in cell 7.
    cells = [[int(cell) for cell in row] for row in rows]
    for time, row in enumerate(cells):
        assert after(cells[:1], 110, time)[0].tolist() == row


@pytest.mark.parametrize(("rule", "shift"), [(170, -1), (240, 1), (204, 0)])
def test_rules_that_move_the_whole_ring(rule, shift):
    """170 copies the right neighbour, 240 the left one, 204 the cell itself: after 900 steps all is as it was."""
    rings = np.random.default_rng(1).integers(2, size=(2, 45))
    assert np.array_equal(after(rings, rule), np.roll(rings, shift, axis=1))
    assert np.array_equal(after(rings, rule, 45), rings)


@given(st.lists(st.booleans(), min_size=1, max_size=100))
@settings(deadline=None, max_examples=30)
def test_packing_is_undone_by_unpacking(cells):
    cells = np.array(cells)
    words = packed(cells)
    assert (words.dtype, len(words)) == (np.uint32, -(-len(cells) // 32))
    assert sum(int(word) << (32 * place) for place, word in enumerate(words)) == sum(
        int(cell) << place for place, cell in enumerate(cells)
    )
    assert np.asarray(unpacked(jnp.asarray(words), len(cells))).tolist() == cells.astype(float).tolist()
