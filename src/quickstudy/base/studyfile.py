"""From the text of a study to the study itself."""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
import pathlib
import tomllib
from collections.abc import Mapping
from typing import Any

from quickstudy.base.each import Choice, fill, shown
from quickstudy.base.errors import UsageError
from quickstudy.base.study import Published, Study, StudyRow, study_text
from quickstudy.base.studycheck import Checker, place

_DEEPEST = 20
"""Tables within tables. No kind of study asks for more than three."""
_LARGEST = 2**63
"""Beyond it a whole number is a slip, and one of thousands of digits cannot even be printed."""


def read_study(name: str, asking: tuple[str, ...] = ()) -> Study:
    """The study of that name or in that file. asking: the studies that are like this one, and wait for it."""
    if name in asking:
        raise UsageError(f"{name}: the study is like itself ({' -> '.join((*asking, name))})")
    text = study_text(name)
    id = pathlib.PurePath(name).stem if name.endswith(".toml") else name
    if not id.strip("."):
        raise UsageError(f"{name} has no name before .toml, and its results would have none; rename the file")
    maker = _Maker(Checker(id, _parsed(id, text)))
    maker.checker.check()
    like = maker.facts.get("like")
    return maker.study(read_study(like, (*asking, name)) if like is not None else None)


def _parsed(id: str, text: str) -> dict[str, Any]:
    """What a file says. Raises UsageError if it is no TOML, or holds what nothing here could be done with."""
    try:
        facts = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{id}: not TOML: {error}") from error
    except ValueError as error:
        raise UsageError(f"{id}: a number in it has too many digits") from error
    except RecursionError:
        raise UsageError(f"{id}: it is nested more than {_DEEPEST} deep") from None
    level: list[Any] = [facts]
    for _ in range(_DEEPEST):
        parts = [part for value in level for part in (value.values() if isinstance(value, dict) else value)]
        for part in parts:
            if isinstance(part, int) and abs(part) >= _LARGEST:
                raise UsageError(f"{id}: a number in it has too many digits")
            if isinstance(part, datetime.date | datetime.time):
                raise UsageError(f'{id}: a study has no dates, got {part}; write it as a text: "{part}"')
        level = [part for part in parts if isinstance(part, dict | list)]
    if level:
        raise UsageError(f"{id}: it is nested more than {_DEEPEST} deep")
    return facts


@dataclasses.dataclass(frozen=True)
class _Maker:
    """A file that has been checked, on its way to a study."""

    checker: Checker

    @property
    def facts(self) -> Mapping[str, Any]:
        return self.checker.facts

    def study(self, model: Study | None) -> Study:
        """The study itself, with learners, rows and settings of another one where it is like it."""
        facts = self.facts
        rows = self._like(model) if model else tuple(row for one in facts["rows"] for row in self._rows(one))
        columns = list(dict.fromkeys(column for row in rows for column in row.learners))
        together = {**(model.together if model else {}), **self._together(columns)}
        quantities = {**(model.quantities if model else {}), **facts.get("quantities", {})}
        published = [column for row in rows for column in row.published]
        return Study(
            id=self.checker.id,
            version=facts["version"],
            title=facts["title"],
            source=facts["source"],
            kind=facts["kind"],
            scores=self.checker.scores,
            seeds=facts.get("seeds", 1),
            columns=tuple(dict.fromkeys([*columns, *quantities, *together, *published])),
            rows=rows,
            notes=facts.get("notes", "").strip(),
            runs=model.runs if model else self.checker.id,
            settings={**(model.settings if model else {}), **facts.get("settings", {})},
            convention=facts.get("convention", model.convention if model else "published"),
            together=together,
            measures=tuple(dict.fromkeys([*(model.measures if model else ()), *facts.get("measures", [])])),
            quantities=quantities,
        )

    def _rows(self, row: Mapping[str, Any]) -> list[StudyRow]:
        """The rows that one of the file stands for."""
        several = bool(self.checker.each.names(row["label"]))
        made = []
        for choice in self.checker.each.choices(row["label"]):
            label = self.checker.put_in(row["label"], choice, place(row))

            def own(numbers: Mapping[str, Any], label: str = label) -> dict[str, Published]:
                return _published(numbers.get(label, {}) if several else numbers)

            made.append(
                StudyRow(
                    task=self.checker.put_in(row["task"], choice, place(row)),
                    label=label,
                    learners=self._learners(row, choice),
                    published=own(row.get("published", {})),
                    also={score: own(numbers) for score, numbers in row.get("also", {}).items()},
                    protocol=self._protocol({**self.facts.get("protocol", {}), **row.get("protocol", {})}, choice, row),
                )
            )
        return made

    def _learners(self, row: Mapping[str, Any], choice: Choice) -> dict[str, str | Mapping[str, str]]:
        made: dict[str, str | Mapping[str, str]] = {}
        learners = self.facts.get("learners", {})
        for column in row.get("columns", learners):
            for chosen in self.checker.each.choices(column):
                name = self.checker.put_in(column, chosen, column)
                entries, where = {**row, **choice, **chosen}, f"{place(row)}, {column}"
                spoken = learners[column]
                made[name] = (
                    self._filled(spoken, entries, where)
                    if isinstance(spoken, str)
                    else {convention: self._filled(one, entries, where) for convention, one in spoken.items()}
                )
        # The columns of a study stand in the order of its file, whatever the order in which a row names them.
        return {column: made[column] for column in self.checker.columns if column in made}

    def _protocol(self, given: Mapping[str, Any], choice: Choice, row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: self.checker.put_in(value, choice, place(row)) if isinstance(value, str) else value
            for name, value in given.items()
        }

    def _filled(self, text: str, entries: Mapping[str, Any], where: str) -> str:
        try:
            return fill(text, entries)
        except KeyError as error:
            name = error.args[0]
            self.checker.refuse(
                f'{where}: "{text}" asks for {name}, of which the row says nothing; add {name} = ... to it'
            )
        except (ValueError, IndexError, AttributeError) as error:
            self.checker.refuse(f'{where}: "{text}" cannot be read ({error}); {{name}} stands for an entry of the row')

    def _together(self, columns: list[str]) -> dict[str, tuple[str, ...]]:
        """The columns of every model: those that fit its patterns."""
        found = {}
        for model, patterns in self.facts.get("together", {}).items():
            self.checker.texts(patterns, f"together: {model}")
            if model in columns:
                self.checker.refuse(f"together: {model} is the name of a column already; give the model another")
            for pattern in patterns:
                if not fnmatch.filter(columns, pattern):
                    self.checker.exists(pattern, columns, f"together: {model}: no column fits")
            found[model] = tuple(
                column for column in columns if any(fnmatch.fnmatchcase(column, pattern) for pattern in patterns)
            )
            if not found[model]:
                self.checker.refuse(f"together: {model} must name at least one column, got {shown(patterns)}")
        return found

    def _like(self, model: Study) -> tuple[StudyRow, ...]:
        """Another study's rows, with the published numbers of this one, or the other's where the main score is its."""
        rows = {row["label"]: row.get("published", {}) for row in self.facts.get("rows", ())}
        for label, numbers in rows.items():
            if label not in {row.label for row in model.rows}:
                raise UsageError(f'{model.id} has no row "{label}"')
            self.checker.check_published(numbers, model.columns, f'row "{label}"')
        same = self.checker.scores[:1] == model.scores[:1]
        protocol = self.facts.get("protocol", {})
        return tuple(
            dataclasses.replace(
                row,
                published=_published(rows[row.label]) if row.label in rows else row.published if same else {},
                protocol={**row.protocol, **protocol},
            )
            for row in model.rows
        )


def _published(numbers: Mapping[str, Any]) -> dict[str, Published]:
    return {
        column: Published(*map(float, number))
        if isinstance(number, list)
        else Published(number.strip() if isinstance(number, str) else float(number))
        for column, number in numbers.items()
    }
