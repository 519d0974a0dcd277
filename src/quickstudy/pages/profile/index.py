"""What a results folder of cards says of itself: which study and ruleset it is for, and who was examined."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from quickstudy.pages.profile.tuning import RULESETS

INDEX = "profile.json"
"""The file that says so."""


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
