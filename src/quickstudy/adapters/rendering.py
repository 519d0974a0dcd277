"""What all environments have in common: their render modes, and a root seed where none was
given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from quickstudy.base.errors import UsageError

METADATA: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}


class NoSuchRenderMode(UsageError, TypeError):
    """A TypeError too: programs that first try a render mode then make the environment without
    one.
    """


def check_render_mode(mode: str | None) -> str | None:
    """The mode. Raises NoSuchRenderMode for one that does not exist."""
    if mode not in (None, "ansi"):
        raise NoSuchRenderMode(f'render_mode must be "ansi" or None, got {mode!r}')
    return mode


def root_seed(rng: np.random.Generator) -> int:
    """A root seed for an environment that was given none."""
    return int(rng.integers(2**62))


def spelled(value: Any) -> str:
    """An observation or an action for people; a byte as its letter too.

    >>> spelled(65), spelled(7), spelled({"mode": 1}), spelled(np.array([0.5, 1.0]))
    ('A (65)', '7', 'mode 1', '+0.50 +1.00')
    """
    if isinstance(value, dict):
        return ", ".join(f"{name} {spelled(part)}" for name, part in value.items())
    array = np.asarray(value)
    if array.ndim:
        form = "{:+.2f}" if array.dtype.kind == "f" else "{}"
        return " ".join(form.format(part) for part in array.ravel())
    number = array.item()
    return (
        f"{chr(number)} ({number})"
        if isinstance(number, int) and 32 < number < 127
        else str(number)
    )
