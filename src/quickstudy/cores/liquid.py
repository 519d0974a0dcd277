"""Liquid-state machine: a column of spiking neurons that inputs disturb, never trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.parameters import parameter
from quickstudy.base.registries import core
from quickstudy.base.spaces import Space
from quickstudy.cores.core import Array, InputWeights, Reservoir
from quickstudy.jax_gateway import eqx, jnp, lax

MEMBRANE, SYNAPSE = 30.0, (3.0, 6.0)
"""Time constants in milliseconds: of a membrane; of the current that an exciting and an inhibiting
spike leave.
"""
THRESHOLD, RESET, BACKGROUND = 15.0, 13.5, 13.5
"""In millivolts above rest, at an input resistance of a megaohm; the background current is in
nanoamperes.
"""
REFRACTORY = (3.0, 2.0)
"""Milliseconds without a spike after one: of exciting neurons and of inhibiting ones."""
STRENGTHS = ((30.0, 60.0), (-19.0, -19.0))
"""Mean of a synapse, in nanoamperes, by what sends (exciting, inhibiting) and what receives."""
CHANCES = ((0.3, 0.2), (0.4, 0.1))
"""Of a synapse between neighbours, in the same order; with the distance it falls as a Gaussian."""
USE, RECOVERY, FACILITATION = (
    ((0.5, 0.05), (0.25, 0.32)),
    ((1100.0, 125.0), (700.0, 144.0)),
    ((50.0, 1200.0), (20.0, 60.0)),
)
"""Of dynamic synapses: the share that is used by a spike, and the time constants in which it
recovers and is raised.
"""


class Column(NamedTuple):
    """The state, each (units, batch) but for the last two, which are (2, units, batch) by what
    receives: membranes, currents left by exciting and by inhibiting spikes, milliseconds to rest,
    the traces that are shown, and how much is used of the resources.
    """

    membrane: Array
    excitation: Array
    inhibition: Array
    rest: Array
    trace: Array
    used: Array
    there: Array


class LiquidCore(Reservoir):
    """Leaky integrate-and-fire neurons with dynamic synapses, one millisecond at a time, `steps`
    for every input.

    weights: (receiving, sending), multiples of 1/16; releases are multiples of 1/256. So sums of
    currents are exact in any order, and no spike hangs on how many sequences are read side
    by side.
    """

    inputs: InputWeights
    weights: Array
    inhibits: Array
    receives: Array
    dynamics: Array
    fading: Array
    steps: int = eqx.field(static=True)

    @property
    def width(self) -> int:
        """One trace per neuron."""
        return int(self.weights.shape[0])

    def start(self, batch: int, capacity: int) -> Column:
        """All at the reset voltage, synapses rested."""
        blank = jnp.zeros((self.width, batch))
        twice = jnp.zeros((2, self.width, batch))
        return Column(blank + RESET, blank, blank, blank, blank, twice, twice + 1.0)

    def step(self, state: Column, x: Any, *, key: Array | None = None) -> tuple[Column, Array]:
        """The input is a current that is held for all milliseconds of the step. Nothing in it is
        random.
        """
        drive = self.inputs(x).T + BACKGROUND
        state = lax.fori_loop(0, self.steps, lambda _, now: self._millisecond(now, drive), state)
        return state, state.trace.T

    def _millisecond(self, now: Column, drive: Array) -> Column:
        leak = np.float32(np.exp(-1.0 / MEMBRANE))
        current = drive + now.excitation + now.inhibition
        membrane = jnp.where(now.rest > 0, RESET, leak * now.membrane + (1.0 - leak) * current)
        spikes = (membrane >= THRESHOLD).astype(jnp.float32)
        use, recovery, facilitation = self.dynamics  # each (2, units, 1)
        used = now.used * facilitation
        there = 1.0 - (1.0 - now.there) * recovery
        raised = used + use * (1.0 - used)
        released = jnp.round(raised * there * 256.0) / 256.0 * spikes
        excited, inhibited = jnp.zeros_like(membrane), jnp.zeros_like(membrane)
        for kind in (0, 1):  # what receives
            mine = self.receives[:, None] == kind
            excited += jnp.where(
                mine, self.weights @ jnp.where(self.inhibits[:, None], 0.0, released[kind]), 0.0
            )
            inhibited += jnp.where(
                mine, self.weights @ jnp.where(self.inhibits[:, None], released[kind], 0.0), 0.0
            )
        decay = [np.float32(np.exp(-1.0 / constant)) for constant in SYNAPSE]
        rests = jnp.where(self.inhibits, REFRACTORY[1], REFRACTORY[0])[:, None]
        fired = spikes > 0
        return Column(
            jnp.where(fired, RESET, membrane),
            decay[0] * now.excitation + excited,
            decay[1] * now.inhibition + inhibited,
            jnp.where(fired, rests, jnp.maximum(now.rest - 1.0, 0.0)),
            self.fading * now.trace + spikes,
            jnp.where(fired, raised, used),
            jnp.where(fired, there - raised * there, there),
        )


@core("liquid", version=1)
@dataclass(frozen=True)
class Liquid:
    """Liquid-state machine: a column of spiking neurons with dynamic synapses; not trained.

    One neuron in five is inhibitory. The features are exponential traces of the spikes.

    Source: Maass, Natschlaeger and Markram 2002.
    Departures: one set of constants per kind of synapse, without spread; synaptic strengths are
        gamma-distributed as in the paper; input synapses are static.

    Parameters
    ----------
    units:
        Neurons, on a grid of 3 x 3 x n.
    reach:
        Length scale of connections: two neurons at distance d are connected with a probability
        proportional to exp(-(d / reach)^2).
    milliseconds:
        Duration of one input.
    input_scale:
        Current in nanoamperes for an input of 1. A neuron is silent below a current of 15; the
        background is 13.5.
    share:
        Share of the neurons that an input reaches.
    fading:
        Milliseconds in which the trace of a spike decays to 1/e.
    """

    units: int = parameter(135, at_least=2)
    reach: float = parameter(2.0, above=0)
    milliseconds: int = parameter(10, at_least=1)
    input_scale: float = parameter(8.0, at_least=0)
    share: float = parameter(0.3, above=0, at_most=1)
    fading: float = parameter(30.0, above=0)

    frozen: ClassVar[bool] = True
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def build(self, inputs: Space, rng: np.random.Generator) -> LiquidCore:
        """Drawn in the order kinds, synapses, their strengths, inputs."""
        kind = (rng.permutation(self.units) < self.units // 5).astype(np.int64)
        weights = self.synapses(kind, rng)
        shape = inputs.width, self.units
        currents = (
            rng.uniform(-1.0, 1.0, shape) * self.input_scale * (rng.random(shape) < self.share)
        )
        constants = np.array([USE, RECOVERY, FACILITATION])[:, kind].transpose(0, 2, 1)[..., None]
        constants[1:] = np.exp(-1.0 / constants[1:])
        return LiquidCore(
            InputWeights(jnp.asarray(currents, jnp.float32), inputs),
            jnp.asarray(weights, jnp.float32),
            jnp.asarray(kind == 1),
            jnp.asarray(kind, jnp.int32),
            jnp.asarray(constants, jnp.float32),
            jnp.float32(np.exp(-1.0 / self.fading)),
            self.milliseconds,
        )

    def synapses(self, kind: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
        """(receiving, sending) strengths of neurons of these kinds, 1 for the inhibiting."""
        place = np.stack(np.unravel_index(np.arange(self.units), (3, 3, -(-self.units // 9)))).T
        apart = np.square(place[:, None] - place).sum(axis=2)
        chance = np.array(CHANCES)[kind[None, :], kind[:, None]] * np.exp(-apart / self.reach**2)
        there = (rng.random(chance.shape) < chance) & ~np.eye(self.units, dtype=np.bool_)
        strengths = np.array(STRENGTHS)[kind[None, :], kind[:, None]] * rng.gamma(
            1.0, 1.0, chance.shape
        )
        return np.asarray(
            np.where(there, np.clip(np.round(strengths * 16.0) / 16.0, -200.0, 200.0), 0.0)
        )
