"""Whether the thresholds of WADE matter: stored curves scored again under every choice that the formula leaves open."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace

from quickstudy.base.blocks import LOG, Axis, Block, Cell, Made, Mark, Name, Number, Panel, Plot, Plotted, Several, Text
from quickstudy.base.catalogue import block
from quickstudy.pages.cells import EMPTY, half_words, mean, table
from quickstudy.pages.language.rescoring import COUNTS, OTHERS, PUBLISHED, Choice, Shift, choices, run_scores, shift
from quickstudy.pages.request import Request
from quickstudy.pages.runs import Curves, counts
from quickstudy.report.words import counted

ENOUGH = 10
"""The publication states that any grid of more thresholds than this will do."""

Scores = Mapping[str, Mapping[Choice, Mapping[str, float]]]
"""Mean scores by row label, choice and model."""
RunScores = Mapping[str, Mapping[str, Mapping[Choice, Sequence[float]]]]
"""Scores of every run by row label, model and choice."""


@dataclass(frozen=True)
class Effect:
    """What some choices do on all tasks: the largest change of a mean score and where, tasks whose order changes."""

    name: str
    change: float
    where: str
    turned: int
    tasks: int


@block("grid", version=1)
class Grid:
    """The sentence, the picture, and two tables; every choice crossed with every other stands in the picture's file.

    Nothing is run: what is there is scored again.
    """

    whole = True

    def blocks(self, request: Request) -> Made:
        """All of it, or how to make the runs."""
        study, found = request.study, Curves.of(request)
        runs = {
            row: {model: run_scores(traces) for model, traces in cells.items() if traces}
            for row, cells in found.cells.items()
        }
        scores = {
            row: {
                choice: {model: math.fsum(known[choice]) / len(known[choice]) for model, known in models.items()}
                for choice in choices()
            }
            for row, models in runs.items()
            if models
        }
        made: list[Block] = [Text(counts(found.cells, request.convention)), *found.remarks()]
        if not scores:
            command = f"quickstudy reproduce {study.runs} --convention {request.convention} -o {request.folder}"
            return Made([*made, Text(f"To make the runs: {command}")])
        effects = _effects(scores)
        by_count = {f"{count:,}": replace(PUBLISHED, count=count) for count in COUNTS}
        one_other = {"published formula": PUBLISHED, **OTHERS}
        models = [column for column in study.columns if any(column in cells for cells in runs.values())]
        made += [Text(sentence(effects)), _plot(request, scores), Text(_NOTE)]
        for name, title, chosen, about in (
            ("counts", "thresholds", by_count, "by the number of thresholds, all else by the published formula"),
            ("choices", "choice", one_other, f"with one other choice at a time, {PUBLISHED.count} thresholds"),
        ):
            rows = _rows(models, runs, scores, chosen)
            heading = ("task", title, *models, "tau", "largest change", "order", "changed places")
            made.append(table(f"{request.name}-{name}", f"WADE {about}: mean{half_words(rows)}", heading, rows))
        return Made(made, {"effects": [vars(effect) for effect in effects], "scores": _data(scores)})


_NOTE = (
    "The tables give the mean score of each model and the order of the means, best first; tau: Kendall's, between this "
    "order and that of the published formula; changed places: the pairs whose order is another; largest change: of a "
    "mean score."
)


def sentence(effects: Sequence[Effect]) -> str:
    """What changes the order of the models and what does not, the largest change of a score first."""
    ranked = sorted(effects, key=lambda effect: -effect.change)
    turning = ", ".join(_phrase(effect) for effect in ranked if effect.turned)
    keeping = ", ".join(_phrase(effect) for effect in ranked if not effect.turned)
    if not turning:
        return f"Nothing changes the order of the models: {keeping}."
    return f"The order of the models changes with {turning}; it stays with {keeping or 'nothing'}."


def _phrase(effect: Effect) -> str:
    turned = f"; on {effect.turned} of {counted(effect.tasks, 'task')}" if effect.turned else ""
    return f"{effect.name} (a score moves by up to {effect.change:.3f}, {effect.where}{turned})"


def _effects(scores: Scores) -> list[Effect]:
    few = [count for count in COUNTS if count <= ENOUGH]
    groups = {
        **_numbers(f"{ENOUGH} thresholds or fewer", few, scores),
        **_numbers(f"more than {ENOUGH} thresholds", [count for count in COUNTS if count > ENOUGH], scores),
        **{name: [choice] for name, choice in OTHERS.items()},
    }
    return [_effect(name, chosen, scores) for name, chosen in groups.items()]


def _numbers(name: str, numbers: Sequence[int], scores: Scores) -> dict[str, list[Choice]]:
    """Some numbers of thresholds under one name, or apart where only some of them change the order of the models."""
    chosen = {count: replace(PUBLISHED, count=count) for count in numbers}
    turning = [count for count, choice in chosen.items() if _effect(name, [choice], scores).turned]
    if len(turning) in (0, len(numbers)):
        return {name: list(chosen.values())}
    keeping = [count for count in numbers if count not in turning]
    return {
        f"{' or '.join(f'{count:,}' for count in group)} thresholds": [chosen[count] for count in group]
        for group in (turning, keeping)
    }


def _effect(name: str, chosen: Sequence[Choice], scores: Scores) -> Effect:
    shifts = [(row, shift(found[PUBLISHED], found[choice])) for row, found in scores.items() for choice in chosen]
    row, most = max(shifts, key=lambda pair: abs(pair[1].change) if not math.isnan(pair[1].change) else -1.0)
    turned = {row for row, found in shifts if found.swapped}
    return Effect(name, abs(most.change), f"{row} {most.model}", len(turned), len(scores))


def _rows(models: Sequence[str], runs: RunScores, scores: Scores, chosen: Mapping[str, Choice]) -> list[list[Cell]]:
    rows = []
    for row, found in scores.items():
        for name, choice in chosen.items():
            values = [runs[row].get(model, {}).get(choice, ()) for model in models]
            # A run without a number leaves the whole without one.
            means = [EMPTY if any(map(math.isnan, known)) else mean(known) for known in values]
            rows.append([Name(row), name, *means, *_shown(shift(found[PUBLISHED], found[choice]))])
    return rows


def _shown(found: Shift) -> list[Cell]:
    tau = EMPTY if math.isnan(found.tau) else Number(found.tau, word=f"{found.tau:.2f}".replace("-", "−"))
    swapped = ", ".join(f"{first}/{second}" for first, second in found.swapped) or "–"
    change: Cell = Several([Number(found.change, signed=True), Name(found.model)], " ") if found.change else EMPTY
    return [tau, change, " > ".join(found.order), swapped]


def _plot(request: Request, scores: Scores) -> Plot:
    panels = [
        Panel(
            [
                Plotted(
                    model,
                    Mark(number=request.study.columns.index(model)),
                    COUNTS,
                    [found[replace(PUBLISHED, count=count)][model] for count in COUNTS],
                )
                for model in found[PUBLISHED]
            ],
            row,
        )
        for row, found in scores.items()
    ]
    caption = (
        f"Mean WADE against {COUNTS[0]} to {COUNTS[-1]:,} thresholds, all else by the published formula. The file of "
        "numbers has every choice crossed with every other."
    )
    return Plot(
        f"{request.name}-sensitivity",
        caption,
        f"WADE against the number of thresholds: {', '.join(scores)}.",
        Axis("number of thresholds (logarithmic)", LOG),
        Axis("mean WADE"),
        panels,
        _data(scores),
        direct=False,
    )


def _data(scores: Scores) -> list[list[object]]:
    """One line per task, choice and model, the heading first."""
    names = [field.name for field in fields(Choice)]
    lines: list[list[object]] = [["task", *names, "model", "mean WADE", "rank", "tau", "largest change"]]
    for row, found in scores.items():
        for choice, means in found.items():
            moved = shift(found[PUBLISHED], means)
            for model, value in means.items():
                rank = moved.order.index(model) + 1 if model in moved.order else None
                lines.append([row, *astuple(choice), model, value, rank, moved.tau, moved.change])
    return lines
