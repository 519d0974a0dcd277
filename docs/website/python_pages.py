"""The Python interface: every public name with its signature and its docstring."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Any

from sheets import sheet

import quickstudy

HEAD = """# Python

Every public name of the package: `import quickstudy as qs`, then `qs.NAME`.
[The types](types.md) describes how they belong together.
"""
PARTS = {
    "quickstudy.base.registries": "Declare a component",
    "quickstudy.base.parameters": "Declare a component",
    "quickstudy.base.learner": "Write a learner",
    "quickstudy.base.actions": "Write a learner",
    "quickstudy.base.exchange": "Write a learner",
    "quickstudy.learners": "Write a learner",
    "quickstudy.base.registry": "Measure and compare",
    "quickstudy.base": "Write a task",
    "quickstudy.protocols": "Write a protocol",
    "quickstudy.measures": "Score a curve",
    "quickstudy": "Measure and compare",
}
"""The module that a name comes from, by its first words, and the heading it is listed under."""


def pages() -> Iterator[tuple[str, str]]:
    """One page."""
    parts: dict[str, list[str]] = {title: [] for title in dict.fromkeys(reversed(PARTS.values()))}
    for name in sorted(set(quickstudy.__all__) - {"__version__"}, key=str.lower):
        value = getattr(quickstudy, name)
        parts[_part(name, value)].append(_section(name, value))
    made = [f"## {title}\n\n" + "\n".join(found) for title, found in parts.items() if found]
    yield "reference/python.md", "\n".join([HEAD, *made])


def _part(name: str, value: Any) -> str:
    module = quickstudy._PUBLIC.get(name, "quickstudy")
    return next(title for start, title in PARTS.items() if module.startswith(start))


def _section(name: str, value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return f"### {name}\n\nThe module `{value.__name__}`.\n\n{sheet(value)}\n"
    lines = [f"### {name}", f"```python\n{name}{_signature(value)}\n```", sheet(value)]
    if isinstance(value, type):
        for part, method in vars(value).items():
            if part.startswith("_") or not callable(getattr(value, part, None)):
                continue
            lines += [
                f"```python\n{name}.{part}{_signature(getattr(value, part))}\n```",
                sheet(method),
            ]
    return "\n\n".join(line for line in lines if line) + "\n"


def _signature(value: Any) -> str:
    """Its parameters, one a line where they are many; "" for what is not called."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [_parameter(one) for one in found.parameters.values()]
    returned = found.return_annotation
    arrow = "" if returned is inspect.Signature.empty else f" -> {_annotation(returned)}"
    short = f"({', '.join(parameters)}){arrow}"
    if len(short) < 80:
        return short
    lines = [f"    {one}," for one in parameters]
    return "\n".join(["(", *lines, f"){arrow}"])


def _parameter(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    name = f"{stars}{one.name}"
    if one.annotation is not one.empty:
        name += f": {_annotation(one.annotation)}"
    if one.default is one.empty:
        return name
    known = not (hasattr(one.default, "__module__") or "object at" in repr(one.default))
    return f"{name} = {one.default!r}" if known else f"{name} = ..."


def _annotation(value: Any) -> str:
    return value if isinstance(value, str) else getattr(value, "__name__", str(value))
