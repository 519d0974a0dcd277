"""Pictures of single learners: how T(α) is read off one run and WADE worked out from it step by step, and the way
through a stream of tasks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from quickstudy.base.blocks import EXACT, Block, Cell, Made, Number, Plot, Text
from quickstudy.base.catalogue import block
from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.measures.learning_curve import training_sequences
from quickstudy.measures.wade import paper
from quickstudy.pages.cells import table
from quickstudy.pages.language.figures import stream_plot, threshold_plot
from quickstudy.pages.request import Request, Stage
from quickstudy.report.curves import example_run

THRESHOLDS = 10
"""So few that the sum can be checked by hand."""


@dataclass(frozen=True)
class Worked:
    """WADE of a run term by term: α, T(α) and α / T(α), their sum over the sum of the α."""

    thresholds: Sequence[float]
    times: Sequence[float]
    terms: Sequence[float]
    wade: float

    @classmethod
    def of(cls, trace: Trace) -> Worked:
        """By the formula as printed, T in training sequences."""
        preset = paper(THRESHOLDS, training_sequences(trace))
        curve = trace.arrays["step"], trace.arrays["accuracy"]
        times = preset.times(*curve).tolist()
        terms = [level / time for level, time in zip(preset.thresholds, times, strict=True)]
        return cls(preset.thresholds, times, terms, preset.score(*curve))

    def blocks(self, name: str) -> list[Block]:
        """The terms, and the sentence that adds them up."""
        rows: list[list[Cell]] = [
            [_number(level, f"{level:g}"), _number(time, "∞" if math.isinf(time) else f"{time:,.6g}"), _fifth(term)]
            for level, time, term in zip(self.thresholds, self.times, self.terms, strict=True)
        ]
        below, above = math.fsum(self.thresholds), math.fsum(self.terms)
        rows.append([f"sum {below:g}", "", _fifth(above)])
        caption = f"The terms of WADE at {THRESHOLDS} thresholds; 1 / ∞ = 0"
        return [
            table(f"{name}-terms", caption, ("α", "T(α) in sequences", "α / T(α)"), rows),
            Text(f"WADE = {above:.5f} / {below:g} = {self.wade:.5f}."),
        ]

    def facts(self) -> dict[str, object]:
        """In plain JSON types; None where an accuracy is never reached."""
        times = [None if math.isinf(time) else time for time in self.times]
        return {"thresholds": list(self.thresholds), "times": times, "wade": self.wade}


@block("illustration", version=1)
class Illustration:
    """For each learner a picture of its first run, the terms of its WADE, and their sum."""

    def stages(self, request: Request) -> Iterator[Stage]:
        """One run of every learner of the study on every task."""
        yield Stage(request.models(), 1)

    def blocks(self, request: Request) -> Made:
        """Learner by learner."""
        made: list[Block] = []
        facts: dict[str, object] = {}
        for row, columns in request.cells().items():
            for column, runs in columns.items():
                if not runs:
                    made.append(Text(f"{row} {column}: no run is finished, so there is nothing to show."))
                    continue
                record = next(iter(runs.values()))
                trace = request.found.trace(record)
                worked = Worked.of(trace)
                name = request.name + (f"-{len(facts) + 1}" if facts else "")
                made += [*_plots(record, trace, name), *worked.blocks(name), *_recorded(record)]
                facts[f"{row} {column}"] = worked.facts()
        return Made(made, facts)


def _plots(record: Record, trace: Trace, name: str) -> Iterator[Plot]:
    learner, task = record.labels["learner"], record.labels["task"]
    caption = (
        f"One run of {learner} on {task}, convention {record.what['convention']}, repetition "
        f"{record.what['repetition']}. Each horizontal is an accuracy α; where the curve first reaches it, a vertical "
        "leads down to T(α). T = ∞ where it never does."
    )
    pairs = zip(trace.arrays["step"].tolist(), trace.arrays["accuracy"].tolist(), strict=True)
    data = [(str(trace.facts["unit"]), "accuracy"), *((f"{step:g}", f"{value:.6g}") for step, value in pairs)]
    example = example_run(trace)
    if example and (plot := threshold_plot(example, learner, task, f"{name}-curve", caption)):
        yield replace(plot, data=data)


def _recorded(record: Record) -> Iterator[Text]:
    if "wade" in record.scores:
        number, convention = float(record.scores["wade"]["values"]["wade"]), record.what["convention"]
        yield Text(f"The score of this run, with 100 thresholds under the convention {convention}, is {number:.5f}.")


def _number(value: float, word: str) -> Number:
    return Number(value, form=EXACT, word=word)


def _fifth(value: float) -> Number:
    return _number(value, f"{value:.5f}")


@block("segments", version=1)
class Segments:
    """The way of every learner through every stream: its accuracy on every segment, all along."""

    def blocks(self, request: Request) -> list[Plot]:
        """A picture for each learner and stream."""
        plots = []
        for row in request.rows:
            for column in row.learners:
                traces = list(request.traces(row, row.learner(column, request.convention)).values())
                name = re.sub(r"\W+", "-", f"{request.name}-{row.label}-{column}".lower())
                runs = "accuracy of one run" if len(traces) == 1 else f"mean accuracy of {len(traces):,} runs"
                caption = f"{row.label}, {column}: {runs} on every segment, bold while learned."
                plots.append(stream_plot(traces, column, row.label, name, caption))
        return [plot for plot in plots if plot]
