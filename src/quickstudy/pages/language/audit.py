"""The audit of a published comparison: what there is to audit, the answers in sight, and what the first test is worth.

Under the convention `corrected` everything is run, under `published` only what was published; the page shows what there
is of both.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from quickstudy.base.blocks import Block, Cell, Made, Name, Section, Text
from quickstudy.base.catalogue import block, measure
from quickstudy.base.study import StudyRow
from quickstudy.base.trace import Trace
from quickstudy.pages.cells import a_cell, compare, gap, half_words, listed, mean, mean_of, places, shared, table
from quickstudy.pages.request import CONVENTIONS, Request, Stage
from quickstudy.report.statistics import ABOVE, FEWEST, LEVEL, UNTOLD, Values
from quickstudy.report.words import counted

SCORES = ("wade", "final-accuracy")
KINDS = ("exchange", "blank")
_REACTS = {True: "yes", False: "no", None: "?"}


@block("audited", version=1)
class Audited:
    """How many runs there are under each convention, and which are not there."""

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """All models under the conventions wanted."""
        yield Stage([one for name in request.wanted for one in request.models(name)], request.seeds)

    def blocks(self, request: Request) -> Made:
        """One paragraph, and one for each convention that lacks something."""
        cells = {name: request.cells(name) for name in CONVENTIONS}
        said = [f"{a_cell(rows) or 'none'} under the convention {name}" for name, rows in cells.items()]
        lines = [
            f"Everything below is computed from runs: {', '.join(said)}. Intervals are 95 % intervals over runs, "
            f"differences are over common seeds. Fewer than {FEWEST} pairs give no verdict."
        ]
        lines += [
            f"No finished runs under the convention {name}: {lacking}."
            for name, rows in cells.items()
            if (lacking := places(rows, lambda count: not count))
        ]
        return Made([*map(Text, lines)], {"study": request.study.id, "version": request.study.version})


def tampered(learner: str, how: str) -> str:
    """The learner that is tested with false answers in its inputs."""
    return f"tampered:learner={learner},how={how}"


@block("leak", version=1)
class Leak:
    """What the Transformer scores with and without the answers in sight."""

    def stages(self, request: Request) -> Iterator[Stage]:
        """The networks; then, on the tasks named, as they answer when the answer in their input is another."""
        settings = request.study.settings
        networks = _networks(request)
        if "published" not in request.wanted or not networks:
            return
        yield Stage([request.setting(row, one, "published") for row in request.rows for one in networks], request.seeds)
        changed = [
            request.setting(row, tampered(network, how), "published")
            for row in request.rows
            if row.task in settings.get("exchange", [])
            for network in networks
            for how in KINDS
        ]
        yield Stage(changed, min(request.seeds, int(settings.get("exchange_seeds", request.seeds))))

    def blocks(self, request: Request) -> Made:
        """Leaking against causal on every task, then the answers exchanged."""
        networks = _networks(request)
        if not networks:
            return Made([], {"leak": {}})
        rows: list[list[Cell]] = []
        facts: dict[str, Any] = {}
        for row in request.rows:
            found = {score: [request.values(row, one, score, "published") for one in networks] for score in SCORES}
            if any(any(pair) for pair in found.values()):
                gaps = {score: compare(*pair) for score, pair in found.items()}
                cells = ([*map(mean, pair), gap(gaps[score])] for score, pair in found.items())
                rows.append([Name(row.label), *itertools.chain.from_iterable(cells)])
                facts[row.label] = {
                    score: {"leaking": mean_of(one), "causal": mean_of(other), "standing": gaps[score].standing}
                    for score, (one, other) in found.items()
                }
        made: list[Block] = [
            Text(
                "The published Transformer attends to the whole sequence, in which the answer stands one place after "
                "the question. The same network with a causal mask, trained and tested on the same schedule "
                "(convention published), shows what that is worth."
            )
        ]
        about: dict[str, Any] = {"tasks": facts}
        if rows:
            titles = {score: request.score(score).title for score in SCORES}
            heading = [
                word for title in titles.values() for word in (f"{title}, leaking", "causal", "leaking − causal")
            ]
            caption = f"Mean{half_words(rows)}; differences over common seeds"
            made.append(table(f"{request.study.id}-leak", caption, ["task", *heading], rows))
            made += [Text(_raised(titles[score], score, facts)) for score in SCORES]
            exchanged = _exchanged(request, *networks)
            made += exchanged.blocks
            about["swap"] = exchanged.facts
        else:
            made.append(Text(f"No runs of {' or '.join(networks)} are there."))
        return Made([Section("The Transformer sees the answers", made, "leak")], {"leak": about})


def _networks(request: Request) -> list[str]:
    """The two that are compared, or none: leaking and causal."""
    known = [request.study.settings.get(name) for name in ("leaking", "causal")]
    return known if all(known) else []


def _raised(title: str, score: str, facts: Mapping[str, Any]) -> str:
    """On how many tasks the leak raises a score."""
    found = {label: scores[score]["standing"] for label, scores in facts.items()}
    told = {label: standing for label, standing in found.items() if standing != UNTOLD}
    if not told:
        return f"Too few common runs to tell whether seeing the answers raises {title}."
    higher = [label for label, standing in told.items() if standing == ABOVE]
    return (
        f"Seeing the answers raises {title} on {len(higher)} of the {counted(len(told), 'task')} that can be told "
        f"(interval above 0): {listed(higher)}."
    )


def _exchanged(request: Request, leaking: str, causal: str) -> Made:
    """What trained networks answer when the answer in their input is exchanged or taken away."""
    rows: list[list[Cell]] = []
    facts: dict[str, Any] = {}
    for row in request.rows:
        for name, learner in (("leaking", leaking), ("causal", causal)):
            names = [learner, *(tampered(learner, how) for how in KINDS)]
            found = [request.values(row, one, "final-accuracy", "published") for one in names]
            usual, *changed = shared(*found)  # so that the means of the three can be compared
            if not usual:
                continue
            standings = {compare(values, usual).standing for values in changed}
            # Runs of the untouched network may come from another machine, and differ in a question by rounding.
            reacts = None if standings == {UNTOLD} else not standings <= {LEVEL, UNTOLD}
            rows.append([Name(row.label), name, mean(usual), *map(mean, changed), _REACTS[reacts]])
            means = {how: mean_of(values) for how, values in zip(KINDS, changed, strict=True)}
            facts.setdefault(row.label, {})[name] = {"as_trained": mean_of(usual), **means, "reacts": reacts}
    if not rows:
        return Made([Text("The answers have not been exchanged yet: no such runs are there.")], facts)
    falls, moved, still = (
        [task for task, found in facts.items() if found.get(name, {}).get("reacts") is said]
        for name, said in (("leaking", True), ("causal", True), ("causal", False))
    )
    text = (
        "After training, the answer in the input is exchanged for a false one, and marked against the true one. The "
        f"leaking network reacts on {listed(falls)}; the causal one reacts on {listed(moved)} and does not on "
        f"{listed(still)}."
    )
    caption = (
        "Final test accuracy. A network reacts if the 95 % interval of the change over common seeds lies apart from 0, "
        f"in either way of tampering; ? with fewer than {FEWEST} pairs. Tasks with one question a sequence"
    )
    heading = ("task", "network", "as trained", "answer exchanged", "answer taken away", "reacts")
    return Made([Text(text), table(f"{request.study.id}-swap", caption, heading, rows)], facts)


def first_share(trace: Trace, convention: str) -> float:
    """The share of WADE from thresholds that the first evaluation reaches; nan where WADE is 0.

    WADE is a sum over thresholds, each counted when it is first reached: cut after its first evaluation, a curve keeps
    just those terms.
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
            "A threshold counts by the time at which it is first reached, so that what the first evaluation happens to "
            "show counts most. As published, the first evaluation of a readout comes after a single question, that of "
            "a network after 8 sequences, and both count as time 1; corrected, time is in sequences for all."
        )
        made: list[Block] = [Text(text)]
        facts: dict[str, Any] = {}
        for convention in CONVENTIONS:
            found = {row.label: _shares(request, row, convention) for row in request.rows}
            rows = [[Name(label), *map(mean, own.values())] for label, own in found.items() if any(own.values())]
            means = {
                one: {label: mean_of(own[one]) for label, own in found.items() if own[one]} for one in request.columns
            }
            facts[convention] = shares = {column: own for column, own in means.items() if own}
            if not shares:
                made.append(Text(f"Convention {convention}: no runs are there."))
                continue
            most = [f"{name} {_range(own.values())}" for name, own in shares.items()]
            caption = f"Share of WADE from the first evaluation, mean over runs{half_words(rows)}, {convention}"
            name = f"{request.study.id}-first-{convention}"
            lowest = f"From the task with the lowest share to that with the highest, {convention}: {'; '.join(most)}."
            made += [table(name, caption, ("task", *request.columns), rows), Text(lowest)]
        return Made([Section("What the first evaluation is worth", made, "first")], {"first": facts})


def _shares(request: Request, row: StudyRow, convention: str) -> dict[str, Values]:
    """The share of the first evaluation in every run that has one, by column."""
    found = {}
    for column in request.columns:
        traces = request.traces(row, row.learner(column, convention), convention)
        shares = {seed: first_share(trace, convention) for seed, trace in traces.items()}
        found[column] = {seed: share for seed, share in shares.items() if not np.isnan(share)}
    return found


def _range(shares: Collection[float]) -> str:
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return low if low == high else f"{low} to {high}"
