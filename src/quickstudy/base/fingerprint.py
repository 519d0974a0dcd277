"""Fingerprints of built-in code: which code a number came from, next to the version that was
declared.

A fingerprint is a hash of a module and of all modules of its own room (`tasks`, `cores`, `learners`
...) that it imports, directly or through others. Comments, docstrings and layout do not count. It
is not part of a run's identity: a run with other code and the same version has the same key.
"""

from __future__ import annotations

import ast
import json
import pathlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from quickstudy.base.code_identity import content_version, imported_names
from quickstudy.base.registry import package_sources

_LEFT_OUT = {"ctx", "kind", "type_comment", "type_params"}
"""Fields that say nothing more, or that not every version of Python has."""


@cache
def fingerprint(module: str) -> str:
    """The fingerprint of a module of this package, by its full name."""
    files = _room(".".join(module.split(".")[:2]))
    found, queue = {module}, [module]
    while queue:
        for name in _imports(files[queue.pop()]):
            inside = _module_in(name, files)
            if inside is not None and inside not in found:
                found.add(inside)
                queue.append(inside)
    codes = [(name, _normalised(files[name])) for name in sorted(found)]
    return content_version(json.dumps(codes).encode())


@cache
def _room(package: str) -> dict[str, pathlib.Path]:
    return dict(package_sources(package))


def _module_in(name: str, files: dict[str, pathlib.Path]) -> str | None:
    """The module of a name that is imported, which may be that of something in a module."""
    while name and name not in files:
        name = name.rpartition(".")[0]
    return name or None


@cache
def _parsed(path: pathlib.Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _imports(path: pathlib.Path) -> Iterator[str]:
    for node in ast.walk(_parsed(path)):
        yield from (name for _, name in imported_names(node))


@cache
def _normalised(path: pathlib.Path) -> str:
    """A hash of the code alone; the same in every version of Python."""
    return content_version(json.dumps(_spelled(_parsed(path))).encode())


def _spelled(node: Any) -> Any:
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if name not in _LEFT_OUT)
        told = [
            (name, _spelled(value)) for name, value in fields if value is not None and value != []
        ]
        return [type(node).__name__, *told]
    if isinstance(node, list):
        return [_spelled(part) for part in node if not _is_text(part)]
    return repr(node)


def _is_text(node: Any) -> bool:
    """A docstring, of anything: a text that stands alone."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
