"""From a learner's name to the learner: `esn`, `esn+rls:units=200`, `majority`,
`my_model.py:Make:width=8`.

A core's name is a learner: the core with its usual way of training, by what is asked
(`quickstudy.base.task.ASKED`). `core+training` chooses another training. Parameters of core and
training are given side by side.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from quickstudy.base import registries
from quickstudy.base.canonical import digest
from quickstudy.base.code_identity import Origin, code_of, file_origin, is_ours, origin_of
from quickstudy.base.errors import NotApplicable, UsageError, nearest
from quickstudy.base.learner import Brief, Keeping, Learner, Pupil, Snapshot, face
from quickstudy.base.offers import Beginning, HostActing, HostLearning, Predicting, offers
from quickstudy.base.parameters import (
    aliases_of,
    changed_parameters,
    configure,
    current_names,
    cut_assignments,
    parameters_of,
    parse_assignments,
    recorded_id,
    with_first,
    write_assignments,
)
from quickstudy.base.registry import include, included_files
from quickstudy.base.script_identity import object_origin
from quickstudy.base.seeds import Streams
from quickstudy.base.stated import CoreFacts, LearnerFacts, TaskFacts, TrainingFacts, stated
from quickstudy.base.user_code import note_component, note_module
from quickstudy.learners.outside import reached_with
from quickstudy.learners.resolved_learner import LANES, Choice, labelled, whole_learner


class _Brought(NamedTuple):
    """A user's component by name: the class or object, the parameters of a partial, where its
    code comes from.
    """

    name: str
    found: Any
    given: Mapping[str, Any]
    origin: Origin


_brought: dict[str, _Brought] = {}


def bring(learner: Any) -> str:
    """Make an object of this process nameable: a host class, a `functools.partial` of one, or a
    learner with parameters. Gives its name. What it is made of is looked at now, and again when it
    is brought again.
    """
    if isinstance(learner, str):
        return learner
    given: Mapping[str, Any] = {}
    found = learner
    if isinstance(learner, functools.partial):
        found, given = learner.func, learner.keywords
        if learner.args:
            raise UsageError(
                f"{_called(found)}: a partial gives parameters by name, got {learner.args!r}"
                " without names"
            )
    name = _called(found)
    if name in learner_names():
        raise UsageError(f'"{name}" is a built-in learner; give yours another name')
    # The parameters of a dataclass are in the identity already.
    looked_at = (
        found if hasattr(found, "__name__") or not dataclasses.is_dataclass(found) else type(found)
    )
    brought = _Brought(name, found, dict(given), object_origin(looked_at))
    label = labelled(name, given)
    _brought[label] = brought
    return label


def bring_all(learners: Sequence[Any]) -> list[str]:
    """The names of several. Raises UsageError if two that are not the same have one name."""
    names: dict[str, Any] = {}
    for learner in learners:
        name = bring(learner)
        if names.setdefault(name, learner) is not learner and not isinstance(learner, str):
            raise UsageError(
                f'two learners are called "{name}"; give each class a name of its own, or'
                f" parameters, by functools.partial({_called(learner)}, width=64)"
            )
    return list(names)


def _called(found: Any) -> str:
    kind = found.func if isinstance(found, functools.partial) else found
    return str(getattr(kind, "__name__", type(kind).__name__))


def choose_learner(text: str, convention: str, task: Any = None, asked: str = "symbols") -> Choice:
    """The learner of that name under a convention, as is usual for what is asked. Raises UsageError
    with the nearest name, parameter or range.
    """
    if text in _brought:
        return choose_named(text, {}, convention, task, asked)
    name, _, assignments = text.partition(":")
    if (
        ".py" in text and name not in registries.learner
    ):  # a parameter of a built-in learner may name a file as well
        return _from_file(text, convention, asked)
    if name in registries.learner:
        assignments = with_first(registries.learner.get(name), assignments)
    return choose_named(name, parse_assignments(assignments), convention, task, asked)


def choose_named(
    name: str, given: Mapping[str, Any], convention: str, task: Any = None, asked: str = "symbols"
) -> Choice:
    """The same with the parameters as a mapping, of texts or values."""
    if name in _brought:
        brought = _brought[name]
        note_module("__main__")
        parameters, version = {**brought.given, **given}, brought.origin.version
        chosen = whole_learner(brought.name, brought.found, parameters, convention, version, asked)
        return dataclasses.replace(chosen, origins=(brought.origin,))
    if name == "oracle" and task is not None:
        name = stated(task, TaskFacts).oracle or "none is known"
        if name not in registries.control:
            raise UsageError(f"{task.id} has no oracle: {name}")
    if name in registries.control:
        return _control(name, given)
    if name in registries.learner:
        found = registries.learner.get(name)
        chosen = whole_learner(found.id, found, given, convention, found.version, asked)
        own = {"id": recorded_id(found), **code_of(found)}
        return dataclasses.replace(chosen, what={**chosen.what, **own}, origins=_origins(found))
    core, _, training = name.partition("+")
    if core not in registries.core:
        raise UsageError(f'no learner "{core}"; {nearest(core, learner_names())}')
    return _trained(core, training, given, convention, asked, task)


class Fitted(NamedTuple):
    """A learner's name with only the parameters that it has for what is asked, and the names of
    those left out.
    """

    name: str
    left_out: tuple[str, ...] = ()


def fitted(text: str, convention: str, asked: str) -> Fitted:
    """One name for several families: the core in all of them, its parameters where core or training
    have them.

    Names other than that of a core alone, such as `esn+rls`, are unchanged. Raises
    UsageError for no learner.
    """
    name, _, assignments = text.partition(":")
    if (
        text in _brought
        or name in registries.learner
        or name in registries.control
        or name not in registries.core
    ):
        return Fitted(text)
    from quickstudy.learners.core_with_training import default_training

    core_class = registries.core.get(name)
    known = _names(core_class)
    with contextlib.suppress(NotApplicable):  # the run will say why
        known |= _names(registries.training.get(default_training(core_class, convention, asked)))
    parts = {
        part.partition("=")[0].strip(): part for part in filter(None, cut_assignments(assignments))
    }
    kept = ",".join(part for parameter, part in parts.items() if parameter in known)
    return Fitted(
        f"{name}:{kept}" if kept else name,
        tuple(parameter for parameter in parts if parameter not in known),
    )


def learner_names() -> list[str]:
    """Everything that can be named as a learner: cores, whole learners, controls."""
    return sorted(
        {
            *registries.core.names(),
            *registries.learner.names(),
            *registries.control.names(),
            "oracle",
        }
    )


def _control(name: str, given: Mapping[str, Any]) -> Choice:
    control = registries.control.get(name)
    if given:
        raise UsageError(f"{name}: a control has no parameters, got {', '.join(given)}")
    what = {
        "id": recorded_id(control),
        "version": control.version,
        "parameters": {},
        **code_of(control),
    }
    compiled = bool(stated(control, LearnerFacts).compiled)

    def maker(task: Any) -> Learner:
        if compiled:
            from quickstudy.learners.episodes import Ruled

            return Ruled(control, task)
        from quickstudy.learners.host import Hosted

        return Hosted(lambda brief, seed: control(task, brief, seed), control, control=True)

    role = stated(control, LearnerFacts).role or "control"
    return Choice(control.id, what, role, maker, int(compiled), compiled, origins=_origins(control))


def _origins(*components: Any) -> tuple[Origin, ...]:
    return tuple(origin_of(component) for component in components if not is_ours(component))


def _trained(
    core_name: str,
    training_name: str,
    given: Mapping[str, Any],
    convention: str,
    asked: str,
    task: Any = None,
) -> Choice:
    from quickstudy.learners.core_with_training import Trained, default_training

    core_class = registries.core.get(core_name)
    core_name = core_class.id
    frozen = stated(core_class, CoreFacts).frozen
    if not isinstance(frozen, bool):  # a class of a user's may lack it
        raise UsageError(
            f'core "{core_name}": frozen must be True (a reservoir: nothing in it is trained) or'
            f" False, got {'nothing' if frozen is None else frozen}; add `frozen = False` to"
            f" {core_class.__name__}"
        )
    try:
        usual = default_training(core_class, convention, asked)
    except NotApplicable as reason:
        if not training_name:
            return _untrained(core_name, core_class, given, convention, asked, reason)
        usual = ""
    training_name = training_name or usual
    training_class = registries.training.get(training_name)
    training_name = training_class.id
    for owner in (core_class, training_class):
        given = current_names(f"{core_name}+{training_name}", owner, given)
    core_fields, training_fields = _names(core_class), _names(training_class)
    unknown = [name for name in given if name not in core_fields | training_fields]
    if unknown:
        raise UsageError(
            f'{core_name}+{training_name}: no parameter "{unknown[0]}"; '
            f"{nearest(unknown[0], core_fields | training_fields)}"
        )
    by_task = stated(training_class, TrainingFacts).usual_on(task, convention)
    core, training = (
        configure(
            name,
            owner,
            {n: v for n, v in {**by_task, **given}.items() if n in known},
            convention,
            asked,
        )
        for name, owner, known in (
            (core_name, core_class, core_fields),
            (training_name, training_class, training_fields),
        )
    )
    if stated(core, CoreFacts).coded and not stated(training, TrainingFacts).reads_codes:
        if stated(core, CoreFacts).reader is None:
            raise UsageError(
                f"{core_name} gives codes, and {training_name} cannot read them; use {core_name}"
            )
        core = dataclasses.replace(core, reader="one-hot")
    training.check_core(core)
    changed = {
        **changed_parameters(core, convention, asked),
        **changed_parameters(training, convention, asked),
    }
    # A parameter that is set to None is not the same as one that the task sets nothing for.
    changed = {n: v for n, v in changed.items() if n not in by_task or by_task[n] != v}
    shown = core_name if training_name == usual else f"{core_name}+{training_name}"
    parameters = {**parameters_of(core), **parameters_of(training)}
    what = {
        "id": f"{recorded_id(core_class)}+{recorded_id(training_class)}",
        "version": f"{core_class.version}.{training_class.version}",
        "parameters": parameters,
        **code_of(core_class, training_class),
    }
    traced = stated(training_class, TrainingFacts).traced
    shared = {
        **what,
        "parameters": {name: value for name, value in parameters.items() if name not in traced},
    }
    return Choice(
        labelled(shown, changed),
        what,
        "learner",
        lambda _: Trained(core, training),
        training_class.programs,
        True,
        stated(training, TrainingFacts).most_lanes or LANES[-1],
        _origins(core_class, training_class),
        digest(shared) if traced else "",
    )


def _untrained(
    name: str,
    core_class: Any,
    given: Mapping[str, Any],
    convention: str,
    asked: str,
    reason: NotApplicable,
) -> Choice:
    """A core that nothing here trains for what is asked: not applicable, with the reason, when it
    is to begin.
    """
    given = current_names(name, core_class, given)
    known = _names(core_class)
    core = configure(
        name, core_class, {n: v for n, v in given.items() if n in known}, convention, asked
    )
    of_training = {parameter: value for parameter, value in given.items() if parameter not in known}
    what = {
        "id": recorded_id(core_class),
        "version": f"{core_class.version}",
        "parameters": {**parameters_of(core), **of_training},
        **code_of(core_class),
    }

    def maker(task: Any) -> Learner:
        raise reason

    changed = {**changed_parameters(core, convention, asked), **of_training}
    return Choice(labelled(name, changed), what, "learner", maker, compiled=True)


def _names(component: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(component)} | {*aliases_of(component)}


def place(text: str) -> str:
    """The name of a learner. If it is in a file: with the whole path of that, to be found from any
    folder, and with its class, also where the file has only one and the user has left it out.
    """
    path, dot, rest = text.partition(".py")
    file = pathlib.Path(path + dot).expanduser()
    if not dot or text in _brought or "=" in path or not file.is_file():
        return text
    name, assignments = _class_typed(rest)
    name = name or next(iter(_only_learner(include(file))), "")
    return ":".join(filter(None, (str(file.absolute()), name, assignments)))


def with_parameters(text: str, assignments: str) -> str:
    """The name of a learner with further parameters.

    >>> with_parameters("lstm", "rate=1"), with_parameters("lstm:units=8", "rate=1")
    ('lstm:rate=1', 'lstm:units=8,rate=1')
    >>> with_parameters("model.py:Model", "rate=1")
    'model.py:Model:rate=1'
    """
    given = "=" in (text.partition(".py:")[2] or text)
    return f"{text}{',' if given else ':'}{assignments}"


def _class_typed(rest: str) -> tuple[str, str]:
    """Class and parameters, of what is typed after the name of a file; either may be missing."""
    name, _, assignments = rest.removeprefix(":").partition(":")
    return ("", rest.removeprefix(":")) if "=" in name else (name, assignments)


def _only_learner(module: Any) -> list[str]:
    """The name of the one learner of a file; nothing where there are several, or none."""
    learning = [key for key in _made_there(module) if _learns(getattr(module, key))]
    return learning if len(learning) == 1 else []


def _made_there(module: Any) -> list[str]:
    """The names of the classes, functions and partials that a file defines."""
    return [
        key
        for key, value in vars(module).items()
        if isinstance(value, functools.partial)
        or (callable(value) and getattr(value, "__module__", None) == module.__name__)
    ]


def without_place(text: str) -> str:
    """The name as people know it: of a learner in a file, without the folders.

    >>> without_place("/home/me/model.py:Model:units=8")
    'model.py:Model:units=8'
    >>> without_place("recorded:file=runs/model.py.jsonl")
    'recorded:file=runs/model.py.jsonl'
    """
    path, dot, rest = text.partition(".py")
    return (
        f"{pathlib.PurePath(path + dot).name}{rest}"
        if dot and "=" not in path and text not in _brought
        else text
    )


def _from_file(text: str, convention: str, asked: str) -> Choice:
    path, _, rest = text.partition(".py")
    file = pathlib.Path(path + ".py").expanduser()
    name, assignments = _class_typed(rest)
    if not file.is_file():
        raise UsageError(f'no file {file}, which the learner "{text}" names')
    module = include(file)
    known = _made_there(module)
    classes = [key for key in known if isinstance(getattr(module, key), type)]
    # One that cannot be a learner is refused by what it lacks.
    name = name or next(iter(_only_learner(module) or (classes if len(classes) == 1 else [])), "")
    if name not in known:
        wanted = f'no learner "{name}" in {file}' if name else f"which learner of {file}?"
        raise UsageError(f"{wanted}; {nearest(name, known)}; type {file}:NAME")
    # Its code is its version: a changed file is another learner, and old results are not mixed with
    # new ones.
    origin = file_origin(str(file.resolve()))
    found: Any = getattr(module, name)
    given: dict[str, Any] = {**parse_assignments(assignments)}
    called = f"{file.name}:{name}"
    if isinstance(found, functools.partial):
        given = {**found.keywords, **given}
        found = found.func
    note_component(found)
    chosen = whole_learner(called, found, given, convention, origin.version, asked)
    return dataclasses.replace(chosen, origins=(origin,))


def _learns(found: Any) -> bool:
    """Whether something of a user's file can be nothing but a learner: it has the methods of one,
    or is a partial of what has. A function may make one, or be a helper.
    """
    made = found.func if isinstance(found, functools.partial) else found
    return (
        offers(made, Beginning)
        or offers(made, HostActing)
        or (offers(made, HostLearning) and offers(made, Predicting))
    )


def revive(snapshot: Snapshot, file: str | pathlib.Path | None = None, trust: str = "") -> Pupil:
    """A pupil of one lane, restored to the state of the snapshot.

    - file: where a learner out of a file is, if that file was not included here yet: a snapshot
      from elsewhere must not decide what is imported.
    - trust: the name of a learner that may run a program, open a connection or read a file.

    Raises UsageError if the snapshot does not name its learner, if the learner has changed since,
    or if it reaches outside this package and is not the one in `trust`.
    """
    try:
        what, brief = snapshot.facts["learner"], Brief.from_facts(snapshot.facts["brief"])
    except KeyError as error:
        raise UsageError(
            f"the snapshot does not say which learner it is: no {error} in its facts"
        ) from error
    _check_reach(what, trust)
    choice = _choice_in(what, snapshot.facts.get("convention", "corrected"), file)
    if choice.what["version"] != what["version"]:
        raise UsageError(
            f"{what['id']} is at version {choice.what['version']}, the snapshot at"
            f" {what['version']}: its code has changed since"
        )
    # The snapshot overwrites everything that is sampled here.
    pupil = choice.make(None).begin(brief, [Streams(0, "revived", 0)])
    face(pupil, Keeping).restore(snapshot)
    return pupil


def _check_reach(what: Mapping[str, Any], trust: str) -> None:
    """Raise UsageError for a kept learner that reaches outside and that the user has not named."""
    name = str(what["id"])
    found = reached_with(name, what["parameters"])
    if found and name != trust:
        raise UsageError(
            f"the kept learner reaches outside this package: {', '.join(found)}; if you trust it, "
            f'use learner(key, trust="{name}")'
        )


def _choice_in(what: Mapping[str, Any], convention: str, file: str | pathlib.Path | None) -> Choice:
    name, is_file, kind = str(what["id"]).rpartition(".py:")
    if not is_file:
        return choose_named(what["id"], what["parameters"], convention)
    if file is None:
        known = [path for path in included_files() if pathlib.Path(path).name == f"{name}.py"]
        if len(known) != 1:
            raise UsageError(
                f'{what["id"]} comes from a file; say where it is: learner(key, file="{name}.py"), '
                "and only if you trust it, since it is run"
            )
        file = known[0]
    usual = choose_learner(f"{file}:{kind}", convention)
    # Usual values need not be typed, and their spelling might not be valid.
    defaults = usual.what["parameters"]
    changed = {
        one: value
        for one, value in what["parameters"].items()
        if one not in defaults or defaults[one] != value
    }
    return (
        choose_learner(f"{file}:{kind}:{write_assignments(changed)}", convention)
        if changed
        else usual
    )
