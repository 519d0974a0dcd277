"""Where the learners of a task end and when they get there, where the headline of its protocol is
neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quickstudy.base.measure import Score
from quickstudy.render.numbers import scored, written
from quickstudy.report.report_data import Row, TaskTable
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, advantage
from quickstudy.report.words import listing


@dataclass(frozen=True)
class Outcome:
    """The learners of one role, best first by where they end.

    judged: those with enough runs. above, below: of these, by their interval, the best control.
    control: the best one by this score. when: the score of when a learner gets there, if there is
    one.
    """

    table: TaskTable
    score: Score
    rows: Sequence[Row]
    judged: Sequence[Row]
    above: Sequence[Row]
    below: Sequence[Row]
    control: Row | None
    when: Score | None

    def text(self, *, leads: bool) -> str:
        """One or two sentences: where they end, when they get there. leads: with a capital
        letter.
        """
        text = " ".join(f"{sentence}." for sentence in (self._ends(), *self._when()))
        return text if leads else f"a{text[1:]}"

    def _ends(self) -> str:
        control = f"the best control, {self._valued(self.control)}" if self.control else ""
        if not self.judged or not control:
            rest = f", best control {self._valued(self.control)}" if self.control else ""
            return f"At the end {listing(list(map(self._valued, self.rows)))}{rest}"
        parts = [
            f"{listing(list(map(self._valued, rows)))} {'is' if len(rows) == 1 else 'are'} {side}"
            for side, rows in (
                ("above", self.above),
                ("not shown to be above", self._open),
                ("below", self.below),
            )
            if rows
        ]
        return f"At the end {parts[0]} {control}" + "".join(f"; {part} it" for part in parts[1:])

    @property
    def _open(self) -> list[Row]:
        return [row for row in self.judged if row not in self.above and row not in self.below]

    def _when(self) -> Iterator[str]:
        """When those that are above the best control get there; of few runs, all."""
        shown = self.above if self.judged else self.rows
        if self.when is None or not shown:
            return
        times = [
            f"{row.learner} {written(scored(self.when, value))}"
            for row in shown
            if (value := self.table.middle(row, self.when.name)) is not None
        ]
        if times:
            unit = f" ({self.when.unit})" if self.when.unit else ""
            yield f"{self.when.title[:1].upper()}{self.when.title[1:]}{unit}: {listing(times)}"

    def _valued(self, row: Row | None) -> str:
        value = None if row is None else self.table.middle(row, self.score.name)
        return "" if row is None else f"{row.learner} ({written(scored(self.score, value))})"


def outcome_of(table: TaskTable, role: str) -> Outcome | None:
    """The outcome of a role; None where the protocol has no such score, or no learner has one."""
    names = [name for name in table.legend.outcome if name in table.scores]
    if not names or table.headline in names:
        return None
    score = table.legend.score(names[0])
    rows = [row for row in table.of_role(role) if table.middle(row, names[0]) is not None]
    rows.sort(key=lambda row: -score.sign * (table.middle(row, names[0]) or 0.0))
    if not rows:
        return None
    rules, control = table.rivals(names[0]), table.best(names[0])
    first = control.learner if control else ""
    enough = control is not None and len(rules[first]) >= FEWEST
    judged = [row for row in rows if enough and len(row.values(names[0])) >= FEWEST]
    gaps = {
        row.learner: advantage(row.values(names[0]), rules, first, score) for row in judged if first
    }
    sides = {
        side: [
            row
            for row in judged
            if gaps[row.learner].standing == side and gaps[row.learner].matters(score)
        ]
        for side in (ABOVE, BELOW)
    }
    when = table.legend.score(names[1]) if len(names) > 1 else None
    return Outcome(table, score, rows, judged, sides[ABOVE], sides[BELOW], control, when)
