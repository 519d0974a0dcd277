"""Figures 3 to 5 of the paper: three machines as drawn there and as computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from quickstudy.base.blocks import Block, Edge, Graph, Made, Node, Section, Text
from quickstudy.base.learner import Brief
from quickstudy.base.registries import block
from quickstudy.base.seeds import Streams
from quickstudy.base.task import spaces_of
from quickstudy.figures.machines import figures_table, machine_graph, machine_kept, symbols
from quickstudy.machines.finite import FiniteMachine
from quickstudy.machines.sharing import shared_structure
from quickstudy.pages.study_request import Request
from quickstudy.runs.run_spec import make_task
from quickstudy.tasks.curriculum.finite_loop import Place
from quickstudy.tasks.curriculum.rules import Perfect

STREAM = "curriculum/chain:members=micro-1/micro-5.1,successes=1"
STEPS = 46
_SIGNS = {1: "+", -1: "-", 0: "0"}


@block("gradual-figures", version=1)
class GradualFigures:
    """Figures 3, 4 and 5 as in the paper, not unifilar where instances share their symbols, and as
    the smallest transducers.
    """

    whole = True

    def blocks(self, request: Request) -> Made:
        """A section for each figure."""
        name, first, second = request.name, _machine("reduced-1"), _machine("reduced-2")
        letters = _machine("reduced:of=micro-9.1")
        shared = shared_structure(first.hidden, second.hidden)
        sections = [
            Section("What a learner sees", [*_stream()], "stream"),
            Section(
                "Figure 3: tasks 1 and 2",
                [*_third(name, first, second), Text(_embedded(shared))],
                "figure-3",
            ),
            Section("Figure 4: task 9.1", _fourth(name, letters), "figure-4"),
            Section("Figure 5: task 2, complete", _fifth(name, second), "figure-5"),
        ]
        figures = {"figure 3a": first, "figures 3b and 5": second, "figure 4": letters}
        return Made(
            sections, {"machines": {label: found.figures() for label, found in figures.items()}}
        )


def _machine(task: str) -> FiniteMachine:
    return machine_kept(make_task(f"curriculum/{task}", "corrected"))


def _stream() -> Iterator[Block]:
    """The byte stream: task 1, then task 5.1, answered by an agent that is shown the answers."""
    task = make_task(STREAM, "corrected")
    world = task.open(Streams(0, task.id, 0))
    perfect = Perfect(task, Brief(*spaces_of(task), "reward", task.horizon, STEPS), 0)
    perfect.watch(world)
    life = world.live(lambda byte, reward: perfect.act(byte, reward, False), STEPS)
    rows = {
        "environment": symbols(map(chr, life.observations)),
        "agent": symbols(map(chr, life.actions)),
        "reward": "".join(_SIGNS[int(reward)] for reward in (0, *life.rewards[:-1])),
    }
    yield Text("\n".join(f"{label:12}{row}" for label, row in rows.items()), "example")
    yield Text(
        f"{len(life.actions)} steps of {STREAM}, with an agent that is shown the answers; ␣ is a"
        " space. Nothing marks where an instance or a task ends.",
        "remark",
    )


def _third(name: str, first: FiniteMachine, second: FiniteMachine) -> list[Block]:
    blocks: list[Block] = [
        Text(
            "Two instances, five rewards in a row; errors and switches are left out. State:"
            " instance, group of the next symbol (L: letters), rewards in a row."
        )
    ]
    for letter, found in (("a", first), ("b", second)):
        for kind, machine in (("as drawn", found.hidden), ("as a transducer", found.machine)):
            caption = f"Figure 3{letter}, {kind}: {machine.size} states."
            blocks.append(
                machine_graph(
                    f"{name}-figure-3{letter}-{kind.replace(' ', '-')}",
                    machine,
                    caption,
                    whole=False,
                )
            )
    return blocks


def _embedded(shared: Any) -> str:
    return (
        f"As they are drawn, task 1 embeds in task 2: {shared.state_containment:.0%} of its states"
        f" and {shared.containment:.0%} of its ways, which are {shared.state_coverage:.0%} of the"
        f" states of task 2{'' if shared.exact else ' (lower bounds)'}."
    )


def _fourth(name: str, found: FiniteMachine) -> list[Block]:
    """States in which the environment speaks are merged, as in the paper; the agent's replies are
    left.
    """
    loop: Any = found.source
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str], dict[str, None]] = {}
    for configuration in found.configurations:
        source = _merged(configuration)
        nodes.setdefault(source, Node(source, source, "start" if source == "text 0" else ""))
        for given in (loop.right(configuration), *loop.inputs):
            for (seen, reward), later in loop.after(configuration, given):
                target = _merged(later)
                wrong = reward < 0 or (given != loop.right(configuration) and target != source)
                if wrong or (source == target):
                    continue
                edges.setdefault((source, target), {})[
                    f"{symbols(seen)},{_SIGNS[reward]}|{symbols(given)}"
                ] = None
    drawn = [
        Edge(
            source,
            target,
            "  ".join(words) if len(words) < 3 else "",
            "back" if target == "text 0" else "",
        )
        for (source, target), words in edges.items()
    ]
    caption = (
        "Figure 4 with two letters and two rewards in a row: the environment's text is one state,"
        " errors left out."
    )
    figures = found.figures()
    met = {
        end for pair in edges for end in pair
    }  # who makes no error is never where an answer is wrong already
    kept = [node for node in nodes.values() if node.id in met]
    graph = Graph(
        f"{name}-figure-4", caption, f"Task 9.1 in {len(kept)} merged states.", kept, drawn
    )
    return [graph, figures_table(f"{name}-figure-4-machine", [("task 9.1", figures)])]


def _merged(place: Place) -> str:
    if place.over or place.question is None or place.rest:
        return f"text {0 if place.over else place.run}"
    letter = place.question.text[-2:-1].decode()
    return f"{letter}: {symbols(map(chr, place.reply)).replace(chr(0), '×') or '?'} {place.run}"


def _fifth(name: str, found: FiniteMachine) -> list[Block]:
    drawn, true = found.hidden, found.machine
    return [
        Text(
            "After an instance is solved the output does not show which one is next. As drawn,"
            " that arrow leads to any of them, and state, reply and output do not fix the next"
            " state; the transducer has states in which both are still possible."
        ),
        machine_graph(
            f"{name}-figure-5-as-drawn", drawn, f"As drawn: {drawn.size} states, not unifilar."
        ),
        machine_graph(f"{name}-figure-5", true, f"As the smallest transducer: {true.size} states."),
    ]
