"""Numbers of the tasks alone, published next to computed: nothing is run, and no learner takes
part.

A quantity is a function of a task, registered with `@quantity(id, version=, unit=, equation=)`. It
gives one number, or several by name, of which a study asks for one as `id.name`. It has no random
numbers but from streams of its own, so that it is the same every time. A task that it is not for
raises NotApplicable with the reason.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

from quickstudy.base import registries
from quickstudy.base.blocks import Made, Text
from quickstudy.base.errors import NotApplicable, QuickstudyError, UsageError, nearest
from quickstudy.base.registries import block
from quickstudy.base.study import StudyRow
from quickstudy.base.text import described
from quickstudy.pages.published_table import as_table, plainly, summary
from quickstudy.pages.reproduction import Reproduced, Reproduction
from quickstudy.pages.study_request import Request, Stage
from quickstudy.runs.run_spec import make_task


@block("quantities", version=1)
class Quantities:
    """One table, a task a row, a quantity a column; what could not be computed, and why; what the
    columns are.
    """

    whole = True

    def stages(self, request: Request) -> Iterator[Stage]:
        """Nothing is run. Raises UsageError for a quantity or a task that does not exist."""
        for name in request.study.quantities.values():
            registries.quantity.get(_id(name))
        for row in request.rows:
            make_task(row.task, request.convention)
        return iter(())

    def blocks(self, request: Request) -> Made:
        """The table, and a sentence for everything else."""
        study = request.study
        cells: dict[str, dict[str, Reproduced]] = {}
        reasons: list[str] = []
        for row in study.rows:
            numbers = _numbers(request, row, reasons)
            cells[row.label] = {}
            for column in study.columns:
                published, number = row.published.get(column), numbers.get(column)
                within = published.agrees(number) if published and number is not None else None
                cells[row.label][column] = Reproduced(published, measured=number, within=within)
        found = Reproduction(study, request.convention, "", cells)
        beside = any(cell.published for *_, cell in found.every())
        caption = (
            f"{'published | ' if beside else ''}computed from the tasks alone, convention"
            f" {request.convention}"
            f"{'; = within the published spread or bound, ≠ outside' if found.judged() else ''}"
        )
        lines = (*summary(found), *reasons, *_meanings(study.quantities))
        facts, numbered = found.as_facts(), as_table(found, request.name, caption, _data(found))
        return Made(
            [numbered, *map(Text, lines)],
            {name: facts[name] for name in ("study", "version", "convention", "rows")},
        )


def _numbers(request: Request, row: StudyRow, reasons: list[str]) -> dict[str, float]:
    """The quantities of a row by column, each function asked once. reasons: gains a sentence for
    what there is not.
    """
    task = make_task(row.task, request.convention)
    computed = functools.cache(lambda id: _computed(id, task))
    numbers: dict[str, float] = {}
    for column, name in request.study.quantities.items():
        try:
            known = computed(_id(name))
        except NotApplicable as error:
            reasons.append(f"{row.label}, {column}: {error}.")
            continue
        if name not in known:
            said = f'quantity "{_id(name)}" gives no "{name}"; {nearest(name, known)}'
            raise UsageError(f"{request.study.id}: {row.label}: {said}")
        numbers[column] = known[name]
    return numbers


def _computed(id: str, task: Any) -> Mapping[str, float]:
    """The values of a quantity of a task, by the names that a study may ask for."""
    try:
        found = registries.quantity.get(id)(task)
        if isinstance(found, Mapping):
            return {f"{id}.{name}": float(value) for name, value in found.items()}
        return {id: float(found)}
    except QuickstudyError:
        raise
    except Exception as error:
        raise QuickstudyError(f'quantity "{id}" of {task.id}: {described(error)}') from error


def _id(name: str) -> str:
    """The quantity that a column asks for: `id`, or `id.name` for one of several numbers."""
    return name if name in registries.quantity else name.rpartition(".")[0] or name


def _meanings(quantities: Mapping[str, str]) -> Iterator[str]:
    for column, name in quantities.items():
        found = registries.quantity.get(_id(name))
        unit = getattr(found, "unit", "")
        if isinstance(unit, Mapping):
            unit = unit.get(name.removeprefix(f"{_id(name)}."), "")
        said = [str(one) for one in (unit, getattr(found, "equation", "")) if one]
        yield f"{column}: {name}, version {found.version}{''.join(f'; {one}' for one in said)}."


def _data(found: Reproduction) -> list[tuple[str, ...]]:
    return [
        ("task", "quantity", "published", "published_spread", "computed"),
        *(
            (row, column, *map(plainly, (*(cell.published or (None, None)), cell.measured)))
            for row, column, cell in found.every()
            if cell.published or cell.measured is not None
        ),
    ]
