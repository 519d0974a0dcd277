"""`quickstudy score language`: how much a language from elsewhere is made of parts."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

import typer

from quickstudy.cli.output import JSON, print_json, print_table


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
    from quickstudy.api.score.language import language as score

    show(score(file), json)


def show(scores: Mapping[str, float], json: bool) -> None:
    """Print them."""
    if json:
        print_json(dict(scores))
    else:
        print_table([(name, f"{value:.6f}") for name, value in scores.items()])
