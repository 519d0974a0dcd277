"""The prose of the package and of the docs keeps clear of the phrases listed in
docs/plain_english.py: fewer than 3 per 1,000 lines in every room.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import load

LIMIT = 3.0
"""Occurrences of all patterns per 1,000 lines of a room."""


@pytest.fixture(scope="module")
def rooms() -> dict[str, float]:
    plain: Any = load("plain_english")
    return {name: plain.per_1000(*found) for name, found in plain.counts().items()}


def test_every_room_is_below_the_limit(rooms):
    above = {name: round(count, 1) for name, count in rooms.items() if count >= LIMIT}
    hint = "list them with `python docs/plain_english.py --rooms NAME`"
    assert not above, f"too many phrases of the list per 1,000 lines; {hint}"


@pytest.mark.parametrize(
    ("written", "patterns"),
    [
        ('"""The table says so."""', ["says"]),
        (
            '"""One stands\n    for the other, and whoever asks is told."""',
            ["stands", "whoever", "is told"],
        ),
        ('"""There is no file. It is no longer here. Is there a file?"""', []),
        ("x = 1  # It is no file.", ["is no"]),
        ('"""What was read. What is a span?"""', ["What is"]),
        ('x = "beside"  # a name without spaces is not prose', []),
    ],
)
def test_the_patterns_find_what_they_name(tmp_path: Path, written: str, patterns: list[str]):
    path = tmp_path / "page.py"
    path.write_text(written + "\n")
    assert sorted(name for name, _, _ in load("plain_english").matches(path)) == sorted(patterns)
