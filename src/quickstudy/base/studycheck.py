"""What a study may say: every word of its file is looked at, and what makes no sense is refused in one line."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, NoReturn

from quickstudy.base.each import Each, fields, is_count, put_in, shown
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import CONVENTIONS

PEOPLE = "human"
"""A column that may have published numbers in every study: people are not run."""

_TEXTS = ("title", "source", "kind")
_NEEDED = ("version", *_TEXTS)
_RUN = ("score", "seeds")
"""What only a study with runs needs: one that is computed from its tasks has neither."""
_LISTS = ("beside", "measures")
_TABLES = ("learners", "quantities", "each", "together", "protocol", "settings")
_KEYS = (*_NEEDED, *_RUN, "notes", "like", "convention", "rows", *_LISTS, *_TABLES)
_MOST_LETTERS = 40
"""Of words in the place of a published number: they stand in a cell."""
_ROW_KEYS = ("task", "label", "columns", "published", "also", "protocol")


@dataclasses.dataclass(frozen=True)
class Checker:
    """id: what the study is called. facts: its file, parsed."""

    id: str
    facts: Mapping[str, Any]

    def check(self) -> None:
        """Raise UsageError for a key that is missing or unknown, or a value of the wrong kind."""
        facts = self.facts
        self.known(facts, _KEYS, "key")
        if not {"like", "learners", "quantities"} & set(facts):
            self.refuse("the study says nothing of 'learners', and nothing of 'quantities'")
        needed = (*_NEEDED, *(() if "quantities" in facts else _RUN), *(() if "like" in facts else ("rows",)))
        for name in needed:
            if name not in facts:
                self.refuse(f"the study says nothing of '{name}'")
        if {"learners", "quantities"} <= set(facts):
            self.refuse("a study has learners, or quantities of its tasks alone, not both; make two of it")
        for name in ("version", "seeds"):
            if name in facts and not is_count(facts[name]):
                self.refuse(f"{name} must be a whole number from 1 on, got {shown(facts[name])}")
        for name in (*_TEXTS, "notes", "like", "convention"):
            if not isinstance(facts.get(name, ""), str):
                self.refuse(f"{name} must be a text, got {shown(facts[name])}")
        if "convention" in facts:
            self.exists(facts["convention"], CONVENTIONS, "no convention")
        for name in _TABLES:
            self.table(facts.get(name, {}), name)
        for name in _LISTS:
            self.texts(facts.get(name, []), name)
        for column, learner in facts.get("learners", {}).items():
            self._check_learner(column, learner)
        for column, quantity in facts.get("quantities", {}).items():
            if not isinstance(quantity, str):
                self.refuse(f"quantities: {column} must be the name of a quantity, got {shown(quantity)}")
        self._check_rows()

    @cached_property
    def each(self) -> Each:
        """The names that stand for several values."""
        return Each.read(self.id, self.facts.get("each", {}))

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores, the main one first; none where nothing is run."""
        score = self.facts.get("score", [])
        scores = [score] if isinstance(score, str) else score
        self.texts(scores, "score")
        if not scores and "score" in self.facts:
            self.refuse("score must name at least one score, got none")
        return tuple(scores)

    @cached_property
    def columns(self) -> list[str]:
        """All columns of the file, each name filled in: learners, or quantities."""
        learners = self.facts.get("learners", {})
        made = [self.put_in(column, choice, column) for column in learners for choice in self.each.choices(column)]
        return [*made, *self.facts.get("quantities", {})]

    def labels(self, row: Mapping[str, Any]) -> list[str]:
        """The labels that a row stands for."""
        return [self.put_in(row["label"], choice, place(row)) for choice in self.each.choices(row["label"])]

    def put_in(self, text: str, choice: Mapping[str, Any], where: str) -> str:
        """A text with the values of `[each]` in it."""
        try:
            return put_in(text, choice)
        except ValueError as error:
            self.refuse(f'{where}: "{text}" cannot be read ({error})')

    def check_published(self, numbers: Any, columns: Iterable[str], where: str) -> None:
        """Raise UsageError for a published number that is none, or that no column has."""
        self.table(numbers, f"{where}: published")
        for column, number in numbers.items():
            parts = number if isinstance(number, list) else [number]
            spread = parts[1:]
            fits = bool(parts) and (_is_finite(parts[0]) or _are_words(number))
            if not fits or len(spread) > 1 or not all(_is_finite(one) and one >= 0 for one in spread):
                self.refuse(f"{where}: published {column} must be a number or [number, spread], got {shown(number)}")
        known = [*columns, *self.facts.get("together", {}), *self.facts.get("beside", []), PEOPLE]
        for column in numbers:
            self.exists(column, known, f"{where}: published numbers of a column that is no learner:")

    def known(self, given: Iterable[str], known: Collection[str], what: str) -> None:
        """Raise UsageError for a name that is none of those known."""
        for name in given:
            if name not in known:
                self.refuse(f'{what} "{name}" is unknown; {nearest(name, known)}')

    def exists(self, name: str, known: Collection[str], complaint: str) -> None:
        """Raise UsageError with a complaint and the nearest name, unless it is one of those known."""
        if name not in known:
            self.refuse(f'{complaint} "{name}"; {nearest(name, known)}')

    def table(self, value: Any, name: str) -> None:
        """Raise UsageError unless it is a table."""
        if not isinstance(value, Mapping):
            self.refuse(f"{name} must be a table of names and values, got {shown(value)}")

    def texts(self, value: Any, name: str) -> None:
        """Raise UsageError unless it is a list of texts."""
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            self.refuse(f"{name} must be a list of names, got {shown(value)}")

    def refuse(self, complaint: str) -> NoReturn:
        """Say what is wrong, in one line."""
        raise UsageError(" ".join(f"{self.id}: {complaint}".split()))

    def _check_learner(self, column: str, learner: Any) -> None:
        spoken = learner.values() if isinstance(learner, Mapping) else [learner]
        if not all(isinstance(one, str) for one in spoken):
            self.refuse(f'learners: {column} must be a learner\'s name, such as "esn:units=200", got {shown(learner)}')
        if isinstance(learner, Mapping):
            for convention in learner:
                self.exists(convention, CONVENTIONS, f"learners: {column}: no convention")

    def _check_rows(self) -> None:
        rows = self.facts.get("rows", [])
        like = "like" in self.facts
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            self.refuse("rows must be tables, each under [[rows]]")
        for row in rows:
            self._check_row_texts(row)
        if like:
            for row in rows:
                self.known(row, ("label", "published"), f"{place(row)}: entry")
                self.table(row.get("published", {}), f"{place(row)}: published")
        else:
            quantities = self.facts.get("quantities", {})
            self.each.check(self.facts.get("learners", {}), [row["label"] for row in rows], len(quantities))
            asked = self._asked_for()
            for row in rows:
                self._check_row(row, asked)
        seen: set[str] = set()
        for label in (label for row in rows for label in ([row["label"]] if like else self.labels(row))):
            if label in seen:
                self.refuse(f'two rows have the label "{label}"; give each its own')
            seen.add(label)

    def _check_row_texts(self, row: Mapping[str, Any]) -> None:
        if "label" not in row:
            self.refuse(f"a row has no label; add label = ... to the row of {row.get('task', 'no task')}")
        for name in ("task", "label"):
            if not isinstance(row.get(name, ""), str):
                self.refuse(f"{name} of a row must be a text, got {shown(row[name])}")

    def _check_row(self, row: Mapping[str, Any], asked: Collection[str]) -> None:
        where = place(row)
        if "task" not in row:
            self.refuse(f"{where} has no task")
        for name in row:
            self.exists(name, (*_ROW_KEYS, *asked), f"{where}: no learner asks for the entry")
            if name in self.each.values:
                self.refuse(f"{where}: {name} is a name of [each] already; give the entry another")
        self.table(row.get("protocol", {}), f"{where}: protocol")
        own = self.each.names(row["label"])
        for text in (row["task"], *row.get("protocol", {}).values()):
            for name in self.each.names(text) if isinstance(text, str) else ():
                if name not in own:
                    self.refuse(f"{where} asks for {{{name}}}, which its label does not hold; put it into the label")
        self.texts(row.get("columns", []), f"{where}: columns")
        for column in row.get("columns", []):
            self.exists(column, self.facts.get("learners", {}), f"{where}: columns: no learner")
        self._check_numbers(row, row.get("published", {}), where)
        self.table(row.get("also", {}), f"{where}: also")
        for score, numbers in row.get("also", {}).items():
            self.exists(score, self.scores[1:], f"{where}: also: no other score")
            self._check_numbers(row, numbers, f"{where}: also.{score}")

    def _check_numbers(self, row: Mapping[str, Any], numbers: Any, where: str) -> None:
        """Published numbers by column; in a row that stands for several, by label and column."""
        self.table(numbers, f"{where}: published")
        if not self.each.names(row["label"]):
            self.check_published(numbers, self.columns, where)
            return
        labels = self.labels(row)
        for label, own in numbers.items():
            self.exists(label, labels, f"{where} stands for several; published numbers of no label:")
            self.check_published(own, self.columns, f'row "{label}"')

    def _asked_for(self) -> set[str]:
        """The entries that the learners ask their row for."""
        spoken = self.facts.get("learners", {}).values()
        texts = [text for one in spoken for text in ([one] if isinstance(one, str) else one.values())]
        try:
            return {field for text in texts for field in fields(text)}
        except ValueError as error:
            self.refuse(f"learners: {error}; a learner's {{name}} stands for an entry of the row")


def place(row: Mapping[str, Any]) -> str:
    """A row in a message."""
    return f'row "{row["label"]}"'


def _is_finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _are_words(value: Any) -> bool:
    """Whether it is what a publication has in the place of a number; a number in quotes is a slip."""
    if not isinstance(value, str) or not 0 < len(value.strip()) <= _MOST_LETTERS:
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False
