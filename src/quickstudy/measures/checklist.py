"""What must be stated of an experiment before its numbers can be compared with others (Wringe,
Trefzer and Stepney 2024, section 9): without it they are not comparable, and what is missing is
named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

WANTED: dict[str, dict[str, str]] = {
    "data": {
        "source": "where the data come from, or the generator with its version",
        "variant": "the parameters of the system, its start and step",
        "distribution": "the distribution and range of the inputs",
        "scaling": "how inputs are scaled, and by which data",
        "seed": "the seed of the inputs",
    },
    "system": {
        "size": "the number of states",
        "configuration": (
            "weights, sparsity, radius, leak, bias, feedback; of a device how it is set up"
        ),
        "encoding": "how an input reaches the system and a state is read off",
        "noise": "where there is noise, and how much",
        "precision": "the precision of numbers, or of the sampling",
    },
    "protocol": {
        "washout": "steps that are read before anything is measured",
        "training": "steps that are learned from",
        "test": "steps that are tested",
        "regularisation": "how the readout is regularised, and how that was chosen",
        "runs": "how many runs there are",
        "varies": "what differs between runs: inputs, slice, weights",
        "metric": "the definition of the score",
        "controls": "what the mean, the last value and a linear filter reach",
    },
}
"""By part and name, what must be stated."""
WANTED_NAMES = {name: words for part in WANTED.values() for name, words in part.items()}
"""The same by name alone."""
KINDS = ("imitation", "prediction", "computation", "classification", "property")
"""Of tasks. A report on one of them does not cover the others."""


def missing(stated: Mapping[str, Any]) -> dict[str, str]:
    """The missing statements: name and meaning. Nothing, an empty text and None state nothing;
    0 does.

    >>> list(missing({name: 1 for part in WANTED.values() for name in part if name != "noise"}))
    ['noise']
    """
    return {
        name: words
        for name, words in WANTED_NAMES.items()
        if stated.get(name) in (None, "", [], {})
    }


def verdict(stated: Mapping[str, Any], options: Iterable[str] = ()) -> str:
    """In words. options: the names that can be given as an option of the command that asks."""
    left_out, given = missing(stated), set(options)
    if not left_out:
        return "checklist: everything is stated (the statements themselves are not checked)"
    how = [f"--{name}" for name in left_out if name in given]
    until = f" until {', '.join(how)} {'is' if len(how) == 1 else 'are'} given" if how else ""
    stated_of = f"{len(WANTED_NAMES) - len(left_out)} of {len(WANTED_NAMES)} things stated"
    return f"checklist: {stated_of}; {', '.join(left_out)} not stated  ->  not comparable{until}"


def one_sided(kinds: Iterable[str]) -> str:
    """What a reader of results on one kind of task must know; empty if there are
    several.

    >>> about, _, lacking = one_sided(["imitation", "imitation"]).partition(": ")
    >>> about
    'all tasks are of one kind, imitation'
    >>> x
    """
    found = sorted(set(kinds))
    if len(found) != 1:
        return ""
    others = ", ".join(kind for kind in KINDS if kind != found[0])
    return f"all tasks are of one kind, {found[0]}: nothing is stated about {others}"
