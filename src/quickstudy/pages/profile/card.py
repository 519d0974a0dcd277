"""The report card: five families on one scale, their tasks, curves and cost, and what that says in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from quickstudy.base.blocks import (
    CONTROL,
    COUNT,
    HALF,
    LINEAR,
    ORACLE,
    PERSON,
    POINTS,
    SECONDS,
    Axis,
    Block,
    Cell,
    Column,
    Details,
    Group,
    Guide,
    Line,
    Made,
    Mark,
    Name,
    Number,
    Panel,
    Plot,
    Plotted,
    Section,
    Table,
    Text,
)
from quickstudy.base.catalogue import block
from quickstudy.base.errors import UsageError
from quickstudy.pages.profile.standing import Family, Standing, Task, name_in, people_beside, standing
from quickstudy.pages.profile.tuning import AS_GIVEN, TUNED, tuning_seeds, tuning_settings
from quickstudy.pages.profile.words import in_short, phrase, sentences
from quickstudy.pages.request import Request, Stage
from quickstudy.render.numbers import scored
from quickstudy.report.model import ReportData, Row
from quickstudy.report.sections import figure
from quickstudy.report.statistics import Contrast
from quickstudy.report.tables import marks_of, score_table
from quickstudy.report.words import COST_TITLES, MODEL_TITLES, counted

_COSTS = ("examples", "updates", "trained_parameters", "fixed_parameters", "learn_seconds", "answer_seconds",
          "compile_seconds")  # fmt: skip


@block("profile", version=1)
class Profile:
    """One learner in all families of a study. The study's settings say who, by which ruleset, and who stands beside."""

    def stages(self, request: Request) -> Iterator[Stage]:
        """What the tuning needs, where there is one; then the learner, the rules and the oracle of every task."""
        learner = examined(request)
        if request.study.settings.get("ruleset") == TUNED:
            yield Stage(list(tuning_settings(request, learner)), tuning_seeds(request))
        # Games compile most and so come first: at the end short runs keep all workers busy.
        named = [(row, name_in(request, row, learner)[0]) for row in reversed(request.rows)]
        own = [request.setting(row, name) for row, name in named if name is not None]
        yield Stage([*own, *request.rules()], request.seeds)

    def blocks(self, request: Request) -> Made:
        """The card."""
        beside = [one for one in request.study.settings.get("beside", []) if one != examined(request)]
        found = standing(request, examined(request), beside)
        others = [*(standing(request, one) for one in beside), *people_beside(found)]
        blocks: list[Block] = [
            Text(in_short(found), "verdict"),
            _summary(found),
            *(Text(sentence) for sentence in sentences(found)),
            *([_beside([found, *others])] if others else []),
            _picture([found, *others]),
            *(part for part in [_tuning(found)] if part),
            _cost(found, request.study.settings.get("energy")),
            *(Section(family.name, list(_panel(family)), f"family-{family.name}") for family in found.families),
            Section("What this budget cannot show", [Text(_limits(request))], "limits"),
        ]
        return Made(blocks, {"card": card_facts(found, request)})


def examined(request: Request) -> str:
    """Who the card is of. Raises UsageError where the study was asked for without anybody."""
    learner = request.study.settings.get("examined")
    if not learner:
        size = request.study.id.rpartition("-")[2]
        raise UsageError(f"{request.study.id} examines a learner of your choice; type: quickstudy profile esn --{size}")
    return str(learner)


def _summary(found: Standing) -> Table:
    """The table that a terminal shows: every task, and the number of every family."""
    columns = [
        Column("family", numeric=False), Column("task", numeric=False), Column(found.learner), Column("best control"),
        Column("oracle"), Column("scaled", "higher"),
    ]  # fmt: skip
    groups = []
    for family in found.families:
        lines = [
            Line([Name(family.name) if place == 0 else "", *_line(task)]) for place, task in enumerate(family.tasks)
        ]
        if len(family.tasks) > 1:
            counts = f"mean of {counted(len(family.tasks) - len(family.unscaled), 'task')}"
            lines.append(Line(["", Name(counts, strong=True), "", "", "", _contrast(family.number, strong=True)]))
        groups.append(Group(lines))
    caption = (
        "scaled: 0 at the best control, 1 at the oracle; of a family, the mean over its tasks; "
        "± half the 95 % interval over seeds"
    )
    return Table("card", caption, columns, groups, HALF, _rows(found), paper=True)


def _line(task: Task) -> list[Cell]:
    table, own = task.table, task.own
    if table is None or own is None or table.middle(own) is None:
        return [Name(task.label), Number(None, note=task.why), "", "", Number(None)]
    ends = [task.end(role) for role in (CONTROL, ORACLE)]
    cells: list[Cell] = ["" if row is None else _score(task, row, row.learner) for row in ends]
    name = Name(task.label, note=table.judged.title)
    return [name, _score(task, own), *cells, _contrast(own.scaled) if not task.why else Number(None, note=task.why)]


def _score(task: Task, row: Row, note: str = "") -> Number:
    assert task.table is not None
    middle = task.table.middle(row)
    found = row.scores.get(task.table.headline or "")
    interval = found.shown(task.table.judged)[1] if found and not note else None
    made = scored(task.table.judged, middle)
    return Number(made.value, interval, made.form, made.word, note=note)


def _contrast(found: Contrast, strong: bool = False) -> Number:
    return Number(found.value, found.interval, strong=strong, note="" if found.value is not None else found.reason)


def _rows(found: Standing) -> list[Sequence[Any]]:
    heading = ["learner", "ruleset", "family", "task", "score", "value", "control", "oracle", "scaled", "low", "high",
               "runs", "why not"]  # fmt: skip
    rows: list[Sequence[Any]] = [heading]
    for family in found.families:
        for task in family.tasks:
            facts = task_facts(task)
            interval = facts["interval"] or (None, None)
            rows.append(
                [found.learner, found.ruleset, family.name, task.name, facts["score"], facts["value"], facts["control"],
                 facts["oracle"], facts["scaled"], *interval, facts["runs"], task.why]
            )  # fmt: skip
    return rows


def _beside(found: Sequence[Standing]) -> Table:
    """Everybody of the folder that was examined under this ruleset, one number a family."""
    families = [family.name for family in found[0].families]
    lines = [
        Line([Name(one.learner, strong=place == 0), *(_contrast(family.number) for family in one.families)])
        for place, one in enumerate(found)
    ]
    people = any(one.learner.partition(":")[0] == PERSON for one in found)
    caption = f"Everybody examined here under the ruleset “{found[0].ruleset}”: scaled, mean over the family's tasks"
    caption += "; people as far as they have played, in a shorter form" if people else ""
    heading = [Column("learner", numeric=False), *(Column(name, "higher") for name in families)]
    return Table("beside", caption, heading, [Group(lines)], HALF)


def _picture(found: Sequence[Standing]) -> Plot:
    families = [family.name for family in found[0].families]
    # As in the pictures of the tasks: people behind those that learn.
    colours = sorted((one.learner for one in found), key=lambda name: (name.partition(":")[0] == PERSON, name))
    series = []
    for number, one in enumerate(found):
        known = [(place, family) for place, family in enumerate(one.families) if family.number.value is not None]
        shift = 0.12 * (number - (len(found) - 1) / 2)
        values = [family.number.value or 0.0 for _, family in known]
        ends = [family.number.interval or (value, value) for (_, family), value in zip(known, values, strict=True)]
        series.append(
            Plotted(
                one.learner, Mark(number=colours.index(one.learner)), [place + shift for place, _ in known], values,
                [low for low, _ in ends], [high for _, high in ends], POINTS,
            )
        )  # fmt: skip
    ticks = list(enumerate(families))
    return Plot(
        "profile", "Scaled, by family: 0 at the best control, 1 at the oracle, with 95 % intervals over seeds",
        "One point for each family: " + ", ".join(phrase(family) or family.name for family in found[0].families),
        Axis("", LINEAR, (-0.5, len(families) - 0.5), ticks), Axis("scaled", LINEAR),
        [Panel(series, guides=[Guide(y=0.0, label="best control"), Guide(y=1.0, label="oracle")])], direct=False,
    )  # fmt: skip


def _panel(family: Family) -> Iterator[Block]:
    """One family whole: its question, and of each task the table and the picture."""
    yield Text(family.question, "question")
    for place, task in enumerate(family.tasks):
        if task.table is None:
            yield Text(f"{task.label}: {task.why}.", "remark")
            continue
        marks = marks_of(ReportData((task.table,), (), (), (), (), None))
        name = f"{family.name}-{place}"
        inside: list[Block] = [*figure(task.table, marks, name), score_table(task.table, marks, f"scores-{name}")]
        yield Section(task.label, [*inside, Text(task.table.verdict.text, "verdict")], note=task.name, listed=False)


def _cost(found: Standing, energy: float | None) -> Table:
    """What one run of each task has cost, and what the tuning has, all runs together."""
    own = [task.own for family in found.families for task in family.tasks if task.own is not None]
    names = (*_COSTS, *(name for name in MODEL_TITLES if any(row.cost.get(name) for row in own)))
    lines = [
        Line([Name(family.name), Name(task.label), *_costs(task.own.cost, names)])
        for family in found.families
        for task in family.tasks
        if task.own is not None
    ]
    tuned = [family for family in found.families if family.tuning and family.tuning.runs]
    lines += [
        Line(
            [Name(family.name), Name(f"tuning, {family.tuning.runs} runs together"), *_costs(family.tuning.cost, names)]
        )
        for family in tuned
        if family.tuning
    ]
    columns = [Column("family", numeric=False), Column("task", numeric=False)]
    read = "cannot be read on this machine" if energy is None else f"{energy / 1000:.3g} kJ, of the whole processor"
    caption = f"Cost of {found.learner}, mean of a run; energy while the runs were made: {read}"
    titles = {**COST_TITLES, **MODEL_TITLES}
    return Table("cost", caption, [*columns, *(Column(titles[name]) for name in names)], [Group(lines)])


def _costs(cost: Mapping[str, float], names: Sequence[str]) -> list[Cell]:
    return [Number(cost.get(name), form=SECONDS if name.endswith("seconds") else COUNT) for name in names]


def _tuning(found: Standing) -> Block | None:
    """How the settings were chosen, where they were."""
    tuned = [family for family in found.families if family.tuning]
    if not tuned:
        return None
    lines: list[Block] = []
    for family in tuned:
        choice = family.tuning
        assert choice is not None
        if not choice.tried:
            lines.append(Text(f"{family.name}: nothing to choose, {choice.name or 'not run yet'}."))
            continue
        tried = ", ".join(f"{name} {value:.4g}" for name, value in choice.tried.items())
        lines.append(Text(f"{family.name}: {choice.name}, by {choice.score} on {choice.task} ({tried})."))
    return Details("How it was tuned: on tasks and seeds that are not reported", lines, open=True)


def _limits(request: Request) -> str:
    given = " ".join(str(request.study.settings.get("limits", "")).split())
    return given or "This study says nothing of its limits."


def card_facts(found: Standing, request: Request) -> dict[str, Any]:
    """Everything on a card in plain types."""
    return {
        "learner": found.learner,
        "ruleset": found.ruleset or AS_GIVEN,
        "study": request.study.id,
        "version": request.study.version,
        "convention": request.convention,
        "words": [in_short(found), *sentences(found)],
        "families": [
            {
                "family": family.name,
                "scaled": family.number.value,
                "interval": family.number.interval,
                "seeds": family.number.n,
                "phrase": phrase(family),
                "without_scale": [{"task": task.name, "why": task.why} for task in family.unscaled],
                "tasks": [task_facts(task) for task in family.tasks],
                "tuning": None if family.tuning is None else vars(family.tuning),
            }
            for family in found.families
        ],
        "energy_joules": request.study.settings.get("energy"),
    }


def task_facts(task: Task) -> dict[str, Any]:
    """One task of a card in plain types."""
    table, own = task.table, task.own
    known = table is not None and own is not None
    return {
        "task": task.name,
        "label": task.label,
        "score": table.headline if table else None,
        "learner": own.learner if own else None,
        "value": table.middle(own) if table is not None and own is not None else None,
        "best_control": table.best_control if table else None,
        "control": table.middle(end) if table and (end := task.end(CONTROL)) else None,
        "oracle": table.middle(end) if table and (end := task.end(ORACLE)) else None,
        "scaled": own.scaled.value if known and own and not task.why else None,
        "interval": own.scaled.interval if known and own and not task.why else None,
        "runs": len(own.finished) if own else 0,
        "failed": [run.reason for run in own.unfinished] if own else [],
        "cost": dict(own.cost) if own else {},
        "left_out": list(task.left_out),
        "why": task.why,
    }
