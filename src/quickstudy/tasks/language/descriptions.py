"""What the statements of a prompt say about colours and sizes, as far as it can be asked for."""

from __future__ import annotations

from collections.abc import Sequence

from quickstudy.tasks.language.clauses import Statement
from quickstudy.tasks.language.phrases import adjectives_of
from quickstudy.tasks.language.words import ADJECTIVES


def described(statements: Sequence[Statement]) -> list[tuple[str, str]]:
    """The affirmed things that have an adjective, each after its verb."""
    return [
        (statement.verb, phrase) for statement in statements for phrase in statement.affirmed if adjectives_of(phrase)
    ]


def contrasts(statements: Sequence[Statement]) -> list[tuple[str, str, dict[str, list[str]]]]:
    """Each verb and COLOR or SIZE of which its affirmed things have two or more, with the things by adjective."""
    found = []
    for verb, affirmed, _ in statements:
        for sort in ADJECTIVES:
            things: dict[str, list[str]] = {}
            for phrase in affirmed:
                if sort in adjectives_of(phrase):
                    things.setdefault(adjectives_of(phrase)[sort], []).append(phrase)
            if len(things) > 1:
                found.append((verb, sort, things))
    return found
