"""Networks on a page: those that are given, and the best that a search has found; and the latter
from Python.
"""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Iterator
from typing import Any

from quickstudy.base.blocks import COUNT, Block, Cell, Made, Name, Number, Section, Text, table
from quickstudy.base.errors import UsageError
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow
from quickstudy.base.trace import Trace
from quickstudy.figures.string_outcomes import learned
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.mdl.evaluation import Tree
from quickstudy.learners.mdl.network import Network
from quickstudy.pages.published_table import Beside
from quickstudy.pages.study_request import Request
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.results import ResultsFolder
from quickstudy.runs.run_spec import make_task

SIZES = (100, 250, 500, 1000)
"""Of the released training sets."""
ALLOWED = ("linear", "relu", "tanh")
"""Activations of the published search; those of a network that has others count as allowed too."""


@block("networks", version=1)
class Networks(Beside):
    """Every different network of a study: its picture, its bits on the released sets, and what is
    proved of it.

    Given ones (`network:file=`), and of a search the network with the fewest bits among its runs on
    a row.
    """

    def blocks(self, request: Request) -> Made:
        """A section for each, and a table of their bits."""
        lines, sections, facts = list[list[Cell]](), list[Block](), {}
        for row, title, network, fewest in _networks(request):
            task = make_task(row.task, request.convention)
            allowed = [*ALLOWED, *sorted({*network.activations} - {*ALLOWED})]
            bits = [network.all_bits(_tree(task, size), allowed) for size in SIZES]
            proof = _proof(network, task)
            name = f"{request.name}-{len(sections) + 1}"
            graph = network.graph(task.vocabulary, name)
            caption = f"{graph.caption} {fewest}".strip()
            sections.append(
                Section(
                    title,
                    [dataclasses.replace(graph, caption=caption), Text(proof)],
                    name=name,
                    listed=False,
                )
            )
            numbers = [
                Number(data, word=f"{data:,.3f}" if math.isfinite(data) else "∞")
                for _, data in bits
            ]
            lines.append([Name(title, target=name), Number(bits[0][0], form=COUNT), *numbers])
            facts[title] = {
                "network": network.as_facts(),
                "h_bits": bits[0][0],
                "d_bits": dict(zip(map(str, SIZES), (data for _, data in bits), strict=True)),
                "certificate": proof,
            }
        if not sections:
            return Made([Text("No network has been found yet.", "note")])
        caption = (
            "Bits of each network, and of the released training sets of 100 to 1,000 strings by it;"
            " ∞: a string is held for impossible."
        )
        heading = ["network", "|H|", *(f"|D:H|, {size:,}" for size in SIZES)]
        return Made(
            [table(f"{request.name}-bits", caption, heading, lines), *sections], {"networks": facts}
        )


def _networks(request: Request) -> Iterator[tuple[StudyRow, str, Network, str]]:
    """Row, title, network and where it is from."""
    seen: set[str] = set()
    for row in request.rows:
        for column in request.columns:
            learner = row.learner(column, request.convention)
            if learner is None:
                continue
            if learner.startswith("network"):
                chosen = choose_learner(learner, request.convention)
                made: Any = chosen.make(None)
                if (row.task + made.content) not in seen:
                    seen.add(row.task + made.content)
                    yield (
                        row,
                        f"{row.label}: {pathlib.Path(made.file).stem}",
                        Network.read(made.file),
                        "",
                    )
                continue
            found = [
                part for trace in request.traces(row, learner).values() for part in learned(trace)
            ]
            if found:
                own = min(found, key=lambda one: one["h_bits"] + one["d_bits"])
                fewest = (
                    f"The fewest bits of {len(found)}: {own['h_bits']:g} + {own['d_bits']:.2f}."
                )
                yield row, f"{row.label}: {column}", Network.from_facts(own["network"]), fewest


def _tree(task: Any, size: int) -> Tree:
    return Tree.of_strings(task.released_strings(100, size), len(task.vocabulary))


def _proof(network: Network, task: Any) -> str:
    try:
        return f"{network.certificate(task.id)}."
    except UsageError:
        return f"{task.id}: proofs are for languages of counters."


def best(task: str, learner: str = "mdlrnn", out: str | pathlib.Path = "results") -> Network:
    """The best network that runs of a search have found: with the largest B, then the largest
    reach, then the fewest bits. Raises UsageError where the folder has none.
    """
    found: list[tuple[Any, Trace]] = []
    results = ResultsFolder(pathlib.Path(out)).table()
    for record in results.records.values():
        if (
            record.labels.get("task") == task
            and record.labels.get("learner") == learner
            and record.status == "ok"
        ):
            names = ("b-index", "log-reach", "mdl-bits")
            index, reach, bits = (results.value(record, name) for name in names)
            found.append(((-index, -reach, bits), load_trace(out, record)))
    found = [one for one in found if learned(one[1])]
    if not found:
        raise UsageError(
            f'{out} has no run of "{learner}" on {task} that has found a network; run it first'
        )
    (index, *_), trace = min(found, key=lambda one: one[0])
    own = trace.facts["learned"].get(f"{-index:g}") or learned(trace)[0]
    return dataclasses.replace(Network.from_facts(own["network"]), language=task)
