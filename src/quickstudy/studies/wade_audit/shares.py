"""The audit of a published comparison: what there is to audit, the answers in sight, and what the
first test is worth.

Under the convention `corrected` everything is run, under `published` only what was published; the
page shows what there is of both.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from quickstudy.base.blocks import Block, Cell, Made, Name, Number, Section, Text, table
from quickstudy.base.registries import block, measure
from quickstudy.base.trace import Trace
from quickstudy.pages.study_request import CONVENTIONS, Request, Stage
from quickstudy.pages.table_helpers import (
    a_cell,
    compare,
    gap,
    halves,
    mean,
    mean_of,
    mean_rows,
    places,
    shared,
    under_each,
)
from quickstudy.report.statistics import ABOVE, FEWEST, LEVEL, UNTOLD
from quickstudy.report.words import counted
from quickstudy.runs.results import Values

SCORES = ("wade", "final-accuracy")
KINDS = ("exchange", "blank")
NETWORKS = ("leaking", "causal")
_REACTS = {True: "yes", False: "no", None: "?"}


@block("audited", version=1)
class Audited:
    """How many runs there are under each convention, and which are not there."""

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """All models under the conventions wanted."""
        yield Stage(
            [one for name in request.wanted for one in request.under(name).models()], request.seeds
        )

    def blocks(self, request: Request) -> Made:
        """One paragraph, and one for each convention that lacks something."""
        cells = {name: request.under(name).cells() for name in CONVENTIONS}
        said = [
            f"{a_cell(rows) or 'none'} under the convention {name}" for name, rows in cells.items()
        ]
        lines = [
            f"Everything below is computed from runs: {', '.join(said)}. Intervals are 95 %"
            f" intervals over runs, differences are over common seeds. Fewer than {FEWEST} pairs"
            " give no verdict."
        ]
        lines += [
            f"No finished runs under the convention {name}: {lacking}."
            for name, rows in cells.items()
            if (lacking := places(rows, lambda count: not count))
        ]
        return Made(
            [*map(Text, lines)], {"study": request.study.id, "version": request.study.version}
        )


def tampered(learner: str, how: str) -> str:
    """The learner that is tested with false answers in its inputs."""
    return f"tampered:learner={learner},how={how}"


@block("leak", version=1)
class Leak:
    """What the Transformer scores with and without the answers in sight."""

    def stages(self, request: Request) -> Iterator[Stage]:
        """The networks; then, on the tasks named, as they answer when the answer in their input is
        another.
        """
        settings, under = request.study.settings, request.under("published")
        networks = [settings[name] for name in NETWORKS if name in settings]
        if "published" not in request.wanted or not networks:
            return
        yield Stage(
            [under.setting(row, one) for row in request.rows for one in networks], request.seeds
        )
        rows = [row for row in request.rows if row.task in settings.get("exchange", [])]
        changed = [tampered(network, how) for network in networks for how in KINDS]
        seeds = min(request.seeds, int(settings.get("exchange_seeds", request.seeds)))
        yield Stage([under.setting(row, one) for row in rows for one in changed], seeds)

    def blocks(self, request: Request) -> Made:
        """Leaking against causal on every task, then the answers exchanged."""
        request = request.under("published")
        networks = {name: one for name in NETWORKS if (one := request.study.settings.get(name))}
        if len(networks) < len(NETWORKS):
            return Made([], {"leak": {}})
        titles = {score: request.score(score).title for score in SCORES}
        rows: list[list[Cell]] = []
        facts: dict[str, Any] = {}
        for row in request.rows:
            cells: list[Number] = []
            numbers: dict[str, Any] = {}
            for score in SCORES:
                one, other = (request.values(row, learner, score) for learner in networks.values())
                pair = compare(one, other)
                cells += [mean(one), mean(other), gap(pair)]
                numbers[score] = {
                    "leaking": mean_of(one),
                    "causal": mean_of(other),
                    "standing": pair.standing,
                }
            if any(cell.value is not None for cell in cells):
                rows.append([Name(row.label), *cells])
                facts[row.label] = numbers
        text = (
            "The published Transformer attends to the whole sequence, in which the answer stands"
            " one place after the question. The same network with a causal mask, trained and tested"
            " on the same schedule (convention published), shows what that is worth."
        )
        made: list[Block] = [Text(text)]
        about: dict[str, Any] = {"tasks": facts}
        if rows:
            heading = [
                (f"{title}, leaking", "causal", "leaking − causal") for title in titles.values()
            ]
            caption = f"Mean{halves(rows)}; differences over common seeds"
            made.append(
                table(
                    f"{request.study.id}-leak", caption, ["task", *itertools.chain(*heading)], rows
                )
            )
            made += [Text(_raised(title, score, facts)) for score, title in titles.items()]
            exchanged = _exchanged(request, networks)
            made += exchanged.blocks
            about["swap"] = exchanged.facts
        else:
            made.append(Text(f"There are no runs of {' or '.join(networks.values())}."))
        return Made([Section("The Transformer sees the answers", made, "leak")], {"leak": about})


def _raised(title: str, score: str, facts: Mapping[str, Any]) -> str:
    """On how many tasks the leak raises a score."""
    told = {
        label: standing
        for label, found in facts.items()
        if (standing := found[score]["standing"]) != UNTOLD
    }
    if not told:
        return f"Too few common runs to tell whether seeing the answers raises {title}."
    higher = [label for label, standing in told.items() if standing == ABOVE]
    return (
        f"Seeing the answers raises {title} on {len(higher)} of the {counted(len(told), 'task')}"
        f" with enough runs (interval above 0): {', '.join(higher) or 'none'}."
    )


def _exchanged(request: Request, networks: Mapping[str, str]) -> Made:
    """What trained networks answer when the answer in their input is exchanged or taken away."""
    rows: list[list[Cell]] = []
    facts: dict[str, Any] = {}
    for row in request.rows:
        for name, learner in networks.items():
            names = [learner, *(tampered(learner, how) for how in KINDS)]
            found = [request.values(row, one, "final-accuracy") for one in names]
            usual, *changed = shared(*found)  # so that the means of the three can be compared
            if not usual:
                continue
            standings = {compare(values, usual).standing for values in changed}
            # Runs of the untouched network may come from another machine, and differ in a question
            # by rounding.
            reacts = None if standings == {UNTOLD} else not standings <= {LEVEL, UNTOLD}
            rows.append([Name(row.label), name, mean(usual), *map(mean, changed), _REACTS[reacts]])
            means = {how: mean_of(values) for how, values in zip(KINDS, changed, strict=True)}
            facts.setdefault(row.label, {})[name] = {
                "as_trained": mean_of(usual),
                **means,
                "reacts": reacts,
            }
    if not rows:
        return Made([Text("There are no runs with exchanged answers yet.")], facts)
    falls, moved, still = (
        ", ".join(
            task for task, found in facts.items() if found.get(name, {}).get("reacts") is said
        )
        or "none"
        for name, said in (("leaking", True), ("causal", True), ("causal", False))
    )
    text = (
        "After training, the answer in the input is exchanged for a false one, and marked against"
        f" the true one. The leaking network reacts on {falls}; the causal one reacts on {moved}"
        f" and does not on {still}."
    )
    caption = (
        "Final test accuracy. A network reacts if the 95 % interval of the change over common"
        f" seeds lies apart from 0, in either way of tampering; ? with fewer than {FEWEST} pairs."
        " Tasks with one question a sequence"
    )
    heading = ("task", "network", "as trained", "answer exchanged", "answer taken away", "reacts")
    return Made([Text(text), table(f"{request.study.id}-swap", caption, heading, rows)], facts)


def first_share(trace: Trace, convention: str) -> float:
    """The share of WADE from thresholds that the first evaluation reaches; nan where WADE is 0.

    WADE is a sum over thresholds, each counted when it is first reached: cut after its first
    evaluation, a curve keeps just those terms.
    """
    wade = measure.get("wade")
    arrays = {name: array[:1] for name, array in trace.arrays.items()}
    whole = wade(trace, convention)["wade"]
    first = wade(dataclasses.replace(trace, arrays=arrays), convention)["wade"]
    return first / whole if whole > 0 else np.nan


@block("first", version=1)
class First:
    """How much of a score comes from the first evaluation, before much can be learned."""

    stages = Audited.stages

    def blocks(self, request: Request) -> Made:
        """Mean share over runs for every model and task, under both conventions."""
        text = (
            "A threshold counts by the time at which it is first reached, so that what the first"
            " evaluation happens to show counts most. As published, the first evaluation of a"
            " readout comes after a single question, that of a network after 8 sequences, and both"
            " count as time 1; corrected, time is in sequences for all."
        )
        found = under_each(request, "What the first evaluation is worth", "first", text, _first)
        return Made(found.blocks, {"first": found.facts})


def _first(request: Request) -> Made:
    columns, convention = request.columns, request.convention
    found: dict[tuple[str, ...], list[Values]] = {}
    for row in request.rows:
        traces = [request.traces(row, request.learners(row).get(column)) for column in columns]
        shares = [
            {seed: first_share(trace, convention) for seed, trace in own.items()} for own in traces
        ]
        found[(row.label,)] = [
            {seed: share for seed, share in own.items() if not np.isnan(share)} for own in shares
        ]
    rows = mean_rows(found)
    if not rows:
        return Made([Text(f"Convention {convention}: no runs.")])
    facts: dict[str, dict[str, Any]] = {}
    for place, column in enumerate(columns):
        means = {label: mean_of(own[place]) for (label, *_), own in found.items() if own[place]}
        facts |= {column: means} if means else {}
    ends = {
        column: [f"{end(means.values()):.0%}" for end in (min, max)]
        for column, means in facts.items()
    }
    ranges = "; ".join(
        f"{column} {' to '.join(dict.fromkeys(pair))}" for column, pair in ends.items()
    )
    caption = f"Share of WADE from the first evaluation, mean over runs{halves(rows)}, {convention}"
    shown = table(f"{request.study.id}-first-{convention}", caption, ("task", *columns), rows)
    text = f"From the task with the lowest share to that with the highest, {convention}: {ranges}."
    return Made([shown, Text(text)], facts)
