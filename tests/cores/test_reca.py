"""The automaton with its inputs, and packed rings, against plain loops over cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure
from quickstudy.base.spaces import Bits, Fields, Reals, Tokens
from quickstudy.cores.reca import (
    PROJECTIONS,
    ReservoirAutomaton,
    evolved,
    packed,
    rule_masks,
    unpacked,
)
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.learners.features import rows_at
from quickstudy.learners.lanes import stack_lanes

SYMBOLS, STEPS, BATCH = 5, 6, 3


def built(space=None, **parameters):
    spec = ReservoirAutomaton(**{"redundancy": 3, "block": 13, **parameters})
    return spec.build(space or Tokens(SYMBOLS), np.random.default_rng(0))


def cells_of(core):
    """(inputs, cells): which cells each symbol has."""
    return np.asarray(unpacked(core.places, core.cells)).astype(int)


def apply(cells, rule):
    count = len(cells)
    return [
        (rule >> (4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % count])) & 1
        for i in range(count)
    ]


def reference(core, rule, inputs, rewrite=False):
    """Features (steps, width) of one sequence; inputs: for every step the symbols that are on."""
    places = cells_of(core)
    state, features = [0] * core.cells, []
    for on in inputs:
        for cell in range(core.cells):
            if rewrite:
                if any(places[symbol][cell] for symbol in on):
                    state[cell] = 1
                elif places[:, cell].any():
                    state[cell] = 0
            else:
                for symbol in on:
                    state[cell] ^= int(places[symbol][cell])
        row = []
        for _ in range(core.applications):
            state = apply(state, rule)
            row += state
        features.append(row)
    return np.array(features)


@pytest.mark.parametrize("projection", PROJECTIONS)
@pytest.mark.parametrize(("rule", "applications"), [(206, 2), (110, 1), (30, 3), (255, 2)])
def test_features_are_those_of_a_plain_automaton(projection, rule, applications):
    core = built(rule=rule, applications=applications, projection=projection)
    tokens = np.random.default_rng(1).integers(SYMBOLS, size=(STEPS, BATCH))
    state, features = jax.jit(lambda tokens: core.unroll(core.start(BATCH, STEPS), tokens))(tokens)
    assert features.shape == (STEPS, BATCH, 39 * applications)
    assert features.dtype == np.float32
    for example in range(BATCH):
        wanted = reference(core, rule, tokens[:, example, None], projection == "rewrite")
        assert np.array_equal(np.asarray(features[:, example]), wanted)
        assert np.array_equal(np.asarray(unpacked(state.T, core.cells))[example], wanted[-1, -39:])


def test_the_ring_of_the_paper():
    core = ReservoirAutomaton(rule=99).build(Tokens(18), np.random.default_rng(0))
    assert (core.width, core.start(2, 5).shape) == (1800, (29, 2))
    tokens = np.random.default_rng(1).integers(18, size=(5, 2))
    features = jax.jit(lambda tokens: core.unroll(core.start(2, 5), tokens)[1])(tokens)
    assert np.array_equal(np.asarray(features[:, 1]), reference(core, 99, tokens[:, 1, None]))


def blocks(projection, symbols=400, **parameters):
    """(symbols, blocks, cells of a block)."""
    spec = ReservoirAutomaton(projection=projection, **parameters)
    return spec.places(symbols, np.random.default_rng(2)).reshape(
        symbols, spec.redundancy, spec.block
    )


@pytest.mark.parametrize("projection", ["one-to-one", "rewrite"])
def test_one_cell_a_block_uniform_with_replacement(projection):
    drawn = blocks(projection)
    assert (drawn.sum(axis=-1) == 1).all()
    counts = drawn.sum(axis=(0, 1))  # 6000 draws of 60 cells
    assert (
        (counts - 100) ** 2 / 100
    ).sum() < 110  # chi-square with 59 degrees of freedom, p = 0.0001
    # Symbols may share a cell: of 400 with 60 cells, many must.
    assert drawn[:, 0].sum(axis=0).max() > 1


def test_several_different_cells_a_block():
    drawn = blocks("one-to-many", pattern=3)
    assert (drawn.sum(axis=-1) == 3).all()
    counts = drawn.sum(axis=(0, 1))
    assert ((counts - 300) ** 2 / 300).sum() < 110


def test_patterns_are_short_not_empty_and_anywhere():
    drawn = blocks("one-to-pattern")
    places = [np.flatnonzero(block) for block in drawn.reshape(-1, 60)]
    assert all(1 <= len(found) <= 4 and found[-1] - found[0] < 4 for found in places)
    # Of the 15 patterns that are not empty 8 have their first bit, and 32 bits are set in all.
    assert np.mean([len(found) for found in places]) == pytest.approx(32 / 15, rel=0.03)
    assert {int(found[0]) for found in places} == set(range(60))


def test_bits_that_are_on_are_inputs():
    """Two bits that share a cell leave it as it was; under `rewrite` it is 1."""
    rng = np.random.default_rng(3)
    for projection in PROJECTIONS:
        core = built(Bits(4), rule=30, block=2, redundancy=7, projection=projection, pattern=2)
        bits = rng.integers(2, size=(STEPS, BATCH, 4))
        features = core.unroll(core.start(BATCH, STEPS), bits.astype(np.float32))[1]
        for example in range(BATCH):
            on = [np.flatnonzero(row) for row in bits[:, example]]
            wanted = reference(core, 30, on, projection == "rewrite")
            assert np.array_equal(np.asarray(features[:, example]), wanted), projection


def test_fields_have_cells_side_by_side():
    space = Fields({"word": Tokens(3), "flags": Bits(2)})
    for projection in ("one-to-one", "rewrite"):
        core = built(space, projection=projection, block=3)
        word, flags = np.array([[2, 0]]), np.array([[[1, 0], [1, 1]]], np.float32)
        features = core.unroll(core.start(2, 1), {"word": word, "flags": flags})[1]
        for example, on in enumerate(([2, 3], [0, 3, 4])):
            wanted = reference(core, 206, [on], projection == "rewrite")
            assert np.array_equal(np.asarray(features[:, example]), wanted)


@pytest.mark.parametrize("space", [Reals(2), Fields({"word": Tokens(3), "level": Reals(1)})])
def test_real_numbers_are_read_through_a_thermometer_where_no_code_is_named(space):
    plain, named = built(space), built(space, code="thermometer")
    assert np.array_equal(plain.places, named.places)
    assert np.array_equal(plain.levels, named.levels)
    assert built(Tokens(3)).levels is None


def test_parameters_out_of_range():
    for wrong, message in [
        ({"rule": 256}, "rule must be at least 0 and at most 255, got 256"),
        ({"projection": "one-to-none"}, "projection must be one of"),
        (
            {"projection": "one-to-many", "pattern": 9, "block": 8},
            "reca: pattern must be at most 8, got 9",
        ),
        (
            {"projection": "one-to-pattern", "pattern": 64, "block": 100},
            "reca: pattern must be at most 63, got 64; a block has 100 cells",
        ),
    ]:
        with pytest.raises(UsageError, match=message):
            configure("reca", ReservoirAutomaton, wrong)


def test_rules_and_seeds_share_one_program():
    """The rule and the cells of the inputs are arrays: whatever they are, nothing is compiled
    again.
    """
    cores = [
        stack_lanes(
            [ReservoirAutomaton(rule=rule, block=7).build(Tokens(3), np.random.default_rng(rule))]
        )
        for rule in (0, 110, 255)
    ]
    structures = {jax.tree.structure(eqx.partition(core, eqx.is_array)[1]) for core in cores}
    shapes = {tuple(leaf.shape for leaf in jax.tree.leaves(core)) for core in cores}
    assert len(structures) == len(shapes) == 1
    inputs, positions = np.zeros((1, 4, 2), int), np.array([[[3, 0], [3, 1]]])
    rows_at(cores[0], inputs, positions, 1)
    before = rows_at._cached._cache_size()
    for core in cores:
        rows_at(core, inputs, positions, 1)
    assert rows_at._cached._cache_size() == before


step = jax.jit(evolved, static_argnums=2)


def plain(cells, rule):
    """The rule's definition: bit 4 left + 2 centre + right of its number."""
    count = len(cells)
    return [
        (rule >> (4 * cells[i - 1] + 2 * cells[i] + cells[(i + 1) % count])) & 1
        for i in range(count)
    ]


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
    """111 -> 0, 110 -> 1, 101 -> 1, 100 -> 0, 011 -> 1, 010 -> 1, 001 -> 1, 000 -> 0; it grows to
    the left.
    """
    rows = [
        "00000001",
        "00000011",
        "00000111",
        "00001101",
        "00011111",
        "00110001",
        "01110011",
        "11010111",
    ]
    # In the last row the ring closes: cell 0 has a 1 to its left, in cell 7.
    cells = [[int(cell) for cell in row] for row in rows]
    for time, row in enumerate(cells):
        assert after(cells[:1], 110, time)[0].tolist() == row


@pytest.mark.parametrize(("rule", "shift"), [(170, -1), (240, 1), (204, 0)])
def test_rules_that_move_the_whole_ring(rule, shift):
    """170 copies the right neighbour, 240 the left one, 204 the cell itself: after 900 steps all is
    as it was.
    """
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
    assert (
        np.asarray(unpacked(jnp.asarray(words), len(cells))).tolist()
        == cells.astype(float).tolist()
    )
