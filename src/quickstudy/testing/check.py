"""From a name to its checker; and from sequences in a file to the task's judgement of them."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from quickstudy.base import registries
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import configure, parse_assignments
from quickstudy.base.registry import Registry, include
from quickstudy.data.tables import read_content
from quickstudy.learners.learner_spec import choose_learner, learner_names
from quickstudy.tasks.span.item import Axis
from quickstudy.testing.check_result import Broken, Finding, examine, under
from quickstudy.testing.learners import LEARNS_NOTHING, check_learner
from quickstudy.testing.shortcuts import MARGIN, Shortcut, find_shortcuts
from quickstudy.testing.span_rules import RuleSpan, find_span_rules
from quickstudy.testing.tasks import check_task

TRIED = "gru"
"""The core with which a training of a file is checked."""


def check_name(name: str, convention: str = "corrected") -> list[Finding]:
    """The findings about a task, core, control or learner, by its name or by its file.

    `language/qa:verbs=1`, `esn+rls:units=20` (the core, then the learner), `majority`, `mine.py`
    (everything that is registered there), `mine.py:Class`. convention: that of a task. Raises
    UsageError for what does not exist.
    """
    if (
        ".py" in name and name.partition(":")[0] not in registries.learner
    ):  # whose parameters may name a file as well
        path, _, rest = name.partition(".py")
        return _check_file(pathlib.Path(path + ".py"), rest.removeprefix(":"), name)
    id = name.partition(":")[0]
    if id in registries.task:
        return check_task(registries.typed_task(name, convention))
    if id in registries.control:
        return _check_control(id)
    if id.partition("+")[0] in registries.core:
        choose_learner(name, "corrected")  # a wrong name or value is an error, not a finding
        return [*under("core", _check_core(name)), *check_learner(name)]
    if id in registries.learner:
        return check_learner(name)
    raise UsageError(
        f'no task or learner "{id}"; {nearest(id, [*registries.task.names(), *learner_names()])}'
    )


def check_sequences(name: str, file: pathlib.Path, convention: str = "corrected") -> list[Finding]:
    """One finding per line of a file, whether it is a sequence of a task with the right answers.

    name: as of `check_name`. A task that can tell has `check(text)`, whose verdict has `right` and
    `reason`. Raises UsageError for another, and for a file that cannot be read or is empty.
    """
    task = registries.typed_task(name, convention)
    if not hasattr(task, "check"):
        raise UsageError(
            f"{task.id} cannot tell whether a sequence is one of its own: it has no check(text)"
        )

    def judged(line: str) -> None:
        verdict = task.check(line)
        if not verdict.right:
            raise Broken(verdict.reason)

    lines = enumerate(read_content(file).decode(errors="replace").splitlines(), 1)
    findings = [
        examine(f"line {number}", partial(judged, line)) for number, line in lines if line.strip()
    ]
    if not findings:
        raise UsageError(f"{file} has no sequences in it, one per line")
    return findings


def check_shortcuts(
    name: str, convention: str = "corrected"
) -> tuple[list[Finding], Sequence[Shortcut | RuleSpan]]:
    """Whether a task leaves a shortcut open, and what all rules reach.

    Of a task of tokens: whether a fitted rule is above all its controls. Of an item with a span:
    whether one of its baselines goes far, unless its sheet marks that. name: of a task, with
    parameters. Raises UsageError for anything else.
    """
    task = registries.typed_task(name, convention)
    if isinstance(task, Axis):
        return _check_spans(task)
    found = find_shortcuts(task)
    best, control = found.best_fitted, found.best_control
    low, high = found.above - 2 * found.error, found.above + 2 * found.error
    detail = (
        f"{best.rule} {best.accuracy:.3f}, {control.rule} {control.accuracy:.3f},"
        f" {found.above:+.3f} [{low:.3f}, {high:.3f}] on {found.tested} fresh draws"
    )
    what = f"no shallow rule is above the best control by more than {MARGIN}"
    return [Finding(found.declared, what, detail)], found.rules


def _check_spans(task: Axis) -> tuple[list[Finding], Sequence[RuleSpan]]:
    found = find_span_rules(task)
    wrong = [
        f"{one.rule} has a span of {one.span:.2f}"
        + (f", the sheet has {one.marked:g}" if one.marked else "")
        for one in found
        if one.open(task)
    ]
    what = (
        f"no baseline has a span of {task.grid[1]} (the second difficulty) or more that its sheet"
        " does not mark"
    )
    return [Finding(not wrong, what, "; ".join(wrong))], found


def _check_control(id: str) -> list[Finding]:
    """On a task that names it: many rules know the words of their task. A control that learns
    nothing is not a fault.
    """
    chosen = None
    for entry in registries.task.entries():
        task = registries.task.get(entry.id)
        if id in (*getattr(task, "controls", ()), getattr(task, "oracle", None)):
            chosen = configure(entry.id, task, {})
            break
    return [
        finding
        for finding in check_learner(id, chosen)
        if not finding.what.endswith(LEARNS_NOTHING)
    ]


def _check_core(name: str) -> list[Finding]:
    from quickstudy.testing.cores import check_core

    names, _, assignments = name.partition(":")
    core = registries.core.get(names.partition("+")[0])
    own = {field.name for field in dataclasses.fields(core)}
    given = {name: value for name, value in parse_assignments(assignments).items() if name in own}
    return check_core(configure(core.id, core, given))


def _check_file(file: pathlib.Path, rest: str, name: str) -> list[Finding]:
    module = include(file)
    if rest:
        wanted, known = rest.partition(":")[0], _classes(module)
        found = getattr(module, wanted, None)
        if found is None:
            raise UsageError(
                f'no task, core or learner "{wanted}" in {file}; {nearest(wanted, known)}'
            )
        if isinstance(found, type) and _is_task(found):
            return check_task(configure(wanted, found, parse_assignments(rest.partition(":")[2])))
        if (
            isinstance(found, type) and hasattr(found, "build") and not hasattr(found, "predict")
        ):  # adapters build too
            from quickstudy.testing.cores import check_core

            return check_core(configure(rest, found, {}))
        choose_learner(name, "corrected")
        return check_learner(name)
    names = list(_registered(module))
    if not names and _names_a_learner(name):
        return check_learner(name)
    if not names:
        known = sorted(_classes(module), key=lambda one: not isinstance(getattr(module, one), type))
        example = (
            f"; type {file}:{known[0]} to check a class of it"
            if known
            else ", and there is no class in it"
        )
        raise UsageError(f"nothing is registered in {file}{example}")
    if len(names) == 1:
        return check_name(names[0])
    return [finding for name in names for finding in under(name, check_name(name))]


def _names_a_learner(name: str) -> bool:
    """Whether that is enough to tell which one: a file with one learner need not name it."""
    try:
        choose_learner(name, "corrected")
    except UsageError:
        return False
    return True


def _is_task(found: type) -> bool:
    """A class with a method of tasks, and none of learners, some of which have a `reset` as
    well.
    """
    has = {
        name
        for name in ("sample", "drive", "open", "reset", "predict", "act", "begin")
        if hasattr(found, name)
    }
    return bool(has) and not has & {"predict", "act", "begin"}


def _classes(module: Any) -> list[str]:
    """The names of the classes, and functions, that a file defines."""
    return [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
    ]


def _registered(module: Any) -> Iterator[str]:
    kinds: tuple[Registry[Any], ...] = (
        registries.task,
        registries.core,
        registries.learner,
        registries.control,
    )
    for registry in kinds:
        yield from (entry.id for entry in registry.entries() if entry.module == module.__name__)
    own = (one.id for one in registries.training.entries() if one.module == module.__name__)
    yield from (f"{TRIED}+{id}" for id in own)
