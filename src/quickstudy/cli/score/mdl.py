"""`quickstudy score mdl`: the description length of a network and of released strings by it."""

from __future__ import annotations

import math
import pathlib

import typer

from quickstudy.cli.output import JSON, print_json, say


def mdl(
    file: pathlib.Path = typer.Argument(
        ..., help="A network: JSON, or the name of one that comes with the package."
    ),
    language: str = typer.Option(
        ...,
        "--language",
        help="an-bn, an-bn-cn, an-bn-cn-dn, an-bm-cnm, dyck-1 or dyck-2; or a grammar of yours: its"
        " text, or a file.",
    ),
    size: int = typer.Option(
        100,
        "--size",
        min=1,
        max=100_000,
        help="Strings: released are 100, 250, 500 and 1000; any number is drawn so.",
    ),
    activations: str = typer.Option(
        "linear,relu,tanh",
        "--activations",
        help="All that a unit might have had: their number is paid for.",
    ),
    softmax: bool = typer.Option(
        False, "--softmax", help="Chances are the softmax of the outputs, not their shares."
    ),
    packed: bool = typer.Option(
        False, "--zlib", help="|H| is the length in bytes of its code, packed by zlib."
    ),
    json: bool = JSON,
) -> None:
    """Score a network in bits: |H| of itself, |D:H| of the strings, and their sum.

    With --zlib the sum is, as in the original's option, of bytes and bits.
    """
    from quickstudy.api.score.mdl import mdl as score

    found = score(
        file,
        language=language,
        size=size,
        activations=activations,
        softmax=softmax,
        packed=packed,
    )
    if found["unnamed"]:
        missing = ", ".join(found["unnamed"])
        say(f"{file} has units with {missing}, which --activations does not name", err=True)
    facts = {name: found[name] for name in ("h_bits", "d_bits", "mdl_bits")}
    if json:
        print_json({name: "inf" if math.isinf(value) else value for name, value in facts.items()})
    else:
        say(
            f"|H| {facts['h_bits']}  |D:H| {facts['d_bits']:.3f}  in all {facts['mdl_bits']:.3f}"
            f" bits  ({size} strings of {found['task']})"
        )
