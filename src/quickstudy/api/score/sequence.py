"""The epsilon-machine of a sequence of symbols, and its complexity."""

from __future__ import annotations

import pathlib
from typing import Any

from quickstudy.machines.files import read_sequence


def sequence(
    file: pathlib.Path, *, history: int | None = None, level: float | None = None
) -> dict[str, Any]:
    """Reconstruct the epsilon-machine of a sequence, or the transducer of inputs and outputs.

    history: symbols of the longest pasts; by default as many as there are data for. level: of the
    test by which pasts differ, by default 0.001.
    """
    return read_sequence(file, history, level).figures()
