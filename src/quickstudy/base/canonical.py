"""One spelling for every value that is recorded, so that equal settings have equal keys."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """The value in plain JSON types; NumPy scalars and arrays, tuples and mappings are turned over.

    Numbers that are not finite become the strings "nan", "inf" and "-inf": strict JSON has no other spelling.
    """
    if hasattr(value, "tolist"):  # not asked by type: every command would load NumPy for it
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        parts = sorted(value) if isinstance(value, set | frozenset) else value
        return [plain(part) for part in parts]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def canonical(value: Any) -> str:
    """Canonical JSON: sorted names, no spaces, ASCII, no bare nan.

    >>> canonical({"b": 1.0, "a": (1, 2)})
    '{"a":[1,2],"b":1.0}'
    """
    return json.dumps(plain(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def spelled(value: Any) -> str:
    """The canonical JSON of a value that has plain types already, as all that comes out of a journal has.

    The same text as `canonical` gives, in a third of the time: a report asks for it several times a run.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
