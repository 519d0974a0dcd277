"""The complexity of a task as a quantity, so that studies can ask for it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from quickstudy.base.catalogue import quantity
from quickstudy.base.errors import NotApplicable
from quickstudy.machines.complexity import channel
from quickstudy.machines.finite import FiniteMachine, machine_of
from quickstudy.machines.graduality import description_length

_BITS = "bits of memory"
_SMALL = 60
"""States up to which the greatest complexity over inputs is searched for."""


@lru_cache(maxsize=64)
def machine_kept(task: Any) -> FiniteMachine:
    """The machine of a task, built once however many ask for it."""
    return machine_of(task)


@lru_cache(maxsize=64)
def machine_figures(task: Any) -> dict[str, float]:
    """Its figures, likewise."""
    return machine_kept(task).figures()


@quantity(
    "complexity",
    version=1,
    unit={
        "states": "states of the smallest transducer",
        "topological": _BITS,
        "uniform": _BITS,
        "right": _BITS,
        "description": "bits to write the machine down",
        "drawn": "configurations",
    },
    equation="C_0 = log2 of the states; C_X = H[pi_X], replies uniform, or, in a closed loop, always right",
)
def complexity(task: Any) -> dict[str, float]:
    """How much a task remembers: of its smallest transducer, over states that are come back to."""
    found, figures = machine_kept(task), machine_figures(task)
    return {
        "states": figures["states"],
        "topological": figures["topological_complexity"],
        "uniform": figures["complexity_uniform"],
        "right": figures["complexity_right"],
        "description": description_length(found.recurrent),
        "drawn": figures["states_as_drawn"],
    }


@quantity(
    "channel-complexity",
    version=1,
    unit=_BITS,
    equation="sup of C_X over memoryless inputs X, as far as it was found: a lower bound of the channel complexity",
)
def channel_complexity(task: Any) -> float:
    """The most that a task can be made to remember by inputs without memory."""
    machine = machine_kept(task).recurrent
    if machine.size > _SMALL:
        raise NotApplicable(
            f"the search over inputs is for machines of up to {_SMALL} states, and it has {machine.size}"
        )
    return channel(machine).complexity
