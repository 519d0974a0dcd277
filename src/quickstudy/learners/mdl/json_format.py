"""The neutral JSON form of a network: `n_inputs`, `n_outputs`, `n_units`; `activations` and
`unit_types` ("sum" or "product"), one per unit; `biases` [[unit, sign, numerator, denominator],
...]; `forward` and `recurrent`, [[source, target, sign, numerator, denominator], ...]. Units:
inputs, then outputs, then hidden ones. There are as many outputs as inputs, or one: its value, kept
between 0 and 1, is the chance of the second of two answers.

Up to 1,024 units, any number of edges, numerators and denominators of any size: |H| counts them
unreduced, values are computed with the nearest number of 64 bits (from 2^53 on not every whole
number is one), and exact arithmetic (`score grammar --precision exact`) with the fractions
themselves.
"""

from __future__ import annotations

import graphlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quickstudy.base.errors import UsageError, nearest
from quickstudy.learners.mdl.genes import NAMES

KINDS, TYPES = ("forward", "recurrent"), ("sum", "product")
LARGEST = 1024
"""Units of a network, at most: the bound of the publication. Only a search needs them to fit into a
row of genes.
"""
Weight = tuple[int, int]
"""A signed numerator and a denominator, unreduced: 2/2 is not 1/1."""
Edges = Mapping[tuple[str, int, int], Weight]
"""By kind, source and target."""


def parts_of(facts: Any, named: str) -> dict[str, Any]:
    """What a `Network` is made of. Raises UsageError with what is wrong, the value, and where."""

    def refuse(what: str) -> UsageError:
        return UsageError(f"{named}: {what}")

    if not isinstance(facts, Mapping):
        raise refuse(
            f"expected an object with n_inputs, n_outputs, n_units ..., got {type(facts).__name__}"
        )
    wanted = ("n_inputs", "n_outputs", "n_units", "activations", "unit_types", "biases", *KINDS)
    if missing := [name for name in wanted if name not in facts]:
        raise refuse(f"{', '.join(missing)} missing")
    symbols, outputs, units = (_whole(facts[name]) for name in wanted[:3])
    if not symbols or outputs not in (symbols, 1):
        raise refuse(
            f"n_outputs must be n_inputs, or 1, got {facts['n_outputs']!r} and"
            f" {facts['n_inputs']!r}"
        )
    if not units or not symbols + outputs <= units <= LARGEST:
        raise refuse(
            f"n_units must be from {symbols + outputs} to {LARGEST}, got {facts['n_units']!r}"
        )
    for name, known in (("activations", NAMES), ("unit_types", TYPES)):
        if not isinstance(facts[name], list) or len(facts[name]) != units:
            raise refuse(f"{name} must name one for each of {units} units, got {facts[name]!r:.80}")
        for unit, one in enumerate(facts[name]):
            if one not in known:
                raise refuse(
                    f'unit {unit}: no such {name[:-1].replace("_", " ")} "{one}";'
                    f" {nearest(str(one), known)}"
                )

    def read(entry: Any, what: str, count: int) -> tuple[list[int], Weight]:
        numbers = [_whole(one, negative=True) for one in entry] if isinstance(entry, list) else []
        if len(numbers) != count + 3 or None in numbers:
            raise refuse(f"{what} must be {count + 3} whole numbers, got {entry!r:.80}")
        *ends, sign, above, below = [int(one) for one in numbers if one is not None]
        if unknown := [end for end in ends if not 0 <= end < units]:
            raise refuse(f"{what} {entry!r}: there is no unit {unknown[0]}, only 0 to {units - 1}")
        if sign not in (1, -1) or above < 1 or below < 1:
            raise refuse(
                f"{what} {entry!r}: a weight is a sign (1 or -1), a numerator and a denominator"
                " from 1"
            )
        return ends, (sign * above, below)

    biases: dict[int, Weight] = {}
    for entry in _list(facts["biases"]):
        (unit,), weight = read(entry, "bias", 1)
        if unit in biases:
            raise refuse(f"bias of unit {unit} is there twice")
        biases[unit] = weight
    edges: dict[tuple[str, int, int], Weight] = {}
    twice = ""
    for kind in KINDS:
        for entry in _list(facts[kind]):
            (source, target), weight = read(entry, f"{kind} edge", 2)
            if (kind, source, target) in edges:
                twice = twice or f"{kind} edge {source} to {target} is there twice"
            edges[kind, source, target] = weight
    if found := cycle_in(edges):
        raise refuse(
            f"forward edges make a cycle: {' to '.join(map(str, found))}; one of them must be"
            " recurrent"
        )
    if twice:  # reported last: a cycle in the same file is harder to see
        raise refuse(twice)
    products = tuple(one == "product" for one in facts["unit_types"])
    return {
        "symbols": symbols,
        "activations": tuple(facts["activations"]),
        "products": products,
        "biases": biases,
        "edges": edges,
        "single": outputs < symbols,
    }


def weights_of(weights: Iterable[tuple[Sequence[int], Weight]]) -> list[list[int]]:
    """Entries of units or edges, in their order, with sign, numerator and denominator."""
    return sorted(
        [*ends, 1 if above > 0 else -1, abs(above), below] for ends, (above, below) in weights
    )


def cycle_in(edges: Edges) -> list[int]:
    """Units that need one another within a step, the first again at the end; nothing where there
    are none.
    """
    needs = graphlib.TopologicalSorter[int]()
    for kind, source, target in edges:
        if kind == "forward":
            needs.add(target, source)
    try:
        needs.prepare()
    except graphlib.CycleError as error:
        around: list[int] = error.args[1][:-1]
        least = around.index(min(around))
        return [*around[least:], *around[:least], around[least]]
    return []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _whole(value: Any, negative: bool = False) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and (negative or value >= 0)
    return value if fits else None
