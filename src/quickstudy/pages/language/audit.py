"""The audit of a published comparison: what there is to audit, the answers in sight, and what the first test is worth.

Under the convention `corrected` everything is run, under `published` only what was published; the page shows what there
is of both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from quickstudy.base.blocks import Block, Cell, Made, Name, Section, Text
from quickstudy.base.catalogue import block, measure
from quickstudy.base.trace import Trace
from quickstudy.pages.cells import compare, filled, gap, half_words, listed, mean, mean_of, table
from quickstudy.pages.request import CONVENTIONS, Request, Stage
from quickstudy.report.statistics import ABOVE, FEWEST, LEVEL, UNTOLD
from quickstudy.report.words import counted, span

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
        said = []
        for convention, rows in cells.items():
            counts = [len(runs) for columns in rows.values() for runs in columns.values() if runs]
            number = f"{span(counts)} {'run' if max(counts) == 1 else 'runs'} a cell" if counts else "none"
            said.append(f"{number} under the convention {convention}")
        lines = [
            f"Everything below is computed from runs: {', '.join(said)}. Intervals are 95 % intervals over runs, "
            f"differences are over common seeds. Fewer than {FEWEST} pairs give no verdict."
        ]
        for convention, rows in cells.items():
            lacking = {
                label: [column for column in request.columns if not columns.get(column)]
                for label, columns in rows.items()
            }
            places = [
                label if len(columns) == len(request.columns) else f"{label} ({', '.join(columns)})"
                for label, columns in lacking.items()
                if columns
            ]
            if places:
                lines.append(f"No finished runs under the convention {convention}: {', '.join(places)}.")
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
        networks = [settings[name] for name in ("leaking", "causal") if name in settings]
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
        leaking, causal = (request.study.settings.get(name) for name in ("leaking", "causal"))
        if leaking is None or causal is None:
            return Made([], {"leak": {}})
        heading, rows = ["task"], []
        for score in SCORES:
            heading += [f"{request.score(score).title}, leaking", "causal", "leaking − causal"]
        facts: dict[str, Any] = {}
        told: dict[str, dict[str, str]] = {score: {} for score in SCORES}
        for row in request.rows:
            cells: list[Cell] = [Name(row.label)]
            numbers = {}
            for score in SCORES:
                one, other = (request.values(row, learner, score, "published") for learner in (leaking, causal))
                pair = compare(one, other)
                cells += [mean(one), mean(other), gap(pair)]
                numbers[score] = {"leaking": mean_of(one), "causal": mean_of(other), "standing": pair.standing}
                if pair.standing != UNTOLD:
                    told[score][row.label] = pair.standing
            if filled(cells):
                rows.append(cells)
                facts[row.label] = numbers
        made: list[Block] = [
            Text(
                "The published Transformer attends to the whole sequence, in which the answer stands one place after "
                "the question. The same network with a causal mask, trained and tested on the same schedule "
                "(convention published), shows what that is worth."
            )
        ]
        if rows:
            caption = f"Mean{half_words(rows)}; differences over common seeds"
            made.append(table(f"{request.study.id}-leak", caption, heading, rows))
            made += [Text(_raised(request.score(score).title, told[score])) for score in SCORES]
            exchanged = _exchanged(request, leaking, causal)
            made += exchanged.blocks
            found = {"tasks": facts, "swap": exchanged.facts}
        else:
            made.append(Text(f"No runs of {leaking} or {causal} are there."))
            found = {"tasks": facts}
        return Made([Section("The Transformer sees the answers", made, "leak")], {"leak": found})


def _raised(title: str, told: Mapping[str, str]) -> str:
    """On how many tasks the leak raises a score."""
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
            # Of the seeds that all three have, so that their means can be compared.
            seeds = sorted(set(found[0]).intersection(*found[1:]))
            usual, *changed = ({seed: values[seed] for seed in seeds} for values in found)
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
            rows: list[list[Cell]] = []
            shares: dict[str, dict[str, float]] = {}
            for row in request.rows:
                cells = []
                for column in request.columns:
                    traces = request.traces(row, row.learner(column, convention), convention)
                    values = {seed: first_share(trace, convention) for seed, trace in traces.items()}
                    known = {seed: value for seed, value in values.items() if not np.isnan(value)}
                    cells.append(mean(known))
                    if (share := mean_of(known)) is not None:
                        shares.setdefault(column, {})[row.label] = share
                if filled(cells):
                    rows.append([Name(row.label), *cells])
            facts[convention] = shares
            if not shares:
                made.append(Text(f"Convention {convention}: no runs are there."))
                continue
            most = [f"{name} {_range(shares[name].values())}" for name in request.columns if name in shares]
            caption = f"Share of WADE from the first evaluation, mean over runs{half_words(rows)}, {convention}"
            name = f"{request.study.id}-first-{convention}"
            lowest = f"From the task with the lowest share to that with the highest, {convention}: {'; '.join(most)}."
            made += [table(name, caption, ("task", *request.columns), rows), Text(lowest)]
        return Made([Section("What the first evaluation is worth", made, "first")], {"first": facts})


def _range(shares: Collection[float]) -> str:
    low, high = f"{min(shares):.0%}", f"{max(shares):.0%}"
    return low if low == high else f"{low} to {high}"
