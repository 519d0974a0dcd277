"""Run a user's code in this process, and note which modules from outside this package were used."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from quickstudy.base.code_identity import is_ours

_environment: dict[str, str | None] = {}
_path: list[str] = []
_watching: list[set[str]] = []


@contextlib.contextmanager
def user_code() -> Iterator[None]:
    """Run a user's code in this context.

    What it prints goes to standard error. The working folder is restored: the names of files on a
    command line, and the results folder, are relative to it. Its changes to the environment and to
    the search path remain, since its own learners may need them, and are remembered: processes that
    are started for others do not inherit them. A child that it has forked ends here, so that it
    does not go on as a second driver.
    """
    process = os.getpid()
    folder, environment, path = _folder(), dict(os.environ), list(sys.path)
    try:
        with contextlib.redirect_stdout(sys.stderr), _output_redirected():
            yield
    finally:
        if os.getpid() != process:
            os._exit(1)
        if folder is not None and _folder() != folder:
            with contextlib.suppress(OSError):
                os.chdir(folder)
        for name in environment.keys() | os.environ.keys():
            if environment.get(name) != os.environ.get(name):
                _environment.setdefault(name, environment.get(name))
        _path.extend(place for place in sys.path if place not in path)


def clean_environment() -> dict[str, str]:
    """The environment of this process, without the changes of users' code."""
    found = {**os.environ, **_environment}
    return {name: value for name, value in found.items() if value is not None}


def clean_path() -> list[str]:
    """The search path for modules, without the additions of users' code."""
    return [place for place in sys.path if place not in _path]


@contextlib.contextmanager
def outside_modules() -> Iterator[set[str]]:
    """The modules from outside this package whose components are asked for in this context."""
    found: set[str] = set()
    _watching.append(found)
    try:
        yield found
    finally:
        _watching.remove(found)


def note_component(component: object) -> None:
    """A component was asked for: note its module if that is not part of the package."""
    if not is_ours(component):
        note_module(str(component.__module__))


def note_module(name: str) -> None:
    """The same by the module's name: `__main__` for what exists in the running script or notebook
    alone.
    """
    for found in _watching:
        found.add(name)


@contextlib.contextmanager
def _output_redirected() -> Iterator[None]:
    """Send output that does not go through Python to standard error too: it must not get into the
    output of a command.
    """
    try:
        output = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # there is no standard output, or no standard error
        yield
        return
    try:
        yield
    finally:
        os.dup2(output, 1)
        os.close(output)


def _folder() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it has been removed
        return None
