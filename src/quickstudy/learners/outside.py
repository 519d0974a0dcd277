"""What a name of a learner or a task reaches outside this package: code, programs, servers, files.

A study and a kept learner come from other people, and a name in them may run a command, open a
connection or read a path. A component that can do so declares it:

    @staticmethod
    def reaches(given: Mapping[str, Any]) -> str:
        return f"starts {given['command']}"

`given` are the parameters in the name; an empty text means that nothing outside is reached.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from quickstudy.base import registries
from quickstudy.base.parameters import parse_assignments, with_first
from quickstudy.base.registry import included_files
from quickstudy.base.stated import LearnerFacts, stated
from quickstudy.base.study import Study

_NEXT_TASK = re.compile(r"\+\s*(?=[\w.-]+/)")
"""Where the next of several tasks begins: `dynamics/narma-5:training=100+dynamics/lorenz-63`."""


def reached_by_study(study: Study) -> list[str]:
    """What the learners, tasks and settings of a study reach, one entry each."""
    asked: list[Any] = [study.settings]
    for row in study.rows:
        asked += [row.task, dict(row.learners), dict(row.protocol)]
    return sorted({found for text in _texts(asked) for found in reached(text)})


def reached(text: str) -> list[str]:
    """What a name reaches, with the names within it; of several tasks, what each reaches.

    >>> reached("esn:units=200"), reached("tampered:learner=mine.py,how=blank")
    ([], ['mine.py (its code is run)'])
    """
    name, _, assignments = text.partition(":")
    if odd := _odd_files(text):
        return odd
    if name not in registries.learner and len(tasks := _NEXT_TASK.split(text)) > 1:
        return [found for task in tasks for found in reached(task)]
    if ".py" in name and name not in registries.learner:
        path = text.partition(".py")[0] + ".py"
        return [] if _is_included(path) else [f"{path} (its code is run)"]
    if name not in registries.learner and name not in registries.task:
        return []
    if name in registries.learner:
        assignments = with_first(registries.learner.get(name), assignments)
    return reached_with(name, parse_assignments(assignments))


def reached_with(name: str, given: Mapping[str, Any]) -> list[str]:
    """The same of a learner or a task whose parameters are given as a mapping."""
    known = registries.learner if name in registries.learner else registries.task
    does = stated(known.get(name), LearnerFacts).reaches if name in known else None
    found = does(given) if does else ""
    own = [f"{name} ({found})"] if found else []
    return [*own, *(one for text in _texts(given) for one in reached(text))]


def _odd_files(text: str) -> list[str]:
    """Files whose own names look like an end of a name, as `a:b.py`: what reads the name as that of
    a task or a learner finds them, if they are there.
    """
    starts = (text.partition(".py")[0], f"{text}:".partition(".py:")[0])
    paths = [f"{start}.py" for start in dict.fromkeys(starts) if f"{start}.py" in text]
    there = [path for path in paths if ":" in path or "+" in path or ".py" in path[:-3]]
    return [
        f"{path} (its code is run)"
        for path in there
        if pathlib.Path(path).expanduser().is_file() and not _is_included(path)
    ]


def _is_included(path: str) -> bool:
    """Whether the user has named the file, by --include or in Python."""
    here = pathlib.Path(path).expanduser().resolve()
    return any(pathlib.Path(known).resolve() == here for known in included_files())


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | Iterable):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)
