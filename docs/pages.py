"""The Markdown pages of this repository: where they are, what they link to, and which blocks of
code are in them.

How a block is marked, after its language:

    python file=NAME      a file of the reader's: it is saved under that name
    python                run; a `text` block right after it is what it prints
    console               every line after `$ ` is run; the lines below it are what it prints
    console exit=N        the same, and the last command ends with that status instead of 0
    console varies        run, but what it prints is not compared
    console no-run        takes minutes: run by docs/refresh.py, which puts in the numbers
    python needs=NAME     the page needs that library, and is tried only where it is installed

In printed output, `...` matches anything, and a line of it for any number of lines.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
_FENCE = re.compile(r"^```(?P<info>.*)$")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_PICTURE = re.compile(r'<img[^>]* src="(?P<target>[^"]+)"')
_HEADING = re.compile(r"^#{1,6} +(?P<title>.+?) *$")


@dataclass(frozen=True)
class Block:
    """A fenced block. line: of its first line of text, from 1. options: `file=NAME` and the like,
    flags as "".
    """

    line: int
    language: str
    options: dict[str, str]
    text: str


@dataclass(frozen=True)
class Command:
    """A command of a console block. typed: its lines in the page; line: the same as one; printed:
    the lines below.
    """

    typed: list[str]
    line: str
    printed: list[str]


def pages() -> list[pathlib.Path]:
    """README, the change log and everything under docs/."""
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: pathlib.Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    opened: int | None = None
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if fence and opened is None:
            opened = number
        elif fence and opened is not None:
            language, *options = lines[opened].removeprefix("```").split() or [""]
            pairs = (option.partition("=") for option in options)
            text = "".join(f"{part}\n" for part in lines[opened + 1 : number])
            found.append(
                Block(opened + 2, language, {name: value for name, _, value in pairs}, text)
            )
            opened = None
    if opened is not None:
        raise ValueError(f"{page}, line {opened + 1}: this block is never closed")
    return found


def commands(block: Block) -> list[Command]:
    """The commands of a console block. A command goes on after a backslash."""
    found = []
    for part in re.split(r"^(?=\$ )", block.text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        end = next(number for number, line in enumerate(lines, start=1) if not line.endswith("\\"))
        whole = " ".join(line.removesuffix("\\").strip() for line in lines[:end])
        found.append(Command(lines[:end], whole.removeprefix("$ "), lines[end:]))
    return found


def links(page: pathlib.Path) -> Iterator[tuple[int, str]]:
    """Every link and picture outside code: its line and its target."""
    for number, line in _prose(page):
        for pattern in (_LINK, _PICTURE):
            yield from ((number, match["target"]) for match in pattern.finditer(line))


def anchors(page: pathlib.Path) -> set[str]:
    """The names of the headings, as GitHub makes them."""
    titles = (
        match["title"] for _, line in _prose(page, code=True) if (match := _HEADING.match(line))
    )
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def _prose(page: pathlib.Path, code: bool = False) -> Iterator[tuple[int, str]]:
    """Lines outside fenced blocks; code inside a line is taken out unless it is wanted."""
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line if code else re.sub(r"`[^`]*`", "", line)
