"""A card in plain types: what `--json` prints, and the rows of its CSV file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quickstudy.pages.profile.chart import norms_of
from quickstudy.pages.profile.norms import Norms, Rank
from quickstudy.pages.profile.spans import Family, Item, Profile
from quickstudy.pages.profile.tuning import AS_GIVEN
from quickstudy.pages.profile.words import against_baseline, clause, in_short, sentences
from quickstudy.pages.study_request import Request
from quickstudy.report.words import counted


def card_facts(found: Profile, norms: Norms | None, request: Request) -> dict[str, Any]:
    """Everything on a card."""
    energy = request.study.settings.get("energy") or {}
    return {
        "learner": found.learner,
        "ruleset": found.ruleset or AS_GIVEN,
        "study": request.study.id,
        "version": request.study.version,
        "convention": request.convention,
        "made_of": _made_of(found, norms),
        "words": [in_short(found, norms), *sentences(found, norms)],
        "families": [family_facts(family, norms) for family in found.families],
        "norms": (
            None
            if norms is None
            else {one: norms.facts[one] for one in norms.facts if one != "subjects"}
        ),
        "energy_joules": sum(energy.values()) if energy else None,
        "energy_by_source": dict(energy),
        "energy_unknown": dict(request.study.settings.get("energy_unknown") or {}),
    }


def _made_of(found: Profile, norms: Norms | None) -> str:
    """What a card rests on, in a line."""
    seeds = {len(item.spans.values) for item in found.items if not item.why} or {0}
    runs = f"{min(seeds)} to {max(seeds)} seeds" if len(seeds) > 1 else counted(max(seeds), "seed")
    known = max(
        (len(own.learners) for item in found.items if (own := norms_of(item, norms))), default=0
    )
    families = (
        f"{len(found.families)} families" if len(found.families) > 1 else found.families[0].name
    )
    return (
        f"{families}, {counted(len(found.items), 'item')}, {runs},"
        f" {counted(known, 'reference learner')}"
    )


def family_facts(family: Family, norms: Norms | None) -> dict[str, Any]:
    """One family: its number, and its items."""
    return {
        "family": family.name,
        "share": family.share,
        "interval": family.interval,
        "rank": _rank(norms.family_rank(family) if norms else None),
        "missing": [{"item": item.name, "reason": item.why} for item in family.missing],
        "items": [item_facts(item, norms) for item in family.items],
        "tuning": None if family.tuning is None else vars(family.tuning),
    }


def item_facts(item: Item, norms: Norms | None) -> dict[str, Any]:
    """One item.

    span, interval: in the unit of the item. end: of its axis. ceiling: whether the span is at that
    end. rank: reference learners whose interval lies below (more_than) and above (less_than), and
    all (of).
    """
    known = norms_of(item, norms)
    best = known.best_control if known else None
    return {
        "item": item.name,
        "task": item.subject.get("task", {}).get("id"),
        "label": item.label,
        "unit": item.task.unit,
        "span": item.spans.span,
        "interval": item.spans.interval,
        "end": item.spans.end,
        "ceiling": item.spans.ceiling,
        "rank": _rank(known.rank(item.spans) if known else None),
        "norms": norms.state(item) if norms and not item.why else None,
        "baseline": {"name": best[0], "span": best[1]} if best else None,
        "against_baseline": against_baseline(item, known) or None,
        "taught": item.taught or None,
        "lyapunov_times": item.lyapunov_times,
        "words": "" if item.why else clause(item, known),
        "curve": item.curve,
        "difficulty": list(item.task.grid),
        "spans": list(item.spans.values),
        "by_data": {
            size: {"span": own.span, "interval": own.interval}
            for size, own in sorted(item.data.items())
        },
        "people": {
            who: {"span": own.span, "interval": own.interval, "rounds": len(own.values)}
            for who, own in item.people.items()
        },
        "seeds": len(item.spans.values),
        "cost": dict(item.cost or {}),
        "cost_unknown": dict(item.unmeasured),
        "left_out": list(item.left_out),
        "reason": item.why,
    }


def _rank(rank: Rank | None) -> Mapping[str, int] | None:
    return None if rank is None else rank._asdict()


def span_rows(found: Profile, norms: Norms | None) -> list[Sequence[Any]]:
    """One row an item, the heading first."""
    heading = [
        "learner",
        "ruleset",
        "family",
        "item",
        "unit",
        "span",
        "low",
        "high",
        "end",
        "ceiling",
        "baseline",
        "baseline_span",
        "more_than",
        "less_than",
        "of",
        "seeds",
        "reason",
    ]
    rows: list[Sequence[Any]] = [heading]
    for family in found.families:
        for item in family.items:
            facts = item_facts(item, norms)
            rank, baseline = facts["rank"] or {}, facts["baseline"] or {}
            rows.append(
                [
                    found.learner,
                    found.ruleset,
                    family.name,
                    item.name,
                    facts["unit"],
                    facts["span"],
                    *(facts["interval"] or (None, None)),
                    facts["end"],
                    facts["ceiling"],
                    baseline.get("name"),
                    baseline.get("span"),
                    rank.get("more_than"),
                    rank.get("less_than"),
                    rank.get("of"),
                    facts["seeds"],
                    item.why,
                ]
            )
    return rows
