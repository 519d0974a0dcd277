"""Which task comes next: schedulers, and curricula in the JSON form of the original environment."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quickstudy.base.errors import UsageError, nearest
from quickstudy.data.tables import json_in, read_content
from quickstudy.tasks.curriculum.draws import Draws
from quickstudy.tasks.curriculum.mini import MINI
from quickstudy.tasks.curriculum.texts import MICRO

MEMBERS = (*(f"micro-{name}" for name in MICRO), *(f"mini-{name}" for name in MINI))
"""All tasks in the order of the published curriculum."""
SCHEDULERS = ("consecutive", "cumulative", "random", "round-robin", "dependencies")
_TYPES = {
    "ConsecutiveTaskScheduler": "consecutive",
    "IncrementalTaskScheduler": "cumulative",
    "RandomTaskScheduler": "random",
    "SequentialTaskScheduler": "round-robin",
    "DependenciesTaskScheduler": "dependencies",
}


def member_named(name: str) -> str:
    """A task by any of its names: `curriculum/micro-5.1`, `micro-5.1`, `micro5.1`, `5.1`, or the
    class of the original; or the name of a user's `MicroTask`.

    >>> [member_named(name) for name in ("5.1", "mini0", "tasks.Micro5Sub1Task", "tasks.TaskSet3")]
    ['micro-5.1', 'mini-0', 'micro-5.1', 'mini-3']
    """
    own = name.removeprefix("curriculum/")
    if own not in MEMBERS and is_own(own):
        return own
    short = (
        name.removeprefix("curriculum/").rpartition("Task")[0] if name.endswith("Task") else name
    )
    short = (
        short.removeprefix("curriculum/").rpartition(".")[2]
        if "Task" in name
        else short.removeprefix("curriculum/")
    )
    short = short.replace("TaskSet", "mini-").replace("Sub", ".").replace("Micro", "micro-")
    short = re.sub(r"^(micro|mini)-?", r"\1-", short if short[:1] == "m" else f"micro-{short}")
    if short not in MEMBERS:
        raise UsageError(f'no task "{name}" in the curriculum; {nearest(short, MEMBERS)}')
    return short


def is_own(name: str) -> bool:
    """Whether a member is a user's `MicroTask`."""
    from quickstudy.tasks.curriculum.user_tasks import registered

    return registered(name) is not None


class Scheduler:
    """Gives numbers of tasks. kind: see SCHEDULERS. count: of tasks. needed: successes after which
    each is passed.

    consecutive: in their order, each until so many instances in a row were solved; then all is
    over. cumulative: until so many were solved in all, round and round. round-robin: one instance
    each. random: any. dependencies: any of those whose conditions (before, after) are met, a task
    counting as met once so many of its instances were solved.
    """

    def __init__(
        self,
        kind: str,
        needed: Sequence[int],
        draws: Callable[[], Draws],
        dependencies: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.kind, self.needed, self._dependencies = kind, list(needed), dependencies
        self._draws = draws()
        self.place, self.solved, self.drawn = 0, [0] * len(needed), 0

    def next(self) -> int | None:
        """The number of the next task; None when all is over."""
        count = len(self.needed)
        if self.kind in ("consecutive", "cumulative"):
            if self.place < count and self.solved[self.place] >= self.needed[self.place]:
                if self.kind == "cumulative":
                    self.solved[self.place] = 0
                self.place = (
                    self.place + 1 if self.kind == "consecutive" else (self.place + 1) % count
                )
            return self.place if self.place < count else None
        if self.kind == "round-robin":
            self.place = self.drawn % count
        else:
            self.place = self._draws.one_of(self._open())
        self.drawn += 1
        return self.place

    def _open(self) -> list[int]:
        met = [solved >= needed for solved, needed in zip(self.solved, self.needed, strict=True)]
        return [
            place
            for place in range(len(self.needed))
            if self.kind == "random"
            or all(met[first] for first, then in self._dependencies if then == place)
        ]

    def told(self, success: bool) -> None:
        """The instance of the last task is over."""
        if success:
            self.solved[self.place] += 1
        elif self.kind == "consecutive":
            self.solved[self.place] = 0

    def state(self) -> dict[str, Any]:
        """All that changes, in plain types."""
        return {"place": self.place, "solved": list(self.solved), "drawn": self.drawn}

    def set_back(self, state: Mapping[str, Any], draws: Callable[[], Draws]) -> None:
        """Be as at a state."""
        self.place, self.solved = state["place"], list(state["solved"])
        self._draws, self.drawn = draws(), state["drawn"]
        if self.kind in ("random", "dependencies"):
            # One number is sampled for each instance of any kind.
            for _ in range(self.drawn):
                self._draws.below(1)


@dataclass(frozen=True)
class CurriculumFile:
    """A curriculum as read from a file. needed: the successes that pass a task; dependencies:
    numbers of tasks.
    """

    members: tuple[str, ...]
    scheduler: str
    needed: int
    dependencies: tuple[tuple[int, int], ...] = ()

    @classmethod
    def read(cls, path: pathlib.Path) -> CurriculumFile:
        """Of a JSON file with `worlds`, `tasks` and `scheduler`. Raises UsageError with the line
        and the reason.
        """
        content = read_content(path)
        found = json_in(path, content)
        return _Reader(path, content.decode()).curriculum(found)


@dataclass(frozen=True)
class _Reader:
    path: pathlib.Path
    text: str

    def curriculum(self, content: Any) -> CurriculumFile:
        tasks, scheduler = (
            self._part(content, "tasks", dict),
            self._part(content, "scheduler", dict),
        )
        kind = str(scheduler.get("type", "")).rpartition(".")[2]
        if kind not in _TYPES:
            raise self._fault("type", f'no scheduler "{kind}"; {nearest(kind, _TYPES)}')
        arguments = self._part(scheduler, "args", dict)
        names = self._part(arguments, "tasks", list)
        if not names:
            raise self._fault("scheduler", "a curriculum needs at least one task")
        members = []
        for name in names:
            if not isinstance(name, str) or name not in tasks:
                raise self._fault(
                    str(name),
                    f'the task "{name}" is scheduled and not described;'
                    f" {nearest(str(name), tasks)}",
                )
            described = tasks[name]
            found = described.get("type") if isinstance(described, dict) else None
            if not isinstance(found, str):
                raise self._fault(str(name), f'the task "{name}" needs a type')
            world = described.get("world")
            if world is not None and world not in (content.get("worlds") or {}):
                raise self._fault(
                    str(name), f'the task "{name}" is in a world "{world}" that is not described'
                )
            try:
                members.append(member_named(found))
            except UsageError as error:
                raise self._fault(found, str(error)) from error
        limit = "unlock_threshold" if _TYPES[kind] == "dependencies" else "success_threshold"
        needed = arguments.get(limit, {"success_threshold": 2, "unlock_threshold": 10}[limit])
        if not isinstance(needed, int) or isinstance(needed, bool) or needed < 1:
            raise self._fault(limit, f"{limit} must be a whole number from 1 on, got {needed!r}")
        pairs = self._pairs(arguments.get("tasks_dependencies", []), [str(name) for name in names])
        return CurriculumFile(tuple(members), _TYPES[kind], needed, pairs)

    def _pairs(self, given: Any, names: list[str]) -> tuple[tuple[int, int], ...]:
        pairs = []
        for pair in given if isinstance(given, list) else [given]:
            if (
                not isinstance(pair, list)
                or len(pair) != 2
                or any(one not in names for one in pair)
            ):
                raise self._fault(
                    "tasks_dependencies", f"a dependency is two scheduled tasks, got {pair!r}"
                )
            pairs.append((names.index(pair[0]), names.index(pair[1])))
        open_tasks = set(range(len(names)))
        while free := {
            task for task in open_tasks if not any(b == task and a in open_tasks for a, b in pairs)
        }:
            open_tasks -= free
        if open_tasks:
            looped = ", ".join(sorted(names[task] for task in open_tasks))
            raise self._fault("tasks_dependencies", f"the dependencies run in a loop: {looped}")
        return tuple(pairs)

    def _part(self, owner: Any, name: str, kind: type) -> Any:
        part = owner.get(name) if isinstance(owner, dict) else None
        if not isinstance(part, kind):
            wanted = "an object" if kind is dict else "a list"
            raise self._fault(name, f'"{name}" must be {wanted}, got {part!r}')
        return part

    def _fault(self, near: str, reason: str) -> UsageError:
        """With the last line that has a text in quotation marks: where it is used."""
        lines = [
            number for number, line in enumerate(self.text.splitlines(), 1) if f'"{near}"' in line
        ]
        return UsageError(f"{self.path}, line {lines[-1] if lines else 1}: {reason}")
