"""What rules that never learn anything at all have in common."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


class FixedRule:
    """A rule whose answers depend on the inputs alone, whatever it was shown."""

    learns = False

    def learn(self, inputs: NDArray[Any], targets: NDArray[Any]) -> None:
        """Nothing to learn."""
