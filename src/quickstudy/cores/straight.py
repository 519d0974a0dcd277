"""A recurrent layer over short sequences of one length, written out step by step, and its gradient.

For a GPU, where a turn of a loop takes longer than what is in it, and so does every array that is written in parts.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from quickstudy.cores.core import Array
from quickstudy.cores.packed import Cell, States, product
from quickstudy.gateway import jax, jnp


def _run(
    cell: Cell, recurrent: Array, bias: Array | None, start: States, drives: Array, keep: bool = True
) -> Any:  # fmt: skip
    states, kept = [start], []
    for drive in drives:
        state, wanted = cell.forward(product(recurrent, bias, states[-1]), states[-1], drive)
        states.append(state)
        kept.append(wanted)
    outcome = jnp.stack([state[0] for state in states[1:]]), states[-1]
    return (outcome, (recurrent, bias, states[:-1], kept)) if keep else outcome


def _backpropagate(cell: Cell, saved: Any, gradients: Any) -> Any:
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


straight = jax.custom_vjp(partial(_run, keep=False), nondiff_argnums=(0,))
"""(hiddens (T, B, units), last states) from (cell, recurrent, bias, start, drives (T, B, gates units))."""
straight.defvjp(_run, _backpropagate)
