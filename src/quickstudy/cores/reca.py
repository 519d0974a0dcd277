"""Reservoir cellular automaton: an elementary automaton that inputs disturb and a rule mixes, never
trained.

Rings of cells are packed into words: 32 cells a word, cell i in bit i mod 32 of word i // 32. Rings
are (words, ...): the words of one ring are on the first axis, and operations take all rings of
the other axes at once. Bits of the last word beyond the ring are always zero.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Fields, Reals, Space, Tokens
from quickstudy.cores.core import Array, Reservoir
from quickstudy.cores.quantiser import even_levels, has_reals
from quickstudy.jax_gateway import eqx, jnp, lax

CODES = ("sign", "thermometer")
"""How a real number becomes bits: whether it is above 0; how many of some evenly spaced levels it
is above.
"""
PROJECTIONS = ("one-to-one", "one-to-many", "one-to-pattern", "rewrite")


class AutomatonCore(Reservoir):
    """s <- rule applied `applications` times to the disturbed s. The state is the packed ring,
    (words, batch).

    places: (width of the inputs, words), the cells of every symbol or bit; a real number has a bit
    for each of the levels, and that is on while it is above. masks: the rule (see `ring`), an
    array: all rules share a compiled program. writes: inputs are written over the cells,
    instead of flipping it.
    """

    places: Array
    masks: Array
    levels: Array | None
    writes: bool = eqx.field(static=True)
    space: Space = eqx.field(static=True)
    cells: int = eqx.field(static=True)
    applications: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        """The rings after all applications, one after the other."""
        return self.cells * self.applications

    def start(self, batch: int, capacity: int) -> Array:
        """All cells zero."""
        return jnp.zeros((self.places.shape[1], batch), jnp.uint32)

    def step(self, state: Array, x: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """One input; features are the cells as zeros and ones."""
        state, rings = self._read(state, self._cells_of(x))
        return state, self._features(rings)

    def unroll(self, state: Array, xs: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """The same on packed rings only. Unpacked afterwards, only the features that a learner
        looks at are made.
        """
        state, rings = lax.scan(
            lambda state, cells: self._read(state, cells), state, self._cells_of(xs)
        )
        return state, self._features(rings)

    def _cells_of(self, x: Any) -> Array:
        """(..., words): the cells of what is read. Cells that several inputs share are flipped by
        each, or written.
        """
        combine = lax.bitwise_or if self.writes else lax.bitwise_xor
        return _combined(self.space, self.places, x, self.levels, combine)

    def _read(self, state: Array, cells: Array) -> tuple[Array, Array]:
        """The ring (words, batch) after the inputs' cells (batch, words), and the rings after each
        application.
        """
        if self.writes:
            anybodys = lax.reduce(self.places, np.uint32(0), lax.bitwise_or, (0,))
            state = (state & ~anybodys[:, None]) | cells.T
        else:
            state = state ^ cells.T
        rings = []
        for _ in range(self.applications):
            state = evolved(state, self.masks, self.cells)
            rings.append(state)
        return state, jnp.stack(rings)

    def _features(self, rings: Array) -> Array:
        """(..., batch, width) from rings (..., applications, words, batch)."""
        cells = unpacked(jnp.moveaxis(rings, -1, -3), self.cells)
        return cells.reshape(*cells.shape[:-2], self.width)


def _combined(
    space: Space,
    places: Array,
    x: Any,
    levels: Array | None,
    combine: Callable[[Array, Array], Array],
) -> Array:
    if isinstance(space, Tokens):
        return places[x]
    if isinstance(space, Fields):
        parts, first = [], 0
        for name, part in space.parts:
            width = coded_width(part, 1 if levels is None else len(levels))
            parts.append(_combined(part, places[first : first + width], x[name], levels, combine))
            first += width
        return functools.reduce(combine, parts)
    given, middle = jnp.asarray(x), jnp.float32(0.5)
    if isinstance(space, Reals) and levels is not None:
        given, middle = jnp.repeat(given, len(levels), axis=-1), jnp.tile(levels, space.width)
    on = jnp.where((given > middle)[..., None], places, jnp.uint32(0))
    return lax.reduce(on, np.uint32(0), combine, (on.ndim - 2,))


def coded_width(space: Space, levels: int) -> int:
    """Bits of a value, or symbols of which one is given, where a real number has so many levels."""
    if isinstance(space, Fields):
        return sum(coded_width(part, levels) for _, part in space.parts)
    return space.width * (levels if isinstance(space, Reals) else 1)


@core("reca", version=1)
@dataclass(frozen=True)
class ReservoirAutomaton:
    """Reservoir cellular automaton: a ring of cells under an elementary rule; not trained.

    The ring has `redundancy` blocks of `block` cells. An input perturbs every block; then the rule
    is applied `applications` times. The states after each application are the features, the last
    one is carried on.

    Source: Yilmaz 2014; Cisneros et al. 2022 (all 256 rules, 15 blocks of 60, two applications:
        1,800 features).

    Parameters
    ----------
    rule:
        Elementary rule in Wolfram's numbering. 206 is among the best on three published tasks.
    redundancy:
        Number of blocks.
    block:
        Cells per block.
    applications:
        Applications of the rule per step.
    projection:
        Which cells of a block belong to a symbol. `one-to-one`: one cell, uniform (symbols may
        share it). `one-to-many`: `pattern` different cells. `one-to-pattern`: a random non-empty
        subset of `pattern` (at most 63) neighbouring cells. `rewrite`: one cell. An input flips its
        cells; `rewrite` sets them to 1 and the cells of all other symbols to 0. Of bits, each that
        is 1 is an input.
    pattern:
        Cells per symbol.
    code:
        Binary code of real numbers. `sign`: one bit, 1 above 0. `thermometer` (also where none is
        given): `levels` bits, each 1 above its level.
    levels:
        Levels of the thermometer code, evenly spaced from -`reach` to `reach`.
    reach:
        Largest level.
    """

    rule: int = parameter(206, at_least=0, at_most=255)
    redundancy: int = parameter(15, at_least=1)
    block: int = parameter(60, at_least=1)
    applications: int = parameter(2, at_least=1)
    projection: str = parameter("one-to-one", choices=PROJECTIONS)
    pattern: int = parameter(4, at_least=1)
    code: str | None = parameter(None, choices=(None, *CODES), added=True)
    levels: int = parameter(15, at_least=1, added=True)
    reach: float = parameter(1.0, above=0, added=True)

    frozen: ClassVar[bool] = True
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {"reals": {"code": "thermometer"}}
    varied: ClassVar[Mapping[str, tuple[int, int]]] = {"rule": (0, 255)}

    def __post_init__(self) -> None:
        most = min(self.block, 63) if self.projection == "one-to-pattern" else self.block
        if self.projection in ("one-to-many", "one-to-pattern") and self.pattern > most:
            raise ValueError(
                f"pattern must be at most {most}, got {self.pattern}; a block has {self.block}"
                " cells"
            )

    def build(self, inputs: Space, rng: np.random.Generator) -> AutomatonCore:
        """Only the cells of the inputs are drawn."""
        code = self.code or ("thermometer" if has_reals(inputs) else None)
        levels = even_levels(self.levels, self.reach) if code == "thermometer" else np.zeros(1)
        return AutomatonCore(
            jnp.asarray(packed(self.places(coded_width(inputs, len(levels)), rng))),
            jnp.asarray(rule_masks(self.rule)),
            None if code is None else jnp.asarray(levels, jnp.float32),
            self.projection == "rewrite",
            inputs,
            self.redundancy * self.block,
            self.applications,
        )

    def places(self, symbols: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """(symbols, cells): the cells of every symbol."""
        shape = symbols, self.redundancy
        if self.projection == "one-to-many":
            chosen = rng.random((*shape, self.block)).argsort(axis=-1) < self.pattern
        elif self.projection == "one-to-pattern":
            offsets = rng.integers(self.block - self.pattern + 1, size=shape)
            numbers = rng.integers(1, 2**self.pattern, size=shape)
            bit = np.arange(self.block) - offsets[..., None]
            chosen = (
                (bit >= 0)
                & (bit < self.pattern)
                & (numbers[..., None] >> np.maximum(bit, 0) & 1 == 1)
            )
        else:
            chosen = rng.integers(self.block, size=shape)[..., None] == np.arange(self.block)
        return np.asarray(chosen.reshape(symbols, -1))


WORD = 32


def packed(cells: NDArray[Any]) -> NDArray[np.uint32]:
    """(..., words) from zeros and ones (..., cells)."""
    words = -(-cells.shape[-1] // WORD)
    padding = [(0, 0)] * (cells.ndim - 1) + [(0, WORD * words - cells.shape[-1])]
    bits = np.pad(cells.astype(np.uint32), padding).reshape(*cells.shape[:-1], words, WORD)
    return np.asarray(np.bitwise_or.reduce(bits << np.arange(WORD, dtype=np.uint32), axis=-1))


def unpacked(words: Array, cells: int) -> Array:
    """float32 zeros and ones (..., cells) from words on the last axis (..., words)."""
    bits = (words[..., None] >> jnp.arange(WORD, dtype=jnp.uint32)) & jnp.uint32(1)
    return bits.reshape(*words.shape[:-1], -1)[..., :cells].astype(jnp.float32)


def rule_masks(rule: int) -> NDArray[np.uint32]:
    """A rule as eight words, all ones or all zeros: the coefficients of its polynomial over {0, 1}.

    Bit 4 left + 2 centre + right of the number is what a neighbourhood becomes (Wolfram's
    numbering). Any such rule is the exclusive sum of a[k] times the neighbours whose bits k has:
    fewer operations than eight cases, and the same program for all rules.

    >>> rule_masks(90).astype(bool).astype(int).tolist()  # left + right
    [0, 1, 0, 0, 1, 0, 0, 0]
    """
    values = (rule >> np.arange(8)) & 1
    # Coefficient k is the exclusive sum of the values at all neighbourhoods within k.
    within = (np.arange(8)[:, None] & np.arange(8)) == np.arange(8)
    return np.where((within * values).sum(axis=1) % 2 == 1, np.uint32(0xFFFFFFFF), np.uint32(0))


def evolved(ring: Array, masks: Array, cells: int) -> Array:
    """The ring after one application of the rule that the masks encode; cell 0 follows the last
    cell.
    """
    words, used = len(ring), (cells - 1) % WORD + 1
    # Measured on a CPU, tokens a second at 64 rings of 900 cells: a wider ring that is written in
    # three parts 17 million; neighbours joined by concatenation, for which XLA chooses a part for
    # every word, 2 million.
    wider = jnp.zeros((words + 2, *ring.shape[1:]), ring.dtype)
    for part, place in ((ring, 1), (ring[-1:], 0), (ring[:1], words + 1)):
        wider = lax.dynamic_update_slice(wider, part, (place, *[0] * (ring.ndim - 1)))
    # A word takes one bit from each of its neighbours. Those at the joint come from, and go to, the
    # last bit in use.
    from_before, from_next = np.full((2, words, *[1] * (ring.ndim - 1)), WORD - 1, np.uint32)
    from_before[0] = from_next[-1] = used - 1
    left = (ring << 1) | (wider[:-2] >> from_before)
    right = (ring >> 1) | (wider[2:] << from_next)
    by_left = [
        masks[k] ^ (masks[k + 1] & right) ^ (ring & (masks[k + 2] ^ (masks[k + 3] & right)))
        for k in (0, 4)
    ]
    in_use = np.full_like(from_next, 0xFFFFFFFF)
    in_use[-1] >>= np.uint32(WORD - used)
    return (by_left[0] ^ (left & by_left[1])) & in_use
