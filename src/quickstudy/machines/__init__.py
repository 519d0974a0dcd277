"""Epsilon-machines and transducers: exact, minimal, inferred; their complexity; what two of them
share.

import quickstudy as qs
machine = qs.machines.machine_of(task)
"""

from __future__ import annotations

import importlib
from typing import Any

_PUBLIC = {
    "Transducer": "transducer",
    "Arrow": "transducer",
    "joined": "transducer",
    "minimised": "minimal",
    "equivalent": "minimal",
    "unifilar": "beliefs",
    "stationary": "chains",
    "memoryless": "chains",
    "uniform": "chains",
    "entropy": "entropies",
    "topological": "entropies",
    "complexity": "entropies",
    "entropy_rate": "entropies",
    "excess_entropy": "entropies",
    "channel": "entropies",
    "Configurations": "finite",
    "machine_of": "finite",
    "reconstructed": "inference",
    "read_machine": "files",
    "read_sequence": "files",
    "describe": "files",
    "shared_structure": "sharing",
    "resemblance": "likeness",
    "description_length": "description",
    "overlap": "description",
    "step": "description",
    "steps_between": "description",
    "graduality": "curricula",
    "resemblances": "likeness",
    "Compared": "curricula",
    "by_complexity": "curricula",
    "by_graduality": "curricula",
    "rank_correlation": "curricula",
    "way_to": "curricula",
}

__all__ = list(_PUBLIC)
"""Every name is fetched when it is first used."""


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'quickstudy.machines' has no attribute {name!r}")
    return getattr(importlib.import_module(f"quickstudy.machines.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_PUBLIC)
