"""The shortest network near a given one that is still right: `python benchmarks/shorten.py dyck-1
100 bliss-dyck-1`.

A cold search with the activations linear, relu, tanh and sigmoid begins at the networks that are
named, and after every round asks of all that are shorter than the best so far whether they are
right on 2,000 strings of the released list (5,000 of pairs and brackets). It knows the language by
that question, and so tells how short exact networks can be, not what a search finds that knows
strings alone. So the networks `exact-*` that come with the package were made.
"""

import pathlib
import sys

sys.path.pop(0)  # a file beside this one has the name of a package that Numba looks for

import numpy as np

from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.learners.mdl import parallel_tempering
from quickstudy.learners.mdl.code_length import Desk, evaluate
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.learner import GivenNetwork, Mdlrnn
from quickstudy.learners.mdl.network import Network
from quickstudy.protocols.marking import Marking
from quickstudy.protocols.outcomes import outcomes
from quickstudy.runs.run_spec import make_task
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.lists import TestList

ROUNDS, RESTART = 400, 100
"""Rounds of the search, and after how many it begins again at the best."""
LEARNER = Mdlrnn(activations="linear/relu/tanh/sigmoid", effort=10**6)


def right(network, task, file):
    """Whether it is right on the first strings of the released list."""
    network.write(file)
    brief = Brief(task.inputs, task.outputs, "cross-entropy", 2, 1)
    pupil = GivenNetwork(str(file)).begin(brief, [Streams(0, task.id, 0)])
    counted = isinstance(task.grammar, Counting)
    marking = Marking("det" if counted else "cat", (0.0,))
    (column,) = marking.columns()
    strings = TestList(
        task, "released", 0, 2000 if counted and len(task.grammar.stops) == 1 else 5000
    )
    (found,) = outcomes(
        pupil, strings, task.grammar, marking, lambda _, so_far: bool(so_far[column].any())
    )
    return not found[column].any()


def main(language, size, *names):
    """Search, and print every network that is shorter; the last stays in the file
    `shorter.json`.
    """
    task, file = make_task(f"grammar/{language}", "published"), pathlib.Path("shorter.json")
    tree = Tree.of_strings(task.released_strings(100, int(size)), len(task.vocabulary))
    best = min(
        (Network.read(name) for name in names),
        key=lambda one: sum(one.all_bits(tree, LEARNER.allowed)),
    )
    fewest, asked = sum(best.all_bits(tree, LEARNER.allowed)), set()
    parallel_tempering.COLDEST, parallel_tempering.HOTTEST, parallel_tempering.GUESSER = (
        2.0,
        12.0,
        0.0,
    )
    search, desk = LEARNER.search_of(tree, np.random.default_rng(0)), Desk.of(len(tree.read))
    for number in range(ROUNDS):
        if number % RESTART == 0:
            search.rows[:] = best.as_row()
            for row, bits in zip(search.rows, search.bits, strict=True):
                evaluate(row, search.parts, 0.0, tree, desk, bits, np.inf)
        search.go_on()
        bits = search.bits[:, 0] + search.bits[:, 2]
        for replica in np.argsort(bits):
            key = search.rows[replica].tobytes()
            if bits[replica] >= fewest - 1e-6 or key in asked:
                continue
            asked.add(key)
            network = Network.of_row(search.rows[replica], len(task.vocabulary))
            if right(network, task, file):
                best, fewest = network, float(bits[replica])
                sys.stdout.write(
                    f"{fewest:.3f} bits, {network.bits(LEARNER.allowed)} of them of itself\n"
                )
    best.write(file)
    proof = (
        best.certificate(task.id) if isinstance(task.grammar, Counting) else "brackets: no proof"
    )
    sys.stdout.write(f"{fewest:.3f} bits; {proof}\n")
    sys.stdout.write(
        f"{search.fewest[0] + search.fewest[2]:.3f} bits: the shortest, right or not\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
