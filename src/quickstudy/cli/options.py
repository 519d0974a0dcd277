"""The command line's options, made from the declarations of `RunOptions`."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

import typer

from quickstudy.api.options import RunOptions, options_of

_TYPES: dict[str, Any] = {
    "bool": bool,
    "bool | None": bool | None,
    "int": int,
    "int | None": int | None,
    "float | None": float | None,
    "str | None": str | None,
}
"""Types of fields that the parser reads directly; other fields declare how they are typed."""


def takes_run_options(verb: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command that has a parameter `options` be called with each option of its verb: the
    parser sees the options one by one, the command gets one `RunOptions`.
    """
    known = {name: one for name, one in options_of(verb).items() if one.metadata["flags"]}

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        before = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for own in before.parameters.values():
            several = map(_parameter, known.values()) if own.name == "options" else [own]
            parameters += [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in several]

        @functools.wraps(command)
        def call(**typed: Any) -> None:
            given = {name: _value(one, typed.pop(name)) for name, one in known.items()}
            command(options=RunOptions(**given), **typed)

        call.__signature__ = before.replace(parameters=parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {one.name: one.annotation for one in parameters}
        return call

    return wrap


def _parameter(one: dataclasses.Field[Any]) -> inspect.Parameter:
    facts = one.metadata
    kind = facts["typed"] or _TYPES[str(one.type)]
    default = {list[str]: [], str: ""}.get(kind, one.default)
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=typer.Option(default, *facts["flags"], help=facts["help"]),
        annotation=kind,
    )


def _value(one: dataclasses.Field[Any], typed: Any) -> Any:
    return one.metadata["read"](typed) if one.metadata["read"] else typed
