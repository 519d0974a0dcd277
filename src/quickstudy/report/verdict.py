"""What the numbers of one task say, in plain words: computed once, read by every form of a
report.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from quickstudy.base.blocks import BOUNDS, CONTROL, FACTOR, FINE, ORACLE, PERSON, REPLAY, Number
from quickstudy.base.measure import LOG, MEAN, PLAIN
from quickstudy.render.numbers import bounds, scored, spoken, written
from quickstudy.report.outcome import Outcome, outcome_of
from quickstudy.report.report_data import LEARNING, Row, TaskTable, Verdict
from quickstudy.report.statistics import (
    ABOVE,
    BELOW,
    FEWEST,
    LEVEL,
    UNTOLD,
    advantage,
    difference,
)
from quickstudy.report.words import counted, listing, span

PER_STEP = "per step"
"""How the unit of a rate ends."""
KNOWN = 30
"""Runs of a control from which more of them change a verdict little."""


def judge(table: TaskTable) -> Verdict:
    """Which learners are above the best control and by how much, and whether the best is clearly
    ahead of the next: the interval of their difference leaves 0 out, and it matters.

    One sentence for those who see every example once, another for those with replay: the two are
    not comparable. Fewer than FEWEST runs give no verdict, and the text states it.
    """
    ends, sentences, lines, ahead = [], [], [], {}
    for role in LEARNING:
        if not table.of_role(role):
            continue
        race, leader = _race(table, role)
        if leader:
            ahead[role] = leader.learner
        before = "With replay: " if role == REPLAY else ""
        ahead_of = f", {leader.learner} clearly ahead" if leader else ""
        outcome = outcome_of(table, role)
        ends += [before + outcome.text(leads=not before)] if outcome else []
        sentences.append(before + _sentence(table, role, race))
        lines.append(f"{before}{_short(table, role, outcome)}{ahead_of}.")
    people = bool(table.of_role(PERSON))
    rules = "controls and oracles" if table.of_role(CONTROL, ORACLE) or not people else ""
    alone = (
        f"Only {', '.join(filter(None, ('people' * people, rules)))} were"
        f" {'examined' if people else 'run'}"
    )
    if ends:
        first = sentences.pop(0)
        named = not first.startswith(("Above", "No ", "With"))  # a name keeps its letters
        ends.append(f"By {table.judged.title}: {first if named else first[:1].lower() + first[1:]}")
    text = " ".join([*ends, *sentences]) or f"{alone}: there is no learner to judge."
    return Verdict(text, " ".join(lines) or text, ahead, tuple(_remarks(table)))


def _short(table: TaskTable, role: str, outcome: Outcome | None) -> str:
    """How many of a role are above the best control, or why that is unknown."""
    ranked = _ranked(table, role)
    judged = [row for row in ranked if _runs(row, table) >= FEWEST]
    if not ranked:
        return "No learner has a score"
    if not table.judged.sign:
        return "No verdict, direction unknown"
    if table.best_control is None:
        return "No control was run"
    if not judged:
        return "Too few runs for a verdict"
    above = [
        row
        for row in judged
        if row.advantage.standing == ABOVE and row.advantage.matters(table.judged)
    ]
    if outcome is None or not outcome.judged:
        return f"{len(above)} of {len(judged)} above the best control"
    first = f"{len(outcome.above)} of {len(outcome.judged)} above the best control at the end"
    return f"{first}, {len(above)} by {table.judged.title}"


def _remarks(table: TaskTable) -> Iterator[str]:
    """How many answers of language models were understood, what traces remark on their scores, why
    there is no scale, which learner has no score, and which could not be checked for looking ahead.
    """
    for row in table.rows:
        if any("answers" in run.cost for run in row.finished):
            yield _asked(row)
    yield from _of_traces(table)
    untold: dict[str, list[str]] = {}
    for row in table.rows:
        for run in row.finished:
            kind, _, reason = run.look_ahead.partition(": ")
            if kind == "cannot be told" and row.learner not in untold.setdefault(reason, []):
                untold[reason].append(row.learner)
    for reason, names in untold.items():
        again = (
            "; another run of the same seed may give another number"
            if "two answers" in reason
            else ""
        )
        yield f"{listing(names)} could not be checked for looking ahead: {reason}{again}."
    yield from _of_controls(table)
    scored_rows = [row for role in LEARNING for row in _ranked(table, role)]
    reasons = dict.fromkeys(row.scaled.reason for row in scored_rows if row.scaled.reason)
    yield from (f"No scaled score: {reason}." for reason in reasons)
    yield from _at_the_ceiling(table)
    silent = [row.learner for row in table.rows if row.finished and not row.scores]
    if silent:
        yield f"Finished, but without any score: {listing(silent)}."


def _at_the_ceiling(table: TaskTable) -> Iterator[str]:
    """The second score of learners and of the best control, where all have the best value that the
    headline can have, so that it tells them not apart.
    """
    if not table.legend.second:  # records of earlier versions, and of elsewhere, have none
        return
    second, top = table.legend.score(table.legend.second), table.judged.range[1]
    level = [
        row
        for row in (*table.of_role(*LEARNING), *table.of_role(CONTROL))
        if {*row.values(table.headline or "").values()} == {top} and table.middle(row, second.name)
    ]
    if not second.sign or not {row.role for row in level} > {CONTROL}:
        return
    values = [
        f"{row.learner} {written(scored(second, table.middle(row, second.name)))}" for row in level
    ]
    yield f"All at {top:g} by {table.judged.title}; by {second.title}: {listing(values)}."


def _of_controls(table: TaskTable) -> Iterator[str]:
    """Which learners are ahead of several controls by enough to matter, but by too few runs of
    these. To be above all of seven that have six runs each, where two standard deviations separate
    them, is shown in one experiment of ten; with 200 runs of each, in eight.
    """
    name = table.headline or ""
    runs = [row.scores[name].n for row in table.of_role(CONTROL) if name in row.scores]
    ahead = [
        row.learner
        for role in LEARNING
        for row in _ranked(table, role)
        if row.advantage.standing == LEVEL
        and (row.advantage.value or 0.0) > 0
        and row.advantage.matters(table.judged)
    ]
    if ahead and len(runs) > 2 and max(runs) < KNOWN:
        yield (
            f"{listing(ahead)} {'is' if len(ahead) == 1 else 'are'} ahead of the best of"
            f" {len(runs)} controls, but not significantly; with run --control-seeds 200 the"
            " same runs of a learner may show more."
        )


def _asked(row: Row) -> str:
    """Of all finished runs of a language model together."""
    answers, understood, tokens = (
        round(sum(run.cost.get(name, 0.0) for run in row.finished))
        for name in ("answers", "understood", "tokens")
    )
    rest = "" if understood == answers else "; the others count as guesses"
    share = f" ({understood / answers:.0%})" if answers else ""
    return (
        f"{row.learner}: {understood:,} of {answers:,} answers understood{share}{rest}; {tokens:,}"
        " tokens."
    )


def _of_traces(table: TaskTable) -> Iterator[str]:
    """The remarks of traces, each once, with the learners they belong to unless that is every
    one.
    """
    finished = [row for row in table.rows if row.finished]
    owners: dict[str, list[str]] = {}
    for row in finished:
        for remark in dict.fromkeys(remark for run in row.finished for remark in run.remarks):
            owners.setdefault(remark, []).append(row.learner)
    for remark, names in owners.items():
        yield remark if len(names) == len(finished) else f"{listing(names)}: {remark}"


def _sentence(table: TaskTable, role: str, race: str) -> str:
    ranked = _ranked(table, role)
    if not ranked or table.headline is None:
        return "No learner has a finished run with a score: there is nothing to compare."
    scores = listing(
        [f"{row.learner} has {table.judged.title} {_written(row, table)}" for row in ranked]
    )
    if not table.judged.sign:
        return (
            f"{scores}: direction unknown, so there is no verdict: the score does not declare"
            " whether higher or lower is better."
        )
    few = [row for row in ranked if _runs(row, table) < FEWEST]
    if len(few) == len(ranked):
        known = table.best_control is not None
        control = (
            f"best control {table.best_control} {_written(_control(table), table)}"
            if known
            else "no control"
        )
        return f"{scores}, {control}: {_too_few(few, table)}{race}."
    rest = f"; {_too_few(few, table)}" if few else ""
    if table.best_control is None:
        return f"{scores}; no control was run to compare these with{rest}{race}."
    judged = [row for row in ranked if row not in few]
    return f"{_against_control(judged, table)}{rest}{race}."


def _against_control(ranked: Sequence[Row], table: TaskTable) -> str:
    sides: dict[str, list[Row]] = {ABOVE: [], BELOW: [], LEVEL: [], UNTOLD: []}
    slight: dict[str, list[Row]] = {ABOVE: [], BELOW: []}
    for row in ranked:
        standing = row.advantage.standing
        tiny = standing in slight and not row.advantage.matters(table.judged)
        (slight if tiny else sides)[standing].append(row)
    control = f"the best control, {table.best_control} ({_written(_control(table), table)})"
    gains = [f"{row.learner} {_gain(row, table)}" for row in sides[ABOVE]]
    # One that is above by too little would contradict a plain no.
    clearly = "clearly " if slight[ABOVE] else ""
    # Not to be shown above is not to be level: that needs an upper end below what matters.
    highs = [row.advantage.interval.high if row.advantage.interval else math.inf for row in ranked]
    shown = "" if clearly or max(highs) < table.judged.least else "shown to be "
    runs = f" ({span([_runs(row, table) for row in ranked])} runs)" if shown else ""
    none = f"No learner is {clearly or shown}above {control}{runs}"
    parts = [f"Above {control}: {listing(gains)}" if gains else none]
    parts += [_slightly(rows, table, side) for side, rows in slight.items() if rows]
    if level := [*sides[LEVEL], *sides[UNTOLD]]:
        few = dict.fromkeys(row.advantage.reason for row in level if row.advantage.reason)
        why = f" ({'; '.join(few)})" if few else ""
        parts.append(
            f"no significant difference from it: {listing([row.learner for row in level])}{why}"
        )
    if sides[BELOW]:
        parts.append(
            f"{listing([row.learner for row in sides[BELOW]])} {_be(sides[BELOW])} below it"
        )
    return "; ".join(
        [*parts, *_second_opinion([*slight[ABOVE], *slight[BELOW], *level], sides[ABOVE], table)]
    )


def _gain(row: Row, table: TaskTable) -> str:
    """By how much a row is above the best control."""
    value, interval = row.advantage.value or 0.0, row.advantage.interval
    if math.isinf(value):
        return f"({_written(row, table)})"
    if table.judged.read == LOG:
        factor = Number(value, interval, FACTOR)
        return f"by a factor of {written(factor).removeprefix('×')} {bounds(factor)}".rstrip()
    return f"by {spoken(Number(value, interval), BOUNDS)}"


def _slightly(rows: Sequence[Row], table: TaskTable, side: str) -> str:
    names = listing([f"{row.learner} ({_finely(row, table)})" for row in rows])
    control = f"it ({_finely(_control(table), table)}) in {table.judged.title}"
    return f"{names} {_be(rows)} {side} {control}, by too little to matter"


def _second_opinion(unclear: Sequence[Row], above: Sequence[Row], table: TaskTable) -> list[str]:
    """The learners, for which the headline is not informative, that are above the best control by
    the second score; and which of those that are above by the headline are not. A rate per step is
    compared only where as many steps were made: the rate of a learner that ended early, because it
    passed, is that of its search alone.
    """
    name = table.legend.second
    score = table.legend.score(name) if name else PLAIN
    control = table.best(name) if name else None
    if control is None or name == table.headline or name in table.legend.outcome:
        return []
    rules, first = table.rivals(name), control.learner
    if score.unit.endswith(PER_STEP):
        steps = control.cost.get("examples")
        unclear, above = (
            [row for row in rows if row.cost.get("examples") == steps] for rows in (unclear, above)
        )
    better = []
    for row in (*unclear, *above):
        gap = advantage(row.values(name), rules, first, score)
        if gap.standing == ABOVE and gap.matters(score):
            better.append(row)
    rival = f"the best control, {_valued(control, name, table)}"
    said = {
        "above": [row for row in unclear if row in better],
        "not above": [
            row for row in above if row not in better and table.middle(row, name) is not None
        ],
    }
    return [
        f"by {score.title} {listing([_valued(row, name, table) for row in found])} {_be(found)}"
        f" {side} {rival}"
        for side, found in said.items()
        if found
    ]


def _valued(row: Row, name: str, table: TaskTable) -> str:
    return f"{row.learner} ({written(scored(table.legend.score(name), table.middle(row, name)))})"


def _race(table: TaskTable, role: str) -> tuple[str, Row | None]:
    """How the two foremost of a role stand to one another, and the first if it is clearly ahead."""
    foremost = _ranked(table, role)[:2]
    if len(foremost) < 2 or any(_count(row, table) < FEWEST for row in foremost):
        return "", None
    first, second = foremost
    own, other = (row.values(table.headline or "") for row in foremost)
    gap = difference(own, other, table.judged)
    if gap.standing not in (ABOVE, BELOW):
        return (
            (
                f"; no significant difference between {first.learner} and"
                f" {second.learner}{_by_second(first, second, table)}"
            ),
            None,
        )
    if gap.matters(table.judged):
        return (
            f"; {first.learner} is clearly ahead of {second.learner}",
            first if table.judged.sign else None,
        )
    return f"; {first.learner} is ahead of {second.learner} by too little to matter", None


def _by_second(one: Row, other: Row, table: TaskTable) -> str:
    """Which of two that the headline does not tell apart is ahead by the score that is asked
    then.
    """
    name = table.legend.second
    score = table.legend.score(name) if name else PLAIN
    unequal = score.unit.endswith(PER_STEP) and one.cost.get("examples") != other.cost.get(
        "examples"
    )
    if name == table.headline or not score.sign or unequal:
        return ""
    gap = difference(one.values(name), other.values(name), score)
    if gap.standing not in (ABOVE, BELOW) or not gap.matters(score):
        return ""
    ahead, behind = (one, other) if (gap.standing == ABOVE) == (score.sign > 0) else (other, one)
    return (
        f", but by {score.title} {_valued(ahead, name, table)} is ahead of"
        f" {_valued(behind, name, table)}"
    )


def _too_few(few: Sequence[Row], table: TaskTable) -> str:
    """Whether a learner or the control has too few runs, and how many are enough."""
    short = [row for row in few if _count(row, table) < FEWEST]
    every = len(short) == sum(len(_ranked(table, role)) for role in {row.role for row in few}) > 1
    who = "each learner" if every else listing([row.learner for row in short or [_control(table)]])
    counts = [_count(row, table) for row in short or [_control(table)]]
    number = counted(counts[0], "run") if len(set(counts)) == 1 else f"{span(counts)} runs"
    return (
        f"{number} of {who} {'is' if number == '1 run' else 'are'} too few for a verdict, {FEWEST}"
        " would do"
    )


def _runs(row: Row, table: TaskTable) -> int:
    """The runs that a comparison rests on: the learner's, or the control's where that has fewer."""
    return _count(row, table) if table.best_control is None else row.advantage.n


def _count(row: Row, table: TaskTable) -> int:
    return row.scores[table.headline or ""].n


def _control(table: TaskTable, learner: str | None = None) -> Row:
    """A control, or the best one."""
    return next(
        row for row in table.of_role(CONTROL) if row.learner == (learner or table.best_control)
    )


def _written(row: Row, table: TaskTable) -> str:
    return written(scored(table.judged, table.middle(row)))


def _finely(row: Row, table: TaskTable) -> str:
    """With the digits that tell two small scores apart."""
    middle = table.middle(row) or 0.0
    plain = table.judged.read != LOG and table.judged.shown == MEAN and math.isfinite(middle)
    return written(Number(middle, form=FINE)) if plain else _written(row, table)


def _ranked(table: TaskTable, role: str) -> list[Row]:
    """Learners of one role with a headline; the rows of a table already stand best first."""
    return [row for row in table.of_role(role) if table.middle(row) is not None]


def _be(rows: Sequence[Row]) -> str:
    return "is" if len(rows) == 1 else "are"
