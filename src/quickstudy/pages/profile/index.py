"""What a results folder of cards says of itself: which study and ruleset it is for, and who was examined."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable
from typing import Any

from quickstudy.base.errors import UsageError
from quickstudy.pages.profile.tuning import AS_GIVEN, RULESETS
from quickstudy.report.words import listing

INDEX = "profile.json"
"""The file that says so."""


def one_ruleset(folders: Iterable[pathlib.Path], hint: str) -> str:
    """The ruleset of all folders, as given for those that are no folders of cards. Raises UsageError for several."""
    found: dict[str, list[str]] = {}
    for folder in folders:
        found.setdefault(read_index(folder).get("ruleset", AS_GIVEN), []).append(str(folder))
    if len(found) > 1:
        said = "; ".join(f"{ruleset}: {listing(own)}" for ruleset, own in found.items())
        raise UsageError(f"several rulesets do not stand side by side ({said}); {hint}")
    return next(iter(found), AS_GIVEN)


def read_index(folder: pathlib.Path) -> dict[str, Any]:
    """What a folder of cards says of itself; empty where it is none, or says nothing that makes sense."""
    try:
        found = json.loads((folder / INDEX).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    kinds = {"study": str, "version": int, "ruleset": str, "learners": list}
    good = isinstance(found, dict) and all(isinstance(found.get(name), kind) for name, kind in kinds.items())
    if not good or found["ruleset"] not in RULESETS or not all(isinstance(one, str) for one in found["learners"]):
        return {}
    return {**found, "energy": found["energy"] if isinstance(found.get("energy"), dict) else {}}
