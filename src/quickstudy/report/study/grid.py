"""Whether the thresholds of WADE matter: stored curves scored again under every choice that the formula leaves open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from quickstudy.report.numbers import NOTHING
from quickstudy.report.numbers import score as written
from quickstudy.report.study.order import Order, Stage
from quickstudy.report.study.page import Grid, Page, Paragraph, Part, Picture
from quickstudy.report.study.panels import Line, Panel, Sheet, colour, round_up
from quickstudy.report.study.rescoring import (
    COUNTS,
    OTHERS,
    PUBLISHED,
    Choice,
    Shift,
    choices,
    mean_scores,
    names,
    shift,
)
from quickstudy.report.study.runs import curves_of

ENOUGH = 10
"""The publication states that any grid of more thresholds than this will do."""

Scores = Mapping[str, Mapping[Choice, Mapping[str, float]]]
"""Mean scores by row label, choice and model."""


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
    means = {
        row: {model: mean_scores(traces) for model, traces in cells.items() if traces}
        for row, cells in found.cells.items()
    }
    scores = {
        row: {choice: {model: known[choice] for model, known in models.items()} for choice in choices()}
        for row, models in means.items()
        if models
    }
    parts: list[Part] = [*found.remarks()]
    facts: dict[str, object] = {}
    if scores:
        effects = _effects(scores)
        counts = {f"{count:,}": replace(PUBLISHED, count=count) for count in COUNTS}
        name = f"{study.id}-{order.convention}"
        parts += [
            Paragraph(sentence(effects)),
            _picture(scores, study.columns, f"{name}-sensitivity"),
            Paragraph(_NOTE),
            Grid(
                f"{name}-counts",
                "Number of thresholds, all else as published",
                _rows("thresholds", study.columns, scores, counts),
            ),
            Grid(
                f"{name}-choices",
                f"One other choice at a time, {PUBLISHED.count} thresholds",
                _rows("choice", study.columns, scores, {"as published": PUBLISHED, **OTHERS}),
            ),
        ]
        facts = {"effects": [vars(effect) for effect in effects], "scores": _data(scores)}
    else:
        parts.append(
            Paragraph(
                f"To make the runs: quickstudy reproduce {study.runs} --convention {order.convention} -o {order.folder}"
            )
        )
    return Page(study.title, study.source, parts, facts, whole=True)


_NOTE = (
    "The tables give the mean score of each model and their order, best first; tau: Kendall's, between this order and "
    "that of the published choice; changed places: the pairs whose order is another; largest change: of a mean score."
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
    turned = f"; on {effect.turned} of {effect.tasks} tasks" if effect.turned else ""
    return f"{effect.name} (a score moves by up to {effect.change:.3f}, {effect.where}{turned})"


def _effects(scores: Scores) -> list[Effect]:
    few = {count: replace(PUBLISHED, count=count) for count in COUNTS}
    groups = {
        f"{ENOUGH} thresholds or fewer": [choice for count, choice in few.items() if count <= ENOUGH],
        f"more than {ENOUGH} thresholds": [choice for count, choice in few.items() if count > ENOUGH],
        **{name: [choice] for name, choice in OTHERS.items()},
    }
    return [_effect(name, chosen, scores) for name, chosen in groups.items()]


def _effect(name: str, chosen: Sequence[Choice], scores: Scores) -> Effect:
    shifts = [(row, shift(found[PUBLISHED], found[choice])) for row, found in scores.items() for choice in chosen]
    row, most = max(shifts, key=lambda pair: abs(pair[1].change) if not math.isnan(pair[1].change) else -1.0)
    turned = {row for row, found in shifts if found.swapped}
    return Effect(name, abs(most.change), f"{row} {most.model}", len(turned), len(scores))


def _rows(title: str, columns: Sequence[str], scores: Scores, chosen: Mapping[str, Choice]) -> list[tuple[str, ...]]:
    known = {model for found in scores.values() for model in found[PUBLISHED]}
    models = [column for column in columns if column in known]
    rows = [("task", title, *models, "tau", "largest change", "order", "changed places")]
    for row, found in scores.items():
        for name, choice in chosen.items():
            means = [written(found[choice].get(model)) for model in models]
            rows.append((row, name, *means, *_shown(shift(found[PUBLISHED], found[choice]))))
    return rows


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
        f"Mean WADE against the number of thresholds, {COUNTS[0]} to {COUNTS[-1]:,}, all else as published. The value "
        "axis of each panel ends where its scores do. The file of numbers has every choice crossed with every other."
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
