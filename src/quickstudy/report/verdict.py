"""What the numbers of one task say, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quickstudy.report.model import LEARNER, LEARNING, REPLAY, Row, TaskTable
from quickstudy.report.numbers import bounds, score
from quickstudy.report.view import title_of

SMALLEST = 0.001
"""A difference that three decimals do not show is not worth a word, however certain it is."""


def clear_winner(table: TaskTable, role: str = LEARNER) -> Row | None:
    """The best learner of one role, if its interval does not overlap the next one's; None otherwise, or when it is
    alone.
    """
    ranked = _ranked(table, role)
    if len(ranked) < 2 or table.headline is None:
        return None
    first, second = (row.scores[table.headline].interval for row in ranked[:2])
    if first is None or second is None:
        return None
    # Whichever direction is better, apart means that there is a gap between the two.
    return ranked[0] if max(first.low - second.high, second.low - first.high) >= SMALLEST else None


def verdict(table: TaskTable) -> str:
    """Which learners are above the best control and by how much, and whether the best is clearly so.

    One sentence for those who see every example once, another for those with replay: the two are no match.
    """
    if not table.of_role(*LEARNING):
        return "Only controls and oracles were run: there is no learner to judge."
    found = {role: _sentence(table, role) for role in LEARNING if table.of_role(role)}
    if REPLAY in found:
        found[REPLAY] = f"With replay: {found[REPLAY]}"
    return " ".join(found.values())


def _sentence(table: TaskTable, role: str) -> str:
    ranked = _ranked(table, role)
    if not ranked or table.headline is None:
        return "No learner has a finished run with a score: there is nothing to compare."
    if any(row.scores[table.headline].n < 2 for row in ranked):
        return f"{_listing([_named(row, table) for row in ranked])}{_best_control(table)}: {_too_few(ranked, table)}."
    if table.best_control is None:
        scores = _listing([_named(row, table) for row in ranked])
        return f"{scores}; no control was run, so nothing says what these are worth{_race(table, role)}."
    return f"{_against_control(ranked, table)}{_race(table, role)}."


def remarks(table: TaskTable) -> Iterator[str]:
    """What the table of scores cannot say: why there is no scale, which learner has no score."""
    scored = [row for role in LEARNING for row in _ranked(table, role)]
    reasons = dict.fromkeys(row.scaled.reason for row in scored if row.scaled.reason)
    yield from (f"No scaled score: {reason}." for reason in reasons)
    silent = [row.learner for row in table.rows if row.finished and not row.scores]
    if silent:
        yield f"Finished, but without any score: {_listing(silent)}."


def _against_control(ranked: Sequence[Row], table: TaskTable) -> str:
    above: list[Row] = []
    level: list[Row] = []
    below: list[Row] = []
    for row in ranked:
        interval = row.advantage.interval
        tiny = interval is None or abs(row.advantage.value or 0.0) < SMALLEST
        side = (
            level if interval is None or tiny else above if interval.low > 0 else below if interval.high < 0 else level
        )
        side.append(row)
    control = f"the best control, {table.best_control} ({_mean(table, table.best_control)})"
    parts = []
    if above:
        gains = [f"{row.learner} by {score(row.advantage.value)} {bounds(row.advantage.interval)}" for row in above]
        parts.append(f"Above {control}: {_listing(gains)}")
    else:
        parts.append(f"No learner is above {control}")
    if level:
        parts.append(f"{_listing([row.learner for row in level])} cannot be told from it")
    if below:
        parts.append(f"{_listing([row.learner for row in below])} {'is' if len(below) == 1 else 'are'} below it")
    return "; ".join(parts)


def _race(table: TaskTable, role: str) -> str:
    ranked = _ranked(table, role)
    if len(ranked) < 2:
        return ""
    if clear_winner(table, role):
        return f"; {ranked[0].learner} is clearly ahead of {ranked[1].learner}"
    return f"; {ranked[0].learner} and {ranked[1].learner} cannot be told apart"


def _too_few(ranked: Sequence[Row], table: TaskTable) -> str:
    single = [row for row in ranked if row.scores[table.headline or ""].n < 2]
    who = "each learner" if len(single) == len(ranked) > 1 else _listing([row.learner for row in single])
    return f"one run of {who}, so there is no interval and no verdict"


def _best_control(table: TaskTable) -> str:
    if table.best_control is None:
        return ", no control"
    return f", best control {table.best_control} {_mean(table, table.best_control)}"


def _named(row: Row, table: TaskTable) -> str:
    title = title_of(table.headline or "")
    return f"{row.learner} has {title} {score(row.scores[table.headline or ''].mean)}"


def _mean(table: TaskTable, learner: str | None) -> str:
    row = next(row for row in table.rows if row.learner == learner and row.role not in LEARNING)
    return score(row.scores[table.headline or ""].mean)


def _ranked(table: TaskTable, role: str) -> list[Row]:
    """Learners of one role with a headline mean; the rows of a table already stand best first."""
    found = [(row, row.scores.get(table.headline or "")) for row in table.of_role(role)]
    return [row for row, estimate in found if estimate is not None and estimate.mean is not None]


def _listing(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
