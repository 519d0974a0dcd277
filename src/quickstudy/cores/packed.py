"""A recurrent layer over sequences and its gradient: packed without padding, or short ones written
out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from quickstudy.cores.core import Array
from quickstudy.jax_gateway import device_kind, jax, jnp, lax

States: TypeAlias = tuple[Array, ...]
"""(B, units) each; the first is h, which is the features and goes through the recurrent weights."""


@dataclass(frozen=True)
class Cell:
    """The part of a layer that works unit by unit. Products h R (plus a bias, if there is one) come
    from outside.

    forward(product, before, drive) gives the states after the step, and the arrays (B, units) that
    `backward` wants kept. backward(gradients, kept, before) gives the gradients of the drive, one
    array per gate, and of the states before, those through the product apart.
    product_gradient(drive gradients, kept) gives those of the product, where they are not the
    drive's.
    """

    forward: Callable[[Array, States, Array], tuple[States, tuple[Array, ...]]]
    backward: Callable[[States, Any, States], tuple[tuple[Array, ...], States]]
    product_gradient: Callable[[tuple[Array, ...], Any], tuple[Array, ...]] | None = None


class Phases(NamedTuple):
    """How the rows of packed sequences follow each other: rows[p] sequences go on together, p = 0,
    1 ... in turn.

    rows never grow: they are the longest sequences, which stand first. steps: how long each phase
    lasts, where that is a constant of the program.
    """

    rows: tuple[int, ...]
    steps: tuple[int, ...] | None = None

    def spans(self, steps: Array | None) -> list[tuple[int, Any, Any]]:
        """For every phase its sequences, its first row among all, and its number of steps."""
        lasting: Sequence[Any]
        if self.steps is not None:
            lasting = self.steps
        else:
            lasting = [steps[p] for p in range(len(self.rows))]  # type: ignore[index]
        spans, first = [], 0
        for rows, number in zip(self.rows, lasting, strict=True):
            spans.append((rows, first, number))
            first = first + rows * number
        return spans


class Drives(NamedTuple):
    """What comes from outside at each of N rows, before the product is added: rows of a table (V,
    gates units) that are chosen by symbols (N,), or without symbols the table itself.
    """

    table: Array
    symbols: Array | None = None

    @property
    def rows(self) -> int:
        """N."""
        return len(self.table if self.symbols is None else self.symbols)

    def at(self, place: Any, rows: int) -> Array:
        """Some rows: looked up when they are needed, since all of them at once may be more than a
        cache holds.
        """
        if self.symbols is None:
            return lax.dynamic_slice_in_dim(self.table, place, rows)
        return self.table[lax.dynamic_slice_in_dim(self.symbols, place, rows)]

    def all(self) -> Array:
        """All rows."""
        return self.table if self.symbols is None else self.table[self.symbols]


BLOCK = 128
"""Rows whose part of the weights' gradient is one product, where the number of rows is not known
beforehand.
"""


def product(recurrent: Array, bias: Array | None, state: States) -> Array:
    """What goes around: h R, with its own bias if there is one."""
    return state[0] @ recurrent if bias is None else state[0] @ recurrent + bias


def _run(
    cell: Cell,
    phases: Phases,
    recurrent: Array,
    bias: Array | None,
    start: States,
    drives: Drives,
    steps: Array | None,
    keep: bool = True,
) -> Any:
    # A GPU takes as long to write a small array as to do a step: there only the states are kept.
    states_only = device_kind() != "cpu"

    def stepped(state: States, drive: Array) -> tuple[States, Any]:
        after, kept = cell.forward(product(recurrent, bias, state), state, drive)
        return after, (after[0], state, () if states_only else kept) if keep else (after[0],)

    some = jax.eval_shape(stepped, start, drives.at(0, phases.rows[0]))[1]
    all_kept = jax.tree.map(
        lambda part: jnp.zeros((drives.rows, *part.shape[1:]), part.dtype), some
    )
    state = start
    for rows, first, number in phases.spans(steps):

        def step(number: Any, carry: Any, rows: int = rows, first: Any = first) -> Any:
            state, all_kept = carry
            place = first + number * rows
            state, kept = stepped(state, drives.at(place, rows))
            return state, jax.tree.map(lambda all, new: _written(all, new, place), all_kept, kept)

        state = tuple(part[:rows] for part in state)
        state, all_kept = lax.fori_loop(0, number, step, (state, all_kept))
    outcome = all_kept[0], state
    return (outcome, (recurrent, bias, *all_kept[1:], drives, steps)) if keep else outcome


def _backpropagate(cell: Cell, phases: Phases, saved: Any, gradients: Any) -> Any:
    """Backpropagation through time. The loop carries only the states' gradients; the weights' is
    one product after it.

    Reverse mode through `lax.scan` would add a (units, gates units) matrix at every step instead:
    most of the time.
    """
    recurrent, bias, before, kept, drives, steps = saved
    if not kept:  # made again, of all steps at once
        kept = cell.forward(product(recurrent, bias, before), before, drives.all())[1]
    # Turned round once: a product of few rows with a matrix that lies the other way takes half as
    # long again.
    turned = lax.optimization_barrier(recurrent.T)
    twice = cell.product_gradient is not None
    found = (jnp.zeros((len(gradients[0]), recurrent.shape[1]), recurrent.dtype),) * (1 + twice)
    carry = gradients[1]
    for rows, first, number in reversed(phases.spans(steps)):

        def step(
            back: Any, both: Any, rows: int = rows, first: Any = first, number: Any = number
        ) -> Any:
            carry, found = both
            place = first + (number - 1 - back) * rows
            above, kept_now, before_now = jax.tree.map(
                lambda all: lax.dynamic_slice_in_dim(all, place, rows), (gradients[0], kept, before)
            )
            parts, others = cell.backward((carry[0] + above, *carry[1:]), kept_now, before_now)
            now = [_side_by_side(parts)]
            if cell.product_gradient is not None:
                now.append(_side_by_side(cell.product_gradient(parts, kept_now)))
            found = tuple(_written(all, part, place) for all, part in zip(found, now, strict=True))
            return (others[0] + now[-1] @ turned, *others[1:]), found

        grow = rows - len(carry[0])
        carry = tuple(jnp.pad(part, [(0, grow), (0, 0)]) for part in carry)
        carry, found = lax.fori_loop(0, number, step, (carry, found))
    total = None if steps is None else sum(rows * number for rows, _, number in phases.spans(steps))
    weights = _gram(before[0], found[-1], total)
    of_table = found[0]
    if drives.symbols is not None:
        of_table = jnp.zeros_like(drives.table).at[drives.symbols].add(of_table)
    return weights, None if bias is None else found[-1].sum(axis=0), carry, Drives(of_table), None


unrolled = jax.custom_vjp(partial(_run, keep=False), nondiff_argnums=(0, 1))
"""(hiddens (N, units), last states) from (cell, phases, recurrent, bias, start, drives, steps)."""
unrolled.defvjp(_run, _backpropagate)


def _run_straight(
    cell: Cell,
    recurrent: Array,
    bias: Array | None,
    start: States,
    drives: Array,
    keep: bool = True,
) -> Any:
    """Sequences of one length, step by step without a loop: short ones, on a GPU, where a turn of a
    loop takes longer than what is in it, and so does every array that is written in parts.
    """
    states, kept = [start], []
    for drive in drives:
        state, wanted = cell.forward(product(recurrent, bias, states[-1]), states[-1], drive)
        states.append(state)
        kept.append(wanted)
    outcome = jnp.stack([state[0] for state in states[1:]]), states[-1]
    return (outcome, (recurrent, bias, states[:-1], kept)) if keep else outcome


def _backpropagate_straight(cell: Cell, saved: Any, gradients: Any) -> Any:
    """Through time; the weights' gradient is one product at the end."""
    recurrent, bias, states, kept = saved
    above, carry = gradients
    found, products = [], []
    for before, wanted, own in zip(reversed(states), reversed(kept), above[::-1], strict=True):
        parts, others = cell.backward((carry[0] + own, *carry[1:]), wanted, before)
        found.append(jnp.concatenate(parts, axis=-1))
        if cell.product_gradient is not None:
            parts = cell.product_gradient(parts, wanted)
            products.append(jnp.concatenate(parts, axis=-1))
        carry = others[0] + (products or found)[-1] @ recurrent.T, *others[1:]
    passed = jnp.concatenate((products or found)[::-1])
    weights = jnp.concatenate([state[0] for state in states]).T @ passed
    return weights, None if bias is None else passed.sum(axis=0), carry, jnp.stack(found[::-1])


straight = jax.custom_vjp(partial(_run_straight, keep=False), nondiff_argnums=(0,))
"""(hiddens (T, B, units), last states) from (cell, recurrent, bias, start, drives (T, B, gates
units)).
"""
straight.defvjp(_run_straight, _backpropagate_straight)


def _written(all: Array, part: Array, place: Any) -> Array:
    return lax.dynamic_update_slice_in_dim(all, part, place, 0)


def _side_by_side(parts: tuple[Array, ...]) -> Array:
    """(B, gates units) from one (B, units) per gate."""
    if len(parts) == 1:
        return parts[0]

    def written(*parts: Array) -> Array:
        whole = jnp.zeros((len(parts[0]), len(parts) * parts[0].shape[1]), parts[0].dtype)
        for number, part in enumerate(parts):
            whole = lax.dynamic_update_slice(whole, part, (0, number * part.shape[1]))
        return whole

    # On a CPU a concatenation chooses a part for every number, one at a time; writing them takes
    # whole rows.
    return lax.platform_dependent(
        *parts, cpu=written, default=lambda *parts: jnp.concatenate(parts, axis=-1)
    )


def _gram(left: Array, right: Array, total: Any) -> Array:
    """left^T right, (L, R) from (N, L) and (N, R). total: rows after which the right is zero; None:
    not known.
    """
    if total is None or len(left) <= 2 * BLOCK:
        return left.T @ right

    def add(number: Any, sums: Array) -> Array:
        # The last block begins early enough to be whole; what it shares with the one before counts
        # once.
        first = jnp.minimum(number * BLOCK, len(left) - BLOCK)
        fresh = (first + jnp.arange(BLOCK) >= number * BLOCK)[:, None]
        some, others = (lax.dynamic_slice_in_dim(all, first, BLOCK) for all in (left, right))
        return sums + jnp.where(fresh, some, 0.0).T @ others

    return lax.fori_loop(
        0, -(-total // BLOCK), add, jnp.zeros((left.shape[1], right.shape[1]), left.dtype)
    )
