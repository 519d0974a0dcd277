"""Stored values of the net for numbers: how they are summed up, compared, renewed, and blamed.

A file has one entry a line: a name, the versions of the components that its value rests on, and the
value. Whole numbers, texts and truth values are compared exactly, real numbers within TOLERANCE, so
that another CPU passes and another constant does not.
"""

from __future__ import annotations

import difflib
import hashlib
import html
import json
import math
import pathlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from quickstudy.base.canonical import plain

FOLDER = pathlib.Path(__file__).parents[1] / "net" / "expected"
RENEW = "python -m pytest tests/net --renew"
TOLERANCE = 1e-4
"""Of real numbers, relative to the number, or to the root mean square of the array it belongs to.

Chosen after one comparison: cores in language, dynamics and curriculum, compiled for SSE 4.2
instead of this machine's instructions. Of 66 runs one differed by 3e-5 and two by more (see LOOSE
in tiny_runs.py), the others by less than 2e-5. The other files were not compared, nor was another
machine.
"""
OWN = " (entries of its own)"
"""After the name of a component: the entries that are named after it."""
_DIGITS = 8
_SHOWN = 6
_FLOAT = re.compile(r"-?\d+\.\d{6,}(e[+-]?\d+)?|-?\d+(\.\d+)?e[+-]?\d+")


def summary(value: Any) -> Any:
    """A value as it is stored: arrays by what tells them from others, all else in plain JSON
    types.
    """
    if isinstance(value, Mapping):
        return {str(name): summary(part) for name, part in value.items()}
    if isinstance(value, list | tuple) and len(value) > _SHOWN and _is_number(value[0]):
        return _of_array(np.asarray(value))
    if isinstance(value, list | tuple):
        return [summary(part) for part in value]
    if hasattr(value, "dtype") and getattr(value, "ndim", 0):
        return _of_array(np.asarray(value))
    value = plain(value)
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _of_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Of whole numbers a hash and the first ones. Of real numbers the root mean square, and two
    sums in which every number has a weight of its own, so that no change cancels.
    """
    shape = "x".join(map(str, array.shape))
    if array.dtype.kind in "iub":
        whole = np.ascontiguousarray(array, dtype="<i8")
        return {
            "integers": shape,
            "first": whole.ravel()[:_SHOWN].tolist(),
            "sha256": hashlib.sha256(whole.tobytes()).hexdigest()[:16],
        }
    if array.dtype.kind not in "fc":
        return {"texts": shape, "sha256": _digest(array.tolist())}
    parts = np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array
    numbers = parts.astype(np.float64).ravel()
    finite = np.isfinite(numbers)
    kept = np.where(finite, numbers, 0.0)
    places = np.arange(1, len(kept) + 1)
    sums = [kept @ np.cos(step * places) / math.sqrt(max(1, len(kept))) for step in (0.7, 2.1)]
    rms = math.sqrt(float(kept @ kept) / max(1, len(kept)))
    found = {"reals": shape, "rms": rms, "first": kept[:_SHOWN].tolist(), "sums": sums}
    more = {} if finite.all() else {"not finite": int((~finite).sum())}
    return {**_rounded(found), **more}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, list):
        return [_rounded(part) for part in value]
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return value


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def differences(
    stored: Any, found: Any, tolerance: float = TOLERANCE, path: str = "", scale: float = 0.0
) -> list[str]:
    """Where two values differ, one line each."""
    if isinstance(stored, dict) and isinstance(found, dict):
        if "rms" in stored and "rms" in found:
            scale = max(abs(stored["rms"]), abs(found["rms"]))
        lines = []
        for name in dict.fromkeys((*stored, *found)):
            inner = f"{path}.{name}" if path else name
            if name not in stored or name not in found:
                lines.append(f"{inner}: {'is new' if name in found else 'is gone'}")
            else:
                lines += differences(stored[name], found[name], tolerance, inner, scale)
        return lines
    if isinstance(stored, list) and isinstance(found, list) and len(stored) == len(found):
        pairs = enumerate(zip(stored, found, strict=True))
        return [
            line
            for n, (a, b) in pairs
            for line in differences(a, b, tolerance, f"{path}[{n}]", scale)
        ]
    if isinstance(stored, float) and isinstance(found, float | int) and not isinstance(found, bool):
        same = abs(stored - found) <= tolerance * max(abs(stored), abs(found), scale)
    else:
        same = type(stored) is type(found) and stored == found
    return [] if same else [f"{path}: was {_short(stored)}, is {_short(found)}"]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


class Expected:
    """The stored values, as a test sees them. renew, force: as given on the command line."""

    def __init__(self, renew: bool, force: bool, note: Any = None) -> None:
        self.renew, self.force, self._note = renew, force, note

    def check(
        self,
        file: str,
        name: str,
        versions: Mapping[str, Any],
        value: Any,
        tolerance: float = TOLERANCE,
        tells: bool = True,
    ) -> None:
        """Fail unless the value of an entry is the stored one; with --renew, store it where it may
        be.

        versions: of the components that the value rests on, by `kind name`; None of what has none.
        tells: whether the entry would show other numbers of these; the key of a run would not.
        """
        if tells and self._note is not None:
            own = [f"{one}{OWN}" for one in versions if one == name.partition(":")[0]]
            self._note("components", [*sorted(versions), *own])
        entries = read(file)
        found = {"versions": dict(versions), "value": summary(value)}
        told = ", ".join(
            component if number is None else f"{component} (version {number})"
            for component, number in versions.items()
        )
        if name not in entries:
            assert self.renew, f'{told}: no stored value for "{name}"; add it: {RENEW}'
            write(file, {**entries, name: found})
            return
        stored = entries[name]
        lines = differences(stored["value"], found["value"], tolerance)
        raised = stored["versions"] != found["versions"]
        if self.renew and (raised or (lines and self.force)):
            write(file, {**entries, name: found})
            return
        if not lines and not raised:
            return
        shown = "\n  ".join(
            lines[:12] + ([f"and {len(lines) - 12} more"] if len(lines) > 12 else [])
        )
        if raised:
            changed = f"versions were {stored['versions']}, are {found['versions']}"
            raise AssertionError(f"{name}: {changed}; store the new value: {RENEW}\n  {shown}")
        refused = (
            " --renew stores it only with a raised version, or with --force." if self.renew else ""
        )
        raise AssertionError(
            f"{name}: other numbers from {told}: raise its version or find out why.{refused}\n "
            f" {shown}"
        )

    def names(self, file: str, names: Iterable[str]) -> None:
        """Fail where a file has entries that no test asks for; with --renew, drop them."""
        entries, wanted = read(file), set(names)
        stale = sorted(entries.keys() - wanted)
        if stale and self.renew:
            write(file, {name: entry for name, entry in entries.items() if name in wanted})
            return
        assert not stale, f"{file}: stored for components that do not exist: {stale}; drop: {RENEW}"

    def code(self, file: str, found: Mapping[str, Mapping[str, Any]]) -> None:
        """Fail where the code of a component is not the stored one; with --renew, store it. Its
        version need not be raised: that the numbers are equal is for the other entries to say.

        found: by `kind id` the version and the fingerprint of every component of a kind.
        """
        stored = read(file)
        if stored == found:
            return
        if self.renew:
            write(file, found)
            return
        lines = []
        for name in sorted(stored.keys() | found.keys()):
            was, now = stored.get(name, {}), found.get(name, {})
            if was != now:
                raised = was.get("version") != now.get("version")
                told = (
                    f"version {was.get('version')}, now {now.get('version')}"
                    if raised
                    else (f"code changed, version {now['version']} did not")
                )
                lines.append(f"{name}: {told}")
        raise AssertionError(
            "code changed: raise its version or find out why; only if no other test of the net"
            f" fails are the numbers equal, and it may be stored: {RENEW}\n  " + "\n  ".join(lines)
        )

    def text(self, name: str, text: str) -> None:
        """Fail with a diff unless a text is the stored one; with --renew, store it."""
        path = FOLDER / "text" / name
        found = _FLOAT.sub(lambda match: f"{float(match[0]):.9g}", text).rstrip() + "\n"
        stored = path.read_text(encoding="utf-8") if path.exists() else ""
        if stored == found:
            return
        if self.renew:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found, encoding="utf-8")
            return
        lines = difflib.unified_diff(
            stored.split("\n"), found.split("\n"), "stored", "now", lineterm="", n=1
        )
        raise AssertionError(
            f"{name} changed; look at it, and if it is right: {RENEW}\n" + "\n".join(lines)
        )


def page_text(page: str) -> str:
    """The text of an HTML page, a line for each piece of it; pictures by the text in them."""
    body = re.sub(r"(?s)<(script|style)\b.*?</\1>", "", page)
    pieces = (" ".join(html.unescape(piece).split()) for piece in re.split(r"<[^>]*>", body))
    return "\n".join(filter(None, pieces))


def read(file: str) -> dict[str, Any]:
    """The entries of a file."""
    path = FOLDER / f"{file}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(file: str, entries: Mapping[str, Any]) -> None:
    """Store entries, one a line."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = [f"{json.dumps(name)}: {json.dumps(entries[name])}" for name in sorted(entries)]
    (FOLDER / f"{file}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def blamed(outcomes: Iterable[tuple[Iterable[str], bool]]) -> list[str]:
    """The components that explain what failed, the likeliest first.

    The likeliest has the largest Ochiai coefficient, failed / sqrt(all failed * all of its
    entries): most of what failed rests on it, and most of what rests on it failed. What it explains
    is set aside, and the next one is looked for. Of several that explain the same entries, all are
    named. The entries that are named after a component count as one more candidate: a change that
    only they show is its own, though most of what rests on it holds.
    outcomes: of each entry the components that it rests on, and whether it held.
    """
    seen: dict[str, set[int]] = {}
    failed: set[int] = set()
    for number, (components, held) in enumerate(outcomes):
        failed |= set() if held else {number}
        for component in components:
            seen.setdefault(component, set()).add(number)
    lines, left = [], set(failed)
    while left:
        likely = {name: len(one & left) / math.sqrt(len(one)) for name, one in seen.items()}
        best = max(likely, key=lambda name: (likely[name], name))
        equal = {name for name, one in seen.items() if one == seen[best]}
        names = sorted(name for name in equal if name.removesuffix(OWN) not in equal - {name})
        lines.append(
            f"{' or '.join(names)}: {len(seen[best] & failed)} of {len(seen[best])} entries differ"
        )
        left -= seen[best]
    return lines
