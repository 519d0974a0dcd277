"""Every model next to the non-learning controls, under both conventions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from quickstudy.base.blocks import Block, Cell, Made, Name, Text, table
from quickstudy.base.registries import block
from quickstudy.pages.study_request import Request, Stage
from quickstudy.pages.table_helpers import gap, halves, mean, mean_of, mean_rows, shared, under_each
from quickstudy.report.statistics import (
    ABOVE,
    BELOW,
    FEWEST,
    LEVEL,
    UNTOLD,
    Contrast,
    advantage,
    best,
)
from quickstudy.runs.results import Values
from quickstudy.runs.run_spec import task_controls

SCORES = ("final-accuracy", "wade")
"""Unless the study's settings name others, `against = [...]`. Never the maximum of a run: over many
noisy tests it is above what was learned, and a rule with a flat curve has no such bonus. A learner
that guesses independently at each of 87 tests of 240 questions has a mean maximum of 0.579.
"""
_SIGNS = {ABOVE: ">", BELOW: "<", LEVEL: "=", UNTOLD: "?"}


@block("rules", version=1)
class Rules:
    """The best control of each task, every model's distance from it, and all controls by
    themselves.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """All models and all rules."""
        both = map(request.under, request.wanted)
        yield Stage(
            [one for under in both for one in (*under.models(), *under.rules())], request.seeds
        )

    def blocks(self, request: Request) -> Made:
        """Under each convention a table of the rules, and one of the models for every score."""
        text = (
            "Each task names rules that never learn what it is about: the most frequent answer, the"
            " token just read, the shortcuts that its sentences leave open. They are run under the"
            " same protocol on the same data."
        )
        found = under_each(request, "Rules that never learn", "rules", text, _under)
        return Made(found.blocks, {"controls": found.facts})


def _under(request: Request) -> Made:
    scores = request.study.settings.get("against", SCORES)
    found = {score: _against(request, score) for score in scores}
    made = [_rules(request, scores), *(one for part in found.values() for one in part.blocks)]
    return Made(made, {score: part.facts for score, part in found.items()})


def _rules(request: Request, scores: Sequence[str]) -> Block:
    convention = request.convention
    found: dict[tuple[str, ...], list[Values]] = {
        (row.label, name): [request.values(row, name, score) for score in scores]
        for row in request.rows
        for name in task_controls(row.task)
    }
    rows = mean_rows(found)
    if not rows:
        return Text(f"Convention {convention}: no runs of the controls.")
    caption = f"Controls and oracles, convention {convention}, mean{halves(rows)}"
    heading = ("task", "rule", *(request.score(score).title for score in scores))
    return table(f"{request.study.id}-rules-{convention}", caption, heading, rows)


def _against(request: Request, score: str) -> Made:
    """Every model less the best control, task by task, over the seeds that the two share."""
    read, convention = request.score(score), request.convention
    rows: list[list[Cell]] = []
    facts: dict[str, Any] = {}
    ahead: dict[str, list[str]] = {}
    for row in request.rows:
        controls, learners = request.controls_of(row, score), request.learners(row)
        name = best(controls, read)
        if name is None:
            continue
        found: dict[str, Contrast] = {}
        for column in request.columns:
            mine, _ = shared(request.values(row, learners.get(column), score), controls[name])
            rivals = {rule: shared(values, mine)[0] for rule, values in controls.items()}
            found[column] = advantage(mine, rivals, name, read)
            if found[column].standing != UNTOLD:
                ahead.setdefault(column, []).extend(
                    [row.label] if found[column].standing == ABOVE else []
                )
        gaps = (gap(pair, _SIGNS[pair.standing]) for pair in found.values())
        rows.append([Name(row.label), Name(name), mean(controls[name]), *gaps])
        models = {
            column: {"difference": pair.value, "standing": pair.standing}
            for column, pair in found.items()
            if pair.value is not None
        }
        facts[row.label] = {"control": name, "score": mean_of(controls[name]), "models": models}
    if not rows:
        return Made([], facts)
    caption = (
        f"{read.title} of every model, how far ahead of the best control, convention {convention}:"
        f" mean{halves(rows)} over common seeds; > above every control, < below one, = level by the"
        f" interval, which is corrected for the choice of the best; ? fewer than {FEWEST} pairs"
    )
    told = [f"{column} on {', '.join(tasks) or 'none'}" for column, tasks in ahead.items()]
    sentence = (
        f"Above the best control by {read.title}, convention {convention}:"
        f" {'; '.join(told) or 'untold'}."
    )
    heading = ("task", "best control", "its score", *request.columns)
    name = f"{request.study.id}-above-{score}-{convention}"
    return Made([table(name, caption, heading, rows), Text(sentence)], facts)
