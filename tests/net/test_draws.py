"""The first draws of every version of every task, and its parameters."""

from __future__ import annotations

import pytest

from first_draws import conventions, draws, made
from tiny_runs import versions

TASKS = [f"{id}@{version}" for id, version in versions("task")]


@pytest.mark.parametrize("name", TASKS)
def test_draws(name, expected):
    id, _, version = name.partition("@")
    found = {convention: draws(made(name, convention)) for convention in conventions(name)}
    expected.check(f"draws-{id.partition('/')[0]}", name, {f"task {id}": int(version)}, found)


@pytest.mark.parametrize("family", sorted({name.partition("/")[0] for name in TASKS}))
def test_no_other_tasks_are_stored(family, expected):
    expected.names(f"draws-{family}", [name for name in TASKS if name.startswith(f"{family}/")])
