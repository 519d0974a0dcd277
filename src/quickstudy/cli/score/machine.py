"""`quickstudy score machine`: the complexity of a machine in a file."""

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
    """Score a machine: states, complexity and entropy rate of its minimal equivalent.

    A machine that is not unifilar is made so by belief states, from the stationary distribution or
    from `start`. Transient states do not count. A transducer is driven by independent uniform
    inputs.
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
            f"inputs: uniform, independent; at most {facts['channel_complexity']:.6f} bits over"
            " such inputs"
        )


def say_complexity(facts: dict[str, Any]) -> None:
    """Print the three numbers that all machines have."""
    say(f"topological complexity  {facts['topological_complexity']:.6f} bits")
    say(f"statistical complexity  {facts['statistical_complexity']:.6f} bits")
    say(f"entropy rate            {facts['entropy_rate']:.6f} bits a symbol")


def _made(facts: dict[str, Any]) -> str:
    left = facts["transient"]
    more = f" and {len(left) - 6} more" if len(left) > 6 else ""
    said = f"; transient and not counted: {', '.join(left[:6])}{more}" if left else ""
    return f"{'' if facts['unifilar'] else '; made unifilar by belief states'}{said}"
