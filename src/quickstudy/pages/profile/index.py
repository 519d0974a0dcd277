"""The index of a results folder of cards: its study and ruleset, and the learners examined."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from quickstudy.base.energy import PROCESSOR
from quickstudy.base.errors import UsageError
from quickstudy.learners.learner_spec import without_place
from quickstudy.pages.profile.tuning import AS_GIVEN, RULESETS
from quickstudy.report.words import listing

INDEX = "profile.json"
"""The index file."""


def one_ruleset(folders: Iterable[pathlib.Path], hint: str) -> str:
    """The ruleset of all folders, as given for those that are not folders of cards. Raises
    UsageError for several rulesets, and for several versions of one study.
    """
    rulesets: dict[str, list[str]] = {}
    versions: dict[str, dict[str, list[str]]] = {}
    for folder in folders:
        index = read_index(folder)
        rulesets.setdefault(index.get("ruleset", AS_GIVEN), []).append(str(folder))
        if index:
            own = versions.setdefault(index["study"], {})
            own.setdefault(f"version {index['version']}", []).append(str(folder))
    _only("rulesets", rulesets, hint)
    for study, found in versions.items():
        _only(
            f"versions of {study}",
            found,
            "profile the learners of the older again, or name folders of one version",
        )
    return next(iter(rulesets), AS_GIVEN)


def _only(what: str, found: Mapping[str, Sequence[str]], hint: str) -> None:
    """Raise UsageError where there are several, with the folders of each."""
    if len(found) > 1:
        listed = "; ".join(f"{name}: {listing(own)}" for name, own in sorted(found.items()))
        raise UsageError(f"several {what} do not stand side by side ({listed}); {hint}")


def read_index(folder: pathlib.Path) -> dict[str, Any]:
    """The index of a folder of cards; empty if it has none, or one that cannot be read."""
    try:
        found = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    kinds = {"study": str, "version": int, "ruleset": str, "learners": list}
    good = isinstance(found, dict) and all(
        isinstance(found.get(name), kind) for name, kind in kinds.items()
    )
    if (
        not good
        or found["ruleset"] not in RULESETS
        or not all(isinstance(one, str) for one in found["learners"])
    ):
        return {}
    return {**found, "energy": _energy(found.get("energy"))}


def _energy(found: Any) -> dict[str, dict[str, float]]:
    """By learner and source, joules. Folders of earlier versions have those of the processor alone,
    as a number.
    """
    if not isinstance(found, dict):
        return {}
    known = {}
    for learner, own in found.items():
        parts = own if isinstance(own, dict) else {PROCESSOR: own}
        joules = {
            name: float(one)
            for name, one in parts.items()
            if isinstance(one, int | float) and not isinstance(one, bool)
        }
        if joules:
            known[str(learner)] = joules
    return known


def card_name(learner: str) -> str:
    """The stem of a card's file: `lstm:units=64` has card-lstm-units-64; of a file, its own name
    and class.
    """
    path, _, rest = without_place(learner).partition(".py")
    return "card-" + (re.sub(r"[^A-Za-z0-9_.]+", "-", path + rest).strip("-.")[:80] or "learner")
