"""Tables of the HTML report: sortable by a click, with every number at full precision behind what is shown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from quickstudy.base.measure import MEDIAN, PLAIN, Score
from quickstudy.report.markup import escape, tag
from quickstudy.report.model import CONTROL, LEARNER, LEARNING, ORACLE, REPLAY, Change, Row, TaskTable
from quickstudy.report.numbers import COST_TITLES, NOTHING, bounds, contrast, cost, interval_of, score, shown, written
from quickstudy.report.pictures import Style
from quickstudy.report.statistics import FEWEST, Contrast
from quickstudy.report.verdict import clear_winner
from quickstudy.report.words import counted
from quickstudy.stats.intervals import Interval

_ARROWS = {
    "higher": '&nbsp;<span class="arrow" title="higher is better">↑</span>',
    "lower": '&nbsp;<span class="arrow" title="lower is better">↓</span>',
}

_LONG = 26
"""Labels of more letters than this may be broken."""


@dataclass(frozen=True)
class Head:
    """The heading of a column: markup, whether numbers stand under it, and a class."""

    title: str
    numeric: bool = True


def cell(markup: str, value: float | None = None, class_: str = "number") -> str:
    """A cell with a number. `data-value` is what sorting uses and what the embedded data hold."""
    known = value is not None and not math.isnan(value)
    return tag("td", markup, class_=class_, data_value=repr(float(value)) if known and value is not None else None)


def name_cell(row: Row, style: str, strong: bool = False) -> str:
    """The first cell of a row: the line as it is drawn, then the label."""
    label = _label(row.learner)
    key = tag("span", class_=f"key {style}", aria_hidden="true")
    return tag(
        "th", key, tag("strong", label) if strong else tag("span", label), scope="row", class_=_width(row.learner)
    )


def table(id: str, caption: str, heads: Sequence[Head], groups: Sequence[tuple[str, Sequence[str]]]) -> str:
    """A sortable table. groups: (title or nothing, rows as markup); sorting keeps the groups apart."""
    head = "".join(_heading(one) for one in heads)
    bodies = []
    for title, rows in groups:
        if title:
            line = tag("th", escape(title), colspan=len(heads), scope="rowgroup")
            bodies.append(tag("tbody", tag("tr", line), class_="group"))
        bodies.append(tag("tbody", *rows, class_="rows"))
    whole = tag("table", tag("thead", tag("tr", head)), *bodies, id=id, class_="sortable", aria_label=caption)
    # Outside of the box that scrolls: a caption must be readable whole in a narrow window.
    box = tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=caption)
    return tag("figure", tag("figcaption", escape(caption)), box, class_="table")


def score_table(found: TaskTable, style: Style, id: str) -> str:
    """All scores of a task; the best learner is bold only where its interval lies apart from the next one's."""
    columns, legend = found.columns, found.legend
    titles = {
        LEARNER: f"Learners: {legend.once}" if legend.replay_apart else "Learners",
        REPLAY: f"Learners with replay: {legend.again}, and ranked apart",
        CONTROL: "Controls: rules that never learn",
        ORACLE: "Oracle: the best that can be done",
    }
    heads = [Head("learner", False), Head("runs")]
    for index, column in enumerate(columns):
        note = '<small class="under">median</small>' if column.shown == MEDIAN else ""
        heads.append(Head(escape(column.title) + _ARROWS.get(column.better, "") + note))
        if index == 0:
            heads.append(Head("scaled" + _ARROWS["higher"]))
    winners = [clear_winner(found, role) for role in LEARNING]
    groups = []
    for role, title in titles.items():
        rows = [_score_row(row, columns, style[row.role, row.learner], row in winners) for row in found.of_role(role)]
        if rows:
            groups.append((title, rows))
    return table(id, f"Scores on {found.task}, convention {found.convention}", heads, groups)


def cost_table(found: TaskTable, style: Style, id: str) -> str:
    """The mean cost of a run; costs that nobody has are left out."""
    names = [name for name in COST_TITLES if any(row.cost.get(name) for row in found.rows)]
    if not names:
        return ""
    rows = [
        tag(
            "tr",
            name_cell(row, style[row.role, row.learner]),
            *(cell(cost(name, row.cost), row.cost.get(name)) for name in names),
            class_=row.role,
        )
        for row in found.rows
    ]
    heads = [Head("learner", False), *(Head(re.sub(" s$", "&nbsp;s", COST_TITLES[name])) for name in names)]
    return table(id, f"Mean cost of a run on {found.task}", heads, [("", rows)])


def failure_table(found: TaskTable, id: str) -> str:
    """Runs that failed or did not apply, by reason; nothing when there are none."""
    rows = []
    for row in found.rows:
        reasons: dict[tuple[str, str], list[str]] = {}
        for run in row.unfinished:
            reasons.setdefault((run.status, run.reason), []).append(f"{run.root}/{run.repetition}")
        for (status, reason), seeds in reasons.items():
            cells = [cell(str(len(seeds)), len(seeds)), tag("td", escape(", ".join(seeds)))]
            first = tag("th", _label(row.learner), scope="row", class_=_width(row.learner))
            rows.append(
                tag(
                    "tr",
                    first,
                    tag("td", escape(status)),
                    *cells,
                    tag("td", escape(reason or NOTHING), class_="reason"),
                )
            )
    if not rows:
        return ""
    heads = [Head("learner", False), Head("status", False), Head("runs"), Head("seeds (root/repetition)", False)]
    return table(id, f"Runs without a result on {found.task}", [*heads, Head("reason", False)], [("", rows)])


def change_table(change: Change, id: str) -> str:
    """What the convention changes on one task."""
    first, last = change.conventions[0], change.conventions[-1]
    heads = [Head("learner", False), Head("score", False), *(Head(escape(name)) for name in change.conventions)]
    rows = [
        tag(
            "tr",
            tag("th", _label(row.learner), scope="row", class_=_width(row.learner)),
            tag("td", escape(row.score.title)),
            *(cell(escape(written(row.score, mean)), mean) for mean in row.means),
            cell(contrast(row.difference, row.score), row.difference.value),
            class_=row.role,
        )
        for row in change.rows
    ]
    caption = f"What the convention changes on {change.task}"
    return table(id, caption, [*heads, Head(escape(f"{last} − {first}"))], [("", rows)])


def _label(label: str) -> str:
    """A label; a long one may break after a separator."""
    escaped = escape(label)
    return re.sub("([,:=/])", r"\1<wbr>", escaped) if len(label) > _LONG else escaped


def _width(label: str) -> str:
    return "name long" if len(label) > _LONG else "name"


def _heading(one: Head) -> str:
    button = tag("button", one.title, type="button")
    return tag("th", button, scope="col", class_="number" if one.numeric else "name", aria_sort="none")


def _score_row(row: Row, columns: Sequence[Score], style: str, strong: bool) -> str:
    missing = len(row.unfinished)
    note = f'<small class="under">{missing} missing</small>' if missing else ""
    cells = [name_cell(row, style, strong), cell(f"{len(row.finished)}{note}", len(row.finished))]
    for index, column in enumerate(columns):
        found = row.scores.get(column.name)
        value = shown(column, found)
        text = escape(written(column, value))
        text = tag("strong", text) if strong and index == 0 else text
        few = found is not None and found.n < FEWEST and index == 0
        note = f'<small class="under">of {counted(found.n, "run")}</small>' if found and few else ""
        cells.append(cell(text + note + _small(interval_of(column, found), column), value))
        if index == 0:
            cells.append(cell(*_contrast(row.scaled)))
    return tag("tr", *cells, class_=row.role)


def _contrast(value: Contrast) -> tuple[str, float | None]:
    if value.value is None:
        return tag("span", NOTHING, title=value.reason or None), None
    return score(value.value) + _small(value.interval), value.value


def _small(interval: Interval | None, column: Score = PLAIN) -> str:
    return f'<small class="under">{escape(bounds(interval, column))}</small>' if interval else ""
