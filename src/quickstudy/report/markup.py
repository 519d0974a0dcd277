"""A small writer of HTML and SVG. Everything that comes from outside passes through `escape`."""

from __future__ import annotations

import html

_CONTROL = {number: "\N{REPLACEMENT CHARACTER}" for number in range(ord(" ")) if chr(number) not in "\n\t"}
_TURNING = dict.fromkeys(
    [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0x7F, 0xA0)],
    "\N{REPLACEMENT CHARACTER}",
)
"""Marks that turn the direction of writing, of a name and of all that follows it, and the second set of controls."""
_SAFE = {**_CONTROL, **_TURNING, **{ord(letter): html.escape(letter) for letter in "&<>\"'"}}


def escape(text: str) -> str:
    """Text that is only text, between tags as well as in attributes. Control characters, and
    marks that turn the direction of writing, become a visible sign.
    """
    return text.translate(_SAFE)


def tag(name: str, *children: str, **attributes: object) -> str:
    """One element. Children are markup already. Attributes are escaped; None is left out, True stands alone.

    `stroke_width` becomes `stroke-width`, `class_` becomes `class`.

    >>> tag("a", "top", href="#x", class_="quiet", id=None)
    '<a href="#x" class="quiet">top</a>'
    """
    return f"<{name}{_attributes(attributes)}>{''.join(children)}</{name}>"


def plain_number(value: object) -> str:
    """A number as short as a picture allows: one decimal."""
    return f"{round(value, 1):.6g}" if isinstance(value, float) else str(value)


def _attributes(attributes: dict[str, object]) -> str:
    written = ""
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        shown = name.rstrip("_").replace("_", "-")
        written += f" {shown}" if value is True else f' {shown}="{escape(plain_number(value))}"'
    return written
