"""`quickstudy score checklist`: does an experiment state everything that its numbers need to be
compared with others?
"""

from __future__ import annotations

import pathlib
from collections.abc import Mapping
from typing import Any

import typer

from quickstudy.cli.output import INCLUDE, JSON, include_files, print_json, say


def checklist(
    file: pathlib.Path = typer.Argument(
        ..., help="JSON that states an experiment, by name; or a results folder."
    ),
    json: bool = JSON,
    include: list[str] = INCLUDE,
) -> None:
    """Say what is not stated of an experiment from elsewhere, or of the runs in a folder; of these
    also the spread of their scores, and how many have failed.

    Status 1 where something is missing: its numbers are not comparable.
    """
    from quickstudy.api.score.checklist import checklist as score

    include_files(include)
    found = score(file)
    verdicts, spreads = found.pop("verdicts"), found["spread"]
    if json:
        print_json(found if spreads else {name: found[name] for name in found if name != "spread"})
    else:
        for name, words in verdicts.items():
            say(f"{name}  {words}")
            for part, meaning in found["missing"][name].items():
                say(f"  {part}: {meaning}")
            if name in spreads:
                say(f"  {_in_words(spreads[name])}")
        if found["one_sided"]:
            say(found["one_sided"])
    raise typer.Exit(int(not found["comparable"]))


def _in_words(spread: Mapping[str, Any]) -> str:
    runs = f"{spread['runs']} runs, {spread['failed']} failed"
    if not spread["values"]:
        return f"{spread['score']}: {runs}"
    quartiles = f"quartiles {spread['lower_quartile']:.4g} and {spread['upper_quartile']:.4g}"
    middle = (
        f"mean {spread['mean']:.4g}, deviation {spread['sd']:.2g}, median {spread['median']:.4g},"
        f" {quartiles}"
    )
    return f"{spread['score']}: {middle}; {runs}"
