"""Pictures of single learners: how T(α) is read off one run and WADE computed from it step by
step, and the way through a stream of tasks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from quickstudy.base.blocks import EXACT, Block, Cell, Made, Number, Text, table
from quickstudy.base.registries import block
from quickstudy.base.trace import Trace
from quickstudy.figures.learning_curve import threshold_plot
from quickstudy.measures.learning_curve import training_sequences
from quickstudy.measures.wade import paper
from quickstudy.pages.study_request import Request, Stage
from quickstudy.report.curves import example_run

THRESHOLDS = 10
"""So few that the sum can be checked by hand."""


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
                    made.append(
                        Text(f"{row} {column}: no run is finished, so there is nothing to show.")
                    )
                    continue
                record = next(iter(runs.values()))
                trace, convention = request.results.trace(record), record.what["convention"]
                name = request.name + (f"-{len(facts) + 1}" if facts else "")
                learner, task = record.labels["learner"], record.labels["task"]
                caption = (
                    f"One run of {learner} on {task}, convention {convention}, repetition"
                    f" {record.what['repetition']}. Each horizontal is an accuracy α; where the"
                    " curve first reaches it, a vertical leads down to T(α). T = ∞ where it never"
                    " does."
                )
                example = example_run(trace)
                if example and (
                    plot := threshold_plot(example, learner, task, f"{name}-curve", caption)
                ):
                    pairs = zip(
                        *(trace.arrays[part].tolist() for part in ("step", "accuracy")), strict=True
                    )
                    lines = ((f"{step:g}", f"{value:.6g}") for step, value in pairs)
                    made.append(
                        replace(plot, data=[(str(trace.facts["unit"]), "accuracy"), *lines])
                    )
                worked = _worked(trace, name)
                made += worked.blocks
                facts[f"{row} {column}"] = worked.facts
                if "wade" in record.scores:
                    score = f"{float(record.scores['wade']['values']['wade']):.5f}"
                    said = (
                        "The score of this run, with 100 thresholds under the convention"
                        f" {convention}, is {score}."
                    )
                    made.append(Text(said))
        return Made(made, facts)


def _worked(trace: Trace, name: str) -> Made:
    """WADE of a run term by term, α, T(α) and α / T(α), and their sum over the sum of the α: by the
    formula as printed, T in training sequences. In the facts, None where an accuracy is never
    reached.
    """
    preset = paper(THRESHOLDS, training_sequences(trace))
    curve = trace.arrays["step"], trace.arrays["accuracy"]
    levels, times, wade = preset.thresholds, preset.times(*curve).tolist(), preset.score(*curve)
    terms = [level / time for level, time in zip(levels, times, strict=True)]
    words = (("∞" if math.isinf(time) else f"{time:,.6g}") for time in times)
    shown = zip(zip(levels, times, terms, strict=True), words, strict=True)
    rows: list[list[Cell]] = [
        [_number(level, f"{level:g}"), _number(time, word), _number(term, f"{term:.5f}")]
        for (level, time, term), word in shown
    ]
    below, above = math.fsum(levels), math.fsum(terms)
    rows.append([f"sum {below:g}", "", _number(above, f"{above:.5f}")])
    caption = f"The terms of WADE at {THRESHOLDS} thresholds; 1 / ∞ = 0"
    found = table(f"{name}-terms", caption, ("α", "T(α) in sequences", "α / T(α)"), rows)
    reached = [None if math.isinf(time) else time for time in times]
    text = Text(f"WADE = {above:.5f} / {below:g} = {wade:.5f}.")
    return Made([found, text], {"thresholds": list(levels), "times": reached, "wade": wade})


def _number(value: float, word: str) -> Number:
    return Number(value, form=EXACT, word=word)
