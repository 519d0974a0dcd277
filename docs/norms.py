"""Write the norms of the battery and their page from stored runs: `python docs/norms.py
published/battery`.

The anchors of `docs/anchors.py` go with them. The norms are `src/quickstudy/norms/battery.json`,
the page is `docs/reference/cards.md`, and the picture of the README is drawn from them.
"""

from __future__ import annotations

import json
import pathlib
import sys
import tempfile
import textwrap
from typing import Any

from anchors import stored as stored_anchors
from planes import RECALL_AND_TRACKING, drawing

from quickstudy.api.study import request_study, take_over
from quickstudy.pages.profile.battery import (
    FAMILY_PARTS,
    ITEM_PARTS,
    TITLES,
    facts_of,
    failures,
    marks_of,
    quick_items,
    reference_learners,
    references,
)
from quickstudy.pages.profile.norms import norms_file, norms_from
from quickstudy.pages.profile.spans import Profile, profile_of
from quickstudy.pages.study_request import Request
from quickstudy.render.numbers import span_text

ROOT = pathlib.Path(__file__).resolve().parent.parent
NORMS = ROOT / "src" / "quickstudy" / "norms" / "battery.json"
PAGE = ROOT / "docs" / "reference" / "cards.md"
PICTURE = ROOT / "docs" / "images" / "reference-learners.svg"
SEEDS = 6
SPANS = ("rote", "best_control")
"""Statistics that are spans."""
HEAD = """# Reference learners

Spans of the built-in learners on the items of the quick profile, mean of {seeds} seeds, with their usual settings. The
runs are in `published/battery`; `make norms` makes the runs that are missing, the norms inside the package and this
page. `quickstudy profile` reads a card against these norms.

A span is in the unit of its item; `+` is the end of the axis. `quickstudy show span/copy` has the sheet of one.
"""
OTHERS = """
## The other items

Items that only the standard and the full profile have.
"""
UNMEASURED = """Not every learner of the gallery has runs of {items}: these items have no norms, and a
card shows no reference learners there.
"""
ANCHORS = """
## Anchors

Constants of an item and its version, from {seeds} seeds that are used for nothing else: a guess among the possible
answers, the best baseline (chosen on half of the seeds, measured on the other half), a rote memoriser, and a network
that learns nothing (`lstm`, {untrained} seeds). `make anchors` measures those that are missing.
"""
RELIABILITY = """
## How well the battery tells learners apart

`quickstudy reproduce battery --stored published/battery` prints these numbers. A family separates two learners if the
95 % intervals of its number over {seeds} seeds are disjoint. Split-half: correlation over learners between the means of two
halves of the seeds, mean over all splits; retest: the same of ranks. Reliability: the share of the variance of the
learners' means that is between learners; without the extremes: without the two learners furthest from the median.
Floor, ceiling: learners at an end of the axis, in a family on all of its items. Eigenvalue ratio: first over second
eigenvalue of the correlations of the items, those of the standard profile too.

The tables here are of the {gallery} learners of the gallery, for which the thresholds were set:
{names}
Each family should tell 50 of their 78 pairs apart, all families together 300 of 390, with a split-half correlation of
0.9 and at most 2 learners at the floor and 2 at the ceiling. What does not meet a demand is in bold.
"""
STANDARD = """
The same with all items of the standard profile:
"""
ITEMS = """
Item by item. Spread: standard deviation of the learners' mean shares of the axis. Item-rest: rank correlation with the
mean of the other items of its family. Above untrained: share of the learners whose interval is above the network that
learns nothing. Rote, best baseline: anchors, which should be below the second difficulty or marked on the sheet of the
item. Seconds of learning and answering: median over learners, and the slowest one; other programs ran at the same time.
"""
FAILS = """
What does not meet a demand, and why:
"""
ALL = """
## The same for all {learners} learners
"""

_FEW = " The standard profile has more of them."
_APART = " Gated networks follow parity and attention counts: these are two abilities."
REASONS = {
    **{(family, "items"): _FEW for family in ("language", "dynamics", "curriculum", "games")},
    ("grammar", "eigenvalues"): f"{_APART} Look at its items.",
    ("count", "item_rest"): _APART,
    ("parity", "item_rest"): _APART,
    (
        "lookup",
        "retest",
    ): " Half of the learners know which values were shown, not where, and tie at 2.0.",
    ("nest", "spread"): " The axis goes on to 256, and learners end between 3 and 26.",
}
"""By name and statistic, why a demand is not met."""


def stored_request(folder: pathlib.Path, scratch: pathlib.Path) -> Request:
    """The battery on a stored folder, which may be packed."""
    take_over(folder, scratch)
    return request_study("battery", seeds=SEEDS, out=scratch, controls=True)


def facts_of_runs(profiles: list[Profile], request: Request) -> dict[str, Any]:
    """Versions and machines of the runs."""
    where = [record.where for record in request.results.records.values()]
    parts = ("python", "jax", "numpy", "device")
    known = {part: sorted({str(one[part]) for one in where if one.get(part)}) for part in parts}
    return {
        "study": "battery",
        "version": request.study.version,
        "seeds": SEEDS,
        "learners": len(profiles),
        "made_with": {part: own for part, own in known.items() if own},
    }


def anchors_for(profile: Profile) -> dict[str, Any]:
    """By the name of an item, the anchors of its present version."""
    found = {}
    for one in stored_anchors().values():
        for item in profile.items:
            if one["subject"] == {part: item.subject[part] for part in ("task", "protocol")}:
                parts = ("chance", "oracle", "best_control", "rote", "untrained", "seeds", "root")
                found[item.name] = {part: one[part] for part in parts}
    return found


def texts(folder: pathlib.Path) -> tuple[str, str, str]:
    """The norms file, the page, and the picture of the README."""
    with tempfile.TemporaryDirectory() as scratch:
        request = stored_request(folder, pathlib.Path(scratch))
        found = [profile_of(request, learner) for learner in reference_learners(request)]
        profiles = references(request, found)
        unmeasured = {item.name: item.label for item in found[0].items}
        for item in profiles[0].items:
            del unmeasured[item.name]
        anchors = anchors_for(profiles[0])
        norms = json.loads(
            norms_file(profiles, marks_of(request), facts_of_runs(profiles, request))
        )
        for name, own in anchors.items():
            norms["items"][name]["anchors"] = own
        facts = facts_of(request, profiles, anchors)
        table = page(profiles, quick_items(request), [*unmeasured.values()], anchors, facts)
        picture = drawing("reference-learners", RECALL_AND_TRACKING, norms_from(norms))
        return json.dumps(norms, indent=1) + "\n", table, picture


def page(
    profiles: list[Profile],
    quick: set[str],
    unmeasured: list[str],
    anchors: dict[str, Any],
    facts: Any,
) -> str:
    """The tables as Markdown. unmeasured: labels of the items without norms."""
    others = {item.name for item in profiles[0].items} - quick
    lines = [HEAD.format(seeds=SEEDS), *_spans(profiles, quick)]
    if others:
        lines += [OTHERS, *_spans(profiles, others)]
    if unmeasured:
        names = textwrap.fill(UNMEASURED.format(items=", ".join(unmeasured)), 120)
        lines.append(f"\n{names}")
    lines += [*_anchors(anchors), *_reliability(facts), FAILS, *_failures(facts)]
    if facts["all"]["learners"] != facts["learners"]:
        lines += [ALL.format(learners=len(facts["all"]["learners"])), *_tables(facts["all"])]
    return "\n".join(lines) + "\n"


def _spans(profiles: list[Profile], names: set[str]) -> list[str]:
    """A line a learner: those with a span on any of the items."""
    items = [item for item in profiles[0].items if item.name in names]
    lines = [
        f"| learner | {' | '.join(item.label for item in items)} |",
        "|---|" + "--:|" * len(items),
    ]
    for one in sorted(profiles, key=lambda profile: profile.learner):
        spans = [item.spans for item in one.items if item.name in names]
        cells = ["–" if own.span is None else span_text(own.span, own.ceiling) for own in spans]
        if any(own.span is not None for own in spans):
            lines.append(f"| `{one.learner}` | {' | '.join(cells)} |")
    return [*lines, "| unit | " + " | ".join(item.task.unit for item in items) + " |"]


def _anchors(anchors: dict[str, Any]) -> list[str]:
    first = next(iter(anchors.values()), None)
    if first is None:
        return []
    lines = [
        ANCHORS.format(seeds=first["seeds"], untrained=first["untrained"]["seeds"]),
        "| item | guess | best baseline | rote | untrained | end |",
        "|---|" + "--:|" * 5,
    ]
    for name, own in anchors.items():
        best, rote = own["best_control"], "–" if own["rote"] is None else span_text(own["rote"])
        numbers = [span_text(own["chance"]), f"{best['name']} {span_text(best['span'])}", rote]
        numbers += [span_text(own["untrained"]["span"]), f"{own['oracle']:.0f}"]
        lines.append(f"| {name} | {' | '.join(numbers)} |")
    return lines


def _reliability(facts: Any) -> list[str]:
    names = textwrap.fill(", ".join(f"`{one}`" for one in facts["learners"]) + ".", 120)
    return [
        RELIABILITY.format(seeds=SEEDS, gallery=len(facts["learners"]), names=names),
        *_tables(facts),
    ]


def _failures(facts: Any) -> list[str]:
    """What does not meet a demand, with its number and, where one is known, the reason."""
    return [f"- {one.words}{REASONS.get((one.name, one.part), '')}" for one in failures(facts)]


def _tables(facts: Any) -> list[str]:
    lines = [*_families(facts)]
    if facts["standard"] != {part: facts[part] for part in facts["standard"]}:
        lines += [STANDARD, *_families(facts["standard"])]
    return [*lines, ITEMS, *_table("item", facts["items"], (*ITEM_PARTS, "seconds"))]


def _families(facts: Any) -> list[str]:
    together = facts["together"]
    return [
        *_table("family", facts["families"], FAMILY_PARTS),
        f"\nTogether {together['pairs']} of {together['of']} pairs.",
    ]


def _table(name: str, found: Any, parts: tuple[str, ...]) -> list[str]:
    titles = {**TITLES, "seconds": "seconds"}
    rows = [
        f"| {name} | {' | '.join(titles[part] for part in parts)} |",
        "|---|" + "--:|" * len(parts),
    ]
    for one, own in found.items():
        rows.append(f"| {one} | {' | '.join(_cell(part, own) for part in parts)} |")
    return rows


def _cell(part: str, own: Any) -> str:
    value = own[part]
    if value is None:
        return "–"
    if part == "seconds":
        return f"{value['median']:.1f}, {value['most']:.1f}"
    text = (
        str(value)
        if isinstance(value, int)
        else span_text(value)
        if part in SPANS
        else f"{value:.3f}"
    )
    return f"**{text}**" if {part, f"{part}_share"} & {*own["fails"]} else text


if __name__ == "__main__":
    written = texts(pathlib.Path(sys.argv[1]))
    for path, text in zip((NORMS, PAGE, PICTURE), written, strict=True):
        path.write_text(text, encoding="utf-8")
