"""A host learner behind glass: it works on copies, and it is seen when it changes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from quickstudy.base.learner import name_of
from quickstudy.testing.values import as_bytes

_GUARDED = ("learn", "predict", "act", "states")


class Shield:
    """Passes copies on to a host learner. changed: which method has written into what it was handed, if any.

    Without it a learner that changes its inputs would fail every check; with it, the one that is about that.
    """

    def __init__(self, host: Any) -> None:
        self.host = host
        self.changed = ""

    @property
    def called(self) -> str:
        """As the host is."""
        return name_of(self.host)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.host, name)
        return partial(self._guarded, name, found) if name in _GUARDED else found

    def _guarded(self, name: str, method: Any, *given: Any, **named: Any) -> Any:
        copies = [_copied(value) for value in given]
        # The host may give back the very array it was handed.
        result = _copied(method(*copies, **named))
        if as_bytes(copies) != as_bytes(given):
            self.changed = name
        return result


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copied(part) for name, part in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value
