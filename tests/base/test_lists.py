"""A parameter with several values can be typed as a report prints it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from quickstudy.base.errors import UsageError
from quickstudy.base.parameters import configure


@dataclass(frozen=True)
class Scaled:
    factors: tuple[float, ...] = (1.0,)
    names: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("text", "factors"),
    [
        ("[1.0]", (1.0,)),
        ("[1.0, 2.5]", (1.0, 2.5)),
        ("[]", ()),
        ("1/2.5", (1.0, 2.5)),
        ("2", (2.0,)),
    ],
)
def test_numbers(text, factors):
    assert configure("scaled", Scaled, {"factors": text}).factors == factors


def test_words():
    assert configure("scaled", Scaled, {"names": "['a', \"b\"]"}).names == ("a", "b")


@pytest.mark.parametrize("text", ["[1.0", "[1.0,]", "[a]"])
def test_what_is_no_list_of_numbers(text):
    with pytest.raises(UsageError, match="factors must be tuple"):
        configure("scaled", Scaled, {"factors": text})
