"""`quickstudy score machine`: the complexity of a machine from elsewhere."""

from __future__ import annotations

import pathlib
from typing import Any

import typer

from quickstudy.base.text import counted
from quickstudy.cli.output import JSON, print_json, say


def machine(
    file: pathlib.Path = typer.Argument(
        ...,
        help=(
            'JSON with "transitions": from, symbol, to, probability; with "input" too, a'
            " transducer."
        ),
    ),
    json: bool = JSON,
) -> None:
    """Score a machine: states, complexity and entropy rate of the smallest one that does the same.

    What is not unifilar is made so by beliefs, from the stationary distribution on or from `start`.
    States that are left for ever do not count. A transducer is driven by uniform inputs without
    memory.
    """
    from quickstudy.api.score.machine import machine as score

    facts = score(file)
    if json:
        print_json(facts)
        return
    say(f"{counted(facts['states'], 'state')} of {facts['states_given']} in {file}{_made(facts)}")
    say_complexity(facts)
    if "channel_complexity" in facts:
        say(
            f"inputs: uniform, without memory; at most {facts['channel_complexity']:.6f} bits over"
            " such inputs"
        )


def say_complexity(facts: dict[str, Any]) -> None:
    """The three numbers that machines have in common."""
    say(f"topological complexity  {facts['topological_complexity']:.6f} bits")
    say(f"statistical complexity  {facts['statistical_complexity']:.6f} bits")
    say(f"entropy rate            {facts['entropy_rate']:.6f} bits a symbol")


def _made(facts: dict[str, Any]) -> str:
    left = facts["transient"]
    more = f" and {len(left) - 6} more" if len(left) > 6 else ""
    said = f"; left for ever and not counted: {', '.join(left[:6])}{more}" if left else ""
    return f"{'' if facts['unifilar'] else '; made unifilar by beliefs'}{said}"
