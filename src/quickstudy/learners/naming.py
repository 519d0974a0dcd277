"""From a learner's name to the learner: `esn`, `esn+rls:units=200`, `majority`, `my_model.py:Make:width=8`.

A core's name is a learner: the core with its usual way of training, by what is asked (`quickstudy.base.task.ASKED`).
`core+training` says another way. Parameters of core and training are given side by side.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import pathlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

from quickstudy.base import catalogue
from quickstudy.base.errors import NotApplicable, UsageError, nearest
from quickstudy.base.file_origin import Origin, file_origin
from quickstudy.base.guests import note_module, note_stranger
from quickstudy.base.learner import Learner, pace_of
from quickstudy.base.origin import code_of, is_ours, object_origin, origin_of
from quickstudy.base.parameters import (
    changed_parameters,
    configure,
    parameters_of,
    parse_assignments,
    write_assignments,
)
from quickstudy.base.registry import include

LANES = (1, 2, 3, 6, 12, 25, 50, 100)
"""Repetitions that may run side by side in one call: each size is a program of its own, so they are few. Each is about
half of the next; 6 is the usual number of seeds."""


class _Brought(NamedTuple):
    """What was brought under a name: the class or object, the parameters of a partial, where its code comes from."""

    name: str
    found: Any
    given: Mapping[str, Any]
    origin: Origin


_brought: dict[str, _Brought] = {}


@dataclass(frozen=True)
class Choice:
    """A learner that was chosen: how it is called, its identity, its role, and how it is made for a task.

    programs: how many programs one task needs compiled. compiled: whether it runs on the accelerator, in lanes.
    most_lanes: that it wants side by side there. origins: of the code of a user's own.
    """

    label: str
    what: Mapping[str, Any]
    role: str
    maker: Callable[[Any], Learner]
    programs: int = 0
    compiled: bool = False
    most_lanes: int = LANES[-1]
    origins: tuple[Origin, ...] = ()

    def make(self, task: Any) -> Learner:
        """The learner. Only a control may look at the task."""
        return self.maker(task)

    def device(self) -> str:
        """The kind of device it runs on."""
        if not self.compiled:
            return "cpu"
        from quickstudy.gateway import device_kind

        return device_kind()

    def lanes(self, wanted: int, device: str | None = None) -> int:
        """Repetitions that run side by side, of so many that are wanted, unless memory is short.

        device: its kind, default that of this process. On a CPU 1.
        """
        return lanes_for(wanted, self.most_lanes) if self.compiled and (device or self.device()) != "cpu" else 1


def lanes_for(wanted: int, most: int = LANES[-1]) -> int:
    """Lanes on an accelerator: the least of LANES that hold as many as are wanted, at most so many.

    At least 2, since one lane alone is run step by step, which is made for a CPU.

    >>> [lanes_for(wanted) for wanted in (1, 3, 7, 100, 250)], lanes_for(100, most=30)
    ([2, 3, 12, 100, 100], 25)
    """
    allowed = [lanes for lanes in LANES if lanes <= most]
    return next((lanes for lanes in allowed if lanes >= max(2, wanted)), allowed[-1])


def fewer_lanes(lanes: int, fit: int | None = None) -> int:
    """The next of LANES after a call that had no room: those that fit, if that is known, else about half.

    >>> fewer_lanes(100), fewer_lanes(100, fit=20), fewer_lanes(2, fit=0)
    (50, 12, 1)
    """
    return max(size for size in LANES if size == 1 or (size < lanes and (fit is None or size <= fit)))


def bring(learner: Any) -> str:
    """Make an object of this process nameable: a host class, a `functools.partial` of one, or a learner with
    parameters. Gives its name. What it is made of is looked at now, and again when it is brought again.
    """
    if isinstance(learner, str):
        return learner
    given: Mapping[str, Any] = {}
    found = learner
    if isinstance(learner, functools.partial):
        found, given = learner.func, learner.keywords
        if learner.args:
            raise UsageError(
                f"{_called(found)}: a partial gives parameters by name, got {learner.args!r} without names"
            )
    name = _called(found)
    if name in learner_names():
        raise UsageError(f'"{name}" is a learner of ours; give yours another name')
    # The parameters of a dataclass are in the identity already.
    looked_at = found if hasattr(found, "__name__") or not dataclasses.is_dataclass(found) else type(found)
    brought = _Brought(name, found, dict(given), object_origin(looked_at))
    label = _label(name, given)
    _brought[label] = brought
    return label


def bring_all(learners: Sequence[Any]) -> list[str]:
    """The names of several. Raises UsageError if two that are not the same have one name."""
    names: dict[str, Any] = {}
    for learner in learners:
        name = bring(learner)
        if names.setdefault(name, learner) is not learner and not isinstance(learner, str):
            raise UsageError(
                f'two learners are called "{name}"; give each class a name of its own, or parameters, by '
                f"functools.partial({_called(learner)}, width=64)"
            )
    return list(names)


def _called(found: Any) -> str:
    kind = found.func if isinstance(found, functools.partial) else found
    return str(getattr(kind, "__name__", type(kind).__name__))


def choose_learner(text: str, convention: str, task: Any = None, asked: str = "symbols") -> Choice:
    """The learner of that name under a convention, as is usual for what is asked. Raises UsageError with the nearest
    name, parameter or range.
    """
    if text in _brought:
        return choose_named(text, {}, convention, task, asked)
    if ".py" in text:
        return _from_file(text, convention, asked)
    name, _, assignments = text.partition(":")
    return choose_named(name, parse_assignments(assignments), convention, task, asked)


def choose_named(
    name: str, given: Mapping[str, Any], convention: str, task: Any = None, asked: str = "symbols"
) -> Choice:
    """The same with the parameters as a mapping, of texts or values."""
    if name in _brought:
        brought = _brought[name]
        note_module("__main__")
        parameters, version = {**brought.given, **given}, brought.origin.version
        chosen = _whole(brought.name, brought.found, parameters, convention, version, asked)
        return dataclasses.replace(chosen, origins=(brought.origin,))
    if name == "oracle" and task is not None:
        name = _oracle(task)
    if name in catalogue.control:
        return _control(name, given)
    if name in catalogue.learner:
        found = catalogue.learner.get(name)
        chosen = _whole(found.id, found, given, convention, found.version, asked)
        return dataclasses.replace(chosen, what={**chosen.what, **code_of(found)}, origins=_origins(found))
    core, _, training = name.partition("+")
    if core not in catalogue.core:
        raise UsageError(f'no learner "{core}"; {nearest(core, learner_names())}')
    return _trained(core, training, given, convention, asked)


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

        return Hosted(lambda brief, seed: control(task, brief, seed), control, control=True)

    role = getattr(control, "role", "control")
    return Choice(name, what, role, maker, int(compiled), compiled, origins=_origins(control))


def _origins(*components: Any) -> tuple[Origin, ...]:
    return tuple(origin_of(component) for component in components if not is_ours(component))


def _trained(core_name: str, training_name: str, given: Mapping[str, Any], convention: str, asked: str) -> Choice:
    from quickstudy.learners.trained import Trained, default_training

    core_class = catalogue.core.get(core_name)
    try:
        usual = default_training(core_class, convention, asked)
    except NotApplicable as reason:
        if not training_name:
            return _untrained(core_name, core_class, given, convention, asked, reason)
        usual = ""
    training_name = training_name or usual
    training_class = catalogue.training.get(training_name)
    core_fields, training_fields = _names(core_class), _names(training_class)
    unknown = [name for name in given if name not in core_fields | training_fields]
    if unknown:
        raise UsageError(
            f'{core_name}+{training_name}: no parameter "{unknown[0]}"; '
            f"{nearest(unknown[0], core_fields | training_fields)}"
        )
    core, training = (
        configure(name, owner, {n: v for n, v in given.items() if n in known}, convention, asked)
        for name, owner, known in (
            (core_name, core_class, core_fields),
            (training_name, training_class, training_fields),
        )
    )
    if getattr(core, "coded", False) and not getattr(training, "reads_codes", False):
        raise UsageError(f"{core_name} gives codes, not numbers, and {training_name} cannot read them; use {core_name}")
    training.check_core(core)
    changed = {**changed_parameters(core, convention, asked), **changed_parameters(training, convention, asked)}
    shown = core_name if training_name == usual else f"{core_name}+{training_name}"
    what = {
        "id": f"{core_class.id}+{training_class.id}",
        "version": f"{core_class.version}.{training_class.version}",
        "parameters": {**parameters_of(core), **parameters_of(training)},
        **code_of(core_class, training_class),
    }
    return Choice(
        _label(shown, changed), what, "learner", lambda _: Trained(core, training), training_class.programs, True,
        getattr(training, "most_lanes", LANES[-1]), _origins(core_class, training_class),
    )  # fmt: skip


def _untrained(
    name: str, core_class: Any, given: Mapping[str, Any], convention: str, asked: str, reason: NotApplicable
) -> Choice:
    """A core that nothing here trains for what is asked: not applicable, with the reason, when it is to begin."""
    known = _names(core_class)
    core = configure(name, core_class, {n: v for n, v in given.items() if n in known}, convention, asked)
    of_training = {parameter: value for parameter, value in given.items() if parameter not in known}
    what = {
        "id": core_class.id,
        "version": f"{core_class.version}",
        "parameters": {**parameters_of(core), **of_training},
        **code_of(core_class),
    }

    def maker(task: Any) -> Learner:
        raise reason

    changed = {**changed_parameters(core, convention, asked), **of_training}
    return Choice(_label(name, changed), what, "learner", maker, compiled=True)


def _names(component: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(component)}


def _whole(name: str, found: Any, given: Mapping[str, Any], convention: str, version: Any, asked: str) -> Choice:
    """A learner that is whole by itself: something with `begin`, or a host class made by make(brief, seed)."""
    from quickstudy.learners.host import Hosted

    if hasattr(found, "begin"):
        if given and not isinstance(found, type):
            raise UsageError(f"{name}: a learner that is made already takes no parameters, got {', '.join(given)}")
        made = configure(name, found, given, convention, asked) if isinstance(found, type) else found
        if hasattr(made, "asked_for"):
            made = made.asked_for(asked)
        what = {"id": name, "version": version, "parameters": parameters_of(made)}
        if hasattr(made, "within"):
            what["within"] = made.within
        compiled = bool(getattr(found, "compiled", False))
        label = _label(name, changed_parameters(made, convention, asked))
        programs, most = getattr(found, "programs", 0), getattr(made, "most_lanes", LANES[-1])
        return Choice(label, what, "learner", lambda _: made, programs, compiled, most)
    parameters = {parameter: _literal(value) for parameter, value in given.items()}
    _check_host(name, found, parameters)
    defaults = _defaults(found)
    parameters = {parameter: _like(defaults.get(parameter), value) for parameter, value in parameters.items()}
    changed = {parameter: value for parameter, value in parameters.items() if not _same(value, parameter, defaults)}
    what = {"id": name, "version": version, "parameters": {**defaults, **{n: _plain(v) for n, v in changed.items()}}}
    pace_of(found)  # one that makes no sense is said now
    hosted = Hosted(lambda brief, seed: found(brief, seed, **parameters), found)
    return Choice(_label(name, changed), what, "learner", lambda _: hosted)


def _defaults(found: Any) -> dict[str, Any]:
    """The parameters of a host class that have a plain default: what it is when nobody says otherwise."""
    parameters = list(inspect.signature(found).parameters.values())[2:]
    return {one.name: one.default for one in parameters if _is_plain(one.default)}


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _like(default: Any, value: Any) -> Any:
    """A whole number where the default is a fraction is that fraction: `rate=1` is `rate=1.0`; `none` is None."""
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return None if default is None and isinstance(value, str) and value == "none" else value


def _same(value: Any, parameter: str, defaults: Mapping[str, Any]) -> bool:
    return parameter in defaults and type(value) is type(defaults[parameter]) and value == defaults[parameter]


def _plain(value: Any) -> Any:
    """A parameter as it stands in an identity; one that is no number, word or list of them by what it is made of."""
    return value if _is_plain(value) else {"made of": object_origin(value).version}


def place(text: str) -> str:
    """The name of a learner, if it is in a file by the whole path of that: to be found from any folder."""
    path, dot, rest = text.partition(".py")
    file = pathlib.Path(path + dot).expanduser()
    return f"{file.absolute()}{rest}" if dot and text not in _brought and file.is_file() else text


def _from_file(text: str, convention: str, asked: str) -> Choice:
    path, _, rest = text.partition(".py")
    file = pathlib.Path(path + ".py").expanduser()
    rest = rest.removeprefix(":")
    name, _, assignments = rest.partition(":")
    if not file.is_file():
        raise UsageError(f'no file {file}, which the learner "{text}" names')
    module = include(file)
    known = [key for key, value in vars(module).items() if _is_learner(value, module.__name__)]
    if name not in known:
        wanted = f'no learner "{name}" in {file}' if name else f"which learner of {file}?"
        raise UsageError(f"{wanted}; {nearest(name, known)}; type {file}:NAME")
    # Its code is its version: a changed file is another learner, and old results are not mixed with new ones.
    origin = file_origin(str(file.resolve()))
    found: Any = getattr(module, name)
    given: dict[str, Any] = {**parse_assignments(assignments)}
    called = f"{file.name}:{name}"
    if isinstance(found, functools.partial):
        given = {**found.keywords, **given}
        found = found.func
    note_stranger(found)
    chosen = _whole(called, found, given, convention, origin.version, asked)
    return dataclasses.replace(chosen, origins=(origin,))


def _is_learner(value: Any, module: str) -> bool:
    made_here = getattr(value, "__module__", None) == module
    return callable(value) and (made_here or isinstance(value, functools.partial))


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
    every = list(inspect.signature(found).parameters.values())[2:]
    accepted = [one.name for one in every if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    for parameter in given if all(one.kind is not one.VAR_KEYWORD for one in every) else ():
        if parameter not in accepted:
            raise UsageError(f'{name}: no parameter "{parameter}"; {nearest(parameter, accepted)}')


def _literal(value: Any) -> Any:
    """Host classes declare no types: text of a number is read as that number, all else stays as it is."""
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(value.lower(), value)


def _label(name: str, changed: Mapping[str, Any]) -> str:
    said = {parameter: _said(value) for parameter, value in changed.items()}
    return f"{name}:{write_assignments(said)}" if said else name


def _said(value: Any) -> Any:
    """A parameter as it stands in a label: a function or class by its name, any other object by its kind and the
    beginning of what it is made of. Never where it lies in memory.
    """
    if _is_plain(value):
        return value
    name = getattr(value, "__name__", type(value).__name__)
    told = isinstance(value, type | FunctionType | BuiltinFunctionType) and name != "<lambda>"
    return name if told else f"{name.strip('<>')}-{object_origin(value).version[:6]}"
