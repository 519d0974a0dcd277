"""From the text of a study to the study: every word of it is looked at, and what makes no sense is refused."""

from __future__ import annotations

import dataclasses
import itertools
import math
import pathlib
import string
import tomllib
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NoReturn

from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import CONVENTIONS
from quickstudy.base.study import Published, Study, StudyRow, study_text

PEOPLE = "human"
"""A column that may have published numbers in every study: people are not run."""

_TEXTS = ("title", "source", "kind")
_NEEDED = ("version", *_TEXTS, "score", "seeds")
_KEYS = (*_NEEDED, "notes", "like", "learners", "each", "rows", "settings", "beside")
_ROW_KEYS = ("task", "label", "columns", "published", "also")


def read_study(name: str, asking: tuple[str, ...] = ()) -> Study:
    """The study of that name or in that file. asking: the studies that are like this one, and wait for it."""
    if name in asking:
        raise UsageError(f"{name}: the study is like itself ({' -> '.join((*asking, name))})")
    text = study_text(name)
    id = pathlib.PurePath(name).stem if name.endswith(".toml") else name
    try:
        facts = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{id}: not TOML: {error}") from error
    reader = _Reader(id, facts)
    reader.check()
    model = read_study(facts["like"], (*asking, name)) if "like" in facts else None
    return reader.study(model)


@dataclasses.dataclass(frozen=True)
class _Reader:
    """id: what the study is called. facts: its file, parsed."""

    id: str
    facts: Mapping[str, Any]

    def check(self) -> None:
        """Raise UsageError for a key that is missing or unknown, or a value of the wrong kind."""
        facts = self.facts
        self._known(facts, _KEYS, "key")
        for name in (*_NEEDED, *(() if "like" in facts else ("learners", "rows"))):
            if name not in facts:
                self._refuse(f"the study says nothing of '{name}'")
        for name in ("version", "seeds"):
            if not _whole(facts[name]):
                self._refuse(f"{name} must be a whole number from 1 on, got {facts[name]!r}")
        for name in (*_TEXTS, "notes", "like"):
            if not isinstance(facts.get(name, ""), str):
                self._refuse(f"{name} must be a text, got {facts[name]!r}")
        for name in ("learners", "each", "settings"):
            self._table(facts.get(name, {}), name)
        for name, count in facts.get("each", {}).items():
            if not _whole(count):
                self._refuse(f"each: {name} must be a whole number from 1 on, got {count!r}")
        for column, learner in facts.get("learners", {}).items():
            self._check_learner(column, learner)
        self._texts(facts.get("beside", []), "beside")
        rows = facts.get("rows", [])
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            self._refuse("rows must be tables, each under [[rows]]")
        for row in rows:
            self._check_row(row)
        labels = [row["label"] for row in rows]
        twice = [label for place, label in enumerate(labels) if label in labels[:place]]
        if twice:
            self._refuse(f'two rows have the label "{twice[0]}"; give each its own')

    def study(self, model: Study | None) -> Study:
        """The study itself, with learners, rows and settings of another one where it is like it."""
        facts = self.facts
        rows = self._like(model) if model else tuple(self._row(row) for row in facts["rows"])
        shown = [column for row in rows for column in row.learners]
        published = [column for row in rows for column in row.published]
        return Study(
            id=self.id,
            version=facts["version"],
            title=facts["title"],
            source=facts["source"],
            kind=facts["kind"],
            scores=self._scores,
            seeds=facts["seeds"],
            columns=tuple(dict.fromkeys([*shown, *published])),
            rows=rows,
            notes=facts.get("notes", "").strip(),
            runs=model.runs if model else self.id,
            settings={**(model.settings if model else {}), **facts.get("settings", {})},
        )

    @property
    def _scores(self) -> tuple[str, ...]:
        score = self.facts["score"]
        scores = [score] if isinstance(score, str) else score
        self._texts(scores, "score")
        if not scores:
            self._refuse("score must name at least one score, got none")
        return tuple(scores)

    def _check_learner(self, column: str, learner: Any) -> None:
        spoken = learner.values() if isinstance(learner, Mapping) else [learner]
        if not all(isinstance(one, str) for one in spoken):
            self._refuse(f'learners: {column} must be a learner\'s name, such as "esn:units=200", got {learner!r}')
        if isinstance(learner, Mapping):
            for convention in learner:
                if convention not in CONVENTIONS:
                    self._refuse(
                        f'learners: {column}: no convention "{convention}"; {nearest(convention, CONVENTIONS)}'
                    )

    def _check_row(self, row: Mapping[str, Any]) -> None:
        if "label" not in row:
            self._refuse(f"a row has no label; add label = ... to the row of {row.get('task', 'no task')}")
        for name in ("task", "label"):
            if not isinstance(row.get(name, ""), str):
                self._refuse(f"{name} of a row must be a text, got {row[name]!r}")
        place = _place(row)
        if "like" in self.facts:
            self._known(row, ("label", "published"), f"{place}: entry")
            self._numbers(row.get("published", {}), place)
            return
        if "task" not in row:
            self._refuse(f"{place} has no task")
        for name in row:
            self._exists(name, (*_ROW_KEYS, *self._asked_for()), f"{place}: no learner asks for the entry")
        self._texts(row.get("columns", []), f"{place}: columns")
        for column in row.get("columns", []):
            self._exists(column, self.facts["learners"], f"{place}: columns: no learner")
        self._check_published(row.get("published", {}), place)
        self._table(row.get("also", {}), f"{place}: also")
        for score, numbers in row.get("also", {}).items():
            self._exists(score, self._scores[1:], f"{place}: also: no other score")
            self._check_published(numbers, f"{place}: also.{score}")

    def _check_published(self, numbers: Any, place: str) -> None:
        self._numbers(numbers, place)
        known = [*self._columns(), *self.facts.get("beside", []), PEOPLE]
        for column in numbers:
            self._exists(column, known, f"{place}: published numbers of a column that is no learner:")

    def _columns(self) -> list[str]:
        return [self._filled(column, value, column) for column in self.facts["learners"] for value in self._values()]

    def _asked_for(self) -> set[str]:
        """The entries that the learners ask their row for."""
        spoken = self.facts["learners"].values()
        texts = [text for one in spoken for text in ([one] if isinstance(one, str) else one.values())]
        try:
            return {field for text in texts for _, field, _, _ in string.Formatter().parse(text) if field}
        except ValueError as error:
            self._refuse(f"learners: {error}; a learner's {{name}} stands for an entry of the row")

    def _values(self) -> list[dict[str, int]]:
        each = self.facts.get("each", {})
        return [dict(zip(each, chosen, strict=True)) for chosen in itertools.product(*map(range, each.values()))]

    def _row(self, row: Mapping[str, Any]) -> StudyRow:
        learners = {
            self._filled(column, value, column): self._learner(learner, {**row, **value}, f"{_place(row)}, {column}")
            for column, learner in self.facts["learners"].items()
            for value in self._values()
            if column in row.get("columns", self.facts["learners"])
        }
        also = {score: _published(numbers) for score, numbers in row.get("also", {}).items()}
        return StudyRow(row["task"], row["label"], learners, _published(row.get("published", {})), also)

    def _learner(
        self, learner: str | Mapping[str, str], entries: Mapping[str, Any], place: str
    ) -> str | Mapping[str, str]:
        if isinstance(learner, str):
            return self._filled(learner, entries, place)
        return {convention: self._filled(one, entries, place) for convention, one in learner.items()}

    def _filled(self, text: str, entries: Mapping[str, Any], place: str) -> str:
        try:
            return text.format_map(entries)
        except KeyError as error:
            name = error.args[0]
            self._refuse(f'{place}: "{text}" asks for {name}, of which the row says nothing; add {name} = ... to it')
        except (ValueError, IndexError, AttributeError) as error:
            self._refuse(f'{place}: "{text}" cannot be read ({error}); {{name}} stands for an entry of the row')

    def _like(self, model: Study) -> tuple[StudyRow, ...]:
        """Another study's rows, with the published numbers of this one, or the other's where the main score is its."""
        rows = {row["label"]: row.get("published", {}) for row in self.facts.get("rows", ())}
        for label, numbers in rows.items():
            if label not in {row.label for row in model.rows}:
                raise UsageError(f'{model.id} has no row "{label}"')
            for column in numbers:
                known = [*model.columns, *self.facts.get("beside", []), PEOPLE]
                self._exists(column, known, f'row "{label}": published numbers of a column that is no learner:')
        same = self._scores[0] == model.score
        return tuple(
            dataclasses.replace(
                row, published=_published(rows[row.label]) if row.label in rows else row.published if same else {}
            )
            for row in model.rows
        )

    def _numbers(self, numbers: Any, place: str) -> None:
        self._table(numbers, f"{place}: published")
        for column, number in numbers.items():
            parts = number if isinstance(number, list) else [number]
            if not 1 <= len(parts) <= 2 or not all(map(_finite, parts)) or (len(parts) == 2 and parts[1] < 0):
                self._refuse(f"{place}: published {column} must be a number or [number, spread], got {number!r}")

    def _known(self, given: Iterable[str], known: Collection[str], what: str) -> None:
        for name in given:
            if name not in known:
                self._refuse(f'{what} "{name}" is unknown; {nearest(name, known)}')

    def _exists(self, name: str, known: Collection[str], complaint: str) -> None:
        if name not in known:
            self._refuse(f'{complaint} "{name}"; {nearest(name, known)}')

    def _table(self, value: Any, name: str) -> None:
        if not isinstance(value, Mapping):
            self._refuse(f"{name} must be a table of names and values, got {value!r}")

    def _texts(self, value: Any, name: str) -> None:
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            self._refuse(f"{name} must be a list of names, got {value!r}")

    def _refuse(self, complaint: str) -> NoReturn:
        raise UsageError(f"{self.id}: {complaint}")


def _place(row: Mapping[str, Any]) -> str:
    return f'row "{row["label"]}"'


def _published(numbers: Mapping[str, Any]) -> dict[str, Published]:
    return {
        column: Published(*map(float, number)) if isinstance(number, list) else Published(float(number))
        for column, number in numbers.items()
    }


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
