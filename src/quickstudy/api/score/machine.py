"""The complexity of a machine from elsewhere."""

from __future__ import annotations

import pathlib
from typing import Any

from quickstudy.machines.files import describe, read_machine


def machine(file: pathlib.Path) -> dict[str, Any]:
    """States, complexity and entropy rate of the smallest machine that does the same. file: JSON
    with "transitions": from, symbol, to, probability; with "input" too, a transducer.
    """
    return describe(read_machine(file)).figures()
