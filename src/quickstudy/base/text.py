"""Text for people, in letters that can be shown anywhere: other people's names, and errors
with the place where they were raised.
"""

from __future__ import annotations

import pathlib
import re
import sysconfig
import traceback
from collections.abc import Sequence

from quickstudy.base.code_identity import LIBRARIES, PACKAGE, in_library, in_package

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters (ESC and the C1 set among them), marks that turn the direction of writing,
ends of lines, and halves of characters, which no terminal can be given.
"""
LINES = "\n\t"
"""What a text of several lines may hold."""
LONGEST = 20_000
"""Letters of a traceback that are kept: some hundred frames. A learner may raise an error that
contains a whole array.
"""


def counted(number: int, word: str) -> str:
    """A number and what it counts, in the singular or the plural.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def visible(text: str, keep: str = "") -> str:
    r"""Text in which every character that a terminal obeys instead of showing it is written out.
    keep: but for these.

    Everything that comes from a record, a file or a user goes through here on its way to a
    terminal.

    >>> print(visible("a\x1b[31mb\u202ec"), visible("two\nlines", keep="\n") == "two\nlines")
    a\x1b[31mb\u202ec True
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text)


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Names of at most `width` letters, cut in their middle, of which no two are the same unless
    the names are.

    >>> shortened(["context.py:Context:reach=10", "context.py:Context:reach=11", "esn"], 16)
    ['context.…each=10', 'context.…each=11', 'esn']
    """
    tails = sorted(
        range(width), key=lambda tail: abs(tail - (width - 1) // 2)
    )  # nearly half and half at first
    cuts = ([_cut(name, width, tail) for name in names] for tail in tails)
    different = len(set(names))
    found = next((cut for cut in cuts if len(set(cut)) == different), None)
    if found is not None:
        return found
    # They differ in one place, and that is another for every pair: they are numbered.
    numbers = {name: f"…{number}" for number, name in enumerate(dict.fromkeys(names), start=1)}
    return [
        name if len(name) <= width else name[: max(0, width - len(numbers[name]))] + numbers[name]
        for name in names
    ]


def _cut(name: str, width: int, tail: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"


def described(error: BaseException) -> str:
    """An unexpected error in one line: its kind, its text, and the place where it was
    raised.
    """
    words = (str(error.msg) if isinstance(error, SyntaxError) else words_of(error)).partition("\n")[
        0
    ]
    place = place_of(error)
    return f"{type(error).__name__}{f': {words}' if words else ''}{f' ({place})' if place else ''}"


def words_of(error: BaseException) -> str:
    """The text of an error, in letters that can be written down anywhere: the name of a file may
    hold others.
    """
    try:
        text = str(error)
    except Exception:  # a user's own kind of error, itself at fault
        text = ""
    return text.strip().encode("utf-8", "backslashreplace").decode()


def whole_traceback(error: BaseException) -> str:
    """Python's whole text of an error, with files as `described` names them; at most about LONGEST
    letters, without the middle. What a terminal could take for an order is spelled out.
    """
    text = "".join(traceback.format_exception(error))
    text = re.sub(
        r'(?<=^  File ")[^"\n]+(?=", line )',
        lambda file: short_path(file[0]),
        text,
        flags=re.MULTILINE,
    )
    if len(text) > LONGEST:
        text = (
            f"{text[: LONGEST // 4]}\n... {len(text) - LONGEST:,} letters left out"
            f" ...\n{text[-LONGEST * 3 // 4 :]}"
        )
    return "".join(
        one if one.isprintable() or one in "\n\t" else ascii(one)[1:-1] for one in text
    ).rstrip()


def place_of(error: BaseException) -> str:
    """`file:line` of the deepest place that is the user's, or else the package's, or else
    anybody's.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f"{short_path(error.filename)}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    users = [
        frame
        for frame in frames
        if not in_package(frame.filename) and not in_library(frame.filename)
    ]
    ours = [frame for frame in frames if in_package(frame.filename)]
    frame = (users or ours or list(frames))[-1]
    return f"{short_path(frame.filename)}:{frame.lineno}"


def short_path(filename: str) -> str:
    """A file of the package or of a library from there on, one of the user's from the current
    folder on: no machine's paths.
    """
    path = pathlib.Path(filename)
    tops = [
        PACKAGE.parent,
        *(pathlib.Path(sysconfig.get_path(name)) for name in LIBRARIES),
        pathlib.Path.cwd(),
    ]
    # A library may also lie in a folder of the user's, or of another environment.
    tops[1:1] = [
        above for above in path.parents if above.name in ("site-packages", "dist-packages")
    ]
    for top in tops:
        if path.is_relative_to(top):
            return path.relative_to(top).as_posix()
    return filename


def named(text: str) -> str:
    """Words as a part of a file's name."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")
