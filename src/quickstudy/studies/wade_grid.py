"""Whether the thresholds of WADE matter: stored curves scored again under every choice that the
formula leaves open.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace

import numpy as np

from quickstudy.base.blocks import (
    LOG,
    Axis,
    Block,
    Cell,
    Made,
    Mark,
    Name,
    Number,
    Panel,
    Plot,
    Plotted,
    Several,
    Text,
    table,
)
from quickstudy.base.registries import block
from quickstudy.base.trace import Trace
from quickstudy.measures.curve import threshold_times
from quickstudy.measures.learning_curve import published_preset, training_sequences
from quickstudy.measures.wade import mean_efficiency
from quickstudy.pages.study_request import Request
from quickstudy.pages.table_helpers import EMPTY, Curves, halves, kendall, mean
from quickstudy.report.words import counted

COUNTS = (2, 5, 10, 20, 50, 100, 1000)
ENOUGH = 10
"""The publication states that any grid of more thresholds than this will do."""
_ROUNDING = 1e-12
"""What a threshold is moved by, so that rounding never decides about an accuracy that lies on
it.
"""


@dataclass(frozen=True)
class Choice:
    """What WADE leaves open; as it stands, the published choice for the language tasks.

    count: number of thresholds. inequality: `>`, with thresholds 0, 1/n ... (n - 1)/n, or `≥`, with
    1/n ... 1, as the formula is printed. start: where 0 of that scale lies, at accuracy `0`, or at
    `chance`, the accuracy of the best constant answer. time: `published`, or `sequences` for every
    learner. weights: `height` on the scale, or `equal`.
    """

    count: int = 100
    inequality: str = ">"
    start: str = "0"
    time: str = "published"
    weights: str = "height"


PUBLISHED = Choice()
OTHERS = {
    "thresholds up to 1, reached at ≥": replace(PUBLISHED, inequality="≥"),
    "thresholds from chance on": replace(PUBLISHED, start="chance"),
    "T in sequences for all": replace(PUBLISHED, time="sequences"),
    "equal weights": replace(PUBLISHED, weights="equal"),
}
"""One thing changed at a time."""
Scores = Mapping[str, Mapping[Choice, Mapping[str, float]]]
"""Mean scores by row label, choice and model."""


def scores(trace: Trace) -> dict[Choice, float]:
    """WADE of one run under every choice; nan where the grid begins at chance and that is not
    known, or 1.
    """
    found = {}
    for inequality, start, unit in itertools.product(
        (">", "≥"), ("0", "chance"), ("published", "sequences")
    ):
        chance = float(trace.facts.get("constant", math.nan)) if start == "chance" else 0.0
        strict = inequality == ">"
        time = training_sequences(trace) if unit == "sequences" else published_preset(trace).time
        # The thresholds of all grids at once: reading the curve is most of the work. k/n is the
        # float nearest to it.
        grids = [np.arange(not strict, count + (not strict)) / count for count in COUNTS]
        thresholds = np.concatenate([chance + (1 - chance) * heights for heights in grids])
        # Rounding must not decide about an accuracy that lies on a threshold; k/n from 0 is exact
        # without rounding.
        thresholds += 0.0 if chance == 0 else _ROUNDING if strict else -_ROUNDING
        times = threshold_times(
            trace.arrays["step"], trace.arrays["accuracy"], thresholds, strict=strict, time=time
        )
        reached = np.split(times, np.cumsum(COUNTS)[:-1])
        for weights, (heights, own) in itertools.product(
            ("height", "equal"), zip(grids, reached, strict=True)
        ):
            shares = heights if weights == "height" else np.ones(len(heights))
            choice = Choice(len(heights), inequality, start, unit, weights)
            found[choice] = mean_efficiency(shares, own) if chance < 1 else math.nan
    return found


@dataclass(frozen=True)
class Shift:
    """What another choice does to the mean scores of the models on one task.

    order: models, best first. tau: Kendall's, of the two orders; nan with fewer than two models.
    swapped: pairs that have changed places. change: the largest of a mean score, by whose model.
    """

    order: tuple[str, ...]
    tau: float
    swapped: tuple[tuple[str, str], ...]
    change: float
    model: str


def shift(reference: Mapping[str, float], other: Mapping[str, float]) -> Shift:
    """From the mean scores under the published choice to those under another; models without a
    number are left out.

    >>> shift({"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 0.2, "b": 0.25, "c": 0.1}).swapped
    (('a', 'b'),)
    """
    known = [
        model
        for model in reference
        if not math.isnan(reference[model]) and not math.isnan(other[model])
    ]
    swapped = tuple(
        (one, two)
        for one, two in itertools.combinations(
            sorted(known, key=lambda model: -reference[model]), 2
        )
        if (reference[one] - reference[two]) * (other[one] - other[two]) < 0
    )
    tau, _ = kendall(*([means[model] for model in known] for means in (reference, other)))
    changes = {model: other[model] - reference[model] for model in known}
    largest = max(changes, key=lambda model: abs(changes[model]), default="")
    order = tuple(sorted(known, key=lambda model: -other[model]))
    return Shift(order, tau, swapped, changes.get(largest, math.nan), largest)


@block("grid", version=1)
class Grid:
    """The sentence, the picture, and two tables; every choice crossed with every other is in
    the picture's file.

    Nothing is run: stored runs are rescored.
    """

    whole = True

    def blocks(self, request: Request) -> Made:
        """All of it, or how to make the runs."""
        study, found = request.study, Curves.of(request)
        runs = {
            row: {model: list(map(scores, traces)) for model, traces in cells.items() if traces}
            for row, cells in found.cells.items()
        }
        if not any(runs.values()):
            command = (
                f"quickstudy reproduce {study.runs} --convention {request.convention} -o"
                f" {request.folder}"
            )
            return Made([*found.remarks, Text(f"To make the runs: {command}")])
        means: Scores = {
            row: {
                choice: {
                    model: math.fsum(run[choice] for run in own) / len(own)
                    for model, own in models.items()
                }
                for choice in next(iter(models.values()))[0]
            }
            for row, models in runs.items()
            if models
        }
        effects, data = _effects(means), _data(means)
        columns = [
            column for column in study.columns if any(column in cells for cells in runs.values())
        ]
        made: list[Block] = [
            *found.remarks,
            Text(_sentence(effects)),
            _plot(request, means, data),
            Text(_NOTE),
        ]
        by_count = {f"{count:,}": replace(PUBLISHED, count=count) for count in COUNTS}
        for name, title, chosen, about in (
            (
                "counts",
                "thresholds",
                by_count,
                "by the number of thresholds, all else by the published formula",
            ),
            (
                "choices",
                "choice",
                {"published formula": PUBLISHED, **OTHERS},
                f"with one other choice at a time, {PUBLISHED.count} thresholds",
            ),
        ):
            rows: list[list[Cell]] = []
            for row, of in means.items():
                for word, choice in chosen.items():
                    values = [
                        [run[choice] for run in runs[row].get(model, ())] for model in columns
                    ]
                    # A run without a number leaves the whole without one.
                    cells = [
                        EMPTY if any(map(math.isnan, known)) else mean(known) for known in values
                    ]
                    rows.append(
                        [Name(row), word, *cells, *_shown(shift(of[PUBLISHED], of[choice]))]
                    )
            heading = ("task", title, *columns, "tau", "largest change", "order", "changed places")
            made.append(
                table(f"{request.name}-{name}", f"WADE {about}: mean{halves(rows)}", heading, rows)
            )
        return Made(made, {"effects": [vars(effect) for effect in effects], "scores": data})


_NOTE = (
    "The tables give the mean score of each model and the order of the means, best first; tau:"
    " Kendall's, between this order and that of the published formula; changed places: the pairs"
    " whose order is another; largest change: of a mean score."
)


@dataclass(frozen=True)
class _Effect:
    """What some choices do on all tasks: the largest change of a mean score and where, tasks whose
    order changes.
    """

    name: str
    change: float
    where: str
    turned: int
    tasks: int


def _effects(means: Scores) -> list[_Effect]:
    def effect(name: str, chosen: Sequence[Choice]) -> _Effect:
        shifts = [
            (row, shift(found[PUBLISHED], found[choice]))
            for row, found in means.items()
            for choice in chosen
        ]
        row, most = max(
            shifts, key=lambda pair: abs(pair[1].change) if not math.isnan(pair[1].change) else -1.0
        )
        turned = {row for row, found in shifts if found.swapped}
        return _Effect(name, abs(most.change), f"{row} {most.model}", len(turned), len(means))

    groups: dict[str, list[Choice]] = {}
    few, many = (
        [count for count in COUNTS if (count > ENOUGH) == large] for large in (False, True)
    )
    for name, numbers in (
        (f"{ENOUGH} thresholds or fewer", few),
        (f"more than {ENOUGH} thresholds", many),
    ):
        chosen = {count: replace(PUBLISHED, count=count) for count in numbers}
        turning = [count for count in numbers if effect(name, [chosen[count]]).turned]
        # Under one name, or apart where only some of them change the order of the models.
        if len(turning) in (0, len(numbers)):
            groups[name] = list(chosen.values())
            continue
        for group in (turning, [count for count in numbers if count not in turning]):
            words = " or ".join(f"{count:,}" for count in group)
            groups[f"{words} thresholds"] = [chosen[count] for count in group]
    return [
        effect(name, some)
        for name, some in (groups | {name: [one] for name, one in OTHERS.items()}).items()
    ]


def _sentence(effects: Sequence[_Effect]) -> str:
    """What changes the order of the models and what does not, the largest change of a score
    first.
    """
    said: dict[bool, list[str]] = {True: [], False: []}
    for effect in sorted(effects, key=lambda effect: -effect.change):
        turned = f"; on {effect.turned} of {counted(effect.tasks, 'task')}" if effect.turned else ""
        words = (
            f"{effect.name} (a score moves by up to {effect.change:.3f}, {effect.where}{turned})"
        )
        said[effect.turned > 0].append(words)
    turning, keeping = (", ".join(said[turned]) for turned in (True, False))
    if not turning:
        return f"Nothing changes the order of the models: {keeping}."
    return f"The order of the models changes with {turning}; it stays with {keeping or 'nothing'}."


def _shown(found: Shift) -> list[Cell]:
    tau = (
        EMPTY
        if math.isnan(found.tau)
        else Number(found.tau, word=f"{found.tau:.2f}".replace("-", "−"))
    )
    swapped = ", ".join(f"{first}/{second}" for first, second in found.swapped) or "–"
    change: Cell = (
        Several([Number(found.change, signed=True), Name(found.model)], " ")
        if found.change
        else EMPTY
    )
    return [tau, change, " > ".join(found.order), swapped]


def _plot(request: Request, means: Scores, data: Sequence[Sequence[object]]) -> Plot:
    def line(model: str, found: Mapping[Choice, Mapping[str, float]]) -> Plotted:
        values = [found[replace(PUBLISHED, count=count)][model] for count in COUNTS]
        return Plotted(model, Mark(number=request.study.columns.index(model)), COUNTS, values)

    return Plot(
        f"{request.name}-sensitivity",
        f"Mean WADE against {COUNTS[0]} to {COUNTS[-1]:,} thresholds, all else by the published"
        " formula. The file of numbers has every choice crossed with every other.",
        f"WADE against the number of thresholds: {', '.join(means)}.",
        Axis("number of thresholds (logarithmic)", LOG),
        Axis("mean WADE"),
        [
            Panel([line(model, found) for model in found[PUBLISHED]], row)
            for row, found in means.items()
        ],
        data,
        direct=False,
    )


def _data(means: Scores) -> list[list[object]]:
    """One line per task, choice and model, the heading first."""
    names = [field.name for field in fields(Choice)]
    lines: list[list[object]] = [
        ["task", *names, "model", "mean WADE", "rank", "tau", "largest change"]
    ]
    for row, found in means.items():
        for choice, own in found.items():
            moved = shift(found[PUBLISHED], own)
            for model, value in own.items():
                rank = moved.order.index(model) + 1 if model in moved.order else None
                lines.append([row, *astuple(choice), model, value, rank, moved.tau, moved.change])
    return lines
