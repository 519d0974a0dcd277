"""How much a language from elsewhere is made of parts."""

from __future__ import annotations

import pathlib

from quickstudy.base.errors import UsageError
from quickstudy.data.json_tables import check_even, check_numbers, read_tables
from quickstudy.measures.compositionality import (
    authors_similarities,
    language_scores,
    plain_similarity,
)

LARGEST = 2**62
"""Tokens are below it: the scores compute with 64-bit integers."""


def language(file: pathlib.Path) -> dict[str, float]:
    """Topographic similarity and disentanglement of a language: JSON with `meanings` and
    `utterances`, perhaps `means`, a row for each meaning. The variants of topsim come first.
    """
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
    # topsim first, and its variants after it
    return {"topsim": scores["topsim"], **variants, **scores}
