"""Where code comes from: what makes a component of a user's another one, and where an error was raised."""

from __future__ import annotations

import hashlib
import inspect
import pathlib
import re
import sys
import sysconfig
import traceback
from functools import cache
from typing import Any

_PACKAGE = pathlib.Path(__file__).resolve().parent.parent
_DIGITS = 12


def code_of(*components: Any) -> dict[str, str]:
    """`{"code": ...}` for components that do not come with the package, else nothing: a part of their identity.

    A declared version is changed by hand, and in a file that is being written it is forgotten; the code is not. So a
    changed file is another component, and old results are not mixed with new ones.
    """
    codes = dict.fromkeys(_code(component) for component in components if not is_ours(component))
    return {"code": ".".join(codes)} if codes else {}


def _code(component: Any) -> str:
    file = getattr(sys.modules.get(component.__module__), "__file__", None)
    # A script is changed for many reasons, such as the number of seeds it asks for: there only the class counts.
    in_script = file is None or component.__module__ == "__main__"
    return source_version(component) if in_script else file_version(str(file))


def is_ours(kind: Any) -> bool:
    """Whether a class or function is part of this package."""
    return str(kind.__module__).partition(".")[0] == "quickstudy"


@cache
def file_version(path: str) -> str:
    """The beginning of the SHA-256 of a file, as it was when first asked for: about when it was imported."""
    return _short(pathlib.Path(path).read_bytes())


def source_version(kind: Any) -> str:
    """The same of a class's own source; of one that was typed at a prompt, of what it was compiled to."""
    try:
        source = inspect.getsource(kind)
    except (OSError, TypeError):
        codes = {name: part.__code__ for name, part in vars(kind).items() if inspect.isfunction(part)}
        source = repr({name: (code.co_code, code.co_consts, code.co_names) for name, code in codes.items()})
    return _short(source.encode())


def described(error: BaseException) -> str:
    """An unexpected error in one line: its kind, what it says, and the place where it was raised."""
    words = str(error).strip().partition("\n")[0]
    place = place_of(error)
    return f"{type(error).__name__}{f': {words}' if words else ''}{f' ({place})' if place else ''}"


def place_of(error: BaseException) -> str:
    """`file:line` of the deepest place that is the user's, or else the package's, or else anybody's."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    users = [frame for frame in frames if not _in_package(frame.filename) and not _in_library(frame.filename)]
    ours = [frame for frame in frames if _in_package(frame.filename)]
    frame = (users or ours or list(frames))[-1]
    return f"{_named(frame.filename)}:{frame.lineno}"


LONGEST = 20_000
"""Letters of a traceback that are kept: some hundred frames. A learner may raise an error that says a whole array."""


def whole_traceback(error: BaseException) -> str:
    """All that Python says of an error, with files as `described` names them; at most about LONGEST letters, without
    the middle. What a terminal could take for an order is spelled out.
    """
    text = "".join(traceback.format_exception(error))
    text = re.sub(r'(?<=^  File ")[^"\n]+(?=", line )', lambda file: _named(file[0]), text, flags=re.MULTILINE)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 4]}\n... {len(text) - LONGEST:,} letters left out ...\n{text[-LONGEST * 3 // 4 :]}"
    return "".join(one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in text).rstrip()


def _named(filename: str) -> str:
    """A file of the package or of a library from there on, one of the user's from the current folder on: no machine's
    paths.
    """
    path = pathlib.Path(filename)
    tops = (
        _PACKAGE.parent,
        *(pathlib.Path(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib")),
        pathlib.Path.cwd(),
    )
    for top in tops:
        if path.is_relative_to(top):
            return path.relative_to(top).as_posix()
    return filename


def _in_package(filename: str) -> bool:
    return pathlib.Path(filename).is_relative_to(_PACKAGE)


def _in_library(filename: str) -> bool:
    if not filename.endswith(".py"):  # compiled or made by a library, unless it was typed at a prompt
        return not filename.startswith("<") or filename.startswith(("<frozen", "<string>"))
    places = sysconfig.get_paths()
    return any(
        pathlib.Path(filename).is_relative_to(places[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")
    )


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
