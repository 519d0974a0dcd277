"""The registries of the instrument. Each is a decorator as well: `@task("family/name", version=1, ...)`."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from quickstudy.base.errors import UsageError
from quickstudy.base.measure import Measure, Score
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
"""Rules that never learn, and oracles: host learners made by make(task, brief, seed). They may have more:

- `watch(world)`, called with every world before the first step in it; its `act` may then look inside.
- `told(answers)`, called before each `predict` with as many rows as the inputs: row t is the right answer to row t-1,
  -1 or nan in the first. As with inputs, what is predicted for a row depends on nothing after it.
- The fact `compiled=True`: made by make(task, brief), hashable by value (a frozen dataclass), it has `start(batch,
  capacity)` and `step(state, observation, *, key)` like a core, with one row and one key per episode, gives actions in
  the place of features, and runs inside the compiled program of a pure world.
"""

core: Registry[Any] = Registry("core", _sources)
"""Memories: frozen dataclasses with build(inputs, rng)."""

training: Registry[Any] = Registry("training", _sources)
"""Ways of training a core: frozen dataclasses with begin(core, brief, streams)."""

learner: Registry[Any] = Registry("learner", _sources)
"""Learners that are whole by themselves: frozen dataclasses with begin(brief, streams), or host classes."""

DECLARED: dict[str, Any] = {
    "family": "",
    "question": "",
    "headline": "",
    "second": "",
    "columns": (),
    "exact": {},
    "usual": {},
    "once": "every example once",
    "again": "shown the same examples again",
    "replay_apart": True,
}
"""What a protocol says of how its family is read, and what holds where it says nothing (`base.legend` has the meaning
of each). family: its id. exact, usual: its parameters under `--exact` and without.
"""


class ProtocolRegistry(Registry[Any]):
    """The registry of protocols: what one leaves unsaid of `DECLARED` is as usual, so that all can be asked alike."""

    def __call__(self, id: str, *, version: int | None = None, **facts: Any) -> Callable[[Any], Any]:
        """`@protocol("language", version=1)` on a frozen dataclass with examine(task, learner, streams)."""
        register = super().__call__(id, version=version, **facts)

        def declare(target: Any) -> Any:
            for name, usual in DECLARED.items():
                said = getattr(target, name, usual)
                if not isinstance(said, _KINDS.get(type(usual), type(usual))):
                    raise UsageError(f'protocol "{id}": {name} must be like {usual!r}, got {said!r}')
                setattr(target, name, said)
            target.family = target.family or id
            return register(target)

        return declare


_KINDS: dict[type, Any] = {tuple: (tuple, list), dict: Mapping}

protocol = ProtocolRegistry("protocol", _sources)
"""Ways of examining: frozen dataclasses with examine(task, learner, streams)."""

quantity: Registry[Any] = Registry("quantity", _sources)
"""Numbers that belong to a task alone, without a learner: functions of the task. Facts: unit, equation."""


class MeasureRegistry(Registry[Measure]):
    """The registry of measures: its decorator takes a function and all that a reader must know about its numbers."""

    def __call__(  # type: ignore[override]  # measures are functions, and nothing about them may be left unsaid
        self,
        id: str,
        *,
        version: int,
        kinds: Sequence[str],
        equation: str,
        chance: str,
        scores: Sequence[Score],
    ) -> Callable[[F], F]:
        """`@measure("wade", version=1, kinds=..., scores=(Score("wade", ...),))` on a function of (trace, convention).

        Raises UsageError for a declaration that cannot be.
        """

        def register(function: F) -> F:
            made = Measure(id, version, tuple(kinds), equation, chance, tuple(scores), function)
            object.__setattr__(made, "__module__", function.__module__)
            object.__setattr__(made, "__doc__", function.__doc__)
            self.add(id, version, made)
            return function

        return register


measure = MeasureRegistry("measure", _sources)
"""Measures: pure functions of (trace, convention), wrapped with their scores, chance and equation."""
