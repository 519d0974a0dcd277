"""The sentences of a card: spans in natural units and their rank among the norms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quickstudy.pages.profile.norms import NONE, OTHER, ItemNorms, Norms, Rank
from quickstudy.pages.profile.spans import Family, Item, Profile
from quickstudy.render.numbers import span_text
from quickstudy.report.words import counted, listing

FEWEST = 6
"""Seeds from which on intervals are read as evidence."""
MARGIN = 0.25
"""A span no more than this part above a baseline's, in 1 + span, is as good as equal to it."""
MOST = 2 / 3
"""A learner goes far on an item if its span is above those of this share of the reference
learners.
"""
ABOVE, BELOW, LEVEL, OPEN = "above", "below", "not above", "not distinguishable"
"""How a span compares with that of the best baseline."""


def can(item: Item) -> str:
    """The span of an item as a clause: "copies 9.2 symbols"."""
    assert item.spans.span is not None
    text = str(item.task.can.format(span_text(item.spans.span, item.spans.ceiling)))
    times = item.lyapunov_times
    return text if times is None else f"{text} ({times:.1f} Lyapunov times)"


def against_baseline(item: Item, norms: ItemNorms | None) -> str:
    """How a span compares with that of the best baseline: ABOVE, BELOW, LEVEL, OPEN, or "" where it
    cannot be asked.

    LEVEL is a statement of equivalence: the upper end of the interval is at most a quarter of 1 +
    span above the baseline. Without FEWEST seeds only OPEN is possible.
    """
    best = norms.best_control if norms else None
    interval = item.spans.interval
    if best is None or interval is None:
        return ""
    if interval[0] <= best[1] <= interval[1] and 1 + interval[1] > (1 + best[1]) * (1 + MARGIN):
        return OPEN
    if len(item.spans.values) < FEWEST:
        return ""
    if interval[0] > best[1]:
        return ABOVE
    return BELOW if interval[1] < best[1] else LEVEL


def as_guessing(item: Item) -> bool:
    """Whether a span is as good as that of a guess: the difficulty that costs nothing."""
    interval, least = item.spans.interval, float(item.task.least)
    enough = len(item.spans.values) >= FEWEST
    return enough and interval is not None and 1 + interval[1] <= (1 + least) * (1 + MARGIN)


def rank_text(rank: Rank | None, short: bool = False) -> str:
    """Where a learner stands among the reference learners.

    >>> rank_text(Rank(5, 0, 12)), rank_text(Rank(0, 3, 12), short=True)
    ('more than 5 of 12 reference learners', 'less than 3 of 12')
    >>> rank_text(Rank(0, 0, 12))
    'not distinguishable from any reference learner'
    """
    if rank is None or not rank.of:
        return ""
    who = "" if short else " reference learners"
    if rank.more_than or rank.less_than:
        side, count = ("more", rank.more_than) if rank.more_than else ("less", rank.less_than)
        return f"{side} than {count} of {rank.of}{who}"
    return "rank not clear" if short else "not distinguishable from any reference learner"


def short_words(item: Item, norms: ItemNorms | None) -> str:
    """What stands next to a span on the chart: its rank, or that a baseline gets as far."""
    if as_guessing(item):
        return "as guessing does"
    verdict = against_baseline(item, norms)
    if verdict in (LEVEL, BELOW):
        return "as a baseline does" if verdict == LEVEL else "below a baseline"
    return rank_text(norms.rank(item.spans) if norms else None, short=True)


def clause(item: Item, norms: ItemNorms | None) -> str:
    """One item in words: what it can, where it stands, and whether a baseline reaches as far."""
    parts = [can(item)]
    verdict, best = against_baseline(item, norms), norms.best_control if norms else None
    rank = norms.rank(item.spans) if norms else None
    if as_guessing(item):
        above = (
            f"; {rank.less_than} of {rank.of} reference learners reach further"
            if rank and rank.less_than
            else ""
        )
        return f"{parts[0]}, as guessing does{above}"
    if best and verdict in (BELOW, LEVEL):
        word = "less" if verdict == BELOW else "no more"
        parts.append(f"{word} than the baseline {best[0]} ({span_text(best[1])})")
    elif words := rank_text(rank):
        parts.append(words)
    if best and verdict == OPEN:
        seeds = counted(len(item.spans.values), "seed")
        parts.append(
            f"not distinguishable from the baseline {best[0]} ({span_text(best[1])}) with {seeds}"
        )
    if beyond(item, norms):
        parts.append(f"beyond its data (up to {item.taught})")
    return ", ".join(parts)


def beyond(item: Item, norms: ItemNorms | None) -> bool:
    """Whether the interval of a span lies above what was taught, and above the best baseline: a
    rote memoriser ends a little above the last difficulty of its lesson.
    """
    interval = item.spans.interval
    enough = len(item.spans.values) >= FEWEST
    above = against_baseline(item, norms) in (ABOVE, "")
    return bool(item.taught and interval and interval[0] > item.taught and enough and above)


def in_short(found: Profile, norms: Norms | None) -> str:
    """The card in one sentence: where it goes far, where a baseline gets as far, and who is like
    it.

    Without evidence for either it lists the spans.
    """
    known = [item for item in found.items if not item.why]
    if not known:
        return f"{found.learner} has no span on any item."
    claims = list(_claims(known, norms))
    clauses = [can(item) for item in known]
    text = f"{found.learner} {_joined(claims or clauses)}"
    like, unlike = norms.nearest(found) if norms else ([], [])
    return (
        f"{text}: most like {listing(like)}, least like {listing(unlike)}." if like else f"{text}."
    )


def _claims(known: Sequence[Item], norms: Norms | None) -> Iterator[str]:
    """What the intervals of the items bear."""
    pairs = [(item, norms.of(item) if norms else None) for item in known]
    weak = [
        item.label
        for item, own in pairs
        if as_guessing(item) or against_baseline(item, own) in (LEVEL, BELOW)
    ]
    ahead = [item.label for item, own in pairs if item.label not in weak and _goes_far(item, own)]
    further = [item.label for item, own in pairs if beyond(item, own)]
    if ahead:
        yield f"exceeds most reference learners in {listing(ahead)}"
    if further:
        yield f"goes beyond its data in {listing(further)}"
    if weak:
        yield f"does no better than a baseline in {listing(weak)}"


def _goes_far(item: Item, norms: ItemNorms | None) -> bool:
    rank = norms.rank(item.spans) if norms else None
    return (
        len(item.spans.values) >= FEWEST
        and rank is not None
        and 0 < MOST * rank.of <= rank.more_than
    )


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def family_sentences(found: Profile, norms: Norms | None) -> Iterator[tuple[str, str]]:
    """By family: every item in words."""
    for family in found.families:
        known = [
            clause(item, norms.of(item) if norms else None) for item in family.items if not item.why
        ]
        played = [_person(item, who) for item in family.items for who in item.people]
        missing = [f"No span on {item.label} ({item.why})" for item in family.missing]
        text = ". ".join(filter(None, ["; ".join(known), *played, *missing]))
        yield family.name, f"{text[:1].upper()}{text[1:]}."


def _person(item: Item, who: str) -> str:
    """A person on an item, by the mean over rounds."""
    spans = item.people[who]
    low, high = spans.interval or (spans.span or 0.0,) * 2
    can_do = item.task.can.format(span_text(spans.span or 0.0))
    rounds = f"{counted(len(spans.values), 'round')} of growing sequences"
    return f"The person {who} {can_do} [{span_text(low)}, {span_text(high)}] in {rounds}"


def cautions(found: Profile, norms: Norms | None) -> Iterator[str]:
    """What limits the card: missing items, parameters that were left out, few seeds, norms that do
    not fit.
    """
    missing = {
        family.name: ", ".join(item.label for item in family.missing) for family in found.families
    }
    if names := [f"{family} ({items} missing)" for family, items in missing.items() if items]:
        yield f"No number for {listing(names)}."
    for name, where in _left_out(found).items():
        yield (
            f"The parameter {name} does not exist in the training for {listing(where)} and was left"
            " out there."
        )
    few = [len(item.spans.values) for item in found.items if not item.why]
    if few and min(few) < FEWEST:
        yield (
            f"{counted(min(few), 'seed')}: use --seeds {FEWEST} or more to get statements backed by"
            " intervals."
        )
    known = [item for item in found.items if not item.why]
    for state, text in ((OTHER, "are of another version of"), (NONE, "do not include")):
        names = [item.label for item in known if norms is not None and norms.state(item) == state]
        if names:
            yield (
                f"The stored norms {text} {listing(names)}: no reference learners are shown there."
            )


def sentences(found: Profile, norms: Norms | None) -> Iterator[str]:
    """One sentence a family, then what limits the card."""
    for family, text in family_sentences(found, norms):
        yield f"{family}: {text[:1].lower()}{text[1:]}"
    yield from cautions(found, norms)


def family_line(family: Family) -> str:
    """The number of a family in words."""
    if family.share is None:
        return f"{listing([item.label for item in family.missing])} missing"
    low, high = family.interval or (family.share, family.share)
    return f"share {family.share:.2f} [{low:.2f}, {high:.2f}]"


def _left_out(found: Profile) -> dict[str, list[str]]:
    names: dict[str, dict[str, None]] = {}
    for item in found.items:
        for name in item.left_out:
            names.setdefault(name, {})[item.label] = None
    return {name: list(items) for name, items in names.items()}
