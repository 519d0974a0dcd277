"""Everything that happened in one run, raw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from quickstudy.base.learner import Cost


@dataclass(frozen=True)
class Trace:
    """What a protocol logs and a measure reads; nothing in it is derived.

    kind: what the arrays mean (`learning-curve`, `string-outcomes`, `predictions`, `transcript`); arrays: by name;
    facts: plain values a measure may need (unit of the steps, number of classes, best constant answer ...).
    """

    kind: str
    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)
