"""A small writer of HTML and SVG in which the type decides what is escaped: `str` is, `Markup` is
not.
"""

from __future__ import annotations

import html
import re
from functools import lru_cache
from importlib import resources

_UNSEEN = [*(code for code in range(ord(" ")) if chr(code) not in "\n\t"), *range(0x7F, 0xA0)]
_TURNING = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
"""Marks that turn the direction of writing, of a name and of all that follows it."""
_SAFE = {
    **dict.fromkeys([*_UNSEEN, *_TURNING, *range(0xD800, 0xE000)], "\N{REPLACEMENT CHARACTER}"),
    **{ord(letter): html.escape(letter) for letter in "&<>\"'"},
}
_UNSAFE = re.compile(f"[{re.escape(''.join(map(chr, _SAFE)))}]")
_NARROW = 16
"""Letters of a word that has room in the narrowest column."""
_PIECES = re.compile("[^,:=/+_]{1,26}[,:=/+_]?|[,:=/+_]")
"""A word of 26 letters without a separator is never broken."""


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def escape(text: str) -> Markup:
    """Text that is only text, between tags as well as in attributes; markup unchanged. Control
    characters, and marks that turn the direction of writing, become a visible sign.
    """
    return text if isinstance(text, Markup) else Markup(_safe(text))


def _safe(text: str) -> str:
    return text.translate(_SAFE) if _UNSAFE.search(text) else text


def joined(*parts: str, by: str = "") -> Markup:
    """Parts one after another, with something between them; each is escaped unless it is markup."""
    return Markup(escape(by).join(map(escape, parts)))


def tag(name: str, *children: str, **attributes: object) -> Markup:
    """One element. Children and attributes are escaped unless they are markup; an attribute that is
    None or False is left out, True stands alone. `stroke_width` becomes `stroke-width`, `class_`
    becomes `class`.

    >>> tag("a", "1 < 2", href="#x", class_="quiet", id=None)
    '<a href="#x" class="quiet">1 &lt; 2</a>'
    """
    inside = "".join([child if type(child) is Markup else escape(child) for child in children])
    return Markup(f"<{name}{_attributes(attributes)}>{inside}</{name}>")


def breakable(text: str) -> Markup:
    """Text in which a long word may be broken after a separator, and between letters only where it
    is very long; an option of a command is not broken after its hyphens.
    """
    return Markup("".join(map(_word, re.split(r"(\s+)", text))))


def prose(text: str) -> Markup:
    """The same of sentences, in which what stands between backticks is code.

    >>> prose("As in `esn`.")
    'As in <code>esn</code>.'
    """
    parts = enumerate(re.split("`([^`\n]+)`", text))
    return joined(
        *(tag("code", breakable(part)) if place % 2 else breakable(part) for place, part in parts)
    )


def _word(word: str) -> Markup:
    if len(word) > _NARROW:
        return Markup("<wbr>".join(map(escape, _PIECES.findall(word))))
    return tag("span", word, class_="option") if word.startswith("--") else escape(word)


@lru_cache(maxsize=1024)
def named(label: str) -> Markup:
    """A name from outside, breakable, which turns nothing around it.

    >>> named("esn"), named("esn:leak=0.3,units=1000000")
    ('<bdi>esn</bdi>', '<bdi>esn:<wbr>leak=<wbr>0.3,<wbr>units=<wbr>1000000</bdi>')
    """
    return tag("bdi", breakable(label))


def anchor(name: str) -> str:
    """A name as the id of an element, of which addresses and style sheets take every letter as it
    is.
    """
    return re.sub(r"[^\w-]+", "-", name)


@lru_cache
def asset(name: str) -> Markup:
    """A file that pages and pictures carry inside."""
    return Markup(
        resources.files("quickstudy.render").joinpath("assets", name).read_text(encoding="utf-8")
    )


def short_number(value: float) -> str:
    """A coordinate as short as a picture allows: one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def _attributes(attributes: dict[str, object]) -> str:
    written = ""
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        if value is True:
            written += f" {_spelled(name)}"
        elif isinstance(value, float):
            written += f' {_spelled(name)}="{short_number(value)}"'
        else:
            written += (
                f' {_spelled(name)}="{value if isinstance(value, Markup) else _safe(str(value))}"'
            )
    return written


@lru_cache(maxsize=256)
def _spelled(name: str) -> str:
    return name.rstrip("_").replace("_", "-")
