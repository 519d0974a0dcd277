"""Checkers that users run on their own tasks, learners and cores. Nothing is printed: every check
is a `Finding`.

>>> from quickstudy.testing import check_learner
>>> findings = check_learner("majority")
>>> print(findings[1])
ok    same seed, same answers
>>> print(findings[-1])
FAIL  learns from nothing: accuracy on shuffled labels equals accuracy on true ones (0.13 and 0.13)
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "Finding": "quickstudy.testing.check_result",
    "check_core": "quickstudy.testing.cores",
    "check_learner": "quickstudy.testing.learners",
    "check_task": "quickstudy.testing.tasks",
}

__all__ = ["Finding", "check_core", "check_learner", "check_task"]


def __getattr__(name: str) -> Any:
    # Only the checker of cores needs JAX.
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'quickstudy.testing' has no attribute {name!r}")
