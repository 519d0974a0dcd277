"""`quickstudy score language`: how compositional a language from a file is."""

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
    variants are listed next to them. topsim divides the edit distance of two utterances by their
    mean length, topsim-plain does not: for utterances of equal length the two are equal.
    topsim-indices, topsim-means and topsim-one-hot are the authors' variants: they take the cosine
    of the attribute values (if they are numbers), of the rows of `means` (if given) or of one-hot
    values, without the last item of the list. The variants that end in -fast use only pairs at most
    a fifth of the list apart. Accepts 3 to 2,048 meanings.
    """
    from quickstudy.api.score.language import language as score

    show(score(file), json)


def show(scores: Mapping[str, float], json: bool) -> None:
    """Print scores, a line each or as JSON."""
    if json:
        print_json(dict(scores))
    else:
        print_table([(name, f"{value:.6f}") for name, value in scores.items()])
