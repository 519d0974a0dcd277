"""`quickstudy score language`: how much a language from elsewhere is made of parts."""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from quickstudy.base.errors import UsageError
from quickstudy.cli.output import JSON, print_json, print_table

LARGEST = 2**62
"""Tokens lie below: what the scores reckon with."""


def language(
    file: pathlib.Path = typer.Argument(
        ..., help="JSON with `meanings` and `utterances`, perhaps `means`, a row for each meaning."
    ),
    json: bool = JSON,
) -> None:
    """Topographic similarity and disentanglement of a language.

    meanings: rows of attribute values. utterances: rows of whole numbers from 0; the first 0 ends
    an utterance. topsim, posdis and bosdis are those of Chaabouni et al. 2020; the authors'
    variants stand beside them. topsim divides the edit distance of two utterances by their mean
    length, topsim-plain takes it as it is: where all utterances are equally long, the two are the
    same. topsim-indices, topsim-means and topsim-one-hot are the authors': by the cosine of the
    attribute values (where they are numbers), of the rows of `means` (where these are given) or of
    values one-hot, without the last item of the list; -fast: of items no further apart than a fifth
    of the list. For 3 to 2,048 meanings.
    """
    from quickstudy.measures.compositionality import (
        authors_similarities,
        language_scores,
        plain_similarity,
    )

    found = read_tables(file, "meanings", "utterances", optional=("means",))
    meanings, said = found["meanings"], found["utterances"]
    longest = max((len(row) for row in said), default=0)
    # JSON of other programs may write 1 as 1.0.
    whole = [
        [int(one) if isinstance(one, float) and one.is_integer() else one for one in row]
        for row in said
    ]
    padded = [[*row, *[0] * (longest - len(row))] for row in whole]
    for number, row in enumerate(padded):
        wrong = [token for token in row if type(token) is not int or not 0 <= token < LARGEST]
        if wrong:
            raise UsageError(
                f"{file}: utterances, row {number}: tokens must be whole numbers from 0 to below"
                f" 2^62, got {wrong[0]}"
            )
    check_even(file, "meanings", meanings)
    if len(meanings) != len(padded):
        raise UsageError(
            f"{file}: {len(meanings)} meanings but {len(padded)} utterances; give one for each"
        )
    means = found.get("means")
    if means is not None:
        check_even(file, "means", means)
        check_numbers(file, "means", means)
        if len(means) != len(meanings):
            raise UsageError(
                f"{file}: {len(meanings)} meanings but {len(means)} rows of means; give one for"
                " each"
            )
    scores = language_scores(meanings, padded)
    variants = {
        "topsim-plain": plain_similarity(meanings, padded),
        **authors_similarities(meanings, padded, means),
    }
    show(
        {"topsim": scores["topsim"], **variants, **scores}, json
    )  # topsim first, and its variants behind it


def read_tables(
    file: pathlib.Path, *names: str, optional: Sequence[str] = ()
) -> dict[str, list[list[Any]]]:
    """The named tables of a JSON file: lists of rows; the optional ones where they are there.
    Raises UsageError for anything else.
    """
    from quickstudy.data.tables import read_json

    content, found = read_json(file), {}
    for name in [
        *names,
        *(name for name in optional if isinstance(content, Mapping) and name in content),
    ]:
        rows = content.get(name) if isinstance(content, Mapping) else None
        if not isinstance(rows, list) or not rows:
            raise UsageError(
                f"{file}: must be an object with `{'` and `'.join(names)}`; {name} is missing or"
                " empty"
            )
        rows = [row if isinstance(row, list) else [row] for row in rows]
        for number, row in enumerate(rows):
            if any(isinstance(entry, list | dict) or entry is None for entry in row):
                raise UsageError(
                    f"{file}: {name}, row {number}: must be a list of plain values, got {row}"
                )
        found[name] = rows
    return found


def check_even(file: pathlib.Path, name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Raise UsageError unless all rows are equally long and have something in them."""
    for number, row in enumerate(rows):
        if not row:
            raise UsageError(
                f"{file}: {name}, row {number}: is empty; give a value or more in every row"
            )
        if len(row) != len(rows[0]):
            raise UsageError(
                f"{file}: {name}, row {number}: has {len(row)} entries, the first has"
                f" {len(rows[0])}"
            )


def check_numbers(file: pathlib.Path, name: str, rows: Sequence[Sequence[Any]]) -> None:
    """Raise UsageError unless all entries are finite numbers."""
    for number, row in enumerate(rows):
        if any(
            isinstance(entry, str | bool) or not abs(entry) <= sys.float_info.max for entry in row
        ):
            raise UsageError(
                f"{file}: {name}, row {number}: must be finite numbers, got {str(row)[:60]}"
            )


def show(scores: Mapping[str, float], json: bool) -> None:
    """Print them."""
    if json:
        print_json(dict(scores))
    else:
        print_table([(name, f"{value:.6f}") for name, value in scores.items()])
