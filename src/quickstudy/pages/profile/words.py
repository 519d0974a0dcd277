"""What a card says in words: spans in natural units, where they stand among the norms, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator

from quickstudy.pages.profile.norms import ItemNorms, Norms
from quickstudy.pages.profile.spans import Family, Item, Profile
from quickstudy.render.numbers import span_text
from quickstudy.report.words import counted, listing

FEWEST = 6
"""Seeds from which on intervals are read as evidence."""
MARGIN = 0.25
"""A span no more than this part above a baseline's, in 1 + span, is as good as equal to it."""


def can(item: Item) -> str:
    """The span of an item as a clause: "copies 9.2 symbols"."""
    assert item.spans.span is not None
    return str(item.task.can.format(span_text(item.spans.span, item.spans.ceiling)))


def against_baseline(item: Item, norms: ItemNorms | None) -> str:
    """How a span compares with that of the best baseline: "above", "not above", or nothing where neither is shown.

    "not above" is a statement of equivalence: the upper end of the interval is at most a quarter of 1 + span beyond.
    """
    best = norms.best_control if norms else None
    interval = item.spans.interval
    if best is None or interval is None or len(item.spans.values) < FEWEST:
        return ""
    if interval[0] > best[1]:
        return "above"
    return "not above" if 1 + interval[1] <= (1 + best[1]) * (1 + MARGIN) else ""


def rank(item: Item, norms: ItemNorms | None) -> str:
    """Where a span stands among the reference learners: those whose intervals lie below."""
    if norms is None or item.spans.interval is None:
        return ""
    below, every = len(norms.clearly_below(item.spans)), len(norms.learners)
    if not below:
        return f"more than none of {every} reference learners"
    return f"more than {below} of {every} reference learners"


def clause(item: Item, norms: ItemNorms | None) -> str:
    """One item in words: what it can, where it stands, and whether a baseline reaches as far."""
    parts = [can(item)]
    verdict, best = against_baseline(item, norms), norms.best_control if norms else None
    if verdict == "not above" and best:
        parts.append(f"no more than the baseline {best[0]} ({span_text(best[1])})")
    elif words := rank(item, norms):
        parts.append(words)
    taught = int(getattr(item.task, "taught", 0) or 0)
    if taught and item.spans.span is not None and item.spans.span > taught:
        parts.append(f"taught up to {taught}")
    return ", ".join(parts)


def in_short(found: Profile, norms: Norms | None) -> str:
    """The card in two sentences: every item in units, then which reference learners are like it."""
    known = [item for item in found.items if not item.why]
    if not known:
        return f"There are no runs of {found.learner} yet."
    clauses = [can(item) for item in known]
    text = f"{found.learner} {', '.join(clauses[:-1])}{' and ' if clauses[1:] else ''}{clauses[-1]}."
    like, unlike = norms.nearest(found) if norms else ([], [])
    if like:
        text += f" Of the reference learners it is most like {listing(like)} and least like {listing(unlike)}."
    return text


def sentences(found: Profile, norms: Norms | None) -> Iterator[str]:
    """One sentence a family, then what is missing and why."""
    for family in found.families:
        known = [clause(item, norms.of(item) if norms else None) for item in family.items if not item.why]
        if known:
            yield f"{family.name}: {'; '.join(known)}."
    for family in found.families:
        for item in family.missing:
            yield f"{family.name}: no span on {item.label}, and so no number of the family: {item.why}."
    for name, where in _left_out(found).items():
        yield f"The parameter {name} does not exist in the training for {listing(where)} and was left out there."
    few = [len(item.spans.values) for item in found.items if not item.why]
    if few and min(few) < FEWEST:
        yield f"{counted(min(few), 'seed')}: use --seeds {FEWEST} or more to get statements backed by intervals."
    if norms is not None and any(norms.of(item) is None for item in found.items if not item.why):
        other = [item.label for item in found.items if not item.why and norms.of(item) is None]
        yield f"The stored norms are of another version of {listing(other)} and are not shown there."


def family_line(family: Family) -> str:
    """The number of a family in words."""
    if family.share is None:
        return ""
    low, high = family.interval or (family.share, family.share)
    return f"Share of the chart {family.share:.2f} [{low:.2f}, {high:.2f}]"


def _left_out(found: Profile) -> dict[str, list[str]]:
    names: dict[str, dict[str, None]] = {}
    for item in found.items:
        for name in item.left_out:
            names.setdefault(name, {})[item.label] = None
    return {name: list(items) for name, items in names.items()}
