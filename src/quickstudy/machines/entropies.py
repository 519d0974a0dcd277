"""How much a machine remembers, and how much of it is surprise: entropies in bits.

C_mu = H[pi] of the stationary distribution over causal states; of a transducer C_X = H[pi_X], which
goes by the input process X; C_0 = log2 of the number of states. C_X is of inputs that do not see
the output; a learner does, and what is found in a closed loop is called by the policy, never by X.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import optimize

from quickstudy.base.errors import UsageError
from quickstudy.machines.chains import Floats, stationary, stationary_under, the_recurrent, uniform
from quickstudy.machines.minimal import minimised
from quickstudy.machines.transducer import INPUT, OUTPUT, SOURCE, TARGET, Transducer

_ROUNDED = 10
"""Decimals to which beliefs are held to be the same, where only a sum over them is wanted."""
_LEVELS = 20_000
_ENOUGH = 1e-13
"""Bits a level may add when the sum of the excess entropy is ended."""


def entropy(chances: Floats) -> float:
    """H of a distribution, in bits. A chance of 0 adds nothing."""
    some = np.asarray(chances, dtype=float)
    some = some[some > 0]
    return float(abs(-(some * np.log2(some)).sum()))


def topological(machine: Transducer) -> float:
    """C_0: the logarithm of the number of states."""
    return math.log2(machine.size)


def complexity(machine: Transducer, given: Floats | Transducer | None = None) -> float:
    """C_mu of a machine that is given nothing; C_X of a transducer. given: see `stationary`; or the
    machine whose outputs are the inputs.
    """
    if isinstance(given, Transducer):
        return entropy(stationary_under(machine, given))
    return entropy(stationary(machine, given))


def entropy_rate(machine: Transducer, given: Floats | None = None) -> float:
    """h: the mean surprise of the next output when state and input are known."""
    policy = np.broadcast_to(
        uniform(machine) if given is None else given, (machine.size, len(machine.inputs))
    )
    shares = stationary(machine, given)[:, None] * policy
    edges, chances = machine.edges, machine.probabilities
    if not machine.unifilar:
        raise UsageError("the entropy rate is of a unifilar machine")
    return float(
        abs(-(shares[edges[:, SOURCE], edges[:, INPUT]] * chances * np.log2(chances)).sum())
    )


class Channel(NamedTuple):
    """The greatest C_X that was found. inputs: the chances of the memoryless inputs that reach
    it.
    """

    complexity: float
    inputs: Floats


def channel(machine: Transducer) -> Channel:
    """The largest C_X over memoryless inputs that gradient ascent from many starts finds.

    Inputs with a memory of their own may reach more, up to C_0; it is a lower bound of the channel
    complexity.
    """
    count = len(machine.inputs)
    if count == 1:
        return Channel(complexity(machine), np.ones(1))

    def inputs(places: Floats) -> Floats:
        powers = np.exp(np.append(places, 0.0) - max(0.0, float(places.max())))
        return np.asarray(powers / powers.sum())

    def loss(places: Floats) -> float:
        return -complexity(machine, inputs(np.clip(places, -12, 12)))

    starts = [
        np.zeros(count - 1),
        *(sign * np.eye(count - 1)[k] for k in range(count - 1) for sign in (2.0, -2.0)),
    ]
    if count == 2:
        starts = [np.array([place]) for place in np.linspace(-6, 6, 25)]
    tried = sorted(starts, key=loss)[:3]
    found = [
        optimize.minimize(
            loss, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12}
        )
        for start in tried
    ]
    best = min(found, key=lambda one: float(one.fun))
    return Channel(-float(best.fun), inputs(np.clip(best.x, -12, 12)))


def excess_entropy(machine: Transducer) -> float:
    """E = lim H(L) - L h of a machine that is given nothing: bits that the past tells of the
    future.

    Summed over the beliefs of an observer who has seen L outputs and began with the stationary
    distribution: each adds the entropy of its next output less that of an observer who knows the
    state. Ends where a level adds less than 1e-13.
    """
    if not machine.generator:
        raise UsageError("excess entropy is of a machine that is given nothing")
    recurrent = minimised(machine.only(the_recurrent(machine))).machine
    shares, size = stationary(recurrent), recurrent.size
    steps = np.zeros((len(recurrent.outputs), size, size))
    edges = recurrent.edges
    steps[edges[:, OUTPUT], edges[:, SOURCE], edges[:, TARGET]] = recurrent.probabilities
    known = np.array([entropy(steps[:, state].sum(axis=-1)) for state in range(size)])
    level, total = {_key(shares): (shares, 1.0)}, 0.0
    for _ in range(_LEVELS):
        later: dict[bytes, tuple[Floats, float]] = {}
        added = 0.0
        for belief, mass in level.values():
            parts = belief @ steps  # (output, state)
            chances = parts.sum(axis=1)
            added += mass * (entropy(chances) - float(belief @ known))
            for part, chance in zip(parts, chances, strict=True):
                if chance * mass > 1e-18 and part.max() < chance * (
                    1 - 1e-14
                ):  # a known state adds nothing
                    then = part / chance
                    key = _key(then)
                    before = later.get(key, (then, 0.0))[1]
                    later[key] = (then, before + mass * chance)
        total += added
        if not later or (added < _ENOUGH and sum(mass for _, mass in later.values()) < 1e-6):
            break
        level = later
    return max(total, 0.0)


def _key(belief: Floats) -> bytes:
    return np.round(belief, _ROUNDED).tobytes()
