"""Names of other people's on a terminal: nothing in them gives it orders, and none is too long for its column."""

from __future__ import annotations

import re
from collections.abc import Sequence

_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters (ESC and the C1 set among them), marks that turn the direction of writing, ends of lines, and
halves of characters, which no terminal can be given.
"""
LINES = "\n\t"
"""What a text of several lines may hold."""


def visible(text: str, keep: str = "") -> str:
    r"""Text in which every character that a terminal obeys instead of showing it is written out. keep: but for these.

    Everything that comes from a record, a file or a user goes through here on its way to a terminal.

    >>> print(visible("a\x1b[31mb\u202ec"), visible("two\nlines", keep="\n") == "two\nlines")
    a\x1b[31mb\u202ec True
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] in keep else repr(found[0])[1:-1], text)


def shortened(names: Sequence[str], width: int) -> list[str]:
    """Names of at most `width` letters, cut in their middle, of which no two are the same unless the names are.

    >>> shortened(["context.py:Context:reach=10", "context.py:Context:reach=11", "esn"], 16)
    ['context.…each=10', 'context.…each=11', 'esn']
    """
    tails = sorted(range(width), key=lambda tail: abs(tail - (width - 1) // 2))  # nearly half and half at first
    cuts = ([_cut(name, width, tail) for name in names] for tail in tails)
    different = len(set(names))
    found = next((cut for cut in cuts if len(set(cut)) == different), None)
    if found is not None:
        return found
    # They differ in one place, and that is another for every pair: they are numbered.
    numbers = {name: f"…{number}" for number, name in enumerate(dict.fromkeys(names), start=1)}
    return [
        name if len(name) <= width else name[: max(0, width - len(numbers[name]))] + numbers[name] for name in names
    ]


def _cut(name: str, width: int, tail: int) -> str:
    return name if len(name) <= width else f"{name[: width - 1 - tail]}…{name[len(name) - tail :]}"
