"""The registries of the instrument. Each is a decorator as well: `@task("family/name", version=1, ...)`."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from quickstudy.base.measure import Measure
from quickstudy.base.registry import Registry, installed_sources, package_sources

F = TypeVar("F", bound=Callable[..., Any])
_ROOMS = ("tasks", "cores", "learners", "protocols", "measures")


def _sources() -> Iterator[tuple[str, pathlib.Path]]:
    for room in _ROOMS:
        yield from package_sources(f"quickstudy.{room}")
    yield from installed_sources()


task: Registry[Any] = Registry("task", _sources)
"""Tasks: frozen dataclasses. Facts: controls (names), oracle (name, or the reason why there is none), protocol."""

control: Registry[Any] = Registry("control", _sources)
"""Rules that never learn, and oracles: host learners made by make(task, brief, seed)."""

core: Registry[Any] = Registry("core", _sources)
"""Memories: frozen dataclasses with build(inputs, rng)."""

training: Registry[Any] = Registry("training", _sources)
"""Ways of training a core: frozen dataclasses with begin(core, brief, streams)."""

learner: Registry[Any] = Registry("learner", _sources)
"""Learners that are whole by themselves: frozen dataclasses with begin(brief, streams), or host classes."""

protocol: Registry[Any] = Registry("protocol", _sources)
"""Ways of examining: frozen dataclasses with examine(task, learner, streams)."""

quantity: Registry[Any] = Registry("quantity", _sources)
"""Numbers that belong to a task alone, without a learner: functions of the task. Facts: unit, equation."""


class MeasureRegistry(Registry[Measure]):
    """The registry of measures: its decorator takes a function and all that a reader must know about its number."""

    def __call__(  # type: ignore[override]  # measures are functions, and nothing about them may be left unsaid
        self,
        id: str,
        *,
        version: int,
        unit: str,
        direction: str,
        range: tuple[float, float],
        chance: str,
        equation: str,
        kinds: Sequence[str],
        scores: Sequence[str] = (),
    ) -> Callable[[F], F]:
        """`@measure("wade", version=1, unit=..., ...)` on a function of (trace, convention).

        scores: the names of its numbers; without them there is one, named like the measure.
        """

        def register(function: F) -> F:
            names = tuple(scores) or (id,)
            made = Measure(id, version, unit, direction, range, chance, equation, tuple(kinds), names, function)
            object.__setattr__(made, "__module__", function.__module__)
            object.__setattr__(made, "__doc__", function.__doc__)
            self.add(id, version, made)
            return function

        return register


measure = MeasureRegistry("measure", _sources)
"""Measures: pure functions of (trace, convention), wrapped with unit, direction, range, chance and equation."""
