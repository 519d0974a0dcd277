"""`quickstudy score grammar`: how a network does on a slice of a language's released list."""

from __future__ import annotations

import pathlib
from typing import Any

import typer

from quickstudy.cli.output import JSON, print_json, say


def grammar(
    file: pathlib.Path = typer.Argument(
        ..., help="A network: JSON, or the name of one that comes with the package."
    ),
    language: str = typer.Option(
        ..., "--language", help="an-bn, an-bn-cn, an-bn-cn-dn, an-bm-cnm, dyck-1 or dyck-2."
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
    from fractions import Fraction

    import numpy as np

    from quickstudy.base.errors import NotApplicable, UsageError, nearest
    from quickstudy.base.learner import Brief
    from quickstudy.base.seeds import Streams
    from quickstudy.learners.mdl.exact import Automaton
    from quickstudy.learners.mdl.learner import GivenNetwork
    from quickstudy.learners.mdl.network import Network
    from quickstudy.measures.grammar import forgiven
    from quickstudy.protocols.marking import Marking
    from quickstudy.protocols.outcomes import outcomes
    from quickstudy.tasks.grammar.counting import Counting
    from quickstudy.tasks.grammar.lists import TestList

    task, network = language_task(language), Network.read(file)
    check_alphabet(network, task, file)
    if start + count > (listed := len(task.listed())):
        raise UsageError(
            f"the released list of {task.id} has {listed:,} strings, --start and --count go"
            " beyond it"
        )
    certain = isinstance(task.grammar, Counting)
    marking = Marking("det" if certain else "cat", (margin,))
    if precision == "exact":
        pupil: Any = Automaton(network, None if certain else Fraction(str(margin)))
    elif precision in ("float32", "float64"):
        brief = Brief(task.inputs, task.outputs, "cross-entropy", 2, 1)
        pupil = GivenNetwork(str(file), precision=precision).begin(brief, [Streams(0, task.id, 0)])
    else:
        raise UsageError(
            f'no precision "{precision}"; {nearest(precision, ("float32", "float64", "exact"))}'
        )
    try:
        (found,) = outcomes(pupil, TestList(task, "released", start, count), task.grammar, marking)
    except (
        NotApplicable
    ) as error:  # fractions cannot say it: here that is the user's choice, not a run that failed
        raise UsageError(f"{file}: {error}; use --precision float64") from error
    wrong = found[marking.columns()[0]]
    right = wrong <= forgiven(margin, found["steps"]) if certain else wrong == 0
    first = int(np.argmin(right)) + start if not right.all() else None
    facts = {
        "strings": len(right),
        "strings_right": int(right.sum()),
        "steps": int(found["steps"].sum()),
        "wrong": int(wrong.sum()),
        "first_wrong": first,
    }
    if json:
        print_json(facts)
        return
    where = "none wrong" if first is None else f"the first wrong is number {first} of the list"
    say(f"{facts['strings_right']:,} of {facts['strings']:,} strings right, {where}")
    say(f"{facts['wrong']:,} of {facts['steps']:,} steps wrong  ({precision}, margin {margin:g})")


def language_task(name: str) -> Any:
    """The task of one of the six languages, by its name with or without the family's."""
    from quickstudy.base import catalogue
    from quickstudy.base.errors import UsageError, nearest
    from quickstudy.tasks.grammar import languages

    known = [
        id.removeprefix("grammar/") for id in catalogue.task.names() if id.startswith("grammar/")
    ]
    known = [
        one
        for one in known
        if issubclass(catalogue.task.get(f"grammar/{one}"), languages.Counted | languages.Balanced)
    ]
    if name.removeprefix("grammar/") not in known:
        raise UsageError(f'no language "{name}" with released strings; {nearest(name, known)}')
    return catalogue.task.get(f"grammar/{name.removeprefix('grammar/')}")()


def check_alphabet(network: Any, task: Any, file: Any) -> None:
    """Raise UsageError unless a network has the symbols of a language."""
    from quickstudy.base.errors import UsageError

    if {network.symbols, network.answers} != {len(task.vocabulary)}:
        raise UsageError(
            f"{file} is a network {network.sizes}, and {task.id} has {len(task.vocabulary)} "
            f"({' '.join(task.vocabulary)}); name its own language"
        )
