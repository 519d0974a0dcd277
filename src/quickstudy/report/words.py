"""The words of reports and pages: counting, listing, and what every term means."""

from __future__ import annotations

from collections.abc import Sequence

MOST_NAMED = 5
"""A sentence with more names in it is a list that nobody reads; the table has them all."""


def counted(number: int, word: str) -> str:
    """A number and what it counts, in the singular or the plural.

    >>> counted(1, "run"), counted(1200, "run")
    ('1 run', '1,200 runs')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def span(numbers: Sequence[int]) -> str:
    """Several counts in a few words, whatever their order.

    >>> span([6, 10, 8]), span([6, 6])
    ('6 to 10', '6')
    """
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def listing(names: Sequence[str]) -> str:
    """Names in a sentence; of very many the first ones.

    >>> listing(["a", "b", "c"]), listing(["a"]), listing(list("abcdefg"))
    ('a, b and c', 'a', 'a, b, c and 4 more')
    """
    if len(names) > MOST_NAMED:
        names = [*names[: MOST_NAMED - 2], f"{len(names) - MOST_NAMED + 2} more"]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
