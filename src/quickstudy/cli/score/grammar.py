"""`quickstudy score grammar`: how a network does on a slice of a language's released list."""

from __future__ import annotations

import pathlib

import typer

from quickstudy.cli.output import JSON, print_json, say


def grammar(
    file: pathlib.Path = typer.Argument(
        ..., help="A network: JSON, or the name of one that comes with the package."
    ),
    language: str = typer.Option(
        ...,
        "--language",
        help="an-bn, an-bn-cn, an-bn-cn-dn, an-bm-cnm, dyck-1 or dyck-2; or a grammar of yours: its"
        " text, or a file.",
    ),
    start: int = typer.Option(
        0, "--start", min=0, help="Strings of the released list to leave out before."
    ),
    count: int = typer.Option(1000, "--count", min=1, help="Strings to read."),
    precision: str = typer.Option(
        "float64", "--precision", help="float32, float64, or exact: fractions."
    ),
    margin: float = typer.Option(
        0.0,
        "--margin",
        min=0.0,
        max=0.999,
        help="Share of wrong steps forgiven a string; probability that is none.",
    ),
    json: bool = JSON,
) -> None:
    """Read strings of the released list, and count what is wrong.

    Where the next symbol is certain, the likeliest must be it; in languages of brackets, where it
    never is, exactly the symbols that may follow must have more probability than the margin.
    `first_wrong` is the place of a string in the list, from 0.
    """
    from quickstudy.api.score.grammar import grammar as score

    given = {"start": start, "count": count, "precision": precision, "margin": margin}
    facts = score(file, language=language, **given)  # type: ignore[arg-type]
    if json:
        print_json(facts)
        return
    first = facts["first_wrong"]
    where = "none wrong" if first is None else f"the first wrong is number {first} of the list"
    say(f"{facts['strings_right']:,} of {facts['strings']:,} strings right, {where}")
    say(f"{facts['wrong']:,} of {facts['steps']:,} steps wrong  ({precision}, margin {margin:g})")
