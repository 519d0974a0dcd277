"""The gallery of tasks: a page for each family, a section for each task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sheets import anchor, cell, printed, sheet

from quickstudy.base import registries

WIDEST, LONGEST = 200, 14
"""Columns and lines of a sample that are shown."""
HEAD = """# Gallery

Everything that can be measured here, and everything that has been.

- [Learners](learners.md): the reference learners, with the span of each on every item.
- Tasks, with a sample, the baselines and the best possible answers of each:
"""


def pages() -> Iterator[tuple[str, str]]:
    """The index of the gallery, and a page for each family."""
    families: dict[str, list[Any]] = {}
    for entry in registries.task.entries():
        families.setdefault(entry.id.partition("/")[0], []).append(entry)
    rows = [
        f"    - [{family}](tasks/{family}.md): {len(entries)} tasks"
        for family, entries in families.items()
    ]
    yield "gallery/index.md", HEAD + "\n".join(rows) + "\n"
    for family, entries in families.items():
        yield f"gallery/tasks/{family}.md", _family(family, entries)


def _family(family: str, entries: list[Any]) -> str:
    rows = [f"| [`{entry.id}`](#{anchor(entry.id)}) | {cell(entry.summary)} |" for entry in entries]
    table = "\n".join(["| task | what it is |", "|---|---|", *rows])
    return f"# {family.capitalize()}\n\n{table}\n\n" + "\n".join(map(_task, entries))


def _task(entry: Any) -> str:
    made = registries.task.get(entry.id)
    controls = ", ".join(f"`{name}`" for name in made.controls) or "none"
    oracle = str(made.oracle)
    known = oracle in registries.control
    return "\n\n".join(
        [
            f"## {entry.id}",
            sheet(made),
            _sample(entry.id),
            f"Baselines: {controls}. "
            + (f"Oracle: `{oracle}`." if known else f"No oracle: {cell(oracle)}."),
            "",
        ]
    )


def _sample(task: str) -> str:
    lines = printed("sample", task).splitlines()
    if not lines:
        return f"`quickstudy sample {task}` needs a file or a data set of yours."
    shown = [line if len(line) <= WIDEST else f"{line[:WIDEST]} ..." for line in lines[:LONGEST]]
    body = "\n".join(["$ quickstudy sample " + task, *shown, *["..."] * (len(lines) > LONGEST)])
    return f"```console\n{body}\n```"
