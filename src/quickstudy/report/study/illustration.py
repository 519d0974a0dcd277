"""How T(α) is read off the learning curve of one run, and WADE worked out from it step by step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quickstudy.base.record import Record
from quickstudy.base.trace import Trace
from quickstudy.measures.learning_curve import training_sequences
from quickstudy.measures.wade import paper
from quickstudy.report.build import build_report
from quickstudy.report.pictures import NARROW, WIDE, threshold_picture
from quickstudy.report.reproduce import settings_of
from quickstudy.report.study.order import Order, Stage
from quickstudy.report.study.page import Grid, Page, Paragraph, Part, Picture

THRESHOLDS = 10
"""So few that the sum can be checked by hand."""


def stages(order: Order) -> Iterator[Stage]:
    """One run of every learner of the study on every task."""
    yield Stage(settings_of(order.study, order.convention, order.root), 1)


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

    def parts(self, name: str) -> Iterator[Part]:
        """The terms, and the sentence that adds them up."""
        rows = [("α", "T(α) in sequences", "α / T(α)")]
        for level, time, term in zip(self.thresholds, self.times, self.terms, strict=True):
            rows.append((f"{level:g}", "∞" if math.isinf(time) else f"{time:,.6g}", f"{term:.5f}"))
        below, above = math.fsum(self.thresholds), math.fsum(self.terms)
        rows.append((f"sum {below:g}", "", f"{above:.5f}"))
        yield Grid(f"{name}-terms", f"The terms of WADE at {THRESHOLDS} thresholds; 1 / ∞ = 0", rows)
        yield Paragraph(f"WADE = {above:.5f} / {below:g} = {self.wade:.5f}.")

    def facts(self) -> dict[str, object]:
        """In plain JSON types; None where an accuracy is never reached."""
        times = [None if math.isinf(time) else time for time in self.times]
        return {"thresholds": list(self.thresholds), "times": times, "wade": self.wade}


def page(order: Order) -> Page:
    """For each learner a picture of its first run, the terms of its WADE, and their sum."""
    parts: list[Part] = []
    facts: dict[str, object] = {}
    found = order.shelf.found()
    for row, columns in order.cells().items():
        for column, runs in columns.items():
            if not runs:
                parts.append(Paragraph(f"{row} {column}: no run is finished, so there is nothing to show."))
                continue
            record = next(iter(runs.values()))
            trace = found.trace(record)
            worked = Worked.of(trace)
            name = f"{order.study.id}-{order.convention}" + (f"-{len(facts) + 1}" if facts else "")
            parts += [_picture(record, trace, name), *worked.parts(name), *_recorded(record)]
            facts[f"{row} {column}"] = worked.facts()
    return Page.of(order.study, parts, facts)


def _picture(record: Record, trace: Trace, name: str) -> Picture:
    table = build_report([record], lambda _: trace).tables[0]
    wide, narrow = (threshold_picture(table.rows[0], table.task, form) for form in (WIDE, NARROW))
    caption = (
        f"One run of {table.rows[0].learner} on {table.task}, convention {table.convention}, repetition "
        f"{record.what['repetition']}. Each horizontal is an accuracy α; where the curve first reaches it, a vertical "
        "leads down to T(α). T = ∞ where it never does."
    )
    pairs = zip(trace.arrays["step"].tolist(), trace.arrays["accuracy"].tolist(), strict=True)
    data = [(str(trace.facts["unit"]), "accuracy"), *((f"{step:g}", f"{value:.6g}") for step, value in pairs)]
    return Picture(f"{name}-curve", caption, wide, narrow, data)


def _recorded(record: Record) -> Iterator[Paragraph]:
    if "wade" in record.scores:
        number, convention = float(record.scores["wade"]["values"]["wade"]), record.what["convention"]
        yield Paragraph(
            f"The score of this run, with 100 thresholds under the convention {convention}, is {number:.5f}."
        )
