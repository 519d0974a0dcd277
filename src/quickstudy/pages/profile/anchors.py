"""Anchors: spans that are constants of an item, stored with its version in the norms of the
package.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from quickstudy.pages.profile.norms import FILE


@lru_cache
def load_anchors() -> Mapping[str, Mapping[str, Any]]:
    """By the name of an item: chance, oracle, best_control, rote, untrained; without those that
    have none.
    """
    file = importlib.resources.files("quickstudy.norms").joinpath(FILE)
    stored = json.loads(file.read_text("utf-8"))["items"] if file.is_file() else {}
    return {name: item["anchors"] for name, item in stored.items() if "anchors" in item}
