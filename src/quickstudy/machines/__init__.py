"""Epsilon-machines and transducers: exact, minimal, inferred; their complexity; what two of them share.

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
    "entropy": "complexity",
    "topological": "complexity",
    "complexity": "complexity",
    "entropy_rate": "complexity",
    "excess_entropy": "complexity",
    "channel": "complexity",
    "Configurations": "finite",
    "machine_of": "finite",
    "reconstructed": "inference",
    "read_machine": "files",
    "read_sequence": "files",
    "describe": "files",
    "shared_structure": "sharing",
    "resemblance": "resemblance",
    "description_length": "graduality",
    "overlap": "graduality",
    "step": "graduality",
    "steps_between": "graduality",
    "graduality": "curricula",
    "resemblances": "resemblance",
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
