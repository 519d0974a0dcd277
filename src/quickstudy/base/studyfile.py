"""From the file of a study to the study: every word is looked at, and what makes no sense is
refused in one line.
"""

from __future__ import annotations

import dataclasses
import fnmatch
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NoReturn

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import CONVENTIONS
from quickstudy.base.study import Published, Study, StudyRow
from quickstudy.base.study_grid import Each, fields, fill, is_count, put_in, shown

PEOPLE = "human"
"""A column that may have published numbers in every study: people are not run."""

_COUNT, _TEXT = "a whole number from 1 on", "a text"
_TABLE, _NAMES = "a table of names and values", "a list of names"
_FITS: dict[str, Callable[[Any], bool]] = {
    _COUNT: is_count,
    _TEXT: lambda value: isinstance(value, str),
    _TABLE: lambda value: isinstance(value, Mapping),
    _NAMES: lambda value: isinstance(value, list) and all(isinstance(part, str) for part in value),
}
_KEYS = {
    **dict.fromkeys(("version", "seeds"), _COUNT),
    **dict.fromkeys(("title", "source", "kind", "notes", "like", "convention"), _TEXT),
    **dict.fromkeys(("learners", "quantities", "each", "together", "protocol", "settings"), _TABLE),
    **dict.fromkeys(("beside", "measures"), _NAMES),
}
_NEEDED = ("version", "title", "source", "kind")
_ROW_KEYS = ("task", "label", "columns", "published", "also", "protocol")


@dataclasses.dataclass(frozen=True)
class StudyFile:
    """id: what the study is called. facts: its file, parsed."""

    id: str
    facts: Mapping[str, Any]

    def check(self) -> None:
        """Raise UsageError for a key that is missing or unknown, or a value of the wrong kind; not
        yet for a row.
        """
        facts = self.facts
        for name in facts:
            self.exists(name, {*_KEYS, "score", "rows"}, "key", " is unknown")
        if not {"like", "learners", "quantities"} & set(facts):
            self.refuse("missing required key 'learners' (or 'quantities')")
        # One that is computed or drawn from its tasks has no runs, and so neither a score nor
        # seeds.
        nothing = "quantities" in facts or facts.get("learners") == {}
        run = () if nothing else ("score", "seeds")
        for name in (*_NEEDED, *run, *(() if "like" in facts else ("rows",))):
            if name not in facts:
                self.refuse(f"missing required key '{name}'")
        if {"learners", "quantities"} <= set(facts):
            self.refuse(
                "a study has learners, or quantities of its tasks alone, not both; make two of it"
            )
        for name, kind in _KEYS.items():
            if name in facts:
                self.must_be(kind, facts[name], name)
        self.exists(facts.get("convention", CONVENTIONS[0]), CONVENTIONS, "no convention")
        for column, learner in self.learners.items():
            if not all(isinstance(one, str) for one in _spoken(learner)):
                such = 'a learner\'s name, such as "esn:units=200"'
                self.refuse(f"learners: {column} must be {such}, got {shown(learner)}")
            for convention in learner if isinstance(learner, Mapping) else ():
                self.exists(convention, CONVENTIONS, f"learners: {column}: no convention")
        for column, quantity in facts.get("quantities", {}).items():
            if not isinstance(quantity, str):
                self.refuse(
                    f"quantities: {column} must be the name of a quantity, got {shown(quantity)}"
                )

    def study(self, model: Study | None) -> Study:
        """The study itself, with learners, rows and settings of another one where it is like it."""
        facts, scores, given = self.facts, self.scores, self._given_rows()
        rows = self._like(model, given) if model else tuple(self._rows(given))
        columns = list(dict.fromkeys(column for row in rows for column in row.learners))
        together = {**(model.together if model else {}), **self._together(columns)}
        quantities = {**(model.quantities if model else {}), **facts.get("quantities", {})}
        published = [column for row in rows for column in row.published]
        return Study(
            id=self.id,
            **{name: facts[name] for name in _NEEDED},
            scores=scores,
            seeds=facts.get("seeds", 1),
            columns=tuple(dict.fromkeys([*columns, *quantities, *together, *published])),
            rows=rows,
            notes=facts.get("notes", "").strip(),
            runs=model.runs if model else self.id,
            settings={**(model.settings if model else {}), **facts.get("settings", {})},
            convention=facts.get("convention", model.convention if model else "published"),
            together=together,
            measures=tuple(
                dict.fromkeys([*(model.measures if model else ()), *facts.get("measures", [])])
            ),
            quantities=quantities,
        )

    @cached_property
    def learners(self) -> Any:
        """By column, as the file has them."""
        return self.facts.get("learners", {})

    @cached_property
    def each(self) -> Each:
        """The names with several values."""
        return Each.read(self.id, self.facts.get("each", {}))

    @cached_property
    def scores(self) -> tuple[str, ...]:
        """The scores, the main one first; none where nothing is run."""
        score = self.facts.get("score", [])
        scores = [score] if isinstance(score, str) else score
        self.must_be(_NAMES, scores, "score")
        if not scores and "score" in self.facts:
            self.refuse("score must name at least one score, got none")
        return tuple(scores)

    @cached_property
    def columns(self) -> list[str]:
        """All columns of the file, each name filled in: learners, or quantities."""
        made = [
            self.put_in(column, choice, column)
            for column in self.learners
            for choice in self.each.choices(column)
        ]
        return [*made, *self.facts.get("quantities", {})]

    def put_in(self, text: str, choice: Mapping[str, Any], where: str) -> str:
        """A text with the values of `[each]` in it."""
        try:
            return put_in(text, choice)
        except ValueError as error:
            self.refuse(f'{where}: "{text}" cannot be read ({error})')

    def exists(self, name: str, known: Collection[str], complaint: str, but: str = "") -> None:
        """Raise UsageError with a complaint and the nearest name, unless it is one of those
        known.
        """
        if name not in known:
            self.refuse(f'{complaint} "{name}"{but}; {nearest(name, known)}')

    def must_be(self, kind: str, value: Any, name: str) -> None:
        """Raise UsageError unless a value is of its kind."""
        if not _FITS[kind](value):
            self.refuse(f"{name} must be {kind}, got {shown(value)}")

    def refuse(self, complaint: str) -> NoReturn:
        """Say what is wrong, in one line."""
        raise UsageError(" ".join(f"{self.id}: {complaint}".split()))

    def _given_rows(self) -> list[Mapping[str, Any]]:
        """The rows of the file, of which each has a label of its own."""
        rows = self.facts.get("rows", [])
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            self.refuse("rows must be tables, each under [[rows]]")
        for row in rows:
            if "label" not in row:
                self.refuse(
                    "a row has no label; add label = ... to the row of"
                    f" {row.get('task', 'no task')}"
                )
            for name in ("task", "label"):
                self.must_be(_TEXT, row.get(name, ""), f"{name} of a row")
        return rows

    def _all_different(self, labels: list[str]) -> None:
        for label, count in Counter(labels).items():
            if count > 1:
                self.refuse(f'two rows have the label "{label}"; give each its own')

    def _rows(self, given: list[Mapping[str, Any]]) -> Iterator[StudyRow]:
        """The rows that those of the file expand to."""
        self.each.check(
            self.learners, [row["label"] for row in given], len(self.facts.get("quantities", {}))
        )
        try:  # the entries that the learners ask their row for
            asked = {
                field
                for one in self.learners.values()
                for text in _spoken(one)
                for field in fields(text)
            }
        except ValueError as error:
            self.refuse(
                f"learners: {error}; {{name}} in a learner is replaced by an entry of the row"
            )
        labels = [
            [self.put_in(row["label"], one, _row(row)) for one in self.each.choices(row["label"])]
            for row in given
        ]
        for row, own in zip(given, labels, strict=True):
            yield from self._stands_for(row, own, asked)
        self._all_different([label for own in labels for label in own])

    def _stands_for(
        self, row: Mapping[str, Any], labels: list[str], asked: Collection[str]
    ) -> Iterator[StudyRow]:
        where = _row(row)
        if "task" not in row:
            self.refuse(f"{where} has no task")
        for name in row:
            self.exists(name, (*_ROW_KEYS, *asked), f"{where}: no learner asks for the entry")
            if name in self.each.values:
                self.refuse(f"{where}: {name} is a name of [each] already; give the entry another")
        self.must_be(_TABLE, row.get("protocol", {}), f"{where}: protocol")
        for text in (row["task"], *row.get("protocol", {}).values()):
            for name in self.each.names(text) if isinstance(text, str) else ():
                if name not in self.each.names(row["label"]):
                    self.refuse(
                        f"{where} asks for {{{name}}}, which its label does not hold; put it into"
                        " the label"
                    )
        self.must_be(_NAMES, row.get("columns", []), f"{where}: columns")
        for column in row.get("columns", []):
            self.exists(column, self.learners, f"{where}: columns: no learner")
        published = self._by_label(row, labels, row.get("published", {}), where)
        self.must_be(_TABLE, row.get("also", {}), f"{where}: also")
        also = {}
        for score, numbers in row.get("also", {}).items():
            self.exists(score, self.scores[1:], f"{where}: also: no other score")
            also[score] = self._by_label(row, labels, numbers, f"{where}: also.{score}")
        protocol = {**self.facts.get("protocol", {}), **row.get("protocol", {})}
        for label, choice in zip(labels, self.each.choices(row["label"]), strict=True):
            yield StudyRow(
                task=self.put_in(row["task"], choice, where),
                label=label,
                learners=self._filled_learners(row, choice),
                published=published.get(label, {}),
                also={score: numbers.get(label, {}) for score, numbers in also.items()},
                protocol={
                    name: self.put_in(value, choice, where) if isinstance(value, str) else value
                    for name, value in protocol.items()
                },
            )

    def _filled_learners(self, row: Mapping[str, Any], choice: Mapping[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for column in row.get("columns", self.learners):
            for chosen in self.each.choices(column):
                entries, where, spoken = (
                    {**row, **choice, **chosen},
                    f"{_row(row)}, {column}",
                    self.learners[column],
                )
                made[self.put_in(column, chosen, column)] = (
                    self._filled(spoken, entries, where)
                    if isinstance(spoken, str)
                    else {
                        convention: self._filled(one, entries, where)
                        for convention, one in spoken.items()
                    }
                )
        # The columns of a study are in the order of its file, not in that in which a row
        # names them.
        return {column: made[column] for column in self.columns if column in made}

    def _filled(self, text: str, entries: Mapping[str, Any], where: str) -> str:
        try:
            return fill(text, entries)
        except KeyError as error:
            name = error.args[0]
            self.refuse(
                f'{where}: "{text}" asks for {name}, which the row does not have; add {name} ='
                " ... to it"
            )
        except (ValueError, IndexError, AttributeError) as error:
            self.refuse(
                f'{where}: "{text}" cannot be read ({error}); {{name}} is replaced by an'
                " entry of the row"
            )

    def _by_label(
        self, row: Mapping[str, Any], labels: list[str], numbers: Any, where: str
    ) -> dict[str, Any]:
        """Published numbers by label and column; the file has them so where a row expands to
        several.
        """
        self.must_be(_TABLE, numbers, f"{where}: published")
        if not self.each.names(row["label"]):
            return {labels[0]: self._published(numbers, self.columns, where)}
        for label in numbers:
            self.exists(
                label, labels, f"{where} stands for several; published numbers of no label:"
            )
        return {
            label: self._published(own, self.columns, f'row "{label}"')
            for label, own in numbers.items()
        }

    def _published(self, numbers: Any, columns: Iterable[str], where: str) -> dict[str, Published]:
        """Published numbers by column. Raises UsageError for one that is none, or that no column
        has.
        """
        self.must_be(_TABLE, numbers, f"{where}: published")
        found = {}
        for column, number in numbers.items():
            try:
                found[column] = Published.read(number)
            except ValueError:
                self.refuse(
                    f"{where}: published {column} must be a number or [number, spread], got"
                    f" {shown(number)}"
                )
        known = [*columns, *self.facts.get("together", {}), *self.facts.get("beside", []), PEOPLE]
        for column in numbers:
            self.exists(
                column, known, f"{where}: published numbers of a column that is not a learner:"
            )
        return found

    def _together(self, columns: list[str]) -> dict[str, tuple[str, ...]]:
        """The columns of every model: those that fit its patterns."""
        found = {}
        for model, patterns in self.facts.get("together", {}).items():
            self.must_be(_NAMES, patterns, f"together: {model}")
            if model in columns:
                self.refuse(
                    f"together: {model} is the name of a column already; give the model another"
                )
            for pattern in patterns:
                if not fnmatch.filter(columns, pattern):
                    self.exists(pattern, columns, f"together: {model}: no column fits")
            fitting = {
                column
                for pattern in patterns
                for column in columns
                if fnmatch.fnmatchcase(column, pattern)
            }
            found[model] = tuple(column for column in columns if column in fitting)
            if not found[model]:
                self.refuse(
                    f"together: {model} must name at least one column, got {shown(patterns)}"
                )
        return found

    def _like(self, model: Study, given: list[Mapping[str, Any]]) -> tuple[StudyRow, ...]:
        """Another study's rows, with the published numbers of this one, or the other's where the
        main score is its.
        """
        own = {}
        for row in given:
            for name in row:
                self.exists(name, ("label", "published"), f"{_row(row)}: entry", " is unknown")
            if row["label"] not in {one.label for one in model.rows}:
                raise UsageError(f'{model.id} has no row "{row["label"]}"')
            own[row["label"]] = self._published(row.get("published", {}), model.columns, _row(row))
        self._all_different([row["label"] for row in given])
        same = self.scores[:1] == model.scores[:1]
        return tuple(
            dataclasses.replace(
                row,
                published=own.get(row.label, row.published if same else {}),
                protocol={**row.protocol, **self.facts.get("protocol", {})},
            )
            for row in model.rows
        )


def _row(row: Mapping[str, Any]) -> str:
    """A row in a message."""
    return f'row "{row["label"]}"'


def _spoken(learner: Any) -> Iterable[Any]:
    """The names of a column's learner: one, or one for each convention."""
    return learner.values() if isinstance(learner, Mapping) else [learner]
