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
        ..., "--language", help="an-bn, an-bn-cn, an-bn-cn-dn, an-bm-cnm, dyck-1 or dyck-2."
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
    import zlib

    from quickstudy.base.errors import UsageError, nearest
    from quickstudy.cli.score.grammar import check_alphabet, language_task
    from quickstudy.learners.mdl.evaluation import Tree
    from quickstudy.learners.mdl.genes import NAMES
    from quickstudy.learners.mdl.network import Network

    task, network = language_task(language), Network.read(file)
    check_alphabet(network, task, file)
    allowed = [name.strip() for name in activations.replace("/", ",").split(",")]
    for name in allowed:
        if name not in NAMES:
            raise UsageError(f'no activation "{name}"; {nearest(name, NAMES)}')
    if missing := sorted({*network.activations} - {*allowed, "linear"}):
        # The bits are still well defined: as many are paid for a choice as there are names, and
        # what each needs.
        say(
            f"{file} has units with {', '.join(missing)}, which --activations does not name",
            err=True,
        )
    tree = Tree.of_strings(task.released_strings(100, size), network.symbols)
    described, data = network.all_bits(tree, allowed, softmax)
    if packed:
        described = len(zlib.compress(network.code(allowed).encode()))
    facts = {"h_bits": described, "d_bits": data, "mdl_bits": described + data}
    if json:
        print_json({name: "inf" if math.isinf(value) else value for name, value in facts.items()})
    else:
        say(
            f"|H| {described}  |D:H| {data:.3f}  in all {described + data:.3f} bits  ({size}"
            f" strings of {task.id})"
        )
