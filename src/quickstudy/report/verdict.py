"""What the numbers of one task say, in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from quickstudy.base.measure import LOG, MEAN, PLAIN
from quickstudy.report.model import CONTROL, LEARNER, LEARNING, REPLAY, Row, TaskTable
from quickstudy.report.numbers import bounds, contrast, fine, written
from quickstudy.report.statistics import ABOVE, BELOW, FEWEST, LEVEL, UNTOLD, Contrast, advantage, difference
from quickstudy.report.words import counted, span

MOST_NAMED = 5
"""A sentence with more names in it is a list that nobody reads; the table has them all."""


def clear_winner(table: TaskTable, role: str = LEARNER) -> Row | None:
    """The best learner of one role, if the interval of its difference from the next one leaves 0 out and the difference
    matters; None otherwise, when it is alone, or when one of the two has too few runs.
    """
    ranked = _ranked(table, role)
    if len(ranked) < 2 or not table.judged.sign:
        return None
    first, second = ranked[:2]
    return first if _apart(first, second, table) and _matters(first, second, table) else None


def verdict(table: TaskTable) -> str:
    """Which learners are above the best control and by how much, and whether the best is clearly so.

    One sentence for those who see every example once, another for those with replay: the two are no match. Fewer than
    FEWEST runs give no verdict, and the text says so.
    """
    if not table.of_role(*LEARNING):
        return "Only controls and oracles were run: there is no learner to judge."
    found = {role: _sentence(table, role) for role in LEARNING if table.of_role(role)}
    if REPLAY in found:
        found[REPLAY] = f"With replay: {found[REPLAY]}"
    return " ".join(found.values())


def remarks(table: TaskTable) -> Iterator[str]:
    """What the table of scores cannot say: why there is no scale, which learner has no score, and of which it
    could not be told whether it looks ahead.
    """
    untold: dict[str, list[str]] = {}
    for row in table.rows:
        for run in row.finished:
            kind, _, reason = run.look_ahead.partition(": ")
            if kind == "cannot be told" and row.learner not in untold.setdefault(reason, []):
                untold[reason].append(row.learner)
    for reason, names in untold.items():
        yield f"{_listing(names)} could not be checked for looking ahead: {reason}."
    scored = [row for role in LEARNING for row in _ranked(table, role)]
    reasons = dict.fromkeys(row.scaled.reason for row in scored if row.scaled.reason)
    yield from (f"No scaled score: {reason}." for reason in reasons)
    silent = [row.learner for row in table.rows if row.finished and not row.scores]
    if silent:
        yield f"Finished, but without any score: {_listing(silent)}."


def _sentence(table: TaskTable, role: str) -> str:
    ranked = _ranked(table, role)
    if not ranked or table.headline is None:
        return "No learner has a finished run with a score: there is nothing to compare."
    scores = _listing([_named(row, table) for row in ranked])
    if not table.judged.sign:
        return f"{scores}: direction unknown, so there is no verdict: nobody says whether higher or lower is better."
    few = [row for row in ranked if _runs(row, table) < FEWEST]
    if len(few) == len(ranked):
        return f"{scores}{_best_control(table)}: {_too_few(few, table)}{_race(table, role)}."
    rest = f"; {_too_few(few, table)}" if few else ""
    if table.best_control is None:
        return f"{scores}; no control was run, so nothing says what these are worth{rest}{_race(table, role)}."
    judged = [row for row in ranked if row not in few]
    return f"{_against_control(judged, table)}{rest}{_race(table, role)}."


def _against_control(ranked: Sequence[Row], table: TaskTable) -> str:
    sides: dict[str, list[Row]] = {ABOVE: [], BELOW: [], LEVEL: [], UNTOLD: []}
    slight: dict[str, list[Row]] = {ABOVE: [], BELOW: []}
    for row in ranked:
        standing = row.advantage.standing
        tiny = standing in slight and abs(row.advantage.value or 0.0) < table.judged.least
        (slight if tiny else sides)[standing].append(row)
    control = f"the best control, {table.best_control} ({_mean(table, table.best_control)})"
    gains = [f"{row.learner} {_gain(row, table)}" for row in sides[ABOVE]]
    # One that is above by too little would contradict a plain no.
    clearly = "clearly " if slight[ABOVE] else ""
    parts = [f"Above {control}: {_listing(gains)}" if gains else f"No learner is {clearly}above {control}"]
    parts += [_slightly(rows, table, side) for side, rows in slight.items() if rows]
    if level := [*sides[LEVEL], *sides[UNTOLD]]:
        few = dict.fromkeys(row.advantage.reason for row in level if row.advantage.reason)
        why = f" ({'; '.join(few)})" if few else ""
        parts.append(f"{_listing([row.learner for row in level])} cannot be told from it{why}")
    if sides[BELOW]:
        parts.append(f"{_listing([row.learner for row in sides[BELOW]])} {_be(sides[BELOW])} below it")
    return "; ".join([*parts, *_second_opinion([*slight[ABOVE], *slight[BELOW], *level], sides[ABOVE], table)])


def _gain(row: Row, table: TaskTable) -> str:
    """By how much a row is above the best control."""
    value, interval = row.advantage.value or 0.0, row.advantage.interval
    if math.isinf(value):
        return f"({_written(row, table)})"
    if table.judged.read == LOG:
        return f"by a factor of {contrast(row.advantage, table.judged).removeprefix('×')}"
    return f"by {written(PLAIN, value)} {bounds(interval)}"


def _slightly(rows: Sequence[Row], table: TaskTable, side: str) -> str:
    names = _listing([f"{row.learner} ({_finely(row, table)})" for row in rows])
    control = f"it ({_finely(_control(table, table.best_control), table)}) in {table.judged.title}"
    return f"{names} {_be(rows)} {side} {control}, by too little to matter"


def _second_opinion(unclear: Sequence[Row], above: Sequence[Row], table: TaskTable) -> list[str]:
    """Which learners, of whom the headline says little, are above the best control by the score that is asked then;
    and which of those that are above by the headline are not.
    """
    name = table.legend.second
    score = table.legend.score(name) if name else PLAIN
    middles = {row.learner: middle for row in table.of_role(CONTROL) if (middle := table.middle(row, name)) is not None}
    if not name or name == table.headline or not score.sign or not middles:
        return []
    best = _control(table, min(middles, key=lambda learner: (-score.sign * middles[learner], learner)))
    better = []
    rules = {rule.learner: rule.values(name) for rule in table.of_role(CONTROL) if rule.learner in middles}
    for row in (*unclear, *above):
        gap = advantage(row.values(name), rules, best.learner, score)
        if gap.standing == ABOVE and abs(gap.value or 0.0) >= score.least:
            better.append(row)
    rival = f"the best control, {best.learner} ({written(score, middles[best.learner])})"
    said = {
        "above": [row for row in unclear if row in better],
        "not above": [row for row in above if row not in better and table.middle(row, name) is not None],
    }
    return [
        f"by {score.title} {_listing([_valued(row, name, table) for row in found])} {_be(found)} {side} {rival}"
        for side, found in said.items()
        if found
    ]


def _valued(row: Row, name: str, table: TaskTable) -> str:
    return f"{row.learner} ({written(table.legend.score(name), table.middle(row, name))})"


def _race(table: TaskTable, role: str) -> str:
    ranked = _ranked(table, role)
    if len(ranked) < 2 or any(row.scores[table.headline or ""].n < FEWEST for row in ranked[:2]):
        return ""
    first, second = ranked[:2]
    if not _apart(first, second, table):
        return f"; {first.learner} and {second.learner} cannot be told apart"
    if _matters(first, second, table):
        return f"; {first.learner} is clearly ahead of {second.learner}"
    return f"; {first.learner} is ahead of {second.learner} by too little to matter"


def _apart(first: Row, second: Row, table: TaskTable) -> bool:
    """Whether the interval of the difference leaves 0 out, whichever direction is better, with enough runs behind both:
    in pairs, where both have the same seeds.
    """
    return _gap(first, second, table).standing in (ABOVE, BELOW)


def _matters(first: Row, second: Row, table: TaskTable) -> bool:
    size = abs(_gap(first, second, table).value or 0.0)
    return size > 0 and size >= table.judged.least


def _gap(first: Row, second: Row, table: TaskTable) -> Contrast:
    headline = table.headline or ""
    return difference(first.values(headline), second.values(headline), table.judged)


def _too_few(few: Sequence[Row], table: TaskTable) -> str:
    """Whose runs are too few, a learner's own or the control's, and how many would do."""
    own = [row.scores[table.headline or ""].n for row in few]
    if min(own) >= FEWEST:
        counts, who = [_control(table, table.best_control).scores[table.headline or ""].n], f"{table.best_control}"
    else:
        short = [row for row, n in zip(few, own, strict=True) if n < FEWEST]
        counts = [row.scores[table.headline or ""].n for row in short]
        every = len(short) == sum(len(_ranked(table, role)) for role in {row.role for row in few}) > 1
        who = "each learner" if every else _listing([row.learner for row in short])
    number = counted(counts[0], "run") if len(set(counts)) == 1 else f"{span(counts)} runs"
    return f"{number} of {who} {'is' if number == '1 run' else 'are'} too few for a verdict, {FEWEST} would do"


def _runs(row: Row, table: TaskTable) -> int:
    """The runs that a comparison rests on: the learner's, or the control's where that has fewer."""
    return row.scores[table.headline or ""].n if table.best_control is None else row.advantage.n


def _best_control(table: TaskTable) -> str:
    if table.best_control is None:
        return ", no control"
    return f", best control {table.best_control} {_mean(table, table.best_control)}"


def _named(row: Row, table: TaskTable) -> str:
    return f"{row.learner} has {table.judged.title} {_written(row, table)}"


def _mean(table: TaskTable, learner: str | None) -> str:
    return _written(_control(table, learner), table)


def _control(table: TaskTable, learner: str | None) -> Row:
    return next(row for row in table.of_role(CONTROL) if row.learner == learner)


def _written(row: Row, table: TaskTable) -> str:
    return written(table.judged, table.middle(row))


def _finely(row: Row, table: TaskTable) -> str:
    """With the digits that tell two small scores apart."""
    middle = table.middle(row) or 0.0
    plain = table.judged.read != LOG and table.statistic == MEAN and math.isfinite(middle)
    return fine(middle) if plain else _written(row, table)


def _ranked(table: TaskTable, role: str) -> list[Row]:
    """Learners of one role with a headline; the rows of a table already stand best first."""
    return [row for row in table.of_role(role) if table.middle(row) is not None]


def _be(rows: Sequence[Row]) -> str:
    return "is" if len(rows) == 1 else "are"


def _listing(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of very many the first ones, `a, b, c and 12 more`."""
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 2], f"{len(names) - MOST_NAMED + 2} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
