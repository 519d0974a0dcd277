"""What a card says in words. Every sentence has the number that it rests on; no number, no sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from quickstudy.base.blocks import BOUNDS, Number
from quickstudy.pages.profile.standing import Family, Standing, Task
from quickstudy.render.numbers import scored, spoken, written
from quickstudy.report.statistics import ABOVE, FEWEST
from quickstudy.report.words import counted, listing

FAR, SOME = 0.75, 0.1
"""From here on a learner is near the oracle, or some way from the best rule."""


class Phrases(NamedTuple):
    """What is said of a family: near the oracle, on the way there, no further than the best rule."""

    far: str
    some: str
    none: str


PHRASES: Mapping[str, Phrases] = {
    "language": Phrases("learns fast", "learns, slowly", "learns no faster than a rule that never learns"),
    "grammar": Phrases("generalises far", "generalises a little", "does not generalise beyond its strings"),
    "dynamics": Phrases("remembers and computes", "remembers some", "remembers no more than the best linear rule"),
    "curriculum": Phrases("passes its tasks", "passes some tasks", "passes no more tasks than a rule"),
    "games": Phrases("recombines what it has seen", "recombines a little", "does not recombine what it has seen"),
}
_OTHER = Phrases("is near the oracle", "is above the best rule", "is no better than the best rule")


def phrase(family: Family) -> str:
    """A few words for a family, by its number; empty where it has none.

    With six runs or more, "above the best rule" is said only where the interval says so. With fewer, the words say what
    the mean is, and the card says that so few are no verdict.
    """
    value = family.number.value
    if value is None:
        return ""
    said = PHRASES.get(family.name, _OTHER)
    if value < SOME or (family.number.n >= FEWEST and family.number.standing != ABOVE):
        return said.none
    return said.far if value >= FAR else said.some


def in_short(found: Standing) -> str:
    """The card in one line."""
    said = [words for family in found.families if (words := phrase(family))]
    return f"{found.learner} {listing(said)}." if said else f"Nothing can be said of {found.learner} yet."


def sentences(found: Standing) -> Iterator[str]:
    """One sentence for each family that has a number, then what is not there and what cannot be said."""
    for family in found.families:
        if family.number.value is not None:
            number = spoken(Number(family.number.value, family.number.interval), BOUNDS)
            tasks = [_told(task) for task in family.tasks if not task.why]
            yield (
                f"{family.name}: {phrase(family)}, {number} of the way from the best rule to the oracle "
                f"({'; '.join(filter(None, tasks))})."
            )
    for family in found.families:
        for task in family.unscaled:
            yield f"{family.name}: {task.label} has no place on the scale, {task.why}."
    for name, where in _left_out(found).items():
        yield f"Its parameter {name} is none of its training in {listing(where)}, and was left out there."
    few = {family.name: family.runs for family in found.families if 0 < family.runs < FEWEST}
    if few:
        counts = sorted(set(few.values()))
        number = counted(counts[0], "run") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} runs"
        yield (
            f"{number} a task are too few for a verdict: the words above say what the means are. "
            f"With --seeds {FEWEST} or more they say what the intervals bear."
        )


def _told(task: Task) -> str:
    """What a task's scaled number rests on."""
    table, own = task.table, task.own
    if table is None or own is None:
        return ""
    middle = table.middle(own)
    control = next((row for row in table.rows if row.learner == table.best_control), None)
    rule = "" if control is None else f" against {written(scored(table.judged, table.middle(control)))}"
    return f"{task.label}: {table.judged.title} {written(scored(table.judged, middle))}{rule} of {table.best_control}"


def _left_out(found: Standing) -> dict[str, list[str]]:
    names: dict[str, dict[str, None]] = {}
    for family in found.families:
        for task in family.tasks:
            for name in task.left_out:
                names.setdefault(name, {})[family.name] = None
    return {name: list(families) for name, families in names.items()}
