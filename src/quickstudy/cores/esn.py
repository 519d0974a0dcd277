"""Echo-state network: a large random recurrent layer that is never trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Reals, Space
from quickstudy.cores.core import (
    PRECISIONS,
    Array,
    Capabilities,
    InputWeights,
    Reservoir,
    at_precision,
)
from quickstudy.cores.topologies import TOPOLOGIES, joined
from quickstudy.jax_gateway import eqx, handed_over, jax, jnp, lax

SPARSE = 16
"""Entries of a matrix for each that is not zero, above which one stream is faster by a gather for
each term.
"""
TERMS = 32
"""That are written out in one sum."""


class EchoStateCore(Reservoir):
    """r <- (1 - leak) r + leak tanh(W r + W_in x + b). The state is (units, batch): a sparse W
    gathers whole rows.

    W comes in groups of units that take about equally many terms: unit i of a group adds
    strengths[k, i] * r[sources[k, i]] over k. noise: of inputs and of states, (2,), if there is
    any. beside: what passes the inputs on, if they are features too. late: the features are
    the state before the input was read.
    """

    inputs: InputWeights
    sources: tuple[Array, ...]
    strengths: tuple[Array, ...]
    bias: Array
    leak: Array
    noise: Array | None
    beside: InputWeights | None
    units: int = eqx.field(static=True)
    late: bool = eqx.field(static=True)

    @property
    def width(self) -> int:
        """One feature per unit, and one per input where they are features too."""
        return self.units + (0 if self.beside is None else self.beside.weights.shape[1])

    @property
    def capabilities(self) -> Capabilities:
        """It may be shaken while it learns; one stream alone may be read by the whole matrix."""
        return replace(super().capabilities, noisy=self.noise is not None, scans=True)

    def start(self, batch: int, capacity: int) -> Array:
        """All units at rest."""
        return jnp.zeros((self.units, batch), self.bias.dtype)

    def step(self, state: Array, x: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """One update. Where there is noise, and a key for it, the input and what the units take are
        shaken.
        """
        before, of_state = state, None
        if self.noise is not None and key is not None:
            of_input, of_state = jax.random.split(key)
            if isinstance(self.inputs.space, Reals):
                x = jnp.asarray(x, state.dtype) + self.noise[0] * _shaken(
                    of_input, jnp.shape(x), state.dtype
                )
        # Measured on a CPU, tokens a second at 64 sequences: a sum written out term by term is one
        # fused loop and gathers whole rows (300,000); one gather of (terms, units, batch) is stored
        # first (50,000); joining the groups by a concatenation makes XLA choose a group for every
        # number (60,000).
        drive, first = jnp.zeros_like(state), 0
        for sources, strengths in zip(self.sources, self.strengths, strict=True):
            drive = lax.dynamic_update_slice(
                drive, _gathered(state, sources, strengths), (first, 0)
            )
            first += sources.shape[1]
        drive = drive + self.inputs(x).T + self.bias[:, None]
        if self.noise is not None and of_state is not None:
            drive = drive + self.noise[1] * _shaken(of_state, drive.shape, drive.dtype)
        state = (1.0 - self.leak) * state + self.leak * jnp.tanh(drive)
        return state, self._shown((before if self.late else state).T, x)

    def _shown(self, states: Array, x: Any) -> Array:
        """(..., features) of states (..., units) and of what was read."""
        return states if self.beside is None else jnp.concatenate([states, self.beside(x)], axis=-1)

    def unroll(self, state: Array, xs: Any, *, key: Array | None = None) -> tuple[Array, Array]:
        """Many steps. One stream of real numbers is faster by the whole matrix than by a gather for
        each term, unless that is very sparse: at 100 units and 10 terms 2.6 times in float32 and
        1.3 times in float64, measured.
        """
        dense = self.units**2 <= SPARSE * sum(part.size for part in self.sources)
        shaken = self.noise is not None and key is not None
        if shaken or not (dense and state.shape[1] == 1 and isinstance(self.inputs.space, Reals)):
            return super().unroll(state, xs, key=key)
        matrix = self.matrix()
        drives = self.inputs(xs)[:, 0] + self.bias

        def step(before: Array, drive: Array) -> tuple[Array, Array]:
            state = (1.0 - self.leak) * before + self.leak * jnp.tanh(matrix @ before + drive)
            return state, before if self.late else state

        state, states = lax.scan(step, state[:, 0], drives)
        return state[:, None], self._shown(states[:, None], xs)

    def matrix(self) -> Array:
        """W in matrix form, (units, units)."""
        rows, first = [], 0
        for sources in self.sources:
            rows.append(
                jnp.broadcast_to(jnp.arange(sources.shape[1]) + first, sources.shape).ravel()
            )
            first += sources.shape[1]
        columns, values = (
            jnp.concatenate([part.ravel() for part in of]) for of in (self.sources, self.strengths)
        )
        return (
            jnp.zeros((self.units, self.units), self.bias.dtype)
            .at[jnp.concatenate(rows), columns]
            .add(values)
        )


def _shaken(key: Array, shape: tuple[int, ...], kind: Any) -> Array:
    return jax.random.uniform(key, shape, kind, -1.0, 1.0)


def _gathered(state: Array, sources: Array, strengths: Array) -> Array:
    """(units of a group, batch): what a group takes, term by term. A sum of many terms would
    compile for minutes: it is made in parts of equal size, in the same order.
    """

    def total(start: Any, sources: Array, strengths: Array) -> Any:
        pairs = zip(sources, strengths, strict=True)
        return sum((strength[:, None] * state[source] for source, strength in pairs), start)

    whole = len(sources) // TERMS * TERMS
    if whole <= TERMS:
        return total(0, sources, strengths)
    parts = [part[:whole].reshape(-1, TERMS, part.shape[1]) for part in (sources, strengths)]
    nothing = jnp.zeros((sources.shape[1], state.shape[1]), state.dtype)
    before, _ = lax.scan(lambda before, part: (total(before, *part), None), nothing, tuple(parts))
    return total(before, sources[whole:], strengths[whole:])


@core("esn", version=1)
@dataclass(frozen=True)
class EchoState:
    """Echo-state network: sparse random recurrent units that are not trained.

    Where real numbers are asked for, the usual parameters are 200 units, radius 0.9 and input_scale
    0.1; for whole strings 200 units; where answers are judged as a whole 40 units, radius 0.9 and
    input_scale 0.5; for learning by reward 300 units and radius 0.9.

    Source: Cisneros et al. 2022 (1,800 units, 10 terms, no rescaling: a spectral radius of about
        1.83), whose text has no biases.

    Parameters
    ----------
    units:
        Number of reservoir units.
    terms:
        Mean number of recurrent inputs per unit, for the topology `random`: each pair of units is
        connected with probability terms/units, and with fewer units than terms all are.
    radius:
        Spectral radius of the recurrent matrix; none leaves it as drawn, uniform in [-1, 1]. For
        `ring` and `line` the recurrent weight (none: 1).
    input_scale:
        Input weights are uniform in +- this.
    bias_scale:
        Two bias vectors are each uniform in +- this divided by the square root of `units`.
    leak:
        Leaking rate: the share of the state that is renewed per step.
    precision:
        float32, or float64 for the same weights computed in double precision.
    topology:
        `random`; `ring` or `line`, where each unit reads the one before it (Rodan and Tino 2011);
        or `lattice`, where it reads its neighbours on a grid.
    input_noise:
        Uniform noise of +- this on real inputs, during training only.
    state_noise:
        Uniform noise of +- this on the recurrent inputs, during training only.
    direct:
        The inputs are features too.
    late:
        The features of a step are the states before its input, as Wringe et al. write a reservoir;
        otherwise after it.
    """

    units: int = parameter(1800, at_least=1)
    terms: float = parameter(10.0, above=0)
    radius: float | None = parameter(None, above=0)
    input_scale: float = parameter(1.0, at_least=0)
    bias_scale: float = parameter(1.0, at_least=0)
    leak: float = parameter(1.0, above=0, at_most=1)
    precision: str = parameter("float32", choices=PRECISIONS, added=True)
    topology: str = parameter("random", choices=TOPOLOGIES, added=True)
    input_noise: float = parameter(0.0, at_least=0, added=True)
    state_noise: float = parameter(0.0, at_least=0, added=True)
    direct: bool = parameter(False, added=True)
    late: bool = parameter(False, added=True)

    frozen: ClassVar[bool] = True
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"written": {"bias_scale": 0.0}}
    # Measured on NARMA-10, 2,000 steps to learn from, NRMSE of `ridge`: 0.20; with what is usual
    # for symbols 0.74. Strings are of three to five symbols, and a test of them has 50 million
    # steps.
    usual: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "reals": {"units": 200, "radius": 0.9, "input_scale": 0.1},
        "strings": {"units": 200},
        "fitness": {"units": 40, "radius": 0.9, "input_scale": 0.5},
        "reward": {"units": 300, "radius": 0.9},
    }
    searched: ClassVar[Mapping[str, tuple[float, float]]] = {
        "radius": (0.01, 2.0),
        "input_scale": (0.0, 1.0),
        "bias_scale": (0.0, 1.0),
        "leak": (0.01, 1.0),
    }

    def build(self, inputs: Space, rng: np.random.Generator) -> EchoStateCore:
        """Weights in float32, drawn in the order recurrent, input, bias."""
        if self.input_noise and not isinstance(inputs, Reals):
            raise UsageError(
                "esn: input_noise is for inputs that are real numbers; give state_noise"
            )
        groups = joined(self.topology, self.units, self.terms, self.radius, rng)
        input_weights = rng.uniform(-1.0, 1.0, (inputs.width, self.units)) * self.input_scale
        bias = (
            rng.uniform(-1.0, 1.0, (2, self.units)).sum(axis=0)
            * self.bias_scale
            / np.sqrt(self.units)
        )
        noise = (self.input_noise, self.state_noise)
        reals = [input_weights, bias, self.leak, *(strengths for _, strengths in groups)]
        numbers = [np.asarray(sources, np.int32) for sources, _ in groups]
        (weights, biases, leak, *strengths), sources = handed_over(
            ([np.asarray(part, np.float32) for part in reals], numbers)
        )
        core = EchoStateCore(
            InputWeights(weights, inputs),
            tuple(sources),
            tuple(strengths),
            biases,
            leak,
            jnp.asarray(noise, jnp.float32) if any(noise) else None,
            InputWeights(jnp.eye(inputs.width), inputs) if self.direct else None,
            self.units,
            self.late,
        )
        return at_precision(core, self.precision)  # type: ignore[no-any-return]
