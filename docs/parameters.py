"""List parameters that nothing sets: python docs/parameters.py [--all].

A parameter of a component counts as set where a study, a page, an example, a test or a benchmark
has the id of the component and the name of the parameter before `=` or `:`, or in quotes, in one
file; where a convention or a usual value presets it; where components that share it have different
defaults; or where a stored run has another value than the default. With --all, tests and benchmarks
do not count.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from quickstudy.base import registries
from quickstudy.base.parameters import parameters_of

ROOT = Path(__file__).parent.parent
KINDS = ("task", "core", "training", "learner", "protocol")
SET = re.compile(r"\b([a-z_0-9]+)[\"'`]?\s*[=:]|[\"'`]([a-z_0-9]+)[\"'`]")
USES = ("src/quickstudy/studies/*", "docs/**/*.md", "README.md", "examples/*.py")
TESTS = ("tests/**/*.py", "benchmarks/*.py")


def texts(patterns: tuple[str, ...]) -> list[tuple[str, set[str]]]:
    """(text, names that are given a value in it) of some files."""
    found = []
    for pattern in patterns:
        for path in ROOT.glob(pattern):
            if path.is_file() and path.suffix in (".py", ".md", ".toml"):
                text = path.read_text(encoding="utf-8")
                found.append((text, {one or other for one, other in SET.findall(text)}))
    return found


def stored() -> dict[str, list[dict[str, Any]]]:
    """The parameters of the components of all stored runs, by id."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in (ROOT / "published").rglob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            what = json.loads(line).get("what", {})
            for part in ("task", "learner", "protocol"):
                own = what.get(part) or {}
                for id in str(own.get("id", "")).split("+"):
                    if own.get("parameters") not in found.setdefault(id, []):
                        found[id].append(own.get("parameters") or {})
    return found


def presets(found: Any) -> set[str]:
    """Names that a component's conventions or usual values preset."""
    names: set[str] = set()
    for table in (getattr(found, "conventions", {}), getattr(found, "usual", {})):
        for name, row in dict(table).items():
            names |= set(row) if isinstance(row, Mapping) else {name}
    return names


def slots() -> Iterator[tuple[str, str, Any]]:
    """(kind, id, class) of the components that come with the package."""
    for kind in KINDS:
        registry: Any = getattr(registries, kind)
        for id in registry.names():
            found = registry.get(id)
            if dataclasses.is_dataclass(found):
                yield kind, id, found


def defaults(found: Any) -> dict[str, Any]:
    """What a component's parameters are where nothing is given."""
    try:
        return parameters_of(found())
    except (TypeError, ValueError):  # one of them must be given
        return {}


def declaring(found: Any, name: str) -> str:
    """The class that first declares a parameter: components that inherit it share it."""
    kinds = [kind for kind in found.__mro__ if name in vars(kind).get("__annotations__", {})]
    return f"{kinds[-1].__module__.removeprefix('quickstudy.')}:{kinds[-1].__name__}"


def main() -> None:
    """Print the counts and the list."""
    read = texts(USES if "--all" in sys.argv else (*USES, *TESTS))
    runs, owners, used = stored(), dict[tuple[str, str], list[str]](), set[tuple[str, str]]()
    values = dict[tuple[str, str], set[str]]()
    for _, id, found in slots():
        word = re.compile(rf"(?<![\w/-]){re.escape(id)}(?![\w-])")
        near = set[str]().union(*(names for text, names in read if word.search(text)))
        usual, preset = defaults(found), presets(found)
        for one in dataclasses.fields(found):
            slot = declaring(found, one.name), one.name
            owners.setdefault(slot, []).append(id)
            values.setdefault(slot, set()).add(str(usual.get(one.name)))
            other = any(
                one.name in own and own[one.name] != usual.get(one.name, own[one.name])
                for own in runs.get(id, ())
            )
            if other or one.name in preset | near or len(values[slot]) > 1:
                used.add(slot)
    free = sorted(set(owners) - used)
    sys.stdout.write(
        f"{len(owners)} parameters of {sum(map(len, owners.values()))} slots; {len(free)} that"
        " nothing sets\n"
    )
    for owner, name in free:
        ids = owners[owner, name]
        more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
        sys.stdout.write(f"{owner} {name}: {', '.join(ids[:3])}{more}\n")


if __name__ == "__main__":
    main()
