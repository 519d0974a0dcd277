"""The shortest stored networks of every released set, exact and not: `python
benchmarks/shortest.py`.

Scores every network that comes with the package, and every one stored under `published/bliss-*`, on
all four released training sets of its language, whichever set it was found on. Bits are those of
`quickstudy score mdl --activations linear,relu,tanh,sigmoid`. A network is exact if its certificate
proves it right for every string, or, on Dyck-2, which has no proof, if it is right on 5,000 strings
of the released list. Where there is neither proof nor counterexample and the list has no error, it
is marked "?". Prints the table of docs/explanation/grammars.md and the file and seed of every
network in it. Takes half a minute on one core.
"""

import json
import math
import pathlib
import sys
import tempfile
from collections.abc import Iterator

from shorten import right

from quickstudy.base.errors import UsageError
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.network import _NETWORKS, Network
from quickstudy.runs.results import read_folders
from quickstudy.runs.run_spec import make_task

ROOT = pathlib.Path(__file__).resolve().parent.parent
LANGUAGES = ("an-bn", "an-bn-cn", "an-bn-cn-dn", "an-bm-cnm", "dyck-1", "dyck-2")
SIZES = (100, 250, 500, 1000)
ACTIVATIONS = ("linear", "relu", "tanh", "sigmoid")
EXACT, WRONG, UNDECIDED = "exact", "not exact", "undecided"


def networks(language: str) -> dict[str, tuple[Network, str]]:
    """By canonical text, every network of a language and the first source of it."""
    found: dict[str, tuple[Network, str]] = {}
    for network, source in _all(language):
        found.setdefault(json.dumps(network.as_facts(), sort_keys=True), (network, source))
    return found


def _all(language: str) -> Iterator[tuple[Network, str]]:
    for file in sorted(_NETWORKS.glob("*.json")):
        if file.stem.partition("-")[2].removesuffix("-2023") == language:
            yield Network.read(file.stem), file.stem
    for folder in sorted((ROOT / "published").glob("bliss-*")):
        for record in read_folders([folder]).records.values():
            if record.part("task").get("id") != f"grammar/{language}":
                continue
            learned = (record.trace.get("facts") or {}).get("learned") or {}
            for factor, facts in learned.items():
                if isinstance(facts, dict) and "network" in facts:
                    shown = f"b = {factor}, seed {record.what.get('repetition')}"
                    yield Network.from_facts(facts["network"]), f"{folder.name} ({shown})"


def standing(network: Network, language: str) -> str:
    """Whether a network is right for every string of a language."""
    proved = None if language == "dyck-2" else network.certificate(language).right
    if proved is not None:
        return EXACT if proved else WRONG
    with tempfile.TemporaryDirectory() as folder:
        listed = right(
            network,
            make_task(f"grammar/{language}", "published"),
            pathlib.Path(folder) / "network.json",
        )
    return (EXACT if language == "dyck-2" else UNDECIDED) if listed else WRONG


def main() -> None:
    """Print the table and where its networks are from."""
    rows, sources = [], []
    for language in LANGUAGES:
        task = make_task(f"grammar/{language}", "published")
        trees = {
            size: Tree.of_strings(task.released_strings(100, size), len(task.vocabulary))
            for size in SIZES
        }
        best: dict[tuple[int, str], tuple[float, str]] = {}
        for network, source in networks(language).values():
            try:
                kind = standing(network, language)
            except UsageError as error:
                sys.stderr.write(f"{language}: {source}: {error}\n")
                continue
            names = [*ACTIVATIONS, *sorted({*network.activations} - {*ACTIVATIONS})]
            for size, tree in trees.items():
                bits = float(sum(network.all_bits(tree, names)))
                best[size, kind] = min(best.get((size, kind), (math.inf, "")), (bits, source))
        cells = []
        for size in SIZES:
            exact, *others = (
                best.get((size, kind), (math.inf, "")) for kind in (EXACT, WRONG, UNDECIDED)
            )
            kind = (WRONG, UNDECIDED)[others.index(min(others))]
            mark = "?" if kind == UNDECIDED else ""
            cells.append(f"{exact[0]:,.1f} ({min(others)[0]:,.1f}{mark})")
            sources.append(
                f"{language} / {size}: exact {exact[1]}; shortest other {min(others)[1]}, {kind}"
            )
        rows.append(f"| {language} | {' | '.join(cells)} |")
    sys.stdout.write(
        "\n".join(
            ["| language | 100 strings | 250 | 500 | 1,000 |", "|---|---:|---:|---:|---:|", *rows]
        )
    )
    sys.stdout.write("\n\n" + "\n".join(sources) + "\n")


if __name__ == "__main__":
    main()
