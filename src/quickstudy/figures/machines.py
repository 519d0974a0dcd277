"""Machines of tasks: their complexity as a quantity, so that studies can ask for it; and as blocks:
what they are in numbers, every state with its ways, and the picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from quickstudy.base.blocks import (
    COUNT,
    FINE,
    Block,
    Cell,
    Edge,
    Graph,
    Name,
    Node,
    Number,
    Page,
    Text,
    table,
)
from quickstudy.base.errors import NotApplicable
from quickstudy.base.registries import quantity
from quickstudy.base.text import shortened
from quickstudy.machines.chains import Floats, recurrent_classes, stationary
from quickstudy.machines.description import description_length
from quickstudy.machines.entropies import channel
from quickstudy.machines.finite import FiniteMachine, machine_of
from quickstudy.machines.transducer import Transducer

DRAWN = 40
"""States of a machine up to which it is drawn."""
LISTED = 60
"""States whose ways are listed."""
_SIGNS = {1: "+", -1: "−", 0: "0"}
_LETTERS = 26
"""Of the words on an edge."""


def machine_page(task: str, found: FiniteMachine, stated: str = "") -> Page:
    """All of a task's machine. stated: how the task was cut down, if it was."""
    figures, machine = found.figures(), found.recurrent
    blocks: list[Block] = [
        *([Text(stated)] if stated else []),
        figures_table("machine", [(task, figures)]),
    ]
    if machine.size <= LISTED:
        right = found.right[recurrent_classes(found.machine)[0]]
        blocks.append(states_table("states", machine, stationary(machine), right))
    if machine.size <= DRAWN:
        blocks.append(
            machine_graph(
                "graph", machine, f"The machine of {task}: (next observation, reward | reply)."
            )
        )
    else:
        blocks.append(
            Text(f"{machine.size:,} states are too many to draw; {DRAWN} are not.", "remark")
        )
    under = [f"{figures['states']:,} states; inputs {symbols(machine.inputs)}"]
    return Page(f"The machine of {task}", blocks, under, "machine", figures)


def figures_table(name: str, rows: Sequence[tuple[str, dict[str, float]]]) -> Block:
    """One line a task: states and complexities."""
    columns = (
        ("states", "states", COUNT),
        ("left for ever", "transient_states", COUNT),
        ("C_0", "topological_complexity", FINE),
        ("C_X, uniform", "complexity_uniform", FINE),
        ("C, always right", "complexity_right", FINE),
        ("as drawn", "states_as_drawn", COUNT),
    )
    cells: list[list[Cell]] = [
        [Name(label), *(Number(figures[key], form=form) for _, key, form in columns)]
        for label, figures in rows
    ]
    caption = (
        "States of the smallest transducer; bits of memory: C_0 of all states alike, C_X under"
        " uniform replies without memory, C in the closed loop with an agent that makes no mistake."
        " As drawn: states before beliefs."
    )
    data = [(label, *(figures[key] for _, key, _ in columns)) for label, figures in rows]
    heading = ["task", *(title for title, _, _ in columns)]
    return table(name, caption, heading, cells, [("task", *(key for _, key, _ in columns)), *data])


def states_table(name: str, machine: Transducer, uniform: Floats, right: Floats) -> Block:
    """Every state: how often it is, and where replies lead."""
    said: list[list[str]] = [[] for _ in machine.states]
    for way in _ways(machine):
        reward = "" if machine.generator else f",{_SIGNS.get(way.reward, way.reward)}|{way.replies}"
        said[way.source] += [
            f"{seen}{reward} → {machine.states[target]}" for target, seen in way.fan
        ]
    rows: list[list[Cell]] = [
        [Name(state), *(Number(float(share), form=FINE) for share in shares), "; ".join(ways)]
        for state, ways, *shares in zip(machine.states, said, uniform, right, strict=True)
    ]
    caption = (
        "Share of the time in every state; ways: (next observation, reward | reply), − for a wrong"
        " answer."
    )
    return table(name, caption, ("state", "uniform", "always right", "ways"), rows)


def symbols(some: Iterable[Any]) -> str:
    """Symbols side by side; silence is seen."""
    return "".join("␣" if symbol == " " else str(symbol) for symbol in some)


def parted(output: Any) -> tuple[Any, int | None]:
    """An output as what is seen and the reward, None where there is none."""
    return output if isinstance(output, tuple) and len(output) == 2 else (output, None)


class _Way(NamedTuple):
    """What replies do in a state: one reward, and where what is seen next leads."""

    source: int
    reward: int
    fan: tuple[tuple[int, str], ...]
    replies: str


def _ways(machine: Transducer) -> list[_Way]:
    """All ways, replies that do the same together."""
    fans: dict[tuple[int, int, Any], dict[int, list[Any]]] = {}
    for source, given, shown, target, _ in machine.edges.tolist():
        seen, reward = parted(machine.outputs[shown])
        fans.setdefault((source, reward or 0, machine.inputs[given]), {}).setdefault(
            target, []
        ).append(seen)
    replies: dict[tuple[int, int, tuple[tuple[int, str], ...]], list[Any]] = {}
    for (source, reward, given), own in fans.items():
        fan = tuple(sorted((target, symbols(seen)) for target, seen in own.items()))
        replies.setdefault((source, reward, fan), []).append(given)
    return [_Way(*key, symbols(given) if given != [None] else "") for key, given in replies.items()]


def machine_graph(
    name: str, machine: Transducer, caption: str, whole: bool = True, label: str = ""
) -> Graph:
    """The picture. whole: with the ways of wrong answers and those into another instance, dashed;
    ways that many states have in common lead through one small node.
    """
    first = {state for state, _ in machine.start}
    ways = _ways(machine)
    aside = {
        way
        for way in ways
        if way.reward < 0 or (way.reward > 0 and {target for target, _ in way.fan} <= first)
    }
    shared = Counter((way.reward, way.fan) for way in aside)
    joints = {
        key: f"joint {number}"
        for number, key in enumerate(k for k, n in shared.items() if n > 2 and len(k[1]) > 1)
    }
    nodes = [
        Node(str(number), state, "start" if number in first else "")
        for number, state in enumerate(machine.states)
    ]
    edges: dict[tuple[str, str, str], list[str]] = {}
    for way in ways:
        if way in aside and not whole:
            continue
        kind, sign = (
            "back" if way in aside else "",
            f",{_SIGNS.get(way.reward, way.reward)}|{way.replies}",
        )
        joint = joints.get((way.reward, way.fan)) if way in aside else None
        if joint is not None:
            edges.setdefault((str(way.source), joint, kind), []).append(sign[1:])
            continue
        for target, seen in way.fan:
            edges.setdefault((str(way.source), str(target), kind), []).append(seen + sign)
    if whole:
        for (reward, fan), joint in joints.items():
            nodes.append(Node(joint, "wrong" if reward < 0 else "solved", "input"))
            for target, seen in fan:
                edges.setdefault((joint, str(target), ""), []).append(seen)
    drawn = [
        Edge(source, target, shortened(["  ".join(words)], _LETTERS)[0], kind, 0.2 if kind else 0.6)
        for (source, target, kind), words in edges.items()
    ]
    told = label or f"{machine.size} states and {len(machine.edges)} ways between them."
    return Graph(name, caption, told, nodes, drawn)


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
    equation=(
        "C_0 = log2 of the states; C_X = H[pi_X], replies uniform, or, in a closed loop, always"
        " right"
    ),
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
    equation=(
        "sup of C_X over memoryless inputs X, the largest found: a lower bound of the channel"
        " complexity"
    ),
)
def channel_complexity(task: Any) -> float:
    """The most that a task can be made to remember by inputs without memory."""
    machine = machine_kept(task).recurrent
    if machine.size > _SMALL:
        raise NotApplicable(
            f"the search over inputs is for machines of up to {_SMALL} states, and it has"
            f" {machine.size}"
        )
    return channel(machine).complexity
