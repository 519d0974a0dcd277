"""The complexity of a task as a quantity, so that studies can ask for it."""

from __future__ import annotations

from typing import Any

from quickstudy.base.catalogue import quantity
from quickstudy.machines.complexity import channel
from quickstudy.machines.finite import machine_of
from quickstudy.machines.graduality import description_length

_BITS = "bits of memory"
_SMALL = 60
"""States up to which the greatest complexity over inputs is searched for."""


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
    found = machine_of(task)
    figures = found.figures()
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
    from quickstudy.base.errors import NotApplicable

    machine = machine_of(task).recurrent
    if machine.size > _SMALL:
        raise NotApplicable(
            f"the search over inputs is for machines of up to {_SMALL} states, and it has {machine.size}"
        )
    return channel(machine).complexity
