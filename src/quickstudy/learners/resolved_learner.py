"""A learner that was chosen: what it is, how it is called, and how many repetitions of it run side
by side.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType
from typing import Any

from quickstudy.base.code_identity import Origin
from quickstudy.base.errors import UsageError, nearest
from quickstudy.base.learner import Learner, Pace, pace_of
from quickstudy.base.offers import Beginning, ByQuestion, Counting, ImportedCode, Ready, offers
from quickstudy.base.parameters import (
    changed_parameters,
    configure,
    parameters_of,
    write_assignments,
)
from quickstudy.base.script_identity import object_origin
from quickstudy.base.stated import LearnerFacts, stated

LANES = (1, 2, 3, 6, 12, 25, 50, 100)
"""Repetitions that may run side by side in one call: each size is a program of its own, so they are
few. Each is about half of the next; 6 is the usual number of seeds.
"""

PACE = ("passes", "batch")
"""Parameters of a host class that set its pace."""


@dataclass(frozen=True)
class Choice:
    """A learner that was chosen: how it is called, its identity, its role, and how it is made for a
    task.

    programs: how many programs one task needs compiled. compiled: whether it runs on the
    accelerator, in lanes. most_lanes: that it wants side by side there. origins: of user code.
    shared: a digest shared by all settings that may run in one call with it; empty if there are
    none. ready: raises UsageError where something is missing that it needs, before anything runs.
    counting: it is a language model, whose `counting()` gives a learner that only counts what it is
    asked.
    """

    label: str
    what: Mapping[str, Any]
    role: str
    maker: Callable[[Any], Learner]
    programs: int = 0
    compiled: bool = False
    most_lanes: int = LANES[-1]
    origins: tuple[Origin, ...] = ()
    shared: str = ""
    ready: Callable[[], None] = lambda: None
    counting: bool = False

    def make(self, task: Any) -> Learner:
        """The learner. Only a control may look at the task."""
        return self.maker(task)

    def make_beside(self, others: Sequence[Choice], task: Any) -> Any:
        """One learner with a lane of each of these; itself, where they are all the same."""
        made: Any = self.make(task)
        if all(other.what == self.what for other in others):
            return made
        return made.side_by_side([other.make(task) for other in others])

    def device(self) -> str:
        """The kind of device it runs on."""
        if not self.compiled:
            return "cpu"
        from quickstudy.jax_gateway import device_kind

        return device_kind()

    def lanes(self, wanted: int, device: str | None = None) -> int:
        """Repetitions that run side by side, of so many that are wanted, unless memory is short.

        device: its kind, default that of this process. On a CPU 1.
        """
        return (
            lanes_for(wanted, self.most_lanes)
            if self.compiled and (device or self.device()) != "cpu"
            else 1
        )


def lanes_for(wanted: int, most: int = LANES[-1]) -> int:
    """Lanes on an accelerator: the least of LANES that hold as many as are wanted, at most so many.

    At least 2, since one lane alone is run step by step, which is made for a CPU.

    >>> [lanes_for(wanted) for wanted in (1, 3, 7, 100, 250)], lanes_for(100, most=30)
    ([2, 3, 12, 100, 100], 25)
    """
    allowed = [lanes for lanes in LANES if lanes <= most]
    return next((lanes for lanes in allowed if lanes >= max(2, wanted)), allowed[-1])


def fewer_lanes(lanes: int, fit: int | None = None) -> int:
    """The next of LANES after a call that had no room: those that fit, if that is known, else about
    half.

    >>> fewer_lanes(100), fewer_lanes(100, fit=20), fewer_lanes(2, fit=0)
    (50, 12, 1)
    """
    return max(
        size for size in LANES if size == 1 or (size < lanes and (fit is None or size <= fit))
    )


def whole_learner(
    name: str, found: Any, given: Mapping[str, Any], convention: str, version: Any, asked: str
) -> Choice:
    """A learner that is whole by itself: something with `begin`, or a host class made by
    make(brief, seed).
    """
    from quickstudy.learners.host import Hosted

    whole: Any = found
    if offers(whole, Beginning):
        if given and not isinstance(found, type):
            raise UsageError(
                f"{name}: a learner that is made already takes no parameters, got"
                f" {', '.join(given)}"
            )
        made = (
            configure(name, found, given, convention, asked) if isinstance(found, type) else found
        )
        if offers(made, ByQuestion):
            made = made.asked_for(asked)
        what = {"id": name, "version": version, "parameters": parameters_of(made)}
        if (within := stated(made, LearnerFacts).within) is not None:
            what["within"] = within
        compiled = bool(stated(found, LearnerFacts).compiled)
        label = labelled(name, changed_parameters(made, convention, asked))
        programs = stated(found, LearnerFacts).programs
        most = stated(made, LearnerFacts).most_lanes or LANES[-1]
        ready = made.ready if offers(made, Ready) else lambda: None
        counting = offers(made, Counting)
        return Choice(
            label,
            what,
            "learner",
            lambda _: made,
            programs,
            compiled,
            most,
            ready=ready,
            counting=counting,
        )
    parameters = {parameter: _literal(value) for parameter, value in given.items()}
    _check_host(name, found, parameters)
    defaults = _defaults(found, asked)
    parameters = {
        parameter: _like(defaults.get(parameter), value) for parameter, value in parameters.items()
    }
    changed = {
        parameter: value
        for parameter, value in parameters.items()
        if not _same(value, parameter, defaults)
    }
    what = {
        "id": name,
        "version": version,
        "parameters": {**defaults, **{n: _plain(v) for n, v in changed.items()}},
    }
    if offers(found, ImportedCode):  # by a parameter that names a layer or a module
        what["imported"] = found.imported_code({**defaults, **parameters})
    pace = _pace(found, {**defaults, **parameters}, asked)  # one that makes no sense is refused now
    hosted = Hosted(functools.partial(found, **parameters), found, given=pace)
    return Choice(labelled(name, changed), what, "learner", lambda _: hosted)


def host_parameters(found: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a host class besides brief and seed, as its constructor has them."""
    every = list(inspect.signature(found).parameters.values())[2:]
    return {one.name: one for one in every if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)}


def shown_parameters(found: Any, asked: str) -> dict[str, Any]:
    """What a user can set in the name, with defaults: functions, such as `build`, are not
    parameters.
    """
    defaults = _defaults(found, asked)
    return {
        name: defaults.get(name)
        for name in host_parameters(found)
        if not callable(getattr(found, name, None))
    }


def _defaults(found: Any, asked: str) -> dict[str, Any]:
    """The parameters of a host class that have a plain default. Where that is None, its class may
    declare what is usual for what is asked: `usual = {"symbols": {"rate": 0.001}, ...}`.
    """
    plain = {
        name: one.default for name, one in host_parameters(found).items() if _is_plain(one.default)
    }
    usual = _usual(found, asked)
    return {name: usual.get(name) if value is None else value for name, value in plain.items()}


def _usual(found: Any, asked: str) -> dict[str, Any]:
    """The usual parameters for what is asked; a class may also set its pace itself, as `passes =
    3`.
    """
    declared = stated(found, LearnerFacts).usual
    usual = (
        declared.get(asked, declared.get("symbols", {})) if isinstance(declared, Mapping) else {}
    )
    own = {name: getattr(found, name, None) for name in PACE}
    return {
        **usual,
        **{name: value for name, value in own.items() if value is not None and _is_plain(value)},
    }


def _pace(found: Any, parameters: Mapping[str, Any], asked: str) -> Pace:
    """As declared by its class; parameters called `passes` and `batch` set it."""
    usual = _usual(found, asked)
    named = {name: parameters.get(name, usual.get(name)) for name in PACE}
    return dataclasses.replace(
        pace_of(found), **{name: value for name, value in named.items() if value is not None}
    )


def _is_plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, bool | int | float | str)


def _like(default: Any, value: Any) -> Any:
    """A whole number where the default is a fraction is that fraction: `rate=1` is `rate=1.0`;
    `none` is None.
    """
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return None if default is None and isinstance(value, str) and value == "none" else value


def _same(value: Any, parameter: str, defaults: Mapping[str, Any]) -> bool:
    return (
        parameter in defaults
        and type(value) is type(defaults[parameter])
        and value == defaults[parameter]
    )


def _plain(value: Any) -> Any:
    """A parameter in the form used in an identity; anything but a number, word or list of them
    by its parts.
    """
    return value if _is_plain(value) else {"made of": object_origin(value).version}


def _check_host(name: str, found: Any, given: Mapping[str, Any]) -> None:
    if not callable(found):
        raise UsageError(
            f"{name}: a learner is a class with learn and predict, or something with begin, got"
            f" {found!r}"
        )
    if any(
        kind.__module__.startswith("torch.nn.") for kind in getattr(found, "__mro__", ())[1:]
    ) and not any(hasattr(found, face) for face in ("learn", "predict", "act")):
        raise UsageError(
            f"{name}: a torch.nn.Module is not a learner by itself; wrap it: class"
            f" Model(SequenceModel) with def build(self, brief): return {found.__name__}(...), from"
            " quickstudy.adapters.torch"
        )
    faces = {face for face in ("learn", "predict", "act") if hasattr(found, face)}
    missing = sorted({"learn", "predict"} - faces)
    # What a function or a class with __getattr__ makes can only be seen once it is made.
    if (
        isinstance(found, type)
        and missing
        and "act" not in faces
        and not hasattr(found, "__getattr__")
    ):
        own = [attribute for attribute in vars(found) if not attribute.startswith("_")][:6]
        raise UsageError(
            f"{name}: a learner needs learn(inputs, targets) and predict(inputs), or act; "
            f"the class has no {' and no '.join(missing)}, it has {', '.join(own) or 'nothing'}"
        )
    _check_made(name, found, given)
    every = inspect.signature(found).parameters.values()
    for parameter in given if all(one.kind is not one.VAR_KEYWORD for one in every) else ():
        if parameter not in host_parameters(found):
            known = shown_parameters(found, "symbols")
            raise UsageError(f'{name}: no parameter "{parameter}"; {nearest(parameter, known)}')


def _check_made(name: str, found: Any, given: Mapping[str, Any]) -> None:
    """Raises UsageError for what cannot be called with (brief, seed) and the parameters that have
    no default.
    """
    role = stated(found, LearnerFacts).role
    if role in ("control", "oracle"):
        file = name.partition(":")[0]
        raise UsageError(
            f"{name} is made for a task, as its {role}; name it by its id: {found.id} --include"
            f" {file}"
        )
    signature = inspect.signature(found)
    required = [
        one
        for one in host_parameters(found).values()
        if one.default is one.empty and one.name not in given
    ]
    if required and len(signature.parameters) > 2:
        raise UsageError(
            f"{name}: parameter {required[0].name} has no default; type"
            f" {name}:{required[0].name}=..."
        )
    try:
        signature.bind_partial(None, None)
    except TypeError:
        raise UsageError(
            f"{name}: a learner is made by {found.__name__}(brief, seed), and this one takes"
            f" {signature}"
        ) from None


def _literal(value: Any) -> Any:
    """Host classes declare no types: text of a number is read as that number, anything else is
    unchanged.
    """
    if not isinstance(value, str):
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(value.lower(), value)


def labelled(name: str, changed: Mapping[str, Any]) -> str:
    """How a learner is called: its name, and what of it is not as usual."""
    said = {parameter: _said(value) for parameter, value in changed.items()}
    return f"{name}:{write_assignments(said)}" if said else name


def _said(value: Any) -> Any:
    """A parameter in the form used in a label: a function or class by its name, any other object by
    its kind and the beginning of what it is made of. Never where it lies in memory.
    """
    if _is_plain(value):
        return value
    name = getattr(value, "__name__", type(value).__name__)
    told = isinstance(value, type | FunctionType | BuiltinFunctionType) and name != "<lambda>"
    return name if told else f"{name.strip('<>')}-{object_origin(value).version[:6]}"
