"""Recurrent networks with an external memory that is shifted softly (Suzgun et al. 2019): a stack,
a tape.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space
from quickstudy.cores.core import PRECISIONS, Array, Core, at_precision
from quickstudy.cores.recurrent import LSTM, RNN, RecurrentCore, RecurrentLayer
from quickstudy.jax_gateway import eqx, jax, jnp

SMALLER = 2
"""How many times as many rows a memory must have as are near row 0 for some steps, for these to be
read apart.
"""


class MemoryCore(Core):
    """A recurrent layer that reads row 0 of a memory and then moves and writes it, softly.

    Before a step the row is added to h by way of `read`; after it, `act` of h moves the
    memory, and by `new` is written. Each is weights and bias, one below the other. State: the
    layer's, and (B, rows, cell) memory; one that was resized lies on its side, (B, cell, rows) in
    two axes, (B, cell rows): moves along a long axis take half as long, and are not for training,
    where the order of sums in a gradient would be another.

    A step moves every row by one at the most, and only row 0 is read. So S steps can be read with
    the 2S rows at either end alone, and all others are moved once, by what the S moves are
    together: each takes a sum of the 2S + 1 rows around it. State of the few: the layer's, their
    memory, and (B, 2S + 1) the weights of that sum. A memory of many rows is read and written once
    in S steps, and by a product of matrices; sums are in another order than step by step, so that
    last bits differ.
    """

    controller: RecurrentCore
    read: Array
    act: Array
    new: Array
    cell: int = eqx.field(static=True)
    rows_kept: int | None = eqx.field(static=True)

    @property
    def width(self) -> int:
        """One feature per unit: h."""
        return self.controller.width

    @abstractmethod
    def rows_for(self, capacity: int) -> int:
        """How many rows are as good as endlessly many for that many steps."""

    @abstractmethod
    def rows_within(self, distance: int) -> int:
        """Number of rows at most that far from row 0."""

    @abstractmethod
    def farthest(self, rows: int) -> int:
        """Of so many rows the one that is as far from row 0 as any."""

    @abstractmethod
    def moved(self, memory: Array, actions: Array, new: Array) -> Array:
        """The memory (B, rows, cell) after the actions (B, action) and what is new (B, cell)."""

    @abstractmethod
    def moved_aside(self, memory: Array, actions: Array, new: Array) -> Array:
        """The same of a memory (B, cell, rows)."""

    @abstractmethod
    def shares(self, actions: Array) -> tuple[Array, Array, Array]:
        """To what extent (B, 1) a row between the ends takes the next one, the one before, and
        itself.
        """

    def start(self, batch: int, capacity: int) -> Any:
        """Zeros."""
        rows = self.rows_for(capacity) if self.rows_kept is None else self.rows_kept
        return self.controller.start(batch, capacity), jnp.zeros(
            (batch, rows, self.cell), self.read.dtype
        )

    def room(self, distance: int, total: int) -> int:
        """Content wanders by one row a step from row 0, and only row 0 is read."""
        rows = min(self.rows_within(distance), self.rows_for(total))
        return rows if self.rows_kept is None else min(rows, self.rows_kept)

    def resized(self, state: Any, room: int) -> Any:
        """With rows of zeros put in, or rows left out, where they are farthest from row 0."""
        inner, memory = state[0], self._aside(state[1])
        before, rows = memory.shape[2], min(room, memory.shape[2])
        near, beyond = (
            memory[:, :, : self.farthest(rows)],
            memory[:, :, before - rows + self.farthest(rows) :],
        )
        zeros = jnp.zeros((len(memory), self.cell, room - rows), memory.dtype)
        return inner, _flat(jnp.concatenate([near, zeros, beyond], axis=2))

    def near(self, state: Any, steps: int) -> Any | None:
        """The rows at either end; of a memory that was not resized, and of a small one, there are
        no such state.
        """
        (inner, memory), reach = state, 2 * steps
        if memory.ndim == 3 or memory.shape[1] < SMALLER * 2 * reach * self.cell:
            return None
        whole = self._aside(memory)
        ends = jnp.concatenate([whole[:, :, :reach], whole[:, :, -reach:]], axis=2)
        return (
            inner,
            _flat(ends),
            jnp.zeros((len(memory), 2 * steps + 1), memory.dtype).at[:, steps].set(1),
        )

    def caught_up(self, state: Any, near: Any) -> Any:
        """Entries within reach of an end have been read by now; the others take their sums.

        By blocks of S rows, each of which gives to itself, to the one before and to the one after:
        one product with a matrix (S, 3S) that has the weights, last first, one further to the right
        in every row.
        """
        inner, ends, weights = near
        memory, ends, steps = self._aside(state[1]), self._aside(ends), weights.shape[1] // 2
        batch, _, rows = memory.shape
        blocks = jnp.pad(memory, [(0, 0), (0, 0), (0, -rows % steps)]).reshape(
            batch, self.cell, -1, steps
        )
        # Weights again and again, each time with zeros that make them one longer than a row is.
        again = jnp.tile(jnp.pad(weights[:, ::-1], [(0, 0), (0, steps)]), steps)
        given = jnp.einsum(
            "bcnq,bqr->bcnr", blocks, again[:, : 3 * steps**2].reshape(batch, steps, 3 * steps)
        )
        before, own, behind = (
            given[..., place * steps : (place + 1) * steps] for place in range(3)
        )
        sums = (before[:, :, 2:] + own[:, :, 1:-1] + behind[:, :, :-2]).reshape(
            batch, self.cell, -1
        )
        between = sums[:, :, : rows - 2 * steps]
        return inner, _flat(
            jnp.concatenate([ends[:, :, :steps], between, ends[:, :, -steps:]], axis=2)
        )

    def _aside(self, memory: Array) -> Array:
        """(B, cell, rows)."""
        return (
            memory.swapaxes(1, 2)
            if memory.ndim == 3
            else memory.reshape(len(memory), self.cell, -1)
        )

    def step(self, state: Any, x: Any, *, key: Array | None = None) -> tuple[Any, Array]:
        """Read the memory, step, move it and write into it; features are h."""
        (hidden, *others), memory, *weights = state
        inner, features = self.controller.step(
            (hidden + _affine(self.read, self._aside(memory)[:, :, 0]), *others), x
        )
        actions = jax.nn.softmax(_affine(self.act, features))
        new = jax.nn.sigmoid(_affine(self.new, features))
        if memory.ndim == 3:
            memory = self.moved(memory, actions, new)
        else:
            memory = _flat(
                self.moved_aside(self._aside(memory), actions[:, :, None], new[:, :, None])
            )
        return (inner, memory, *(_spread(own, *self.shares(actions)) for own in weights)), features


def _flat(memory: Array) -> Array:
    """Of (B, cell, rows) the last two axes in one."""
    return memory.reshape(len(memory), -1)


def _affine(both: Array, x: Array) -> Array:
    return x @ both[:-1] + both[-1]


def _spread(weights: Array, following: Array, preceding: Array, own: Array) -> Array:
    """Weights of rows around one, after one more step: what the next row takes of a row is what
    this takes from the one after it.
    """
    around = jnp.pad(weights, [(0, 0), (1, 1)])
    return following * around[:, :-2] + preceding * around[:, 2:] + own * weights


@dataclass(frozen=True)
class MemorySpec:
    """Parameters of all networks with an external memory.

    Parameters
    ----------
    units:
        Hidden units of the network.
    cell:
        Numbers per row of the memory.
    rows:
        Rows of the memory, in training and in the test; none: as many as the sequence can use.
    precision:
        float32 or float64.
    """

    units: int = parameter(8, at_least=1)
    cell: int = parameter(5, at_least=1)
    rows: int | None = parameter(None, at_least=2)
    precision: str = parameter("float32", choices=PRECISIONS)

    frozen: ClassVar[bool] = False
    layer: ClassVar[type[RecurrentLayer]]
    core: ClassVar[type[MemoryCore]]

    @property
    def actions(self) -> int:
        """How many ways there are to move the memory."""
        raise NotImplementedError

    def build(self, inputs: Space, rng: np.random.Generator) -> Any:
        """The layer's weights, then those that read, act and write, uniform in +- 1/sqrt(how many
        are added).
        """
        controller = self.layer(units=self.units).build(inputs, rng)
        shapes = (self.cell, self.units), (self.units, self.actions), (self.units, self.cell)
        drawn = []
        for width, outputs in shapes:
            bound = 1.0 / np.sqrt(width)
            drawn.append(jnp.asarray(rng.uniform(-bound, bound, (width + 1, outputs)), jnp.float32))
        built = self.core(controller, drawn[0], drawn[1], drawn[2], self.cell, self.rows)
        return at_precision(built, self.precision)


class StackCore(MemoryCore):
    """Row 0 is the top. S <- push [v; S without its last row] + pop [S without its first row; 0] +
    rest S.
    """

    def rows_for(self, capacity: int) -> int:
        """One for each step that may push, if as many are left to pop it again: what lies deeper is
        never read.
        """
        return max(2, capacity // 2 + 2)

    def rows_within(self, distance: int) -> int:
        """As deep as that."""
        return max(2, distance + 1)

    def farthest(self, rows: int) -> int:
        """The end."""
        return rows

    def moved(self, memory: Array, actions: Array, new: Array) -> Array:
        """Push, pop and, if there are three actions, neither."""
        push, pop = actions[:, 0, None, None], actions[:, 1, None, None]
        zero = jnp.zeros_like(memory[:, :1])
        moved = push * jnp.concatenate([new[:, None], memory[:, :-1]], axis=1)
        moved = moved + pop * jnp.concatenate([memory[:, 1:], zero], axis=1)
        return moved + actions[:, 2, None, None] * memory if actions.shape[1] > 2 else moved

    def moved_aside(self, memory: Array, actions: Array, new: Array) -> Array:
        """First row, last row, and all between."""
        push, pop = actions[:, :1], actions[:, 1:2]
        first, last = push * new + pop * memory[:, :, 1:2], push * memory[:, :, -2:-1]
        inner = push * memory[:, :, :-2] + pop * memory[:, :, 2:]
        moved = jnp.concatenate([first, inner, last], axis=2)
        return moved + actions[:, 2:] * memory if actions.shape[1] > 2 else moved

    def shares(self, actions: Array) -> tuple[Array, Array, Array]:
        """Pop, push, rest."""
        rest = actions[:, 2:] if actions.shape[1] > 2 else jnp.zeros_like(actions[:, :1])
        return actions[:, 1, None], actions[:, 0, None], rest


@core("stack-lstm", version=1)
@dataclass(frozen=True)
class StackLSTM(MemorySpec):
    """Stack-LSTM: an LSTM with a differentiable stack, pushed and popped softly at every step.

    Before a step the top of the stack is added to h by a linear map. Then a = softmax(W h); the row
    sigmoid(V h) is pushed with weight a_push, and the stack is popped with weight a_pop. A stack
    that is full loses its lowest row.

    Source: Suzgun et al. 2019, softmax variant, with their sizes. Lan et al. 2023 have 50 or 100
        rows in training, which no string fills, and 2,050 in the test, too few from n = 2,050:
        `rows=2050`.

    Parameters
    ----------
    rows:
        Rows of the stack, in training and in the test; none: half as many as there are steps, which
        is as good as unlimited.
    resting:
        A third action leaves the stack unchanged; the published network has none.
    """

    resting: bool = parameter(False)

    layer: ClassVar[type[RecurrentLayer]] = LSTM
    core: ClassVar[type[MemoryCore]] = StackCore

    @property
    def actions(self) -> int:
        """Push and pop, perhaps rest."""
        return 2 + self.resting


class TapeCore(MemoryCore):
    """Moves of all rows: 0 up around the end, 1 down around the end, 2 none, 3 down, 4 up (row 0
    takes row 1).

    By index shifts: inside, both moves up are one and both moves down are one, and only the first
    and the last row tell those that go around the end from those that do not.
    """

    def rows_for(self, capacity: int) -> int:
        """Content wanders by one row a step, and only row 0 is read: around the end it would come
        too late.
        """
        return capacity + 2

    def rows_within(self, distance: int) -> int:
        """On both sides."""
        return 2 * distance + 2

    def farthest(self, rows: int) -> int:
        """The middle: row 0 is next to the last one."""
        return (rows + 1) // 2

    def moved(self, memory: Array, actions: Array, new: Array) -> Array:
        """M <- sum of the moves, each to its extent; then what is new is added to row 0."""
        around_up, around_down, none, down, up = (actions[:, k, None, None] for k in range(5))
        first, last = memory[:, :1], memory[:, -1:]
        from_below = jnp.concatenate([memory[:, 1:] * (around_up + up), around_up * first], axis=1)
        from_above = jnp.concatenate(
            [around_down * last, memory[:, :-1] * (around_down + down)], axis=1
        )
        return (from_below + from_above + none * memory).at[:, 0].add(new)

    def moved_aside(self, memory: Array, actions: Array, new: Array) -> Array:
        """First row, last row, and all between."""
        around_up, around_down, none, down, up = jnp.split(actions, 5, axis=1)
        to_up, to_down, first, last = (
            around_up + up,
            around_down + down,
            memory[:, :, :1],
            memory[:, :, -1:],
        )
        top = memory[:, :, 1:2] * to_up + around_down * last + none * first + new
        inner = memory[:, :, 2:] * to_up + memory[:, :, :-2] * to_down + none * memory[:, :, 1:-1]
        bottom = around_up * first + memory[:, :, -2:-1] * to_down + none * last
        return jnp.concatenate([top, inner, bottom], axis=2)

    def shares(self, actions: Array) -> tuple[Array, Array, Array]:
        """Up, down, none."""
        around_up, around_down, none, down, up = jnp.split(actions, 5, axis=1)
        return around_up + up, around_down + down, none


@core("baby-ntm", version=1)
@dataclass(frozen=True)
class BabyNTM(MemorySpec):
    """Baby neural Turing machine: a tanh network with a tape that is shifted or rotated softly as a
    whole.

    Before a step row 0 is added to h by a linear map. Then a = softmax(W h) weighs five moves of
    the tape (up and down, with and without wrapping around, and none), and sigmoid(V h) is added to
    row 0.

    Source: Suzgun et al. 2019, softmax variant, with their sizes. Lan et al. 2023 have 2,050 rows
        from the start: `rows=2050`.

    Parameters
    ----------
    rows:
        Rows of the tape, in training and in the test; none: as many as there are steps, which is as
        good as unlimited. No weight depends on it.
    """

    layer: ClassVar[type[RecurrentLayer]] = RNN
    core: ClassVar[type[MemoryCore]] = TapeCore

    @property
    def actions(self) -> int:
        """Five moves."""
        return 5
