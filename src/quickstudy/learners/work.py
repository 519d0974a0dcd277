"""Multiplications of a compiled program, counted from its jaxpr: from shapes, or with the values.

A multiply-accumulate (MAC) is a multiplication of two floating-point numbers. Those of matrix
products and convolutions are also counted by themselves. Looking up a row of a table multiplies
nothing; divisions, roots and exponentials are not counted. An effective MAC is one whose factors
are both different from zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.jax_gateway import jax, jnp, lax

UNKNOWN = {
    "fft": "a Fourier transform",
    "triangular_solve": "a triangular solve",
    "cholesky": "a factorisation",
    "eigh": "an eigendecomposition",
    "svd": "a singular value decomposition",
    "qr": "a factorisation",
    "lu": "a factorisation",
    "pure_callback": "a call of Python",
    "io_callback": "a call of Python",
    "ffi_call": "a call of a foreign function",
    "reduce_prod": "a product over an axis",
    "cumprod": "a running product",
}
"""Primitives that multiply, or may, without saying how often."""
INNER = {"jaxpr", "call_jaxpr", "fun_jaxpr", "branches", "body_jaxpr"}
"""Parameters of equations that are programs run on its arguments."""


@dataclass(frozen=True)
class Work:
    """macs: multiplications. matrix: those of matrix products and convolutions. unknown: what the
    program does that is not counted.
    """

    macs: int = 0
    matrix: int = 0
    unknown: frozenset[str] = frozenset()

    def __add__(self, other: Work) -> Work:
        return Work(
            self.macs + other.macs, self.matrix + other.matrix, self.unknown | other.unknown
        )

    def times(self, count: int) -> Work:
        """The same, so many times."""
        return Work(self.macs * count, self.matrix * count, self.unknown)


def work_of(program: Callable[..., Any], *arguments: Any) -> Work:
    """The multiplications of one call; arguments may be shapes alone. Nothing is computed.

    >>> import numpy as np
    >>> a, b = np.ones((3, 4), np.float32), np.ones((4, 5), np.float32)
    >>> work_of(lambda a, b: jnp.tanh(a @ b) * 2.0, a, b)
    Work(macs=75, matrix=60, unknown=frozenset())
    """
    return _work(jax.make_jaxpr(program)(*arguments).jaxpr)


def _work(jaxpr: Any) -> Work:
    total = Work()
    for eqn in jaxpr.eqns:
        name, inner = eqn.primitive.name, [_open(one) for one in _inner(eqn)]
        if name == "scan":
            total += _work(inner[0]).times(int(eqn.params["length"]))
        elif name == "while":
            found = _work(_open(eqn.params["body_jaxpr"]))
            if found.macs or found.unknown:
                total += Work(0, 0, found.unknown | {"a loop whose length depends on its values"})
        elif name == "cond":
            total += max(map(_work, inner), key=lambda one: one.macs)
        elif inner:
            for one in inner:
                total += _work(one)
        elif (product := _product(eqn)) is not None:
            total += Work(product, product if name != "mul" else 0)
        elif name in ("integer_pow", "square"):
            total += Work(_size(eqn.outvars[0]) * _powers(eqn))
        elif name in UNKNOWN:
            total += Work(0, 0, frozenset({UNKNOWN[name]}))
    return total


def _product(eqn: Any) -> int | None:
    """Multiplications of an equation that multiplies floating-point numbers; None for others."""
    name = eqn.primitive.name
    if name not in ("mul", "dot_general", "conv_general_dilated"):
        return None
    if not jnp.issubdtype(eqn.outvars[0].aval.dtype, jnp.inexact):
        return None
    size: int = _size(eqn.outvars[0])
    if name == "mul":
        return size
    left, right = (one.aval.shape for one in eqn.invars)
    if name == "dot_general":
        contracted = eqn.params["dimension_numbers"][0][0]
        return size * int(math.prod(left[axis] for axis in contracted))
    # Every output takes the whole kernel, padding included; a group sees its own channels only.
    outputs = right[eqn.params["dimension_numbers"].rhs_spec[0]]
    return size * int(math.prod(right) // outputs)


def _powers(eqn: Any) -> int:
    """Multiplications by which a whole power is made: repeated squaring."""
    power = abs(int(eqn.params.get("y", 2)))
    return max(0, power.bit_length() - 1 + power.bit_count() - 1)


def _size(variable: Any) -> int:
    return math.prod(variable.aval.shape)


def _inner(eqn: Any) -> Iterator[Any]:
    """The jaxprs within an equation, in their order; of a loop, its body."""
    for name in INNER & eqn.params.keys():
        value = eqn.params[name]
        yield from value if isinstance(value, tuple | list) else (value,)


def _open(jaxpr: Any) -> Any:
    return getattr(jaxpr, "jaxpr", jaxpr)


def with_work(program: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """The program, which then also gives its effective MACs, as a whole number of 32 bits: a call
    may have two thousand million of them.
    """

    def counted(*arguments: Any) -> tuple[Any, Any]:
        closed, shape = jax.make_jaxpr(program, return_shape=True)(*arguments)
        given = jax.tree.leaves(arguments)
        outputs, count = _evaluated(closed.jaxpr, closed.consts, given)
        return jax.tree.unflatten(jax.tree.structure(shape), outputs), count

    return counted


def _evaluated(jaxpr: Any, consts: Sequence[Any], given: Sequence[Any]) -> tuple[list[Any], Any]:
    """The outputs of a jaxpr, equation by equation, and the effective MACs on the way."""
    values: dict[Any, Any] = {}
    total = jnp.int32(0)

    def read(variable: Any) -> Any:
        return variable.val if hasattr(variable, "val") else values[variable]

    values.update(zip(jaxpr.constvars, consts, strict=True))
    values.update(zip(jaxpr.invars, given, strict=True))
    for eqn in jaxpr.eqns:
        arguments = [read(one) for one in eqn.invars]
        outputs, count = _one(eqn, arguments)
        total = total + count
        values.update(zip(eqn.outvars, outputs, strict=True))
    return [read(one) for one in jaxpr.outvars], total


def _one(eqn: Any, arguments: list[Any]) -> tuple[list[Any], Any]:
    name, params = eqn.primitive.name, eqn.params
    if name == "scan":
        return _scanned(params, arguments)
    if name == "while":
        return _looped(params, arguments)
    if name == "cond":
        branches = [_branch(one) for one in params["branches"]]
        return lax.switch(arguments[0], branches, arguments[1:])  # type: ignore[no-any-return]
    inner = list(_inner(eqn))
    if len(inner) == 1:
        consts = getattr(inner[0], "consts", ())
        return _evaluated(_open(inner[0]), consts, arguments)
    bind = eqn.primitive.get_bind_params(params)
    functions, bind = bind if isinstance(bind, tuple) else ((), bind)  # a pair until JAX 0.9
    found = eqn.primitive.bind(*functions, *arguments, **bind)
    outputs = list(found) if eqn.primitive.multiple_results else [found]
    return outputs, _effective(eqn, arguments)


def _effective(eqn: Any, arguments: list[Any]) -> Any:
    """Of one equation, the products of two factors that are not zero."""
    if _product(eqn) is None:
        if eqn.primitive.name not in ("integer_pow", "square"):
            return jnp.int32(0)
        return _powers(eqn) * jnp.sum(arguments[0] != 0, dtype=jnp.int32)
    left, right = (jnp.asarray(one) != 0 for one in arguments)
    if eqn.primitive.name == "mul":
        return jnp.sum(left & right, dtype=jnp.int32)
    kinds = {**eqn.params, "preferred_element_type": jnp.float32}
    ones = eqn.primitive.bind(
        left.astype(jnp.float32), right.astype(jnp.float32), **kinds
    )  # whole numbers below 2**24: exact
    return jnp.sum(jnp.rint(ones).astype(jnp.int32), dtype=jnp.int32)


def _branch(closed: Any) -> Callable[..., Any]:
    return lambda arguments: _evaluated(closed.jaxpr, closed.consts, arguments)


def _scanned(params: Any, arguments: list[Any]) -> tuple[list[Any], Any]:
    fixed, carried = params["num_consts"], params["num_carry"]
    consts, first, xs = (
        arguments[:fixed],
        arguments[fixed : fixed + carried],
        arguments[fixed + carried :],
    )
    body = params["jaxpr"]

    def turn(carry: Any, x: Any) -> Any:
        before, total = carry
        outputs, count = _evaluated(body.jaxpr, body.consts, [*consts, *before, *x])
        return (outputs[:carried], total + count), outputs[carried:]

    (last, total), ys = lax.scan(
        turn, (first, jnp.int32(0)), xs, params["length"], params["reverse"]
    )
    return [*last, *ys], total


def _looped(params: Any, arguments: list[Any]) -> tuple[list[Any], Any]:
    of_test, of_body = params["cond_nconsts"], params["body_nconsts"]
    tested, consts = arguments[:of_test], arguments[of_test : of_test + of_body]
    test, body = params["cond_jaxpr"], params["body_jaxpr"]

    def goes_on(carry: Any) -> Any:
        return _evaluated(test.jaxpr, test.consts, [*tested, *carry[0]])[0][0]

    def turn(carry: Any) -> Any:
        outputs, count = _evaluated(body.jaxpr, body.consts, [*consts, *carry[0]])
        return outputs, carry[1] + count

    last, total = lax.while_loop(goes_on, turn, (arguments[of_test + of_body :], jnp.int32(0)))
    return list(last), total
