"""The first draws of a task of any kind, as values to store."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from quickstudy.base import registries
from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import CONVENTIONS, all_parameters, configure
from quickstudy.base.seeds import Streams
from quickstudy.base.task import ExampleTask, PureWorldTask, SeriesTask, WorldTask
from quickstudy.tasks.worlds import transcript

SHORT = {"washout": 5, "training": 60, "validation": 10, "test": 20, "free": 0}
"""Parts of a series."""
SEEDS = ((0, 0), (7, 3))
"""Root seed and repetition."""
EXAMPLES, STEPS = 4, 60
OF_A_FILE = {"curriculum/file": {"members": "micro-2/micro-5.5/mini-2"}}
"""Tasks that need a file of the user's, with parameters that replace it."""
PORTABLE = {"dynamics/gilpin": {"method": "rk4"}}
"""Parameters that make the draws the same on every machine: the step control of dop853 rounds
differently on different CPUs, and chaos enlarges the difference.
"""


def conventions(name: str) -> list[str]:
    """The conventions that make another task of it, the first of those that are alike."""
    found: dict[Any, str] = {}
    for convention in CONVENTIONS:
        found.setdefault(made(name, convention), convention)
    return list(found.values())


def made(name: str, convention: str) -> Any:
    """A task, `id@version`, with short parts where it can have them."""
    component = registries.task.get(name)
    id = name.partition("@")[0]
    fields = {field.name for field in dataclasses.fields(component)}
    given = {**OF_A_FILE.get(id, {}), **PORTABLE.get(id, {})}
    short = {part: steps for part, steps in SHORT.items() if part in fields}
    try:
        return configure(id, component, {**given, **short}, convention)
    except UsageError:  # parts that depend on each other
        return configure(id, component, given, convention)


def draws(task: Any) -> dict[str, Any]:
    """What a task draws with two seeds, by its kinds, and its parameters."""
    found: dict[str, Any] = {"parameters": all_parameters(task)}
    for root, repetition in SEEDS:
        streams = Streams(root, task.id, repetition)
        drawn = found[f"root {root}, repetition {repetition}"] = {}
        if isinstance(task, ExampleTask):
            examples = task.sample(streams.numpy("data"), EXAMPLES)
            drawn["examples"] = vars(examples)
            if hasattr(task, "payoffs"):
                drawn["payoffs"] = task.payoffs(examples).targets
        if isinstance(task, SeriesTask):
            drawn["series"] = vars(task.drive(streams.numpy("data")))
        if isinstance(task, WorldTask | PureWorldTask):
            rows = transcript(task, streams, STEPS)
            drawn["world"] = column([row._asdict() for row in rows])
    return found


def column(values: list[Any]) -> Any:
    """Values of many steps as few arrays: of mappings one for each name, of all else one."""
    if values and all(isinstance(value, Mapping) for value in values):
        names = dict.fromkeys(name for value in values for name in value)
        return {name: column([value[name] for value in values if name in value]) for name in names}
    try:
        array = np.asarray(values)
    except ValueError:  # of unequal lengths
        array = np.asarray([json.dumps(value) for value in values])
    return np.atleast_1d(array if array.dtype.kind in "biuf" else array.astype(str))
