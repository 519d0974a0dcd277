"""What every core promises."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable
from quickstudy.base.spaces import Bits, Fields, Reals, Space, Tokens
from quickstudy.cores.core import Core
from quickstudy.jax_gateway import eqx, jax, jnp
from quickstudy.testing.check_result import (
    Broken,
    Finding,
    Promise,
    draw,
    examine,
    examine_all,
    report_touched,
    undisturbed,
)
from quickstudy.testing.metadata_checks import check_conventions, check_parameters

STEPS, BATCH = 7, 3
TOLERANCE = 1e-5
"""Relative to the largest number; float32 sums in another order differ by a tenth of this."""

SPACES: tuple[Space, ...] = (
    Tokens(5),
    Reals(3),
    Bits(4),
    Fields({"word": Tokens(3), "level": Reals(2)}),
)


def check_core(spec: Any, seed: int = 0) -> list[Finding]:
    """One finding per promise of a core, given its frozen parameters; a class is checked with
    its defaults.
    """
    spec = spec() if isinstance(spec, type) else spec
    with undisturbed() as watch:
        checks = _Checks(spec, seed)
        findings = [*examine_all(checks.papers(), doors=0), *examine_all(checks.promises())]
        findings.append(
            examine("touches no global randomness", lambda: report_touched(watch.touched))
        )
    return findings


class _Checks:
    """The checks of one core, on inputs of its own."""

    def __init__(self, spec: Any, seed: int) -> None:
        self._spec = spec
        self._seed = seed

    def papers(self) -> list[Promise]:
        """The promises that can be checked before it reads anything."""
        return [
            ("its parameters survive JSON", lambda: check_parameters(self._spec)),
            ("its conventions can be made", lambda: check_conventions(type(self._spec))),
            ("can be sent to another process", self.pickled),
            ("same stream, same weights", self.same_weights),
        ]

    def promises(self) -> list[Promise]:
        """The table."""
        gradients = [("unroll's gradients agree with those of the scan", self.gradients)]
        return [
            ("reads tokens, reals, bits and fields, or gives a reason why not", self.reads),
            ("trains what it declares", self.trainable),
            ("unroll agrees with the scan of step", self.unroll),
            ("examples of a batch do not meet", self.batch),
            ("does not look ahead", self.causal),
            ("any capacity that is enough gives the same", self.capacity),
            *([] if self._spec.frozen else gradients),
        ]

    def pickled(self) -> None:
        if (
            not dataclasses.is_dataclass(self._spec)
            or pickle.loads(pickle.dumps(self._spec)) != self._spec
        ):
            raise Broken(
                "a core's parameters must be a frozen dataclass that compares equal after pickling"
            )

    def same_weights(self) -> str:
        first, second = (self._build(SPACES[0]) for _ in range(2))
        if not eqx.tree_equal(first, second):
            raise Broken(
                "two cores from equal streams differ; sample from the generator that is passed in"
            )
        other = self._spec.build(SPACES[0], np.random.default_rng([self._seed, 1]))
        draws = bool(getattr(self._spec, "draws", True))
        if draws and eqx.tree_equal(first, other):
            raise Broken(
                "cores from different streams are equal; sample from the generator that is"
                " passed in"
            )
        if not draws and not eqx.tree_equal(first, other):
            raise Broken("draws is False, but cores from different streams differ")
        return "" if draws else "draws nothing"

    def reads(self) -> str:
        refusals = []
        for space in SPACES:
            try:
                core = self._build(space)
            except NotApplicable as refusal:
                if space is SPACES[0]:  # every core must read symbols
                    raise
                refusals.append(str(refusal))
                continue
            features = _features(core, _inputs(space, self._rng()), BATCH, STEPS)
            if features.shape != (STEPS, BATCH, core.width):
                wanted = (STEPS, BATCH, core.width)
                raise Broken(
                    f"{space}: features must be (time, example, width) = {wanted}, got"
                    f" {features.shape}"
                )
            if not np.isfinite(features).all():
                raise Broken(f"{space}: some features are not finite")
        return "; ".join(dict.fromkeys(refusals))

    def trainable(self) -> str:
        core = self._build(SPACES[0])
        count = sum(int(leaf.size) for leaf in jax.tree.leaves(eqx.filter(core, core.trainable())))
        if self._spec.frozen != (count == 0):
            raise Broken(f"frozen is {self._spec.frozen}, but {count} numbers are trained")
        return f"{count} numbers"

    def unroll(self) -> None:
        core, inputs = self._build(SPACES[0]), self._tokens()
        for key in (None, jax.random.key(self._seed)):
            found, wanted = _both(core, inputs, key)
            _compare(found, wanted, "with a key they" if key is not None else "without a key they")

    def gradients(self) -> None:
        core, inputs = self._build(SPACES[0]), self._tokens()
        trained, fixed = eqx.partition(core, core.trainable())
        rng = self._rng()
        start = jax.tree.map(lambda leaf: _like(leaf, rng), core.start(BATCH, STEPS))
        shapes = jax.eval_shape(lambda: Core.unroll(core, start, inputs))
        pulls = jax.tree.map(lambda leaf: _like(leaf, rng), shapes)

        def gradient(unroll: Any) -> Any:
            def pulled(both: Any) -> Any:
                given = unroll(eqx.combine(both[0], fixed), both[1], inputs)
                parts = jax.tree.map(lambda leaf, pull: (leaf * pull).sum(), given, pulls)
                return sum(
                    part
                    for part in jax.tree.leaves(parts)
                    if jnp.issubdtype(part.dtype, jnp.inexact)
                )

            return eqx.filter_jit(eqx.filter_grad(pulled))((trained, start))

        _compare(
            gradient(lambda core, *rest: core.unroll(*rest)), gradient(Core.unroll), "the gradients"
        )

    def batch(self) -> None:
        core, inputs = self._build(SPACES[0]), self._tokens()
        together = _features(core, inputs, BATCH, STEPS)
        disturbed = inputs.copy()
        disturbed[:, 1:] = (disturbed[:, 1:] + 1) % SPACES[0].width
        _compare(
            _features(core, disturbed, BATCH, STEPS)[:, 0],
            together[:, 0],
            "other examples changed, and features",
        )
        alone = _features(core, inputs[:, :1], 1, STEPS)
        _compare(alone[:, 0], together[:, 0], "alone and in a batch, an example's features")

    def causal(self) -> None:
        core, inputs = self._build(SPACES[0]), self._tokens()
        before = _features(core, inputs, BATCH, STEPS)
        for cut in range(1, STEPS):
            later = inputs.copy()
            later[cut:] = (later[cut:] + 1) % SPACES[0].width
            _compare(
                _features(core, later, BATCH, STEPS)[:cut],
                before[:cut],
                f"inputs from step {cut} on changed, and so",
            )

    def capacity(self) -> None:
        core, inputs = self._build(SPACES[0]), self._tokens()
        exact = _features(core, inputs, BATCH, STEPS)
        for capacity in (STEPS + 1, 4 * STEPS):
            _compare(
                _features(core, inputs, BATCH, capacity), exact, f"capacity {capacity} and {STEPS}"
            )

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng([self._seed, 2])

    def _build(self, space: Space) -> Any:
        return self._spec.build(space, np.random.default_rng([self._seed, 0]))

    def _tokens(self) -> NDArray[Any]:
        return np.asarray(_inputs(SPACES[0], self._rng()))


@eqx.filter_jit
def _features(core: Any, inputs: Any, batch: int, capacity: int) -> Any:
    return core.unroll(core.start(batch, capacity), inputs)[1]


@eqx.filter_jit
def _both(core: Any, inputs: Any, key: Any) -> Any:
    """What `unroll` gives, and what the scan of `step` gives."""
    start = core.start(BATCH, STEPS)
    return core.unroll(start, inputs, key=key), Core.unroll(core, start, inputs, key=key)


def _inputs(space: Space, rng: np.random.Generator) -> Any:
    return draw(space, rng, (STEPS, BATCH))


def _like(leaf: Any, rng: np.random.Generator) -> Any:
    if not jnp.issubdtype(leaf.dtype, jnp.inexact):
        return jnp.zeros(leaf.shape, leaf.dtype)
    return jnp.asarray(rng.uniform(-0.5, 0.5, leaf.shape), leaf.dtype)


def _compare(found: Any, wanted: Any, complaint: str) -> None:
    """Broken unless two trees have equal shapes and nearly equal numbers."""
    shapes: tuple[Any, Any] = jax.tree.structure(found), jax.tree.structure(wanted)
    if shapes[0] != shapes[1]:
        raise Broken(f"{complaint}: {shapes[0]} instead of {shapes[1]}")
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        if one.shape != other.shape:
            raise Broken(f"{complaint}: shape {one.shape} instead of {other.shape}")
        one, other = np.asarray(one, np.float64), np.asarray(other, np.float64)
        largest = np.abs(one - other).max(initial=0.0)
        if not largest <= TOLERANCE * max(1.0, np.abs(other).max(initial=0.0)):
            raise Broken(f"{complaint} differ by up to {largest:.3g}")
