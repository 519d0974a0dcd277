"""What was said in one life: bytes of the environment, the learner's own, and rewards, one under another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from quickstudy.base.blocks import Block, Details, Text
from quickstudy.base.catalogue import figure, task
from quickstudy.base.errors import NotApplicable
from quickstudy.base.parameters import configure
from quickstudy.base.trace import Trace
from quickstudy.machines.finite import machine_of
from quickstudy.pages.curriculum.machines import machine_graph
from quickstudy.protocols.curriculum import sessions_of

SIGNS = {1: "+", -1: "-", 0: "."}
"""Rewards as they stand under the bytes they came with."""
_ACROSS = 76
_MOST = 40
"""Rows of a session that are shown: the first."""
_MOST_CONFIGURATIONS, _MOST_STATES = 2000, 40
"""Of a machine that is quickly made, and of one that can be read as a picture."""


@figure("curriculum-life/run", version=1)
def transcript(what: Mapping[str, Any], trace: Trace) -> list[Block]:
    """Every task that was met, in turn; and the task itself as a transducer, where it is one small one."""
    if "replies" not in trace.arrays:
        return [Text("What was said was not kept; runs with --set replies=true have it.", "remark"), *_machine(what)]
    return [*_sessions(what, trace), *_machine(what)]


def _machine(what: Mapping[str, Any]) -> Iterator[Block]:
    named = what["task"]
    try:
        made = configure(named["id"], task.get(named["id"]), named["parameters"], what["convention"])
        found = machine_of(made, _MOST_CONFIGURATIONS)
    except NotApplicable:  # it is several tasks, or can be in too much
        return
    if found.machine.size <= _MOST_STATES:
        states = f"{found.machine.size} states"
        caption = f"The task as its smallest transducer, {states}. On a way: shown, reward | replies."
        yield Details("The task as a machine", [machine_graph("machine", found.machine, caption)])


def _sessions(what: Mapping[str, Any], trace: Trace) -> Iterator[Block]:
    for number, line in enumerate(sessions_of(what, trace)):
        id = f"curriculum/{line['task']}"
        found = configure(id, task.get(id), {}, what["convention"]).replay(line)
        right = sum(one["correct"] for one in found["judged"])
        summary = (
            f"{line['task']}: {len(found['environment']):,} bytes, {right:,} of {len(found['judged']):,} answers right"
        )
        yield Details(
            summary, [Text(aligned(found["environment"], line["replies"], found["rewards"]), "example")], number == 0
        )


def aligned(environment: str, replies: str, rewards: list[int]) -> str:
    """The three lines, cut into rows; a space is shown as `_`, and what cannot be printed as `·`."""
    signs = "".join(SIGNS[reward] for reward in rewards)
    rows = list[str]()
    for start in range(0, len(environment), _ACROSS):
        if len(rows) == _MOST:
            rows.append(f"… {len(environment) - start:,} bytes more")
            break
        parts = ("shown  ", environment), ("said   ", replies), ("reward ", signs)
        rows.append("\n".join(name + _plain(text[start : start + _ACROSS]) for name, text in parts))
    return "\n\n".join(rows)


def _plain(text: str) -> str:
    return "".join("_" if letter == " " else letter if letter.isprintable() else "·" for letter in text)
