"""How a network does on a slice of the released list of a language."""

from __future__ import annotations

import pathlib
from fractions import Fraction
from typing import Any

import numpy as np

from quickstudy.base import registries
from quickstudy.base.errors import NotApplicable, UsageError, nearest
from quickstudy.base.learner import Brief
from quickstudy.base.seeds import Streams
from quickstudy.learners.mdl.exact import Automaton
from quickstudy.learners.mdl.learner import GivenNetwork
from quickstudy.learners.mdl.network import Network
from quickstudy.measures.grammar import forgiven
from quickstudy.protocols.marking import Marking
from quickstudy.protocols.outcomes import outcomes
from quickstudy.tasks.grammar import languages
from quickstudy.tasks.grammar.counting import Counting
from quickstudy.tasks.grammar.lists import TestList


def grammar(
    file: pathlib.Path,
    *,
    language: str,
    start: int = 0,
    count: int = 1000,
    precision: str = "float64",
    margin: float = 0.0,
) -> dict[str, Any]:
    """Read strings `start` .. `start + count` of the released list, and count what is wrong; of a
    language of the user's, of all its strings, the shortest first.

    precision: float32, float64, or exact for fractions. margin: the share of wrong steps that is
    forgiven in a string; in languages of brackets, a probability that counts as none.
    """
    task, network = language_task(language), Network.read(file)
    check_alphabet(network, task, file)
    own = isinstance(task, languages.Written)
    if not own and start + count > (listed := len(task.listed())):
        raise UsageError(
            f"the released list of {task.id} has {listed:,} strings, --start and --count go"
            " beyond it"
        )
    certain = counted(task)
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
        listed_as = "exhaustive" if own else "released"
        (found,) = outcomes(pupil, TestList(task, listed_as, start, count), task.grammar, marking)
    except (
        NotApplicable
    ) as error:  # fractions cannot say it: here that is the user's choice, not a run that failed
        raise UsageError(f"{file}: {error}; use --precision float64") from error
    wrong = found[marking.columns()[0]]
    right = wrong <= forgiven(margin, found["steps"]) if certain else wrong == 0
    first = int(np.argmin(right)) + start if not right.all() else None
    return {
        "strings": len(right),
        "strings_right": int(right.sum()),
        "steps": int(found["steps"].sum()),
        "wrong": int(wrong.sum()),
        "first_wrong": first,
    }


def counted(task: Any) -> bool:
    """Whether a language is one of counters."""
    return isinstance(task.grammar, Counting)


def language_task(name: str) -> Any:
    """The task of one of the six languages, by its name with or without the family's; or that of a
    grammar, by its text or the file that holds it.
    """
    if "->" in name or "^" in name or pathlib.Path(name).expanduser().is_file():
        return languages.Written(rules=name)
    known = [
        id.removeprefix("grammar/") for id in registries.task.names() if id.startswith("grammar/")
    ]
    known = [
        one
        for one in known
        if issubclass(registries.task.get(f"grammar/{one}"), languages.Counted | languages.Balanced)
    ]
    if name.removeprefix("grammar/") not in known:
        raise UsageError(
            f'no language "{name}" with released strings; {nearest(name, known)}. A grammar of'
            " yours is given by its text or its file"
        )
    return registries.task.get(f"grammar/{name.removeprefix('grammar/')}")()


def check_alphabet(network: Any, task: Any, file: Any) -> None:
    """Raise UsageError unless a network has the symbols of a language."""
    if {network.symbols, network.answers} != {len(task.vocabulary)}:
        raise UsageError(
            f"{file} is a network {network.sizes}, and {task.id} has {len(task.vocabulary)} "
            f"({' '.join(task.vocabulary)}); name its own language"
        )
