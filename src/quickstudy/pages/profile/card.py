"""The report card: the spans of a learner on every item, among the reference learners, with curves
and cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from quickstudy.base.blocks import (
    COUNT,
    SECONDS,
    SPAN,
    Block,
    Cell,
    Column,
    Details,
    Group,
    Line,
    Made,
    Name,
    Number,
    Section,
    Table,
    Terms,
    Text,
)
from quickstudy.base.errors import UsageError
from quickstudy.base.registries import block
from quickstudy.pages.profile import chart
from quickstudy.pages.profile.chart import norms_of
from quickstudy.pages.profile.cost import energy_text, running_table, span_by_state
from quickstudy.pages.profile.facts import card_facts, span_rows
from quickstudy.pages.profile.norms import Norms, load_norms
from quickstudy.pages.profile.overview import span_number
from quickstudy.pages.profile.spans import COSTS, Item, less_data, name_in, profile_of
from quickstudy.pages.profile.spans import Profile as Found
from quickstudy.pages.profile.tuning import TUNED, tuning_seeds, tuning_settings
from quickstudy.pages.profile.words import cautions, family_sentences, in_short, rank_text
from quickstudy.pages.study_request import Request, Stage
from quickstudy.report.words import COST_TITLES, MODEL_TITLES, RUNNING_TITLES


@block("profile", version=3)
class Profile:
    """One learner on all items of the battery. The study's settings say who, by which ruleset, and
    who else is here.
    """

    def stages(self, request: Request) -> Iterator[Stage]:
        """The runs of the tuning, where there is one; then the learner on every item."""
        learner = examined(request)
        if request.study.settings.get("ruleset") == TUNED:
            yield Stage(list(tuning_settings(request, learner)), tuning_seeds(request))
        # What compiles most comes first: at the end short runs keep all workers busy.
        rows = [one for row in reversed(request.rows) for one in (row, *less_data(request, row))]
        named = [(row, name_in(request, row, learner)[0]) for row in rows]
        yield Stage(
            [request.setting(row, name) for row, name in named if name is not None], request.seeds
        )

    def blocks(self, request: Request) -> Made:
        """The card."""
        found, norms = profile_of(request, examined(request)), load_norms()
        norms = norms.without(found.learner) if norms else None
        others = [profile_of(request, one) for one in request.study.settings.get("beside", [])]
        name = request.study.settings.get("card", "card")
        blocks: list[Block] = [
            Text(in_short(found, norms), "verdict"),
            *(Text(one, "note") for one in cautions(found, norms)),
            chart.chart(found, norms, name),
            *_sections(found, others, norms, request, name),
        ]
        return Made(blocks, {"card": card_facts(found, norms, request)})


def _sections(
    found: Found, others: Sequence[Found], norms: Norms | None, request: Request, name: str
) -> Iterator[Section]:
    """What follows the chart; a picture that would be empty is left out."""
    if any(not item.why for item in found.items):
        yield Section("By difficulty", [chart.curves(found, name)], "difficulty")
    if any(item.data for item in found.items):
        yield Section("By data", [chart.data(found, name)], "data")
    if plane := chart.plane([found, *others], norms, name):
        yield Section("Recall and state tracking", [plane], "plane")
    words = Terms([(family, text, "") for family, text in family_sentences(found, norms)])
    yield Section("In words", [words], "words")
    tables = [_table(found, norms, name), *([_together([found, *others], name)] if others else [])]
    yield Section("In numbers", tables, "numbers")
    if tuning := _tuning(found):
        yield Section("Tuning", [tuning], "tuning")
    settings = request.study.settings
    energy = energy_text(settings.get("energy"), settings.get("energy_unknown"))
    costs: list[Block] = [_cost(found, energy, name), *running_table(found, name)]
    if by_state := span_by_state(found, norms, name):
        costs.append(by_state)
    yield Section("Cost", costs, "cost")
    yield Section("What this budget cannot show", [Text(_limits(request))], "limits")


def examined(request: Request) -> str:
    """The learner of the card. Raises UsageError where the study was asked for without a
    learner.
    """
    learner = request.study.settings.get("examined")
    if not learner:
        size = request.study.id.rpartition("-")[2]
        raise UsageError(
            f"{request.study.id} needs a learner; type: quickstudy profile esn --{size}"
        )
    return str(learner)


def _table(found: Found, norms: Norms | None, name: str) -> Table:
    columns = [
        Column("item", numeric=False),
        Column("unit", numeric=False),
        Column("span", "higher"),
        Column("axis ends"),
        Column("best baseline"),
        Column("reference learners", numeric=False),
        Column("seeds"),
    ]
    groups = []
    for family in found.families:
        lines = [_line(item, norms) for item in family.items]
        share = Number(family.share, family.interval, strong=True)
        rank = rank_text(norms.family_rank(family) if norms else None, short=True) or "–"
        lines.append(Line([Name("share of the chart", strong=True), "", share, "", "", rank, ""]))
        groups.append(Group(lines, family.name))
    caption = (
        "Span: exp(ln(1 + d0) + sum of p times the width of its bin on ln(1 + d)) - 1, mean over"
        " seeds with 95 % interval. Share of the chart: mean of ln(1 + span) / ln(1 + end of the"
        " axis). More, less than: reference learners whose interval lies below, above."
    )
    return Table(
        f"{name}-spans", caption, columns, groups, data=span_rows(found, norms), paper=True
    )


def _line(item: Item, norms: Norms | None) -> Line:
    known, spans = norms_of(item, norms), item.spans
    best = known.best_control if known else None
    baseline = Number(best[1], form=SPAN, note=best[0]) if best else Number(None)
    rank = rank_text(known.rank(spans) if known else None, short=True) or "–"
    return Line(
        [
            Name(item.label),
            item.task.unit,
            span_number(item),
            Number(spans.end, form=COUNT),
            baseline,
            rank,
            Number(len(spans.values), form=COUNT),
        ]
    )


def _together(found: Sequence[Found], name: str) -> Table:
    """All learners of the folder, the share of each family."""
    families = [family.name for family in found[0].families]
    lines = [
        Line(
            [
                Name(one.learner, strong=not place),
                *(Number(own.share, own.interval) for own in one.families),
            ]
        )
        for place, one in enumerate(found)
    ]
    heading = [Column("learner", numeric=False), *(Column(family, "higher") for family in families)]
    caption = f"All learners of this folder ({found[0].ruleset}): share of the chart, by family"
    return Table(f"{name}-together", caption, heading, [Group(lines)])


def _cost(found: Found, energy: str, name: str) -> Table:
    """Mean cost of one run on each item, and of all tuning runs together."""
    known = dict.fromkeys(one for item in found.items for one, value in item.cost.items() if value)
    names = [one for one in dict.fromkeys((*COSTS, *known)) if one not in RUNNING_TITLES]
    titles = {**COST_TITLES, **MODEL_TITLES}
    groups = []
    for family in found.families:
        lines = [
            Line([Name(item.label), *_costs(item.cost, names)])
            for item in family.items
            if not item.why
        ]
        if family.tuning and family.tuning.runs:
            label = f"tuning, {family.tuning.runs} runs together"
            lines.append(Line([Name(label), *_costs(family.tuning.cost, names)]))
        groups.append(Group(lines, family.name))
    columns = [
        Column("item", numeric=False),
        *(Column(titles.get(one, one.replace("_", " "))) for one in names),
    ]
    caption = f"Mean cost of one run of {found.learner}. Energy of all runs: {energy}"
    return Table(f"{name}-cost", caption, columns, groups)


def _costs(cost: Mapping[str, float], names: Sequence[str]) -> list[Cell]:
    return [
        Number(cost.get(one), form=SECONDS if one.endswith("seconds") else COUNT) for one in names
    ]


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
        tie = (
            f"; {choice.tied} of them tied, and the usual setting was kept"
            if choice.tied > 1
            else ""
        )
        lines.append(
            Text(
                f"{family.name}: {choice.name}, by {choice.score} on {choice.task} ({tried}){tie}."
            )
        )
    return (
        Details("How it was tuned: on tasks and seeds that are not reported", lines, open=True)
        if lines
        else None
    )


def _limits(request: Request) -> str:
    return (
        " ".join(str(request.study.settings.get("limits", "")).split())
        or "The study states no limits."
    )
