"""Write the norms of the battery and their page from stored runs: `python docs/norms.py published/battery`.

The norms are `src/quickstudy/norms/battery.json`, the page is `docs/reference/cards.md`.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
from numbers import Integral
from typing import Any

from quickstudy.base.record import NOT_APPLICABLE
from quickstudy.pages.profile.battery import (
    by_family,
    by_item,
    family_statistics,
    item_statistics,
    marks_of,
    reference_learners,
)
from quickstudy.pages.profile.norms import norms_file
from quickstudy.pages.profile.spans import Profile, profile_of
from quickstudy.pages.request import Request
from quickstudy.render.numbers import span_text
from quickstudy.reproducing import request_study, take_over

ROOT = pathlib.Path(__file__).resolve().parent.parent
NORMS = ROOT / "src" / "quickstudy" / "norms" / "battery.json"
PAGE = ROOT / "docs" / "reference" / "cards.md"
SEEDS = 6
HEAD = """# Reference learners

Spans of the built-in learners on the items of the quick profile, mean of {seeds} seeds, with their usual settings. The
runs are in `published/battery`; `make norms` makes the runs that are missing, the norms inside the package and this
page. `quickstudy profile` reads a card against these norms. A learner is listed once all its runs are there, and has
`–` where it cannot take an item.

A span is in the unit of its item; `+` is the end of the axis. `quickstudy show span/copy` has the sheet of one.
"""
RELIABILITY = """
## How well the battery tells learners apart

`quickstudy reproduce battery --stored published/battery` prints these numbers. Two learners are told apart by a family
where the 95 % intervals of its number over {seeds} seeds are disjoint. There are {learners} learners; a family counts
the pairs of those that can take all its items. Split-half: correlation over learners between the means of two halves of
the seeds, mean over all splits. Floor, ceiling: learners at an end of the axis of every item of the family.
"""
ITEMS = """
Item by item. Spread: standard deviation of the learners' mean shares of the axis. Item-rest: rank correlation with the
mean of the other items of its family.
"""


def stored_request(folder: pathlib.Path, scratch: pathlib.Path) -> Request:
    """The battery on a stored folder, which may be packed."""
    take_over(folder, scratch)
    return request_study("battery", seeds=SEEDS, out=scratch, controls=True)


def facts_of(profiles: list[Profile], request: Request) -> dict[str, Any]:
    """Versions and machines of the runs."""
    where = [record.where for record in request.found.records]
    parts = ("python", "jax", "numpy", "device")
    known = {part: sorted({str(one[part]) for one in where if one.get(part)}) for part in parts}
    return {"study": "battery", "version": request.study.version, "seeds": SEEDS, "learners": len(profiles),
            "made_with": {part: own for part, own in known.items() if own}}  # fmt: skip


def texts(folder: pathlib.Path) -> tuple[str, str]:
    """The norms file and the page."""
    with tempfile.TemporaryDirectory() as scratch:
        request = stored_request(folder, pathlib.Path(scratch))
        found = [profile_of(request, learner) for learner in reference_learners(request)]
        profiles = [one for one in found if complete(one)]
        norms = norms_file(profiles, marks_of(request), facts_of(profiles, request))
        return norms, page(profiles)


def complete(profile: Profile) -> bool:
    """Whether a learner has all seeds of every item that it can take."""
    return all(len(item.spans.values) == SEEDS or item.why.startswith(NOT_APPLICABLE) for item in profile.items)


def page(profiles: list[Profile]) -> str:
    """The tables as Markdown."""
    items = profiles[0].items
    lines = [HEAD.format(seeds=SEEDS), f"| learner | {' | '.join(item.label for item in items)} |",
             "|---|" + "--:|" * len(items)]  # fmt: skip
    for one in sorted(profiles, key=lambda profile: profile.learner):
        cells = [
            "–" if item.spans.span is None else span_text(item.spans.span, item.spans.ceiling) for item in one.items
        ]
        lines.append(f"| `{one.learner}` | {' | '.join(cells)} |")
    lines.append("| unit | " + " | ".join(item.task.unit for item in items) + " |")
    lines.append(RELIABILITY.format(seeds=SEEDS, learners=len(profiles)))
    families = {name: family_statistics(own) for name, own in by_family(profiles).items()}
    lines += _table("family", families, ("pairs", "of", "split_half", "reliability", "floor", "ceiling"))
    pairs, of = (sum(own[part] for own in families.values()) for part in ("pairs", "of"))
    lines += ["", f"Together {pairs} of {of} pairs.", ITEMS]
    parts = ("pairs", "of", "split_half", "reliability", "spread", "difficulty", "item_rest", "floor", "ceiling")
    lines += _table("item", {own[0].name: item_statistics(own, profiles) for own in by_item(profiles)}, parts)
    return "\n".join(lines) + "\n"


def _table(name: str, found: Any, parts: tuple[str, ...]) -> list[str]:
    titles = {"split_half": "split-half r", "difficulty": "mean share", "item_rest": "item-rest r"}
    rows = [f"| {name} | {' | '.join(titles.get(part, part) for part in parts)} |", "|---|" + "--:|" * len(parts)]
    for one, own in found.items():
        rows.append(f"| {one} | {' | '.join(_cell(own[part]) for part in parts)} |")
    return rows


def _cell(value: Any) -> str:
    return "–" if value is None else str(value) if isinstance(value, Integral) else f"{value:.3f}"


if __name__ == "__main__":
    written = texts(pathlib.Path(sys.argv[1]))
    for path, text in zip((NORMS, PAGE), written, strict=True):
        path.write_text(text, encoding="utf-8")
