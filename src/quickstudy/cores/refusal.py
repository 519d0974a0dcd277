"""Cores that read symbols only say so, and what to take instead."""

from __future__ import annotations

from quickstudy.base.errors import UsageError
from quickstudy.base.spaces import Fields, Reals, Space


def refuse_reals(core: str, space: Space) -> None:
    """Raise UsageError if real numbers are among the inputs."""
    for part in [part for _, part in space.parts] if isinstance(space, Fields) else []:
        refuse_reals(core, part)
    if isinstance(space, Reals):
        raise UsageError(f"{core} reads symbols and bits, not real numbers; take another core, such as esn")
