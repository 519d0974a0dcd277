"""The report card: the spans of a learner on every item, among the reference learners, with curves and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quickstudy.base.blocks import (
    CONTROL,
    COUNT,
    LINEAR,
    LOG,
    POINTS,
    SECONDS,
    Axis,
    Block,
    Cell,
    Column,
    Details,
    Group,
    Line,
    Made,
    Mark,
    Name,
    Number,
    Panel,
    Plot,
    Plotted,
    Section,
    Strip,
    Strips,
    Table,
    Text,
)
from quickstudy.base.catalogue import block
from quickstudy.base.errors import UsageError
from quickstudy.pages.profile.norms import ItemNorms, Norms, load_norms
from quickstudy.pages.profile.spans import COSTS, Family, Item, less_data, name_in, profile_of, question_of
from quickstudy.pages.profile.spans import Profile as Found
from quickstudy.pages.profile.tuning import AS_GIVEN, TUNED, tuning_seeds, tuning_settings
from quickstudy.pages.profile.words import against_baseline, can, family_line, in_short, rank, sentences
from quickstudy.pages.request import Request, Stage
from quickstudy.render.numbers import span_text
from quickstudy.report.words import COST_TITLES, MODEL_TITLES

PLANE = ("lookup", "parity")
"""The items of the recall-tracking plane: looking things up against following a state."""


@block("profile", version=2)
class Profile:
    """One learner on all items of the battery. The study's settings say who, by which ruleset, and who else is here."""

    def stages(self, request: Request) -> Iterator[Stage]:
        """The runs of the tuning, where there is one; then the learner on every item."""
        learner = examined(request)
        if request.study.settings.get("ruleset") == TUNED:
            yield Stage(list(tuning_settings(request, learner)), tuning_seeds(request))
        # What compiles most comes first: at the end short runs keep all workers busy.
        rows = [one for row in reversed(request.rows) for one in (row, *less_data(request, row))]
        named = [(row, name_in(request, row, learner)[0]) for row in rows]
        yield Stage([request.setting(row, name) for row, name in named if name is not None], request.seeds)

    def blocks(self, request: Request) -> Made:
        """The card."""
        found, norms = profile_of(request, examined(request)), load_norms()
        norms = norms.without(found.learner) if norms else None
        others = [profile_of(request, one) for one in request.study.settings.get("beside", [])]
        name = request.study.settings.get("card", "card")
        blocks: list[Block] = [
            Text(in_short(found, norms), "verdict"),
            _chart(found, norms, name),
            *(Text(sentence) for sentence in sentences(found, norms)),
            *([_plane([found, *others], norms, name)] if _has_plane(found) else []),
            _curves(found, norms, name),
            *([_data(found, name)] if any(item.data for item in found.items) else []),
            _table(found, norms, name),
            *([_together([found, *others], name)] if others else []),
            *(part for part in [_tuning(found)] if part),
            _cost(found, request.study.settings.get("energy"), name),
            Section("What this budget cannot show", [Text(_limits(request))], "limits"),
        ]
        return Made(blocks, {"card": card_facts(found, norms, request)})


def examined(request: Request) -> str:
    """Who the card is of. Raises UsageError where the study was asked for without a learner."""
    learner = request.study.settings.get("examined")
    if not learner:
        size = request.study.id.rpartition("-")[2]
        raise UsageError(f"{request.study.id} needs a learner; type: quickstudy profile esn --{size}")
    return str(learner)


def _norms_of(item: Item, norms: Norms | None) -> ItemNorms | None:
    return norms.of(item) if norms else None


def _chart(found: Found, norms: Norms | None, name: str) -> Strips:
    rows = []
    for family in found.families:
        for item in family.items:
            known = _norms_of(item, norms)
            ticks = [(one.span or 0.0, who) for who, one in known.learners.items()] if known else []
            marks = [] if known is None or known.best_control is None else [known.best_control[::-1]]
            note = item.why or _short_rank(item, known)
            rows.append(
                Strip(item.task.unit, item.spans.end, item.spans.span, item.spans.interval, item.spans.ceiling,
                      ticks, marks, family.name, note)
            )  # fmt: skip
    caption = (
        f"Spans of {found.learner} with 95 % intervals over seeds. Ticks: reference learners. "
        "Raised ticks: the best baseline. A plus: the axis ends there."
    )
    words = f"One row per item, with the span of {found.learner} on a logarithmic axis in the item's own unit"
    headings = {
        one.name: f"{one.name.capitalize()}. {question_of(one.name)} {family_line(one)}" for one in found.families
    }
    return Strips(name, caption, words, found.learner, rows, "in the unit of each row (logarithmic)", headings)


def _short_rank(item: Item, known: ItemNorms | None) -> str:
    if known is None or item.spans.interval is None:
        return ""
    if against_baseline(item, known) == "not above":
        return "as a baseline"
    return f"> {len(known.clearly_below(item.spans))} of {len(known.learners)}"


def _has_plane(found: Found) -> bool:
    return {item.name for item in found.items if not item.why} >= set(PLANE)


def _plane(found: Sequence[Found], norms: Norms | None, name: str) -> Plot:
    """Looking up against following a state: everybody as a named point."""
    axes = {item.name: item for item in found[0].items if item.name in PLANE}
    series = []
    for number, one in enumerate(found):
        own = {item.name: item.spans for item in one.items if not item.why}
        if set(PLANE) <= set(own):
            x, y = ((own[axis].span or 0.0) + 1 for axis in PLANE)
            series.append(Plotted(one.learner, Mark(number=number), [x], [y], kind=POINTS, names=[one.learner]))
    if norms and all(norms.of(item) for item in axes.values()):
        lookup, parity = (norms.items[axis].learners for axis in PLANE)
        names = [who for who in lookup if who in parity and who not in {one.learner for one in found}]
        across, up = ([(spans[who].span or 0.0) + 1 for who in names] for spans in (lookup, parity))
        series.append(Plotted("reference learners", Mark(CONTROL), across, up, kind=POINTS, names=names))
    x_axis, y_axis = (
        Axis(axes[axis].task.unit, LOG, (1.0, axes[axis].spans.end * 1.3 + 1), _ticks(axes[axis])) for axis in PLANE
    )
    return Plot(
        f"{name}-plane", "Recall against state tracking: pairs looked up, and bits of parity followed",
        "Every learner as a named point", x_axis, y_axis, [Panel(series)], direct=False,
    )  # fmt: skip


def _ticks(item: Item) -> list[tuple[float, str]]:
    return [(value + 1.0, str(value)) for value in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256) if value <= item.spans.end]


def _curves(found: Found, norms: Norms | None, name: str) -> Plot:
    """Psychometric functions as small multiples: p by difficulty."""
    panels = [
        Panel([Plotted("", Mark(), list(map(float, item.task.grid)), list(item.curve), dots=True)], item.task.unit)
        for item in found.items
        if not item.why
    ]
    ticks = [(0.0, "chance"), (0.5, "0.5"), (1.0, "1")]
    return Plot(
        f"{name}-curves", "Psychometric functions: what is right at each difficulty, 0 at chance and 1 if all is right",
        "One panel per item, the mean over seeds", Axis("difficulty", LOG, (1.0, 512.0)),
        Axis("p", LINEAR, (-0.1, 1.05), ticks), panels, direct=False,
    )  # fmt: skip


def _data(found: Found, name: str) -> Plot:
    """Span against the number of training sequences, as small multiples."""
    panels = []
    for item in found.items:
        if item.data:
            whole = int(item.subject["protocol"]["parameters"]["sequences"])
            known = sorted({**item.data, whole: item.spans}.items())
            ends = [spans.interval or (spans.span or 0.0,) * 2 for _, spans in known]
            curve = Plotted(
                "", Mark(), [float(size) for size, _ in known], [1 + (spans.span or 0.0) for _, spans in known],
                [1 + low for low, _ in ends], [1 + high for _, high in ends], dots=True,
            )  # fmt: skip
            panels.append(Panel([curve], item.task.unit))
    return Plot(
        f"{name}-data", "How soon: the span after fewer training sequences, each trained to its own end",
        "One panel per item, with 95 % intervals over seeds", Axis("training sequences", LOG),
        Axis("1 + span", LOG, (1.0, 520.0)), panels, direct=False,
    )  # fmt: skip


def _table(found: Found, norms: Norms | None, name: str) -> Table:
    columns = [
        Column("family", numeric=False), Column("item", numeric=False), Column("span", "higher"),
        Column("axis ends"), Column("best baseline"), Column("more than, of the reference learners", numeric=False),
        Column("seeds"),
    ]  # fmt: skip
    groups = []
    for family in found.families:
        lines = [_line(family, item, norms, first) for first, item in enumerate(family.items)]
        share = Number(family.share, family.interval, strong=True, note="" if family.share is not None else "–")
        lines.append(Line(["", Name("share of the chart", strong=True), share, "", "", "", ""]))
        groups.append(Group(lines))
    caption = (
        "Span: exp(ln(1 + d0) + sum of p times the width of its bin on ln(1 + d)) - 1, mean over seeds with 95 % "
        "interval. Share of the chart: mean of ln(1 + span) / ln(1 + end of the axis). More than: reference learners "
        "whose interval lies below."
    )
    return Table(f"{name}-spans", caption, columns, groups, data=_rows(found, norms), paper=True)


def _line(family: Family, item: Item, norms: Norms | None, first: int) -> Line:
    known, spans = _norms_of(item, norms), item.spans
    best = known.best_control if known else None
    span = Number(spans.span, spans.interval, word=f"{span_text(spans.end)}+" if spans.ceiling else "", note=item.why)
    baseline = Number(best[1], note=best[0]) if best else Number(None)
    below = f"{len(known.clearly_below(spans))} of {len(known.learners)}" if known and spans.interval else "–"
    return Line(
        [Name(family.name) if not first else "", Name(item.label, note=item.task.unit), span,
         Number(spans.end, form=COUNT), baseline, below, Number(len(spans.values), form=COUNT)]
    )  # fmt: skip


def _rows(found: Found, norms: Norms | None) -> list[Sequence[Any]]:
    heading = ["learner", "ruleset", "family", "item", "unit", "span", "low", "high", "end", "ceiling", "baseline",
               "baseline_span", "more_than", "of", "seeds", "reason"]  # fmt: skip
    rows: list[Sequence[Any]] = [heading]
    for family in found.families:
        for item in family.items:
            facts = item_facts(item, norms)
            interval = facts["interval"] or (None, None)
            ranked = facts["rank"] or {}
            baseline = facts["baseline"] or {}
            rows.append(
                [found.learner, found.ruleset, family.name, item.name, facts["unit"], facts["span"], *interval,
                 facts["end"], facts["ceiling"], baseline.get("name"), baseline.get("span"), ranked.get("more_than"),
                 ranked.get("of"), facts["seeds"], item.why]
            )  # fmt: skip
    return rows


def _together(found: Sequence[Found], name: str) -> Table:
    """All learners of the folder, the share of each family."""
    families = [family.name for family in found[0].families]
    lines = [
        Line([Name(one.learner, strong=not place), *(Number(own.share, own.interval) for own in one.families)])
        for place, one in enumerate(found)
    ]
    heading = [Column("learner", numeric=False), *(Column(family, "higher") for family in families)]
    caption = f"All learners of this folder ({found[0].ruleset}): share of the chart, by family"
    return Table(f"{name}-together", caption, heading, [Group(lines)])


def _cost(found: Found, energy: float | None, name: str) -> Table:
    """Mean cost of one run on each item, and of all tuning runs together."""
    names = (*COSTS, *(one for one in MODEL_TITLES if any(item.cost.get(one) for item in found.items)))
    titles = {**COST_TITLES, **MODEL_TITLES}
    lines = [
        Line([Name(family.name), Name(item.label), *_costs(item.cost, names)])
        for family in found.families
        for item in family.items
        if not item.why
    ]
    for family in found.families:
        if family.tuning and family.tuning.runs:
            label = f"tuning, {family.tuning.runs} runs together"
            lines.append(Line([Name(family.name), Name(label), *_costs(family.tuning.cost, names)]))
    columns = [Column("family", numeric=False), Column("item", numeric=False)]
    read = "not readable on this machine" if energy is None else f"{energy / 1000:.3g} kJ, of the whole processor"
    caption = f"Cost of {found.learner}, mean of a run; energy of all runs: {read}"
    return Table(f"{name}-cost", caption, [*columns, *(Column(titles[one]) for one in names)], [Group(lines)])


def _costs(cost: Mapping[str, float], names: Sequence[str]) -> list[Cell]:
    return [Number(cost.get(one), form=SECONDS if one.endswith("seconds") else COUNT) for one in names]


def _tuning(found: Found) -> Block | None:
    """How the settings were chosen, where they were."""
    lines: list[Block] = []
    for family in found.families:
        choice = family.tuning
        if choice is None:
            continue
        if not choice.tried:
            lines.append(Text(f"{family.name}: one candidate, {choice.name or 'not run yet'}."))
            continue
        tried = ", ".join(f"{one} {value:.4g}" for one, value in choice.tried.items())
        tie = f"; {choice.tied} of them tied, and the usual setting was kept" if choice.tied > 1 else ""
        lines.append(Text(f"{family.name}: {choice.name}, by {choice.score} on {choice.task} ({tried}){tie}."))
    return Details("How it was tuned: on tasks and seeds that are not reported", lines, open=True) if lines else None


def _limits(request: Request) -> str:
    return " ".join(str(request.study.settings.get("limits", "")).split()) or "The study states no limits."


def card_facts(found: Found, norms: Norms | None, request: Request) -> dict[str, Any]:
    """Everything on a card in plain types."""
    return {
        "learner": found.learner,
        "ruleset": found.ruleset or AS_GIVEN,
        "study": request.study.id,
        "version": request.study.version,
        "convention": request.convention,
        "words": [in_short(found, norms), *sentences(found, norms)],
        "families": [
            {
                "family": family.name,
                "share": family.share,
                "interval": family.interval,
                "missing": [{"item": item.name, "reason": item.why} for item in family.missing],
                "items": [item_facts(item, norms) for item in family.items],
                "tuning": None if family.tuning is None else vars(family.tuning),
            }
            for family in found.families
        ],
        "norms": None if norms is None else {one: norms.facts[one] for one in norms.facts if one != "subjects"},
        "energy_joules": request.study.settings.get("energy"),
    }


def item_facts(item: Item, norms: Norms | None) -> dict[str, Any]:
    """One item of a card in plain types."""
    known = _norms_of(item, norms)
    best = known.best_control if known else None
    ranked = known is not None and item.spans.interval is not None
    return {
        "item": item.name,
        "task": item.subject.get("task", {}).get("id"),
        "label": item.label,
        "unit": item.task.unit,
        "span": item.spans.span,
        "interval": item.spans.interval,
        "end": item.spans.end,
        "ceiling": item.spans.ceiling,
        "rank": {"more_than": len(known.clearly_below(item.spans)), "of": len(known.learners)}
        if known is not None and ranked
        else None,
        "baseline": {"name": best[0], "span": best[1]} if best else None,
        "against_baseline": against_baseline(item, known) or None,
        "words": "" if item.why else f"{can(item)}" + (f", {rank(item, known)}" if rank(item, known) else ""),
        "curve": list(item.curve),
        "difficulty": list(item.task.grid),
        "spans": list(item.spans.values),
        "by_data": {size: {"span": own.span, "interval": own.interval} for size, own in sorted(item.data.items())},
        "seeds": len(item.spans.values),
        "cost": dict(item.cost or {}),
        "left_out": list(item.left_out),
        "reason": item.why,
    }
