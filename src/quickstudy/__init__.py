"""quickstudy measures how a learner learns.

    import quickstudy as qs
    qs.run(["language/qa"], ["esn", "lstm"], seeds=5).show()

Importing this package imports the standard library only; every name below is fetched when it is
first used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "run": "quickstudy.api.run",
    "reproduce": "quickstudy.api.study",
    "profile": "quickstudy.api.profile",
    "compare": "quickstudy.report.compare",
    "sample": "quickstudy.api.sample",
    "drive": "quickstudy.api.drive",
    "write_questions": "quickstudy.api.drive",
    "score": "quickstudy.api.score",
    "cite": "quickstudy.api.cite",
    "show": "quickstudy.api.show",
    "ls": "quickstudy.api.show",
    "include": "quickstudy.base.registry",
    "grammar": "quickstudy.tasks.grammar.languages",
    "best": "quickstudy.pages.networks",
    "Results": "quickstudy.api.run",
    "RunOptions": "quickstudy.api.options",
    "query": "quickstudy.runs.sql",
    "load_trace": "quickstudy.runs.array_files",
    "lanes_for": "quickstudy.learners.resolved_learner",
    "wade_preset": "quickstudy.measures.wade",
    "wade_above_chance": "quickstudy.measures.wade",
    "log_area": "quickstudy.measures.curve",
    "Brief": "quickstudy.base.learner",
    "Cost": "quickstudy.base.learner",
    "Pace": "quickstudy.base.learner",
    "pace_of": "quickstudy.base.learner",
    "Snapshot": "quickstudy.base.learner",
    "face": "quickstudy.base.learner",
    "Answering": "quickstudy.base.learner",
    "Pausing": "quickstudy.base.learner",
    "Stepping": "quickstudy.base.learner",
    "Network": "quickstudy.learners.mdl.network",
    "Acting": "quickstudy.base.learner",
    "Living": "quickstudy.base.learner",
    "Rehearsing": "quickstudy.base.learner",
    "Showing": "quickstudy.base.learner",
    "Keeping": "quickstudy.base.learner",
    "distribution": "quickstudy.base.learner",
    "spaces_of": "quickstudy.base.task",
    "Life": "quickstudy.base.task",
    "Turn": "quickstudy.base.task",
    "World": "quickstudy.base.task",
    "Lesson": "quickstudy.base.exchange",
    "Exam": "quickstudy.base.exchange",
    "Rehearsal": "quickstudy.base.exchange",
    "Transcript": "quickstudy.base.exchange",
    "Examples": "quickstudy.base.examples",
    "Series": "quickstudy.base.examples",
    "Tokens": "quickstudy.base.spaces",
    "Reals": "quickstudy.base.spaces",
    "Bits": "quickstudy.base.spaces",
    "Fields": "quickstudy.base.spaces",
    "Policy": "quickstudy.base.actions",
    "Streams": "quickstudy.base.seeds",
    "Score": "quickstudy.base.measure",
    "Record": "quickstudy.base.record",
    "Trace": "quickstudy.base.trace",
    "UsageError": "quickstudy.base.errors",
    "NotApplicable": "quickstudy.base.errors",
    "LearnerFault": "quickstudy.base.errors",
    "Examination": "quickstudy.protocols.examination",
    "Clock": "quickstudy.protocols.examination",
    "sit": "quickstudy.protocols.examination",
    "right_answers": "quickstudy.protocols.examination",
    "Lifetime": "quickstudy.protocols.lifetime",
    "MicroTask": "quickstudy.tasks.curriculum.user_tasks",
    "Instance": "quickstudy.tasks.curriculum.loop",
    "Question": "quickstudy.tasks.curriculum.loop",
    "SpokenListener": "quickstudy.tasks.games.spoken",
    "parameter": "quickstudy.base.parameters",
    "configure": "quickstudy.base.parameters",
    "task": "quickstudy.base.registries",
    "control": "quickstudy.base.registries",
    "core": "quickstudy.base.registries",
    "training": "quickstudy.base.registries",
    "learner": "quickstudy.base.registries",
    "measure": "quickstudy.base.registries",
    "protocol": "quickstudy.base.registries",
    "quantity": "quickstudy.base.registries",
    "figure": "quickstudy.base.registries",
    "block": "quickstudy.base.registries",
}

_MODULES = {"blocks": "quickstudy.base.blocks", "machines": "quickstudy.machines"}
"""What a page is made of: `qs.blocks.Table`. Machines of tasks: `qs.machines.machine_of`."""

__all__ = ["__version__", *_PUBLIC, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(importlib.import_module(_PUBLIC[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    raise AttributeError(f"module 'quickstudy' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
