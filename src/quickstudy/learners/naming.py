"""From a learner's name to the learner: `esn`, `esn+rls:units=200`, `majority`, `my_model.py:Make:width=8`.

A core's name is a learner: the core with its usual way of training. `core+training` says another way. Parameters of
core and training are given side by side.
"""

from __future__ import annotations

import dataclasses
import inspect
import pathlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from quickstudy.base import catalogue
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.learner import Learner
from quickstudy.base.origin import code_of, file_version, source_version
from quickstudy.base.parameters import (
    changed_parameters,
    configure,
    parameters_of,
    parse_assignments,
    write_assignments,
)
from quickstudy.base.registry import include

LANES = {"cpu": 1, "gpu": 100, "tpu": 100}
"""Repetitions side by side in one call, by kind of device."""

_brought: dict[str, Any] = {}


@dataclass(frozen=True)
class Choice:
    """A learner that was chosen: how it is called, its identity, its role, and how it is made for a task.

    programs: how many programs one task needs compiled. compiled: whether it runs on the accelerator, in lanes.
    """

    label: str
    what: Mapping[str, Any]
    role: str
    maker: Callable[[Any], Learner]
    programs: int = 0
    compiled: bool = False

    def make(self, task: Any) -> Learner:
        """The learner. Only a control may look at the task."""
        return self.maker(task)

    def device(self) -> str:
        """The kind of device it runs on."""
        if not self.compiled:
            return "cpu"
        from quickstudy.gateway import device_kind

        return device_kind()

    def lanes(self) -> int:
        """Repetitions that run side by side."""
        return LANES[self.device()] if self.compiled else 1


def bring(learner: Any) -> str:
    """Make an object of this process nameable: a host class, or a learner with parameters. Gives its name."""
    if isinstance(learner, str):
        return learner
    name = getattr(learner, "__name__", type(learner).__name__)
    _brought[name] = learner
    return name


def choose_learner(text: str, convention: str, task: Any = None) -> Choice:
    """The learner of that name under a convention. Raises UsageError with the nearest name, parameter or range."""
    if ".py" in text:
        return _from_file(text, convention)
    name, _, assignments = text.partition(":")
    return choose_named(name, parse_assignments(assignments), convention, task)


def choose_named(name: str, given: Mapping[str, Any], convention: str, task: Any = None) -> Choice:
    """The same with the parameters as a mapping, of texts or values."""
    if name in _brought:
        brought = _brought[name]
        version = source_version(brought if isinstance(brought, type) else type(brought))
        return _whole(name, brought, given, convention, version)
    if name == "oracle" and task is not None:
        name = _oracle(task)
    if name in catalogue.control:
        return _control(name, given)
    if name in catalogue.learner:
        found = catalogue.learner.get(name)
        chosen = _whole(found.id, found, given, convention, found.version)
        return dataclasses.replace(chosen, what={**chosen.what, **code_of(found)})
    core, _, training = name.partition("+")
    if core not in catalogue.core:
        raise UsageError(f'no learner "{core}"; {nearest(core, learner_names())}')
    return _trained(core, training, given, convention)


def learner_names() -> list[str]:
    """Everything that can be named as a learner: cores, whole learners, controls."""
    return sorted({*catalogue.core.names(), *catalogue.learner.names(), *catalogue.control.names(), "oracle"})


def _oracle(task: Any) -> str:
    name = getattr(task, "oracle", None)
    if name is None or name not in catalogue.control:
        raise UsageError(f"{task.id} has no oracle: {name or 'none is known'}")
    return str(name)


def _control(name: str, given: Mapping[str, Any]) -> Choice:
    control = catalogue.control.get(name)
    if given:
        raise UsageError(f"{name}: a control has no parameters, got {', '.join(given)}")
    what = {"id": control.id, "version": control.version, "parameters": {}, **code_of(control)}
    compiled = bool(getattr(control, "compiled", False))

    def maker(task: Any) -> Learner:
        if compiled:
            from quickstudy.learners.episodes import Ruled

            return Ruled(lambda brief: control(task, brief))
        from quickstudy.learners.host import Hosted

        return Hosted(lambda brief, seed: control(task, brief, seed), control=True)

    return Choice(name, what, getattr(control, "role", "control"), maker, int(compiled), compiled)


def _trained(core_name: str, training_name: str, given: Mapping[str, Any], convention: str) -> Choice:
    from quickstudy.learners.trained import Trained

    core_class = catalogue.core.get(core_name)
    training_name = training_name or default_training(core_class, convention)
    training_class = catalogue.training.get(training_name)
    core_fields, training_fields = (
        {field.name for field in dataclasses.fields(owner)} for owner in (core_class, training_class)
    )
    unknown = [name for name in given if name not in core_fields | training_fields]
    if unknown:
        raise UsageError(
            f'{core_name}+{training_name}: no parameter "{unknown[0]}"; '
            f"{nearest(unknown[0], core_fields | training_fields)}"
        )
    core = configure(core_name, core_class, {n: v for n, v in given.items() if n in core_fields}, convention)
    training = configure(
        training_name, training_class, {n: v for n, v in given.items() if n in training_fields}, convention
    )
    if getattr(core, "coded", False) and not getattr(training, "reads_codes", False):
        raise UsageError(f"{core_name} gives codes, not numbers, and {training_name} cannot read them; use {core_name}")
    training.check_core(core)
    changed = {**changed_parameters(core, convention), **changed_parameters(training, convention)}
    shown = core_name if training_name == default_training(core_class, convention) else f"{core_name}+{training_name}"
    what = {
        "id": f"{core_class.id}+{training_class.id}",
        "version": f"{core_class.version}.{training_class.version}",
        "parameters": {**parameters_of(core), **parameters_of(training)},
        **code_of(core_class, training_class),
    }
    return Choice(
        _label(shown, changed), what, "learner", lambda _: Trained(core, training), training_class.programs, True
    )


def default_training(core_class: Any, convention: str) -> str:
    """The usual way of training a core: its own, else online for a reservoir (by convention) and Adam for the rest."""
    if hasattr(core_class, "training"):
        return str(core_class.training)
    if core_class.frozen:
        return "logistic" if convention == "published" else "sgd"
    return "adam"


def _whole(name: str, found: Any, given: Mapping[str, Any], convention: str, version: Any) -> Choice:
    """A learner that is whole by itself: something with `begin`, or a host class made by make(brief, seed)."""
    from quickstudy.learners.host import Hosted

    if hasattr(found, "begin"):
        if given and not isinstance(found, type):
            raise UsageError(f"{name}: a learner that is made already takes no parameters, got {', '.join(given)}")
        made = configure(name, found, given, convention) if isinstance(found, type) else found
        what = {"id": name, "version": version, "parameters": parameters_of(made)}
        if hasattr(made, "within"):
            what["within"] = made.within
        compiled = bool(getattr(found, "compiled", False))
        label = _label(name, changed_parameters(made, convention))
        return Choice(label, what, "learner", lambda _: made, getattr(found, "programs", 0), compiled)
    parameters = {parameter: _literal(value) for parameter, value in given.items()}
    _check_host(name, found, parameters)
    what = {"id": name, "version": version, "parameters": parameters}
    hosted = Hosted(lambda brief, seed: found(brief, seed, **parameters))
    return Choice(_label(name, parameters), what, "learner", lambda _: hosted)


def _from_file(text: str, convention: str) -> Choice:
    path, _, rest = text.partition(".py")
    file = pathlib.Path(path + ".py")
    rest = rest.removeprefix(":")
    name, _, assignments = rest.partition(":")
    module = include(file)
    known = [key for key, value in vars(module).items() if callable(value) and value.__module__ == module.__name__]
    if name not in known:
        wanted = f'no learner "{name}" in {file}' if name else f"which learner of {file}?"
        raise UsageError(f"{wanted}; {nearest(name, known)}; type {file}:NAME")
    # Its code is its version: a changed file is another learner, and old results are not mixed with new ones.
    version = file_version(str(file.resolve()))
    return _whole(f"{file.name}:{name}", getattr(module, name), parse_assignments(assignments), convention, version)


def _check_host(name: str, found: Any, given: Mapping[str, Any]) -> None:
    if not callable(found):
        raise UsageError(f"{name}: a learner is a class with learn and predict, or something with begin, got {found!r}")
    faces = {face for face in ("learn", "predict", "act") if hasattr(found, face)}
    missing = sorted({"learn", "predict"} - faces)
    # What a function or a class with __getattr__ makes can only be seen once it is made.
    if isinstance(found, type) and missing and "act" not in faces and not hasattr(found, "__getattr__"):
        own = [attribute for attribute in vars(found) if not attribute.startswith("_")][:6]
        raise UsageError(
            f"{name}: a learner needs learn(inputs, targets) and predict(inputs), or act; "
            f"the class has no {' and no '.join(missing)}, it has {', '.join(own) or 'nothing'}"
        )
    accepted = list(inspect.signature(found).parameters)[2:]
    for parameter in given:
        if parameter not in accepted:
            raise UsageError(f'{name}: no parameter "{parameter}"; {nearest(parameter, accepted)}')


def _literal(value: Any) -> Any:
    """Host classes declare no types: numbers are read as numbers, all else stays text."""
    for kind in (int, float):
        try:
            return kind(value)
        except (TypeError, ValueError):
            continue
    return {"true": True, "false": False}.get(str(value).lower(), value)


def _label(name: str, changed: Mapping[str, Any]) -> str:
    return f"{name}:{write_assignments(changed)}" if changed else name
