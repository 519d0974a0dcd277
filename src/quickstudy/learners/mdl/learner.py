"""Learners that are small networks with weights that can be read: one that searches for them, one
that is given one.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from quickstudy.base.errors import NotApplicable, nearest
from quickstudy.base.learner import Brief, Snapshot
from quickstudy.base.parameters import parameter
from quickstudy.base.registries import learner
from quickstudy.base.seeds import Streams
from quickstudy.base.spaces import Space, Tokens
from quickstudy.learners.host import Hosted, HostPupil
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.genes import MOST_UNITS, NAMES, Parts
from quickstudy.learners.mdl.network import Network, shipped
from quickstudy.learners.mdl.parallel_tempering import Tempering
from quickstudy.learners.mdl.search import Archipelago
from quickstudy.learners.mdl.speaking import NetworkHost

TEMPERING, EVOLUTION = "tempering", "evolution"
VERSIONS = {TEMPERING: 1, EVOLUTION: 2}
"""The version of each search; a change of one leaves the runs of the other their keys."""


class SearchingHost(NetworkHost):
    """Gathers strings until all have been shown, then searches. Before, it holds all symbols for
    equally likely.
    """

    def __init__(self, settings: Mdlrnn, brief: Brief, seed: int) -> None:
        symbols = max(brief.inputs.width, brief.outputs.width)
        if 2 * symbols > MOST_UNITS:
            raise NotApplicable(
                f"mdlrnn has room for {MOST_UNITS // 2} symbols, and there are {symbols}"
            )
        super().__init__(_silent(symbols), brief.outputs.width, softmax=settings.softmax)
        self._settings, self._budget, self._seed = settings, brief.budget, seed
        self._strings: list[tuple[list[int], list[int]]] = []
        self._search: Tempering | Archipelago | None = None
        self._kept: Snapshot | None = None
        self._found: dict[str, Any] = {}

    @property
    def bits(self) -> float:
        """|H| of the network it has found."""
        return self.network.bits(self._settings.allowed)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Gather a string; search when it is the last."""
        for _ in self.learning(inputs, targets):
            pass

    def learning(self, inputs: NDArray[Any], targets: NDArray[Any]) -> Iterator[None]:
        """As `learn`, with pauses in the search."""
        strings = [*self._strings, (np.asarray(inputs).tolist(), np.asarray(targets).tolist())]
        if len(strings) == self._budget:
            tree, generator = Tree.of(strings, self._symbols), np.random.default_rng(self._seed)
            self._search = self._settings.search_of(tree, generator)
            if self._kept is not None:
                self._search.restore(self._kept)
            while not self._search.done:
                self._search.go_on()
                yield
            network = Network.of_row(self._search.best, self._symbols)
            self.network, self._search, self._kept = network, None, None
            described, data = network.all_bits(tree, self._settings.allowed, self._settings.softmax)
            self._found = {"network": network.as_facts(), "h_bits": described, "d_bits": data}
        self._strings = strings

    def described(self) -> dict[str, Any]:
        """What it has found: the network, its bits, and those of the strings by it."""
        return self._found

    def snapshot(self) -> Snapshot:
        """The strings learned, the network, and a search that is not finished."""
        search = self._search.snapshot() if self._search else Snapshot({})
        arrays = {f"search/{name}": array for name, array in search.arrays.items()}
        facts = {"strings": self._strings, "search": dict(search.facts), "found": self._found}
        return Snapshot({"row": self.network.as_row(), **arrays}, facts)

    def restore(self, snapshot: Snapshot) -> None:
        """Be as at the snapshot."""
        self.network = Network.of_row(np.array(snapshot.arrays["row"], np.int32), self._symbols)
        self._strings = [
            (list(inputs), list(targets)) for inputs, targets in snapshot.facts["strings"]
        ]
        self._found = dict(snapshot.facts["found"])
        prefix = "search/"
        arrays = {
            name[len(prefix) :]: array
            for name, array in snapshot.arrays.items()
            if name.startswith(prefix)
        }
        self._search, self._kept = (
            None,
            Snapshot(arrays, snapshot.facts["search"]) if arrays else None,
        )


@learner("mdlrnn", version=1)
@dataclass(frozen=True)
class Mdlrnn:
    """Minimum description length recurrent network: the shortest description of network and
    strings, found by search.

    A network of few units, each weight a fraction of small integers, costs |H| bits; the strings,
    coded by its predictions, cost |D:H|. Their sum is minimised once, after all strings have been
    shown.

    Source: Lan, Geyer, Chemla and Katzir 2022; Lan, Chemla and Katzir 2023.
    Departures: forward cycles are never made; at most 60 units; as many outputs as inputs;
        exchanges are counted in generations, not by the clock; islands are threads of one process.

    Parameters
    ----------
    activations:
        Allowed activation functions, separated by `/`.
    products:
        Units may multiply.
    search:
        `tempering`: parallel tempering, replicas of one network at rising temperatures; or
        `evolution`, the published search.
    effort:
        Changes tried by `tempering`, in thousands.
    population:
        Networks per island.
    generations:
        Generations of each island.
    islands:
        Number of islands.
    exchange:
        Generations between two exchanges of networks.
    patience:
        Stop after so many generations without an improvement; 0 for never, as in the released
        program.
    softmax:
        Probabilities are the softmax of the outputs, not their shares.
    """

    activations: str = "linear/relu/tanh"
    products: bool = False
    search: str = parameter(TEMPERING, choices=(TEMPERING, EVOLUTION))
    effort: int = parameter(1_000, at_least=1)
    population: int = parameter(500, at_least=2)
    generations: int = parameter(25_000, at_least=1)
    islands: int = parameter(2, at_least=1)
    exchange: int = parameter(1_000, at_least=1)
    patience: int = parameter(0, at_least=0)
    softmax: bool = parameter(False, added=True)

    reads: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {"published": {"search": EVOLUTION}}
    small: ClassVar[Mapping[str, Any]] = {"effort": 10}

    def __post_init__(self) -> None:
        for name in self.allowed:
            if name not in NAMES:
                raise ValueError(f'no activation "{name}"; {nearest(name, NAMES)}')
        if len(set(self.allowed)) < len(self.allowed):
            raise ValueError(f"every activation once, got {self.activations}")

    @property
    def settings_version(self) -> int:
        """The version of the search."""
        return VERSIONS[self.search]

    @property
    def allowed(self) -> list[str]:
        """Names of activations."""
        return self.activations.split("/")

    def search_of(self, tree: Tree, generator: np.random.Generator) -> Tempering | Archipelago:
        """A search for the strings of a tree, not yet begun."""
        activations = np.array([NAMES.index(name) for name in self.allowed], np.int32)
        parts = Parts(tree.counts.shape[1], activations, self.products, self.softmax)
        if self.search == TEMPERING:
            return Tempering(tree, parts, generator, self.effort * 1_000)
        sizes = self.islands, self.population, self.generations, self.exchange, self.patience
        return Archipelago(tree, parts, generator, *sizes)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """A fresh pupil, of one lane."""
        return Hosted(lambda brief, seed: SearchingHost(self, brief, seed), Mdlrnn).begin(
            brief, streams
        )


@learner("network", version=1)
@dataclass(frozen=True)
class GivenNetwork:
    """A network from a file in neutral JSON; it does not learn.

    The package has these: `bliss-an-bn`, `bliss-an-bm-cnm`, `bliss-an-bn-cn`, `bliss-an-bn-cn-2023`
    and `bliss-dyck-1`, released with the paper; `built-an-bn` and `built-dyck-2`, built by hand;
    and `exact-an-bn`, `exact-an-bn-cn`, `exact-an-bn-cn-dn`, `exact-an-bm-cnm` and `exact-dyck-1`,
    the shortest exact ones that are known for 100 strings. A run is identified by the content of
    the file, wherever it is.

    Parameters
    ----------
    file:
        Path of the file, or one of the names above.
    content:
        Digest of the file, computed when it is read.
    precision:
        Precision of units and sums.
    softmax:
        As for `mdlrnn`.
    """

    file: str = parameter("bliss-an-bn", place=True)
    content: str = parameter("", derived=True)
    precision: str = parameter("float64", choices=("float32", "float64"))
    softmax: bool = parameter(False, added=True)

    learns: ClassVar[bool] = False
    checked_on: ClassVar[str] = "grammar/an-bn"
    reads: ClassVar[tuple[type[Space], ...]] = (Tokens,)
    gives: ClassVar[tuple[type[Space], ...]] = (Tokens,)

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        """What a name with these parameters does outside this package."""
        return f"reads {given['file']}" if shipped(given.get("file", "bliss-an-bn")) is None else ""

    def __post_init__(self) -> None:
        network = Network.read(self.file)
        digest = hashlib.sha256(
            json.dumps(network.as_facts(), sort_keys=True).encode()
        ).hexdigest()[:16]
        if self.content not in ("", digest):
            raise ValueError(
                f"{self.file} has changed: its content is {digest}, not {self.content}"
            )
        object.__setattr__(self, "content", digest)

    def begin(self, brief: Brief, streams: Sequence[Streams]) -> HostPupil:
        """A pupil that is finished before it begins. Raises NotApplicable for another alphabet than
        its own.
        """
        network = Network.read(self.file)
        if (brief.inputs.width, brief.outputs.width) != (network.symbols, network.answers):
            raise NotApplicable(
                f"{pathlib.Path(self.file).name} is a network {network.sizes}, and there are"
                f" {' and '.join(map(str, sorted({brief.inputs.width, brief.outputs.width})))}"
            )
        return Hosted(
            lambda brief, seed: _Given(network, self.precision, self.softmax), GivenNetwork
        ).begin(brief, streams)


class _Given(NetworkHost):
    learns = False

    def __init__(self, network: Network, precision: str, softmax: bool) -> None:
        super().__init__(network.spread(), network.answers, precision, softmax)

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Nothing is learned."""


def _silent(symbols: int) -> Network:
    """A network without an edge: its outputs sum to nothing, and that is read as uniform."""
    return Network(symbols, ("linear",) * 2 * symbols, (False,) * 2 * symbols, {}, {})
