"""Parameters of tasks, cores, trainings and protocols: declared once, read from text, checked,
written back.

A component is a frozen dataclass. A field may carry its range:

    units: int = parameter(1800, at_least=1)

and a component may carry presets by convention, which change defaults and never what the user gave:

    conventions: ClassVar = {"published": {"longest": 5}}

A core or a training may also carry presets by what is asked of a learner
(`quickstudy.base.task.ASKED`), above those:

    usual: ClassVar = {"reals": {"units": 200}}

A parameter that a component gets after runs of it have been recorded is marked `added=True`:

    precision: str = parameter("float32", choices=("float32", "float64"), added=True)

Its default must be what the component did before. While it has that default it is not part of the
identity, so that those runs keep their keys; any other value is.

The numbers of a component belong to the `version` of its decorator. A change that alters the
numbers of some settings only keeps the keys of all other runs: the component overrides
`settings_version`, a property that gives the version of the numbers of its own settings. A lower
number than that of the decorator is recorded as the version; a higher one is recorded as the
parameter `course`.

A parameter that is renamed keeps its first name as an alias: `parameter(0.9, alias="peak")`. Both
may be typed; identities keep the first name, so that runs keep their keys; tables show the new one.
An id is renamed in the same way, by `@core("new", version=1, alias="old")`
(`quickstudy.base.renaming`).

A parameter that is the location of something, not its content, is marked `place=True` and is
never part of the identity: another parameter, or the component itself, represents what was found
there. That one, which the component works out, is marked `derived=True` and is never typed.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
import re
import types
import typing
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from quickstudy.base.canonical import plain
from quickstudy.base.errors import UsageError, nearest

T = TypeVar("T")
CONVENTIONS = ("corrected", "published", "written")
HANDED_ON: Mapping[str, Mapping[str, Any]] = {
    convention: {"convention": convention} for convention in CONVENTIONS
}
"""The `conventions` of a component that holds others, and has a parameter `convention` for
theirs.
"""
COURSE = "course"
"""The name under which an identity has a `settings_version` above the version of the decorator."""
MOST_ALTERNATIVES = 10_000
"""Learners that one name may expand to; more is a slip, and their plan would fill the memory."""


def parameter(
    default: Any,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    above: float | None = None,
    choices: tuple[Any, ...] | None = None,
    added: bool = False,
    place: bool = False,
    derived: bool = False,
    alias: str = "",
) -> Any:
    """A dataclass field with a default and the range of values that make sense; added: later than
    recorded runs; place: where something is found; derived: computed from the others; alias: the
    name that it had first.
    """
    bounds: dict[str, Any] = {"at_least": at_least, "at_most": at_most, "above": above}
    bounds |= {"choices": choices, "alias": alias or None}
    bounds |= {"added": added or None, "place": place or None, "derived": derived or None}
    return dataclasses.field(
        default=default,
        metadata={name: bound for name, bound in bounds.items() if bound is not None},
    )


def check_convention(convention: str) -> None:
    """Raise UsageError unless the convention is one that exists."""
    if convention not in CONVENTIONS:
        raise UsageError(f'no convention "{convention}"; {nearest(convention, CONVENTIONS)}')


def configure(
    name: str,
    component: type[T],
    given: Mapping[str, Any],
    convention: str = "corrected",
    asked: str = "symbols",
) -> T:
    """An instance of a component: defaults, then the convention's preset, then that of what is
    asked, then what the user gave (text or values).

    Raises UsageError for an unknown parameter (with the nearest name), a wrong type, or a value out
    of its range.
    """
    check_convention(convention)
    hints, fields = _fields(component)
    given = current_names(name, component, given)
    values: dict[str, Any] = {
        **getattr(component, "conventions", {}).get(convention, {}),
        **getattr(component, "usual", {}).get(asked, {}),
    }
    course = given.get(COURSE) if hasattr(component, "settings_version") else None
    for parameter_name, value in given.items():
        if parameter_name == COURSE and course is not None:
            continue
        if parameter_name not in fields:
            raise UsageError(
                f'{name}: no parameter "{parameter_name}"; {nearest(parameter_name, fields)}'
            )
        values[parameter_name] = _convert(name, parameter_name, value, hints[parameter_name])
    missing = [field for field in fields.values() if field.name not in values and _required(field)]
    if missing:
        raise UsageError(f"{name}: {missing[0].name} must be given")
    for parameter_name, value in values.items():
        _check_range(name, parameter_name, value, fields[parameter_name].metadata)
    try:
        made = component(**values)
    except ValueError as error:  # a component's own __post_init__: relations between parameters
        raise UsageError(f"{name}: {error}") from error
    if course is not None and int(course) not in (1, settings_version(made)):
        raise UsageError(
            f"{name}: {COURSE} is derived; it is {settings_version(made)} here, got {course}"
        )
    return made


def aliases_of(component: Any) -> dict[str, str]:
    """The present names of the parameters of a component by the names that they had first."""
    fields = _fields(component)[1].values()
    return {one.metadata["alias"]: one.name for one in fields if "alias" in one.metadata}


def current_names(name: str, component: Any, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Parameters by their present names. Raises UsageError for one that is given by both."""
    aliases = aliases_of(component)
    for old, new in aliases.items():
        if old in given and new in given:
            raise UsageError(f"{name}: {old} is the earlier name of {new}; give one of them")
    return {aliases.get(one, one): value for one, value in given.items()} if aliases else given


def recorded_id(component: Any) -> str:
    """The id that identities have: the first one that a component had."""
    # Of the class itself: a variant of it has an id of its own.
    declared = isinstance(component, type | types.FunctionType)
    own = vars(component if declared else type(component))
    return str(own.get("alias") or component.id)


def recorded_parameters(instance: Any) -> dict[str, Any]:
    """All parameters by the names that identities have."""
    first = {new: old for old, new in aliases_of(type(instance)).items()}
    return {first.get(name, name): value for name, value in all_parameters(instance).items()}


def settings_version(instance: Any) -> int:
    """The version of the numbers that the settings of a component give."""
    version: int = getattr(instance, "settings_version", instance.version)
    return version


def parameters_of(instance: Any) -> dict[str, Any]:
    """The parameters of a component that its identity rests on, by the names they had first, in
    plain JSON types.

    Places are left out. Those that were added later are, while they have their default, unless a
    convention presets them.
    """
    presets = {name for preset in getattr(instance, "conventions", {}).values() for name in preset}
    fields = _fields(type(instance))[1]
    newer = getattr(instance, "settings_version", 0) > getattr(instance, "version", 0)
    course = {COURSE: instance.settings_version} if newer else {}
    return course | {
        fields[name].metadata.get("alias", name): value
        for name, value in all_parameters(instance).items()
        if not fields[name].metadata.get("place")
        and (
            not fields[name].metadata.get("added")
            or value != plain(fields[name].default)
            or name in presets
        )
    }


def all_parameters(instance: Any) -> dict[str, Any]:
    """All parameters of a component by name, in plain JSON types: what it shows."""
    return {
        field.name: plain(getattr(instance, field.name))
        for field in _fields(type(instance))[1].values()
    }


def changed_parameters(
    instance: Any, convention: str = "corrected", asked: str = "symbols"
) -> dict[str, Any]:
    """The parameters that differ from what convention and question alone would give: what a user
    has to type.
    """
    try:
        usual = all_parameters(configure("", type(instance), {}, convention, asked))
    except UsageError:  # something has no default: then everything is worth typing
        usual = {}
    fields = _fields(type(instance))[1]
    return {
        name: value
        for name, value in all_parameters(instance).items()
        if (name not in usual or usual[name] != value) and not fields[name].metadata.get("derived")
    }


def parse_assignments(text: str) -> dict[str, str]:
    """`units=200,leak=0.3` as a mapping from name to text. A value may hold `:` and `/`; one in
    double quotes may hold anything, a comma too, with `""` for a quote.

    >>> parse_assignments("units=200,leak=0.3")
    {'units': '200', 'leak': '0.3'}
    >>> parse_assignments('url="http://here:80/v1?a=1,b=2",model=x/7b')
    {'url': 'http://here:80/v1?a=1,b=2', 'model': 'x/7b'}
    """
    assignments: dict[str, str] = {}
    for part in filter(None, cut_assignments(text)):
        name, sign, value = part.partition("=")
        if not sign or not name.strip():
            several = (
                "; several values of one parameter are written 2/1"
                if assignments and not sign
                else ""
            )
            raise UsageError(f'"{part}" is not of the form name=value{several}')
        if name.strip() in assignments:
            raise UsageError(f'parameter "{name.strip()}" is given twice')
        assignments[name.strip()] = _unquoted(name.strip(), value.strip())
    return assignments


def with_first(component: Any, text: str) -> str:
    """The assignments in a name, where what stands first may lack its name: `first` of a component
    names the parameter that it is the value of.

    >>> class Layer:
    ...     first = "layer"
    >>> with_first(Layer, "torch.nn.GRU:width=8"), with_first(Layer, "width=8")
    ('layer=torch.nn.GRU,width=8', 'width=8')
    """
    first = getattr(component, "first", "")
    value, _, rest = text.partition(":")
    if not first or not value or "=" in value or "," in value:
        return text
    return f"{first}={value},{rest}".rstrip(",")


def cut_assignments(text: str, sign: str = ",") -> list[str]:
    """The parts of a text between commas outside double quotes. UsageError for a quote
    that has no end.
    """
    pieces = text.split('"')
    if len(pieces) % 2 == 0:
        raise UsageError(f"a quote in {text} has no end")
    parts = [""]
    for number, piece in enumerate(pieces):
        first, *rest = [piece] if number % 2 else piece.split(sign)
        parts[-1] += ('"' if number else "") + first
        parts += rest
    return parts


def _unquoted(name: str, value: str) -> str:
    if '"' not in value:
        return value
    if not re.fullmatch(r'"([^"]|"")*"', value):
        raise UsageError(
            f"{name}: quotes stand around the whole value, got {value}; a quote inside is"
            ' written ""'
        )
    return value[1:-1].replace('""', '"')


def alternatives(name: str) -> list[str]:
    """The names that one with several values for a parameter expands to, the last parameter
    changing fastest.

    >>> alternatives("esn:units=10|20,leak=0.3|1")
    ['esn:units=10,leak=0.3', 'esn:units=10,leak=1', 'esn:units=20,leak=0.3', 'esn:units=20,leak=1']
    >>> alternatives("esn")
    ['esn']
    """
    # Quoted text is one value, with any content.
    parts: list[list[str]] = []
    for place, piece in enumerate(name.split('"')):
        cut = [piece] if place % 2 else re.split(r"(?<==)([^=,]*\|[^=,]*)", piece)
        quote = '"' if place else ""
        parts += [
            [quote],
            *(part.split("|") if number % 2 else [part] for number, part in enumerate(cut)),
        ]
    if (count := math.prod(map(len, parts))) > MOST_ALTERNATIVES:
        raise UsageError(
            f'"{name}" stands for {count:,} learners; give at most {MOST_ALTERNATIVES:,} at once'
        )
    return ["".join(chosen) for chosen in itertools.product(*parts)]


def write_assignments(values: Mapping[str, Any]) -> str:
    """The inverse of `parse_assignments`: what has to be typed to get these values.

    >>> write_assignments({"units": 200, "radius": None, "delays": (1, 2), "path": "a,b"})
    'units=200,radius=none,delays=1/2,path="a,b"'
    """
    return ",".join(f"{name}={_spelled(value)}" for name, value in values.items())


def _spelled(value: Any) -> str:
    parts = value if isinstance(value, list | tuple) else [value]
    text = "/".join("none" if part is None else str(part) for part in parts)
    # Only what would be cut: a name that could be typed without quotes is unchanged.
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"|') else text


def _read_fields(component: Any) -> tuple[dict[str, Any], dict[str, dataclasses.Field[Any]]]:
    if not dataclasses.is_dataclass(component):
        return {}, {}
    return typing.get_type_hints(component), {
        field.name: field for field in dataclasses.fields(component) if field.init
    }


# Hints take a millisecond to read, and every run asks for those of its components, several times.
_fields: Callable[[Any], tuple[dict[str, Any], dict[str, dataclasses.Field[Any]]]] = lru_cache(
    1024
)(_read_fields)


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


_NAMED: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    type(None): "none",
}


def _convert(owner: str, name: str, value: Any, hint: Any) -> Any:
    kinds = _members(hint)
    if isinstance(value, list | tuple):
        several = [kind for kind in kinds if typing.get_origin(kind) is tuple]
        if several:  # JSON has lists only
            return tuple(
                _convert(owner, name, part, typing.get_args(several[0])[0]) for part in value
            )
    elif (value is None or value == "none") and type(None) in kinds:
        return None
    elif isinstance(value, str):
        for kind in kinds:
            try:
                return _from_text(value, kind)
            except ValueError:
                continue
    elif any(_is(value, kind) for kind in kinds):
        return float(value) if float in kinds and int not in kinds else value
    wanted = " or ".join(_NAMED.get(kind, str(kind)) for kind in kinds)
    raise UsageError(f'{owner}: {name} must be {wanted}, got "{value}"')


def _members(hint: Any) -> tuple[Any, ...]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        # Narrow kinds first, so that "3" is an integer where both an integer and a text are
        # possible.
        order = {int: 0, float: 1, bool: 2, str: 9}
        return tuple(sorted(typing.get_args(hint), key=lambda kind: order.get(kind, 5)))
    return (hint,)


def _is(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    kind = typing.get_origin(kind) or kind
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, kind)


def _from_text(text: str, kind: Any) -> Any:
    if kind is Any or kind is str:
        return text
    if kind is bool:
        if text.lower() in ("true", "yes", "on", "1"):
            return True
        if text.lower() in ("false", "no", "off", "0"):
            return False
        raise ValueError(text)
    if kind in (int, float):
        return kind(text)
    if typing.get_origin(kind) is tuple:  # `3/5/7`: commas separate parameters already
        parts = text.split("/")
        if text.startswith("[") and text.endswith("]"):  # `[3, 5, 7]`, as reports print it
            parts = (
                [part.strip(" '\"") for part in text[1:-1].split(",")] if text[1:-1].strip() else []
            )
        return tuple(_from_text(part, typing.get_args(kind)[0]) for part in parts)
    raise ValueError(text)


def _check_range(owner: str, name: str, value: Any, bounds: Mapping[str, Any]) -> None:
    if value is None:
        return
    rules = {
        "at_least": ("at least", operator.ge),
        "at_most": ("at most", operator.le),
        "above": ("above", operator.gt),
    }
    if "choices" in bounds and value not in bounds["choices"]:
        hint = nearest(str(value), map(str, bounds["choices"]))
        raise UsageError(
            f"{owner}: {name} must be one of {', '.join(map(str, bounds['choices']))}, got {value};"
            f" {hint}"
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise UsageError(f"{owner}: {name} must be a finite number, got {value}")
    if any(not holds(value, bounds[rule]) for rule, (_, holds) in rules.items() if rule in bounds):
        wanted = " and ".join(
            f"{words} {bounds[rule]}" for rule, (words, _) in rules.items() if rule in bounds
        )
        raise UsageError(f"{owner}: {name} must be {wanted}, got {value}")
