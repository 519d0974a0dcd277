"""The description length of a network, and of released strings by it."""

from __future__ import annotations

import pathlib
import zlib
from typing import Any

import numpy as np

from quickstudy.api.score.grammar import check_alphabet, language_task
from quickstudy.base.errors import UsageError, nearest
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.genes import NAMES
from quickstudy.learners.mdl.network import Network
from quickstudy.tasks.grammar.languages import Written
from quickstudy.tasks.grammar.strings import String


def mdl(
    file: pathlib.Path,
    *,
    language: str,
    size: int = 100,
    activations: str = "linear,relu,tanh",
    softmax: bool = False,
    packed: bool = False,
) -> dict[str, Any]:
    """Bits |H| of a network, |D:H| of released strings (of a grammar of the user's: of strings
    drawn with seed 100), and their sum. `unnamed`: activations of its units that `activations` does
    not name.

    activations: all that a unit might have had; their number is paid for. softmax: chances are the
    softmax of the outputs, not their shares. packed: |H| is the length in bytes of the code of the
    network, packed by zlib.
    """
    task, network = language_task(language), Network.read(file)
    check_alphabet(network, task, file)
    allowed = [name.strip() for name in activations.replace("/", ",").split(",")]
    for name in allowed:
        if name not in NAMES:
            raise UsageError(f'no activation "{name}"; {nearest(name, NAMES)}')
    unnamed = sorted({*network.activations} - {*allowed, "linear"})
    tree = Tree.of_strings(_strings(task, size), network.symbols)
    described, data = network.all_bits(tree, allowed, softmax)
    if packed:
        described = len(zlib.compress(network.code(allowed).encode()))
    # The bits are well defined even for units whose activations are not named: the price of a
    # choice is the number of names.
    return {
        "h_bits": described,
        "d_bits": data,
        "mdl_bits": described + data,
        "task": task.id,
        "unnamed": unnamed,
    }


def _strings(task: Any, size: int) -> list[String]:
    if not isinstance(task, Written):
        return list(task.released_strings(100, size))
    return sorted(task.grammar.draws(np.random.default_rng(100), size), key=len)
