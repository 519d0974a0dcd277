"""A host learner behind glass: it works on copies, and it is seen when it changes them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Shield:
    """Passes copies on to a host learner. changed: which method has written into what it was handed, if any.

    Without it a learner that changes its inputs would fail every check; with it, the one that is about that.
    """

    def __init__(self, host: Any) -> None:
        self.host = host
        self.changed = ""

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """As the host does."""
        copies = inputs.copy(), targets.copy()
        self.host.learn(*copies)
        self._compare("learn", copies, (inputs, targets))

    def predict(self, inputs: NDArray[Any]) -> NDArray[Any]:
        """As the host does."""
        copy = inputs.copy()
        # The host may give back the very array it was handed.
        predicted = np.array(self.host.predict(copy))
        self._compare("predict", (copy,), (inputs,))
        return predicted

    def __getattr__(self, name: str) -> Any:
        return getattr(self.host, name)

    def _compare(self, method: str, copies: tuple[Any, ...], originals: tuple[Any, ...]) -> None:
        pairs = zip(copies, originals, strict=True)
        if any(not np.array_equal(copy, original, equal_nan=_real(copy)) for copy, original in pairs):
            self.changed = method


def _real(array: NDArray[Any]) -> bool:
    return bool(np.issubdtype(array.dtype, np.inexact))
