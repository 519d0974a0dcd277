"""The spans of one learner on every item of the battery, from the runs that a folder holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quickstudy.base import registries
from quickstudy.base.blocks import PERSON
from quickstudy.base.canonical import plain
from quickstudy.base.record import OK, Record
from quickstudy.base.study import StudyRow
from quickstudy.learners.learner_spec import fitted, without_place
from quickstudy.measures.span import psychometric, span
from quickstudy.pages.profile.tuning import TUNED, Chosen, asked_on, chosen, family_of
from quickstudy.pages.study_request import Request
from quickstudy.report.words import MODEL_TITLES
from quickstudy.runs.array_files import load_trace
from quickstudy.runs.results import without_repetition
from quickstudy.runs.run_spec import make_task, protocol_of
from quickstudy.stats.intervals import student_interval

QUESTIONS: Mapping[str, str] = {
    "language": "How much does it learn from few examples?",
    "grammar": "How far does it go beyond its data?",
    "dynamics": "What does its memory compute?",
    "curriculum": "What does it learn by reward, and does it keep it?",
    "games": "Does it recombine what it has just seen?",
}
COSTS = (
    "examples",
    "updates",
    "trained_parameters",
    "fixed_parameters",
    "learn_seconds",
    "answer_seconds",
    "compile_seconds",
)


@dataclass(frozen=True)
class Spans:
    """Spans over seeds on one axis, and what follows from them.

    values: one span a seed. end: the last difficulty of the axis.
    """

    values: Sequence[float]
    end: float

    @property
    def span(self) -> float | None:
        """The mean over seeds of ln(1 + span), in natural units; None without runs."""
        return float(np.expm1(np.log1p(self.values).mean())) if len(self.values) else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % over seeds, within the axis; None for a single run."""
        if len(self.values) < 2:
            return None
        low, high = student_interval(np.log1p(self.values))
        return max(0.0, float(np.expm1(low))), min(float(np.expm1(high)), self.end)

    @property
    def ceiling(self) -> bool:
        """Whether the span is at the end of the axis: half a percent of the axis or less is
        missing.
        """
        return self.span is not None and np.log1p(self.span) > 0.995 * np.log1p(self.end)

    @property
    def shares(self) -> NDArray[np.float64]:
        """ln(1 + span) / ln(1 + end), one a seed."""
        return np.asarray(np.log1p(self.values) / np.log1p(self.end))


@dataclass(frozen=True)
class Item:
    """One item of the battery: who is measured on it, and how it went.

    name: short, as in `--json`.
    subject: task and protocol of the runs, for the norms.
    curves: (seed, bin) p of every run.
    why: the reason where there is no span.
    left_out: parameters of the learner's name that its training lacks here.
    seeds: those of the spans.
    data: spans after fewer training sequences, by their number.
    people: spans of people who played the item, over rounds, by name.
    unmeasured: costs that could not be measured, with the reason.
    """

    name: str
    label: str
    family: str
    task: Any
    subject: Mapping[str, Any]
    spans: Spans
    curves: Sequence[Sequence[float]] = ()
    cost: Mapping[str, float] = field(default_factory=dict)
    why: str = ""
    left_out: Sequence[str] = ()
    seeds: Sequence[int] = ()
    data: Mapping[int, Spans] = field(default_factory=dict)
    people: Mapping[str, Spans] = field(default_factory=dict)
    unmeasured: Mapping[str, str] = field(default_factory=dict)

    @property
    def curve(self) -> list[float]:
        """(bin,) the mean p over seeds."""
        return [float(value) for value in np.mean(self.curves, axis=0)] if len(self.curves) else []

    @property
    def taught(self) -> int:
        """The largest difficulty in the lesson, where tests go further; else 0."""
        return int(getattr(self.task, "taught", 0) or 0)

    @property
    def lyapunov_times(self) -> float | None:
        """A horizon in Lyapunov times, where the exponent of the series is known."""
        exponent = getattr(self.task, "lyapunov", None)
        return (
            None
            if exponent is None or self.spans.span is None
            else self.spans.span * float(exponent)
        )


@dataclass(frozen=True)
class Family:
    """The items of a family, and its number: the mean share of the axes, over seeds that all items
    have.
    """

    name: str
    items: Sequence[Item]
    tuning: Chosen | None = None

    @property
    def missing(self) -> list[Item]:
        """The items without a span: with any of them there is no number."""
        return [item for item in self.items if item.why]

    @property
    def shares(self) -> NDArray[np.float64]:
        """(seed,): the mean over items of the share of the axis; empty where an item is missing."""
        if self.missing:
            return np.empty(0)
        seeds = sorted(set.intersection(*(set(item.seeds) for item in self.items)))
        own = [dict(zip(item.seeds, item.spans.shares, strict=True)) for item in self.items]
        return np.array([np.mean([share[seed] for share in own]) for seed in seeds])

    @property
    def share(self) -> float | None:
        """Their mean."""
        return float(self.shares.mean()) if len(self.shares) else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % over seeds, within the chart."""
        if len(self.shares) < 2:
            return None
        low, high = student_interval(self.shares)
        return max(0.0, low), min(high, 1.0)


@dataclass(frozen=True)
class Profile:
    """A learner on all items, under one ruleset."""

    learner: str
    ruleset: str
    families: Sequence[Family]

    @property
    def items(self) -> list[Item]:
        """All items, family by family."""
        return [item for family in self.families for item in family.items]


def profile_of(request: Request, typed: str) -> Profile:
    """What the folder holds of a learner now."""
    records = request.shelf.made("runs by identity", lambda: _by_place(request))
    families = []
    for name in dict.fromkeys(map(family_of, request.rows)):
        rows = [row for row in request.rows if family_of(row) == name]
        tuning = name_in(request, rows[0], typed)[2]
        families.append(Family(name, [_item(request, row, typed, records) for row in rows], tuning))
    return Profile(without_place(typed), str(request.study.settings.get("ruleset", "")), families)


def name_in(
    request: Request, row: StudyRow, typed: str
) -> tuple[str | None, tuple[str, ...], Chosen | None]:
    """What a learner is called on a row, None while its tuning has not been run; which parameters
    of the typed name its training lacks there; how it was chosen.
    """
    asked = asked_on(row.task, row.protocol, request.convention)
    if request.study.settings.get("ruleset") == TUNED:
        choice = chosen(request, typed, family_of(row))
        return (
            (None if choice.name is None else fitted(choice.name, request.convention, asked).name),
            (),
            choice,
        )
    found = fitted(typed, request.convention, asked)
    return found.name, found.left_out, None


def span_of(trace: Any) -> float:
    """The span of one run, from its trace."""
    return float(
        span(psychometric(trace)[-1], trace.arrays["difficulty"], float(trace.facts["least"]))
    )


def _item(request: Request, row: StudyRow, typed: str, records: Mapping[str, list[Record]]) -> Item:
    task = make_task(row.task, request.convention)
    name, left_out, _ = name_in(request, row, typed)
    end = float(task.grid[-1])

    def empty(why: str, subject: Mapping[str, Any] | None = None) -> Item:
        nothing = Spans((), end)
        return Item(
            item_name(row),
            row.label,
            family_of(row),
            task,
            subject or {},
            nothing,
            (),
            {},
            why,
            left_out,
        )

    if name is None:
        return empty("not tuned yet")
    identity = plain(request.results.identity(request.setting(row, name)))
    subject = {part: identity[part] for part in ("task", "protocol", "convention")}
    found = _runs(request, row, name, records)
    finished = [record for record in found if record.status == OK]
    if not finished:
        reasons = dict.fromkeys(f"{record.status}: {record.reason}" for record in found)
        return empty("; ".join(reasons) or "not run yet", subject)
    traces = [load_trace(request.folder, record) for record in finished]
    curves = [psychometric(trace)[-1].tolist() for trace in traces]
    kinds = dict.fromkeys(
        (*COSTS, *MODEL_TITLES, *(kind for record in finished for kind in record.cost))
    )
    known = {kind: [one.cost.get(kind) for one in finished] for kind in kinds}
    # Of runs without a count (an unknown number of parameters, a run before it was measured)
    # there is no mean.
    cost = {
        kind: float(np.mean([float(one) for one in values if one is not None]))
        for kind, values in known.items()
        if any(one is not None for one in values)
    }
    unmeasured = {
        name: str(reason)
        for record in finished
        for name, reason in (record.where.get("unmeasured") or {}).items()
    }
    return Item(
        item_name(row),
        row.label,
        family_of(row),
        task,
        subject,
        Spans([span_of(one) for one in traces], end),
        curves,
        cost,
        "",
        left_out,
        [int(record.what["repetition"]) for record in finished],
        {
            int(less.protocol["sequences"]): Spans(
                [span_of(load_trace(request.folder, one)) for one in own], end
            )
            for less in less_data(request, row)
            if (own := [one for one in _runs(request, less, name, records) if one.status == OK])
        },
        _people(request, subject, records, end),
        unmeasured,
    )


def _people(
    request: Request, subject: Mapping[str, Any], records: Mapping[str, list[Record]], end: float
) -> dict[str, Spans]:
    """Spans of people on the task of an item, by name: all their rounds."""
    found: dict[str, list[float]] = {}
    for record in (
        one for every in records.values() for one in every if one.labels.get("role") == PERSON
    ):
        if all(record.what[part] == subject[part] for part in ("task", "convention")):
            name = str(record.part("learner")["parameters"].get("name") or PERSON)
            found.setdefault(name, []).append(span_of(load_trace(request.folder, record)))
    return {name: Spans(values, end) for name, values in sorted(found.items())}


def _runs(
    request: Request, row: StudyRow, name: str, records: Mapping[str, list[Record]]
) -> list[Record]:
    """All runs of a learner on a row, by repetition, up to the seeds of the request."""
    identity = plain(request.results.identity(request.setting(row, name)))
    found = [
        one
        for one in records.get(without_repetition(identity), [])
        if int(one.what["repetition"]) < request.seeds
    ]
    return sorted(found, key=lambda record: int(record.what["repetition"]))


def less_data(request: Request, row: StudyRow) -> list[StudyRow]:
    """The row with fewer training sequences, where the study asks for that and the item is one of
    symbols.
    """
    if protocol_of(registries.task.get(row.task.partition(":")[0])) != "span":
        return []
    sizes = request.study.settings.get("data", ())
    return [replace(row, protocol={**row.protocol, "sequences": int(size)}) for size in sizes]


def item_name(row: StudyRow) -> str:
    """The short name of an item: that of its task, or of the group that is tracked."""
    id, _, assignments = row.task.partition("/")[2].partition(":")
    return (
        assignments.removeprefix("group=").lower() if id == "track" and "=" in assignments else id
    )


def _by_place(request: Request) -> dict[str, list[Record]]:
    """All runs of the folder, failed ones too, by what was run apart from the repetition."""
    found: dict[str, list[Record]] = {}
    known = {"task", "learner", "protocol", "convention", "root", "repetition"}
    for record in request.shelf.reading().records.values():
        if known <= {*record.what}:
            found.setdefault(without_repetition(record.what), []).append(record)
    return found


def question_of(family: str) -> str:
    """What a family asks."""
    return QUESTIONS.get(family) or str(registries.protocol.get(family).question)
