"""quickstudy measures how a learner learns.

    import quickstudy as qs
    qs.run(["language/qa"], ["esn", "lstm"], seeds=5).show()

Importing this package imports the standard library only; every name below is fetched when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "run": "quickstudy.api",
    "compare": "quickstudy.report.compare",
    "include": "quickstudy.base.registry",
    "Results": "quickstudy.api",
    "Answering": "quickstudy.base.learner",
    "Brief": "quickstudy.base.learner",
    "Cost": "quickstudy.base.learner",
    "Examination": "quickstudy.protocols.examination",
    "face": "quickstudy.base.learner",
    "right_answers": "quickstudy.protocols.examination",
    "sit": "quickstudy.protocols.examination",
    "spaces_of": "quickstudy.base.task",
    "Exam": "quickstudy.base.lesson",
    "Examples": "quickstudy.base.examples",
    "Lesson": "quickstudy.base.lesson",
    "Record": "quickstudy.base.record",
    "Score": "quickstudy.base.measure",
    "Series": "quickstudy.base.examples",
    "Streams": "quickstudy.base.seeds",
    "Tokens": "quickstudy.base.spaces",
    "Reals": "quickstudy.base.spaces",
    "Bits": "quickstudy.base.spaces",
    "Fields": "quickstudy.base.spaces",
    "Policy": "quickstudy.base.actions",
    "Life": "quickstudy.base.task",
    "Turn": "quickstudy.base.task",
    "World": "quickstudy.base.task",
    "Trace": "quickstudy.base.trace",
    "parameter": "quickstudy.base.parameters",
    "task": "quickstudy.base.catalogue",
    "control": "quickstudy.base.catalogue",
    "core": "quickstudy.base.catalogue",
    "training": "quickstudy.base.catalogue",
    "learner": "quickstudy.base.catalogue",
    "measure": "quickstudy.base.catalogue",
    "protocol": "quickstudy.base.catalogue",
    "quantity": "quickstudy.base.catalogue",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'quickstudy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
