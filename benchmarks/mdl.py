"""How fast the search by description length is, on one core: evaluations and reproductions a second
on a^n b^n with 100 strings, beside the same source without the compiler, in one run; then an island
of every language that has evolved for a while. `python benchmarks/mdl.py` writes a line for each.

Seconds are those of this process, so that others on the machine change little.
"""

import json
import os
import subprocess
import sys
import time

sys.path.pop(0)  # a file beside this one has the name of a package that Numba looks for

import numpy as np

from quickstudy.base import registries
from quickstudy.learners.mdl.code_length import Desk, evaluate
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.genes import EDGES, UNITS, Parts
from quickstudy.learners.mdl.network import Network
from quickstudy.learners.mdl.parallel_tempering import REPLICAS, ROUND, Tempering
from quickstudy.learners.mdl.search import Island
from quickstudy.numba_gateway import njit
from quickstudy.tasks.grammar.languages import EqualTwo

PARTS = Parts(3, np.array([0, 1, 3], np.int32), False)
PUBLISHED = {"evaluations": 1 / 1.43e-3, "reproductions": 2220.0}
"""Of the original program, on one core of another machine."""
LANGUAGES = ("an-bn", "an-bn-cn", "an-bn-cn-dn", "an-bm-cnm", "dyck-1", "dyck-2")
AIMS = {"evaluations": 60_000.0, "reproductions": 40_000.0}


@njit
def repeated(row, times, parts, tree, desk, bits):
    """Evaluate a network again and again."""
    for _ in range(times):
        evaluate(row, parts, 0.0, tree, desk, bits, np.inf)


def rates(scale):
    """By name, what is done in a second. scale: 1 for compiled code, less for plain."""
    tree = Tree.of_strings(EqualTwo().released_strings(100, 100), 3)
    row, desk, bits = Network.read("bliss-an-bn").as_row(), Desk.of(len(tree.read)), np.zeros(3)
    island = Island.settled(tree, PARTS, np.random.default_rng(0), max(4, int(500 * scale)))
    island.rows[:] = (
        row  # where an evolution has come to, not where it begins: larger networks, all possible
    )
    island.bits[:] = 178.0, 309.477, 309.477
    tempering = Tempering(tree, PARTS, np.random.default_rng(0), 10**9)
    times, generations = max(4, int(20_000 * scale)), max(1, int(40 * scale))
    works = {
        "evaluations": (lambda: repeated(row, times, PARTS, tree, desk, bits), times),
        "reproductions": (lambda: island.evolve(generations), generations * len(island.rows)),
    }
    if scale == 1:
        works["changes of tempering"] = (
            lambda: [tempering.go_on() for _ in range(4)],
            4 * ROUND * REPLICAS,
        )
    found = {}
    for name, (work, count) in works.items():
        if scale == 1:
            work()  # compiles
        seconds = []
        for _ in range(3 if scale == 1 else 1):
            began = time.process_time()
            work()
            seconds.append(time.process_time() - began)
        found[name] = count / min(seconds)
    return found


def evolved(name, generations=1000, measured=100):
    """Reproductions a second of an island of 500 networks that has evolved for so many generations,
    on 100 strings; the nodes of their tree, and units and edges of the network in the middle.
    """
    task = registries.task.get(f"grammar/{name}")()
    symbols = len(task.grammar.symbols)
    tree = Tree.of_strings(task.released_strings(100, 100), symbols)
    island = Island.settled(tree, PARTS._replace(symbols=symbols), np.random.default_rng(0), 500)
    island.evolve(generations)
    began = time.process_time()
    island.evolve(measured)
    rate = 500 * measured / (time.process_time() - began)
    return rate, len(tree.read), *np.median(island.rows[:, [UNITS, EDGES]], axis=0).astype(int)


def main():
    """Print a line for each rate."""
    if "NUMBA_DISABLE_JIT" in os.environ:
        sys.stdout.write(json.dumps(rates(0.01)))
        return
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    plain = json.loads(
        subprocess.run(
            [sys.executable, __file__], env=environment, capture_output=True, check=True
        ).stdout
    )
    for name, rate in rates(1).items():
        line = f"{rate:12,.0f} {name} a second"
        if name in plain:
            line += f", {rate / plain[name]:,.0f} times the plain source ({plain[name]:,.0f})"
        if name in AIMS:
            line += f"; aim {AIMS[name]:,.0f}, original {PUBLISHED[name]:,.0f}"
        sys.stdout.write(line + "\n")
    for name in LANGUAGES:
        rate, nodes, units, edges = evolved(name)
        line = (
            f"{rate:12,.0f} reproductions a second on {name}, {nodes} prefixes, {units} units,"
            f" {edges} edges"
        )
        sys.stdout.write(f"{line}: 25,000 generations in {25_000 * 500 / rate:,.0f} s\n")


if __name__ == "__main__":
    main()
