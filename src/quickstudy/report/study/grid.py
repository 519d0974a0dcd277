"""Whether the thresholds of WADE matter: stored curves scored again under every choice that the formula leaves open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from quickstudy.report.numbers import NOTHING, plus_minus
from quickstudy.report.statistics import estimate
from quickstudy.report.study.order import Order, Stage
from quickstudy.report.study.page import Grid, Page, Paragraph, Part, Picture, half_words
from quickstudy.report.study.panels import Line, Panel, Sheet, colour, round_up
from quickstudy.report.study.rescoring import (
    COUNTS,
    OTHERS,
    PUBLISHED,
    Choice,
    Shift,
    choices,
    names,
    run_scores,
    shift,
)
from quickstudy.report.study.runs import counts, curves_of
from quickstudy.report.words import counted

ENOUGH = 10
"""The publication states that any grid of more thresholds than this will do."""

Scores = Mapping[str, Mapping[Choice, Mapping[str, float]]]
"""Mean scores by row label, choice and model."""
Runs = Mapping[str, Mapping[str, Mapping[Choice, Sequence[float]]]]
"""Scores of every run by row label, model and choice."""


@dataclass(frozen=True)
class Effect:
    """What some choices do on all tasks: the largest change of a mean score and where, tasks whose order changes."""

    name: str
    change: float
    where: str
    turned: int
    tasks: int


def stages(order: Order) -> Iterator[Stage]:
    """Nothing is run: what is there is scored again."""
    yield Stage([], 0)


def page(order: Order) -> Page:
    """The sentence, the picture, and two tables; every choice crossed with every other stands in the picture's file."""
    study, found = order.study, curves_of(order)
    runs = {
        row: {model: run_scores(traces) for model, traces in cells.items() if traces}
        for row, cells in found.cells.items()
    }
    scores = {
        row: {choice: {model: _mean(known[choice]) for model, known in models.items()} for choice in choices()}
        for row, models in runs.items()
        if models
    }
    parts: list[Part] = [Paragraph(counts(found.cells, order.convention)), *found.remarks()]
    facts: dict[str, object] = {}
    if scores:
        effects = _effects(scores)
        by_count = {f"{count:,}": replace(PUBLISHED, count=count) for count in COUNTS}
        tables = [
            _rows("thresholds", study.columns, runs, scores, by_count),
            _rows("choice", study.columns, runs, scores, {"published formula": PUBLISHED, **OTHERS}),
        ]
        name = f"{study.id}-{order.convention}"
        parts += [
            Paragraph(sentence(effects)),
            _picture(scores, study.columns, f"{name}-sensitivity"),
            Paragraph(_NOTE),
            Grid(
                f"{name}-counts",
                f"WADE by the number of thresholds, all else by the published formula: mean{half_words(tables[0])}",
                tables[0],
            ),
            Grid(
                f"{name}-choices",
                f"WADE with one other choice at a time, {PUBLISHED.count} thresholds: mean{half_words(tables[1])}",
                tables[1],
            ),
        ]
        facts = {"effects": [vars(effect) for effect in effects], "scores": _data(scores)}
    else:
        parts.append(
            Paragraph(
                f"To make the runs: quickstudy reproduce {study.runs} --convention {order.convention} -o {order.folder}"
            )
        )
    return Page.of(study, parts, facts, whole=True)


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


def _rows(
    title: str, columns: Sequence[str], runs: Runs, scores: Scores, chosen: Mapping[str, Choice]
) -> list[tuple[str, ...]]:
    known = {model for found in scores.values() for model in found[PUBLISHED]}
    models = [column for column in columns if column in known]
    rows = [("task", title, *models, "tau", "largest change", "order", "changed places")]
    for row, found in scores.items():
        for name, choice in chosen.items():
            means = [_written(runs[row].get(model, {}).get(choice, ())) for model in models]
            rows.append((row, name, *means, *_shown(shift(found[PUBLISHED], found[choice]))))
    return rows


def _written(values: Sequence[float]) -> str:
    """The mean of some runs ± half its interval; a run without a number leaves the whole without one."""
    known = estimate(values) if not any(map(math.isnan, values)) else None
    return NOTHING if known is None else plus_minus(known.mean, known.interval)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _shown(found: Shift) -> tuple[str, str, str, str]:
    tau = NOTHING if math.isnan(found.tau) else f"{found.tau:.2f}".replace("-", "−")
    swapped = ", ".join(f"{first}/{second}" for first, second in found.swapped) or NOTHING
    change = f"{found.change:+.3f} {found.model}".replace("-", "−", 1) if found.change else NOTHING
    return tau, change, " > ".join(found.order), swapped


def _picture(scores: Scores, columns: Sequence[str], name: str) -> Picture:
    panels = []
    for row, found in scores.items():
        means = {
            model: [found[replace(PUBLISHED, count=count)][model] for count in COUNTS] for model in found[PUBLISHED]
        }
        lines = [Line(model, colour(columns.index(model)), COUNTS, values) for model, values in means.items()]
        panels.append(Panel(row, lines, round_up(max(max(values) for values in means.values()))))
    sheet = Sheet(
        f"WADE against the number of thresholds: {', '.join(scores)}.",
        "number of thresholds (logarithmic)",
        "mean WADE",
        panels,
    )
    caption = (
        f"Mean WADE against {COUNTS[0]} to {COUNTS[-1]:,} thresholds, all else by the published formula. "
        "The value axis of each panel ends where its scores do. The file of numbers has every choice crossed with "
        "every other."
    )
    wide, narrow = sheet.drawn()
    return Picture(name, caption, wide, narrow, [[str(value) for value in line] for line in _data(scores)])


def _data(scores: Scores) -> list[list[object]]:
    """One line per task, choice and model, the heading first."""
    lines: list[list[object]] = [["task", *names(), "model", "mean WADE", "rank", "tau", "largest change"]]
    for row, found in scores.items():
        for choice, means in found.items():
            moved = shift(found[PUBLISHED], means)
            for model, mean in means.items():
                rank = moved.order.index(model) + 1 if model in moved.order else None
                lines.append([row, *astuple(choice), model, mean, rank, moved.tau, moved.change])
    return lines
