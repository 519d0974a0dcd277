"""A setting: a run as the user types it; the task, learner and protocol that it resolves to; and
its identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from quickstudy.base import registries
from quickstudy.base.code_identity import code_of, is_ours
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.parameters import (
    changed_parameters,
    configure,
    parameters_of,
    recorded_id,
    settings_version,
    write_assignments,
)
from quickstudy.base.score_metadata import check_reading
from quickstudy.base.task import Composed, asked_of
from quickstudy.base.user_code import outside_modules
from quickstudy.learners.learner_spec import choose_learner
from quickstudy.learners.resolved_learner import Choice


@dataclass(frozen=True)
class Setting:
    """A run without its repetition, as a user types it, so that it is sent to workers as plain
    text.

    task: `language/qa` or `language/qa:verbs=1`; learner: `esn`, `esn+rls:units=200`, `majority`,
    `file.py:Class`; protocol: parameters of the protocol that differ from its convention's.
    """

    task: str
    learner: str
    convention: str = "corrected"
    root: int = 0
    protocol: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (
            not -(2**63) <= self.root < 2**63
        ):  # what every reader of a folder, SQL among them, can hold
            raise UsageError(f"the root seed must be a whole number of 64 bits, got {self.root}")

    def __getstate__(self) -> dict[str, Any]:
        """What travels to another process: what was typed, and nothing made from it."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def resolve(self) -> Parts:
        """The task, the learner and the protocol themselves, made once for this object. Raises
        UsageError for anything that does not exist.

        Data from outside need not be here: what was run elsewhere is read without it.
        """
        return self._parts

    @cached_property
    def _parts(self) -> Parts:
        with outside_modules() as around:
            task = registries.typed_task(self.task, self.convention)
            protocol_name = protocol_of(task)
            protocol_class = registries.protocol.get(protocol_name)
            check_reading(protocol_class)
            protocol = configure(protocol_name, protocol_class, self.protocol, self.convention)
            asked = asked_of(task, protocol)
        with outside_modules() as learning:
            chosen = choose_learner(self.learner, self.convention, task, asked)
        return Parts(task, chosen, protocol, frozenset(around | learning), bool(learning))


def make_task(name: str, convention: str) -> Any:
    """A task as a user types it, `language/qa:verbs=1`. Raises UsageError for one that does not
    exist, or whose data is not here.
    """
    task = registries.typed_task(name, convention)
    # A task whose data are not on this machine is reported before anything is run.
    getattr(task, "ready", lambda: None)()
    return task


def protocol_of(task: Any) -> str:
    """The protocol of a registered task: the one it names, or that of its family. UsageError if
    there is none.
    """
    name = getattr(task, "protocol", task.id.partition("/")[0])
    if name not in registries.protocol:
        raise UsageError(
            f'task "{task.id}": no protocol "{name}"; {nearest(name, registries.protocol.names())};'
            f' name one of them, @task("{task.id}", ..., protocol="language"), or begin the id'
            " with it"
        )
    return str(name)


def controls_of(task: Any) -> list[str]:
    """The controls that a task names, then its oracle if there is one."""
    oracle = getattr(task, "oracle", None)
    return [
        *getattr(task, "controls", []),
        *([oracle] if oracle is not None and oracle in registries.control else []),
    ]


def task_controls(task: str) -> list[str]:
    """The same, of a task by name."""
    return controls_of(registries.task.get(task.partition(":")[0]))


def check_control(parts: Parts) -> None:
    """Raise UsageError for a rule that was made for other tasks: it would read words that are not
    there.
    """
    learner, task = parts.learner, parts.task
    if learner.role == "learner":
        return
    id = registries.control.current(learner.what["id"])
    own = list(map(registries.control.current, controls_of(task)))
    rule = registries.control.get(id)
    if id not in own and not getattr(rule, "anywhere", False) and is_ours(rule):
        raise UsageError(f"{id} is a rule of other tasks; {task.id} has {', '.join(own) or 'none'}")


@dataclass(frozen=True)
class Parts:
    """A setting's components. outside: the modules from outside this package that they come from;
    brought: the learner comes from one of them.
    """

    task: Any
    learner: Choice
    protocol: Any
    outside: frozenset[str] = frozenset()
    brought: bool = False


def identity(setting: Setting, parts: Parts, repetition: int) -> dict[str, Any]:
    """`what` of the record: ids, declared versions (and code, for a user's own), parameters,
    convention, root seed and repetition.
    """
    return {
        "task": component(parts.task),
        "learner": dict(parts.learner.what),
        "protocol": component(parts.protocol),
        "convention": setting.convention,
        "root": setting.root,
        "repetition": repetition,
    }


def built_in(parts: Parts) -> dict[str, Any]:
    """The registered components of a run that come with the package, by `kind id`, newest versions
    or not; those of a learner within a learner too.
    """
    found = {f"task {parts.task.id}": type(parts.task), **_of_learner(parts.learner.what)}
    found[f"protocol {parts.protocol.id}"] = type(parts.protocol)
    return {name: target for name, target in found.items() if is_ours(target)}


def _of_learner(what: Mapping[str, Any]) -> dict[str, Any]:
    id = str(what["id"])
    core, trained, training = id.partition("+")
    if trained and core in registries.core and training in registries.training:
        return {
            f"core {core}": registries.core.get(core),
            f"training {training}": registries.training.get(training),
        }
    within = _of_learner(what["within"]) if "within" in what else {}
    kinds = (registries.learner, registries.control, registries.core)
    own = next((registry for registry in kinds if id in registry), None)
    return within if own is None else {f"{own.kind} {id}": own.get(id), **within}


def labels(setting: Setting, parts: Parts) -> dict[str, str]:
    """How task and learner are shown to people: what they would have to type; of the protocol what
    is not standard.
    """
    return {
        **task_labels(parts.task, setting.convention),
        "learner": parts.learner.label,
        "role": parts.learner.role,
        "protocol": write_assignments(changed_parameters(parts.protocol, setting.convention)),
    }


def task_labels(task: Any, convention: str) -> dict[str, str]:
    """The part of a task in them."""
    changed = changed_parameters(task, convention)
    family = task.id.partition("/")[0]
    return {
        "task": task.id + (f":{write_assignments(changed)}" if changed else ""),
        "family": family,
    }


def component(instance: Any) -> dict[str, Any]:
    """A task or a protocol as a part of an identity."""
    parts = instance.made_of() if isinstance(instance, Composed) else ()
    return {
        "id": recorded_id(instance),
        "version": min(instance.version, settings_version(instance)),
        "parameters": parameters_of(instance),
        **code_of(type(instance), *parts),
    }
