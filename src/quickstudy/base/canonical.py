"""One spelling for every value that is recorded, so that equal settings have equal keys."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

_SPELLING = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def plain(value: Any) -> Any:
    """The value in plain JSON types; NumPy scalars and arrays, tuples and mappings are turned over.

    Numbers that are not finite become the strings "nan", "inf" and "-inf": strict JSON has no other
    spelling.
    """
    kind = type(value)
    if (
        kind is str or kind is int or (kind is float and math.isfinite(value))
    ):  # most are: a page has many thousands
        return value
    if hasattr(value, "tolist"):  # not asked by type: every command would load NumPy for it
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        parts = sorted(value) if isinstance(value, set | frozenset) else list(value)
        if set(map(type, parts)) <= {float} and all(map(math.isfinite, parts)):  # curves are
            return parts
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
    """The canonical JSON of a value that has plain types already, as all that comes out of a
    journal has.

    The same text as `canonical` gives, in a third of the time: a report asks for it several times a
    run.
    """
    return _SPELLING.encode(value)


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def spoken(value: Any) -> Any:
    """A plain value whose texts are all of characters: half of one, as in a file name that is not
    UTF-8, is spelled out, since it cannot be written.
    """
    if isinstance(value, dict):
        return {spoken(name): spoken(part) for name, part in value.items()}
    if isinstance(value, list):
        return [spoken(part) for part in value]
    return value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value


CHECK = "check"
_OPENING = f'{{"{CHECK}":"'.encode()
_REST = len(_OPENING) + 64 + len(b'",')


def guarded(facts: Mapping[str, Any]) -> str:
    """Canonical JSON of some facts that begins with the SHA-256 of the rest."""
    text = canonical(facts)
    return f'{_OPENING.decode()}{hashlib.sha256(text.encode()).hexdigest()}",{text[1:]}'


def intact(content: bytes, facts: Mapping[str, Any]) -> bool:
    """Whether JSON is as `guarded` wrote it. content: its bytes; facts: what is in it. True where
    it has no checksum, as in what earlier versions have written.
    """
    said = facts.get(CHECK)
    if said is None:
        return True
    if content.startswith(
        _OPENING
    ):  # the text as written: spelling it again takes longer than reading it
        checked = hashlib.sha256(b"{")
        checked.update(memoryview(content)[_REST:])
        if checked.hexdigest() == said:
            return True
    return bool(digest({name: value for name, value in facts.items() if name != CHECK}) == said)
