"""How runs are read: what a protocol and its measures say of their numbers, and what a record keeps
of that.

A protocol declares, as class attributes, what is listed in `DECLARED`; what it leaves out is as
usual. A record carries it, outside of its identity, so that a folder is read rightly where the code
that made it is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any

from quickstudy.base import registries
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.measure import Measure, Score, find_score, read_range
from quickstudy.base.record import Record
from quickstudy.base.registries import DECLARED

MOST_COLUMNS = 6
"""Of a protocol that names none."""


@dataclass(frozen=True)
class Legend:
    """headline: the score that goes on the common scale. second: the one that is asked where the
    headline is uninformative. outcome: the score of where a learner ends, then of when it gets
    there, where the headline is neither. columns: the scores of a table, in their order. question:
    what the family asks. once, again: the text for learners that see everything once, and of those
    with replay. replay_apart: whether the two are ranked apart. scores: by the id of their measure.
    """

    headline: str = ""
    second: str = ""
    outcome: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    question: str = ""
    once: str = DECLARED["once"]
    again: str = DECLARED["again"]
    replay_apart: bool = DECLARED["replay_apart"]
    scores: Mapping[str, tuple[Score, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, protocol: Any, measures: Sequence[Measure]) -> Legend:
        """What a protocol declares about the scores of some measures. Without a headline, the first
        score is.
        """
        declared = [score.name for measure in measures for score in measure.scores]
        said = {name: getattr(protocol, name, DECLARED[name]) for name in _SAID}
        said["headline"] = said["headline"] or next(
            (name for name in declared if "*" not in name), ""
        )
        said["outcome"] = tuple(said["outcome"])
        said["columns"] = (
            tuple(said["columns"])
            or tuple(name for name in declared if "*" not in name)[:MOST_COLUMNS]
        )
        return cls(**said, scores={measure.id: measure.scores for measure in measures})

    def as_facts(self) -> dict[str, Any]:
        """In plain JSON types, without what is as usual: every record carries it."""
        usual = Legend()
        said = {
            name: getattr(self, name)
            for name in _SAID
            if getattr(self, name) != getattr(usual, name)
        }
        scores = {
            id: {score.name: score.as_facts() for score in found}
            for id, found in self.scores.items()
        }
        return {**said, "scores": scores}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Legend:
        """The inverse of `as_facts`."""
        said = _entries(facts, _SAID)
        said |= {name: tuple(said.get(name, ())) for name in ("columns", "outcome")}
        scores = {
            id: tuple(
                Score(name, range=read_range(read), **_entries(read, _READ))
                for name, read in found.items()
            )
            for id, found in facts.get("scores", {}).items()
        }
        return cls(**said, scores=scores)

    def titled(self, titles: Mapping[str, str]) -> Legend:
        """The same with other headings of some scores."""
        if not titles:
            return self
        scores = {
            id: tuple(replace(one, title=titles.get(one.name, one.title)) for one in found)
            for id, found in self.scores.items()
        }
        return replace(self, scores=scores)

    def score(self, name: str) -> Score:
        """How a score is read; one of which nothing is known has its name only. `measure/name` is
        that measure's.
        """
        if name not in self._found:  # a report asks for each a hundred times
            id, _, own = name.rpartition("/")
            known = (
                self.scores.get(id, ())
                if id
                else [score for scores in self.scores.values() for score in scores]
            )
            found = find_score(own, known) or installed_score(own)
            title = name if id or found is None else found.title
            self._found[name] = (
                Score(name) if found is None else replace(found, name=name, title=title)
            )
        return self._found[name]

    @cached_property
    def _found(self) -> dict[str, Score]:
        return {}

    def order(self, names: Iterable[str]) -> tuple[str, ...]:
        """Score names as ordered in tables: the headline, the other columns, the rest by
        name.
        """
        known = set(names)
        first = [name for name in dict.fromkeys((self.headline, *self.columns)) if name in known]
        return (*first, *sorted(known - set(first)))

    def shown(self, names: Sequence[str]) -> tuple[Score, ...]:
        """The columns of a table that has some scores; the first few where none of them is a
        column.
        """
        ordered = self.order(names)
        chosen = [name for name in ordered if name == self.headline or name in self.columns]
        return tuple(map(self.score, chosen or ordered[:MOST_COLUMNS]))


_SAID = tuple(field.name for field in fields(Legend) if field.name != "scores")
_READ = tuple(field.name for field in fields(Score) if field.name not in ("name", "range", "alias"))


def check_reading(protocol: Any) -> None:
    """Raise UsageError where a registered protocol goes by a score that none of its measures
    declares. Another would replace it unnoticed. When it is registered its
    measures need not be yet.
    """
    declared = [
        score
        for id in getattr(protocol, "measures", ())
        for score in registries.measure.get(id).scores
    ]
    said = {
        "headline": (protocol.headline,),
        "second": (protocol.second,),
        "outcome": protocol.outcome,
        "columns": protocol.columns,
    }
    for part, name in ((part, name) for part, names in said.items() for name in names if name):
        if find_score(name.rpartition("/")[2], declared) is None:
            known = nearest(name, [score.name for score in declared])
            raise UsageError(
                f'protocol "{protocol.id}": {part} "{name}" is not a score of its measures; {known}'
            )


def read_legend(records: Iterable[Record]) -> Legend:
    """The legend of runs that belong together: the newest that one of them carries, and the scores
    of all.

    The scores of a user's measure that was applied with the protocol's come before the other
    columns, where a narrow terminal shows them too. Where no record carries a legend, as in folders
    of earlier versions, the installed protocol and measures are asked.
    """
    newest: dict[str, float] = {}
    texts: dict[int, str] = {}  # of the mappings themselves: most runs share one
    first: Record | None = None
    beside: set[str] = set()
    for record in records:
        first = first or record
        beside.update(id for id, entry in record.scores.items() if {"code", "scored"} <= set(entry))
        if record.legend:
            if id(record.legend) not in texts:
                texts[id(record.legend)] = json.dumps(record.legend, sort_keys=True)
            text = texts[id(record.legend)]
            newest[text] = max(newest.get(text, 0.0), record.started)
    if newest:
        found = [_parsed(text) for text in sorted(newest, key=lambda text: (newest[text], text))]
        scores = {id: own for legend in found for id, own in legend.scores.items()}
        said = {name: getattr(found[-1], name) for name in _SAID}
        own = (
            score.name
            for id in sorted(beside & scores.keys())
            for score in scores[id]
            if "*" not in score.name
        )
        return Legend(
            **{**said, "columns": tuple(dict.fromkeys((*own, *said["columns"])))}, scores=scores
        )
    named = str(first.part("protocol").get("id")) if first else ""
    if named not in registries.protocol:
        return Legend()
    known = registries.protocol.get(named)
    return Legend.of(
        known,
        [registries.measure.get(name) for name in known.measures if name in registries.measure],
    )


def installed_score(name: str) -> Score | None:
    """How the installed measures say that a score is read; None where none of them gives it."""
    measures = map(registries.measure.get, registries.measure.names())
    return next(
        (found for measure in measures if (found := find_score(name, measure.scores))), None
    )


def _entries(facts: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Without what only a later version knows."""
    return {name: facts[name] for name in known if name in facts}


@lru_cache(maxsize=64)
def _parsed(text: str) -> Legend:
    return Legend.from_facts(json.loads(text))
