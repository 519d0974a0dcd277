"""The metadata of a component: its spec sheet, its parameters, its conventions, its controls."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from quickstudy.base import registries
from quickstudy.base.canonical import canonical
from quickstudy.base.errors import nearest
from quickstudy.base.parameters import CONVENTIONS, configure, parameters_of
from quickstudy.base.registry import split_sheet
from quickstudy.runs.run_spec import protocol_of
from quickstudy.testing.check_result import Broken, Promise


class Papers:
    """The promises about a task's papers, in three tables: read before, during and after its
    output.
    """

    def __init__(self, task: Any) -> None:
        self._task = task

    def declared(self) -> list[Promise]:
        """A task that is not a frozen dataclass would break all other checks too, with less helpful
        messages.
        """
        return [("is a frozen dataclass", self._frozen)]

    def sheet(self) -> list[Promise]:
        """What it is."""
        return [
            ("has a spec sheet", self._spec_sheet),
            ("its parameters survive JSON", lambda: check_parameters(self._task)),
            ("its conventions can be made", lambda: check_conventions(type(self._task))),
        ]

    def company(self) -> list[Promise]:
        """The protocol that examines it, and the metadata of a score."""
        protocol = [("has a protocol", self._protocol)]
        return [
            *(protocol if getattr(self._task, "id", "") in registries.task else []),
            ("names controls that exist", self._controls),
            ("names its oracle, or why there is none", self._oracle),
        ]

    def _protocol(self) -> str:
        name = protocol_of(self._task)
        unfit = getattr(registries.protocol.get(name)(), "unfit", lambda task: "")
        if fault := unfit(self._task):
            raise Broken(fault)
        return name

    @property
    def oracle(self) -> str:
        """The name of its oracle, "" where there is only a reason why there is none, or nothing."""
        name = getattr(self._task, "oracle", None) or ""
        return "" if " " in name else str(name)

    def _frozen(self) -> None:
        if not dataclasses.is_dataclass(self._task):
            raise Broken(
                "write @dataclass(frozen=True) above the class, below @task(...): its fields are"
                " the parameters"
            )
        kind: Any = type(self._task)
        if not kind.__dataclass_params__.frozen:
            raise Broken(
                "write @dataclass(frozen=True): a task keeps no state, and is a constant of what is"
                " run on it"
            )

    def _spec_sheet(self) -> str:
        kind = type(self._task)
        text = (kind.__doc__ or "").strip()
        if not text or text.startswith(f"{kind.__name__}("):  # what @dataclass writes by itself
            raise Broken(
                "the class has no docstring; say what is seen, what is asked, how it is scored,"
                " chance and source"
            )
        return split_sheet(text)[0]

    def _controls(self) -> str:
        names = list(getattr(self._task, "controls", ()))
        if not names:
            raise Broken(
                'a score means little alone; name the rules it must beat: controls=["majority"]'
            )
        for name in names:
            _check_rule(name, "control")
        return ", ".join(names)

    def _oracle(self) -> str:
        if not getattr(self._task, "oracle", None):
            raise Broken('give oracle="its name", or in a few words why the best answer is unknown')
        if self.oracle:
            _check_rule(self.oracle, "oracle")
            if self.oracle in getattr(self._task, "controls", ()):
                raise Broken(
                    f"{self.oracle} is named as control and as oracle: no learner could stand"
                    " between the two"
                )
        return str(self._task.oracle)


def _check_rule(name: str, role: str) -> None:
    if name not in registries.control:
        raise Broken(f'no {role} "{name}"; {nearest(name, registries.control.names())}')


def check_parameters(component: Any) -> None:
    """Parameters written as JSON and read again make an equal component, with the same key."""
    written = canonical(parameters_of(component))
    again = configure(type(component).__name__, type(component), json.loads(written))
    if again != component:
        raise Broken(f"{component} comes back as {again}")
    if canonical(parameters_of(again)) != written:
        raise Broken(
            f"{written} comes back as {canonical(parameters_of(again))}; give defaults the type"
            " they declare"
        )


def check_conventions(component: type) -> str:
    """Every preset belongs to a convention that exists and makes a component."""
    presets = getattr(component, "conventions", {})
    unknown = [name for name in presets if name not in CONVENTIONS]
    if unknown:
        raise Broken(f'no convention "{unknown[0]}"; {nearest(unknown[0], CONVENTIONS)}')
    for convention in CONVENTIONS:
        configure(component.__name__, component, presets.get(convention, {}), convention)
    return ", ".join(CONVENTIONS)
